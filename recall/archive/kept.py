"""What bringing one copy up to date came to."""

from __future__ import annotations

import os
from typing import NamedTuple

_COARSE = 2_000_000_000  # ns: file systems without fractions of a second may round to two seconds


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
    """Whether the copy was marked complete for the source as it is, also where its disk keeps whole seconds only."""
    apart = abs(copy.st_mtime_ns - source.st_mtime_ns)
    return apart == 0 or (copy.st_mtime_ns % 1_000_000_000 == 0 and apart < _COARSE)
