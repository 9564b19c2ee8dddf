"""Whose turn it is to write: one sweep, reindex or removal at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from recall.errors import Unavailable
from recall.files import Lock
from recall.settings import Settings

WAIT = 15.0
"""Seconds that a person is let wait for a sweep to end; a timer's sweep rarely takes longer."""


def lock_path(settings: Settings) -> str:
    """The file whose lock a sweep holds."""
    return os.path.join(settings.state, "sweep.lock")


@contextmanager
def turn(settings: Settings, seconds: float = WAIT) -> Iterator[None]:
    """Hold the sweep's lock; raises Unavailable when another process has it for longer than `seconds`."""
    end = time.monotonic() + seconds
    while True:
        with Lock(lock_path(settings), wait=False) as held:
            if held is not None:
                yield
                return
        if time.monotonic() > end:
            raise Unavailable("a sweep is running", "try again when it has ended")
        time.sleep(0.05)
