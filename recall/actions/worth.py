"""Which sessions are worth a card or a handoff, and which of those have one that is out of date.

How many events a session had when it was last written about is kept in `<state>/carded.json`; it is derived: where it is
lost, the card's own count of messages stands in.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

import orjson

from recall.core.model import Card, Session
from recall.files import Lock, write_atomic
from recall.settings import Settings
from recall.shelf import Shelf

NEW_EVENTS = 10
"""Events after a card that make another one worth its price."""


class Carded:
    """What was written about at which event: `card` and `handoff` apart."""

    def __init__(self, state: str) -> None:
        self._path = os.path.join(state, "carded.json")

    def events(self, what: str) -> dict[str, int]:
        """Session -> its events when its last card ('card') or handoff ('handoff') was written by a model."""
        found = self._read().get(what)
        return {key: n for key, n in found.items() if isinstance(n, int)} if isinstance(found, dict) else {}

    def note(self, what: str, session: str, events: int) -> None:
        with Lock(self._path + ".lock"):
            found = self._read()
            kept = found.get(what)
            found[what] = {**(kept if isinstance(kept, dict) else {}), session: events}
            write_atomic(self._path, orjson.dumps(found))

    def _read(self) -> dict[str, object]:
        try:
            with open(self._path, "rb") as file:
                found = orjson.loads(file.read())
        except (OSError, orjson.JSONDecodeError):
            return {}
        return found if isinstance(found, dict) else {}


def is_own(row: Session, settings: Settings) -> bool:
    """Did a model call of recall itself leave this session?"""
    folder = settings.model_folder
    return bool(row.cwd) and (row.cwd == folder or os.path.realpath(row.cwd) == os.path.realpath(folder))


def worthy(
    rows: Iterable[Session], settings: Settings, shelf: Shelf, *, since: float, least: int, without: str = ""
) -> list[Session]:
    """The sessions since `since` (seconds since the epoch) with at least `least` events, newest first: none that are
    headless, only searched, were removed, are part of a chain or of which only sub-agents are left."""
    out = [
        row
        for row in rows
        if row.updated >= since
        and row.events >= max(1, least)
        and row.messages
        and not (row.hidden or row.meta or row.lost or row.chain_to)
        and row.id != without
        and not shelf.is_removed(row.id)
        and not is_own(row, settings)
    ]
    out.sort(key=lambda row: (-row.updated, row.id))
    return out


def is_stale(row: Session, card: Card | None, carded: Mapping[str, int]) -> bool:
    """Would a model's card of the session say something new?"""
    if card is None or card.written_by == "extract":
        return True
    if card.written_by == "hand":
        return False
    if row.id in carded:
        return row.events - carded[row.id] >= NEW_EVENTS
    return bool(card.messages) and row.messages - card.messages >= NEW_EVENTS
