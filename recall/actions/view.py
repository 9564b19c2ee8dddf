"""`INDEX.md`: one line a session, newest first; a view of the index, written again when it changed."""

from __future__ import annotations

import os

from recall.core.card import index_line, short_ids
from recall.core.model import Session
from recall.files import write_atomic
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import Store


def shown(store: Store, shelf: Shelf) -> list[Session]:
    """The sessions that have a row of their own, newest first: no members of chains, no hidden or removed ones."""
    rows = [
        row
        for row in store.sessions()
        if not row.chain_to and not row.hidden and (row.messages or row.lost) and not shelf.is_removed(row.id)
    ]
    rows.sort(key=lambda row: (-row.updated, row.id))
    return rows


def render(rows: list[Session], shorts: dict[str, str]) -> str:
    """The text of `INDEX.md`."""
    return "".join(index_line(row, shorts[row.id], None) + "\n" for row in rows)


def write_view(settings: Settings, store: Store, shelf: Shelf) -> None:
    """Write `INDEX.md` from the index, atomically."""
    shorts = short_ids((row.client, row.id) for row in store.sessions())
    write_atomic(os.path.join(settings.data, "INDEX.md"), render(shown(store, shelf), shorts).encode())
