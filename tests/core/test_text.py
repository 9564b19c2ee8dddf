"""Folding: what is the same for a search."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recall.core.text import fold, fold_all

PIECES = st.sampled_from(
    [
        "parseConfig",
        "HTTPServer",
        "a1B",
        "aB",
        "B",
        "ё",
        "Größe",
        "e",
        "\u0301",
        "Straße",
        "数据库迁移",
        "ไทย",
        " ",
        "\n",
        "\0",
        "İ",
    ]
)
TEXTS = st.one_of(st.text(max_size=30), st.lists(PIECES, max_size=5).map("".join))


@given(st.lists(TEXTS, max_size=6))
def test_all_at_once_are_folded_as_each_alone(texts: list[str]) -> None:
    assert fold_all(texts) == [fold(text) for text in texts]
