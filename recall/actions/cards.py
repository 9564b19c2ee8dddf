"""Cards into the index: those whose file changed since it was taken in, found by one look into the data folder.

A card's words stand above its session's transcript, and hide none of it. A card whose transcript is gone is a row of
its own. Where the newest transcript of a chain has no card, the one of an earlier part speaks for it.
Looking costs little and is done by every `find`: what reading needs is imported when something is read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from recall.core.card import with_card
from recall.core.model import Card, Session
from recall.core.text import fold
from recall.shelf import CardFile, Shelf, id_in
from recall.store import Store

_BODY = 4000
"""Characters of a card's free text that are searched."""


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
    taken = 0
    touched = {*seen.gone.values(), *borrowed}
    owners = set(seen.owner.values())
    alone: dict[int, Card | None] = {}  # the card of a session that has no other, so that it need not be read back
    with store.writing():
        for name in seen.gone:
            store.drop_card(name)
        for file in seen.new:
            if time.monotonic() > until:
                break
            taken += 1
            try:
                no, card = _take(store, shelf, file.name)
            except OSError as problem:
                trouble(file.name, problem)
                continue
            touched |= {no, seen.owner.get(file.name, no)}
            alone[no] = card if no not in alone and no not in owners else None
        for no in touched:
            settle(store, shelf, no, alone.get(no))
    return taken + len(seen.gone), len(seen.new) - taken


def _take(store: Store, shelf: Shelf, name: str) -> tuple[int, Card]:
    """Read one file; (the number of its session, its card); 0 where it is no card or its session was removed."""
    from recall.core.cardfile import parse
    from recall.core.clean import clean

    text, file = shelf.card_text(name)
    card = parse(clean(text), id_in(name))
    if not card.id or shelf.is_removed(card.id):
        store.drop_card(name)
        return 0, card
    no = _owner(store, card)
    store.put_card(name, file.mtime, file.size, no, card)
    return no, card


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
        from recall.core.clean import clean
        from recall.core.session import project_of

        name = clean(shelf.name(row.id))
        row = row._replace(
            cwd=card.project,
            project=project_of(card.project),
            title=name,
            title_by="user" if name else "",
            started=card.first or card.last,
            updated=card.last or card.first or card.written_at,
            messages=card.messages,
            meta="meta" in card.tags,
        )
    row = with_card(row, card)
    store.put_session(row)
    store.put_head(row.no, head(row, card))


def head_of(store: Store, row: Session) -> dict[str, str]:
    """What stands above the transcript of a session that is in the index, folded."""
    return head(row, card_of(store, row))


def head(row: Session, card: Card | None) -> dict[str, str]:
    """What stands above a session's transcript, folded."""
    out = {
        "title": fold(_lines((row.title, row.other_title, card.title if card else ""))),
        "project": fold(f"{row.project} {row.branch}"),
        "ask": fold(row.ask[:600]),
    }
    if card:
        # Made without a model, the task is the first request, which is there already, and tags and names are whatever
        # occurred: no more than that.
        said = card.written_by != "extract"
        names = _lines(card.entities)
        out["task"] = fold(card.task) if said else ""
        out["tags"] = fold(_lines((" ".join(card.tags), names))) if said else ""
        rest = (card.method, card.next, *card.artifacts, card.body[:_BODY])
        out["card"] = fold(_lines(rest if said else (" ".join(card.tags), names, *rest)))
    return out


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(dict.fromkeys(filter(None, texts)))
