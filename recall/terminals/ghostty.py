"""Ghostty: a process of its own for each window (`-e`), on macOS through `open`.

From its documentation; not run against the real program. Versions before 1.2 joined the words after `-e` into a line for a
shell, so that only words without spaces and signs are the same for all versions: those of `/bin/sh FILE`, hence the limit.
(`+new-window` reaches the running one, but in 1.3.0 it damages what follows `-e`.)
"""

from __future__ import annotations

from collections.abc import Mapping

from recall.terminals import programs
from recall.terminals.base import Launch, label

name = "Ghostty"
aliases = ("ghostty",)
tabs = False
limit = 0
needs = "install Ghostty, and run recall where there is a screen"


def inside(env: Mapping[str, str]) -> bool:
    """Do we run in it?"""
    return env.get("TERM_PROGRAM") == "ghostty" or bool(env.get("GHOSTTY_RESOURCES_DIR"))


def available(env: Mapping[str, str]) -> bool:
    """Is it installed, and is there a screen?"""
    if programs.mac(env):
        return bool(programs.app("Ghostty.app", env))
    return bool(programs.find("ghostty", env)) and programs.screen(env)


def command(argv: tuple[str, ...], cwd: str, title: str, where: str, env: Mapping[str, str]) -> Launch:
    """A window."""
    named = (f"--title={text}",) if (text := label(title)) else ()
    if programs.mac(env):
        return Launch(("open", "-na", "Ghostty", "--args", *named, "-e", *argv))
    return Launch(("ghostty", *named, "-e", *argv), stays=True)
