"""What a person looks at before a session is opened: its card, and the turns in which the words typed stand.

Without words: how it began and where it ended. All texts are redacted, and free of terminal escapes.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from recall.actions.cards import card_of
from recall.actions.find import COMMON
from recall.core.card import TASK
from recall.core.clean import clean
from recall.core.model import SPOKEN, USER, ZONE_NAMES, Card, Record, Session
from recall.core.plain import one_line, plain
from recall.core.spots import excerpt, spans
from recall.errors import NothingFound
from recall.settings import Settings
from recall.store import SHIFT, Store

TURNS = 8
"""Turns that are shown at most."""
LAST = 3
"""Messages that are shown of the end, where nothing is looked for."""
LONGEST = 400
"""Characters of a turn where nothing is looked for."""
FORMS = 48
"""Words whose places are looked up."""


class Turn(NamedTuple):
    """`role` is a zone's name; `text` is one line, cut round what was found; `time` seconds since the epoch, 0: unknown."""

    role: str
    time: float
    text: str


class Preview(NamedTuple):
    """`card` None: there is none. `found` rows of the session hold some of the words; `turns` are the best of them in the
    order in which they were said. `note` says what could not be read, '' for nothing."""

    session: Session
    card: Card | None
    turns: tuple[Turn, ...]
    found: int = 0
    note: str = ""


def preview(row: Session, store: Store, settings: Settings, *, words: Sequence[str] = (), best: int = 0) -> Preview:
    """The preview of one session. `words` are those of the index that answer the query, the exact ones first; `best` the row
    that the search holds for the best one (0: none)."""
    card = card_of(store, row)
    if not words:
        return Preview(row, card, *_ends(row, store, settings))
    once = list(dict.fromkeys(words))[:FORMS]
    telling = [word for word in once if store.rows_with(word) <= COMMON]
    ranked = store.rows_of(row.no, telling or once)
    if best >> SHIFT == row.no:
        ranked[best] = max(ranked.get(best, 0), 1 << 10)
    chosen = sorted(sorted(ranked, key=lambda one: (-ranked[one], one))[:TURNS])
    turns: list[Turn] = []
    note = ""
    for one in chosen:
        try:
            turns += _turns(one, store, settings, frozenset(words))
        except OSError as problem:
            note = f"a copy cannot be read: {problem.strerror}"
    if not turns and not note:
        return Preview(row, card, *_ends(row, store, settings))
    return Preview(row, card, tuple(turns[:TURNS]), len(ranked), note)


def _turns(row: int, store: Store, settings: Settings, words: Collection[str]) -> Iterator[Turn]:
    """What stands in one row of the index and holds some of the words."""
    from recall import clients
    from recall.actions.reading import line_range
    from recall.core.facts import Facts

    place = store.place(row)
    file = store.file_by_no(place[0]) if place else None
    if place is None or file is None:
        return
    copy = os.path.join(settings.archive, file.copy)
    path = copy if os.path.exists(copy) or file.source.endswith(".zst") or not file.source else file.source
    for record in _records(clients.get(file.client).parse(line_range(path, place[1], place[2]), Facts(), SPOKEN)):
        text = one_line(clean(plain(record.text)))
        found = spans(text, words)
        if found:
            yield Turn(ZONE_NAMES[record.zone], record.time, excerpt(text, found))


def _records(found: Iterable[Record]) -> Iterator[Record]:
    """Each text once: clients write some of them twice."""
    seen: set[str] = set()
    for record in found:
        if record.text not in seen:
            seen.add(record.text)
            yield record


def _ends(row: Session, store: Store, settings: Settings) -> tuple[tuple[Turn, ...], int, str]:
    """The first request and the last messages; nothing found; what could not be read."""
    from recall.actions.show import last_messages, own_file

    turns: list[Turn] = []
    if row.ask and (row.task or row.title or len(row.ask) > TASK):  # else it stands above as what it was about
        turns.append(Turn(ZONE_NAMES[USER], row.started, _cut(clean(plain(row.ask)))))
    try:
        path, file = own_file(row, store, settings)
        last = last_messages(path, file.client, SPOKEN, LAST)
    except NothingFound:
        return tuple(turns), 0, "only the card is left: no transcript can be read"
    except OSError as problem:
        return tuple(turns), 0, f"the transcript cannot be read: {problem.strerror}"
    spoken = [record for record in last if record.zone <= 1][-LAST:]
    said = [Turn(ZONE_NAMES[record.zone], record.time, _cut(clean(plain(record.text)))) for record in spoken]
    if said and row.ask and said[0].text == _cut(clean(plain(row.ask))):
        said = said[1:]
    return (*turns, *said), 0, ""


def _cut(text: str) -> str:
    text = one_line(text)
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
