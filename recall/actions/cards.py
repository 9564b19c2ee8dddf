"""Cards into the index: those whose file changed since it was taken in, found by one look into the data folder.

A card's words stand above its session's transcript, and hide none of it. A card whose transcript is gone is a row of
its own. Where the newest transcript of a chain has no card, the one of an earlier part speaks for it.
Looking costs little and is done by every `find`: what reading needs is imported when something is read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from recall.core.card import with_card
from recall.core.model import Card, Session
from recall.core.text import fold_all
from recall.shelf import CardFile, Shelf, id_in
from recall.store import Store

_BODY = 4000
"""Characters of a card's free text that are searched."""
_MANY = 5000
"""Cards that are written at a time."""


class Look(NamedTuple):
    """One look into the data folder: card files that are not as the index knows them, newest first; the names of those
    that are gone, with their session; and which file was of which session."""

    new: list[CardFile]
    gone: dict[str, int]
    owner: dict[str, int]


def look(store: Store, shelf: Shelf) -> Look:
    """What changed among the cards. A data folder that is missing is no deletion: nothing is gone then."""
    files = shelf.card_files()
    known = store.card_files()
    if files is None or not (files or known):
        return Look([], {}, {})
    new = [file for name, file in files.items() if known.get(name, ())[:2] != file[1:]]
    seen = {file.name for file in new}
    new += [files[name] for name in store.misplaced() if name in files and name not in seen]
    new.sort(key=lambda file: -file.mtime)
    owner = {name: values[2] for name, values in known.items()}
    return Look(new, {name: no for name, no in owner.items() if name not in files}, owner)


def any_changed(store: Store, shelf: Shelf) -> bool:
    """Would `take_cards` do anything?"""
    seen = look(store, shelf)
    return bool(seen.new or seen.gone or store.borrowed())


def take_cards(
    store: Store,
    shelf: Shelf,
    *,
    trouble: Callable[[str, OSError], None] = lambda name, problem: None,
    until: float = float("inf"),
) -> tuple[int, int]:
    """Take in the cards that changed; (how many, how many were left at `until`, a moment of `time.monotonic`)."""
    seen = look(store, shelf)
    borrowed = store.borrowed()
    if not (seen.new or seen.gone or borrowed):
        return 0, 0
    from recall.core.cardfile import parse
    from recall.core.clean import clean

    taken = 0
    touched = {*seen.gone.values(), *borrowed}
    owners = set(seen.owner.values())
    fresh = _Fresh(store, shelf)
    alone: dict[int, Card | None] = {}  # the card of a session that has no other, so that it need not be read back
    with store.writing():
        for name in seen.gone:
            store.drop_card(name)
        for file in seen.new:
            if time.monotonic() > until:
                break
            taken += 1
            try:
                text, read = shelf.card_text(file.name)
                card = parse(clean(text), id_in(file.name))
            except OSError as problem:
                trouble(file.name, problem)
                continue
            if file.name not in seen.owner and fresh.take(read, card):
                continue
            fresh.flush()
            no = _take(store, shelf, read, card)
            touched |= {no, seen.owner.get(file.name, no)}
            alone[no] = card if no not in alone and no not in owners and no not in fresh.numbers else None
        fresh.flush()
        for no in touched:
            settle(store, shelf, no, alone.get(no))
    return taken + len(seen.gone), len(seen.new) - taken


class _Fresh:
    """Cards of sessions that the index does not know, as after the loss of all transcripts: written many at a time."""

    def __init__(self, store: Store, shelf: Shelf) -> None:
        self._store = store
        self._shelf = shelf
        self._rows: list[tuple[str, int, int, Session, Card, dict[str, str]]] = []
        self.numbers: set[int] = set()  # that were given to sessions
        self._ids: set[str] = set()
        self._longest = 0
        self._last = -1
        from recall.core.session import project_of

        self._project = lru_cache(maxsize=None)(project_of)

    def take(self, file: CardFile, card: Card) -> bool:
        """Take in a card, if no session has its id or one that begins like it; was it taken in?"""
        if self._last < 0:
            self._ids = {session for _, session in self._store.ids()}
            self._longest = max(map(len, self._ids), default=0)
            self._last = self._store.last_session()
        size = len(card.id)
        if not size or size < self._longest or card.id in self._ids or self._shelf.is_removed(card.id):
            return False
        self._longest = size
        self._ids.add(card.id)
        self._last += 1
        self.numbers.add(self._last)
        row = alone_row(self._last, self._shelf, card, self._project(card.project))
        self._rows.append((*file, row, card, head(row, card)))
        if len(self._rows) == _MANY:
            self._write()
        return True

    def flush(self) -> None:
        """Write what was taken in; the index may be changed by others then."""
        self._write()
        self._last = -1

    def _write(self) -> None:
        if self._rows:
            self._store.add_alone(self._rows)
            self._rows.clear()


