"""A conversation in portions: what is read further is not read again from its beginning."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from recall.actions.talk import Shown, talk
from recall.settings import Settings

PARTS = 150
SIZE = 300_000
"""Parts and characters of one portion."""
LONGEST = 100_000
"""Characters of one text that are shown; `export` has all of it."""
_LINES, _LINE = 2_500, 2_000
"""The same for what a call changed: lines, and characters of one."""
SECONDS = 1.5
"""How long one portion looks for a text."""
KEPT = 4
"""Places in conversations that are remembered."""


class Portion(NamedTuple):
    """Parts with their places in the conversation (0: the first). `next` is the place to go on from, 0: it ended."""

    parts: list[tuple[int, Shown]]
    next: int


class Readings:
    """Conversations that are being read. May be used by several threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._places: dict[tuple[str, int, int, int], Iterator[Shown]] = {}

    def portion(self, path: str, client: str, start: int, find: str = "") -> Portion:
        """What stands from place `start` on; with `find`, what of it holds that text (in any case). OSError when the file
        cannot be read."""
        rest, key = self._from(path, client, start)
        wanted = find.casefold()
        end = time.monotonic() + SECONDS
        out: list[tuple[int, Shown]] = []
        size, at = 0, start
        for one in rest:
            at += 1
            if not wanted or _holds(one, wanted):
                one = _cut(one)
                out.append((at - 1, one))
                size += len(one.part.text) + len(one.part.body) + len(one.part.output) + sum(map(len, one.lines))
            if len(out) >= PARTS or size >= SIZE or (wanted and time.monotonic() > end):
                self._keep(key, rest, at)
                return Portion(out, at)
        return Portion(out, 0)

    def end(self, path: str, client: str) -> Portion:
        """The last portion."""
        rest, _ = self._from(path, client, 0)
        last: deque[tuple[int, Shown]] = deque(enumerate(rest), PARTS)
        kept: list[tuple[int, Shown]] = []
        size = 0
        for at, one in reversed(last):
            one = _cut(one)
            size += len(one.part.text) + len(one.part.body) + len(one.part.output) + sum(map(len, one.lines))
            if kept and size > SIZE:
                break
            kept.append((at, one))
        return Portion(kept[::-1], 0)

    def _from(self, path: str, client: str, start: int) -> tuple[Iterator[Shown], tuple[str, int, int]]:
        status = os.stat(path)
        key = (path, status.st_size, status.st_mtime_ns)
        with self._lock:
            place = self._places.pop((*key, start), None) if start else None
        if place is not None:
            return place, key
        rest = talk(path, client, self._settings)
        for _ in range(start):
            if next(rest, None) is None:
                break
        return rest, key

    def _keep(self, key: tuple[str, int, int], rest: Iterator[Shown], at: int) -> None:
        with self._lock:
            self._places.pop((*key, at), None)
            self._places[(*key, at)] = rest
            while len(self._places) > KEPT:
                del self._places[next(iter(self._places))]


def _holds(one: Shown, wanted: str) -> bool:
    part = one.part
    return any(wanted in text.casefold() for text in (part.text, part.body, part.output, *one.lines))


def _cut(one: Shown) -> Shown:
    part = one.part
    text, body, output = map(_short, (part.text, part.body, part.output))
    lines = one.lines
    if len(lines) > _LINES:
        lines = [*lines[:_LINES], f"… {len(lines) - _LINES:,} more lines"]
    return Shown(part._replace(text=text, body=body, output=output), [line[:_LINE] for line in lines])


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n… {len(text) - LONGEST:,} more characters"
