"""Exact words -> the messages that hold them, straight from the transcripts, newest session first.

A file is read once, in blocks; a sieve passes over the lines that cannot match, and only the rest are parsed. What is
compared is the text as it may be shown: a secret is no match. A message that stands in several files of a session (an
older generation of its transcript) is given once.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from recall import clients
from recall.actions.transcript import newest, records, shown
from recall.archive.store import generations
from recall.core.facts import Facts
from recall.core.model import EVERYTHING, OUTPUT, Line, Record, Session
from recall.core.pattern import Pattern, Sieve
from recall.core.plain import one_line, plain
from recall.settings import Settings
from recall.store import Store

_BLOCK = 4 << 20
_NEIGHBOUR = 4000  # characters of a neighbour that are looked at: more than are shown, for secrets to be seen whole
_RESULTS = "tool-results"  # beside a transcript: what was too long for it
_HEAD = 50  # lines from the beginning that tell what a file is
BEFORE = 40
AFTER = 100
"""Characters of a snippet round the beginning of a match."""


class Snippet(NamedTuple):
    """A text on one line, cut round a match, which is [start, end) of it (both 0: there is none)."""

    text: str
    start: int
    end: int


class Message(NamedTuple):
    """One message as it is shown: zone, time and tool as in `Record`, `at` is its offset in the transcript."""

    zone: int
    time: float
    tool: str
    at: int
    snippet: Snippet


class Match(NamedTuple):
    """A message that matches, with its neighbours in the conversation if they were asked for."""

    session: Session
    message: Message
    before: tuple[Message, ...] = ()
    after: tuple[Message, ...] = ()


class Source(NamedTuple):
    """A file to search: of which session and client, its path and its bytes. `text`: not a transcript, but what one
    tool printed, which the client kept in a file of its own."""

    session: Session
    client: str
    path: str
    size: int
    text: bool = False


def sources(sessions: Iterable[Session], store: Store, settings: Settings) -> list[Source]:
    """The files of these sessions, in their order: each session's own first, then older ones, then sub-agents."""
    order = {"main": 0, "older": 1, "sub": 2}
    by_session: dict[int, list[tuple[int, int, Source]]] = {}
    rows = {row.no: row for row in sessions}
    looked: dict[str, frozenset[str]] = {}
    for file in store.files():
        row = rows.get(file.session)
        if row is None:
            continue
        mine = by_session.setdefault(row.no, [])
        path = newest(file, settings)
        if path:
            mine.append((order.get(file.kind, 3), file.no, Source(row, file.client, path, _size(path))))
        if file.kind == "main":
            for name in _names(os.path.join(settings.archive, file.copy.removesuffix(".jsonl"), _RESULTS)):
                mine.append((3, file.no, Source(row, file.client, name, _size(name), True)))
        if file.kind in ("main", "sub"):
            for older in _older(file.copy, settings.archive, looked):
                mine.append((1, file.no, Source(row, file.client, older, _size(older))))
    out = []
    for no in rows:
        seen = set()
        for _, _, source in sorted(by_session.get(no, ()), key=lambda item: item[:2]):
            if source.path not in seen:
                seen.add(source.path)
                out.append(source)
    return out


def _names(folder: str) -> list[str]:
    """Paths of the files in a folder, by name; [] when there is none."""
    try:
        return sorted(os.path.join(folder, name) for name in os.listdir(folder))
    except OSError:
        return []


