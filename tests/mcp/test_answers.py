"""What the tools answer, in this process: rows, cards and conversations, nothing that is not to be seen."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recall.actions.reindex import rebuild
from recall.actions.sweep import nothing
from recall.cli.failure import explain
from recall.errors import Damaged, NothingFound, Refused, Unavailable, Usage
from recall.mcp import answers
from recall.mcp.answers import Cancelled, Parts, answer
from recall.shelf import Shelf
from tests.builders import claude_session, codex_session
from tests.machine import NOW, append, settings, sweep, uid, user
from tests.standins import StandIns

KEY = "sk-ant-api03-" + "Zr7Qw2Lm9Xc4Vb6N" * 5
Ask = Callable[..., str]


@pytest.fixture
def ask(home: Path) -> Ask:
    """`ask("find", query="x")`: the answer, with the settings of this home; `parent` and variables can be given."""

    def asked(name: str, *, parent: int = 0, env: dict[str, str] | None = None, **args: Any) -> str:
        parts = Parts(lambda: settings(home, **(env or {})), lambda: NOW, explain, lambda: "/home/dev/crm", parent)
        return answer(name, args, parts)

    return asked


@pytest.fixture
def talk(home: Path) -> Path:
    """Four sessions of both clients; the third holds a secret."""
    claude_session(
        home,
        "crm",
        uid(1),
        [("export the sales funnel", "Done: portal.py", [("Bash", {"command": "make export"}, "42 rows")])],
    )
    codex_session(home, "shop", uid(2), [("the basket shows a wrong total", "rounding, fixed")])
    claude_session(home, "crm", uid(3), [(f"deploy the funnel with {KEY}", "deployed")])
    claude_session(home, "crm", uid(4), [("warm up the funnel", "ok")], entrypoint="sdk-cli")
    sweep(settings(home))
    return home


def test_find_gives_rows_like_the_command(talk: Path, ask: Ask) -> None:
    first, note, second = ask("find", query="funnel export").splitlines()
    assert first == f"{uid(1)[:8]} 2026-06-11T09:01 crm [new] export the sales funnel"
    assert note == "-- with some of the words:"
    assert second.startswith(f"{uid(3)[:8]} 2026-06-11T09:00 crm [new] deploy the funnel with [redacted:")


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ({"query": "funnel"}, {1, 3}),
        ({"query": "funnel", "all": True}, {1, 3, 4}),
        ({"query": "funnel -deploy"}, {1}),
        ({"query": "project:shop"}, {2}),
        ({"project": "shop"}, {2}),
        ({"client": "codex"}, {2}),
        ({"query": "funnel", "before": "2020-01-01"}, set()),
        ({}, {1, 2, 3}),
        ({"query": '"sales funnel"'}, {1}),
    ],
)
def test_filters_of_both_kinds(talk: Path, ask: Ask, args: dict[str, Any], found: set[int]) -> None:
    text = ask("find", **args)
    assert {n for n in range(1, 5) if uid(n)[:8] in text} == found


def test_nothing_is_no_failure(talk: Path, ask: Ask) -> None:
    """It says how much was searched and what else could be tried."""
    text = ask("find", query="zebra")
    assert text.startswith("nothing found in ")
    assert "hint: " in text
    assert ask("grep", patterns=["zebra"]).startswith("nothing found in 3 sessions")


def test_grep_gives_messages(talk: Path, ask: Ask) -> None:
    assert ask("grep", patterns=["42 ROWS"]) == f"{uid(1)[:8]} 2026-06-11 crm output 42 rows"
    around = ask("grep", patterns=["4[0-9] r"], regex=True, context=1)
    assert [line.split()[0] for line in around.splitlines()] == ["action", uid(1)[:8], "assistant"]
    assert ask("grep", patterns=["funnel"], limit=1).endswith(
        "… at least 1 more hits: narrower words, or a larger limit"
    )


def test_show_gives_the_card_or_the_conversation(talk: Path, ask: Ask) -> None:
    assert "export the sales funnel" in ask("show", id=uid(1)[:8])
    assert "claude --resume" in ask("show", id=uid(1)[:8])
    assert ask("show", id=uid(1), tail=1).endswith("Done: portal.py")
    assert "  | 42 rows" in ask("show", id=uid(1), around="make export", tools=True)
    assert "## user" in ask("show", id="last", transcript=True)


def test_handoff_writes_nothing(talk: Path, ask: Ask) -> None:
    """One by code where none is kept; as a brief where that was asked for."""
    assert "## Task now" in ask("handoff", id=uid(1))
    assert "codex" in ask("handoff", **{"id": uid(1), "for": "codex"}).casefold()
    assert not Path(settings(talk).data, "handoffs").exists()


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("find", {"query": "deploy", "snippets": True}),
        ("grep", {"patterns": ["deploy"]}),
        ("show", {"id": uid(3)}),
        ("show", {"id": uid(3), "transcript": True}),
        ("handoff", {"id": uid(3)}),
    ],
)
def test_secrets_stay_out(talk: Path, ask: Ask, name: str, args: dict[str, Any]) -> None:
    text = ask(name, **args)
    assert "redacted" in text
    assert KEY[:30] not in text


def test_what_was_removed_is_gone(talk: Path, ask: Ask) -> None:
    here = settings(talk)
    Shelf(here.data, here.state).bury(uid(1))
    assert uid(1)[:8] not in ask("find", query="funnel")
    assert ask("grep", patterns=["42 rows"]).startswith("nothing found")
    for name in ("show", "handoff"):
        with pytest.raises((NothingFound, Refused), match="was removed"):
            ask(name, id=uid(1))


def test_the_session_that_asks_is_left_out(talk: Path, ask: Ask) -> None:
    """Known by the environment."""
    env = {"CLAUDE_CODE_SESSION_ID": uid(3)}
    assert uid(3)[:8] not in ask("find", query="funnel", env=env)
    assert "deploy" not in ask("grep", patterns=["funnel"], env=env)
    assert uid(3) not in ask("show", id="last", env=env)


def test_after_clear_another_session_asks(talk: Path, ask: Ask) -> None:
    """The server's environment is of its start; what its parent process has open now is what asks now."""
    clients = StandIns(talk)
    try:
        one = clients.claude(uid(1))
        text = ask("find", query="funnel", parent=one.pid, env={"CLAUDE_CODE_SESSION_ID": uid(3)})
    finally:
        clients.end()
    assert uid(1)[:8] not in text
    assert uid(3)[:8] in text


