"""Is a client really what a terminal's keys go to? One that was stopped (Ctrl-Z), or that something was started over, is not:
what is typed then goes to another program, a shell perhaps.

Linux: the fields `state`, `pgrp`, `tpgid` of /proc/<pid>/stat (proc(5)). Elsewhere the same of `ps`.
"""

from __future__ import annotations

from recall import live
from recall.live import process

_STOPPED = ("T", "t")
_ENDED = ("Z", "X")


def behind(pid: int) -> str:
    """Why keys typed at its terminal do not reach process `pid`, as what follows its name ('is stopped'); '' where they do."""
    state, group, front = _fields(pid)
    if not state or state in _ENDED:
        return "has ended"
    if state in _STOPPED:
        return "is stopped"
    if front <= 0:
        return "has no terminal"
    return "" if front == group else "is in the background of its terminal"


def _fields(pid: int) -> tuple[str, int, int]:
    """Letter of its state, process group, and foreground group of its terminal; ('', 0, 0) where there is no such process."""
    if pid <= 0:
        return "", 0, 0
    if process.has_proc():
        try:
            with open(f"{live.PROC}/{pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            return fields[0].decode("ascii"), int(fields[2]), int(fields[5])
        except (OSError, IndexError, ValueError):
            return "", 0, 0
    words = process.run(["/bin/ps", "-o", "stat=", "-o", "pgid=", "-o", "tpgid=", "-p", str(pid)]).split()
    if len(words) != 3 or not words[1].isdigit() or not words[2].lstrip("-").isdigit():
        return "", 0, 0
    return words[0][:1], int(words[1]), int(words[2])
