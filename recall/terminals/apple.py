"""Terminal.app of macOS: windows through AppleScript.

`do script` types a line into the login shell of a new window. Until that shell reads it, the line is with the terminal
device, which keeps 1,024 bytes of it. Tabs cannot be opened this way.
"""

from __future__ import annotations

from collections.abc import Mapping

from recall.terminals import programs
from recall.terminals.applescript import run, string
from recall.terminals.armour import armoured
from recall.terminals.base import Launch

name = "Terminal.app"
aliases = ("terminal.app", "terminal", "apple", "apple_terminal")
tabs = False
limit = 0
needs = "run recall on a Mac"

_WINDOW = """\
tell application "Terminal"
  do script {command}
  activate
end tell
"""


def inside(env: Mapping[str, str]) -> bool:
    """Do we run in it?"""
    return env.get("TERM_PROGRAM") == "Apple_Terminal"


def available(env: Mapping[str, str]) -> bool:
    """Every Mac has it."""
    return programs.mac(env)


def command(argv: tuple[str, ...], cwd: str, title: str, where: str, env: Mapping[str, str]) -> Launch:
    """A window. The shell that the line is typed into becomes the program."""
    line = " ".join(("exec", *(f"'{word}'" for word in armoured(argv))))
    return run(_WINDOW.format(command=string(line)))
