"""What a session wrote into files: its changes replayed, given back into a folder of the person's choice."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module

from recall import clients
from recall.actions.reading import Reading
from recall.actions.show import MESSAGES, own_file
from recall.actions.transcript import newest
from recall.core.change import Change, Replayed, replay
from recall.core.facts import Facts
from recall.core.model import Session
from recall.errors import NothingFound, Refused, Usage
from recall.files import make_private_dir
from recall.settings import Settings
from recall.store import Store

OUTSIDE = "outside"
"""Folder for files that lay outside of the session's own."""


def written(row: Session, store: Store, settings: Settings, *, at: int | None = None) -> list[Replayed]:
    """The files that a session and its sub-agents changed, as they stood at its end or behind its message `at` (1 is the
    first thing that was said, by either side). Usage where it has no such message."""
    main, file = own_file(row, store, settings)
    stop, before = _end(main, file.client, settings, at) if at is not None else (None, None)
    streams = [changes_of(main, file.client, settings)]
    for other in store.files(row.no):
        path = newest(other, settings) if other.kind == "sub" else ""
        if path and path != main:
            streams.append(
                change for change in changes_of(path, other.client, settings) if before is None or change.time < before
            )
    if stop is not None:
        streams[0] = (change for change in streams[0] if change.at < stop)
    return list(replay(_by_time(streams)).values())


def changes_of(path: str, client: str, settings: Settings) -> Iterator[Change]:
    """The changes that one transcript tells of, in order; OSError when it cannot be read."""
    module = import_module(f"recall.clients.{client}_changes")
    found: Iterator[Change] = module.changes(Reading(path, 0, Facts(), settings.max_line).lines())
    return found


def _by_time(streams: Sequence[Iterable[Change]]) -> Iterator[Change]:
    """All of them by time; within one stream the order stays, whatever its times say."""

    def stamped(stream: Iterable[Change], number: int) -> Iterator[tuple[float, int, int, Change]]:
        latest = 0.0
        for n, change in enumerate(stream):
            latest = max(latest, change.time)
            yield latest, number, n, change

    for *_, change in heapq.merge(*(stamped(stream, number) for number, stream in enumerate(streams))):
        yield change


def _end(path: str, client: str, settings: Settings, at: int) -> tuple[int | None, float | None]:
    """Offset and time of the message behind the one of number `at`; None where that is the last one."""
    lines = Reading(path, 0, Facts(), settings.max_line).lines()
    count = 0
    for record in clients.get(client).parse(lines, Facts(), MESSAGES):
        if record.zone not in MESSAGES:
            continue
        count += 1
        if count == at + 1:
            return record.at, record.time or None
    if count < at:
        raise Usage(f"the session has {count} messages, not {at}", "recall show ID --numbers shows them")
    return None, None


def one_of(files: Sequence[Replayed], path: str, cwd: str) -> Replayed:
    """The file that a whole path, one from the session's folder, or any tail of one means.

    NothingFound where there is none, Usage where several have that tail.
    """
    whole = os.path.normpath(os.path.join(cwd, path))
    exact = [file for file in files if file.path in (whole, path)]
    found = exact or [file for file in files if file.path.endswith("/" + path.lstrip("./"))]
    if not found:
        raise NothingFound(f"the session did not change {path}", "without PATH all files are listed")
    if len(found) > 1:
        names = "\n".join(f"  {file.path}" for file in found[:12])
        raise Usage(f"{path} could be {len(found)} files:\n{names}", "give more of the path")
    return found[0]


def target(path: str, cwd: str) -> str:
    """Where a file goes below the folder that it is given back into: relative, and never above that folder."""
    inside = cwd and path.startswith(cwd.rstrip("/") + "/")
    rest = path[len(cwd.rstrip("/")) + 1 :] if inside else f"{OUTSIDE}/{path}".replace("\\", "/").replace(":", "")
    parts = [part for part in rest.replace("\0", "").split("/") if part not in ("", ".", "..")]
    return "/".join(parts)


def give_back(files: Iterable[Replayed], cwd: str, folder: str) -> list[str]:
    """Write the files whose text is known below `folder`; the paths that were written.

    Nothing that exists is touched: one such file is Refused, and then nothing is written at all. Files are 0600, in
    folders 0700: they may hold what the session's own did.
    """
    wanted = [(os.path.join(folder, target(file.path, cwd)), file.text) for file in files if file.text is not None]
    root = os.path.realpath(folder)
    for path, _ in wanted:
        above = os.path.dirname(path)
        if above != folder and not (os.path.realpath(above) + os.sep).startswith(root.rstrip(os.sep) + os.sep):
            raise Refused(f"{above} is a link that leads out of {folder}; nothing was written", "--to an empty folder")
    there = [path for path, _ in wanted if os.path.lexists(path)]
    if there:
        more = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise Refused(f"{there[0]}{more} exists already; nothing was written", "--to an empty folder")
    done: list[str] = []
    for path, text in wanted:
        make_private_dir(os.path.dirname(path))
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            raise Refused(f"{path} exists already", f"{len(done)} files were written before it") from None
        with open(fd, "wb") as out:
            out.write(text.encode("utf-8", "replace"))
        done.append(path)
    return done
