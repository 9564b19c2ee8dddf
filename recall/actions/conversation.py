"""A conversation as text to read: who spoke when, what was said, one line for each thing that was done."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence

from recall.actions.transcript import shown
from recall.core.model import ACTION, ASIDE, ASSISTANT, OUTPUT, THINKING, USER, Record
from recall.core.pattern import compiled
from recall.core.plain import one_line

_SPOKEN = frozenset((USER, ASSISTANT))
ACTION_WIDTH = 160
ASIDE_WIDTH = 200


def lines(records: Iterable[Record], *, color: bool = False, numbers: bool = False) -> Iterator[str]:
    """Lines without their ends. A head stands where the speaker changes; `color` marks heads and dims the rest.

    `numbers`: each message of the human and the assistant begins with its number, `[12]`; the records must then be all.
    """
    speaker, first = "", True
    count = 0
    last = -1  # zone of what stands above, -1: a head
    for record in records:
        count += record.zone in _SPOKEN
        text = shown(record.text).strip("\n")
        if not text.strip():
            continue
        if numbers and record.zone in _SPOKEN:
            text = f"[{count}] {text}"
        now = "user" if record.zone == USER else "aside" if record.zone == ASIDE else "assistant"
        if now != speaker and now != "aside":
            speaker = now
            if not first:
                yield ""
            head = f"## {now} {moment(record.time)}".rstrip()
            yield f"\x1b[1;{'32' if now == 'user' else '36'}m{head}\x1b[0m" if color else head
            yield ""
            last = -1
        first = False
        if last >= 0 and (record.zone in _SPOKEN or last in _SPOKEN):
            yield ""
        last = record.zone
        if record.zone == ACTION:
            yield _dim(f"· {_cut(one_line(text), ACTION_WIDTH)}", color)
        elif record.zone == ASIDE:
            yield _dim(f"(aside: {_cut(one_line(text), ASIDE_WIDTH)})", color)
        elif record.zone in (OUTPUT, THINKING):
            mark = "  | " if record.zone == OUTPUT else "  ~ "
            for line in text.split("\n"):
                yield _dim(f"{mark}{line}".rstrip(), color)
        else:
            yield from text.split("\n")


def place(lines: Sequence[str], text: str) -> int:
    """Number of the first line that holds `text`; where none does (it was cut), the one in the middle."""
    pattern = compiled([text])
    return next((n for n, line in enumerate(lines) if pattern.find(line)), len(lines) // 2)


def moment(seconds: float) -> str:
    """Local date and time to the minute; '' when it is not known."""
    return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M") if seconds else ""


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else text[: size - 1].rstrip() + "…"


def _dim(text: str, color: bool) -> str:
    return f"\x1b[2m{text}\x1b[0m" if color else text
