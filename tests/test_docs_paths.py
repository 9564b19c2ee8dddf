"""The pages name only files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGES = sorted((ROOT / "docs").glob("*.md"))

_PATH = re.compile(r"`((?:recall|tests)/[\w./@-]+)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_in_backticks_exist(page: Path) -> None:
    """Each `recall/...` or `tests/...` in a page is a file or a folder of the checkout."""
    named = set(_PATH.findall(page.read_text(encoding="utf-8")))
    missing = sorted(name for name in named if not (ROOT / name).exists())
    assert not missing
