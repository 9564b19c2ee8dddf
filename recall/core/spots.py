"""Where in a text the words stand that were found: to be marked, and to cut the text round them.

One pass over the text, however many words there are: a short beginning of a word may stand for dozens.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from recall.core.text import fold_plain, humps, is_unspaced

Span = tuple[int, int]

AROUND = 90
"""Characters kept on each side of a found word."""

_RUN = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def spans(text: str, words: Collection[str]) -> list[Span]:
    """Where in `text` words of the index stand: (start, end) of each, in order, none within another."""
    if not words or not text:
        return []
    out: list[Span] = []
    pairs = [word for word in words if is_unspaced(word)]
    for run in _RUN.finditer(text):
        start, end = run.span()
        typed = run[0]
        if pairs and is_unspaced(typed):
            out += [(start + a, start + b) for a, b in _within(typed, pairs)]
            continue
        if _folded(typed) in words:
            out.append((start, end))
        elif not typed.islower() and len(humps(typed)) > 1:
            out += [
                (start + part.start(), start + part.end()) for part in _HUMP.finditer(typed) if part[0].lower() in words
            ]
    return out


def _within(run: str, pairs: Collection[str]) -> list[Span]:
    """Where pairs of characters stand in a run without blanks; what overlaps is one place."""
    marked = [False] * len(run)
    for pair in pairs:
        at = run.find(pair)
        while at >= 0:
            marked[at : at + len(pair)] = [True] * len(pair)
            at = run.find(pair, at + 1)
    out: list[Span] = []
    start = -1
    for place, on in enumerate([*marked, False]):
        if on and start < 0:
            start = place
        elif not on and start >= 0:
            out.append((start, place))
            start = -1
    return out


@lru_cache(maxsize=8192)
def _folded(word: str) -> str:
    return fold_plain(word).strip().lower()


def excerpt(text: str, found: list[Span]) -> str:
    """`text` cut round the place where most of the found words are near each other; cut at blanks, with `…` where something
    was left out."""
    if len(text) <= 2 * AROUND or not found:
        return text if len(text) <= 2 * AROUND else text[: 2 * AROUND].rstrip() + "…"
    starts = [start for start, _ in found]
    best, most, last = starts[0], 0, 0
    for n, start in enumerate(starts):
        while last < len(starts) and starts[last] - start <= AROUND:
            last += 1
        if last - n > most:
            best, most = start, last - n
    return window(text, best)


def window(text: str, at: int) -> str:
    """What stands within AROUND characters of place `at`, cut at blanks, with `…` where something was left out."""
    start, stop = max(0, at - AROUND), min(len(text), at + AROUND)
    if start:
        blank = text.find(" ", start, at)
        start = blank + 1 if blank >= 0 else start
    if stop < len(text):
        blank = text.rfind(" ", at, stop)
        stop = blank if blank > at else stop
    return f"{'…' if start else ''}{text[start:stop]}{'…' if stop < len(text) else ''}"
