"""`recall doctor ID`: why a session is found, or not."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall.core.card import render
from recall.core.model import Card
from tests.builders import START, claude_folder, claude_records, claude_session, codex_session, write_lines
from tests.conftest import ROOT, Run
from tests.machine import append, uid

TURNS = [("Move the export to the new portal, please", "Moved it to portal.py")]
MORE = [*TURNS, ("And the import as well", "Moved that too")]
CODEX = "019e10aa-1111-7aaa-8bbb-0123456789ab"
Why = Callable[..., dict[str, Any]]


@pytest.fixture
def why(run_recall: Run) -> Why:
    """`why(id)`: the document, with `kinds` beside it: the kinds of its reasons in order."""

    def ask(typed: str, **env: str) -> dict[str, Any]:
        done = run_recall("doctor", typed, "--json", **env)
        assert done.returncode == 0, done.stdout + done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        assert set(found) == {"schema", "id", "client", "found", "line", "reasons"}
        assert all(set(one) == {"kind", "text", "mend"} for one in found["reasons"])
        return {**found, "kinds": [one["kind"] for one in found["reasons"]]}

    return ask


@pytest.fixture
def sweep(run_recall: Run) -> Callable[[], None]:
    def run() -> None:
        run_recall("sweep", "--quiet", "--no-llm")

    return run


def test_one_that_is_found(home: Path, why: Why, sweep: Callable[[], None]) -> None:
    """With its row, its source and its copy; any unique beginning names it."""
    claude_session(home, "crm", uid(1), TURNS)
    sweep()
    found = why(uid(1)[:8])
    assert (found["id"], found["client"], found["found"]) == (uid(1), "claude", True)
    assert found["line"].startswith(f"{uid(1)[:8]} 2026-06-11T09:00 crm [new] Move the export")
    assert found["kinds"] == ["shown", "source", "copy"]
    assert why("last")["id"] == uid(1)


def test_the_page(home: Path, run_recall: Run, sweep: Callable[[], None]) -> None:
    claude_session(home, "crm", uid(1), TURNS, entrypoint="sdk-cli")
    sweep()
    lines = run_recall("doctor", uid(1)).stdout.splitlines()
    assert lines[1:4] == [
        "recall find does not show it",
        "  headless: nobody sat at it (claude -p, codex exec)",
        "       mend: recall find --all shows it",
    ]


def test_one_that_was_not_swept(home: Path, why: Why, sweep: Callable[[], None]) -> None:
    """Before the first sweep too."""
    claude_session(home, "crm", uid(1), TURNS)
    assert "unindexed" in why(uid(1))["kinds"]
    sweep()
    claude_session(home, "crm", uid(2), TURNS)
    found = why(uid(2))
    assert (found["found"], found["kinds"]) == (False, ["unswept", "source"])
    assert found["reasons"][0]["mend"] == "recall sweep"


def test_one_that_grew(home: Path, why: Why, sweep: Callable[[], None]) -> None:
    """It is found, but not by what is newest in it."""
    path = claude_session(home, "crm", uid(1), TURNS)
    sweep()
    append(path, list(claude_records(uid(1), MORE, "/home/dev/crm"))[-2:])
    found = why(uid(1))
    assert (found["found"], found["kinds"]) == (True, ["shown", "behind", "source", "copy"])


def test_removed_and_purged(home: Path, why: Why, sweep: Callable[[], None], run_recall: Run) -> None:
    for n in (1, 2):
        claude_session(home, "crm", uid(n), TURNS)
    sweep()
    run_recall("remove", uid(1), "--yes", check=True)
    run_recall("remove", uid(2), "--purge", "--yes", check=True)
    for n, kind in ((1, "removed"), (2, "purged")):
        found = why(uid(n))
        assert (found["found"], found["kinds"][0]) == (False, kind)
        assert found["reasons"][0]["mend"].startswith(f"recall recap {uid(n)} --force")
    assert why(uid(1)[:8])["id"] == uid(1)


def test_a_tombstone_of_an_earlier_tool(home: Path, why: Why, sweep: Callable[[], None]) -> None:
    """The first 8 characters of an id."""
    claude_session(home, "crm", uid(1), TURNS)
    data = home / ".claude" / "session-recaps"
    data.mkdir(parents=True)
    (data / ".removed").write_text(uid(1)[:8] + "\n")
    sweep()
    found = why(uid(1)[:8])
    assert (found["id"], found["found"], found["kinds"][0]) == (uid(1), False, "removed")


def test_one_that_cannot_be_read(home: Path, why: Why, sweep: Callable[[], None]) -> None:
    path = codex_session(home, "crm", CODEX, TURNS)
    path.with_suffix(".jsonl.zst").write_bytes(b"no frame")
    path.unlink()
    sweep()
    found = why(CODEX[:13])
    assert (found["found"], found["kinds"][0]) == (False, "unreadable")


def test_a_part_of_a_chain(home: Path, why: Why, sweep: Callable[[], None]) -> None:
    """The session that holds all of its records is named."""
    first = list(claude_records(uid(1), TURNS, "/home/dev/crm"))
    later = list(claude_records(uid(1), MORE, "/home/dev/crm"))
    folder = home / ".claude" / "projects" / claude_folder("/home/dev/crm")
    write_lines(folder / f"{uid(1)}.jsonl", first)
    write_lines(folder / f"{uid(2)}.jsonl", [{**one, "sessionId": uid(2)} for one in later])
    sweep()
    found = why(uid(1))
    assert (found["found"], found["kinds"][0]) == (False, "chain")
    assert uid(2) in found["reasons"][0]["text"]
    assert why(uid(2))["found"]


def test_one_without_a_conversation(home: Path, why: Why, sweep: Callable[[], None]) -> None:
    folder = home / ".claude" / "projects" / "-home-dev-crm"
    write_lines(folder / f"{uid(1)}.jsonl", [{"type": "mode", "mode": "normal", "sessionId": uid(1)}])
    (folder / f"{uid(2)}.jsonl").write_bytes(b"")
    sweep()
    for n in (1, 2):
        found = why(uid(n))
        assert (found["found"], found["kinds"][0]) == (False, "empty")


def test_a_sub_agent(home: Path, why: Why, sweep: Callable[[], None]) -> None:
    """It is no session: its parent is named."""
    path = claude_session(home, "crm", uid(1), TURNS)
    agent = path.parent / uid(1) / "subagents" / "agent-abc123.jsonl"
    write_lines(agent, claude_records(uid(1), TURNS, "/home/dev/crm", sidechain=True))
    sweep()
    found = why("agent-abc")
    assert (found["found"], found["kinds"][0]) == (False, "sub-agent")
    assert uid(1) in found["reasons"][0]["text"]


def test_one_in_a_home_that_is_not_looked_at(home: Path, why: Why, sweep: Callable[[], None]) -> None:
    """Its folder is named, and how to add it."""
    claude_session(home, "crm", uid(1), TURNS)
    sweep()
    other = home / "elsewhere"
    claude_session(other, "crm", uid(2), TURNS)
    os.rename(other / ".claude", home / ".claude-work")
    found = why(uid(2))
    assert (found["found"], found["kinds"]) == (False, ["elsewhere"])
    assert "~/.claude-work is not among the homes" in found["reasons"][0]["text"]
    assert "claude_homes" in found["reasons"][0]["mend"]
    found = why(uid(2), RECALL_CLAUDE_HOMES=str(home / ".claude-work"))
    assert found["kinds"] == ["unswept", "source", "other-home"]


def test_a_model_call_of_our_own(home: Path, why: Why, sweep: Callable[[], None]) -> None:
    folder = home / ".claude" / "recall" / "model"
    folder.mkdir(parents=True, mode=0o700)
    claude_session(home, str(folder), uid(1), TURNS)
    sweep()
    found = why(uid(1))
    assert (found["found"], found["kinds"][0]) == (False, "own")


def test_one_that_is_in_the_archive_only(home: Path, why: Why, sweep: Callable[[], None]) -> None:
    path = claude_session(home, "crm", uid(1), TURNS)
    sweep()
    path.unlink()
    for _ in range(2):
        found = why(uid(1))
        assert (found["found"], found["kinds"]) == (True, ["shown", "archived", "copy"])
        sweep()


def test_a_card_alone(home: Path, why: Why, sweep: Callable[[], None]) -> None:
    """A card of an earlier machine: a row, and nothing behind it."""
    data = home / ".claude" / "session-recaps"
    data.mkdir(parents=True)
    (data / f"{uid(1)}.md").write_text(render(Card(uid(1), task="Move the export", last=1.8e9, written_by="hand")))
    claude_session(home, "crm", uid(2), TURNS)
    sweep()
    found = why(uid(1))
    assert (found["found"], found["kinds"]) == (True, ["shown", "archived"])


def test_the_session_that_asks(home: Path, why: Why, sweep: Callable[[], None]) -> None:
    """It is left out of what it finds."""
    claude_session(home, "crm", uid(1), TURNS)
    sweep()
    found = why(uid(1), CLAUDE_CODE_SESSION_ID=uid(1))
    assert (found["found"], found["kinds"][0]) == (False, "current")
    found = why(uid(7), CLAUDE_CODE_SESSION_ID=uid(7))
    assert found["kinds"] == ["current", "unswept"]


def test_a_searcher_and_a_fork(home: Path, why: Why, sweep: Callable[[], None]) -> None:
    """They are found, and what is special about them is said."""
    calls = [("Bash", {"command": f"recall find export {n}"}, "nothing") for n in range(4)]
    claude_session(home, "crm", uid(1), [("find the session about the export", "It is this one", calls)])
    codex_session(home, "crm", CODEX, TURNS)
    codex_session(home, "crm", CODEX[:-1] + "c", MORE[1:], fork_of=CODEX, start=START.replace("09", "10"))
    sweep()
    assert "meta" in why(uid(1))["kinds"]
    found = why(CODEX[:-1] + "c")
    assert (found["found"], "fork" in found["kinds"]) == (True, True)


def test_one_of_a_damaged_index(home: Path, why: Why, sweep: Callable[[], None]) -> None:
    """The copies still tell that it is there."""
    claude_session(home, "crm", uid(1), TURNS)
    sweep()
    (home / ".claude" / "recall" / "index.db").write_bytes(b"no database" * 1000)
    found = why(uid(1)[:8])
    assert (found["found"], found["kinds"][0], found["client"]) == (False, "unindexed", "claude")


@pytest.mark.parametrize(
    ("typed", "status"), [("00000000-dead", 1), ("", 2), ("../x", 2), ("a/b", 2), ("x" * 300, 2), ("--", 0)]
)
def test_what_nobody_knows(home: Path, run_recall: Run, sweep: Callable[[], None], typed: str, status: int) -> None:
    claude_session(home, "crm", uid(1), TURNS)
    sweep()
    done = run_recall("doctor", typed)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr


def test_several_that_begin_so(home: Path, run_recall: Run, sweep: Callable[[], None]) -> None:
    """They are listed."""
    twins = [f"aaaaaaaa-0000-4000-8000-00000000000{n}" for n in range(2)]
    for one in twins:
        claude_session(home, "crm", one, TURNS)
    sweep()
    done = run_recall("doctor", "aaaa")
    assert done.returncode == 2
    assert all(one in done.stderr for one in twins)


def test_an_id_that_steers_a_terminal_is_plain(home: Path, run_recall: Run) -> None:
    assert "\x1b" not in run_recall("doctor", "\x1b[31mx").stderr


def test_each_kind_is_explained() -> None:
    """docs/troubleshooting.md has a row for each kind of reason."""
    source = (ROOT / "recall" / "actions" / "why.py").read_text()
    kinds = set(re.findall(r'Reason\(\s*"([a-z-]+)"', source)) | {"elsewhere", "other-home"}
    page = (ROOT / "docs" / "troubleshooting.md").read_text()
    told = {
        kind for cell in re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE) for kind in re.findall(r"`([a-z-]+)`", cell)
    }
    assert len(kinds) > 15
    assert kinds <= told
