#!/usr/bin/env python3
"""recall: bridge between iTerm2 and the recall command.

iTerm2 starts this script from its folder AutoLaunch, in a Python of its own, and lets it use the API. It listens on a Unix
socket that only this user can reach, and does for `recall` what is asked there: list the sessions, read one, paste into one,
press Enter in one. One line of JSON each way, a connection a request. There is no queue: a request whose caller has
hung up, or whose time is over, is dropped and never carried out later.

`recall iterm-install` puts this file here with the path of the socket filled in, and replaces it with each new version.
Only the standard library and `iterm2` are used, in what Python 3.8 understands: it does not see recall's own environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import math
import os
import re
import socket
import stat
import struct
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

SOCKET = ""  # the path, filled in by `recall iterm-install`

VERSION = 1
HELLO, PANES, READ, PASTE, ENTER, RETIRE = "hello", "panes", "read", "paste", "enter", "retire"
LARGEST_REQUEST = 1 << 20
LARGEST_ANSWER = 4 << 20
MOST_LINES = 5000
LONGEST = 60.0

PATIENCE = 5.0  # seconds for a caller to say its line, and to take the answer
CALLERS = 64  # at once
BEGIN, END = "\x1b[200~", "\x1b[201~"  # of a bracketed paste
ACTED_UPON = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class Wrong(Exception):
    """What a caller is told instead of an answer. `kind`: 'request', 'version', 'gone', 'refused', 'late', 'iterm2', 'busy'."""

    def __init__(self, kind: str, words: str) -> None:
        super().__init__(words)
        self.kind = kind


class Job:
    """One request: what is asked, and whether anybody still waits for it."""

    def __init__(self, caller: socket.socket, arrived: float, line: bytes) -> None:
        self.caller = caller
        self.asked = understood(line)
        self.op: str = self.asked["op"]
        self.until: float = self.asked["until"]
        self.ends: float = arrived + self.asked["within"]
        self.sent = False

    def left(self) -> float:
        """Seconds until nobody wants it any more, by whichever clock is first."""
        return min(self.until - time.time(), self.ends - time.monotonic())

    def wanted(self) -> None:
        """Wrong, if its time is over or the caller has hung up: to be asked right before something is done."""
        if self.left() <= 0:
            raise Wrong("late", "the time for it was over; nothing was done")
        try:
            more = self.caller.recv(1, socket.MSG_PEEK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            more = b""
        raise Wrong("request", "more than one line" if more else "the caller has hung up")


def understood(line: bytes) -> dict[str, Any]:
    """The request that a line holds. Wrong for all else."""
    try:
        asked = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        raise Wrong("request", "this is no line of JSON") from None
    if not isinstance(asked, dict):
        raise Wrong("request", "this is no JSON object")
    op = asked.get("op")
    if op == RETIRE:  # from a newer bridge, whatever it speaks
        return {"op": op, "until": math.inf, "within": PATIENCE}
    if asked.get("v") != VERSION or isinstance(asked.get("v"), bool):
        raise Wrong("version", f"the bridge speaks version {VERSION}")
    if op not in (HELLO, PANES, READ, PASTE, ENTER):
        raise Wrong("request", "there is no such operation")
    for name in ("until", "within"):
        value = asked.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Wrong("request", f"{name} is no number")
        try:
            asked[name] = float(value)
        except OverflowError:
            asked[name] = math.inf
        if not math.isfinite(asked[name]):
            raise Wrong("request", f"{name} is no number of seconds")
    if asked["within"] > LONGEST or asked["until"] > time.time() + 2 * LONGEST:
        raise Wrong("request", f"a request is good for {LONGEST:g} seconds at most")
    if op in (READ, PASTE, ENTER) and not (isinstance(asked.get("pane"), str) and asked["pane"]):
        raise Wrong("request", "no session is named")
    if not isinstance(asked.get("tty", ""), str):
        raise Wrong("request", "tty is no text")
    if isinstance(asked.get("pid", 0), bool) or not isinstance(asked.get("pid", 0), int):
        raise Wrong("request", "pid is no number")
    if op == READ:
        lines = asked.get("lines")
        if isinstance(lines, bool) or not isinstance(lines, int) or not 0 < lines <= MOST_LINES:
            raise Wrong("request", f"lines is no number from 1 to {MOST_LINES}")
    if op == PASTE:
        text = asked.get("text")
        if not isinstance(text, str) or not text:
            raise Wrong("request", "there is no text")
        if END in text or ACTED_UPON.search(text):
            raise Wrong("refused", "the text holds a control character, which would act in the terminal")
    return asked


class ITerm:
    """iTerm2, by its API. `connection` is that of the package iterm2."""

    def __init__(self, connection: Any) -> None:
        import iterm2

        self.iterm2: Any = iterm2  # of any version
        self.connection = connection

    async def sessions(self) -> list[Any]:
        """All sessions that there are now; buried and minimized ones too."""
        app = await self.iterm2.async_get_app(self.connection)
        found = {}
        for window in app.terminal_windows:
            for tab in window.tabs:
                for session in getattr(tab, "all_sessions", None) or tab.sessions:
                    found[session.session_id] = session
        for session in app.buried_sessions:
            found[session.session_id] = session
        return list(found.values())

    async def session(self, job: Job) -> Any:
        """The session that a job names, if it is there and its terminal and its program are those that the caller means. By comparison with
        all: the API itself would take 'all' and 'active' for an id."""
        for session in await self.sessions():
            if session.session_id == job.asked["pane"]:
                break
        else:
            raise Wrong("gone", "the session is gone")
        tty, pid = job.asked.get("tty", ""), job.asked.get("pid", 0)
        if tty and bare(await session.async_get_variable("tty")) != bare(tty):
            raise Wrong("gone", "the session that was meant is gone: this one has another terminal")
        if pid and await session.async_get_variable("pid") != pid:
            raise Wrong("gone", "the session that was meant is gone: this one began with another program")
        return session

    async def hello(self, job: Job) -> dict[str, Any]:
        return {"pid": os.getpid(), "library": getattr(self.iterm2, "__version__", "")}

    async def panes(self, job: Job) -> dict[str, Any]:
        told = await asyncio.gather(*(self.pane(session) for session in await self.sessions()))
        return {"panes": [one for one in told if one is not None]}

    async def pane(self, session: Any) -> dict[str, Any] | None:
        """What is told of a session; None for one that has just gone."""
        try:
            tty, pid, job, cwd = await asyncio.gather(
                *(session.async_get_variable(name) for name in ("tty", "pid", "jobPid", "path"))
            )
        except self.iterm2.RPCException:
            return None
        title = getattr(session, "name", "")
        return {"id": session.session_id, "tty": tty, "pid": pid, "job": job, "title": title, "cwd": cwd}

    async def read(self, job: Job) -> dict[str, Any]:
        """The last lines, wrapped ones joined, without blank ones at the end."""
        session = await self.session(job)
        info = await session.async_get_line_info()
        there = info.scrollback_buffer_height + info.mutable_area_height
        count = min(there, job.asked["lines"] + info.mutable_area_height)  # the screen may be blank below
        lines = [""]
        for line in await session.async_get_contents(info.overflow + there - count, count):
            lines[-1] += line.string.replace("\0", " ")
            if line.hard_eol:
                lines.append("")
        lines = [line.rstrip() for line in lines]
        while lines and not lines[-1]:
            lines.pop()
        return {"text": "\n".join(lines[-job.asked["lines"] :])}

    async def paste(self, job: Job) -> dict[str, Any]:
        return await self.send(job, BEGIN + job.asked["text"] + END)

    async def enter(self, job: Job) -> dict[str, Any]:
        return await self.send(job, "\r")

    async def send(self, job: Job, text: str) -> dict[str, Any]:
        """To this session and no other one, also where iTerm2 broadcasts what is typed. By the call below the session's own
        method, which does not tell when the session is gone."""
        session = await self.session(job)
        job.wanted()
        job.sent = True
        done = await self.iterm2.rpc.async_send_text(self.connection, session.session_id, text, True)
        if done.send_text_response.status:
            raise Wrong("gone", "the session is gone")
        return {}


def bare(tty: Any) -> str:
    """`/dev/ttys003` and `ttys003` are one."""
    return tty[len("/dev/") :] if isinstance(tty, str) and tty.startswith("/dev/") else str(tty)


class Bridge:
    """Attends to callers, each in a task of its own."""

    def __init__(self, terminal: ITerm) -> None:
        self.retired = asyncio.Event()
        self.tasks: set[asyncio.Task[None]] = set()
        self.ops: dict[str, Callable[[Job], Coroutine[Any, Any, dict[str, Any]]]] = {
            HELLO: terminal.hello,
            PANES: terminal.panes,
            READ: terminal.read,
            PASTE: terminal.paste,
            ENTER: terminal.enter,
            RETIRE: self.retire,
        }

    async def serve(self, listener: socket.socket) -> None:
        """Take callers until the end of the process."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                caller, _ = await loop.sock_accept(listener)
            except OSError:  # too many files open, or a caller that left at once
                await asyncio.sleep(0.05)
                continue
            caller.setblocking(False)
            task = loop.create_task(self.attend(caller, time.monotonic()))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def attend(self, caller: socket.socket, arrived: float) -> None:
        """One caller: a line, what it asks for, an answer."""
        loop = asyncio.get_running_loop()
        with contextlib.closing(caller), contextlib.suppress(OSError, asyncio.TimeoutError):
            if not same_user(caller):
                return
            try:
                if len(self.tasks) > CALLERS:
                    raise Wrong("busy", "too many callers at once")
                try:
                    line = await asyncio.wait_for(said(caller), PATIENCE)
                except asyncio.TimeoutError:  # noqa: UP041  before 3.11 another one than the builtin
                    raise Wrong("request", "the line is not ended") from None
                told = await self.done(Job(caller, arrived, line))
            except Wrong as wrong:
                told = {"ok": False, "kind": wrong.kind, "error": str(wrong)}
            await asyncio.wait_for(loop.sock_sendall(caller, packed(told)), PATIENCE)

    async def done(self, job: Job) -> dict[str, Any]:
        """Do what is asked, in its time. Wrong where that is not possible."""
        job.wanted()
        try:
            found = await asyncio.wait_for(self.ops[job.op](job), job.left())
        except Wrong:
            raise
        except asyncio.TimeoutError:  # noqa: UP041  before 3.11 another one than the builtin
            words = (
                "iTerm2 did not confirm it in time: it may have arrived"
                if job.sent
                else "iTerm2 did not answer in time"
            )
            raise Wrong("late", words) from None
        except Exception as problem:  # of the API, whatever its version raises
            words = f"{type(problem).__name__}: {problem}"
            raise Wrong("iterm2", words[:300]) from None
        return {"ok": True, **found}

    async def retire(self, job: Job) -> dict[str, Any]:
        asyncio.get_running_loop().call_later(0.2, self.retired.set)  # when the answer is out
        return {}


