"""A transcript as it is now: its copy, or the client's own file where that has grown behind the copy."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator

from recall import clients
from recall.actions.reading import Reading
from recall.core.facts import Facts
from recall.core.model import Line, Record, Transcript
from recall.core.plain import plain
from recall.core.redact import redact
from recall.settings import Settings

_SAME = 4096  # bytes before the end of the copy that must be those of the source
_TAIL = 256 << 10  # bytes from the end that are read first


def newest(file: Transcript, settings: Settings) -> str:
    """The file to read for one transcript: the source if it begins with the copy and is longer, or where there is no
    copy (its disk is not mounted); else the copy. '' when neither can be read."""
    copy = os.path.join(settings.archive, file.copy)
    source = file.source if file.kind != "older" else ""
    if not os.path.isfile(copy):
        return source if os.path.isfile(source) and not source.endswith(".zst") else ""
    try:
        kept = os.stat(copy).st_size
        if source.endswith(".zst") or not os.path.isfile(source) or os.stat(source).st_size <= kept:
            return copy
        start = max(0, kept - _SAME)
        with open(copy, "rb") as ours, open(source, "rb") as theirs:
            ours.seek(start)
            theirs.seek(start)
            return source if ours.read(kept - start) == theirs.read(kept - start) else copy
    except OSError:
        return copy


def records(path: str, client: str, settings: Settings, want: Collection[int]) -> Iterator[Record]:
    """All records of the wanted zones of one file, in order; OSError when it cannot be read."""
    facts = Facts()
    return clients.get(client).parse(Reading(path, 0, facts, settings.max_line).lines(), facts, want, whole=True)


def tail(path: str, client: str, want: Collection[int], least: Collection[int], count: int) -> list[Record]:
    """The last records of a file, at least `count` of them in the zones `least` where there are as many.

    Read from the end: of a long transcript not more than is needed.
    """
    size = os.path.getsize(path)
    length = _TAIL
    while True:
        found = list(clients.get(client).parse(_from(path, max(0, size - length)), Facts(), want))
        if length >= size or sum(1 for record in found if record.zone in least) >= count:
            return found
        length *= 4


def _from(path: str, start: int) -> Iterator[Line]:
    """The whole lines that begin behind byte `start`, or the first one of the file."""
    with open(path, "rb") as file:
        at = start
        if start:
            file.seek(start - 1)
            at += len(file.readline()) - 1
        for raw in file:
            yield Line(at, raw.rstrip(b"\n"))
            at += len(raw)


def shown(text: str) -> str:
    """Text of a transcript as it may be shown: without terminal escapes and without secrets.

    Escapes go first: a secret with one inside would be whole again afterwards.
    """
    return redact(plain(text))
