"""Copies of the clients' lists of typed prompts and names, without the lines of purged sessions.

As long as nothing was purged such a list is copied like any other file. From the first purge on its copy is kept
filtered: every line is looked at before it is appended, so the copy is no longer at the source's own offsets.

Formats (observed): Claude Code `history.jsonl` {display, project, timestamp, sessionId; older ones name no session};
Codex `history.jsonl` {session_id, text, ts} and `session_index.jsonl` {id, thread_name}.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator

import orjson

from recall.archive import append
from recall.archive.kept import Kept
from recall.archive.store import generations
from recall.archive.sums import Sums
from recall.files import make_private_dir, write_atomic

_LINES = "purged-lines"
_KEYS = ("sessionId", "session_id", "id")


class Purged:
    """What must never be copied again: `ids` of sessions, and lines that name no session, by their SHA-256."""

    def __init__(self, state: str, ids: frozenset[str]) -> None:
        self._state = state
        self.ids = ids
        try:
            with open(os.path.join(state, _LINES), encoding="ascii", errors="replace") as file:
                self._lines = frozenset(file.read().split())
        except FileNotFoundError:
            self._lines = frozenset()

    def __bool__(self) -> bool:
        return bool(self.ids)

    def covers(self, raw: bytes) -> bool:
        """Is this line of a list one of a purged session?"""
        session = session_of(raw)
        if session is not None:
            return session in self.ids
        return _sum(raw) in self._lines or any(number.encode() in raw for number in self.ids)

    def add_lines(self, lines: Iterable[bytes]) -> None:
        """Remember lines that name no session."""
        more = self._lines | {_sum(raw) for raw in lines}
        if more != self._lines:
            make_private_dir(self._state)
            write_atomic(os.path.join(self._state, _LINES), "".join(f"{one}\n" for one in sorted(more)).encode())
            self._lines = more


def session_of(raw: bytes) -> str | None:
    """The session that a line of a list names; None where it names none."""
    try:
        item = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    if isinstance(item, dict):
        for key in _KEYS:
            if isinstance(item.get(key), str):
                return str(item[key])
    return None


def typed_in(raw: bytes, folders: Collection[str], texts: Collection[str]) -> bool:
    """Does a line that names no session hold one of these prompts, typed in one of these folders?"""
    if session_of(raw) is not None:
        return False
    try:
        item = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return False
    if not isinstance(item, dict) or not isinstance(item.get("display"), str):
        return False
    return item.get("project") in folders and item["display"].strip() in texts


def keep_filtered(root: str, copy: str, source: str, purged: Purged, sums: Sums) -> Kept:
    """Bring the copy (relative to the root) up to date with the lines of `source` that may be kept; see `append` for
    the kinds of result. OSError as `append`."""
    path = os.path.join(root, copy)
    with open(source, "rb") as file:
        data = file.read()
    whole = data[: data.rfind(b"\n") + 1]
    wanted = b"".join(raw for raw in _split(whole) if not purged.covers(raw.rstrip()))
    before = os.path.exists(path)
    fd = append.hold(path)
    try:
        length = os.fstat(fd).st_size
        have = os.pread(fd, length, 0)
        if have.startswith(wanted):
            return Kept("same", len(data), 0, length)
        kind = "grown" if before else "new"
        if wanted.startswith(have):
            append.write_at(fd, wanted[length:], length)
        else:
            append.set_aside(path)
            kind, length = "generation", 0
    finally:
        os.close(fd)
    if kind == "generation":
        fd = append.hold(path)
        try:
            append.write_at(fd, wanted, 0)
        finally:
            os.close(fd)
    sums.cover(copy, fresh=kind == "new")
    return Kept(kind, len(data), len(wanted) - length, len(wanted))


def strip(root: str, copy: str, gone: Callable[[bytes], bool], sums: Sums) -> int:
    """Write a list's copy and its older generations anew without the lines that are `gone`; how many went.

    A last line without an end goes as well: it is torn, and comes again whole.
    """
    count = 0
    for one in generations(root, copy):
        path = os.path.join(root, one.file)
        with open(path, "rb") as file:
            lines = _split(file.read())
        keep = [raw for raw in lines if raw.endswith(b"\n") and not gone(raw.rstrip())]
        if len(keep) == len(lines):
            continue
        count += len(lines) - len(keep)
        write_atomic(path, b"".join(keep))
        name = one.file
        sums.forget(lambda file, name=name: file == name)  # type: ignore[misc]
        if keep:
            sums.cover(name, fresh=True)
    sums.flush()
    return count


def lists(root: str, prefixes: Iterable[tuple[str, Collection[str]]]) -> Iterator[str]:
    """The copies of lists that the archive holds: `prefixes` are (folder of a home's copies, names of its lists)."""
    for prefix, names in prefixes:
        for name in names:
            if generations(root, f"{prefix}/{name}"):
                yield f"{prefix}/{name}"


def _split(data: bytes) -> list[bytes]:
    """Lines with their ends; only a line feed ends one."""
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + [part for part in parts[-1:] if part]


def _sum(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
