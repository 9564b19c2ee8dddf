"""What recall needs to know of a terminal: how to open a window in it, and, where it can, how to list, read and send.

A back-end is one module with the names below. `command` only says what to run: running is shared (`recall.terminals.run`),
so that a dry run, a test and an opening come from one place. What drives a terminal runs its command itself, within DEADLINE.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from recall.core.model import Pane

DEADLINE = 4.0
"""Seconds that a terminal may take for one answer. A person waits for 5 at most."""

WINDOW, TAB = "window", "tab"
"""Where something is opened. (`here` is no terminal's business.)"""


class Launch(NamedTuple):
    """What opens a window: an argv to run without a shell, and what it reads from stdin.

    `stays`: the process is the window itself and lives as long as it; otherwise it ends at once, and its status tells.
    """

    argv: tuple[str, ...]
    stdin: str = ""
    stays: bool = False


class Terminal(Protocol):
    """One terminal program."""

    name: str
    """As a person types it and as it is shown: 'tmux', 'iTerm2'."""

    aliases: tuple[str, ...]
    """Other names for `--terminal`, in lower case."""

    tabs: bool
    """Can it open a tab? Where not, a window is opened instead."""

    def inside(self, env: Mapping[str, str]) -> bool:
        """Do we run in it, by what the environment tells?"""
        ...

    def available(self, env: Mapping[str, str]) -> bool:
        """Can a window be opened in it from here: its program is there, and what it needs to be reached?"""
        ...

    def command(self, argv: tuple[str, ...], cwd: str, title: str, where: str, env: Mapping[str, str]) -> Launch:
        """What opens a window (or tab, by `where`) that runs exactly `argv`, with `title` where it can have one."""
        ...


class Driver(Protocol):
    """A terminal that can be driven. Every function raises Unavailable where it does not answer in time."""

    name: str

    def panes(self, env: Mapping[str, str]) -> list[Pane]:
        """All places that programs run in; none where the terminal does not run."""
        ...

    def read(self, pane: Pane, lines: int, env: Mapping[str, str]) -> str:
        """The last `lines` lines that the pane shows or has scrolled away, without colours."""
        ...

    def paste(self, pane: Pane, text: str, env: Mapping[str, str]) -> None:
        """Put `text` into the pane as a bracketed paste (so that line ends in it do not submit), and to no other pane."""
        ...

    def enter(self, pane: Pane, env: Mapping[str, str]) -> None:
        """Press Enter in the pane."""
        ...
