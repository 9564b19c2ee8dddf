"""The index by itself: transactions, versions, two files that belong together, rows that nobody may see."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from recall.core.facts import Facts
from recall.core.model import USER, Record, Transcript
from recall.core.session import Printed, pieces
from recall.errors import Damaged, Unavailable
from recall.store import (
    NEW,
    SCHEMA,
    NewerIndex,
    OlderIndex,
    Store,
    alone,
    create_store,
    is_damage,
    open_store,
    output_path,
    replace,
)
from tests.conftest import ROOT


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "index.db")


def _put(store: Store, session: str, *texts: str) -> tuple[int, int]:
    """A session with one file and a row for each text; (session, file)."""
    no = store.session_no("claude", session)
    facts = Facts(session=session)
    file = store.put_file(Transcript(0, no, "claude", f"c/{session}", "main", "", 9, "1", "1"), facts, orjson.dumps)
    row = store.session(no)
    assert row is not None
    records = [Record(USER, text, at, 0.0) for at, text in enumerate(texts)]
    count = store.add_pieces(file, no, row.pieces, list(pieces(records, str)))
    store.put_session(row._replace(pieces=count, messages=len(texts)))
    store.add_prints(file, no, [Printed(0, 0, "printed words")], 9)
    return no, file


def _found(store: Store, word: str) -> int:
    return len(store.phrase([word]))


def test_what_is_not_committed_is_not_there(path: str) -> None:
    """An exception in the middle takes back all of the transaction, in both files."""
    with create_store(path, build="a") as store:
        with pytest.raises(RuntimeError), store.writing():
            _put(store, "s", "heron")
            raise RuntimeError
        assert (store.sessions(), _found(store, "heron"), store.printed([["printed"]])) == ([], 0, set())
        with store.writing():
            no, _ = _put(store, "s", "heron")
        assert (_found(store, "heron"), store.printed([["printed"]])) == (1, {no})
        assert store.check() == []


def test_buried_rows_are_not_found(path: str) -> None:
    """Neither in the conversation nor in the output, neither as word nor as phrase; the numbers are not used again."""
    with create_store(path, build="a") as store:
        with store.writing():
            no, file = _put(store, "s", "heron one", "heron two")
            other, _ = _put(store, "t", "heron three")
        with store.writing():
            store.drop_file(file)
        assert [row >> 20 for row, _, _ in store.phrase(["heron"])] == [other]
        assert [row[0] >> 20 for row in store.occurrences({"heron": 1.0})] == [other]
        assert store.printed([["printed"]]) == {other}
        with store.writing():
            _put(store, "s", "heron four")
        assert _found(store, "four") == 1
        assert store.waste()[0] > 0
        with store.writing():
            store.forget_session(no)
        assert [row.id for row in store.sessions()] == ["t"]
        assert store.check() == []


@pytest.mark.parametrize(
    ("value", "error"),
    [(f"{SCHEMA + 1}.1", NewerIndex), ("0.9", OlderIndex), ("x", OlderIndex), ("", OlderIndex)],
)
def test_an_index_of_another_version_is_not_opened(path: str, value: str, error: type[Damaged]) -> None:
    create_store(path, build="a").close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (value,))
    db.close()
    with pytest.raises(error, match="recall"):
        open_store(path)


def test_two_files_that_do_not_belong_together_are_not_opened(path: str, tmp_path: Path) -> None:
    create_store(path, build="a").close()
    (tmp_path / "other").mkdir()
    other = str(tmp_path / "other" / "index.db")
    create_store(other, build="b").close()
    os.replace(output_path(other), output_path(path))
    with pytest.raises(Damaged, match="another index"):
        open_store(path)
    os.unlink(output_path(path))
    with pytest.raises(Damaged, match="missing"):
        open_store(path)


@pytest.mark.parametrize("data", [b"no database", b"SQLite format 3\0" + b"x" * 5000])
def test_what_is_no_index_is_damaged(path: str, data: bytes) -> None:
    Path(path).write_bytes(data)
    with pytest.raises(Damaged, match=r"index\.db"):
        open_store(path)


def test_no_index_is_no_damage(path: str) -> None:
    with pytest.raises(Unavailable, match="nothing is indexed"):
        open_store(path)
    assert not Path(path).exists()


def test_a_swap_that_was_cut_short_is_finished(path: str) -> None:
    """Killed after the output file was renamed and before the index was: the next to open it completes the swap."""
    with create_store(path, build="old") as store, store.writing():
        _put(store, "old", "heron")
    with create_store(path + NEW, build="new") as store, store.writing():
        _put(store, "new", "ibis")
    os.replace(output_path(path + NEW), output_path(path))
    with open_store(path) as store:
        assert [row.id for row in store.sessions()] == ["new"]
        assert store.printed([["printed"]]) != set()
    assert not Path(path + NEW).exists()


def test_an_unfinished_index_beside_the_one_in_use_is_not_taken(path: str) -> None:
    """Killed while the new one was being made: the old one goes on."""
    with create_store(path, build="old") as store, store.writing():
        _put(store, "old", "heron")
    create_store(path + NEW, build="new").close()
    os.unlink(output_path(path + NEW))
    with open_store(path) as store:
        assert [row.id for row in store.sessions()] == ["old"]


def test_the_index_is_not_replaced_under_a_reader(path: str) -> None:
    """While a connection is open anywhere, nobody gets it for himself."""
    create_store(path, build="a").close()
    create_store(path + NEW, build="b").close()
    with open_store(path):
        script = f"from recall.store import alone\nwith alone({path!r}, wait=0.2): pass"
        done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
        assert "in use" in done.stderr
    with alone(path, wait=0):
        replace(path, path + NEW)
    open_store(path).close()


def test_words_typed_can_not_break_a_query(path: str) -> None:
    with create_store(path, build="a") as store:
        with store.writing():
            _put(store, "s", "it's a heron")
        for word in ('"', "'", "*", "(", "NOT", "AND", "^x", "col:x", "\0", "-", "", "\ud800"[:0]):
            store.phrase([word or "x"])
            store.occurrences({word: 1.0})
            store.printed([[word.replace(":", "") or "x"]])  # given words one by one, as the tokenizer parts them


@pytest.mark.parametrize(
    ("error", "want"),
    [
        (sqlite3.DatabaseError("file is not a database"), False),
        (sqlite3.OperationalError("no such table: session"), True),
        (sqlite3.OperationalError("database is locked"), False),
        (ValueError("no such table"), False),
    ],
)
def test_what_counts_as_damage(error: Exception, want: bool) -> None:
    assert is_damage(error) == want
