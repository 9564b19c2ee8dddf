"""Which session changed this file, or made this commit, and the request that asked for it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from recall.actions.files import changes_of
from recall.actions.find import find
from recall.actions.show import own_file
from recall.actions.transcript import newest, records
from recall.core.change import SEEN
from recall.core.extract import committed
from recall.core.model import OUTPUT, SPOKEN, USER, Session
from recall.core.query import Query
from recall.errors import NothingFound
from recall.settings import Settings
from recall.store import Store

CANDIDATES = 60
"""Sessions that are read through for one question."""

SHA = re.compile(r"[0-9a-fA-F]{7,40}")


class Touch(NamedTuple):
    """What a session did with a file or commit: `made` changed or made it, otherwise it only named it. `changes`: how many, the
    last at `time`; `request` is what the person asked last before that, as it was written."""

    session: Session
    made: bool
    changes: int
    time: float
    request: str


class Looked(NamedTuple):
    """`touches`, newest first; `left`: candidates that were not read."""

    touches: list[Touch]
    left: int


def who_changed(
    path: str, here: str, store: Store, settings: Settings, *, now: float, removed: Callable[[str], bool]
) -> Looked:
    """Sessions that changed `path` (from the folder `here`, or any tail of one), newest first; behind them those that only
    named it. Where one changed exactly that file, those that changed another of the same tail are left out."""
    whole = os.path.normpath(os.path.join(here, path))
    tail = "/" + path.strip("/").removeprefix("./")
    rows = _found(os.path.basename(whole), store, now, removed)
    exact: list[Touch] = []
    near: list[Touch] = []
    named: list[Touch] = []
    for row in rows[:CANDIDATES]:
        mine = [
            (at, time, name)
            for at, time, name in _changed(row, store, settings)
            if name == whole or name.endswith(tail)
        ]
        if not mine:
            named.append(Touch(row, False, 0, row.updated, ""))
            continue
        same = [one for one in mine if one[2] == whole] or mine
        at, time, _ = same[-1]
        touch = Touch(row, True, len(same), time, _asked(row, store, settings, at, time))
        (exact if same[0][2] == whole else near).append(touch)
    touches = sorted(exact or near, key=lambda touch: -touch.time)
    return Looked(touches or named, max(0, len(rows) - CANDIDATES))


def _found(name: str, store: Store, now: float, removed: Callable[[str], bool]) -> list[Session]:
    """Sessions whose actions name such a file, newest first."""
    if not any(char.isalnum() for char in name):
        return []  # no word of it is in the index: that would be a search for nothing, which all sessions answer
    query = Query("", filters={"file": (name,)})
    found = find(query, store, now=now, limit=1000, everything=True, removed=removed)
    return sorted((hit.session for hit in found.hits), key=lambda row: -row.updated)


def _changed(row: Session, store: Store, settings: Settings) -> Iterator[tuple[int, float, str]]:
    """(offset, time, path) of each change of a session; the offset is -1 for one of a sub-agent."""
    for file in store.files(row.no):
        path = newest(file, settings)
        if not path or file.kind == "older":
            continue
        for change in changes_of(path, file.client, settings):
            if change.kind != SEEN:
                yield (change.at if file.kind == "main" else -1), change.time, change.path
                if change.to:
                    yield (change.at if file.kind == "main" else -1), change.time, change.to


def _asked(row: Session, store: Store, settings: Settings, at: int, time: float) -> str:
    """What the person typed last before an offset of the session's own transcript, or before a time."""
    try:
        path, file = own_file(row, store, settings)
    except NothingFound:
        return ""
    asked = ""
    for record in records(path, file.client, settings, frozenset((USER,))):
        if record.zone != USER:
            continue
        if record.at > at if at >= 0 else record.time > time:
            break
        asked = record.text
    return asked or row.ask


def who_made(commit: str, store: Store, settings: Settings, *, removed: Callable[[str], bool]) -> Looked:
    """Sessions whose tools made the commit of this number (7 to 40 hexadecimal digits), else those in which it is named."""
    commit = commit.lower()
    heads = [[commit[:length]] for length in sorted({*range(7, min(13, len(commit) + 1)), len(commit)})]
    numbers = store.printed(heads)
    for (word,) in heads:
        numbers |= {row >> 20 for row, _, _ in store.occurrences({word: 1.0})}
    by_no = store.sessions_by_no(numbers)
    rows = sorted((row for row in by_no.values() if not removed(row.id)), key=lambda row: -row.updated)
    made: list[Touch] = []
    named: list[Touch] = []
    for row in rows[:CANDIDATES]:
        found = _commit(row, commit, store, settings)
        if found is not None:
            (made if found.made else named).append(found)
    return Looked(made or named, max(0, len(rows) - CANDIDATES))


def _commit(row: Session, commit: str, store: Store, settings: Settings) -> Touch | None:
    for file in store.files(row.no):
        path = newest(file, settings)
        if not path or file.kind == "older":
            continue
        asked, asked_at, seen = "", 0.0, None
        for record in records(path, file.client, settings, SPOKEN | {OUTPUT}):
            if record.zone == USER:
                asked, asked_at = record.text, record.time
            elif record.zone == OUTPUT and any(_same(number, commit) for _, number, _ in committed(record.text)):
                request = asked if file.kind == "main" else _asked(row, store, settings, -1, record.time)
                return Touch(row, True, 1, record.time, request)
            if seen is None and commit[:7] in record.text:
                seen = Touch(row, False, 0, record.time or asked_at, asked)
        if seen is not None:
            return seen
    return None


def _same(number: str, commit: str) -> bool:
    return number.startswith(commit) or commit.startswith(number)
