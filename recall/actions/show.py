"""What a session was, from its transcripts: its first and last words, what it changed, and where it is kept."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

import orjson

from recall.actions.cmd import source_of
from recall.actions.transcript import newest, records, shown, tail
from recall.archive.store import Copy, generations
from recall.clients.tooluse import describe
from recall.core.model import ACTION, ASSISTANT, SPOKEN, USER, Record, Session, Transcript
from recall.core.pattern import Pattern
from recall.core.plain import one_line
from recall.errors import NothingFound
from recall.settings import Settings
from recall.store import Store

MESSAGES = frozenset((USER, ASSISTANT))
AROUND = 5
"""Messages shown on each side of the first hit."""
_RECORDS = 500  # records kept of what is before a hit, however few messages are among them

_SHELLS = frozenset(
    ("bash", "shell", "exec_command", "shell_command", "local_shell", "container.exec", "powershell", "run_command")
)


class Kept(NamedTuple):
    """Where one transcript is: `source` the client's file ('' when it is gone), `was` where that was, `copies` those in
    the archive, newest first."""

    file: Transcript
    source: str
    was: str
    copies: list[Copy]


class Overview(NamedTuple):
    """What a page about a session says. Texts are as they may be shown; `edited` holds (tool, path) in order, each
    once; `commands` and `agents` are counts; `kept` lists its own transcripts, then those of sub-agents."""

    session: Session
    version: str
    first_ask: str
    last_ask: str
    last_answer: str
    edited: list[tuple[str, str]]
    commands: int
    agents: int
    kept: list[Kept]

    @property
    def own(self) -> list[Kept]:
        return [kept for kept in self.kept if kept.file.kind == "main"]

    @property
    def archived_only(self) -> bool:
        """Is the client's own transcript gone?"""
        return not any(kept.source for kept in self.own)


def overview(row: Session, store: Store, settings: Settings) -> Overview:
    """Read a session's transcripts through once. A transcript that cannot be read is left out."""
    facts = store.facts_of(row.no, orjson.loads)
    own = [one for file, one in facts if file.kind == "main"] or [one for _, one in facts]
    kept = [_kept(file, settings) for file in _sorted(file for file, _ in facts)]
    last_ask, last_answer, commands = "", "", 0
    edited: dict[tuple[str, str], None] = {}
    for one in kept:
        if one.file.kind == "older":
            continue
        mine = one.file.kind == "main"
        try:
            for record in records(newest(one.file, settings), one.file.client, settings, SPOKEN):
                if record.zone == ACTION:
                    commands += record.tool.lower() in _SHELLS
                    for path in edits(record):
                        edited.setdefault((record.tool, shown(path)))
                elif mine and record.zone == USER:
                    last_ask = record.text
                elif mine and record.zone == ASSISTANT:
                    last_answer = record.text
        except OSError:
            continue
    return Overview(
        row,
        next((one.client_version for one in own if one.client_version), ""),
        shown(row.ask or next((one.first_ask for one in own if one.first_ask), "")),
        shown(last_ask),
        shown(last_answer),
        list(edited),
        commands,
        sum(1 for one in kept if one.file.kind == "sub"),
        kept,
    )


def _sorted(files: Iterable[Transcript]) -> list[Transcript]:
    order = {"main": 0, "older": 1, "sub": 2}
    return sorted(files, key=lambda file: (order.get(file.kind, 3), file.no))


def _kept(file: Transcript, settings: Settings) -> Kept:
    source = source_of(file.source) if file.kind != "older" else ""
    return Kept(file, source, file.source, generations(settings.archive, file.copy))


def edits(record: Record) -> list[str]:
    """Paths that an action changed; [] when it is no edit."""
    if not describe(record.tool, {}, False).edit and "apply_patch" not in record.text:
        return []
    rest = one_line(record.text.removeprefix(record.tool)).removeprefix("apply_patch ")
    if "/" not in rest and "." not in rest:
        return []
    if record.tool.lower() in ("edit", "write", "multiedit"):
        return [rest]
    return [word for word in rest.split() if ("/" in word or "." in word[1:]) and word[0] not in "<-'\"$&|("][:40]


# -- the conversation ------------------------------------------------------------------------------------------


def own_file(row: Session, store: Store, settings: Settings) -> tuple[str, Transcript]:
    """(path to read, transcript) of a session's fullest own transcript; of a lost session that of a sub-agent.

    NothingFound when neither the client nor the archive has one.
    """
    best: tuple[int, str, Transcript] | None = None
    for file in _sorted(store.files(row.no)):
        path = newest(file, settings)
        if not path:
            continue
        size = os.path.getsize(path)
        if best is None or (file.kind == best[2].kind and size > best[0]):
            best = (size, path, file)
    if best is None:
        raise NothingFound(
            f"no transcript of session {row.id} can be read", "is the archive's disk mounted? recall doctor"
        )
    return best[1], best[2]


def last_messages(path: str, client: str, zones: Collection[int], count: int) -> list[Record]:
    """The last `count` messages of the human and the assistant, with what of `zones` lies between and behind them."""
    found = tail(path, client, zones, MESSAGES, count)
    places = [n for n, record in enumerate(found) if record.zone in MESSAGES]
    return found[places[-count] :] if len(places) > count else found


def around(found: Iterable[Record], pattern: Pattern) -> Iterator[Record]:
    """The first record that matches, with the messages before and behind it. Nothing when none does."""
    before: deque[Record] = deque(maxlen=_RECORDS)
    messages, left = 0, -1
    for record in found:
        said = record.zone in MESSAGES
        if left >= 0:
            left -= said
            if left < 0:
                return
            yield record
        elif pattern.find(record.text) and pattern.find(shown(record.text)):
            left = AROUND
            yield from before
            yield record
        else:
            before.append(record)
            messages += said
            while messages > AROUND:
                messages -= before.popleft().zone in MESSAGES
