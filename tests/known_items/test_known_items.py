"""What people type finds the session they mean, in the first row: ten languages, a query a line of `queries.jsonl`."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import pytest

from recall.actions.find import find
from recall.actions.sweep import Sweep
from recall.core.query import parse
from recall.settings import load
from recall.store import Store, open_store
from tests.known_items.sessions import SESSIONS, build, queries

NOW = datetime.datetime(2026, 6, 11, 12, tzinfo=datetime.UTC)
QUERIES = list(queries())
NAMES = {one["session_ids"][0]: one["session"] for one in QUERIES}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """An index of all the sessions, made once."""
    home = tmp_path_factory.mktemp("known")
    build(home)
    settings = load({"HOME": str(home)})
    Sweep(settings).run()
    with open_store(settings.index) as store:
        yield store


def _cases() -> list[Any]:
    """The rows as parameters; those with a known weakness, `weak`, must fail until it is mended."""
    out = []
    for row in QUERIES:
        marks = [pytest.mark.xfail(reason=row["weak"], strict=True)] if "weak" in row else []
        out.append(pytest.param(row, marks=marks, id=f"{row['lang']}: {row['query']}"))
    return out


@pytest.mark.parametrize("row", _cases())
def test_the_session_that_is_meant_stands_first(row: dict[str, Any], store: Store) -> None:
    """The first row is the session of the table."""
    found = find(parse(row["query"], NOW), store, now=NOW.timestamp(), limit=5)
    assert [NAMES[hit.session.id] for hit in found.hits][:1] == [row["session"]]


def test_the_table_is_broad() -> None:
    """Sixty queries and more, in ten languages, and each session is looked for at least once."""
    assert len(QUERIES) >= 60
    assert len({row["lang"] for row in QUERIES}) >= 10
    assert {row["session"] for row in QUERIES} == {told.name for told in SESSIONS}


@pytest.mark.parametrize("words", ["zzqxv", "нетакогослова", "鲸落琥珀", '"customers were charged three times"'])
def test_what_nobody_said_finds_nothing(words: str, store: Store) -> None:
    """Empty is empty: no row is made up."""
    assert find(parse(words, NOW), store, now=NOW.timestamp()).total == 0
