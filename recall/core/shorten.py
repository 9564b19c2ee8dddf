"""Shorter texts that are still texts: cut between characters, by number of characters or of bytes."""

from __future__ import annotations

from recall.core.clean import clean
from recall.core.plain import clusters, one_line

MARGIN = 4096
"""Characters kept behind a cut until secrets are replaced: one that was cut through has lost what it is known by."""


def shorten(text: str, size: int) -> str:
    """At most `size` characters, `…` at the end where something went; at a blank if one is near, never inside a
    character that is written with several."""
    if len(text) <= size:
        return text
    if size < 1:
        return ""
    end = size - 1
    blank = text.rfind(" ", end - end // 5, end + 1)
    end = blank if blank > 0 else _between(text, end)
    return text[:end].rstrip() + "…"


def shorten_middle(text: str, size: int) -> str:
    """At most `size` characters: the head and the tail, ` … ` between them."""
    if len(text) <= size:
        return text
    if size < 40:
        return shorten(text, size)
    tail = size * 2 // 5
    head = text[: _between(text, size - tail - 3)].rstrip()
    at = _between(text, len(text) - tail)
    if at < len(text) - tail:
        at += len(next(iter(clusters(text[at : at + 64]))))
    return f"{head} … {text[at:].lstrip()}"


def shorten_bytes(text: str, budget: int) -> str:
    """At most `budget` bytes in UTF-8, `…` at the end where something went."""
    data = text.encode("utf-8", "replace")
    if len(data) <= budget:
        return data.decode("utf-8")
    if budget < 3:
        return ""
    kept = data[: budget - 3].decode("utf-8", "ignore")
    return text[: _between(text, len(kept))].rstrip() + "…"


def held(text: str, size: int) -> str:
    """What is kept in memory of a text that will be shortened to `size`: both ends with a margin for `clean_line`."""
    room = size + MARGIN
    return text if len(text) <= 2 * room else f"{text[:room]}\n…\n{text[-room:]}"


def clean_line(text: str, size: int) -> str:
    """One line without secrets and terminal escapes, at most `size` characters."""
    return shorten(one_line(clean(text)), size)


def clean_middle(text: str, size: int) -> str:
    """The same, keeping head and tail."""
    return shorten_middle(one_line(clean(text)), size)


def _between(text: str, end: int) -> int:
    """The last place at or before `end` that is not inside a character as people see it."""
    if text.isascii() or not 0 < end < len(text):
        return end
    at = start = max(end - 64, 0)
    for cluster in clusters(text[start : end + 1]):
        if at + len(cluster) > end:
            break
        at += len(cluster)
    return at if at > start else end
