"""Nothing that can be typed is an error of the search."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.fuzz_queries import fuzz
from recall.actions.find import find
from recall.actions.sweep import Sweep
from recall.core.query import parse
from recall.settings import load
from recall.store import Store, open_store
from tests.known_items.sessions import build

NOW = datetime.datetime(2026, 6, 11, 12, tzinfo=datetime.UTC)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """An index of the known items."""
    home = tmp_path_factory.mktemp("hostile")
    build(home)
    paths = load({"HOME": str(home)})
    Sweep(paths).run()
    with open_store(paths.index) as store:
        yield store


def test_hostile_queries_find_something_or_nothing(store: Store) -> None:
    """None of two thousand made-up queries raises: syntax of FTS5, filters cut short, all scripts, pasted texts."""
    outcome = fuzz(store, 2000, seed=7)
    assert outcome.count == 2000
    assert outcome.raised == []


@settings(max_examples=300, deadline=None)
@given(text=st.text(st.characters(), max_size=60))
def test_no_text_raises(store: Store, text: str) -> None:
    """Any text, lone surrogates and NUL included, is searched for or holds no word."""
    find(parse(text, NOW), store, now=NOW.timestamp())
