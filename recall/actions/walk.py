"""What the clients keep: every file under their homes that is ours to copy, with its size and time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Set
from typing import NamedTuple

from recall import clients
from recall.archive.append import PURGED
from recall.clients.base import Places
from recall.core.model import Place
from recall.settings import Settings


class Found(NamedTuple):
    """One file: where it lies (absolute), what it is, and what `stat` says (bytes, ns, inode)."""

    client: str
    path: str
    place: Place
    size: int
    mtime: int
    ino: int


class Home(NamedTuple):
    """One home of a client. `prefix` is what stands before its copies' paths: the client's name, or for
    further homes the name and a number made from the path, so that equal names do not meet."""

    client: str
    path: str
    prefix: str


def homes(settings: Settings) -> list[Home]:
    """All homes of all clients, whether they exist or not."""
    return [
        Home(name, path, name if n == 0 else _further(name, path))
        for name in clients.NAMES
        for n, path in enumerate(settings.homes(name))
    ]


def _further(name: str, path: str) -> str:
    from zlib import crc32

    return f"{name}@{crc32(os.fsencode(path)):08x}"


Seen = Set[tuple[str, int, int, int]]
"""Files as they were seen last: path, and what `stat` said (bytes, ns, inode)."""


def walk(home: Home, trouble: Callable[[str, OSError], None], seen: Seen = frozenset()) -> Iterator[Found]:
    """All files of ours under one home, but those that are as in `seen`. What cannot be read is told to `trouble` and
    passed over."""
    client = clients.places(home.client)
    for name in client.files:
        path = os.path.join(home.path, name)
        try:
            status = os.stat(path)
        except FileNotFoundError:
            continue
        except OSError as problem:
            trouble(path, problem)
            continue
        if (path, status.st_size, status.st_mtime_ns, status.st_ino) in seen:
            continue
        place = client.place(name)
        if place is not None:
            yield Found(home.client, path, _at(home, place), status.st_size, status.st_mtime_ns, status.st_ino)
    for name in client.folders:
        yield from _folder(client, home, name, trouble, seen, top=True)


def _folder(
    client: Places,
    home: Home,
    relative: str,
    trouble: Callable[[str, OSError], None],
    seen: Seen,
    *,
    top: bool = False,
) -> Iterator[Found]:
    folder = os.path.join(home.path, relative)
    try:
        with os.scandir(folder) as items:
            entries = list(items)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        return
    except OSError as problem:
        trouble(folder, problem)
        return
    for entry in entries:
        path = entry.path
        try:
            if entry.is_dir(follow_symlinks=top):
                yield from _folder(client, home, f"{relative}/{entry.name}", trouble, seen)
                continue
            status = entry.stat()
            if (path, status.st_size, status.st_mtime_ns, status.st_ino) in seen:
                continue
            place = client.place(f"{relative}/{entry.name}")
            if place is None or not entry.is_file():
                continue
        except FileNotFoundError:
            continue
        except OSError as problem:
            if client.place(f"{relative}/{entry.name}") is not None:
                trouble(path, problem)
            continue
        yield Found(home.client, path, _at(home, place), status.st_size, status.st_mtime_ns, status.st_ino)


def purged_ids(settings: Settings) -> frozenset[str]:
    """Ids of purged sessions (and names of their transcripts that bear no id): never copied again."""
    try:
        return frozenset(os.listdir(os.path.join(settings.state, PURGED)))
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()


def stem(path: str) -> str:
    """The name of a transcript without its endings."""
    return os.path.basename(path).removesuffix(".zst").removesuffix(".jsonl")


def look(home: Home, path: str) -> Found | None:
    """One file by its path; None when it is not ours or not there."""
    relative = os.path.relpath(path, home.path)
    if relative.startswith(".."):
        return None
    place = clients.places(home.client).place(relative.replace(os.sep, "/"))
    if place is None:
        return None
    try:
        status = os.stat(path)
    except OSError:
        return None
    return Found(home.client, path, _at(home, place), status.st_size, status.st_mtime_ns, status.st_ino)


def _at(home: Home, place: Place) -> Place:
    if home.prefix == home.client:
        return place
    return place._replace(archive=home.prefix + place.archive[len(home.client) :])


def unfinished(settings: Settings) -> str:
    """The mark of a purge whose words are still in the index: there until that is made anew."""
    return os.path.join(settings.state, "purging")
