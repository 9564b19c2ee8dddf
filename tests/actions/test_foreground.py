"""Whether a process is what a terminal's keys go to: real processes, real terminals."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall import live
from recall.actions.foreground import behind
from tests.realclient.lab import wait_for

CHILD = "import sys; print('rea' + 'dy', flush=True); sys.stdin.read()"


@pytest.fixture
def shell() -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A shell that has a terminal of its own and does job control, and that terminal's other end."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        ["/bin/sh", "-i"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={"PS1": "", "PATH": os.environ["PATH"], "ENV": ""},
        preexec_fn=lambda: os.login_tty(0),
    )
    os.close(theirs)
    yield process, ours
    os.close(ours)
    process.kill()
    process.wait()


def typed(ours: int, line: str, expected: str) -> None:
    """Type a line that does not hold what must come, and read up to that."""
    assert expected not in line
    os.write(ours, line.encode() + b"\n")
    seen = b""
    while expected.encode() not in seen:
        assert select.select([ours], [], [], 20)[0], f"{expected!r} never came, only {seen!r}"
        seen += os.read(ours, 4096)


def child_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks into /proc to find the child")
@pytest.mark.skipif(sys.platform == "darwin", reason="a terminal is made another way there")
def test_a_client_in_front_behind_and_stopped(shell: tuple[subprocess.Popen[bytes], int]) -> None:
    """In front it gets the keys; stopped by Ctrl-Z, or gone, it does not; then its shell does."""
    process, ours = shell
    typed(ours, "echo be''gun", "begun")
    typed(ours, f'{sys.executable} -c "{CHILD}"', "ready")
    client = child_of(process.pid)
    assert behind(client) == ""
    assert behind(process.pid) == "is in the background of its terminal"
    os.write(ours, b"\x1a")
    wait_for(lambda: behind(client) == "is stopped", "the stop")
    typed(ours, "echo a''gain", "again")
    assert behind(process.pid) == ""
    os.kill(client, signal.SIGKILL)
    wait_for(lambda: behind(client) == "has ended", "the end")


def test_a_process_without_a_terminal() -> None:
    """It gets no keys at all."""
    process = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, start_new_session=True)
    try:
        assert behind(process.pid) == "has no terminal"
    finally:
        process.kill()
        process.wait()
    assert behind(process.pid) == "has ended"
    assert behind(0) == "has ended"


def test_without_proc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where there is no /proc, `ps` tells the same."""
    monkeypatch.setattr(live, "PROC", str(tmp_path))
    answers = {"7": "Ss+   7   7\n", "8": "S   8   7\n", "9": "T   9   7\n", "10": "Z   10  7\n", "11": "S   11   0\n"}
    monkeypatch.setattr("recall.live.process.run", lambda words: answers.get(words[-1], ""))
    found = {pid: behind(pid) for pid in (7, 8, 9, 10, 11, 12)}
    assert found == {
        7: "",
        8: "is in the background of its terminal",
        9: "is stopped",
        10: "has ended",
        11: "has no terminal",
        12: "has ended",
    }
