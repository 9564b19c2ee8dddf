"""Checksums of the copies, for `verify`: one append-only text file, `.recall-sums` in the root.

A line is `path TAB inode TAB first TAB length TAB crcs`: from its block `first` on, the copy at `path` (relative to
the root) has these CRC-32s, 8 hexadecimal digits a block of 1 MB, up to `length` bytes; the last block may be a part
of one. Later lines win. A line whose crcs do not fit its length is no line: so a torn one is not believed.

The inode tells whose sums they are after a hook set a copy aside without a word to this file: the sums went with
the inode. It is no more than a hint, since an archive that moved to another disk has other inodes. The copies are
the truth: without this file nothing is lost but the check.
"""

from __future__ import annotations

import fcntl
import os
import re
import zlib
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import NamedTuple

from recall.archive.append import BLOCK, write_at
from recall.files import write_atomic

NAME = ".recall-sums"

_LINE = re.compile(rb"^([^\t\n]+)\t(\d{1,20})\t(\d{1,9})\t(\d{1,15})\t([0-9a-f]*)\n", re.MULTILINE)
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n"}
_ESCAPED = re.compile(r"[\\\t\n]")
_UNESCAPED = re.compile(r"\\(.)")
_PENDING = 4096  # lines kept in memory before they are written


class Entry(NamedTuple):
    """The sums of one copy: its inode when they were taken, the bytes they cover, 8 digits a block."""

    ino: int
    length: int
    crcs: str

    def crc(self, block: int) -> int:
        return int(self.crcs[block * 8 : block * 8 + 8], 16)

    @property
    def blocks(self) -> int:
        return len(self.crcs) // 8


def parse(data: bytes) -> tuple[dict[str, Entry], int]:
    """The entries of a sums file by path, and the number of lines that said so. Takes any bytes."""
    entries: dict[str, Entry] = {}
    lines = 0
    for match in _LINE.finditer(data):
        lines += 1
        name, ino, first, length, crcs = match.groups()
        path = _plain(name.decode("utf-8", "surrogateescape"))
        entry = Entry(int(ino), int(length), crcs.decode("ascii"))
        skip = int(first)
        if len(entry.crcs) != 8 * (_blocks(entry.length) - skip):
            continue
        if skip:
            before = entries.get(path)
            if before is None or before.ino != entry.ino or before.blocks < skip:
                continue
            entry = Entry(entry.ino, entry.length, before.crcs[: skip * 8] + entry.crcs)
        entries[path] = entry
    return entries, lines


def line(path: str, entry: Entry, first: int = 0) -> bytes:
    """The line that says `entry` of `path` from the block `first` on."""
    name = _ESCAPED.sub(lambda found: _ESCAPES[found[0]] if found[0] == "\\" else "\\" + _letter(found[0]), path)
    text = f"{name}\t{entry.ino}\t{first}\t{entry.length}\t{entry.crcs[first * 8 :]}\n"
    return text.encode("utf-8", "surrogateescape")


