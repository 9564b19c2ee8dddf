"""iTerm2: windows and tabs through AppleScript; listing, reading and sending through its Python API (the bridge).

`command` of AppleScript's `create window` is no line for a shell: iTerm2 cuts it into words itself, by rules that have
changed. An armoured argv means the same under all of them, in double quotes.
"""

from __future__ import annotations

from collections.abc import Mapping

from recall.core.model import Pane
from recall.terminals import programs
from recall.terminals.applescript import run, string
from recall.terminals.armour import armoured
from recall.terminals.base import TAB, Launch

name = "iTerm2"
aliases = ("iterm2", "iterm", "iterm.app")
tabs = True
limit = 2000  # armoured it is longer; nothing is known of AppleScript strings above 32 kB
needs = "install iTerm2, and run recall on that Mac itself"

_WINDOW = """\
tell application "iTerm2"
  create window with default profile command {command}
  activate
end tell
"""
_TAB = """\
tell application "iTerm2"
  if (count of windows) is 0 then
    create window with default profile command {command}
  else
    tell current window to create tab with default profile command {command}
  end if
  activate
end tell
"""


def inside(env: Mapping[str, str]) -> bool:
    """Do we run in it? (`LC_TERMINAL` also tells, but ssh carries that to other machines.)"""
    return env.get("TERM_PROGRAM") == "iTerm.app" or bool(env.get("ITERM_SESSION_ID"))


def available(env: Mapping[str, str]) -> bool:
    """Is it installed (or do we run in it), on this machine?"""
    return programs.mac(env) and (inside(env) or bool(programs.app("iTerm.app", env)))


def command(argv: tuple[str, ...], cwd: str, title: str, where: str, env: Mapping[str, str]) -> Launch:
    """A window, or a tab of the front window."""
    line = " ".join(f'"{word}"' for word in armoured(argv))
    return run((_TAB if where == TAB else _WINDOW).format(command=string(line)))


def panes(env: Mapping[str, str]) -> list[Pane]:
    """All sessions of iTerm2."""
    from recall.terminals import iterm2_bridge

    return iterm2_bridge.panes(env)


def read(pane: Pane, lines: int, env: Mapping[str, str]) -> str:
    """The last lines of a session."""
    from recall.terminals import iterm2_bridge

    return iterm2_bridge.read(pane, lines, env)


def paste(pane: Pane, text: str, env: Mapping[str, str]) -> None:
    """A bracketed paste into this session only."""
    from recall.terminals import iterm2_bridge

    iterm2_bridge.paste(pane, text, env)


def enter(pane: Pane, env: Mapping[str, str]) -> None:
    """Press Enter."""
    from recall.terminals import iterm2_bridge

    iterm2_bridge.enter(pane, env)
