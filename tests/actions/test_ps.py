"""What is open, where, and what it is called by."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from recall.actions.naming import rename
from recall.actions.ps import Listed, find_target, line, listed
from recall.core.model import Open, Pane
from recall.errors import NothingFound, RecallError, Unavailable, Usage
from recall.shelf import Shelf
from recall.store import open_store
from recall.terminals.base import Driver
from tests.builders import claude_session, codex_session
from tests.machine import settings, sweep
from tests.standins import StandIns

FIRST = "5a1c0b1e-93f0-4f5e-a7d4-9a4b6f6f2c01"
SECOND = "5a1c0b1e-0000-4f5e-a7d4-9a4b6f6f2c02"
THREAD = "01a228d0-3f60-7571-a362-f71364f367d5"
OTHER = "01a228d0-591c-7e91-93fc-e8f1bbe2c702"
TURNS = [("Move the export to the new API, please", "The export uses the new API now.")]


class Fake:
    """A terminal that has these panes, or does not answer."""

    name = "fake"

    def __init__(self, *panes: Pane, silent: bool = False) -> None:
        self._panes = list(panes)
        self._silent = silent

    def panes(self, env: Mapping[str, str]) -> list[Pane]:
        if self._silent:
            raise Unavailable("fake does not answer")
        return self._panes

    def read(self, pane: Pane, lines: int, env: Mapping[str, str]) -> str:
        raise AssertionError

    def paste(self, pane: Pane, text: str, env: Mapping[str, str]) -> None:
        raise AssertionError

    def enter(self, pane: Pane, env: Mapping[str, str]) -> None:
        raise AssertionError


@pytest.fixture
def clients(home: Path) -> Iterator[StandIns]:
    made = StandIns(home)
    yield made
    made.end()


def ps(home: Path, *drivers: Driver, trouble: list[str] | None = None, **env: str) -> list[Listed]:
    """What is listed in this home, with titles where it was swept."""
    here = settings(home, **env)
    told: list[str] = [] if trouble is None else trouble
    around = {"HOME": str(home), "PATH": os.environ.get("PATH", os.defpath)}
    if not os.path.exists(here.index):
        return listed(here, None, around, drivers=drivers, trouble=told.append)
    shelf = Shelf(here.data, here.state)
    with open_store(here.index) as store:
        return listed(here, store, around, drivers=drivers, removed=shelf.is_removed, trouble=told.append)


def address(tty: str) -> str:
    return f"s{int(tty.removeprefix('pts/')):03}"


def test_panes_are_found_by_terminal_device(clients: StandIns, home: Path) -> None:
    """Each client in its own pane, whatever order, title or process the terminal tells."""
    one, two = clients.claude(FIRST, terminal=True), clients.codex(THREAD, terminal=True)
    wrong = Pane("fake", "w", tty="pts/99999", pid=one.pid, title=FIRST)
    panes = [wrong, Pane("fake", "b", tty=f"/dev/{two.tty}"), Pane("fake", "a", tty=one.tty, pid=1)]
    rows = {row.open.session: row for row in ps(home, Fake(*panes))}
    assert rows[FIRST].pane == panes[2]
    assert rows[THREAD].pane == panes[1]
    assert (rows[FIRST].address, rows[THREAD].address) == (address(one.tty), address(two.tty))


def test_a_pane_whose_device_is_not_known_is_found_by_process(clients: StandIns, home: Path) -> None:
    """Its process is the client's, or an ancestor of it; the nearest one."""
    clients.claude(FIRST, terminal=True)
    above = Pane("fake", "far", pid=os.getppid()), Pane("fake", "near", pid=os.getpid()), Pane("fake", "other", pid=2)
    (row,) = ps(home, Fake(*above))
    assert row.pane == above[1]
    (row,) = ps(home, Fake(Pane("fake", "other", pid=999_999)))
    assert row.pane is None


def test_what_runs_in_the_background_has_no_pane_and_says_how_it_is_reached(clients: StandIns, home: Path) -> None:
    """Also where a pane would fit: the server's parent may well be a window."""
    clients.claude(FIRST, terminal=True, kind="bg", name="nightly", nameSource="auto")
    clients.codex(THREAD, terminal=True, args=("app-server",))
    clients.codex(OTHER, terminal=True, args=("exec",))
    rows = {row.open.session: row for row in ps(home, Fake(Pane("fake", "a", pid=os.getpid())))}
    assert {(row.address, row.pane) for row in rows.values()} == {("", None)}
    assert rows[FIRST].reach == f"claude attach {FIRST[:8]}"
    assert rows[THREAD].reach == f"codex resume {THREAD}"
    assert rows[OTHER].reach == ""
    assert line(rows[FIRST]) == f"- claude {FIRST[:8]} crm [idle] nightly (background: claude attach {FIRST[:8]})"


def test_of_one_codex_only_the_session_that_it_shows_has_an_address(clients: StandIns, home: Path) -> None:
    """What is typed there goes to the one that it opened last."""
    one = clients.codex(OTHER, THREAD, terminal=True)
    rows = {row.open.session: row for row in ps(home, Fake(Pane("fake", "a", tty=one.tty)))}
    assert (rows[OTHER].address, rows[OTHER].reach) == (address(one.tty), "")
    assert (rows[THREAD].address, rows[THREAD].pane) == ("", None)
    assert rows[THREAD].reach == f"/resume in {address(one.tty)}"
    assert rows[THREAD].short != rows[OTHER].short


