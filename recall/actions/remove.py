"""Taking a session out of recall: a tombstone and its rows, or every trace of it.

`remove` leaves the copies in the archive; the tombstone keeps them out of index, list and cards. `purge` deletes them
as well, and makes the index anew, since a full-text index goes on holding the words of deleted rows. What the client
itself keeps is never touched.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import orjson

from recall import clients
from recall.actions.cards import settle
from recall.actions.history import Purged, lists, strip, typed_in
from recall.actions.reading import Reading
from recall.actions.reindex import placed, rebuild
from recall.actions.sweep import Sweep
from recall.actions.view import write_view
from recall.actions.walk import homes, purged_ids, stem, unfinished
from recall.archive.store import copies
from recall.archive.store import remove as delete_copies
from recall.archive.sums import Sums
from recall.core.facts import Facts
from recall.core.model import USER, Session
from recall.errors import Refused
from recall.files import write_atomic
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import Store, open_store


@dataclass
class Removed:
    """What was done: `sessions` ids that went (chain members too); `copies` deleted (relative to the archive);
    `left` files of the client that stay (absolute paths); `kin` ids of sessions that hold records of it as well."""

    sessions: list[str] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    kin: list[str] = field(default_factory=list)


def family(store: Store, row: Session) -> list[Session]:
    """The session and the members of its chain, which hold nothing that it does not."""
    return [row, *(other for other in store.sessions() if other.chain_to == row.no)]


def refuse_live(rows: Iterable[Session], live: frozenset[str]) -> None:
    """Raises Refused when one of the sessions is open."""
    for row in rows:
        if row.id in live:
            raise Refused(f"session {row.id} is open", "close it first: what it writes next would come back")


def remove(settings: Settings, store: Store, shelf: Shelf, row: Session) -> Removed:
    """Take a session and its chain out of index, list, cards and handoffs. The caller holds the sweep's lock."""
    rows = family(store, row)
    done = Removed([one.id for one in rows], [], _sources(store, rows), _kin(store, rows))
    for one in rows:
        shelf.bury(one.id)  # first: whatever is left by a crash is then invisible
        shelf.drop_papers(one.id)
        with contextlib.suppress(OSError):
            os.unlink(shelf.given_path(one.id))
    with store.writing():
        for one in rows:
            store.forget_session(one.no)
        root = store.session(row.chain_to) if row.chain_to else None
        if root:
            store.put_session(root._replace(chain=root.chain - 1))
            settle(store, shelf, root.no)  # its card may have been that of the part that went
    write_view(settings, store, shelf)
    return done


def purge(
    settings: Settings, store: Store, shelf: Shelf, row: Session, *, progress: Callable[[int, int, str], None]
) -> Removed:
    """Delete all that is kept of a session and its chain. The caller holds the sweep's lock; the store is closed."""
    rows = family(store, row)
    ids = {one.id for one in rows}
    known = {file.copy for one in rows for file in store.files(one.no)}
    done = Removed(sorted(ids), [], _sources(store, rows), _kin(store, rows))
    folders = {one.cwd for one in rows} | {
        facts.cwd for one in rows for _, facts in store.facts_of(one.no, orjson.loads)
    }
    store.close()
    _purge(settings, shelf, ids, known, folders, done, progress)
    return done


def purge_removed(
    settings: Settings, shelf: Shelf, session: str, *, progress: Callable[[int, int, str], None]
) -> Removed:
    """As `purge`, for a session that was removed before and has no rows any more; `copies` is empty if none is kept."""
    known = {*_of_owner(settings, session), *_named(settings, {session})}
    done = Removed([session])
    if known or os.path.exists(unfinished(settings)):
        facts = [_facts(settings, copy) for copy in known if copy.endswith(".jsonl")]
        _purge(settings, shelf, {session}, known, {one.cwd for one in facts}, done, progress)
    return done


def _purge(
    settings: Settings,
    shelf: Shelf,
    ids: set[str],
    known: set[str],
    folders: set[str],
    done: Removed,
    progress: Callable[[int, int, str], None],
) -> None:
    paths = known | _named(settings, ids)
    typed = _typed(settings, paths)
    write_atomic(unfinished(settings), b"")
    for copy in sorted(paths):
        place = placed(copy)
        shelf.mark_purged((place[1].session if place else "") or stem(copy))
    for session in ids:
        shelf.mark_purged(session)
        shelf.bury(session)
        shelf.drop_papers(session)
        shelf.drop_name(session)
    folder_paths = {path.removesuffix(".jsonl") for path in paths if stem(path) in ids}
    done.copies = delete_copies(settings.archive, *sorted(paths | folder_paths))
    _strip_lists(settings, folders, typed)
    _strip_state(settings, ids)
    rebuild(settings, progress=progress)
    with open_store(settings.index) as store:
        write_view(settings, store, shelf)


