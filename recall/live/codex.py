"""Codex's locks: `thread-writer-locks/<id>.lock`, held (flock) by the process that a session belongs to.

Observed with 0.171.0. The process is the client in the terminal, `codex exec`, or the background server (`codex app-server`,
the default), which has no terminal: whose it is cannot be told from there, and it keeps a session open after its window was
closed. One process keeps the locks of all sessions that it opened (/new, /clear), and takes the lock of the one that it goes on
to at that moment (/resume of an earlier one too): the file's time says which it shows. Sub-agents have locks of their own, and
are no sessions. /quit removes the file; a killed client, and
one whose window was closed, leaves it behind unlocked, and the next one that takes a lock tidies up.

The state is that of the rollout's last turn: `task_started` without `task_complete` or `turn_aborted`, since this process runs.
Codex writes nothing when it asks for a permission; a command that wants more than the sandbox allows, or a patch, that has no
result yet may be such a question, and is told as one: it is better to wait for a command than to say yes to it.
"""

from __future__ import annotations

import datetime
import glob
import json
import os
import re
from typing import NamedTuple

from recall.core.model import Open
from recall.live import held_by, process
from recall.live.entry import Entry

_LOCK = re.compile(r"([\w-][\w.-]{0,127})\.lock")
_UUID7 = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_SUBAGENT = re.compile(rb'"source":\s*\{\s*"subagent"|"thread_source":\s*"subagent"')
_HEAD = 8192
_TAIL = 256 << 10
_BLOCKS = 16  # of _TAIL bytes that are looked at for the last turn's beginning
_ENDS = (b'"task_complete"', b'"turn_aborted"')
_END_OF_DATES = 250_000_000_000  # in the year 9892: a name may hold more
_NEVER = b'"approval_policy":"never"'

PERHAPS = "permission, perhaps"


class Turn(NamedTuple):
    """The last turn of a rollout: busy, idle, waiting; '' not known. And what it waits for."""

    state: str = ""
    waiting_for: str = ""


def entries(home: str) -> list[Entry]:
    """All locks, those that are held and those that were left behind. Newest first."""
    folder = os.path.join(home, "thread-writer-locks")
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    found: list[tuple[float, str, str]] = []
    for name in names:
        match = _LOCK.fullmatch(name)
        path = os.path.join(folder, name)
        try:
            if match:
                found.append((os.stat(path).st_mtime, match[1], path))
        except OSError:
            continue
    holders = held_by([path for _, _, path in found])
    if not process.has_proc():
        holders.update(_openers([path for path, pid in holders.items() if not pid]))
    out = []
    for at, session, path in sorted(found, reverse=True):
        rollout = rollout_of(home, session)
        head = _head(rollout)
        if "subagent" not in head:
            out.append(_entry(home, session, path, at, holders.get(path), rollout, head))
    return out


def _entry(home: str, session: str, path: str, at: float, pid: int | None, rollout: str, head: dict[str, str]) -> Entry:
    """`pid` None: nobody holds the lock; 0: somebody does."""
    try:
        written = os.stat(rollout).st_mtime if rollout else 0.0
    except OSError:
        written = 0.0
    # A server's session says `vscode`, as one of an editor does; `codex exec` says `exec`.
    background, headless = head.get("source") == "vscode", head.get("source") == "exec"
    tty, start, turn = "", "", Turn()
    if pid:
        began = process.started(pid)
        words = process.argv(pid)[1:]
        background, headless = "app-server" in words, "exec" in words
        tty = "" if background or headless else process.tty_of(pid)
        background = background or headless or not tty
        found = process.stat(pid)
        start = str(found.ticks) if found else str(began or "")
        turn = last_turn(rollout, began)
    about = Open(
        session=session,
        client="codex",
        pid=pid or 0,
        cwd=str(head.get("cwd") or ""),
        state=turn.state,
        waiting_for=turn.waiting_for,
        background=background,
        tty=tty,
        started=at,
        updated=written,
    )
    return Entry(about, pid is not None, not headless, start, max(at, written), home, path)


def _openers(paths: list[str]) -> dict[str, int]:
    """Who has these files open, by `lsof`, where the kernel has no list of locks; what it does not tell is left out."""
    out: dict[str, int] = {}
    program = next((one for one in ("/usr/sbin/lsof", "/usr/bin/lsof") if os.access(one, os.X_OK)), "")
    if not paths or not program:
        return out
    pid = 0
    for line in process.run([program, "-w", "-F", "pn", "--", *paths]).splitlines():
        if line[:1] == "p" and line[1:].isdigit():
            pid = int(line[1:])
        elif line[:1] == "n" and pid and line[1:] in paths:
            out.setdefault(line[1:], pid)
    return out


