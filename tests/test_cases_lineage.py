"""Resumed copies are one row, forks are two, whatever order they come in."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import pytest

from recall.actions.reindex import rebuild
from recall.actions.sweep import nothing
from tests.builders import claude_session, codex_session
from tests.machine import append, rows, search, settings, sweep, uid, user

HISTORY = [("the first question about otters", "an answer"), ("a second one", "another answer")]


def _copied(path: Path, session: str, *more: str) -> Path:
    """The history of one session under another id, with the same records, and more requests behind it."""
    target = path.with_name(f"{session}.jsonl")
    target.write_text(path.read_text().replace(path.stem, session))
    append(target, [user(session, text, number) for number, text in enumerate(more, 1)])
    return target


@pytest.mark.parametrize("order", list(permutations((1, 2, 3))))
def test_resumed_copies_are_one_row(home: Path, order: tuple[int, ...]) -> None:
    """A holds the history, B the same and more, C that and more: one row, C, of three, in whatever order they came."""
    first = claude_session(home, "crm", uid(1), HISTORY)
    second = _copied(first, uid(2), "resumed with lynxes")
    third = _copied(second, uid(3), "and with badgers")
    texts = {number: path.read_text() for number, path in zip((1, 2, 3), (first, second, third), strict=True)}
    for path in (first, second, third):
        path.unlink()
    here = settings(home)
    for number in order:
        first.with_name(f"{uid(number)}.jsonl").write_text(texts[number])
        sweep(here)
    for _ in range(2):
        (row,) = rows(here).values()
        assert (row.id, row.chain, row.fork_of) == (uid(3), 3, "")
        assert search(here, "otters") == search(here, "badgers") == [uid(3)]
        rebuild(here, progress=nothing)


def test_a_fork_is_a_row_of_its_own(home: Path) -> None:
    """Both have a tail: the later one is marked, and its first request and beginning are those of its own tail."""
    first = claude_session(home, "crm", uid(1), HISTORY)
    _copied(first, uid(2), "the fork about weasels", "and more")
    append(first, [user(uid(1), "the original goes on with stoats", 0)])
    here = settings(home)
    sweep(here)
    for _ in range(2):
        found = rows(here)
        assert set(found) == {uid(1), uid(2)}
        assert (found[uid(1)].fork_of, found[uid(2)].fork_of) == ("", uid(1))
        assert found[uid(2)].ask == "the fork about weasels"
        assert found[uid(2)].started > found[uid(1)].started
        assert found[uid(1)].ask == "the first question about otters"
        rebuild(here, progress=nothing)
    append(first, [user(uid(1), "still more", 30)])
    sweep(here)
    assert rows(here)[uid(2)].ask == "the fork about weasels"


def test_a_chain_that_parts_becomes_two_rows(home: Path) -> None:
    """The older copy of a chain is gone on with after all: then it is a row again."""
    first = claude_session(home, "crm", uid(1), HISTORY)
    _copied(first, uid(2), "resumed with lynxes")
    here = settings(home)
    sweep(here)
    assert set(rows(here)) == {uid(2)}
    append(first, [user(uid(1), "the old window goes on", 50)])
    sweep(here)
    found = rows(here)
    assert set(found) == {uid(1), uid(2)}
    assert [row.chain for row in found.values()] == [1, 1]


def test_a_codex_fork_names_its_origin(home: Path) -> None:
    codex_session(home, "api", uid(1), HISTORY)
    codex_session(home, "api", uid(2), [("only the tail", "yes")], start="2026-06-11T10:00:00+00:00", fork_of=uid(1))
    here = settings(home)
    sweep(here)
    found = rows(here)
    assert (found[uid(1)].fork_of, found[uid(2)].fork_of) == ("", uid(1))


def test_sessions_that_only_look_alike_are_two(home: Path) -> None:
    """The same words in records of their own are no copy."""
    claude_session(home, "crm", uid(1), HISTORY)
    claude_session(home, "crm", uid(2), HISTORY)
    here = settings(home)
    sweep(here)
    assert [row.chain for row in rows(here).values()] == [1, 1]


def test_one_session_in_two_folders_is_one_row(home: Path) -> None:
    """Two files of the same id: a client that resumed elsewhere copied it."""
    path = claude_session(home, "crm", uid(1), HISTORY)
    other = home / ".claude" / "projects" / "-home-dev-api"
    other.mkdir()
    lines = path.read_text() + json.dumps(user(uid(1), "gone on elsewhere", 9, cwd="/home/dev/api")) + "\n"
    (other / path.name).write_text(lines)
    here = settings(home)
    sweep(here)
    (row,) = rows(here).values()
    assert (row.id, row.chain, row.messages) == (uid(1), 1, 5)
