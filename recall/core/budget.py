"""What fits into so many bytes: whole rows and lines first, then a character's border; what was left out is counted.

For agents, whose context is dear: an answer begins with what matters most and says how to get at the rest.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

MARK = "…"
"""Stands where something was cut off."""

_WORTH = 80  # bytes: less of a long line is not worth showing
_LONG = 160  # bytes: a shorter line is shown whole or not at all
_JOINER = "\u200d"
_Note = Callable[[int], str]


class Fitted(NamedTuple):
    """`lines` to print, each ended by a newline; the notes about what was left out are among them. `before` and `after`
    units were left out there, whole or in part."""

    lines: list[str]
    before: int
    after: int

    @property
    def left_out(self) -> int:
        return self.before + self.after


def size(text: str) -> int:
    """Bytes of `text` in UTF-8; what is no character (half of a surrogate pair) counts as it is printed, escaped."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "backslashreplace"))


def fit(
    units: Sequence[str],
    budget: int,
    *,
    after: Callable[[int], str],
    before: Callable[[int], str] = lambda count: f"{MARK} {count} before",
    focus: int = 0,
    partly: bool = False,
) -> Fitted:
    """The units (a row, a line; several lines may make one) round number `focus` that fit into `budget` bytes of UTF-8,
    newlines and notes included. 0 keeps the beginning, the last number the end.

    `after(n)` and `before(n)` word the notes that n units were left out behind and in front; where they do not fit there
    are short ones, or none. `partly`: of a long unit at the edge a part is shown. A unit at the focus that is too long by itself is cut.
    """
    if sum(size(unit) + 1 for unit in units) <= budget:
        return Fitted(list(units), 0, 0)
    focus = max(0, min(focus, len(units) - 1))
    front, behind = focus > 0, focus == 0 or focus < len(units) - 1
    notes = _notes(before, after, len(units), budget, front=front, behind=behind)
    room = budget
    if notes is not None:
        before, after = notes
        room -= (size(before(len(units))) + 1) * front + (size(after(len(units))) + 1) * behind
    first, end = _window(units, room, focus)
    if first == end:  # not even the unit in focus
        lines = [part] if (part := head(units[focus], room - 1)) else []
        shown = range(0)
        first = end = focus
        left = (focus, len(units) - focus)
    else:
        lines = list(units[first:end])
        shown = range(first, end)
        left = (first, len(units) - end)
        if partly:
            spare = room - sum(size(units[n]) + 1 for n in shown)
            if left[1] and _is_worth(units[end], spare):
                lines.append(head(units[end], spare - 1))
            elif left[0] and not left[1] and _is_worth(units[first - 1], spare):
                lines.insert(0, tail(units[first - 1], spare - 1))
    if notes is not None and front and left[0]:
        lines.insert(0, before(left[0]))
    if notes is not None and behind and left[1]:
        lines.append(after(left[1]))
    return Fitted(lines, *left)


def _notes(
    before: _Note, after: _Note, count: int, budget: int, *, front: bool, behind: bool
) -> tuple[_Note, _Note] | None:
    """The notes that leave room for something else; None where there is none even for short ones."""
    for one, other in ((before, after), (_more, _more)):
        if (size(one(count)) + 1) * front + (size(other(count)) + 1) * behind + _WORTH <= budget:
            return one, other
    return None


def _more(count: int) -> str:
    return f"{MARK} {count} more"


def upto(units: Iterable[str], budget: int) -> Iterator[str]:
    """`units` with those far behind the budget made empty: however many there are, little is held. For a focus of 0."""
    used = 0
    for unit in units:
        yield unit if used <= budget else ""
        used += size(unit) + 1


