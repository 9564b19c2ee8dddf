"""Completion of filters: what may stand where the cursor is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from recall.core.card import has_row, tags_of
from recall.core.model import Glance

DATES = ("today", "yesterday", "3d", "week", "last-week", "2w", "month", "3m")
FIXED = {
    "client": ("claude", "codex"),
    "status": ("in_progress", "done", "aborted", "new", "lost"),
    "since": DATES,
    "before": DATES,
    "is": ("live", "idle"),
}
NAMES = ("project:", "client:", "status:", "tag:", "branch:", "file:", "since:", "before:", "is:")

Values = Mapping[str, tuple[str, ...]]


class Completion(NamedTuple):
    """`choices` may replace text[start:end]; each is whole (`project:crm`). A finished one is followed by a blank."""

    start: int
    end: int
    choices: tuple[str, ...]


class Completing(NamedTuple):
    """What Tab is at: `choices` for the text `typed`, choice `number` (-1: none yet), which gave `shown` with the cursor at
    `end`."""

    at: Completion
    typed: str
    number: int
    shown: str
    end: int


def values(rows: Iterable[Glance]) -> Values:
    """Projects, tags and branches of these sessions, the most frequent first."""
    counts: dict[str, dict[str, int]] = {"project": {}, "tag": {}, "branch": {}}
    for row in rows:
        if row.chain_to or row.hidden or not has_row(row):
            continue
        for name, found in (("project", [row.project]), ("tag", tags_of(row)), ("branch", [row.branch])):
            for one in found:
                if one:
                    counts[name][one] = counts[name].get(one, 0) + 1
    return {name: tuple(sorted(mine, key=lambda one: (-mine[one], one))) for name, mine in counts.items()}


def complete(text: str, cursor: int, known: Values) -> Completion:
    """What may stand at the cursor; no choices where nothing fits."""
    start = _start(text, cursor)
    typed = text[start:cursor]
    name, colon, value = typed.partition(":")
    if colon and f"{name.lower()}:" in NAMES:
        name, value = name.lower(), value.strip('"')
        choices = [f"{name}:{_quoted(one)}" for one in _fitting(value, (*FIXED.get(name, ()), *known.get(name, ())))]
    elif typed.startswith("#"):
        choices = [f"#{one}" for one in _fitting(typed[1:], known.get("tag", ()))]
    else:
        choices = [one for one in NAMES if one.startswith(typed.lower())]
    return Completion(start, cursor, tuple(choices))


def apply(text: str, at: Completion, choice: str) -> tuple[str, int]:
    """(the text with a choice in it, where the cursor goes)."""
    end = "" if choice.endswith(":") or text[at.end : at.end + 1] == " " else " "
    done = text[: at.start] + choice + end
    return done + text[at.end :], len(done)


def step(doing: Completing | None, text: str, cursor: int, way: int, known: Values) -> Completing | None:
    """What Tab puts in (`way` 1: the next choice, -1: the one before): of `doing`, if the cursor is still where that left it,
    else anew. None where nothing fits."""
    if doing and doing.end == cursor:
        at, typed = doing.at, doing.typed
        number = max(doing.number + way, -1) % len(at.choices)
    else:
        at, typed = complete(text, cursor, known), text
        if not at.choices:
            return None
        number = 0 if way > 0 else len(at.choices) - 1
        if len(at.choices) > 1 and at.end == at.start:  # nothing is typed yet: only tell what there is
            number = -1
    shown, end = (typed, at.end) if number < 0 else apply(typed, at, at.choices[number])
    return Completing(at, typed, number, shown, end)


def settled(text: str, known: Values) -> str:
    """The text without a filter at its end that is still being typed: `project:`, `status:do`. Searched for as it stands, it
    would empty the list until its last letter."""
    start = _start(text, len(text))
    name, colon, value = text[start:].partition(":")
    if not colon or f"{name.lower()}:" not in NAMES:
        return text
    name, value = name.lower(), value.strip('"').casefold()
    whole = [one.casefold() for one in (*FIXED.get(name, ()), *known.get(name, ()))]
    exact = name in ("client", "status", "is", "tag", "since", "before")
    begun = exact and value not in whole and any(one.startswith(value) for one in whole)
    return text[:start] if begun or not value else text


def _start(text: str, cursor: int) -> int:
    """Where the piece begins that the cursor is in: behind the last blank that no quotes hold."""
    start, quoted = 0, False
    for place, char in enumerate(text[:cursor]):
        if char == '"':
            quoted = not quoted
        elif char.isspace() and not quoted:
            start = place + 1
    return start


def _fitting(typed: str, choices: Iterable[str]) -> list[str]:
    """Those that begin with what was typed, then those that hold it."""
    low = typed.casefold()
    holding = [one for one in choices if low in one.casefold()]
    return sorted(holding, key=lambda one: not one.casefold().startswith(low))


def _quoted(value: str) -> str:
    return f'"{value}"' if any(map(str.isspace, value)) else value
