"""docs/ranking.md explains every weight."""

from __future__ import annotations

import pytest

from recall.core.rank import WEIGHTS
from tests.conftest import ROOT


@pytest.mark.parametrize("name", WEIGHTS)
def test_each_weight_is_explained(name: str) -> None:
    """The table of weights on the page has a row that names this one."""
    text = (ROOT / "docs" / "ranking.md").read_text(encoding="utf-8")
    table = text.split("| weight |", 1)[1].split("\n\n", 1)[0]
    named = "".join(row.split("|")[1] for row in table.splitlines()[1:] if row.count("|") >= 3)
    assert f"`{name}`" in named, f"docs/ranking.md does not say what {name} is for"
