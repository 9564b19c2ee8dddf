"""What a word of the command line may become: ids with what they are about, projects, tags, filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from recall.actions.view import shown
from recall.core.card import SHORT, project_name, short_ids, status_of, tags_of, task_of
from recall.core.clean import clean
from recall.core.model import Glance, Session
from recall.core.plain import cut, one_line
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import Store

MOST = 60
"""Candidates at most: more is not looked through."""

_FILTERS = {
    "project": "only of this project",
    "since": "only active since",
    "before": "only last active before",
    "client": "claude or codex",
    "status": "done, in_progress, aborted, new, lost",
    "tag": "only with this tag",
    "file": "only sessions that touched this path",
    "branch": "only on this git branch",
    "is": "live or idle",
}
_ACTED_UPON = frozenset(" \t\n'\"\\$`;&|<>(){}[]*?!")
"""What a shell acts upon: bash puts a candidate into the line as it is, and Enter would run a branch called `x;reboot`."""
_DATES = ("1d", "7d", "30d", "today", "yesterday", "monday")


def candidates(kind: str, word: str, store: Store, settings: Settings) -> list[tuple[str, str]]:
    """(value, what it is) of what begins with `word`; see `core.complete.ASKED` for the kinds. Never raises for a word."""
    if kind == "id":
        return list(_ids(word, store, settings))
    if kind == "word":
        name, colon, value = word.partition(":")
        if not colon:
            return [(f"{one}:", what) for one, what in _FILTERS.items() if one.startswith(word)] if word else []
        return [(f"{name}:{found}", what) for found, what in _values(name, value, store, settings)][:MOST]
    return _values(kind, word, store, settings)[:MOST]


def _ids(word: str, store: Store, settings: Settings) -> Iterator[tuple[str, str]]:
    rows = _rows(store, settings)
    if word and len(word) <= 8:
        rows = [row for row in rows if row.id.startswith(word)]
    elif word:
        rows = [row for row in rows if row.id.startswith(word[:8]) and row.id.startswith(word)]
    rows = rows[:MOST]
    shorts = short_ids(store.ids())
    full: dict[int, Session] = store.sessions_by_no(row.no for row in rows)
    for row in rows:
        short = shorts.get(row.id, row.id[: SHORT.get(row.client, 8)])
        value = row.id if len(word) > len(short) else short
        about = full[row.no].title or task_of(full[row.no])
        yield value, one_line(clean(f"{project_name(row)} · {cut(one_line(about), 60)}"))
    for name, what in (("last", "the newest session"), (".", "the newest of this folder")):
        if name.startswith(word):
            yield name, what


def _values(kind: str, word: str, store: Store, settings: Settings) -> list[tuple[str, str]]:
    if kind in ("since", "before"):
        return [(one, "") for one in _DATES if one.startswith(word)]
    if kind == "client":
        return [(one, "") for one in ("claude", "codex") if one.startswith(word)]
    if kind == "is":
        return [(one, "") for one in ("live", "idle") if one.startswith(word)]
    rows = _rows(store, settings)
    of: dict[str, Callable[[Glance], Iterable[str]]] = {
        "project": lambda row: [project_name(row)],
        "tag": tags_of,
        "status": lambda row: [status_of(row)],
        "branch": lambda row: [row.branch],
    }
    if kind not in of:
        return []
    counts = Counter(value for row in rows for value in of[kind](row) if value)
    folded = word.casefold()
    found = [(value, number) for value, number in counts.items() if value.casefold().startswith(folded)]
    found.sort(key=lambda pair: (-pair[1], pair[0]))
    return [
        (one_line(clean(value)), f"{number} session{'' if number == 1 else 's'}")
        for value, number in found
        if not set(value) & _ACTED_UPON and value[0] not in "~#-=^"
    ]


def _rows(store: Store, settings: Settings) -> list[Glance]:
    return shown(store.glances(), Shelf(settings.data, settings.state))
