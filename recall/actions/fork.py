"""A new session with the history of another one up to one message. The other one is only read."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from typing import NamedTuple

from recall.actions.cmd import any_source, home_of, newest_of
from recall.actions.reading import line_range
from recall.actions.restore import create, place_of
from recall.actions.show import MESSAGES, own_file
from recall.actions.transcript import records, shown
from recall.core.model import USER, Record, Session
from recall.core.pattern import compiled
from recall.core.plain import one_line
from recall.core.shorten import shorten
from recall.errors import NothingFound, Refused, Unavailable, Usage
from recall.settings import Settings
from recall.store import Store

_CANDIDATES = 8
_WHOLE = 1 << 62  # behind the end of any transcript


class Cut(NamedTuple):
    """The message that a fork ends with: its number as `show --numbers` has it, counted from 1, its text as it may be
    shown, on one line, and the byte at which its line begins."""

    number: int
    role: str
    text: str
    at: int


class Forking(NamedTuple):
    """What a fork makes: session `new` in the file `path`, from the bytes of the transcript `source`."""

    session: Session
    new: str
    path: str
    source: str
    cut: Cut


def prepare(row: Session, store: Store, settings: Settings, at: str, *, now: float, random: bytes) -> Forking:
    """What a fork of a session would write; nothing is done. `at` is a message's number, or a text in one of the requests.

    `now` in seconds and 16 `random` bytes make the new id. Raises NothingFound where there is no such message, Usage where
    several requests hold the text, Refused for a session of Codex whose own rollout is gone: the new one would build upon it.
    """
    row = newest_of(row, store)
    files = store.files(row.no)
    source, file = own_file(row, store, settings)
    if file.kind == "sub":
        raise NothingFound(f"only parts of session {row.id} are left", "there is nothing to go on from")
    cut = find_cut(records(source, file.client, settings, MESSAGES), at, row)
    home = home_of(row, files, settings)
    if row.client == "codex":
        theirs = any_source(row, files, settings)
        if not theirs or theirs.endswith(".zst"):
            raise Refused(
                f"codex has no plain rollout of session {row.id}, on which a fork would build", _RESTORE.format(row.id)
            )
        new = uuid7(now, random)
        local = time.localtime(now)
        name = f"rollout-{time.strftime('%Y-%m-%dT%H-%M-%S', local)}-{new}.jsonl"
        return Forking(row, new, os.path.join(home, "sessions", time.strftime("%Y/%m/%d", local), name), theirs, cut)
    new = str(uuid.UUID(bytes=random, version=4))
    own = any_source(row, files, settings) or place_of(file, home, row)
    return Forking(row, new, os.path.join(os.path.dirname(own), f"{new}.jsonl"), source, cut)


_RESTORE = "recall restore {0} puts it back; `codex fork {0}` makes a fork with all of it"


def fork(plan: Forking, now: float) -> None:
    """Write the new session's transcript. Unavailable where the transcript is of a kind that cannot be built upon."""
    old = plan.session.id
    lines = line_range(plan.source, 0, _WHOLE)
    if plan.session.client == "codex":
        from recall.clients.codex_fork import forked as head

        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03}Z"
        try:
            made: Iterator[bytes] = iter((head(lines, plan.cut.at, old, plan.new, stamp),))
        except ValueError as problem:
            hint = f"codex fork {old}  makes a fork with all of it"
            raise Unavailable(f"session {old} cannot be forked at a message: {problem}", hint) from None
    else:
        from recall.clients.claude_fork import forked

        made = forked(lines, plan.cut.at, old, plan.new)

    def fill(fd: int) -> None:
        with open(fd, "wb", closefd=False) as file:
            file.writelines(made)

    try:
        create(plan.path, fill, now)
    except FileExistsError:
        raise Refused(f"{plan.path} is there", "nothing was overwritten; try again") from None


def find_cut(found: Iterator[Record], at: str, row: Session) -> Cut:
    """The message that `at` means, of a session's messages in order."""
    said = [record for record in found if shown(record.text).strip()]
    if at.isdecimal():
        number = int(at[-10:]) if not at[:-10].strip("0") else len(said) + 1
        if not 1 <= number <= len(said):
            raise NothingFound(
                f"session {row.id} has {len(said)} messages, none with number {shorten(at, 20)}",
                f"recall show {row.id} --numbers",
            )
        return _cut(number, said[number - 1])
    pattern = compiled([at])
    hits = [
        _cut(n, record) for n, record in enumerate(said, 1) if record.zone == USER and pattern.find(shown(record.text))
    ]
    if not hits:
        raise NothingFound(f"no request of session {row.id} has '{at}' in it", f"recall show {row.id} --numbers")
    if len(hits) > 1:
        lines = "\n".join(f"  {one.number}  {one.text}" for one in hits[:_CANDIDATES])
        more = f"\n  … {len(hits) - _CANDIDATES} more" if len(hits) > _CANDIDATES else ""
        raise Usage(
            f"{len(hits)} requests have '{at}' in them:\n{lines}{more}", "--at takes the number, or more of the text"
        )
    return hits[0]


def _cut(number: int, record: Record) -> Cut:
    role = "user" if record.zone == USER else "assistant"
    return Cut(number, role, shorten(one_line(shown(record.text)), 80), record.at)


def uuid7(now: float, random: bytes) -> str:
    """An id as Codex makes them (RFC 9562, version 7): they sort by time."""
    value = (int(now * 1000) & (1 << 48) - 1) << 80 | int.from_bytes(random[:10], "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))
