"""`recall ps` and `recall reopen --crashed` as a person runs them."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import stat
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.core.plain import width
from tests.builders import claude_session, codex_session
from tests.conftest import Run, environment
from tests.standins import StandIns

IDS = [f"5a1c0b1e-93f0-4f5e-a7d4-00000000000{n}" for n in range(5)]
THREAD = "01a228d0-3f60-7571-a362-f71364f367d5"
TURNS = [("Move the export to the new API, please", "The export uses the new API now.")]


@pytest.fixture
def clients(home: Path) -> Iterator[StandIns]:
    (home / "crm").mkdir()
    for session in IDS:
        claude_session(home, str(home / "crm"), session, TURNS)
    codex_session(home, str(home / "crm"), THREAD, TURNS)
    made = StandIns(home)
    yield made
    made.end()


def test_what_is_open_is_told_without_an_index_that_can_be_read(clients: StandIns, home: Path, run_recall: Run) -> None:
    """Damaged or not writable: only titles are missing."""
    run_recall("sweep", "--quiet", check=True)
    (home / ".claude/recall/index.db").write_bytes(b"no database" * 1000)
    clients.claude(IDS[0], cwd="/home/dev/crm")
    done = run_recall("ps", TMUX_TMPDIR=str(home))
    assert (done.returncode, f"- claude {IDS[0][:8]} crm [" in done.stdout) == (0, True), done.stderr
    assert "recall: no titles: " in done.stderr


def test_lines_are_plain_where_nobody_looks(clients: StandIns, run_recall: Run) -> None:
    """Address, client, id, project, state, title; no head; oldest first."""
    run_recall("sweep", "--quiet", check=True)
    one = clients.claude(IDS[0], terminal=True, startedAt=1000, cwd="/home/dev/crm")
    clients.claude(IDS[1], kind="bg", status="waiting", waitingFor="permission\x1b[2J prompt", startedAt=1000)
    two = clients.codex(THREAD, terminal=True)
    where = [f"s{int(tty.removeprefix('pts/')):03}" for tty in (one.tty, two.tty)]
    done = run_recall("ps", TMUX_TMPDIR=str(clients.home))
    assert done.returncode == 0, done.stderr
    shorts = json.loads(run_recall("ps", "--json").stdout)["sessions"]
    short = {row["id"]: row["short_id"] for row in shorts}
    assert done.stdout.splitlines() == [
        f"{where[0]} claude {short[IDS[0]]} crm [idle] {TURNS[0][0]}",
        f"{where[1]} codex {THREAD[:13]} crm [?] {TURNS[0][0]}",
        f"- claude {short[IDS[1]]} crm [waiting: permission prompt] {TURNS[0][0]} (background: claude attach {IDS[1][:8]})",
    ]


def test_json_has_all_that_is_known(clients: StandIns, run_recall: Run) -> None:
    """Without an index too: what the clients tell is enough."""
    one = clients.claude(IDS[0], terminal=True, startedAt=1795980854409, updatedAt=1795980856198, status="busy")
    found = json.loads(run_recall("ps", "--json", CLAUDE_CODE_SESSION_ID=IDS[0]).stdout)
    assert found["schema"] == 1
    (row,) = found["sessions"]
    assert row == {
        "address": f"s{int(one.tty.removeprefix('pts/')):03}",
        "client": "claude",
        "id": IDS[0],
        "short_id": IDS[0][:8],
        "project": "crm",
        "cwd": "/home/dev/crm",
        "title": "",
        "state": "busy",
        "waiting_for": "",
        "background": False,
        "reach": "",
        "terminal": None,
        "tty": one.tty,
        "pid": one.pid,
        "started": "2026-11-29T19:34:14Z",
        "updated": "2026-11-29T19:34:16Z",
        "current": True,
    }


@pytest.mark.parametrize("columns", [40, 72, 100, 160])
def test_on_a_terminal_it_is_a_table(clients: StandIns, home: Path, columns: int) -> None:
    """With a head, in the columns that there are; addresses and ids stay whole."""
    one = clients.claude(IDS[0], terminal=True, name="выгрузка воронки продаж по менеджерам " * 3, nameSource="user")
    clients.claude("9" + IDS[1][1:], kind="bg", name="項目の輸出" * 9, nameSource="auto", status="busy")
    pid, terminal = pty.fork()
    if pid == 0:
        termios.tcsetwinsize(0, (24, columns))
        words = [sys.executable, "-m", "recall", "ps"]
        os.execvpe(words[0], words, environment(home, TMUX_TMPDIR=str(home), NO_COLOR="1", TERM="xterm"))
    shown = b""
    with contextlib.suppress(OSError):  # how the end of a terminal is told
        while part := os.read(terminal, 65536):
            shown += part
    os.waitpid(pid, 0)
    os.close(terminal)
    head, first, second = shown.decode().splitlines()
    assert head.startswith("ADDRESS  CLIENT  ID")
    assert first.startswith(f"s{int(one.tty.removeprefix('pts/')):03}     claude  {IDS[0][:8]}  ")
    assert max(map(width, (head, first, second))) <= columns
    if columns >= 100:
        assert second.endswith(f"(claude attach 9{IDS[1][1:8]})")


def test_nothing_open(home: Path, run_recall: Run) -> None:
    """Status 1, a word beside the output, and an empty list."""
    done = run_recall("ps")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "recall: no session is open\n")
    done = run_recall("ps", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (1, {"schema": 1, "sessions": []})


def test_of_five_three_are_killed_and_just_those_are_printed(clients: StandIns, run_recall: Run, home: Path) -> None:
    """Each as `recall cmd` prints it; a client that tidies up meanwhile takes nothing away; nothing is opened."""
    run_recall("install", "--no-timer", check=True)
    ones = [clients.claude(session, startedAt=1000 * n) for n, session in enumerate(IDS)]
    run_recall("sweep", "--quiet", "--no-llm", check=True)
    for one in ones[1:4]:
        one.kill()
    (home / f".claude/sessions/{ones[2].pid}.json").unlink()
    done = run_recall("reopen", "--crashed", "--print")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"cd '{home}/crm' && claude --resume {session}" for session in IDS[1:4]]
    assert stat.S_IMODE(os.stat(home / ".claude/recall/open.json").st_mode) == 0o600


def test_many_windows_are_asked_for(clients: StandIns, run_recall: Run, tmp_path: Path) -> None:
    """Where nobody can be asked it is refused, and nothing is opened."""
    for session in IDS:
        clients.claude(session).kill()
    programs = tmp_path / "bin"
    programs.mkdir()
    log = tmp_path / "log"
    for name in ("kitty", "tmux", "xterm", "claude"):
        (programs / name).write_text(f'#!/bin/sh\necho {name} "$@" >>{log}\n')
        (programs / name).chmod(0o700)
    path = f"{programs}:{os.environ['PATH']}"
    done = run_recall("reopen", "--crashed", "--terminal", "tmux", PATH=path)
    assert done.returncode == 3
    assert done.stderr.splitlines()[-2:] == [
        "recall: that would open 5 windows in tmux",
        "hint: --yes does it, --print shows the lines",
    ]
    assert not log.exists() or "new-" not in log.read_text()
    done = run_recall("reopen", "--crashed", "--terminal", "tmux", "--yes", PATH=path)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"--resume (\S+)", log.read_text()) == IDS
    again = run_recall("reopen", "--crashed", "--print", PATH=path)
    assert (again.returncode, again.stdout) == (1, "")


def test_what_cannot_be_opened_is_said_and_the_rest_is(clients: StandIns, run_recall: Run, home: Path) -> None:
    """A folder that is gone, a session in the background."""
    gone = home / "gone"
    gone.mkdir()
    claude_session(home, str(gone), "0aaaaaaa-93f0-4f5e-a7d4-000000000000", TURNS)
    gone.rmdir()
    clients.claude("0aaaaaaa-93f0-4f5e-a7d4-000000000000").kill()
    clients.claude(IDS[0], kind="bg").kill()
    clients.claude(IDS[1]).kill()
    done = run_recall("reopen", "--crashed", "--print")
    assert done.returncode == 3
    assert done.stdout.splitlines() == [f"cd '{home}/crm' && claude --resume {IDS[1]}"]
    assert "not reopened: claude 0aaaaaaa (it was killed): the folder" in done.stderr
    assert (
        f"not reopened, it ran in the background: claude {IDS[0][:8]} (it was killed); claude attach {IDS[0][:8]}"
        in done.stderr
    )


@pytest.mark.parametrize(
    ("args", "status", "words"),
    [
        ((), 2, "recall open ID"),
        (("--crashed", "--window", "--tab"), 2, "one of --window and --tab"),
        (("--crashed", "--since", "whenever"), 2, "whenever"),
        (("--crashed",), 1, "no session was ended by a crash"),
        (("--crashed", "--print", "--since", "3d"), 1, "3d"),
    ],
)
def test_what_is_not_to_be_done(home: Path, run_recall: Run, args: tuple[str, ...], status: int, words: str) -> None:
    """A line, a hint and a status; no traceback."""
    done = run_recall("reopen", *args)
    assert (done.returncode, done.stdout) == (status, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_removed_session_stays_where_it_is(clients: StandIns, run_recall: Run) -> None:
    run_recall("sweep", "--quiet", check=True)
    run_recall("remove", IDS[0], "--yes", check=True)
    clients.claude(IDS[0]).kill()
    assert run_recall("reopen", "--crashed", "--print").returncode == 1
