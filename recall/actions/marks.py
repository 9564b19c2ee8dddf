"""Small files by which the hook leaves word, a folder a kind in the state folder, named after the session.

`changed/<id>`: empty, its transcript grew. `injected/<id>`: which handoff it was given last. `children/<id>.<kind>`: locked
while a detached process is at it, `children/<id>.ask-<what>` while a model is asked. `ended/<id>`: it ended in good order. All
are derived: without them a search looks in another order, a session may be told something twice.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable

from recall.settings import Settings

_KEPT = {"changed": 30, "injected": 90, "children": 2, "ended": 30}
"""Days after which a file that nobody touched is of no use."""


def changed(settings: Settings) -> frozenset[str]:
    """Sessions that a hook marked as changed."""
    try:
        return frozenset(os.listdir(os.path.join(settings.state, "changed")))
    except OSError:
        return frozenset()


def clear(settings: Settings, sessions: Iterable[str]) -> None:
    """These were taken in. (A mark that a hook sets meanwhile may go with it: what changed is seen without marks too.)"""
    for session in sessions:
        if session:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(settings.state, "changed", session))


def tidy(settings: Settings, now: float) -> None:
    """Delete what is of no use any more; `now` in seconds since the epoch."""
    for folder, days in _KEPT.items():
        try:
            with os.scandir(os.path.join(settings.state, folder)) as entries:
                old = [entry.path for entry in entries if entry.stat().st_mtime < now - days * 86400]
        except OSError:
            continue
        for path in old:
            with contextlib.suppress(OSError):
                os.unlink(path)
