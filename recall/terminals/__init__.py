"""The terminals that a session can be opened in: a table of names, loaded when asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import cast

from recall.terminals.base import Driver, Terminal

NAMES = (
    "tmux",
    "iterm2",
    "kitty",
    "wezterm",
    "ghostty",
    "apple",
    "gnome",
    "konsole",
    "xterm",
)
"""Each is a module of that name here; in this order they are asked whether we run inside of them (tmux first: it runs
inside of another one). The names that a person types are each back-end's `name` and `aliases`."""

DRIVEN = ("tmux", "kitty", "wezterm", "iterm2")
"""Those that can also list, read and send."""


@cache
def get(name: str) -> Terminal:
    """The back-end of module `name`; KeyError for one that is not in the table."""
    if name not in NAMES:
        raise KeyError(name)
    return cast(Terminal, import_module(f"recall.terminals.{name}"))


@cache
def driver(name: str) -> Driver:
    """The back-end of module `name`, as one that can be driven; KeyError for one that cannot."""
    if name not in DRIVEN:
        raise KeyError(name)
    return cast(Driver, import_module(f"recall.terminals.{name}"))
