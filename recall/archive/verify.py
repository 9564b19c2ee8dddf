"""Are the copies still what they were when they were made?"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from recall.archive.append import BLOCK
from recall.archive.store import Copy, copies, generations
from recall.archive.sums import Entry, Sums, fits


class Problem(NamedTuple):
    """One thing that is wrong: `why` is 'missing', 'short', 'damaged' or 'unreadable'.

    `file` is relative to the root; the bytes from `start` up to `end` are concerned, which lie in the 1 MB block
    number `block` (the first of them when there are more).
    """

    file: str
    why: str
    block: int
    start: int
    end: int
    detail: str = ""


class Verified(NamedTuple):
    """What was looked at, and what is wrong. `unsummed` blocks have no sum (yet), at least for a part: no problem."""

    problems: list[Problem]
    files: int
    bytes: int
    blocks: int
    unsummed: int


def verify(root: str, progress: Callable[[int, int], None] | None = None, add: bool = False) -> Verified:
    """Read all copies and compare them with their sums. `progress` is told the bytes done and all of them.

    `add` takes the sums that are missing, of copies that are as they should be. A copy that cannot be read is a problem
    of its own and stops nothing; OSError when a folder cannot be listed.
    """
    sums = Sums(root)
    found = {copy.file: copy for copy in copies(root)}
    entries = _attributed(dict(sums.entries()), found)
    todo, done = sum(copy.size for copy in found.values()), 0
    problems = [
        Problem(file, "missing", 0, 0, entry.length) for file, entry in sorted(entries.items()) if file not in found
    ]
    blocks = unsummed = 0
    for file, copy in found.items():
        entry = entries.get(file, Entry(copy.ino, 0, ""))
        bad = _check(root, file, copy, entry, lambda more: progress(done + more, todo) if progress else None)  # noqa: B023
        problems += bad
        done += copy.size
        if progress:
            progress(done, todo)
        blocks += -(-copy.size // BLOCK)
        if copy.size > entry.length:
            if add and not bad:
                sums.cover(file)
            else:
                unsummed += -(-copy.size // BLOCK) - entry.length // BLOCK
    sums.flush()
    return Verified(problems, len(found), todo, blocks, unsummed)


def damage(root: str, copy: Copy) -> list[Problem]:
    """What is wrong with one copy, by its sums; [] also where it has none."""
    found = {one.file: one for one in generations(root, copy.path)}
    entries = _attributed({file: entry for file, entry in Sums(root).entries().items() if file in found}, found)
    return _check(root, copy.file, copy, entries[copy.file], lambda more: None) if copy.file in entries else []


def _attributed(entries: dict[str, Entry], found: dict[str, Copy]) -> dict[str, Entry]:
    """The entries, each under the file whose sums they are: a copy that a hook set aside took its inode along."""
    families: dict[str, list[Copy]] = {}
    for copy in found.values():
        if copy.generation:
            families.setdefault(copy.path, []).append(copy)
    for file, older in families.items():
        entry = entries.get(file)
        if entry is None or (file in found and found[file].ino == entry.ino):
            continue
        for copy in older:
            if copy.ino == entry.ino:
                del entries[file]
                entries.setdefault(copy.file, entry)
                break
    return entries


def _check(root: str, file: str, copy: Copy, entry: Entry, tell: Callable[[int], None]) -> list[Problem]:
    """What is wrong with one copy."""
    problems = []
    if copy.size < entry.length:
        problems.append(Problem(file, "short", copy.size // BLOCK, copy.size, entry.length))
    whole = min(copy.size // BLOCK, entry.blocks) if copy.size < entry.length else entry.blocks
    try:
        with open(os.path.join(root, file), "rb", buffering=0) as opened:
            for block in range(whole):
                if not fits(opened.fileno(), entry, block):
                    end = min((block + 1) * BLOCK, entry.length)
                    problems.append(Problem(file, "damaged", block, block * BLOCK, end))
                tell(min((block + 1) * BLOCK, copy.size))
    except OSError as error:
        problems.append(Problem(file, "unreadable", 0, 0, copy.size, error.strerror or str(error)))
    return problems