def test_live_ones_are_marked(talk: Path, ask: Ask) -> None:
    clients = StandIns(talk)
    try:
        clients.claude(uid(1))
        assert "LIVE" in ask("find", query="export")
    finally:
        clients.end()


def test_what_came_since_is_found(talk: Path, ask: Ask) -> None:
    """A new session and new words in an old one, without a sweep."""
    path = next(talk.glob(f".claude/projects/*/{uid(1)}.jsonl"))
    append(path, [user(uid(1), "and the pelican report", 5)])
    claude_session(talk, "crm", uid(9), [("paint the heron", "ok")])
    assert uid(1)[:8] in ask("find", query="pelican")
    assert uid(9)[:8] in ask("find", query="heron")


@pytest.mark.parametrize("budget", [200, 500, 2000])
@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("find", {"snippets": True, "limit": 200}),
        ("find", {"query": "zebra"}),
        ("grep", {"patterns": ["выгрузка"], "limit": 50}),
        ("show", {"id": uid(100)}),
        ("show", {"id": uid(100), "transcript": True}),
        ("show", {"id": uid(100), "tail": 30}),
        ("show", {"id": uid(100), "around": "раз 7"}),
        ("handoff", {"id": uid(100)}),
    ],
)
def test_no_answer_is_longer(home: Path, ask: Ask, name: str, args: dict[str, Any], budget: int) -> None:
    claude_session(home, "crm", uid(100), [(f"выгрузка раз {n}", "готово " * 30) for n in range(40)])
    for n in range(101, 108):
        claude_session(home, "crm", uid(n), [(f"выгрузка номер {n} " + "слово " * 15, "ага")])
    text = ask(name, budget=budget, **args)
    assert 0 < len(text.encode()) <= budget
    if args.get("around"):
        assert "раз 7" in text
    if budget == 200 and name != "handoff" and args != {"query": "zebra"}:
        assert "…" in text


def test_no_index_is_said_and_the_next_call_works(home: Path, ask: Ask) -> None:
    with pytest.raises(Unavailable, match="nothing is indexed yet"):
        ask("find", query="heron")
    claude_session(home, "crm", uid(9), [("paint the heron", "ok")])
    assert uid(9)[:8] in ask("find", query="heron")


def test_a_new_index_in_between_is_used(talk: Path, ask: Ask) -> None:
    """No connection is held from call to call: nobody waits for us, and we see what is there now."""
    before = ask("find", query="funnel")
    here = settings(talk)
    number = os.stat(here.index).st_ino
    rebuild(here, progress=nothing)
    assert os.stat(here.index).st_ino != number
    assert ask("find", query="funnel") == before


def test_a_damaged_index_is_said_and_the_next_call_works(talk: Path, ask: Ask) -> None:
    here = settings(talk)
    whole = Path(here.index).read_bytes()
    Path(here.index).write_bytes(b"nonsense" * 1000)
    with pytest.raises((Damaged, sqlite3.DatabaseError)) as failed:
        ask("find", query="funnel")
    known = explain(failed.value)
    assert known is not None
    assert "recall reindex" in known.hint
    Path(here.index).write_bytes(whole)
    assert uid(1)[:8] in ask("find", query="funnel")


@pytest.fixture
def locked(talk: Path) -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(settings(talk).index, isolation_level=None)
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("PRAGMA journal_mode = DELETE")
    db.execute("BEGIN EXCLUSIVE")
    yield db
    db.close()


def test_a_locked_index_is_said_and_the_next_call_works(
    locked: sqlite3.Connection, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "_WAIT", 0.1)
    with pytest.raises(sqlite3.OperationalError) as failed:
        ask("find", query="funnel")
    known = explain(failed.value)
    assert isinstance(known, Unavailable)
    assert "in use by another recall" in known.message
    locked.close()
    assert uid(1)[:8] in ask("find", query="funnel")


def test_a_long_search_ends_when_nobody_waits_for_it(talk: Path) -> None:
    def left() -> None:
        raise Cancelled

    parts = Parts(lambda: settings(talk), lambda: NOW, explain, os.getcwd)
    with pytest.raises(Cancelled):
        answer("grep", {"patterns": ["zebra"]}, parts, left)


def test_wrong_arguments_are_told_before_anything_is_looked_for(home: Path, ask: Ask) -> None:
    with pytest.raises(Usage):
        ask("find", limit=0)
    with pytest.raises(Usage):
        ask("forget", id="last")
    assert not os.path.exists(settings(home).index)
