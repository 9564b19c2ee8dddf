"""What bringing one copy up to date came to."""

from __future__ import annotations

import os
from typing import NamedTuple

_UNITS = (100, 1_000, 10_000_000, 1_000_000_000)  # ns: what file systems round times to, up or down


class Kept(NamedTuple):
    """`kind` is 'same', 'new', 'grown' or 'generation' (see `append`); counts are bytes.

    `read` is of the source, `length` of the copy; `problem`, if any, says what was wrong with the source.
    """

    kind: str
    read: int
    written: int
    length: int
    problem: str = ""


def same_time(copy: os.stat_result, source: os.stat_result) -> bool:
    """Whether the copy was marked complete for the source as it is, also where the archive's disk rounds times."""
    ours, theirs = copy.st_mtime_ns, source.st_mtime_ns
    if ours == theirs:
        return True
    return any(theirs % unit and ours - (theirs - theirs % unit) in (0, unit) for unit in _UNITS)
