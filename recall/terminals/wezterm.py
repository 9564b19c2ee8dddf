"""WezTerm: `wezterm cli` where we run inside of it, else a window of a new one.

From its documentation (wezterm.org/cli); not run against the real program.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from recall.core.model import Pane
from recall.errors import Unavailable
from recall.terminals import programs
from recall.terminals.base import LONG, TAB, Launch
from recall.terminals.pasting import bracketed
from recall.terminals.run import ask, last_lines

name = "WezTerm"
aliases = ("wezterm",)
tabs = True
limit = LONG
needs = "install WezTerm, and run recall where there is a screen"

_HINT = "does `wezterm cli list` answer here?"


def inside(env: Mapping[str, str]) -> bool:
    """Do we run in it?"""
    return bool(env.get("WEZTERM_PANE"))


def available(env: Mapping[str, str]) -> bool:
    """Is the program there, and a screen or a running WezTerm?"""
    return bool(_program(env)) and (inside(env) or programs.screen(env))


def command(argv: tuple[str, ...], cwd: str, title: str, where: str, env: Mapping[str, str]) -> Launch:
    """A window, or a tab of the window that we run in; prints the pane's number. Outside: a window."""
    if not inside(env):
        return Launch((_program(env) or "wezterm", "start", "--", *argv), stays=True)
    place = () if where == TAB else ("--new-window",)
    return Launch((*_cli(env), "spawn", *place, "--", *argv))


def panes(env: Mapping[str, str]) -> list[Pane]:
    """All panes; none where it does not run."""
    if not _program(env):
        return []
    try:
        told = ask((*_cli(env), "list", "--format", "json"), env, name=name, hint=_HINT)
    except Unavailable:
        if inside(env):
            raise
        return []
    return [_pane(entry) for entry in _entries(told)]


def read(pane: Pane, lines: int, env: Mapping[str, str]) -> str:
    """The last lines of a pane, with what has scrolled away."""
    told = ask((*_cli(env), "get-text", "--pane-id", pane.id, "--start-line", f"-{lines}"), env, name=name, hint=_HINT)
    return last_lines(told, lines)


def paste(pane: Pane, text: str, env: Mapping[str, str]) -> None:
    """Send a bracketed paste. The marks are ours: WezTerm makes Enter of line ends where a program did not ask for marks."""
    _send(pane, bracketed(text), env)


def enter(pane: Pane, env: Mapping[str, str]) -> None:
    """Press Enter."""
    _send(pane, "\r", env)


def _send(pane: Pane, text: str, env: Mapping[str, str]) -> None:
    ask((*_cli(env), "send-text", "--no-paste", "--pane-id", pane.id), env, stdin=text, name=name, hint=_HINT)


def _cli(env: Mapping[str, str]) -> tuple[str, ...]:
    return (_program(env) or "wezterm", "cli", "--no-auto-start")


def _program(env: Mapping[str, str]) -> str:
    return programs.find("wezterm", env, "WezTerm.app")


def _entries(listing: str) -> list[dict[str, Any]]:
    try:
        entries = json.loads(listing)
    except ValueError:
        entries = None
    if not isinstance(entries, list):
        raise Unavailable("WezTerm's list of panes cannot be read", _HINT)
    return [entry for entry in entries if isinstance(entry, dict) and "pane_id" in entry and not entry.get("is_dead")]


def _pane(entry: dict[str, Any]) -> Pane:
    tty = entry.get("tty_name")
    return Pane(
        "wezterm",
        str(entry["pane_id"]),
        tty=tty.removeprefix("/dev/") if isinstance(tty, str) else "",
        title=str(entry.get("title", "")),
        cwd=_folder(str(entry.get("cwd", ""))),
    )


def _folder(url: str) -> str:
    """The path of `file://host/path`; other text as it is."""
    return unquote(urlsplit(url).path, errors="surrogateescape") if url.startswith("file:") else url