def test_a_terminal_that_does_not_answer_is_told_and_the_rest_is_listed(clients: StandIns, home: Path) -> None:
    one = clients.claude(FIRST, terminal=True)
    told: list[str] = []
    (row,) = ps(home, Fake(silent=True), Fake(Pane("fake", "a", tty=one.tty)), trouble=told)
    assert row.pane is not None
    assert told == ["fake does not answer"]


def test_titles_are_the_users_then_the_clients_then_the_request(clients: StandIns, home: Path) -> None:
    """On one line, without escapes and secrets."""
    for session in (FIRST, SECOND):
        claude_session(home, "crm", session, TURNS)
    codex_session(home, "shop", THREAD, TURNS)
    sweep(settings(home))
    clients.claude(FIRST, name="n\x1b[31mamed\n by key sk-ant-api03-" + "a1B2" * 24, nameSource="user")
    clients.claude(SECOND)
    clients.codex(THREAD)
    rows = {row.open.session: row for row in ps(home)}
    assert rows[FIRST].title.startswith("named by key [redacted:")
    assert rows[SECOND].title == rows[THREAD].title == TURNS[0][0]
    assert rows[THREAD].project == "shop"
    here = settings(home)
    shelf = Shelf(here.data, here.state)
    with open_store(here.index) as store:
        rename(here, store, shelf, store.sessions_like(SECOND)[0], "the user's own")
    shelf.bury(THREAD)
    rows = {row.open.session: row for row in ps(home)}
    assert rows[SECOND].title == "the user's own"
    assert rows[THREAD].title == ""


@pytest.mark.parametrize("answer", ["agents", "nothing", "failure"])
def test_a_registry_that_cannot_be_read_is_asked_for(
    clients: StandIns, home: Path, tmp_path: Path, answer: str
) -> None:
    """`claude agents --json` tells instead; where it does not, that is said."""
    (home / ".claude").mkdir()
    (home / ".claude/sessions").write_text("no folder")
    one = clients.wait(terminal=True)
    stub = tmp_path / "claude"
    text = f'[{{"pid":{one.pid},"sessionId":"{FIRST}","kind":"interactive","status":"busy","cwd":"/a/crm"}}]'
    does = {"agents": f"[ \"$*\" = 'agents --json' ] && echo '{text}'", "nothing": "echo hello", "failure": "exit 1"}
    stub.write_text(f"#!/bin/sh\n{does[answer]}\n")
    stub.chmod(0o700)
    told: list[str] = []
    rows = ps(home, Fake(), trouble=told, RECALL_CLAUDE_BIN=str(stub))
    if answer == "agents":
        assert [(row.open.session, row.address, row.open.state, row.project) for row in rows] == [
            (FIRST, address(one.tty), "busy", "crm")
        ]
        assert told == []
    else:
        assert rows == []
        assert len(told) == 1
        assert "claude agents --json" in told[0]


def row(session: str, where: str, pane: str = "", *, client: str = "claude", server: str = "") -> Listed:
    place = Pane("tmux", pane, tty=where, where=server) if pane else None
    tty = f"pts/{int(where[1:])}" if where.startswith("s") else where
    return Listed(Open(session, client, tty=tty), where, place, session[:8], "crm", "title")


ROWS = [
    row("5a1c0b1e-93f0", "s003", "%3"),
    row("5a1c0b1e-77f0", "s034", "%4"),
    row("01a228d0-3f60", "s1024", client="codex"),
    row("01a228d0-591c", "", client="codex"),
    row("beef0000-0000", "s005", "%7", server="/tmp/a"),
    row("beef0000-0000", "s006", "%7", server="/tmp/b"),
    row("cafe0000-0000", "tty1"),
]


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("s003", 0),
        ("s3", 0),
        (" s034\n", 1),
        ("pts/34", 1),
        ("/dev/pts/34", 1),
        ("ttys034", 1),
        ("s1024", 2),
        ("%4", 1),
        ("5a1c0b1e-9", 0),
        ("5a1c0b1e-93f0", 0),
        ("01a228d0-5", 3),
        ("cafe", 6),
        ("tty1", 6),
        ("s35", NothingFound),
        ("s", NothingFound),
        ("%9", NothingFound),
        ("3", NothingFound),
        ("crm", NothingFound),
        ("title", NothingFound),
        ("\x1b[31m", NothingFound),
        ("caf", Usage),
        ("5a1c0b1e", Usage),
        ("%7", Usage),
        ("beef0000-0000", Usage),
        ("last", Usage),
        (".", Usage),
        ("", Usage),
    ],
)
def test_addresses(typed: str, wanted: int | type[RecallError]) -> None:
    """An address means exactly one session, or it is said why not; nothing is guessed."""
    if isinstance(wanted, int):
        assert find_target(typed, ROWS) == ROWS[wanted]
        return
    with pytest.raises(wanted) as caught:
        find_target(typed, ROWS)
    assert "\x1b" not in caught.value.message
    if wanted is NothingFound:
        assert "recall ps" in caught.value.hint


def test_several_matches_are_shown(home: Path) -> None:
    """With what tells them apart."""
    with pytest.raises(Usage) as caught:
        find_target("beef0000", ROWS)
    assert [text.split()[0] for text in caught.value.message.splitlines()[1:]] == ["s005", "s006"]