def _take(store: Store, shelf: Shelf, file: CardFile, card: Card) -> int:
    """Take in one card; the number of its session, 0 where it is no card or its session was removed."""
    if not card.id or shelf.is_removed(card.id):
        store.drop_card(file.name)
        return 0
    no = _owner(store, card)
    store.put_card(*file, no, card)
    return no


def _owner(store: Store, card: Card) -> int:
    """The session that a card is about: by its id or the beginning of one; one is made where there is none."""
    rows = store.sessions_like(card.id, 3)
    same = [row for row in rows if row.id == card.id]
    other = [row for row in rows if row.id != card.id]
    if other and len(card.id) >= 8 and (len(other) == 1 and all(not store.files(row.no) for row in same)):
        return other[0].no
    if same:
        same.sort(key=lambda row: (not store.files(row.no), row.client != card.client))
        return same[0].no
    return store.session_no(card.client, card.id)


def card_of(store: Store, row: Session) -> Card | None:
    """The card that speaks for a session: its own, else the newest of the earlier parts of its chain."""
    card = _best(store, row)
    if card is None and row.chain > 1:
        parts = [one for one in store.chain(row.no) if one.status]
        for one in sorted(parts, key=lambda one: -one.updated):
            card = _best(store, one)
            if card is not None:
                return card
    return card


def _best(store: Store, row: Session) -> Card | None:
    """Of several files about one session the one that is named after it, else the newest."""
    found = store.cards_of(row.no)
    if f"{row.id}.md" in found:
        return found[f"{row.id}.md"][1]
    return max(found.values(), key=lambda pair: pair[0])[1] if found else None


def settle(store: Store, shelf: Shelf, no: int, card: Card | None = None) -> None:
    """Bring a session's row in line with its card (`card`, where that is known already). In a transaction. A row that
    neither card nor transcript holds goes."""
    row = store.session(no)
    if row is None:
        return
    put(store, shelf, row, card)
    if row.chain_to:
        root = store.session(row.chain_to)
        if root:
            put(store, shelf, root)


def put(store: Store, shelf: Shelf, row: Session, card: Card | None = None) -> None:
    """Write a session's row and what stands above its transcript, with what its card says."""
    card = card or card_of(store, row)
    if not row.pieces and not store.files(row.no):
        if card is None:
            store.forget_session(row.no)
            return
        from recall.core.session import project_of

        row = _alone(row, shelf, card, project_of(card.project))
    row = with_card(row, card)
    store.put_session(row)
    store.put_head(row.no, head(row, card))


def _alone(row: Session, shelf: Shelf, card: Card, project: str) -> Session:
    """The row of a session of which there is nothing but a card; what the card says of it is put in by `with_card`."""
    from recall.core.clean import clean

    name = clean(shelf.name(row.id))
    return row._replace(
        cwd=card.project,
        project=project,
        title=name,
        title_by="user" if name else "",
        started=card.first or card.last,
        updated=card.last or card.first or card.written_at,
        messages=card.messages,
        meta="meta" in card.tags,
    )


def alone_row(no: int, shelf: Shelf, card: Card, project: str) -> Session:
    """The same for a session that was not there yet, its number `no`, with what its card says."""
    return with_card(_alone(Session(no, card.client, card.id), shelf, card, project), card)


def head_of(store: Store, row: Session) -> dict[str, str]:
    """What stands above the transcript of a session that is in the index, folded."""
    return head(row, card_of(store, row))


def head(row: Session, card: Card | None) -> dict[str, str]:
    """What stands above a session's transcript, folded."""
    out = {
        "title": _lines((row.title, row.other_title, card.title if card else "")),
        "project": f"{row.project} {row.branch}",
        "ask": row.ask[:600],
    }
    if card:
        # Made without a model, the task is the first request, which is there already, and tags and names are whatever
        # occurred: no more than that.
        said = card.written_by != "extract"
        names = _lines(card.entities)
        out["task"] = card.task if said else ""
        out["tags"] = _lines((" ".join(card.tags), names)) if said else ""
        rest = (card.method, card.next, *card.artifacts, card.body[:_BODY])
        out["card"] = _lines(rest if said else (" ".join(card.tags), names, *rest))
    return dict(zip(out, fold_all(tuple(out.values())), strict=True))


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(dict.fromkeys(filter(None, texts)))