def _sources(store: Store, rows: list[Session]) -> list[str]:
    """The client's own files of these sessions that are still there."""
    paths = sorted({file.source for row in rows for file in store.files(row.no) if file.source})
    return [path for path in paths if os.path.exists(path)]


def _kin(store: Store, rows: list[Session]) -> list[str]:
    """Sessions outside of the family that hold records of it: the rest of its chain, and forks."""
    ids = {row.id for row in rows}
    roots = {row.chain_to for row in rows if row.chain_to}
    return sorted(row.id for row in store.sessions() if (row.fork_of in ids or row.no in roots) and row.id not in ids)


def _named(settings: Settings, ids: set[str]) -> set[str]:
    """Copies in the archive whose path says that they belong to one of these sessions."""
    out = set()
    for copy in copies(settings.archive):
        found = placed(copy.path)
        if found and found[1].session in ids:
            out.add(copy.path)
    return out


def _of_owner(settings: Settings, session: str) -> Iterable[str]:
    """Transcripts in the archive whose records say that they belong to the session: sub-agents among the sessions."""
    work = Sweep(settings)
    for copy in copies(settings.archive):
        found = placed(copy.path)
        if not copy.generation and found and found[1].kind in ("main", "sub") and found[1].session != session:
            client, place = found
            if place.session and client != "codex":
                continue
            path = os.path.join(settings.archive, copy.path)
            if work.owner(client, path, place.session, place.kind)[0] == session:
                yield copy.path


def _facts(settings: Settings, copy: str) -> Facts:
    found = placed(copy)
    return Sweep(settings).facts_of_copy(found[0], copy) if found else Facts()


def _typed(settings: Settings, paths: Iterable[str]) -> set[str]:
    """What the user typed in these transcripts: lists of typed prompts that name no session are compared with it."""
    out = set()
    for path in paths:
        found = placed(path)
        if found is None or found[1].kind != "main":
            continue
        facts = Facts()
        try:
            lines = Reading(os.path.join(settings.archive, path), 0, facts, settings.max_line).lines()
            out |= {record.text.strip() for record in clients.get(found[0]).parse(lines, facts, (USER,))}
        except OSError:
            continue
    return out


def _strip_lists(settings: Settings, folders: set[str], typed: set[str]) -> None:
    """Take the sessions' lines out of our copies of what the clients list."""
    purged = Purged(settings.state, purged_ids(settings))
    nameless: list[bytes] = []

    def gone(raw: bytes) -> bool:
        if typed_in(raw, folders, typed):
            nameless.append(raw)
            return True
        return purged.covers(raw)

    with Sums(settings.archive) as sums:
        prefixes = [(home.prefix, clients.places(home.client).files) for home in homes(settings)]
        for copy in lists(settings.archive, prefixes):
            strip(settings.archive, copy, gone, sums)
    for home in homes(settings):
        for name in clients.places(home.client).files:
            # Lines that the sweep has not copied yet must not come with the next one.
            try:
                with open(os.path.join(home.path, name), "rb") as file:
                    nameless += [raw.strip() for raw in file if typed_in(raw.strip(), folders, typed)]
            except OSError:
                continue
    purged.add_lines(nameless)


def _strip_state(settings: Settings, ids: set[str]) -> None:
    """Take the sessions out of logs, marks and other small files of the state folder."""
    marks = [session.encode() for session in ids]
    for folder, names, files in os.walk(settings.state):
        if folder == settings.state and "purged" in names:
            names.remove("purged")
        for name in files:
            path = os.path.join(folder, name)
            if any(session in name for session in ids):
                os.unlink(path)
            elif name == "troubles.json":
                _strip_troubles(settings, ids)
            elif name.endswith((".log", ".jsonl", ".1")):
                with open(path, "rb") as file:
                    lines = file.readlines()
                keep = [line for line in lines if not any(mark in line for mark in marks)]
                if len(keep) != len(lines):
                    write_atomic(path, b"".join(keep))


def _strip_troubles(settings: Settings, ids: set[str]) -> None:
    shelf = Shelf(settings.data, settings.state)
    before = shelf.troubles()
    after = {path: words for path, words in before.items() if not any(session in path for session in ids)}
    if after != before:
        shelf.set_troubles(after)
