"""Konsole. Its process is the window, or hands over to one that runs and ends. Checked with 22.12."""

from __future__ import annotations

from collections.abc import Mapping

from recall.terminals import programs
from recall.terminals.armour import armoured
from recall.terminals.base import LONG, TAB, Launch

name = "Konsole"
aliases = ("konsole",)
tabs = True
limit = LONG // 8  # armoured
needs = "install konsole, and run recall where there is a screen"


def inside(env: Mapping[str, str]) -> bool:
    """Do we run in it?"""
    return bool(env.get("KONSOLE_VERSION") or env.get("KONSOLE_DBUS_SESSION"))


def available(env: Mapping[str, str]) -> bool:
    """Is the program there, and a screen?"""
    return bool(programs.find("konsole", env)) and programs.screen(env)


def command(argv: tuple[str, ...], cwd: str, title: str, where: str, env: Mapping[str, str]) -> Launch:
    """A window, or a tab of one that runs. Its title is the running program's business (a title that is given is a format
    there). It replaces `$NAME` in arguments by the variable's value and reads them by the locale: hence the armour."""
    place = ("--new-tab",) if where == TAB else ()
    return Launch(("konsole", *place, "-e", *armoured(argv)), stays=True)
