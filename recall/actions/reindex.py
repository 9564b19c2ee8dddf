"""The index again, from archive and cards: beside the old one, which is used until the new one is whole."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable
from typing import NamedTuple

from recall.actions.lineage import Lineage
from recall.actions.walk import Found, homes, purged_ids, stem, unfinished, walk
from recall.archive import append
from recall.archive.store import adopted, copies
from recall.clients import NAMES, places
from recall.core.model import Place
from recall.errors import Damaged, RecallError, Unavailable
from recall.files import make_private_dir
from recall.settings import Settings
from recall.store import NEW, alone, create_store, discard, open_store, replace

Known = dict[str, tuple[int, int, int, str]]


class Kept(NamedTuple):
    """One transcript of the archive: its copy (relative to the root), bytes and modification time (ns).

    `older`: there are older generations of it.
    """

    client: str
    kind: str
    copy: str
    session: str
    size: int
    mtime: int
    older: bool


def rebuild(
    settings: Settings,
    *,
    progress: Callable[[int, int, str], None],
    output: bool = True,
    trouble: Callable[[str, str], object] = lambda path, words: None,
) -> int:
    """Make the index anew and put it in place; gives the number of sessions. The caller holds the sweep's lock.

    What the walk knew of the sources (sizes and times) is taken over, so that the next sweep need not look again.
    Killed at any point, it leaves the old index as it was, or the new one. `trouble(path, words)` is told of each copy
    that cannot be taken in. Unavailable where the archive is not mounted: an empty index would not be the truth.
    """
    from recall.actions.sweep import Sweep

    make_private_dir(settings.state)
    purging = os.path.exists(unfinished(settings))
    if not append.ready(settings.archive, settings.state):
        raise Unavailable(*not_mounted(settings))
    new = settings.index + NEW
    discard(new)
    known = _known(settings)
    kept_by_clients = _sources(settings)
    where = {seen[3]: path for path, seen in known.items()} | {copy: f.path for copy, f in kept_by_clients.items()}
    known = _complete(settings, kept_by_clients) | known
    work = Sweep(settings, output=output, progress=progress)
    lineage = Lineage()
    failed: set[str] = set()
    try:
        with create_store(new, build=secrets.token_hex(8)) as store:
            store.bulk(24)

            def one(kept: Kept) -> None:
                failed.add(kept.copy)
                source = where.get(kept.copy, "")
                work.take_copy(store, kept.client, kept.copy, kept.kind, kept.session, source, lineage)
                older = work.fullest_older(kept.client, kept.copy) if kept.older else ""
                file = store.file_by_copy(kept.copy) if older else None
                row = store.session(file.session) if file else None
                if row:
                    work.take_copy(store, kept.client, older, "older", row.id, source, lineage)
                failed.discard(kept.copy)

            work.in_batches(store, transcripts(settings), one, path=lambda kept: kept.copy, size=lambda kept: kept.size)
            work.settle_lineage(store, lineage)
            work.take_cards(store)
            with store.writing():
                for path, (length, mtime, ino, copy) in known.items():
                    if copy not in failed and os.path.exists(os.path.join(settings.archive, copy)):
                        store.set_source(path, length, mtime, ino, copy)
            if output:
                work.take_output(store)
            count = store.count()
            taken = store.file_count()
            store.settle()
        if failed and not taken:
            raise Damaged(
                "no transcript could be taken in: the old index stays",
                "recall verify names what is wrong with the copies",
            )
        with alone(settings.index):
            replace(settings.index, new)
    except BaseException:
        discard(new)  # a full disk needs the room, and nobody takes up half an index
        raise
    if purging:
        os.unlink(unfinished(settings))
    for path, words in work.troubles.items():
        trouble(path, words)
    return count


def not_mounted(settings: Settings) -> tuple[str, str]:
    """What is wrong and how to mend it, where the archive's disk is missing."""
    return (
        f"the archive {settings.archive} is not mounted",
        "mount its disk; if it was moved for good, set RECALL_ARCHIVE or put .recall-archive back into it",
    )


def _known(settings: Settings) -> Known:
    """What the old index knew of the sources; nothing when it cannot say."""
    try:
        with open_store(settings.index) as store:
            return store.sources()
    except (RecallError, sqlite3.Error):
        return {}


def _sources(settings: Settings) -> dict[str, Found]:
    """Where the clients keep what is in the archive: copy -> its source."""
    folders = adopted(settings.archive)
    out: dict[str, Found] = {}
    for home in homes(settings):
        for found in walk(home, lambda path, problem: None):
            out.setdefault(append.locate(settings.archive, found.place.archive, folders), found)
    return out


def _complete(settings: Settings, sources: dict[str, Found]) -> Known:
    """The sources that their copies hold whole, as size and time tell: there is nothing to look at again."""
    out: Known = {}
    for copy, found in sources.items():
        try:
            status = os.stat(os.path.join(settings.archive, copy))
        except OSError:
            continue
        if status.st_size == found.size and status.st_mtime_ns == found.mtime:
            out[found.path] = (found.size, found.mtime, found.ino, copy)
    return out


def transcripts(settings: Settings) -> list[Kept]:
    """The newest generation of each transcript in the archive, newest session first; none of purged sessions."""
    gone = purged_ids(settings)
    out = []
    aside: set[str] = set()
    for copy in copies(settings.archive):
        if copy.generation:
            aside.add(copy.path)
            continue
        found = placed(copy.path)
        if found is None:
            continue
        client, place = found
        if place.kind in ("main", "sub") and (place.session or stem(copy.path)) not in gone:
            out.append(Kept(client, place.kind, copy.path, place.session, copy.size, copy.mtime_ns, False))
    out = [kept._replace(older=kept.copy in aside) for kept in out]
    newest: dict[str, int] = {}
    for kept in out:
        key = kept.session or kept.copy
        newest[key] = max(newest.get(key, 0), kept.mtime)
    out.sort(
        key=lambda kept: (
            -newest[kept.session or kept.copy],
            kept.session or kept.copy,
            kept.kind != "main",
            kept.copy,
        )
    )
    return out


def placed(copy: str) -> tuple[str, Place] | None:
    """(client, what it is) of a copy by its path in the archive; None for what is no client's.

    `<client>/…` is of the first home, `<client>@<number>/…` of a further one; anything else was left there by an
    earlier tool, which kept Claude Code's folders directly in the root.
    """
    top, _, rest = copy.partition("/")
    client = top.partition("@")[0]
    if client not in NAMES or (top != client and not _is_prefix(top)):
        client, rest = "claude", copy
    for folder in (*places(client).folders, ""):
        place = places(client).place(f"{folder}/{rest}" if folder else rest)
        if place is not None:
            return client, place._replace(archive=copy)
    return None


def _is_prefix(top: str) -> bool:
    """Is this the folder of a further home, also of one that is not configured any more?"""
    number = top.partition("@")[2]
    return len(number) == 8 and all(digit in "0123456789abcdef" for digit in number)
