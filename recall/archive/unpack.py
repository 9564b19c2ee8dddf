"""Transcripts that a client compressed: a `.jsonl.zst` is kept as the plain bytes that it holds.

Format: Zstandard frames (RFC 8878), one or more. Memory stays bounded by the frame's window and 1 MB.
"""

from __future__ import annotations

import importlib
import os
import stat
from collections.abc import Iterator
from typing import Any

from recall.archive import append
from recall.archive.kept import Kept, same_time

SUFFIX = ".zst"
_PIECE = 4096  # compressed bytes a step: what a step had decoded when it met damage is lost
_OUT = 1 << 20


def unpack(source: str, copy: str, force: bool = False) -> Kept:
    """Bring `copy` up to date with what the compressed `source` holds; see `append` for the kinds of result.

    Nothing is done where the uncompressed twin lies beside the source (it wins), or where the copy has the
    source's modification time (clients keep it when they compress) unless `force`. A torn or corrupt source
    gives what can be decoded, as far as that lengthens the copy, and a `problem`; it never displaces a copy.
    """
    if os.path.lexists(source.removesuffix(SUFFIX)):
        return Kept("same", 0, 0, _size(copy))
    here = os.stat(source)
    if not stat.S_ISREG(here.st_mode):
        raise OSError(22, "not a regular file", source)
    try:
        there = os.stat(copy)
    except FileNotFoundError:
        there = None
    if there and there.st_size and same_time(there, here) and not force:
        return Kept("same", 0, 0, there.st_size)
    decoder = _decoder()
    if decoder is None:
        return Kept("same", 0, 0, _size(copy), "compressed, and this Python has no zstd decoder")

    stream = _Stream(source, decoder)
    pieces = iter(stream)
    first = next(pieces, b"")
    if not first:
        return Kept("same", stream.read, 0, _size(copy), stream.problem)
    fd = append.hold(copy)
    try:
        length = os.fstat(fd).st_size
        agrees, end = _compare_and_go_on(fd, length, first, pieces)
        if agrees or stream.problem:
            if agrees and not stream.problem:
                append.set_time(fd, here)
            kind = ("new" if there is None else "grown") if end > length else "same"
            return Kept(kind, stream.read, end - length, end, stream.problem)
        append.set_aside(copy)
    finally:
        os.close(fd)

    again = _Stream(source, decoder)
    fd = append.hold(copy)
    try:
        _, end = _compare_and_go_on(fd, os.fstat(fd).st_size, b"", iter(again))
        if not again.problem:
            append.set_time(fd, here)
        return Kept("generation", stream.read + again.read, end, end, again.problem)
    finally:
        os.close(fd)


def _compare_and_go_on(fd: int, length: int, first: bytes, pieces: Iterator[bytes]) -> tuple[bool, int]:
    """Compare the pieces with the first `length` bytes of the copy, and write what comes behind them.

    Gives whether they agree, and the copy's length now. After a difference nothing is written, and the
    pieces are read to their end, to learn whether they can be trusted.
    """
    at, end, agrees = 0, length, True
    for piece in _chain(first, pieces):
        known = min(len(piece), max(0, length - at))
        if agrees and known:
            agrees = os.pread(fd, known, at) == piece[:known]
        if agrees and known < len(piece):
            end = append.write_at(fd, piece[known:], at + known)
        at += len(piece)
    return agrees, end


def _chain(first: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from pieces


class _Stream:
    """The decoded bytes of a file in pieces of at most 1 MB; `read` and `problem` are told when it has ended."""

    def __init__(self, path: str, decoder: Any) -> None:
        self._path = path
        self._decoder = decoder
        self.read = 0
        self.problem = ""

    def __iter__(self) -> Iterator[bytes]:
        with open(self._path, "rb") as file:
            frame = self._decoder.ZstdDecompressor()
            begun = False
            data = self._next(file)
            while data or (begun and not frame.eof and not frame.needs_input):
                if frame.eof:
                    frame, begun = self._decoder.ZstdDecompressor(), False
                try:
                    out = frame.decompress(data, _OUT)
                except self._decoder.ZstdError as error:
                    self.problem = f"damaged at about byte {self.read}: {error}"
                    return
                begun = True
                if out:
                    yield out
                if frame.eof:
                    data = frame.unused_data or self._next(file)
                elif frame.needs_input:
                    data = self._next(file)
                else:
                    data = b""
            if begun and not frame.eof:
                self.problem = f"torn: ends inside a frame at byte {self.read}"

    def _next(self, file: Any) -> bytes:
        data: bytes = file.read(_PIECE)
        self.read += len(data)
        return data


def decodes() -> bool:
    """Can this Python read compressed transcripts?"""
    return _decoder() is not None


def _decoder() -> Any:
    """The zstd module of this Python, or None."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
