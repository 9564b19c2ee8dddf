"""The index again, from archive and cards: beside the old one, which is used until the new one is whole."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable

from recall.actions.lineage import Lineage
from recall.archive import append
from recall.archive.store import canonical, copies
from recall.clients import NAMES, get
from recall.files import make_private_dir
from recall.settings import Settings
from recall.store import alone, create_store, discard, open_store, replace


def rebuild(settings: Settings, *, progress: Callable[[int, int, str], None], output: bool = True) -> int:
    """Make the index anew and put it in place; gives the number of sessions. The caller holds the sweep's lock.

    What the walk knew of the sources (sizes and times) is taken over, so that the next sweep need not look again.
    """
    from recall.actions.sweep import Sweep

    make_private_dir(settings.state)
    new = settings.index + ".new"
    discard(new)
    sources = _old_sources(settings)
    work = Sweep(settings, output=output, progress=progress)
    files = _transcripts(settings)
    total = sum(size for *_, size, _mtime in files)
    done = at = 0
    lineage = Lineage()
    with create_store(new, build=secrets.token_hex(8)) as store:
        store.bulk(24)
        while at < len(files):
            size = 0
            with store.writing():
                while at < len(files) and size < 24 << 20:
                    client, kind, copy, session, length, _ = files[at]
                    at += 1
                    size += length
                    work.take_copy(store, client, copy, kind, session, "", lineage)
                    progress(done + size, total, "reading")
                work.settle_dirty(store)
            done += size
        with store.writing():
            lineage.settle(store, settings)
            for path, (length, mtime, ino, copy) in sources.items():
                store.set_source(path, length, mtime, ino, copy)
        if output:
            work.take_output(store)
        count = store.count()
        store.settle()
    with alone(settings.index):
        replace(settings.index, new)
    return count


def _old_sources(settings: Settings) -> dict[str, tuple[int, int, int, str]]:
    """What the old index knew of the sources; nothing when it cannot say. Only where the copy is still as long."""
    import sqlite3

    from recall.errors import RecallError

    try:
        with open_store(settings.index) as store:
            return store.sources()
    except (RecallError, sqlite3.DatabaseError):
        return {}


def _transcripts(settings: Settings) -> list[tuple[str, str, str, str, int, int]]:
    """(client, kind, copy, session, bytes, mtime) of each transcript in the archive, newest session first."""
    out = []
    for copy in copies(settings.archive):
        if copy.generation:
            continue
        top, _, rest = canonical(copy.path).partition("/")
        client = top.partition("@")[0]
        if client not in NAMES:
            continue
        folder = "projects" if client == "claude" else "sessions"
        place = get(client).place(f"{folder}/{rest}")
        if place is None or place.kind not in ("main", "sub"):
            continue
        if append.purged(settings.state, place.session):
            continue
        out.append((client, place.kind, copy.path, place.session, copy.size, copy.mtime_ns))
    newest: dict[str, int] = {}
    for _, _, copy_path, session, _, mtime in out:
        key = session or copy_path
        newest[key] = max(newest.get(key, 0), mtime)
    out.sort(key=lambda item: (-newest[item[3] or item[2]], item[3] or item[2], item[1] != "main", item[2]))
    return out
