"""Which sessions are open now: by what the clients themselves keep, never by process name, tty or file time.

Claude Code writes `sessions/<pid>.json` for each running client; it counts when that process exists, started when the
file says it did, and is a terminal's (`entrypoint` cli). Codex holds a lock on `thread-writer-locks/<id>.lock`.
(Observed with claude 2.1.332 and codex 0.171.0.)
"""

from __future__ import annotations

import fcntl
import os

from recall.settings import Settings


def live_ids(settings: Settings) -> frozenset[str]:
    """Ids of all sessions that a client has open."""
    out: set[str] = set()
    for home in settings.claude_homes:
        out |= _claude(os.path.join(home, "sessions"))
    for home in settings.codex_homes:
        out |= _codex(os.path.join(home, "thread-writer-locks"))
    return frozenset(out)


def _claude(folder: str) -> set[str]:
    out: set[str] = set()
    names = _names(folder, ".json")
    if not names:
        return out
    import json

    for name in names:
        try:
            with open(os.path.join(folder, name), "rb") as file:
                entry = json.loads(file.read(65536))
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
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        state, ticks = fields[0], fields[19]
    except FileNotFoundError:
        if os.path.isdir("/proc/self"):
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
    names = _names(folder, ".lock")
    if not names:
        return set()
    held = _locked_inodes()
    out = set()
    for name in names:
        path = os.path.join(folder, name)
        try:
            locked = os.stat(path).st_ino in held if held is not None else _held(path)
        except OSError:
            continue
        if locked:
            out.add(name.removesuffix(".lock"))
    return out


def _locked_inodes() -> set[int] | None:
    """Inodes of all files that somebody holds an flock on, from /proc/locks; None where there is no such list.

    Preferred to a try: even a moment's lock of ours could make a client that starts just then believe that the session
    is open elsewhere.
    """
    try:
        with open("/proc/locks", "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return None
    out = set()
    for line in lines:
        fields = line.split()
        if b"FLOCK" in fields and b"->" not in fields and len(fields) >= 6:
            inode = fields[5].rpartition(b":")[2]
            if inode.isdigit():
                out.add(int(inode))
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
