"""Claude Code's registry: `sessions/<pid>.json`, one file for each running client (observed with 2.1.332).

Fields: `pid`, `sessionId` (changes with /clear and /resume), `cwd`, `startedAt` and `updatedAt` in milliseconds,
`procStart` (field 22 of /proc/<pid>/stat, or what `ps -o lstart=` prints), `pidDomain`
(`linux:<machine>:pid:[<namespace>]`: whose process numbers are meant), `kind` (interactive, bg, daemon, daemon-worker),
`entrypoint` (cli, or sdk-... for headless runs), `name`, `nameSource`, `status` (idle, busy, shell, waiting), `waitingFor`.
A client that ends in good order removes its file; one that is killed leaves it, and a later client tidies up.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

from recall import live
from recall.core.model import Open
from recall.files import read_json
from recall.live import process
from recall.live.entry import Entry

_NAME = re.compile(r"([1-9][0-9]{0,9})\.json")
_ID = re.compile(r"[\w.-]{1,128}")
_STATES = {"busy": "busy", "shell": "busy", "idle": "idle", "waiting": "waiting"}
_LONGEST = 65536
HEADLESS = ("-p", "--print")


def entries(home: str) -> list[Entry]:
    """All files of the registry that say whose they are: half-written ones, and those of another machine or container that
    shares this home, are passed over."""
    folder = os.path.join(home, "sessions")
    found: list[tuple[int, str, dict[str, Any]]] = []
    for name in sorted(_names(folder)):
        match = _NAME.fullmatch(name)
        path = os.path.join(folder, name)
        data = _read(path) if match else None
        if match and data is not None and data.get("pid") == int(match[1]) and not _elsewhere(data):
            found.append((int(match[1]), path, data))
    asked = None if process.has_proc() else process.ask([pid for pid, _, _ in found])
    return [_entry(pid, path, home, data, asked) for pid, path, data in found]


def unreadable(home: str) -> bool:
    """Is there a registry that we may not look into?"""
    try:
        os.listdir(os.path.join(home, "sessions"))
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _read(path: str) -> dict[str, Any] | None:
    try:
        data = read_json(path, _LONGEST)
    except (OSError, ValueError):
        return None
    if not isinstance(data, dict) or isinstance(data.get("pid"), bool):
        return None
    session = data.get("sessionId")
    return data if isinstance(session, str) and _ID.fullmatch(session) else None


def _elsewhere(data: dict[str, Any]) -> bool:
    """Does the number of the process count in another container or machine? Only where both sides are known."""
    match = re.fullmatch(r"linux:([0-9a-f]*):(pid:\[\d+\])", _text(data, "pidDomain"))
    if match is None:
        return False
    try:
        space = os.readlink(f"{live.PROC}/self/ns/pid")
    except OSError:
        return False
    try:
        with open("/etc/machine-id", encoding="ascii") as file:
            machine = file.read(64).strip()
    except (OSError, ValueError):
        machine = ""
    return match[2] != space or bool(match[1] and machine and match[1] != machine)


def _entry(pid: int, path: str, home: str, data: dict[str, Any], asked: dict[int, process.Asked] | None) -> Entry:
    start = data.get("procStart")
    start = start if isinstance(start, str) else None
    background = data.get("kind", "interactive") != "interactive"
    if asked is None:
        alive = live.runs_since(pid, start)
        tty = process.tty_of(pid) if alive and not background else ""
    else:
        one = asked.get(pid)
        alive = one is not None and (one.start == " ".join(start.split()) if start else _is_claude(one.command))
        tty = one.tty if one is not None and alive and not background else ""
    try:
        touched = os.stat(path).st_mtime
    except OSError:
        touched = 0.0
    given = _text(data, "name") if data.get("nameSource") != "derived" else ""
    about = Open(
        session=str(data["sessionId"]),
        client="claude",
        pid=pid,
        cwd=_text(data, "cwd"),
        name=given,
        state=_STATES.get(_text(data, "status"), "") if alive else "",
        waiting_for=_text(data, "waitingFor") if alive and data.get("status") == "waiting" else "",
        background=background,
        tty=tty,
        started=_moment(data, "startedAt"),
        updated=_moment(data, "updatedAt"),
    )
    terminal = data.get("entrypoint", "cli") == "cli"
    return Entry(about, alive, terminal, start or "", max(touched, about.updated), home, path)


def _is_claude(command: str) -> bool:
    """Is it Claude Code's command line? Asked only where its number is in the registry, but not its start."""
    words = command.split()[:2]
    return any(os.path.basename(word) in ("claude", "claude.exe") or "/claude-code/" in word for word in words)


def of_agents(text: str) -> list[Open]:
    """What `claude agents --json` printed, as sessions; ValueError for anything else. It lists the same as the registry
    without what has ended, and does not tell headless runs apart: those are known by their command line."""
    found = json.loads(text)
    if not isinstance(found, list):
        raise ValueError("not a list")
    out = []
    for data in found:
        if not isinstance(data, dict) or not isinstance(data.get("pid"), int) or isinstance(data["pid"], bool):
            continue
        session, pid = _text(data, "sessionId"), data["pid"]
        if not _ID.fullmatch(session) or any(word in HEADLESS for word in process.argv(pid)):
            continue
        background = data.get("kind") != "interactive"
        state = _STATES.get(_text(data, "status"), "")
        out.append(
            Open(
                session=session,
                client="claude",
                pid=pid,
                cwd=_text(data, "cwd"),
                name=_text(data, "name"),
                state=state,
                waiting_for=_text(data, "waitingFor") if state == "waiting" else "",
                background=background,
                tty="" if background else process.tty_of(pid),
                started=_moment(data, "startedAt"),
            )
        )
    return out


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _moment(data: dict[str, Any], key: str) -> float:
    """Milliseconds since 1970 as seconds; 0.0 for what is none."""
    value = data.get(key)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e14:
        return value / 1000
    return 0.0
