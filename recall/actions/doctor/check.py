"""What one check of `doctor` says."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

OK, WARN, BAD, OFF = "ok", "warn", "bad", "off"
"""Well; not as it could be; damaged, unreadable or not working; not in use."""


class Check(NamedTuple):
    """`name` stays the same from run to run, `text` is one line; `mend` is how a person mends it, '' for nothing to do.

    `details` are lines behind it (paths, counts). `fix` mends it where that is safe and gives what it did in one line.
    """

    name: str
    state: str
    text: str
    mend: str = ""
    details: tuple[str, ...] = ()
    fix: Callable[[], str] | None = None


def plural(count: int, name: str) -> str:
    """'1 file', '2 files'."""
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


def ago(moment: float, now: float) -> str:
    """'3 minutes ago' for two moments in seconds since the epoch."""
    away = max(0.0, now - moment)
    for size, name in ((86400.0, "day"), (3600.0, "hour"), (60.0, "minute")):
        if away >= size:
            return plural(int(away // size), name) + " ago"
    return "just now"
