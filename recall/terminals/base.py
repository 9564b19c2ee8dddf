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


LONG = 50_000
"""A `limit` for terminals that have none of their own: the system's own for one argument is 131,072 bytes on Linux."""


class Launch(NamedTuple):
    """What opens a window: an argv to run without a shell, and what it reads from stdin.

    `stays`: the process is the window itself and lives as long as it; otherwise it ends at once, and its status tells.
    `then`: what the person has to type to see the window, '' where it shows itself.
    """

    argv: tuple[str, ...]
    stdin: str = ""
    stays: bool = False
    then: str = ""


class Terminal(Protocol):
    """One terminal program."""

    name: str
    """As a person types it and as it is shown: 'tmux', 'iTerm2'."""

    aliases: tuple[str, ...]
    """Other names for `--terminal`, in lower case."""

    tabs: bool
    """Can it open a tab? Where not, a window is opened instead."""

    limit: int
    """The most bytes that `argv` may have (see `size`), 0: never the command itself. For a longer one the caller writes
    `recall.core.window.script` to a file and gives `("/bin/sh", file)`."""

    needs: str
    """What a person can do where it is not available."""

    def inside(self, env: Mapping[str, str]) -> bool:
        """Do we run in it, by what the environment tells?"""
        ...

    def available(self, env: Mapping[str, str]) -> bool:
        """Can a window be opened in it from here: its program is there, and what it needs to be reached?"""
        ...

    def command(self, argv: tuple[str, ...], cwd: str, title: str, where: str, env: Mapping[str, str]) -> Launch:
        """What opens a window (or tab, by `where`) that runs exactly `argv`, with `title` where it can have one.

        `argv` has two words at least (some terminals take a single one for a line of shell) and goes to its folder
        itself, so `cwd` is only for terminals that want to know it (to most a folder is a pattern of some kind: no
        back-end passes it on today).
        """
        ...


def size(argv: tuple[str, ...]) -> int:
    """Bytes of an argv as a terminal sees it, with what ends each word."""
    return sum(len(word.encode("utf-8", "surrogateescape")) + 1 for word in argv)


def label(title: str, length: int = 80) -> str:
    """A title as one short line of visible characters, which no terminal takes for an option."""
    seen = "".join(character if character.isprintable() else " " for character in title)
    return " ".join(seen.split())[:length].strip().lstrip("-")


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
