"""Is what is kept still what was kept, and does the index hold all of it?"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from recall.actions.reading import Reading
from recall.actions.reindex import not_mounted, transcripts
from recall.archive import append
from recall.archive.verify import Problem, verify
from recall.core.facts import Facts
from recall.core.model import Transcript
from recall.errors import Damaged, Unavailable
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import GONE, Store, is_damage, open_store


@dataclass
class Verdict:
    """`damage` of copies; `index`: what is wrong with the index, a line each; `behind`: copies with bytes that are not
    indexed yet, which the next sweep takes in. Counts are of copies, bytes, 1 MB blocks and blocks without a sum."""

    files: int = 0
    bytes: int = 0
    blocks: int = 0
    unsummed: int = 0
    sessions: int = 0
    damage: list[Problem] = field(default_factory=list)
    index: list[str] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        return not self.damage and not self.index


def check(settings: Settings, shelf: Shelf, progress: Callable[[int, int, str], None]) -> Verdict:
    """Compare the archive with its sums and the index with the archive. Nothing is written.

    Raises Unavailable where the archive is not mounted; OSError where a folder of it cannot be listed.
    """
    verdict = Verdict()
    if not os.path.exists(os.path.join(settings.archive, append.MARKER)):
        if os.path.exists(os.path.join(settings.state, append.SEEN)):
            raise Unavailable(*not_mounted(settings))
        return verdict
    found = verify(settings.archive, lambda done, total: progress(done, total, "checking"))
    verdict.files, verdict.bytes, verdict.blocks, verdict.unsummed = (
        found.files,
        found.bytes,
        found.blocks,
        found.unsummed,
    )
    verdict.damage = found.problems
    kept = transcripts(settings)
    try:
        with open_store(settings.index) as store:
            verdict.sessions = store.count()
            _compare(settings, shelf, store, verdict)
            verdict.index += store.check()
    except Unavailable as problem:
        if kept:
            verdict.index.append(f"{problem.message} ({len(kept)} transcripts are kept)")
    except Damaged as problem:
        verdict.index.append(problem.message)
    except Exception as problem:
        if not is_damage(problem):
            raise
        verdict.index.append(f"{settings.index} is damaged: {problem}")
    return verdict


def _compare(settings: Settings, shelf: Shelf, store: Store, verdict: Verdict) -> None:
    """The index against the archive."""
    files = {file.copy: file for file in store.files()}
    seen = {copy: size for size, _, _, copy in store.sources().values()}
    for kept in transcripts(settings):
        file = files.get(kept.copy)
        if file is None:
            if kept.size == 0 or shelf.is_removed(kept.session) or _of_removed(settings, shelf, kept.copy, kept.client):
                continue
            swept = kept.copy in seen
            (verdict.index if swept else verdict.behind).append(f"{kept.copy}: not indexed")
            continue
        end = _readable(settings, file)
        if file.done < end:
            # What came after the last sweep is not its fault.
            swept = seen.get(kept.copy, 0) in (GONE, kept.size)
            line = f"{kept.copy}: bytes {file.done}-{end} are not indexed"
            (verdict.index if swept else verdict.behind).append(line)
    sessions = {row.no for row in store.sessions()}
    for file in files.values():
        try:
            size = os.stat(os.path.join(settings.archive, file.copy)).st_size
        except FileNotFoundError:
            verdict.index.append(f"{file.copy}: indexed, but there is no such copy")
            continue
        if file.done > size:
            verdict.index.append(f"{file.copy}: indexed up to byte {file.done}, but the copy ends at {size}")
        if file.session not in sessions:
            verdict.index.append(f"{file.copy}: of no session")
    for file, done in store.unprinted():
        verdict.behind.append(f"{file.copy}: tool output from byte {done} is not indexed")


def _readable(settings: Settings, file: Transcript) -> int:
    """Up to which byte the copy holds whole lines, from where the index left it."""
    reading = Reading(os.path.join(settings.archive, file.copy), file.done, Facts(), settings.max_line)
    for _ in reading.lines():
        pass
    return reading.end


def _of_removed(settings: Settings, shelf: Shelf, copy: str, client: str) -> bool:
    """Does a transcript without a row belong to a removed session? Sub-agents say it in their records only."""
    from recall.actions.sweep import Sweep

    owner, _ = Sweep(settings).owner(client, os.path.join(settings.archive, copy), "", "sub")
    return shelf.is_removed(owner)