def _window(units: Sequence[str], room: int, focus: int) -> tuple[int, int]:
    """[first, end) round `focus`, grown to both sides in turn while it fits; empty where that unit alone does not."""
    first = end = focus
    if size(units[focus]) + 1 > room:
        return first, end
    room -= size(units[focus]) + 1
    end += 1
    down, up = end < len(units), first > 0
    while down or up:
        if down:
            need = size(units[end]) + 1
            down = need <= room
            if down:
                room -= need
                end += 1
                down = end < len(units)
        if up:
            need = size(units[first - 1]) + 1
            up = need <= room
            if up:
                room -= need
                first -= 1
                up = first > 0
    return first, end


def _is_worth(unit: str, room: int) -> bool:
    return room >= _WORTH and size(unit) > _LONG


def head(text: str, budget: int) -> str:
    """The beginning of `text` in at most `budget` bytes, `…` behind it where it was cut; '' where not even that fits. No
    character is cut, nor what is combined with it."""
    if size(text) <= budget:
        return text
    room = budget - size(MARK)
    if room < 0:
        return ""
    text = text.encode("utf-8", "backslashreplace").decode()
    end = len(text.encode()[:room].decode("utf-8", "ignore"))
    while end > 0 and (_clings(text[end]) or text[end - 1] == _JOINER):
        end -= 1
    return text[:end].rstrip() + MARK


def tail(text: str, budget: int) -> str:
    """The same of the end, `…` in front of it."""
    if size(text) <= budget:
        return text
    room = budget - size(MARK)
    if room < 0:
        return ""
    text = text.encode("utf-8", "backslashreplace").decode()
    raw = text.encode()
    start = len(text) - len(raw[len(raw) - room :].decode("utf-8", "ignore")) if room else len(text)
    while start < len(text) and (_clings(text[start]) or text[start - 1] == _JOINER):
        start += 1
    return MARK + text[start:].lstrip()


def _clings(char: str) -> bool:
    """Does it belong to the character before it?"""
    return char == _JOINER or unicodedata.category(char)[0] == "M" or "\U0001f3fb" <= char <= "\U0001f3ff"


def fit_document(
    document: dict[str, Any],
    budget: int,
    measure: Callable[[dict[str, Any]], int],
    *,
    lists: Sequence[str] = (),
    texts: Sequence[str] = (),
    ends: Sequence[str] = (),
) -> int:
    """Make a JSON document fit: take away from its `lists`, in this order, what stands last (of those in `ends`: first),
    then shorten its `texts`. What was taken is counted in its `left_out`: list -> entries, text -> bytes.

    `measure` gives the bytes of the document as it is printed. Returns the bytes that it needs now, more than `budget` where
    it cannot be helped.
    """
    needed = measure(document)
    for name in lists:
        rows = document.get(name)
        if needed <= budget or not rows:
            continue
        with_rows = partial(_with_rows, document, name, rows, name in ends)
        document.update(_longest(with_rows, len(rows) - 1, budget, measure))
        needed = measure(document)
    for name in texts:
        text = document.get(name)
        if needed <= budget or not text:
            continue
        document.update(_longest(partial(_with_text, document, name, text), size(text) - 1, budget, measure))
        needed = measure(document)
    return needed


def _longest(
    make: Callable[[int], dict[str, Any]], most: int, budget: int, measure: Callable[[dict[str, Any]], int]
) -> dict[str, Any]:
    """The document that `make` gives for the largest number up to `most` with which it fits; for 0 where none does."""
    keep = 0
    while keep < most:
        middle = (keep + most + 1) // 2
        if measure(make(middle)) <= budget:
            keep = middle
        else:
            most = middle - 1
    return make(keep)


def _with_rows(document: dict[str, Any], name: str, rows: list[Any], end: bool, keep: int) -> dict[str, Any]:
    left = len(rows) - keep
    return _with(document, name, rows[left:] if end else rows[:keep], left)


def _with_text(document: dict[str, Any], name: str, text: str, keep: int) -> dict[str, Any]:
    short = head(text, keep)
    return _with(document, name, short, size(text) - size(short.removesuffix(MARK)))


def _with(document: dict[str, Any], name: str, value: object, left: int) -> dict[str, Any]:
    return {**document, name: value, "left_out": {**document.get("left_out", {}), name: left}}
