"""`recall next`: what waits for the person, what is open, and what is in progress with its next step."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import builders
from tests.conftest import Run
from tests.machine import uid

TURNS = [("Write the export", "Half of it is done.")]


def _card(home: Path, session: str, status: str, step: str) -> None:
    path = home / f".claude/session-recaps/{session}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"---\nid: {session}\nclient: claude\nproject: /home/dev/crm\ntask: The export of orders\nstatus: {status}\n"
        f"tags: [export]\nnext: {step}\nwritten_by: hand\nwritten_at: 2099-01-01T00:00:00Z\n---\n"
    )


@pytest.fixture
def clients() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Two processes that stand for clients."""
    made = [subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) for _ in range(2)]
    yield made
    for one in made:
        one.kill()
        one.wait()


def _registered(home: Path, process: subprocess.Popen[bytes], session: str, **more: str) -> None:
    started = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[19]
    folder = home / ".claude/sessions"
    folder.mkdir(parents=True, exist_ok=True)
    entry = {
        "pid": process.pid,
        "sessionId": session,
        "procStart": started,
        "entrypoint": "cli",
        "cwd": "/home/dev/crm",
        **more,
    }
    (folder / f"{process.pid}.json").write_text(json.dumps(entry))


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="the registry is checked against /proc")
def test_each_session_stands_once_under_what_it_needs(
    home: Path, run_recall: Run, clients: list[subprocess.Popen[bytes]]
) -> None:
    for n in range(1, 6):
        builders.claude_session(home, "crm", uid(n), TURNS)
    _card(home, uid(1), "in_progress", "Add the button")
    _card(home, uid(2), "done", "Nothing")
    _card(home, uid(3), "in_progress", "Never shown: it is open")
    _registered(home, clients[0], uid(3), status="waiting", waitingFor="permission prompt")
    _registered(home, clients[1], uid(4), status="busy")
    run_recall("sweep", "--quiet", "--no-llm")
    done = run_recall("next", "--days", "3650")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    heads = [n for n, line in enumerate(lines) if line and not line.startswith(" ")]
    assert [lines[n] for n in heads] == ["waiting for you", "open", "in progress"]
    assert uid(3)[:8] in lines[heads[0] + 1] and "[waiting: permission prompt]" in lines[heads[0] + 1]
    assert uid(4)[:8] in lines[heads[1] + 1] and "[busy]" in lines[heads[1] + 1]
    assert lines[heads[2] + 1].startswith(f"  {uid(1)[:8]} ")
    assert lines[heads[2] + 2] == "      next: Add the button"
    assert done.stdout.count("next:") == 1

    found = json.loads(run_recall("next", "--days", "3650", "--json").stdout)
    assert [one["id"] for one in found["waiting"]] == [uid(3)]
    assert [one["id"] for one in found["open"]] == [uid(4)]
    assert [(one["id"], one["next"]) for one in found["in_progress"]] == [(uid(1), "Add the button")]


def test_nothing_to_do_is_said(home: Path, run_recall: Run) -> None:
    run_recall("sweep", "--quiet")
    done = run_recall("next")
    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing is open" in done.stderr


def test_what_was_last_active_long_ago_is_left_out(home: Path, run_recall: Run) -> None:
    builders.claude_session(home, "crm", uid(1), TURNS, start="2020-01-01T09:00:00+00:00")
    _card(home, uid(1), "in_progress", "Add the button")
    run_recall("sweep", "--quiet", "--no-llm")
    assert run_recall("next").returncode == 1
    assert run_recall("next", "--days", "3650").returncode == 0


def test_a_removed_session_is_left_out(home: Path, run_recall: Run) -> None:
    builders.claude_session(home, "crm", uid(1), TURNS)
    _card(home, uid(1), "in_progress", "Add the button")
    run_recall("sweep", "--quiet", "--no-llm")
    assert run_recall("next", "--days", "3650").returncode == 0
    run_recall("remove", uid(1), "--yes")
    assert run_recall("next", "--days", "3650").returncode == 1
