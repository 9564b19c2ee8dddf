"""Did a text that was typed into a session arrive there? What was added to its transcript since tells.

Claude Code writes a prompt as a record of type `user`, one that it queues while it works as a `queue-operation` first, and a
slash command in tags of its own; Codex as a message of role `user`, a queued one only once it is used. Both write raw UTF-8
with JSON's short escapes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable

_LOOKED_AT = 90  # characters of the text, which may stand inside of a wrapper
_MOST = 4 << 20  # bytes that are looked at once

_PERSON = (b'"type":"user"', b'"role":"user"', b'"UserMessage"')
_QUEUED = b'"queue-operation"'


class Tail:
    """What is added to a transcript from now on; `find` says where it is, '' as long as there is none."""

    def __init__(self, find: Callable[[], str]) -> None:
        self._find = find
        self._path = find()
        self._at = _size(self._path)

    def new(self) -> bytes:
        """The whole lines that were added since this was asked last."""
        if not self._path:
            self._path = self._find()
            if not self._path:
                return b""
        try:
            with open(self._path, "rb") as file:
                file.seek(self._at)
                data = file.read(_MOST)
        except OSError:
            return b""
        whole = data[: data.rfind(b"\n") + 1]
        if not whole and len(data) == _MOST:
            whole = data  # a line that is longer than anything a person types
        self._at += len(whole)
        return whole


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size if path else 0
    except OSError:
        return 0


def sign(added: bytes, text: str) -> str:
    """'arrived' when the added lines have `text` as a prompt, 'queued' when they have it as one that waits, else ''."""
    needle = json.dumps(text.split()[0] if text.startswith("/") else text[:_LOOKED_AT].rstrip(), ensure_ascii=False)
    wanted = needle[1:-1].encode("utf-8", "surrogatepass")
    found = ""
    for line in added.split(b"\n"):
        if wanted not in line:
            continue
        if _QUEUED in line:
            found = "queued"
        elif any(mark in line for mark in _PERSON):
            return "arrived"
    return found
