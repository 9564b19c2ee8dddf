"""GNOME Terminal. The program only asks its server to open the window. Checked with 3.46.8."""

from __future__ import annotations

from collections.abc import Mapping

from recall.terminals import programs
from recall.terminals.base import LONG, TAB, Launch, label

name = "GNOME Terminal"
aliases = ("gnome", "gnome-terminal", "gnome terminal")
tabs = True
limit = LONG
needs = "install gnome-terminal, and run recall where there is a screen"


def inside(env: Mapping[str, str]) -> bool:
    """Do we run in it?"""
    return bool(env.get("GNOME_TERMINAL_SCREEN") or env.get("GNOME_TERMINAL_SERVICE"))


def available(env: Mapping[str, str]) -> bool:
    """Is the program there, and a screen?"""
    return bool(programs.find("gnome-terminal", env)) and programs.screen(env)


def command(argv: tuple[str, ...], cwd: str, title: str, where: str, env: Mapping[str, str]) -> Launch:
    """A window, or a tab of the window used last."""
    place = "--tab" if where == TAB else "--window"
    named = (f"--title={text}",) if (text := label(title)) else ()
    return Launch(("gnome-terminal", place, *named, "--", *argv))
