"""The patches that Codex writes, and unified differences: read, and applied to a text.

The form (`*** Begin Patch`, a section a file, hunks that begin with `@@` and may name a line to look behind, lines marked
with a blank, `-` or `+`, no line numbers) is that of the tool's own description in the client's prompt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

BEGIN = "*** Begin Patch"
_END = "*** End Patch"
_SECTION = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE = "*** Move to: "
_END_OF_FILE = "*** End of File"
_RANGE = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?")


class Hunk(NamedTuple):
    """Lines that stand behind a line `after` ('' for anywhere) and what they become; lines have no ends."""

    after: str
    old: tuple[str, ...]
    new: tuple[str, ...]


class Section(NamedTuple):
    """What a patch does with one file. `what` is Add, Update or Delete; `text` is that of an added file."""

    what: str
    path: str
    to: str
    text: str
    hunks: tuple[Hunk, ...]


def sections(patch: str) -> list[Section]:
    """The parts of a patch; a text that is none has none. Whatever is odd in it is passed over."""
    begin = patch.find(BEGIN)
    if begin < 0:
        return []
    found: list[Section] = []
    head: tuple[str, str] | None = None
    body: list[str] = []
    for line in patch[begin:].split("\n")[1:]:
        line = line.removesuffix("\r")
        start = _SECTION.fullmatch(line)
        ended = line.strip() == _END
        if start or ended:
            if head:
                found.append(_section(*head, body))
            head, body = ((start[1], start[2].strip()), []) if start else (None, [])
            if ended:
                break
        elif head:
            body.append(line)
    else:
        if head:
            found.append(_section(*head, body))
    return found


def _section(what: str, path: str, body: list[str]) -> Section:
    if what == "Add":
        return Section(what, path, "", "".join(f"{line[1:]}\n" for line in body if line.startswith("+")), ())
    to = next((line[len(_MOVE) :].strip() for line in body[:1] if line.startswith(_MOVE)), "")
    return Section(what, path, to, "", tuple(hunks(body[1:] if to else body)))


def hunks(lines: Sequence[str]) -> Iterator[Hunk]:
    """Hunks of a patch's section or of a unified difference."""
    after, old, new = "", [], []  # type: tuple[str, list[str], list[str]]
    for line in lines:
        if line.startswith("@@"):
            if old or new:
                yield Hunk(after, tuple(old), tuple(new))
                old, new = [], []
            after = _RANGE.sub("", line, count=1) if _RANGE.match(line) else line[2:].strip()
            if _RANGE.match(line):
                after = ""  # git names the function there, which may stand anywhere above
        elif line.startswith(("--- ", "+++ ")) and not old and not new:
            continue
        elif line.startswith("-"):
            old.append(line[1:])
        elif line.startswith("+"):
            new.append(line[1:])
        elif line == _END_OF_FILE or line.startswith("\\"):
            continue
        else:
            old.append(line[1:])
            new.append(line[1:])
    if old or new:
        yield Hunk(after, tuple(old), tuple(new))


_LIKE: tuple[Callable[[str], str], ...] = (lambda line: line, str.rstrip, str.strip)
"""How lines are compared: as they are, then with less and less regard to blanks, as the client itself does."""


def apply(text: str, wanted: Sequence[Hunk]) -> str | None:
    """`text` after the hunks, in order; None where one does not fit. The result ends with a line end unless it is empty."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    at = 0
    for hunk in wanted:
        if hunk.after:
            behind = _find(lines, (hunk.after,), at)
            if behind < 0:
                behind = _find(lines, (hunk.after,), 0)
            at = behind + 1 if behind >= 0 else at
        if not hunk.old:
            place = at if hunk.after else len(lines)
            lines[place:place] = hunk.new
            at = place + len(hunk.new)
            continue
        old, new = hunk.old, hunk.new
        place = _find(lines, old, at)
        if place < 0 and not old[-1]:  # an empty line at its end may be the end of the file
            old = old[:-1]
            new = new[:-1] if new and not new[-1] else new
            place = _find(lines, old, at)
        if place < 0:
            place = _find(lines, old, 0)
        if place < 0:
            return None
        lines[place : place + len(old)] = _kept(lines[place : place + len(old)], old, new)
        at = place + len(new)
    return "".join(f"{line}\n" for line in lines)


def _kept(there: Sequence[str], old: Sequence[str], new: Sequence[str]) -> list[str]:
    """`new`, with the lines that only stand for their place as they were in the text."""
    if tuple(there) == tuple(old):
        return list(new)
    out, n = [], 0
    for line in new:
        place = next((i for i in range(n, len(old)) if old[i] == line), None)
        if place is None:
            out.append(line)
        else:
            out.append(there[place])
            n = place + 1
    return out


def _find(lines: Sequence[str], wanted: Sequence[str], start: int) -> int:
    for like in _LIKE:
        goal = [like(line) for line in wanted]
        have = [like(line) for line in lines]
        for n in range(start, len(have) - len(goal) + 1):
            if have[n : n + len(goal)] == goal:
                return n
    return -1
