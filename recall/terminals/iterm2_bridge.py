"""iTerm2, driven by the bridge that runs inside of it: see `recall.core.bridge` for what is said.

The bridge is a script in iTerm2's AutoLaunch folder, put there by `recall iterm-install`. Here is its other side: one
connection a question, given up after DEADLINE.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import time
from collections.abc import Mapping
from typing import Any

from recall import settings
from recall.core import bridge
from recall.core.model import Pane
from recall.errors import Unavailable
from recall.terminals.base import DEADLINE
from recall.terminals.pasting import pasteable

name = "iTerm2"

_MODULE = "iterm2"
"""Of the back-end, as a pane names it."""


def panes(env: Mapping[str, str]) -> list[Pane]:
    """See `Driver.panes`. None where iTerm2 does not run; where it does, but the bridge does not, that is Unavailable."""
    if not os.path.lexists(socket_path(env)) and not runs(env):
        return []
    try:
        found = bridge.panes(ask(env, bridge.PANES))
    except Unavailable:
        if runs(env):
            raise
        return []  # the socket that was left behind
    return [Pane(_MODULE, told.id, told.tty.removeprefix("/dev/"), told.pid, told.title, told.cwd) for told in found]


def read(pane: Pane, lines: int, env: Mapping[str, str]) -> str:
    """See `Driver.read`; lines that the terminal wrapped are joined."""
    wanted = max(1, min(lines, bridge.MOST_LINES))
    text = ask(env, bridge.READ, **_named(pane), lines=wanted).get("text")
    return text if isinstance(text, str) else ""


def paste(pane: Pane, text: str, env: Mapping[str, str]) -> None:
    """See `Driver.paste`. Refused where the text holds what would act in the terminal."""
    ask(env, bridge.PASTE, **_named(pane), text=pasteable(text))


def enter(pane: Pane, env: Mapping[str, str]) -> None:
    """See `Driver.enter`."""
    ask(env, bridge.ENTER, **_named(pane))


def _named(pane: Pane) -> dict[str, Any]:
    """A session, and what it is known to be: another one is not meant."""
    return {"pane": pane.id, "tty": pane.tty, "pid": pane.pid}


def hello(env: Mapping[str, str], *, within: float = DEADLINE) -> dict[str, Any]:
    """What the bridge says of itself: `pid`, and `library`, the version of its package iterm2."""
    return ask(env, bridge.HELLO, within=within)


def socket_path(env: Mapping[str, str]) -> str:
    """Where the bridge of this user listens."""
    return bridge.socket_path(settings.load(env).state, os.getuid())


def runs(env: Mapping[str, str]) -> bool:
    """Does iTerm2 run? We are in it, or somebody listens where its API does. (`LC_TERMINAL` is carried by ssh to others.)"""
    if env.get("TERM_PROGRAM") == "iTerm.app":
        return True
    suite = env.get("IT2_SUITE") or "iTerm2"
    api = os.path.join(settings.load(env).home, "Library", "Application Support", suite, "private", "socket")
    with socket.socket(socket.AF_UNIX) as tried:
        tried.settimeout(0.5)
        try:
            tried.connect(api)
        except OSError:
            return False
    return True


def ask(env: Mapping[str, str], op: str, *, within: float = DEADLINE, **what: Any) -> dict[str, Any]:
    """One question to the bridge and its answer. Unavailable where there is none within `within` seconds; what the bridge
    itself refuses is raised as `recall.core.bridge.answer` says. A question that is given up is not carried out later."""
    path = socket_path(env)
    data = bridge.request(op, time.time(), within, **what)
    ends = time.monotonic() + within
    try:
        _check(path)
        with socket.socket(socket.AF_UNIX) as asked:
            asked.settimeout(within)
            asked.connect(path)
            asked.settimeout(_left(ends))
            with contextlib.suppress(BrokenPipeError):  # it has said why already, without reading to the end
                asked.sendall(data)
            line = _line(asked, ends)
    except TimeoutError:
        raise _silent(f"no answer within {within:g} seconds") from None
    except (FileNotFoundError, NotADirectoryError):
        raise _silent(f"nothing at {path}") from None
    except ConnectionRefusedError:
        raise _silent("it has ended; its socket is still there") from None
    except OSError as problem:
        raise _silent(problem.strerror or str(problem)) from None
    if not line:
        raise _silent("it hung up")
    return bridge.answer(line)


def _check(path: str) -> None:
    """Nobody else may answer in the bridge's place: the fallback folder stands in /tmp."""
    found = os.lstat(path)
    above = os.lstat(os.path.dirname(path))
    mine = os.getuid()
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != mine or above.st_uid != mine or above.st_mode & 0o022:
        raise _silent(f"{path} is not a socket of this user's own")


def _line(asked: socket.socket, ends: float) -> bytes:
    """The answer's line; what came of it where the bridge hung up. TimeoutError when `ends` (monotonic) is over."""
    data = bytearray()
    while not data.endswith(b"\n") and len(data) <= bridge.LARGEST_ANSWER:
        asked.settimeout(_left(ends))
        more = asked.recv(1 << 16)
        if not more:
            break
        data += more
    return bytes(data)


def _left(ends: float) -> float:
    left = ends - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _silent(why: str) -> Unavailable:
    return Unavailable(f"bridge not responding: {why} (`recall iterm-install` mends it)", bridge.FIX)
