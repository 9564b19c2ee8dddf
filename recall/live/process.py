"""What the system knows of a process: its terminal, parents, command line, start; and when the machine was started.

Linux: /proc (proc(5)). Elsewhere `ps`, which is asked once for all processes, within a deadline.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import NamedTuple

from recall import live

UP = 8  # ancestors that are asked for their terminal
DEADLINE = 2.0

_PS = re.compile(r"\s*(\d+)\s+(\d+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]{8}\s+\d{4})\s+(\S+)\s+(.*)")


class Stat(NamedTuple):
    """Of /proc/<pid>/stat: state letter, parent, terminal (`pts/3`, '' for none), start in clock ticks since the boot."""

    state: str
    parent: int
    tty: str
    ticks: int


class Asked(NamedTuple):
    """Of `ps`: parent, start as `Sun Nov 29 19:34:12 2026` in UTC, terminal (`ttys003`, '' for none), command line."""

    parent: int
    start: str
    tty: str
    command: str


class Boot(NamedTuple):
    """The running of this machine: a name that the next one will not have ('' where there is none), and its first second."""

    id: str
    time: float


def has_proc() -> bool:
    """Can processes be looked up in /proc?"""
    return os.path.isdir(f"{live.PROC}/self")


def stat(pid: int) -> Stat | None:
    """None for a process that is not there, or where there is no /proc."""
    try:
        with open(f"{live.PROC}/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return Stat(fields[0].decode("ascii"), int(fields[1]), _terminal(int(fields[4])), int(fields[19]))
    except (OSError, IndexError, ValueError):
        return None


def _terminal(number: int) -> str:
    """Numbers by Documentation/admin-guide/devices.txt of the kernel."""
    major, minor = number >> 8 & 0xFFF, number & 0xFF | number >> 12 & 0xFFF00
    if 136 <= major <= 143:
        return f"pts/{(major - 136) * 256 + minor}"
    if major == 4:
        return f"tty{minor}" if minor < 64 else f"ttyS{minor - 64}"
    return ""


def tty_of(pid: int) -> str:
    """The terminal of a process, or of its nearest ancestor that has one: `pts/3`, `ttys003`; '' for none."""
    if has_proc():
        for _ in range(UP):
            found = stat(pid)
            if found is None:
                return ""
            if found.tty or found.parent <= 1:
                return found.tty
            pid = found.parent
        return ""
    return ask([pid]).get(pid, Asked(0, "", "", "")).tty if pid > 0 else ""


def ancestors(pid: int, most: int = 24) -> list[int]:
    """The process itself, its parent, and so on, without the first process of the machine."""
    out: list[int] = []
    table = {} if has_proc() else ask(None)
    while pid > 1 and len(out) < most and pid not in out:
        out.append(pid)
        above = stat(pid) if has_proc() else table.get(pid)
        pid = above.parent if above else 0
    return out


def argv(pid: int) -> tuple[str, ...]:
    """The command line of a process, () where it is not known. Where there is no /proc it is split at blanks."""
    if has_proc():
        try:
            with open(f"{live.PROC}/{pid}/cmdline", "rb") as file:
                raw = file.read(65536)
        except OSError:
            return ()
        return tuple(os.fsdecode(word) for word in raw.rstrip(b"\0").split(b"\0")) if raw else ()
    found = ask([pid]).get(pid)
    return tuple(found.command.split()) if found else ()


def started(pid: int) -> float:
    """When a process was started, in seconds since 1970; 0.0: not known."""
    found = stat(pid)
    if found is not None:
        first = boot().time
        return first + found.ticks / os.sysconf("SC_CLK_TCK") if first else 0.0
    if has_proc():
        return 0.0
    asked = ask([pid]).get(pid)
    return _seconds(asked.start) if asked else 0.0


def _seconds(text: str) -> float:
    import calendar
    import time

    try:
        return float(calendar.timegm(time.strptime(text, "%a %b %d %H:%M:%S %Y")))
    except ValueError:
        return 0.0


def ask(pids: Iterable[int] | None) -> dict[int, Asked]:
    """What `ps` tells of these processes (None: all); those that have ended are left out, and all where it does not answer.

    Claude Code keeps as `procStart` just what `LC_ALL=C TZ=UTC ps -o lstart=` prints, where there is no /proc (as its
    2.1.332 has it; not seen on such a machine).
    """
    which = ["-A"] if pids is None else [word for pid in pids if pid > 0 for word in ("-p", str(pid))]
    if not which:
        return {}
    columns = [word for name in ("pid", "ppid", "lstart", "tty", "stat", "command") for word in ("-o", f"{name}=")]
    out: dict[int, Asked] = {}
    for line in run(["/bin/ps", "-ww", *which, *columns]).splitlines():
        match = _PS.fullmatch(line)
        if match is None:
            continue
        state, _, command = match[5].partition(" ")
        if not state.startswith("Z"):
            tty = "" if match[4].startswith("?") or match[4] == "-" else match[4]
            out[int(match[1])] = Asked(int(match[2]), " ".join(match[3].split()), tty, command.strip())
    return out


def boot() -> Boot:
    """The running of the machine that is now; its time is 0.0 where that cannot be told."""
    name, first = "", 0.0
    try:
        with open(f"{live.PROC}/sys/kernel/random/boot_id", encoding="ascii") as file:
            name = file.read(64).strip()
        with open(f"{live.PROC}/stat", encoding="ascii") as file:
            match = re.search(r"^btime (\d+)", file.read(), re.MULTILINE)
        first = float(match[1]) if match else 0.0
    except OSError:
        pass
    if not first and not has_proc():
        name = run(["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"]).strip()
        match = re.search(r"\bsec = (\d+)", run(["/usr/sbin/sysctl", "-n", "kern.boottime"]))
        first = float(match[1]) if match else 0.0
    return Boot(name, first)


def run(command: list[str]) -> str:
    """What a program of the system prints, in plain C and UTC; '' where it cannot be run or does not answer."""
    import subprocess

    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={"LC_ALL": "C", "TZ": "UTC"},
            timeout=DEADLINE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace")
