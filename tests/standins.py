"""Stand-ins of open clients: real processes with real start times, terminals and locks, and the traces that clients keep."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

WAITS = "import sys; print('!', flush=True); sys.stdin.readline()"
HOLDS = """\
import fcntl, sys
held = [open(path, "a") for path in sys.argv[1].split("|")]
for file in held:
    fcntl.flock(file, fcntl.LOCK_EX)
print("!", flush=True)
sys.stdin.readline()
"""


class StandIn:
    """A process that waits; with `terminal` on a terminal of its own."""

    def __init__(self, code: str, *args: str, terminal: bool = False) -> None:
        words = [sys.executable, "-c", code, *args]
        self._ends: tuple[int, ...] = ()
        if terminal:
            master, slave = os.openpty()
            self.tty = os.ttyname(slave).removeprefix("/dev/")
            self.process = subprocess.Popen(
                ["setsid", "--ctty", *words], stdin=slave, stdout=slave, stderr=slave, close_fds=True
            )
            os.close(slave)
            self._ends = (master,)
            assert os.read(master, 64).startswith(b"!")
        else:
            self.tty = ""
            self.process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
            assert self.process.stdout is not None
            assert self.process.stdout.readline() == b"!\n"
        self.pid = self.process.pid

    @property
    def start(self) -> str:
        """Field 22 of its /proc/<pid>/stat."""
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[19]

    def kill(self) -> None:
        """kill -9, and it is gone."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        for end in self._ends:
            os.close(end)
        self._ends = ()


class StandIns:
    """All that a test started, in one home."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.started: list[StandIn] = []

    def wait(self, *args: str, terminal: bool = False) -> StandIn:
        self.started.append(StandIn(WAITS, *args, terminal=terminal))
        return self.started[-1]

    def claude(self, session: str, *, terminal: bool = False, **fields: Any) -> StandIn:
        """A running Claude Code with its file in the registry."""
        one = self.wait(terminal=terminal)
        self.register(one.pid, session, **{"procStart": one.start, **fields})
        return one

    def register(self, number: int, session: str, **fields: Any) -> Path:
        """The file of a client in Claude Code's registry, as 2.1.332 writes it."""
        now = int(time.time() * 1000)
        entry = {
            "pid": number,
            "sessionId": session,
            "cwd": "/home/dev/crm",
            "startedAt": now,
            "version": "2.1.332",
            "kind": "interactive",
            "entrypoint": "cli",
            "name": "crm-8f",
            "nameSource": "derived",
            "status": "idle",
            "updatedAt": now,
            **fields,
        }
        path = self.home / f".claude/sessions/{number}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({key: value for key, value in entry.items() if value is not None}))
        return path

    def codex(self, *sessions: str, terminal: bool = False, args: tuple[str, ...] = ()) -> StandIn:
        """A running Codex that holds the locks of these sessions, the first one newest."""
        locks = [self.lock(session) for session in sessions]
        self.started.append(StandIn(HOLDS, "|".join(map(str, locks)), *args, terminal=terminal))
        for age, path in enumerate(locks):
            moment = time.time() - age
            os.utime(path, (moment, moment))
        return self.started[-1]

    def lock(self, session: str) -> Path:
        """The file of a lock, which nobody holds."""
        path = self.home / f".codex/thread-writer-locks/{session}.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        return path

    def end(self) -> None:
        for one in self.started:
            one.kill()
