"""What people may read in the data folder and recall writes from the index: `INDEX.md`, and the counts in `TAGS.md`."""

from __future__ import annotations

import os

from recall.core.card import has_row, index_line, short_ids
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
        if not row.chain_to and not row.hidden and has_row(row) and not shelf.is_removed(row.id)
    ]
    rows.sort(key=lambda row: (-row.updated, row.id))
    return rows


def render(rows: list[Session], shorts: dict[str, str]) -> str:
    """The text of `INDEX.md`."""
    return "".join(index_line(row, shorts[row.id], None) + "\n" for row in rows)


def write_view(settings: Settings, store: Store, shelf: Shelf) -> None:
    """Write `INDEX.md` (one line a session, newest first) and the counts in `TAGS.md`, atomically, where they changed."""
    rows = store.sessions()
    shorts = short_ids((row.client, row.id) for row in rows)
    path = os.path.join(settings.data, "INDEX.md")
    text = render(shown(store, shelf), shorts).encode("utf-8", "replace")
    if _content(path) != text:
        write_atomic(path, text)
    else:
        os.utime(path)  # it is right as of now, which is how a sweep with nothing to do knows
    shelf.count_tags(tag_counts(rows, shelf))


def tag_counts(rows: list[Session], shelf: Shelf) -> dict[str, int]:
    """How many sessions carry each tag in their card."""
    out: dict[str, int] = {}
    for row in rows:
        if row.tags and not row.chain_to and not shelf.is_removed(row.id):
            for tag in row.tags.split("\n"):
                out[tag] = out.get(tag, 0) + 1
    return out


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None
