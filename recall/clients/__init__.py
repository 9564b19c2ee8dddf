"""The agents whose transcripts are kept: a table of names, loaded when asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import cast

from recall.clients.base import Client, Places

NAMES = ("claude", "codex")
"""Each is a module of that name here, and one `<name>_places` for what needs no parser."""


@cache
def get(name: str) -> Client:
    """The client called `name`; KeyError for one that is not in the table."""
    if name not in NAMES:
        raise KeyError(name)
    return cast(Client, import_module(f"recall.clients.{name}"))


@cache
def places(name: str) -> Places:
    """Where the client called `name` keeps its files: the part of it that loads at once."""
    if name not in NAMES:
        raise KeyError(name)
    return cast(Places, import_module(f"recall.clients.{name}_places"))