def _older(copy: str, archive: str, looked: dict[str, frozenset[str]]) -> list[str]:
    """Paths of the older generations of a copy; `looked` remembers the names in a folder."""
    folder, name = os.path.split(copy)
    if folder not in looked:
        try:
            looked[folder] = frozenset(os.listdir(os.path.join(archive, folder)))
        except OSError:
            looked[folder] = frozenset()
    if not any(other.startswith(f"{name}.g") for other in looked[folder]):
        return []
    return [os.path.join(archive, one.file) for one in generations(archive, copy) if one.generation]


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def grep(
    pattern: Pattern,
    searched: Iterable[Source],
    settings: Settings,
    *,
    limit: int = 100,
    zones: Collection[int] = EVERYTHING,
    context: int = 0,
    since: float = 0.0,
    before: float = 0.0,
    once: bool = False,
    progress: Callable[[int], None] = lambda size: None,
    trouble: Callable[[str, OSError], None] = lambda path, problem: None,
) -> Iterator[Match]:
    """Messages in `zones` that match, in the order of the files and of the messages in them.

    Beyond `limit` they are only counted: what is given has no text. `since` and `before` bound the time of a message
    where it has one; `context` neighbours are given on each side; `once`: no more than the first of a session.
    `progress` is told bytes; a file that cannot be read is told to `trouble` and passed over.
    """
    look = _Look(pattern, zones, context, since, before)
    done: set[int] = set()  # sessions that need no further look
    seen: set[int] = set()  # messages of the session at hand, in the files before this one
    count, last = 0, -1
    for source in searched:
        no = source.session.no
        if no != last:
            last, seen = no, set()
        if no in done:
            continue
        here: set[int] = set()
        try:
            for match, key in look.matches(source, settings, counting=count >= limit):
                if key in seen:
                    continue
                here.add(key)
                count += 1
                yield match
                if once:
                    done.add(no)
                    break
        except OSError as problem:
            trouble(source.path, problem)
        seen |= here
        progress(source.size)


