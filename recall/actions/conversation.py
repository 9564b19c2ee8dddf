"""A conversation as text to read: who spoke when, what was said, one line for each thing that was done."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence

from recall.actions.talk import Shown
from recall.actions.transcript import shown
from recall.core.model import ACTION, ASIDE, ASSISTANT, OUTPUT, THINKING, USER, Record
from recall.core.pattern import compiled
from recall.core.plain import one_line
from recall.core.talk import Part

_SPOKEN = frozenset((USER, ASSISTANT))
_MESSAGES = ("user", "assistant")
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
            yield _head(f"## {now} {moment(record.time)}".rstrip(), now, color)
            yield ""
            last = -1
        first = False
        if last >= 0 and (record.zone in _SPOKEN or last in _SPOKEN):
            yield ""
        last = record.zone
        if record.zone == ACTION:
            yield _dim(f"· {cut(one_line(text), ACTION_WIDTH)}", color)
        elif record.zone == ASIDE:
            yield _dim(f"(aside: {cut(one_line(text), ASIDE_WIDTH)})", color)
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


def with_tools(told: Iterable[Shown], *, color: bool = False, numbers: bool = False) -> Iterator[str]:
    """The same with what each tool was given, changed and printed, below its call: `  + ` and `  - ` lines of a file, `  | ` what
    it printed, `  ~ ` thoughts and long inputs."""
    speaker, first, spoke = "", True, False
    for part, changed in told:
        now = part.role if part.role in ("user", "aside") else "assistant"
        if now != speaker and now != "aside":
            speaker = now
            if not first:
                yield ""
            yield _head(f"## {now} {moment(part.time)}".rstrip(), now, color)
            yield ""
            spoke = False
        elif not first and (spoke or part.role in _MESSAGES):
            yield ""
        first, spoke = False, part.role in _MESSAGES
        yield from _part(part, changed, color, f"[{part.number}] " if numbers else "")


def _part(part: Part, changed: list[str], color: bool, number: str) -> Iterator[str]:
    if part.role in _MESSAGES:
        yield from f"{number}{part.text.strip(chr(10))}".split("\n")
    elif part.role == "aside":
        yield _dim(f"(aside: {cut(one_line(part.text), ASIDE_WIDTH)})", color)
    elif part.role == "thinking":
        yield from _marked("  ~ ", part.text, color)
    else:
        line = f"· {cut(one_line(part.text), ACTION_WIDTH)}{' (failed)' if part.failed else ''}"
        yield f"\x1b[31m{line}\x1b[0m" if color and part.failed else line
        yield from (_changed(line, color) for line in changed)
        if part.body and not changed:
            yield from _marked("  ~ ", part.body, color)
        if part.output.strip():
            yield from _marked("  | ", part.output, color)


def _marked(mark: str, text: str, color: bool) -> Iterator[str]:
    for line in text.strip("\n").split("\n"):
        yield _dim(f"{mark}{line}".rstrip(), color)


def _changed(line: str, color: bool) -> str:
    """A line of a difference, as `core.talk.difference` gives it."""
    sign, rest = (line[0], line[1:]) if line[:1] in ("+", "-", " ") else (" ", line)
    code = {"+": "32", "-": "31"}.get(sign, "2")
    text = f"  {sign} {rest}".rstrip()
    return f"\x1b[{code}m{text}\x1b[0m" if color else text


def _head(head: str, now: str, color: bool) -> str:
    return f"\x1b[1;{'32' if now == 'user' else '36'}m{head}\x1b[0m" if color else head


def moment(seconds: float) -> str:
    """Local date and time to the minute; '' when it is not known."""
    return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M") if seconds else ""


def cut(text: str, size: int) -> str:
    """The first characters of `text`, at most `size` with the `…` that stands for the rest."""
    return text if len(text) <= size else text[: size - 1].rstrip() + "…"


def _dim(text: str, color: bool) -> str:
    return f"\x1b[2m{text}\x1b[0m" if color else text
