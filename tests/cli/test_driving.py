"""`peek`, `send` and `wait` as commands, with a real tmux: what arrives, and all that must not be typed anywhere."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run
from tests.machine import uid
from tests.realclient.lab import wait_for

pytestmark = [
    pytest.mark.skipif(not shutil.which("tmux"), reason="no tmux here"),
    pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="the stand-in for the client needs /proc"),
]

UNDER = ("/bin/sh", "-c", '"$@"; true', "sh")
"""tmux wakes up a process that is stopped, if it started it itself."""
TYPIST = str(Path(__file__).with_name("typist.py"))


class Desk:
    """Windows of a tmux server of our own, each with a stand-in for Claude Code."""

    def __init__(self, home: Path, folder: str) -> None:
        self.home, self.socket = home, f"{folder}/s"
        self.env = {"TMUX": f"{self.socket},0,0", "PATH": os.environ["PATH"]}
        self.pids: list[int] = []

    def tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", self.socket, "-f", "/dev/null", *words],
            env={"PATH": self.env["PATH"], "HOME": str(self.home), "TERM": "xterm-256color", "LANG": "C.UTF-8"},
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        return done.stdout.strip()

    def client(self, session: str) -> dict[str, Any]:
        """A new window; what the registry says of its client, with `pane`."""
        before = set(self.entries())
        size = ("-d", "-x", "100", "-y", "30", "-P", "-F", "#{pane_id}")
        pane = self.tmux("new-session", *size, "--", *UNDER, sys.executable, TYPIST, str(self.home), session)
        (path,) = wait_for(lambda: set(self.entries()) - before, "the client")
        entry = json.loads(path.read_text())
        self.pids.append(entry["pid"])
        return {**entry, "pane": pane, "path": path}

    def entries(self) -> list[Path]:
        return list(self.home.glob(".claude/sessions/*.json"))

    def said(self) -> list[str]:
        """All prompts that any client got."""
        lines = [line for path in self.home.glob(".claude/projects/*/*.jsonl") for line in path.open(encoding="utf-8")]
        return [json.loads(line)["message"]["content"] for line in lines]

    def audit(self) -> list[str]:
        path = self.home / ".claude/recall/iterm-audit.log"
        return [json.loads(line)["result"] for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def desk(home: Path) -> Iterator[Desk]:
    """Without a window yet."""
    with tempfile.TemporaryDirectory(prefix="rd", dir="/tmp") as folder:  # short: paths of sockets are limited
        made = Desk(home, folder)
        yield made
        with contextlib.suppress(subprocess.CalledProcessError):
            made.tmux("kill-server")
        for pid in made.pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_a_text_arrives(desk: Desk, run_recall: Run) -> None:
    """In the session that is named, by its pane, its address or its id; from standard input too; and each send is noted."""
    entry, _ = desk.client(uid(1)), desk.client(uid(2))
    done = run_recall("send", entry["pane"], "one\n  two 'x' $(y)\nthree ü", **desk.env)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("arrived in s")
    done = run_recall("send", uid(2)[:8], "-", "--json", input="from\r\nstdin\n", **desk.env)
    told = json.loads(done.stdout)
    assert (told["id"], told["result"], told["schema"]) == (uid(2), "arrived", 1)
    assert sorted(desk.said()) == ["from\nstdin", "one\n  two 'x' $(y)\nthree ü"]
    assert desk.audit() == ["arrived", "arrived"]


def test_peek_and_wait(desk: Desk, run_recall: Run) -> None:
    """The screen's end, and the state; the same as JSON."""
    entry = desk.client(uid(1))
    done = run_recall("peek", entry["pane"], "3", **desk.env)
    assert (done.returncode, done.stdout.split("\n")[1]) == (0, "─" * 60)
    told = json.loads(run_recall("peek", entry["pane"], "--json", **desk.env).stdout)
    assert (told["of"], told["state"], "said before" in told["text"]) == ("screen", "idle", True)
    assert run_recall("wait", entry["pane"], **desk.env).stdout == "idle\n"
    told = json.loads(run_recall("wait", entry["pane"], "--for", "text=SAID before", "--json", **desk.env).stdout)
    assert (told["for"], told["state"]) == ("text", "idle")
    done = run_recall("wait", entry["pane"], "0", "--for", "permission", **desk.env)
    assert (done.returncode, "it is idle" in done.stderr) == (4, True)


