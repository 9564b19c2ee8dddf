"""Which terminal device a process has, for terminals that only tell process numbers."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping

from recall.terminals.base import DEADLINE

_PTS = range(136, 144)
"""Major device numbers of /dev/pts (Linux, Documentation/admin-guide/devices.txt)."""


def ttys(pids: Iterable[int], env: Mapping[str, str]) -> dict[int, str]:
    """`pts/3` or `ttys003` for each of these processes that has a terminal."""
    wanted = sorted({pid for pid in pids if pid > 0})
    if os.path.exists("/proc/self/stat"):
        return {pid: tty for pid in wanted if (tty := _from_proc(pid))}
    return _from_ps(wanted, env) if wanted else {}


def _from_proc(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            device = int(file.read().rpartition(b")")[2].split()[4])
    except (OSError, ValueError, IndexError):
        return ""
    major = os.major(device)
    return f"pts/{os.minor(device) + 256 * (major - _PTS.start)}" if major in _PTS else ""


def _from_ps(pids: list[int], env: Mapping[str, str]) -> dict[int, str]:
    try:
        done = subprocess.run(
            ("ps", "-o", "pid=,tty=", "-p", ",".join(map(str, pids))),
            capture_output=True,
            env=dict(env),
            timeout=DEADLINE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    found = {}
    for line in done.stdout.decode("ascii", "replace").splitlines():
        pid, _, tty = line.strip().partition(" ")
        if pid.isdigit() and tty.strip("? "):
            found[int(pid)] = tty.strip()
    return found
