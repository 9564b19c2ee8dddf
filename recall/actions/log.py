"""The log of what happened where nobody looked on: `<state>/recall.log`, a line an event, the last megabyte or two of it.

It holds ids, kinds and counts; never words of a transcript.
"""

from __future__ import annotations

import contextlib
import datetime

from recall.core.plain import one_line
from recall.files import append_private
from recall.settings import Settings

KEEP = 1 << 20
"""Bytes; then a new file is begun, and one old one kept."""


def log(settings: Settings, now: float, event: str) -> None:
    """Append one event (one line, at most 300 characters). A log that cannot be written stops nothing."""
    moment = datetime.datetime.fromtimestamp(now, datetime.UTC).isoformat(timespec="seconds")
    with contextlib.suppress(OSError):
        append_private(settings.log, f"{moment} {one_line(event)[:300]}\n".encode("utf-8", "replace"), KEEP)
