"""What people may read in the data folder and recall writes from the index: `INDEX.md`, and the counts in `TAGS.md`."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable
from typing import TypeVar
from zlib import crc32

from recall import __version__
from recall.core.card import has_row, index_line, short_ids
from recall.core.model import Glance, Session
from recall.files import write_atomic
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import Store

_Row = TypeVar("_Row", Session, Glance)


def shown(rows: Iterable[_Row], shelf: Shelf) -> list[_Row]:
    """Of all sessions those that have a row of their own, newest first: no members of chains, no hidden or removed ones."""
    out = [row for row in rows if not row.chain_to and not row.hidden and has_row(row) and not shelf.is_removed(row.id)]
    out.sort(key=lambda row: (-row.updated, row.id))
    return out


def render(rows: list[Session], shorts: dict[str, str]) -> str:
    """The text of `INDEX.md`."""
    return "".join(index_line(row, shorts[row.id], None) + "\n" for row in rows)


def write_view(settings: Settings, store: Store, shelf: Shelf) -> None:
    """Write `INDEX.md` (one line a session, newest first) and the counts in `TAGS.md`, atomically, where they changed."""
    rows = store.sessions()
    shorts = short_ids((row.client, row.id) for row in rows)
    path = os.path.join(settings.data, "INDEX.md")
    text = render(shown(rows, shelf), shorts).encode("utf-8", "replace")
    if _content(path) != text:
        write_atomic(path, text)
    else:
        os.utime(path)  # it is right as of now, which is how a sweep with nothing to do knows
    shelf.count_tags(tag_counts(rows, shelf))
    _sign(store, text)
    os.utime(path)


def touch_view(settings: Settings, store: Store, shelf: Shelf, grown: Collection[int]) -> None:
    """As `write_view`, where nothing happened but that these sessions grew: the lines of all others are as they were.

    Written by another version, or in another time zone, the whole is written again; so is what has kin among the grown.
    """
    path = os.path.join(settings.data, "INDEX.md")
    old = _content(path)
    rows = store.sessions_by_no(grown)
    kin = any(row.chain_to or row.chain > 1 or row.fork_of for row in rows.values())
    if old is None or kin or store.meta("view") != _made_by(old):
        write_view(settings, store, shelf)
        return
    lines = {line.partition(" ")[0]: line for line in old.decode("utf-8", "replace").splitlines(keepends=True)}
    glances = store.glances()
    shorts = short_ids((row.client, row.id) for row in glances)
    out = []
    for row in shown(glances, shelf):
        line = lines.get(shorts[row.id]) if row.no not in rows else None
        if line is None:
            full = rows.get(row.no) or store.session(row.no)
            if full is None:
                continue
            line = index_line(full, shorts[row.id], None) + "\n"
        out.append(line)
    text = "".join(out).encode("utf-8", "replace")
    write_atomic(path, text)
    _sign(store, text)
    os.utime(path)


def _made_by(text: bytes) -> str:
    """What tells that the lines of `INDEX.md` are ours as they are, and of this version and time zone."""
    return f"{__version__} {time.timezone} {time.tzname} {crc32(text)}"


def _sign(store: Store, text: bytes) -> None:
    mark = _made_by(text)
    if store.meta("view") != mark:
        with store.writing():
            store.set_meta("view", mark)


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
