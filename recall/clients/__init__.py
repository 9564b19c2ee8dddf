"""The agents whose transcripts are kept: a table of names, loaded when asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import cast

from recall.clients.base import Client

_MODULES = {"claude": "recall.clients.claude", "codex": "recall.clients.codex"}

NAMES = tuple(_MODULES)


@cache
def get(name: str) -> Client:
    """The client called `name`; KeyError for one that is not in the table."""
    return cast(Client, import_module(_MODULES[name]))