class _Look:
    """What is looked for, in one file after the other."""

    def __init__(self, pattern: Pattern, zones: Collection[int], context: int, since: float, before: float) -> None:
        self.pattern = pattern
        self.sieve = Sieve(pattern)
        self.zones = frozenset(zones)
        self.context = context
        self.since = since
        self.before = before

    def matches(self, source: Source, settings: Settings, *, counting: bool) -> Iterator[tuple[Match, int]]:
        """Each match of a file with a number by which the same message is known in another file."""
        hits = self._hits(source, settings, counting)
        if not self.context or counting:
            for record, text, place in hits:
                yield Match(source.session, _message(record, text, place)), _key(record)
        elif source.text:
            yield from ((Match(source.session, _message(*hit)), _key(hit[0])) for hit in hits)
        elif any(True for _ in hits):
            yield from self._with_neighbours(source, settings)

    def _hits(
        self, source: Source, settings: Settings, counting: bool
    ) -> Iterator[tuple[Record, str, tuple[int, int]]]:
        if source.text:
            yield from self._in_text(source.path, settings.max_line, counting)
            return
        facts = Facts()
        lines = _head_first(source.path, _candidates(source.path, self.sieve, settings.max_line), facts)
        for record in clients.get(source.client).parse(lines, facts, EVERYTHING, whole=True):
            found = self._find(record, counting)
            if found:
                yield record, *found

    def _in_text(self, path: str, limit: int, counting: bool) -> Iterator[tuple[Record, str, tuple[int, int]]]:
        """One message: what a tool printed; of more than `limit` bytes the beginning."""
        with open(path, "rb") as file:
            raw = file.read(limit)
            if not self.sieve.lines(raw):
                return
            record = Record(OUTPUT, raw.decode("utf-8", "replace"), 0, os.fstat(file.fileno()).st_mtime)
        found = self._find(record, counting)
        if found:
            yield record, *found

    def _find(self, record: Record, counting: bool) -> tuple[str, tuple[int, int]] | None:
        """(the text as it may be shown, where it matches); redaction is only worth its time on what matches without.
        `counting`: the text is not wanted, and not redacted either."""
        if record.zone not in self.zones:
            return None
        time = record.time
        if time and ((self.since and time < self.since) or (self.before and time >= self.before)):
            return None
        if not self.pattern.seeks_marks:
            if not self.pattern.find(plain(record.text)):
                return None
            if counting:
                return "", (0, 0)
        text = shown(record.text)
        place = self.pattern.find(text)
        return (text, place) if place else None

    def _with_neighbours(self, source: Source, settings: Settings) -> Iterator[tuple[Match, int]]:
        """The matches of a file of which every message is read; of a neighbour only the beginning is shown."""
        before: deque[Message] = deque(maxlen=self.context)
        waiting: deque[tuple[Match, int, list[Message]]] = deque()
        for record in records(source.path, source.client, settings, EVERYTHING):
            found = self._find(record, False)
            message = _message(record, *(found or (shown(record.text[:_NEIGHBOUR])[: _NEIGHBOUR // 2], (0, 0))))
            for _, _, after in waiting:
                after.append(message)
            while waiting and len(waiting[0][2]) >= self.context:
                match, key, after = waiting.popleft()
                yield match._replace(after=tuple(after)), key
            if found:
                waiting.append((Match(source.session, message, tuple(before)), _key(record), []))
            before.append(message)
        for match, key, after in waiting:
            yield match._replace(after=tuple(after)), key


def _key(record: Record) -> int:
    return hash((record.zone, record.time, record.text))


def _message(record: Record, text: str, place: tuple[int, int]) -> Message:
    return Message(
        record.zone, record.time, record.tool, record.at, snippet(text, *place) if text else Snippet("", 0, 0)
    )


def snippet(text: str, start: int, end: int) -> Snippet:
    """`text` on one line, cut round [start, end), at blanks where there are some."""
    first = max(0, start - 2 * BEFORE)
    left = one_line(text[first:start])
    glued = start > first and not text[start - 1].isspace()
    match = one_line(text[start : min(end, start + 2 * AFTER)])
    right = one_line(text[end : end + 3 * AFTER]) if end <= start + 2 * AFTER else ""
    cut_left = first > 0
    if len(left) > BEFORE:
        space = left.find(" ", len(left) - BEFORE)
        left = left[space + 1 if 0 <= space < len(left) - 1 else len(left) - BEFORE :]
        cut_left = True
    room = max(0, BEFORE + AFTER - len(left) - len(match))
    cut_right = end + 3 * AFTER < len(text)
    if len(right) > room:
        space = right.rfind(" ", 0, room)
        right = right[: space if space > 0 else room]
        cut_right = True
    head = ("…" if cut_left else "") + left + ("" if glued or not left else " ")
    gap = " " if right and end < len(text) and text[end].isspace() else ""
    return Snippet(f"{head}{match}{gap}{right}{'…' if cut_right else ''}", len(head), len(head) + len(match))


def _head_first(path: str, lines: Iterable[Line], facts: Facts) -> Iterator[Line]:
    """The first lines of the file until they told what it is, then of `lines` those that follow."""
    last = -1
    with open(path, "rb") as file:
        at = 0
        for count, raw in enumerate(iter(lambda: file.readline(_BLOCK), b"")):
            if facts.began or count == _HEAD or not raw.endswith(b"\n"):
                break
            yield Line(at, raw[:-1])
            last = at
            at += len(raw)
    for line in lines:
        if line.at > last:
            yield line


def _candidates(path: str, sieve: Sieve, limit: int) -> Iterator[Line]:
    """The lines of a file that the sieve lets through; those longer than `limit` bytes are passed over."""
    with open(path, "rb", buffering=0) as file:
        at = 0  # of the first byte that was not looked at
        rest: list[bytes] = []
        held = 0
        ended = False
        while not ended:
            block = file.read(_BLOCK)
            ended = not block
            cut = len(block) if ended else block.rfind(b"\n") + 1
            if not cut and not ended:
                held += len(block)
                rest = [*rest, block] if held <= limit else []
                continue
            whole = b"".join(chain(rest, (block[:cut],))) if held <= limit else block[:cut]
            if held > limit:
                skip = whole.find(b"\n") + 1 if whole else 0
                at += held + skip
                whole = whole[skip:]
            for start, end in sieve.lines(whole):
                if end > start:
                    yield Line(at + start, whole[start:end])
            at += len(whole)
            rest, held = [block[cut:]], len(block) - cut
