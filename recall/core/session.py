"""Records of a transcript -> the rows that are indexed, and what a session is from its files' facts."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple
from zlib import crc32

from recall.core.facts import Facts
from recall.core.model import ASIDE, OUTPUT, THINKING, USER, Record
from recall.core.text import fold, fold_plain

ROW = 4000
"""Characters in one row of the conversation, about; a longer message becomes several rows."""

TEMPLATE = 160
"""Characters at the beginning of a request that must be equal for it to be the same template."""

PRINTED_ROW = 64_000
"""Characters in one row of tool output."""

OUTPUT_HEAD = 1 << 20
OUTPUT_TAIL = 1 << 19
"""Of one output longer than both together, only so many characters at each end are indexed."""

MARGIN = 4096

_BLOB = re.compile(r"[A-Za-z0-9+/=_-]{160,}+")
_BLOB_BYTES = bytes(
    1 if chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) in "+/=_-") else 0 for byte in range(256)
)
_BLOB_RUN = b"\1" * 160


class Piece(NamedTuple):
    """One row of the conversation index: a turn or a part of one.

    `start` and `stop` are the offsets of the first and the last transcript line in it (both lines included);
    `zones` its folded text: user, assistant, actions, aside; `words` counts what was spoken; `key` is a
    fingerprint of a long request's beginning (0: none), by which texts that many sessions share are known.
    """

    start: int
    stop: int
    zones: tuple[str, str, str, str]
    words: int
    key: int


class Printed(NamedTuple):
    """One row of the output index: offsets as in Piece, and folded text."""

    start: int
    stop: int
    text: str


def pieces(records: Iterable[Record], clean: Callable[[str], str]) -> Iterator[Piece]:
    """Rows of the conversation, in order. A row begins with each request of the user and at every ROW characters.

    `clean` redacts secrets; it is given whole texts, before they are folded or cut.
    """
    parts: tuple[list[str], ...] = ([], [], [], [])
    start, stop, size = -1, 0, 0
    for record in records:
        if record.zone > ASIDE:
            continue
        text = clean(record.text)
        text = _without_blobs(text)
        if start >= 0 and (record.zone == USER or size + len(text) > ROW):
            yield _piece(start, stop, parts)
            parts, start, size = ([], [], [], []), -1, 0
        while len(text) > ROW * 2:
            cut = text.rfind(" ", ROW // 2, ROW) if len(text) > ROW else -1
            cut = cut if cut > 0 else ROW
            head: tuple[list[str], ...] = ([], [], [], [])
            head[record.zone].append(text[:cut])
            yield _piece(record.at, record.at, head)
            text = text[cut:]
        if start < 0:
            start = record.at
        stop = record.at
        size += len(text)
        parts[record.zone].append(text)
    if start >= 0:
        yield _piece(start, stop, parts)


def _without_blobs(text: str) -> str:
    """`text` without long unbroken runs of base64 and the like, which nobody searches for."""
    if len(text) < 200 or _BLOB_RUN not in text.encode("utf-8", "replace").translate(_BLOB_BYTES):
        return text
    return _BLOB.sub(" ", text)


def _piece(start: int, stop: int, parts: tuple[list[str], ...]) -> Piece:
    user, assistant, action, aside = (fold("\n".join(part)) if part else "" for part in parts)
    key = crc32(user[:TEMPLATE].encode("utf-8", "replace")) if len(user) >= TEMPLATE else 0
    return Piece(start, stop, (user, assistant, action, aside), count_words(user) + count_words(assistant), key)


def count_words(folded: str) -> int:
    """About how many words; only blanks and line ends are counted, which is fast and good enough for lengths."""
    return folded.count(" ") + folded.count("\n") + 1 if folded else 0


def printed(records: Iterable[Record], clean: Callable[[str], str]) -> Iterator[Printed]:
    """Rows of tool output and reasoning, in order; head and tail of a very long output, no binary blobs."""
    parts: list[str] = []
    start, stop, size = -1, 0, 0
    for record in records:
        if record.zone not in (THINKING, OUTPUT) or not record.text:
            continue
        text = record.text.replace(
            "→", " "
        )  # behind line numbers: without it most files are ASCII, which folds at once
        if len(text) > OUTPUT_HEAD + OUTPUT_TAIL:
            # The margin holds whatever secret the cut may have split; it goes after redaction.
            head, tail = clean(text[: OUTPUT_HEAD + MARGIN]), clean(text[-OUTPUT_TAIL - MARGIN :])
            text = f"{head[:-MARGIN]}\n{tail[MARGIN:]}"
        else:
            text = clean(text)
        text = _without_blobs(text)
        if start >= 0 and size + len(text) > PRINTED_ROW:
            yield Printed(start, stop, fold_plain("\n".join(parts)))
            parts, start, size = [], -1, 0
        if start < 0:
            start = record.at
        stop = record.at
        size += len(text)
        parts.append(text)
    if start >= 0:
        yield Printed(start, stop, fold_plain("\n".join(parts)))


_WORKTREE = re.compile(r"^(?P<base>.+?)(?:/\.(?:claude/)?worktrees/|\.worktrees/|/\.git/worktrees/|[-_]worktrees/)")


def project_of(cwd: str) -> str:
    """The project that a folder belongs to: its last part; a worktree of `x` belongs to `x`. '' when unknown."""
    path = worktree_of(cwd) or cwd.replace("\\", "/").rstrip("/")
    return posixpath.basename(path) or (path or cwd)


def worktree_of(cwd: str) -> str:
    """The repository's own folder, where `cwd` is a worktree of it by its path; '' where it is none."""
    match = _WORKTREE.match(cwd.replace("\\", "/").rstrip("/"))
    return match["base"].rstrip("/") if match else ""


def is_searcher(facts: Facts) -> bool:
    """Did the session do nothing but look for other sessions?"""
    return facts.searches > 0 and facts.edits == 0 and facts.calls <= facts.searches * 3 + 2


def main_of(files: list[Facts]) -> Facts:
    """The facts of a session from those of its own files: the fullest one's, with the times of all.

    A client may copy a whole history into a new file of the same session, so counts are not added up.
    """
    best = max(files, key=lambda facts: (facts.events, facts.updated))
    if len(files) > 1:
        best = Facts.from_dict(best.to_dict())
        best.started = min((facts.started for facts in files if facts.started), default=0.0)
        newest = max(files, key=lambda facts: facts.updated)
        best.updated = newest.updated
        best.title, best.title_by = max(
            ((facts.title, facts.title_by) for facts in files),
            key=lambda pair: (pair[1] == "user", bool(pair[0])),
        )
    return best
