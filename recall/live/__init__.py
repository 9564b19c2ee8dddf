"""Which sessions are open now: by what the clients themselves keep, never by process name, tty or file time.

Claude Code writes `sessions/<pid>.json` for each running client; it counts when that process exists, started when the
file says it did, and is a terminal's (`entrypoint` cli). Codex holds a lock on `thread-writer-locks/<id>.lock`.
(Observed with claude 2.1.332 and codex 0.171.0.)

This module is what a search needs, and loads no more. What else is known of open sessions, and of those that ended without
a word, is in `recall.live.claude` and `recall.live.codex`.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from recall.settings import Settings

if TYPE_CHECKING:
    from recall.core.model import Open

PROC = "/proc"
"""Where the kernel tells of processes; there is none on macOS."""


def live_ids(settings: Settings) -> frozenset[str]:
    """Ids of all sessions that a client has open."""
    out: set[str] = set()
    for home in settings.claude_homes:
        out |= _claude(os.path.join(home, "sessions"))
    for home in settings.codex_homes:
        out |= _codex(os.path.join(home, "thread-writer-locks"))
    return frozenset(out)


def open_sessions(settings: Settings) -> tuple[Open, ...]:
    """All that the clients tell of the sessions that they have open; headless ones (`claude -p`) are none.

    Two processes on one session are two entries. Sessions that one Codex process has open (it keeps those that /new
    left) stand together, the one that it opened last first.
    """
    from recall.live import claude, codex

    out = [one.open for home in settings.claude_homes for one in claude.entries(home) if one.alive and one.terminal]
    out += [one.open for home in settings.codex_homes for one in codex.entries(home) if one.alive]
    return tuple(out)


def _claude(folder: str) -> set[str]:
    out: set[str] = set()
    names = _names(folder, ".json")
    if not names:
        return out
    from recall.files import read_json

    for name in names:
        try:
            entry = read_json(os.path.join(folder, name), 65536)
        except (OSError, ValueError):
            continue
        if not isinstance(entry, dict):
            continue
        pid, session = entry.get("pid"), entry.get("sessionId")
        if (
            isinstance(pid, int)
            and isinstance(session, str)
            and entry.get("entrypoint", "cli") == "cli"
            and runs_since(pid, entry.get("procStart"))
        ):
            out.add(session)
    return out


def runs_since(pid: int, started: object) -> bool:
    """Does process `pid` run, and is it the one that started at `started`? (The kernel's start time in clock ticks, field 22
    of /proc/<pid>/stat; where that cannot be read, only that it runs.) One that has ended and that its parent has not asked
    for does not run."""
    if pid <= 0:
        return False
    try:
        with open(f"{PROC}/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        state, ticks = fields[0], fields[19]
    except FileNotFoundError:
        if os.path.isdir(f"{PROC}/self"):
            return False
        return _exists(pid)
    except (OSError, IndexError):
        return _exists(pid)
    return state not in (b"Z", b"X") and (started is None or str(started) == ticks.decode())


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _codex(folder: str) -> set[str]:
    paths = [os.path.join(folder, name) for name in _names(folder, ".lock")]
    return {os.path.basename(path).removesuffix(".lock") for path in held_by(paths)}


def held_by(paths: Sequence[str]) -> dict[str, int]:
    """Which of these files somebody holds an flock on, and who: the number of the process, 0 where it is not known."""
    if not paths:
        return {}
    holders = _holders()
    out = {}
    for path in paths:
        try:
            if holders is None:
                if _held(path):
                    out[path] = 0
                continue
            pid = holders.get(os.stat(path).st_ino)
        except OSError:
            continue
        if pid is not None:
            out[path] = pid
    return out


def _holders() -> dict[int, int] | None:
    """Inodes of all files that somebody holds an flock on, and the holder, from /proc/locks; None where there is no such
    list.

    Preferred to a try: even a moment's lock of ours could make a client that starts just then believe that the session
    is open elsewhere.
    """
    try:
        with open(f"{PROC}/locks", "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return None
    out = {}
    for line in lines:
        fields = line.split()
        if b"FLOCK" in fields and b"->" not in fields and len(fields) >= 6:
            inode = fields[5].rpartition(b":")[2]
            if inode.isdigit():
                out[int(inode)] = int(fields[4]) if fields[4].isdigit() else 0
    return out


def _held(path: str) -> bool:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(fd)
    return False


def _names(folder: str, ending: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(ending)]
    except OSError:
        return []
