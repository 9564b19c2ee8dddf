"""One session brought up to date: its transcript taken in now, or all of it again after it had been removed."""

from __future__ import annotations

import os
from collections.abc import Iterator

from recall.actions.lineage import Lineage
from recall.actions.reindex import Kept, not_mounted, transcripts
from recall.actions.sweep import Sweep
from recall.actions.turn import turn
from recall.actions.walk import Found, homes, look, walk
from recall.archive import append
from recall.errors import NothingFound, Unavailable, Usage
from recall.settings import Settings
from recall.shelf import Shelf


def take_file(settings: Settings, path: str) -> str:
    """Archive and index one transcript of a client by its path; the id of its session.

    Raises Usage for a file that is no transcript of ours, NothingFound where nothing of it is kept (no records in it
    yet,
    or its session was removed or purged).
    """
    path = os.path.realpath(path)
    found = next(
        filter(None, (look(home._replace(path=os.path.realpath(home.path)), path) for home in homes(settings))), None
    )
    if found is None or found.place.kind not in ("main", "sub"):
        raise Usage(f"{path} is no transcript of a client", "give an id, or a file under the client's home")
    _take(settings, [found])
    with Sweep(settings).open() as store:
        file = store.file_by_copy(append.locate(settings.archive, found.place.archive, Sweep(settings).adopted))
        row = store.session(file.session) if file else None
    if row is None:
        raise NothingFound(f"nothing is kept of {path}", "it holds no records yet, or its session was removed")
    return row.id


def take_grown(settings: Settings, sources: list[str]) -> None:
    """Take in what was added to these transcripts of one session since the last sweep."""
    found = [one for path in sources for home in homes(settings) if (one := look(home, path)) is not None]
    if found:
        _take(settings, found)


def _take(settings: Settings, found: list[Found]) -> None:
    if not append.ready(settings.archive, settings.state):
        message, hint = not_mounted(settings)
        raise Unavailable(message, hint)
    with turn(settings):
        work = Sweep(settings)
        gone = work.purged.ids
        with work.open() as store:
            known = store.sources()
            kept = [one for one in [*found, *_notes(settings, found)] if one.place.session not in gone]
            changed = [one for one in kept if known.get(one.path, (0,))[:3] != (one.size, one.mtime, one.ino)]
            if changed:
                work.take(store, changed, known)


def _notes(settings: Settings, found: list[Found]) -> Iterator[Found]:
    """What a client keeps beside transcripts of whose name a session has: it says which name is another session's."""
    for one in found:
        path = os.path.join(one.path.removesuffix(".jsonl"), "custom-title.json")
        for home in homes(settings):
            if one.client == home.client and (note := look(home, path)) is not None:
                yield note


def bring_back(settings: Settings, shelf: Shelf, session: str) -> None:
    """Undo a removal: no tombstone, and what is kept of the session is indexed again. NothingFound where nothing is."""
    with turn(settings):
        shelf.unbury(session)
        work = Sweep(settings)
        lineage = Lineage()
        with work.open() as store:
            mine = []
            for kept in transcripts(settings):
                path = os.path.join(settings.archive, kept.copy)
                if (kept.session or work.owner(kept.client, path, kept.session, kept.kind)[0]) == session:
                    mine.append(kept)
            sources = {found.place.archive: found.path for home in homes(settings) for found in walk(home, _pass)}

            def one(kept: Kept) -> None:
                source = sources.get(kept.copy, "")
                work.take_copy(store, kept.client, kept.copy, kept.kind, kept.session, source, lineage)

            work.in_batches(store, mine, one, path=lambda kept: kept.copy, size=lambda kept: kept.size)
            work.settle_lineage(store, lineage)
            work.take_output(store)
            there = any(row.id == session for row in store.sessions_like(session, 2))
    if not there:
        raise NothingFound(f"nothing is kept of session {session}", "recall sweep takes in what the client has")


def _pass(path: str, problem: OSError) -> None:
    """What cannot be listed is no source."""
