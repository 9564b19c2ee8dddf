"""The archive as a whole: what is in it, a close look at one copy, and taking a session out for good."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from recall.archive.append import BLOCK, append
from recall.archive.kept import Kept, same_time
from recall.archive.sums import Sums
from recall.archive.unpack import SUFFIX, unpack

CLIENTS = ("claude", "codex")

_GENERATION = re.compile(r"(.+)\.g([1-9][0-9]*)", re.DOTALL)
_SAMPLE = 4096  # bytes of each block of a copy, and at its end, that must agree before it grows


class Copy(NamedTuple):
    """One file of the archive. `path` is relative to the root and without the generation's suffix.

    `generation` is 0 for the newest, which has the plain name, else the N of `<name>.g<N>` (the larger the newer).
    """

    path: str
    generation: int
    size: int
    mtime_ns: int
    ino: int

    @property
    def file(self) -> str:
        """Where it lies, relative to the root."""
        return f"{self.path}.g{self.generation}" if self.generation else self.path


def copies(root: str) -> Iterator[Copy]:
    """All copies, folder by folder, in the order of their names. A root that is missing holds none.

    A folder that cannot be read raises OSError: it must not look like an empty one.
    """
    try:
        names = sorted(item.name for item in os.scandir(root) if item.is_dir(follow_symlinks=False))
    except FileNotFoundError:
        return
    for name in names:
        if not name.startswith(".recall"):
            yield from _walk(root, name)


def _walk(root: str, folder: str) -> Iterator[Copy]:
    with os.scandir(os.path.join(root, folder)) as found:
        items = sorted(found, key=lambda item: item.name)
    for item in items:
        path = f"{folder}/{item.name}"
        if item.is_dir(follow_symlinks=False):
            yield from _walk(root, path)
        elif item.is_file(follow_symlinks=False):
            status = item.stat(follow_symlinks=False)
            older = _GENERATION.fullmatch(path)
            if not older:
                yield Copy(path, 0, status.st_size, status.st_mtime_ns, item.inode())
            elif status.st_size:  # an empty one is a name that was claimed and not used
                yield Copy(older[1], int(older[2]), status.st_size, status.st_mtime_ns, item.inode())


def generations(root: str, path: str) -> list[Copy]:
    """The copies of one file, newest first; [] if there is none. `path` is relative to the root."""
    folder, name = os.path.split(path)
    found = []
    try:
        with os.scandir(os.path.join(root, folder)) as items:
            for item in items:
                older = _GENERATION.fullmatch(item.name) if item.name != name else None
                if (item.name == name or (older and older[1] == name)) and item.is_file(follow_symlinks=False):
                    status = item.stat(follow_symlinks=False)
                    number = int(older[2]) if older else 0
                    if status.st_size or not number:
                        found.append(Copy(path, number, status.st_size, status.st_mtime_ns, item.inode()))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(found, key=lambda copy: (copy.generation != 0, -copy.generation))


def refresh(root: str, path: str, source: str, sums: Sums | None = None, force: bool = False) -> Kept:
    """Bring the copy at `path` (relative to the root) up to date with `source`, looking closer than a hook can.

    Contents are compared whole where the lengths are equal but the modification time is not, or when the caller has a
    reason to doubt (`force`: another inode than last time). Where bytes came since the last sweep, samples of 4 KB
    are compared: a transcript mostly grows, and to read all of it each time would cost more than it finds.
    With `sums`, the bytes that have none get theirs.
    A source that ends in `.zst` is kept unpacked, at the path without that suffix.
    OSError as `append`: a source that is missing is the caller's to notice, and no copy is ever removed for it.
    """
    path = path.removesuffix(SUFFIX) if source.endswith(SUFFIX) else path
    copy = os.path.join(root, path)
    if source.endswith(SUFFIX):
        kept = unpack(source, copy, force)
    else:
        kept = _refresh_plain(path, copy, source, sums, force)
    if sums is not None and kept.length and (kept.kind != "same" or path not in sums.entries() or kept.read):
        sums.cover(path, fresh=kept.kind == "new")
    return kept


def _refresh_plain(path: str, copy: str, source: str, sums: Sums | None, force: bool) -> Kept:
    here = os.stat(source)
    try:
        there = os.stat(copy)
    except FileNotFoundError:
        return Kept(*append(source, copy))
    distrust = read = 0
    touched = force or (here.st_size == there.st_size and not same_time(there, here))
    if 0 < there.st_size <= here.st_size:
        news = here.st_size > there.st_size or (sums is not None and sums.covered(path, there.st_ino) < there.st_size)
        if touched or news:
            agree, read = _agree(source, copy, there.st_size, whole=touched)
            distrust = 0 if agree else there.st_ino
    kept = Kept(*append(source, copy, distrust))
    if kept.kind == "same" and touched and kept.length == here.st_size:
        os.utime(copy, ns=(here.st_atime_ns, here.st_mtime_ns))  # compared: next time the times are enough
    return kept._replace(read=kept.read + read)


def _agree(source: str, copy: str, length: int, whole: bool) -> tuple[bool, int]:
    """Whether both files begin with the same `length` bytes, and how many of them were read."""
    read = 0
    with open(source, "rb", buffering=0) as old, open(copy, "rb", buffering=0) as new:
        for start, size in _ranges(length, whole):
            ours, theirs = (os.pread(file.fileno(), size, start) for file in (new, old))
            read += len(theirs)
            if ours != theirs:
                return False, read
    return True, read


def _ranges(length: int, whole: bool) -> Iterator[tuple[int, int]]:
    """What to compare of `length` bytes, as (offset, size): all, or a sample of each block and one at the end."""
    if whole or length <= 3 * _SAMPLE:
        for start in range(0, length, BLOCK):
            yield start, min(BLOCK, length - start)
        return
    for start in range(0, length - 2 * _SAMPLE, BLOCK):
        yield start, _SAMPLE
    yield length - _SAMPLE, _SAMPLE


def adopted(root: str) -> frozenset[str]:
    """Folders that an earlier tool left directly in the root, for `append.locate`: one look at the root."""
    try:
        with os.scandir(root) as found:
            return frozenset(
                item.name
                for item in found
                if item.name not in CLIENTS
                and not item.name.startswith(".recall")
                and item.is_dir(follow_symlinks=False)
            )
    except FileNotFoundError:
        return frozenset()


def remove(root: str, *paths: str) -> list[str]:
    """Delete copies for good, all generations of each, with their sums; gives the files that went.

    A path names a copy or a folder of them, relative to the root; the place where an earlier tool would have kept
    it goes as well, and folders that are empty then. ValueError for a path that leads out of the root.
    The caller marks the session as purged first, else a hook may copy it again.
    """
    places: list[str] = []
    for path in paths:
        parts = path.split("/")
        if any(part in ("", ".", "..") for part in parts):
            raise ValueError(f"not a path inside the archive: {path!r}")
        places.append(path)
        if parts[0] == "claude" and len(parts) > 2:
            places.append("/".join(parts[1:]))
    gone: list[str] = []
    for place in places:
        gone += _unlink_all(root, place)
        _prune(root, os.path.dirname(place))
    Sums(root).forget(lambda file: any(_is_of(file, place) for place in places))
    return gone


def _is_of(file: str, place: str) -> bool:
    """Whether the file is the copy at `place`, a generation of it, or inside the folder at `place`."""
    if not file.startswith(place):
        return False
    older = _GENERATION.fullmatch(file)
    return file == place or file.startswith(place + "/") or bool(older and older[1] == place)


def _unlink_all(root: str, path: str) -> list[str]:
    top = os.path.join(root, path)
    files = []
    if os.path.isdir(top) and not os.path.islink(top):
        for folder, _, names in os.walk(top, topdown=False):
            for name in names:
                files.append(os.path.relpath(os.path.join(folder, name), root))
                os.unlink(os.path.join(folder, name))
            os.rmdir(folder)
    folder, name = os.path.split(path)
    if os.path.isdir(os.path.join(root, folder)):
        for other in os.listdir(os.path.join(root, folder)):
            older = _GENERATION.fullmatch(other)
            if other == name or (older and older[1] == name):
                os.unlink(os.path.join(root, folder, other))
                files.append(f"{folder}/{other}" if folder else other)
    return files


def _prune(root: str, folder: str) -> None:
    """Remove the folder and those above it while they are empty; the root stays."""
    while folder:
        try:
            os.rmdir(os.path.join(root, folder))
        except OSError:
            return
        folder = os.path.dirname(folder)
