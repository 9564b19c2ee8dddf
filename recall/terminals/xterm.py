"""What a system has as its terminal: `x-terminal-emulator` (Debian's name for the chosen one), else xterm."""

from __future__ import annotations

from collections.abc import Mapping

from recall.terminals import programs
from recall.terminals.armour import armoured
from recall.terminals.base import LONG, Launch

name = "x-terminal-emulator"
aliases = ("xterm", "x-terminal-emulator", "x11")
tabs = False
limit = LONG // 8  # armoured
needs = "install a terminal (`xterm` will do), and run recall where there is a screen"


def inside(env: Mapping[str, str]) -> bool:
    """Do we run in it? Only xterm says so."""
    return bool(env.get("XTERM_VERSION"))


def available(env: Mapping[str, str]) -> bool:
    """Is there one, and a screen?"""
    return bool(_program(env)) and programs.screen(env)


def command(argv: tuple[str, ...], cwd: str, title: str, where: str, env: Mapping[str, str]) -> Launch:
    """A window. `-e` is all that these programs have in common. What they do to arguments is not known (it may be Konsole):
    hence the armour."""
    return Launch((_program(env) or "xterm", "-e", *armoured(argv)), stays=True)


def _program(env: Mapping[str, str]) -> str:
    return programs.find("x-terminal-emulator", env) or programs.find("xterm", env)