async def said(caller: socket.socket) -> bytes:
    """The line that a caller says. Wrong for one that is too long, not ended, or not alone."""
    loop = asyncio.get_running_loop()
    data = bytearray()
    while b"\n" not in data:
        more = await loop.sock_recv(caller, 65536)
        if not more:
            raise Wrong("request", "the line is not ended")
        data += more
        if len(data) > LARGEST_REQUEST:
            raise Wrong("request", f"the line has more than {LARGEST_REQUEST} bytes")
    if data.index(b"\n") != len(data) - 1:
        raise Wrong("request", "more than one line")
    return bytes(data)


def packed(told: dict[str, Any]) -> bytes:
    """An answer as it goes over the wire; of a text that is too long the end."""
    while True:
        data = json.dumps({"v": VERSION, **told}).encode("ascii") + b"\n"
        if len(data) <= LARGEST_ANSWER:
            return data
        if not told.get("text"):
            told = {"ok": False, "kind": "request", "error": "the answer is too long"}
        else:
            told = {**told, "text": told["text"][len(told["text"]) // 2 :]}


def same_user(caller: socket.socket) -> bool:
    """Is the caller a process of this user? Where the system does not tell, the folder's permissions have to do."""
    try:
        if hasattr(socket, "SO_PEERCRED"):
            _, user, _ = struct.unpack(
                "3i", caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            )
        elif sys.platform == "darwin":
            # SOL_LOCAL, LOCAL_PEERCRED: struct xucred begins with its version and the user
            _, user = struct.unpack_from("2I", caller.getsockopt(0, 1, 128))
        else:
            return True
    except (OSError, struct.error):
        return False
    return bool(user == os.getuid())


def private(folder: str) -> None:
    """Make the folder of the socket, for this user only. SystemExit where it is somebody else's."""
    os.makedirs(folder, 0o700, exist_ok=True)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise SystemExit(f"recall: {folder} is not a folder of this user")
    os.chmod(folder, 0o700)


async def alone(path: str) -> int:
    """Hold the lock of the folder for as long as this process lives; an older bridge is asked to make room."""
    lock = os.open(os.path.join(os.path.dirname(path), "bridge.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    for attempt in range(100):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        if attempt % 20 == 0:
            ask_to_retire(path)
        await asyncio.sleep(0.1)
    raise SystemExit("recall: another bridge runs and does not make room; quit iTerm2 and start it again")


def ask_to_retire(path: str) -> None:
    with contextlib.suppress(OSError), contextlib.closing(socket.socket(socket.AF_UNIX)) as older:
        older.settimeout(1)
        older.connect(path)
        older.sendall(json.dumps({"v": VERSION, "op": RETIRE}).encode() + b"\n")
        older.recv(4096)


def listening(path: str) -> socket.socket:
    """A socket at `path`, in the place of one that a dead bridge left. It gets its name when it listens already. To be
    called with the lock held."""
    new = os.path.join(os.path.dirname(path), "bridge.new")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(new)
    listener = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        listener.bind(new)
    finally:
        os.umask(before)
    os.chmod(new, 0o600)
    listener.listen(CALLERS)
    listener.setblocking(False)
    os.rename(new, path)
    return listener


async def main(connection: Any) -> None:
    """Serve until iTerm2 goes, or a newer bridge comes."""
    terminal = ITerm(connection)
    await terminal.sessions()
    private(os.path.dirname(SOCKET))
    lock = await alone(SOCKET)
    listener = listening(SOCKET)
    print(f"recall: listening on {SOCKET}", flush=True)  # noqa: T201  iTerm2 shows it in its console of scripts
    bridge = Bridge(terminal)
    ends = [
        asyncio.ensure_future(bridge.serve(listener)),
        asyncio.ensure_future(bridge.retired.wait()),
        asyncio.ensure_future(connection.websocket.wait_closed()),
    ]
    try:
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(SOCKET)
        listener.close()
        for task in [*ends, *bridge.tasks]:
            task.cancel()
        os.close(lock)


if __name__ == "__main__":
    if not SOCKET:
        raise SystemExit("recall: this file is put into its place by `recall iterm-install`")
    import iterm2

    iterm2.run_until_complete(main)