@pytest.mark.parametrize(
    ("args", "status"),
    [
        (("send", "s999", "hello"), 1),
        (("send", "%99", "hello"), 1),
        (("peek", "nobody"), 1),
        (("wait", "nobody"), 1),
        (("send", "last", "hello"), 2),
        (("send", uid(1)[:2], "hello"), 2),
        (("send", "%0"), 2),
        (("send", "%0", ""), 2),
        (("send", "%0", " \n "), 2),
        (("send", "%0", "hello\x1b[201~rm -rf .\r"), 2),
        (("send", "%0", b"\xff"), 2),
        (("send", "%0", "x" * 100_001), 2),
        (("peek", "%0", "0"), 2),
        (("peek", "%0", "many"), 2),
        (("wait", "%0", "soon"), 2),
        (("wait", "%0", "-1"), 2),
        (("wait", "%0", "--for", "sunrise"), 2),
        (("wait", "%0", "--for", "text"), 2),
        (("wait", "%0", "--for", "idle=now"), 2),
        (("wait", "%0", "--for", "permission", "--text", "x"), 2),
    ],
)
def test_what_cannot_be_meant(desk: Desk, run_recall: Run, args: tuple[Any, ...], status: int) -> None:
    """The right status and what to do, and nothing typed."""
    desk.client(uid(1))
    words = [os.fsdecode(word) if isinstance(word, bytes) else word for word in args]
    done = run_recall(*words, **desk.env)
    assert (done.returncode, done.stdout) == (status, "")
    assert "hint: " in done.stderr
    assert "Traceback" not in done.stderr
    assert desk.said() == []


def test_two_clients_of_one_session(desk: Desk, run_recall: Run) -> None:
    """Its id is no address then; both are told."""
    first, second = desk.client(uid(1)), desk.client(uid(1))
    done = run_recall("send", uid(1), "hello", **desk.env)
    assert done.returncode == 2
    assert done.stderr.count("\n  s") == 2
    assert run_recall("send", second["pane"], "hello", **desk.env).returncode == 0
    assert desk.said() == ["hello"]
    assert first["pane"] != second["pane"]


def refused(desk: Desk, run_recall: Run, session: str, status: int, **more: str) -> str:
    """A send is not done: the status, a hint, nothing typed, a line in the audit log. What was said."""
    done = run_recall("send", session, "hello", **{**desk.env, **more})
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert "hint: " in done.stderr
    assert desk.said() == []
    assert len(desk.audit()) == 1
    return done.stderr


def test_its_own_session(desk: Desk, run_recall: Run) -> None:
    """A session does not type into itself."""
    desk.client(uid(1))
    refused(desk, run_recall, uid(1), 3, CLAUDE_CODE_SESSION_ID=uid(1))


def test_a_session_that_waits(desk: Desk, run_recall: Run) -> None:
    """As its registry tells."""
    entry = desk.client(uid(1))
    path = entry.pop("path")
    path.write_text(json.dumps({**entry, "status": "waiting", "waitingFor": "permission prompt"}))
    assert "permission prompt" in refused(desk, run_recall, uid(1), 3)


def test_a_client_that_is_stopped(desk: Desk, run_recall: Run) -> None:
    """What is typed then is read by whoever comes next."""
    os.kill(desk.client(uid(1))["pid"], signal.SIGSTOP)
    assert "is stopped" in refused(desk, run_recall, uid(1), 3)


def test_a_client_that_was_killed(desk: Desk, run_recall: Run) -> None:
    """Its file stays behind, and its window may stay too."""
    entry = desk.client(uid(1))
    desk.tmux("set-option", "-t", entry["pane"], "remain-on-exit", "on")
    os.kill(entry["pid"], signal.SIGKILL)
    wait_for(lambda: desk.tmux("display-message", "-p", "-t", entry["pane"], "#{pane_dead}") == "1", "the dead pane")
    refused(desk, run_recall, uid(1), 1)


def test_a_number_that_another_process_has_now(desk: Desk, run_recall: Run) -> None:
    """The registry says when its client began; this one began at another time."""
    entry = desk.client(uid(1))
    path = entry.pop("path")
    path.write_text(json.dumps({**entry, "procStart": str(int(entry["procStart"]) - 1)}))
    refused(desk, run_recall, uid(1), 1)


def test_a_registry_that_is_half_written(desk: Desk, run_recall: Run) -> None:
    """Nothing is made of a half of it."""
    path = desk.client(uid(1))["path"]
    path.write_text(path.read_text()[:80])
    refused(desk, run_recall, uid(1), 1)


def test_a_tmux_server_that_is_gone(desk: Desk, run_recall: Run) -> None:
    """The client may live on without it."""
    desk.client(uid(1))
    desk.tmux("kill-server")
    refused(desk, run_recall, uid(1), 4)


def test_a_tmux_that_hangs(desk: Desk, run_recall: Run, tmp_path: Path) -> None:
    """It is told that it does not answer; what needs no terminal goes on without."""
    desk.client(uid(1))
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "tmux").write_text("#!/bin/sh\nexec sleep 60\n")
    (programs / "tmux").chmod(0o755)
    path = f"{programs}:{desk.env['PATH']}"
    assert "does not answer" in refused(desk, run_recall, uid(1), 4, PATH=path)
    done = run_recall("wait", uid(1), "5", **{**desk.env, "PATH": path})
    assert (done.stdout, "does not answer" in done.stderr) == ("idle\n", True)


def test_a_client_outside_of_any_terminal_that_can_be_driven(desk: Desk, run_recall: Run) -> None:
    """It is open, and told as such."""
    desk.client(uid(1))
    told = refused(desk, run_recall, uid(1), 4, TMUX="", TMUX_TMPDIR=str(desk.home))
    assert "tmux" in told
