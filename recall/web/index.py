"""The index, opened for one request: never waited for longer than a person would."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from recall.actions.refresh import refresh
from recall.errors import Unavailable
from recall.settings import Settings
from recall.store import Store, exists, lock_path, open_store

WAIT = 2.0
"""Seconds that somebody else may hold the index."""
FRESH = 5.0
"""Seconds for which what was taken in is new enough."""


@contextmanager
def opened(settings: Settings) -> Iterator[Store]:
    """The open index. Unavailable where there is none, or where somebody holds it."""
    _until_free(settings.index)
    with open_store(settings.index, wait=WAIT) as store:
        yield store


def _until_free(path: str) -> None:
    """Opening waits for who replaces the index; here that is an answer after a moment."""
    end = time.monotonic() + WAIT
    try:
        fd = os.open(lock_path(path), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return  # opening it says why
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > end:
                    raise Unavailable("the index is being made again", "try again in a moment") from None
                time.sleep(0.05)
    finally:
        os.close(fd)


class Freshness:
    """Takes in what is new, as every command does that reads; not at each request, and never two at a time."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._last = 0.0

    def __call__(self) -> str:
        """A word on what could not be taken in, '' for nothing. An index that is missing is not made here."""
        if not exists(self._settings.index) or not self._lock.acquire(blocking=False):
            return ""
        try:
            if self._last and time.monotonic() - self._last < FRESH:
                return ""
            left = refresh(self._settings)
            self._last = time.monotonic()
            return left
        finally:
            self._lock.release()