class Sums:
    """The sums of the archive at `root`, loaded at first use; new ones are written by `flush` or when a `with` ends."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._file = os.path.join(root, NAME)
        self._entries: dict[str, Entry] | None = None
        self._lines = 0
        self._pending: list[bytes] = []

    def __enter__(self) -> Sums:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.flush()

    def entries(self) -> Mapping[str, Entry]:
        """All entries by the copy's path in the root."""
        if self._entries is None:
            try:
                with open(self._file, "rb") as file:
                    self._entries, self._lines = parse(file.read())
            except FileNotFoundError:
                self._entries = {}
        return self._entries

    def covered(self, path: str, ino: int) -> int:
        """Bytes of the copy at `path`, whose inode is `ino`, that have sums as far as the file says (0: none)."""
        entry = self.entries().get(path)
        return entry.length if entry and entry.ino == ino else 0

    def cover(self, path: str, fresh: bool = False) -> None:
        """Take the sums of those bytes of a copy that have none yet; only those are read.

        `fresh`: the copy was just made, sums of this path are those of another file. Where the inode says that
        the sums belong to a copy that was set aside, they go with it; where it says nothing (the archive was moved),
        they are checked, and left alone if they do not fit: that is for `verify` to report. OSError.
        """
        with open(os.path.join(self._root, path), "rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            entry = self.entries().get(path)
            if entry and entry.ino != status.st_ino:
                older = self._set_aside_as(path, entry.ino)
                if older:
                    if older not in self.entries():
                        self._put(older, entry, 0)
                    self.cover(older)
                    entry = None
                elif fresh:
                    entry = None
                elif first_wrong(file.fileno(), entry, status.st_size) is None:
                    entry = entry._replace(ino=status.st_ino)
                else:
                    return
            elif fresh:
                entry = None
            if entry and entry.length >= status.st_size and entry is self.entries().get(path):
                return
            first = 0
            if entry and entry is self.entries().get(path):
                first = entry.length // BLOCK
            grown = _read_on(file.fileno(), entry or Entry(status.st_ino, 0, ""), status.st_size)
            if grown.length:
                self._put(path, grown, first)

    def flush(self) -> None:
        """Write what is new; OSError. The file is rewritten when most of its lines are outdated."""
        if not self._pending:
            return
        fd = self._hold()
        try:
            end = os.fstat(fd).st_size
            data = b"".join(self._pending)
            if end and os.pread(fd, 1, end - 1) != b"\n":
                data = b"\n" + data  # a torn line must not glue to ours
            write_at(fd, data, end)
            self._pending.clear()
            if self._lines > 2 * len(self.entries()) + 1000:
                self._rewrite(lambda path: False)
        finally:
            os.close(fd)

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Drop the entries of all paths that `gone` names, so that not even the paths stay in the file. OSError."""
        self.flush()
        if not os.path.exists(self._file):
            return
        fd = self._hold()
        try:
            self._rewrite(gone)
        finally:
            os.close(fd)

    def _rewrite(self, gone: Callable[[str], bool]) -> None:
        """Write the file anew from what it holds now; the caller holds its lock."""
        with open(self._file, "rb") as file:
            entries, _ = parse(file.read())
        entries = {path: entry for path, entry in entries.items() if not gone(path)}
        write_atomic(self._file, b"".join(line(path, entry) for path, entry in sorted(entries.items())))
        self._entries, self._lines = entries, len(entries)

    def _hold(self) -> int:
        """The sums file, opened and locked; made if need be."""
        while True:
            fd = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX)
                status = os.fstat(fd)
                if os.path.exists(self._file) and os.path.samestat(status, os.stat(self._file)):
                    if status.st_mode & 0o777 != 0o600:
                        os.fchmod(fd, 0o600)
                    return fd
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)  # rewritten while we waited

    def _put(self, path: str, entry: Entry, first: int) -> None:
        self.entries()
        assert self._entries is not None
        self._entries[path] = entry
        self._lines += 1
        self._pending.append(line(path, entry, first))
        if len(self._pending) >= _PENDING:
            self.flush()

    def _set_aside_as(self, path: str, ino: int) -> str | None:
        """The path of the older generation of `path` that has this inode."""
        folder, name = os.path.split(path)
        with os.scandir(os.path.join(self._root, folder)) as found:
            for item in found:
                if item.name.startswith(name + ".g") and item.inode() == ino:
                    return os.path.join(folder, item.name)
        return None


def first_wrong(fd: int, entry: Entry, size: int) -> int | None:
    """The first block of the open file that its sums do not fit; None if all do. `size`: bytes in the file."""
    if size < entry.length:
        return size // BLOCK
    return next((block for block in range(entry.blocks) if not fits(fd, entry, block)), None)


def fits(fd: int, entry: Entry, block: int) -> bool:
    """Whether the bytes of one block, as far as the sums cover it, have the sum that they should. OSError."""
    start = block * BLOCK
    want = min(BLOCK, entry.length - start)
    data = os.pread(fd, want, start)
    return len(data) == want and zlib.crc32(data) == entry.crc(block)


def _read_on(fd: int, entry: Entry, size: int) -> Entry:
    """The entry after the bytes from its length up to `size` were read; bytes that it covers are not read again."""
    at, full = entry.length, entry.length // BLOCK * 8
    crcs = [entry.crcs[:full]]
    running = int(entry.crcs[full:], 16) if len(entry.crcs) > full else 0
    while at < size:
        data = os.pread(fd, min(BLOCK - at % BLOCK, size - at), at)
        if not data:
            break
        running = zlib.crc32(data, running)
        at += len(data)
        if at % BLOCK == 0:
            crcs.append(f"{running:08x}")
            running = 0
    if at % BLOCK:
        crcs.append(f"{running:08x}")
    return Entry(entry.ino, at, "".join(crcs))


def _blocks(length: int) -> int:
    return -(-length // BLOCK)


def _letter(char: str) -> str:
    return "t" if char == "\t" else "n"


def _plain(name: str) -> str:
    if "\\" not in name:
        return name
    return _UNESCAPED.sub(lambda found: {"t": "\t", "n": "\n"}.get(found[1], found[1]), name)
