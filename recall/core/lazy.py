"""Regular expressions that are compiled when they are first used.

A table of patterns costs more to compile than most short runs need of it: a sweep that takes in one turn uses a few of
a hundred.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Lazy:
    """Stands in for a compiled pattern; each method is looked up once, then it is the pattern's own."""

    def __init__(self, source: Any, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._source, self._flags), name)
        self.__dict__[name] = found
        return found


def lazy(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, later; a wrong expression is found at its first use."""
    return cast("re.Pattern[AnyStr]", _Lazy(source, flags))