# -- rollouts --------------------------------------------------------------------------------------------------


def rollout_of(home: str, session: str) -> str:
    """The rollout of a session, '' where there is none: in the folder of the day in which its id was made (UUID version 7),
    by local time, else in any."""
    day = _UUID7.fullmatch(session)
    if day and (made := int(day[1] + day[2], 16) / 1000) < _END_OF_DATES:
        moment = datetime.datetime.fromtimestamp(made, datetime.UTC)
        for off in (0, -1, 1):
            folder = (moment + datetime.timedelta(days=off)).strftime(f"{home}/sessions/%Y/%m/%d")
            try:
                names = os.listdir(folder)
            except OSError:
                continue
            for name in names:
                if name.endswith(f"{session}.jsonl"):
                    return os.path.join(folder, name)
    place = os.path.join(glob.escape(home), "sessions", "*", "*", "*", f"rollout-*{glob.escape(session)}.jsonl")
    return next(glob.iglob(place), "")


def _head(rollout: str) -> dict[str, str]:
    """cwd, source of a rollout's first line, and `subagent` for a sub-agent's, by a look at its beginning: the line itself is
    long, and ends in the client's own instructions."""
    try:
        with open(rollout, "rb") as file:
            raw = file.read(_HEAD)
    except OSError:
        return {}
    raw = raw.partition(b"\n")[0].partition(b'"base_instructions"')[0]
    out = {"subagent": "1"} if _SUBAGENT.search(raw) else {}
    for key in ("cwd", "source"):
        match = re.search(rb'"%s":\s*("(?:[^"\\]|\\.)*")' % key.encode(), raw)
        if match:
            try:
                out[key] = json.loads(match[1])
            except ValueError:
                continue
    return out


def last_turn(rollout: str, since: float) -> Turn:
    """What a rollout says of its last turn; `since`: the start of the process that has it open, in seconds since 1970."""
    tail = b""
    try:
        with open(rollout, "rb") as file:
            end = file.seek(0, os.SEEK_END)
            for _ in range(_BLOCKS):
                begin = max(0, end - _TAIL)
                file.seek(begin)
                tail = file.read(end - begin) + tail
                turn = _turn(tail, since, whole=begin == 0)
                if turn is not None or begin == 0:
                    return turn or Turn()
                end = begin
    except OSError:
        pass
    return Turn()


def _turn(tail: bytes, since: float, *, whole: bool) -> Turn | None:
    """The same of the end of one; None: the turn began before that. In JSON strings quotes are escaped, so that nothing
    that is said can look like these keys."""
    start = tail.rfind(b'"payload":{"type":"task_started"')
    ended = max(tail.rfind(b'"payload":{"type":' + kind) for kind in _ENDS)
    if ended > start:
        return Turn("idle")
    if start < 0:
        return None
    line = tail[tail.rfind(b"\n", 0, start) + 1 : start]
    stamp = re.search(rb'"timestamp":"([^"]{10,40})"', line)
    if stamp is None:
        return Turn() if whole else None
    try:
        at = datetime.datetime.fromisoformat(stamp[1].decode("ascii", "replace")).timestamp()
    except ValueError:
        return Turn()
    if since and at < since - 2:
        return Turn("idle")  # that process ended in the middle of it
    return Turn("waiting", PERHAPS) if _asks(tail[start:]) else Turn("busy")


def _asks(turn: bytes) -> bool:
    """May the turn be standing at a question: the last call has no result, and was one that a person is asked about?"""
    policy = turn.rfind(b'"approval_policy":')
    if policy >= 0 and turn.startswith(_NEVER, policy):
        return False
    calls = [turn.rfind(b'"payload":{"type":"function_call",'), turn.rfind(b'"payload":{"type":"custom_tool_call",')]
    last = max(calls)
    if last < 0:
        return False
    line = turn[last:].partition(b"\n")[0]
    call = re.search(rb'"call_id":"([^"\\]+)"', line)
    rest = turn[last + len(line) :]
    if call is None or (b'_call_output",' in rest and call[1] in rest):
        return False
    return b"require_escalated" in line or b'"name":"apply_patch"' in line
