"""kitty: through its remote control where that is on, else a new kitty.

Remote control needs `allow_remote_control yes` and `listen_on` in kitty.conf; KITTY_LISTEN_ON then has the address. Checked
with kitty 0.26.5, whose `send-text` knows no bracketed paste, so that its marks are sent as text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from recall.core.model import Pane
from recall.errors import Unavailable
from recall.terminals import programs
from recall.terminals.armour import armoured, plain
from recall.terminals.base import LONG, TAB, Launch, label
from recall.terminals.pasting import bracketed
from recall.terminals.run import ask, last_lines
from recall.terminals.ttys import ttys

name = "kitty"
aliases = ("kitty",)
tabs = True
limit = LONG // 8  # armoured, if need be
needs = "install kitty, and run recall where there is a screen"

_SETTINGS = "kitty.conf needs `allow_remote_control yes` and `listen_on unix:@mykitty`; then start kitty anew"


def inside(env: Mapping[str, str]) -> bool:
    """Do we run in it?"""
    return bool(env.get("KITTY_WINDOW_ID"))


def available(env: Mapping[str, str]) -> bool:
    """Is the program there, and a screen or a running kitty that listens?"""
    return bool(_client(env)) if _address(env) else bool(_kitty(env)) and programs.screen(env)


def command(argv: tuple[str, ...], cwd: str, title: str, where: str, env: Mapping[str, str]) -> Launch:
    """A window or tab of the kitty that listens (prints its number); else a new kitty with one window."""
    if not plain(argv) or any(word.startswith("@") for word in argv):
        argv = armoured(argv)  # kitty puts something else in the place of words like @selection
    named = (f"--title={text}",) if (text := label(title)) else ()
    if _address(env):
        place = "tab" if where == TAB else "os-window"
        return Launch((*_remote(env), "launch", f"--type={place}", *named, "--", *argv))
    return Launch((_kitty(env) or "kitty", *named, "--", *argv), stays=True)


def panes(env: Mapping[str, str]) -> list[Pane]:
    """The windows of the kitty that listens; none where no kitty does."""
    if not _address(env):
        return []
    found = [_pane(window) for window in _windows(ask((*_remote(env), "ls"), env, name=name, hint=_SETTINGS))]
    devices = ttys((pane.pid for pane in found), env)
    return [pane._replace(tty=devices.get(pane.pid, ""), where=_address(env)) for pane in found]


def read(pane: Pane, lines: int, env: Mapping[str, str]) -> str:
    """The last lines of a window, with what has scrolled away."""
    told = ask(
        (*_remote(env, pane), "get-text", "--match", f"id:{pane.id}", "--extent=all"), env, name=name, hint=_SETTINGS
    )
    return last_lines(told, lines)


def paste(pane: Pane, text: str, env: Mapping[str, str]) -> None:
    """Send a bracketed paste to this window (and to no other: kitty's `broadcast` copies what is typed only)."""
    _send(pane, bracketed(text), env)


def enter(pane: Pane, env: Mapping[str, str]) -> None:
    """Press Enter."""
    _send(pane, "\r", env)


def _send(pane: Pane, text: str, env: Mapping[str, str]) -> None:
    _check(pane, env)
    ask(
        (*_remote(env, pane), "send-text", "--match", f"id:{pane.id}", "--stdin"),
        env,
        stdin=text,
        name=name,
        hint=_SETTINGS,
    )


def _check(pane: Pane, env: Mapping[str, str]) -> None:
    """Is the window still there? kitty sends nothing and says nothing where no window matches."""
    told = ask((*_remote(env, pane), "ls"), env, name=name, hint=_SETTINGS)
    now = {str(window.get("id")): window.get("pid") for window in _windows(told)}
    if pane.id not in now or (pane.pid and now[pane.id] != pane.pid):
        raise Unavailable(f"kitty: window {pane.id} is gone", "`recall ps` shows what is open now")


def _windows(listing: str) -> list[dict[str, Any]]:
    try:
        return [window for system in json.loads(listing) for tab in system["tabs"] for window in tab["windows"]]
    except (ValueError, KeyError, TypeError):
        raise Unavailable("kitty's list of windows cannot be read", _SETTINGS) from None


def _pane(window: dict[str, Any]) -> Pane:
    pid = window.get("pid")
    return Pane(
        name,
        str(window.get("id", "")),
        pid=pid if isinstance(pid, int) else 0,
        title=str(window.get("title", "")),
        cwd=str(window.get("cwd", "")),
    )


def _address(env: Mapping[str, str]) -> str:
    return env.get("KITTY_LISTEN_ON", "")


def _remote(env: Mapping[str, str], pane: Pane | None = None) -> tuple[str, ...]:
    return (_client(env) or "kitty", "@", "--to", (pane.where if pane else "") or _address(env))


def _kitty(env: Mapping[str, str]) -> str:
    return programs.find("kitty", env, "kitty.app")


def _client(env: Mapping[str, str]) -> str:
    """`kitten` is a small program of later versions that is there at once."""
    return programs.find("kitten", env, "kitty.app") or _kitty(env)
