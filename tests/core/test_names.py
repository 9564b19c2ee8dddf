"""What a text names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recall.core import names

WORDS = """CRM-42 UTF-8 #12 ( ) , . - _ / \\ @ ~ example.com api.example.co.uk 10.0.0.1 export.py ./src/a_b.ts parseConfig HTTPServer
MAX_SIZE ДокументСчёт данные.csv 数据.json Straße x.y.z e.g. ... it's [redacted:key]"""
PIECES = st.sampled_from([*WORDS.split(), " ", "  ", "\n", "\t", "\u00a0", "\x1c", "\u3000", "a", "B", "1"])
TEXTS = st.one_of(st.lists(PIECES, max_size=12).map("".join), st.text(max_size=40))


@given(TEXTS)
def test_words_without_a_sign_hold_no_name(text: str) -> None:
    """Each pattern finds in the words that it is asked about what it would find in the whole text."""
    whole = [
        (match[0], weight)
        for pattern, weight in (
            (names._TICKET, 9),
            (names._NUMBER, 2),
            (names._HOST, 6),
            (names._ADDRESS, 5),
            (names._FILE, 4),
            (names._IDENTIFIER, 4),
        )
        for match in pattern.finditer(text)
    ]
    assert list(names._in_words(text)) == whole


PULLS = ["PR", "MR", "Pull Request", "merge request", "s", " ", "#", "!", "12", "gh pr view ", "pr-link #", "x"]


@given(st.lists(st.sampled_from(PULLS), max_size=8).map("".join))
def test_the_quick_look_for_pull_requests_misses_none(text: str) -> None:
    from recall.core import extract

    if extract._PULL_WORD.search(text):
        assert extract._may_name_pulls(text)
