"""Text on a grid: one width for every program that draws it, and lines that fit."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from rich.cells import cell_len

from recall.core.clean import clean
from recall.core.plain import clusters, plain, width

_UNKNOWN = "·"


def safe(text: str) -> str:
    """One line of `text` as the picker may show it: no terminal escapes, no secrets, steady widths."""
    return steady(" ".join(clean(plain(text)).split()))


def block(text: str) -> list[str]:
    """The lines of `text` as the picker may show them; tabs are four blanks."""
    return [steady(line.replace("\t", "    ").rstrip()) for line in clean(plain(text)).strip("\n").split("\n")]


@lru_cache(maxsize=4096)
def steady(text: str) -> str:
    """`text` with every picture reduced to what all terminals and multiplexers give the same width.

    Families, flags, skin tones and keycaps are sequences that one program draws as one picture and the next one as
    several. On a grid of columns that shifts everything to the right of them, so their first sign stands for them.
    """
    if text.isascii():
        return text
    shown = "".join(_steady(cluster) for cluster, _ in clusters(unicodedata.normalize("NFC", text)))
    if width(shown) != cell_len(shown):  # what stands side by side now makes a picture again
        shown = "".join(_one(char) for char in shown)
    return shown


def _steady(cluster: str) -> str:
    first = cluster[0]
    if len(cluster) > 1:
        if "\U0001f1e6" <= first <= "\U0001f1ff":
            return "".join(chr(ord("A") + ord(char) - 0x1F1E6) for char in cluster if char >= "\U0001f1e6")
        picture = any(char in "\u200d\ufe0e\ufe0f\u20e3" or char >= "\U0001f3fb" for char in cluster[1:])
        if not picture:
            whole = "".join(char for char in cluster if unicodedata.category(char) != "Cf")
            return whole if width(whole) == cell_len(whole) else _one(first)
    return _one(first)


def _one(char: str) -> str:
    """One character by itself, where everybody agrees on its width; '' for what is not seen."""
    if unicodedata.category(char) == "Cf" or not width(char):
        return ""
    return char if width(char) == cell_len(char) else _UNKNOWN


def wrapped(text: str, columns: int) -> Iterator[str]:
    """`text`, one steady line, in lines of so many columns: broken at blanks, within a word where it is longer than a
    line. Blanks at the beginning stay."""
    columns = max(columns, 2)
    if text.isascii() and len(text) <= columns:
        yield text
        return
    line, used = "", 0
    for word in re.findall(r"\s+|[^\s]+", text):
        size = width(word)
        if used + size <= columns:
            line, used = line + word, used + size
            continue
        if word.isspace():
            yield line
            line, used = "", 0
            continue
        if (size <= columns or used > columns * 2 // 3) and line.strip():
            yield line.rstrip()
            line, used = "", 0
        for cluster, own in clusters(word):
            if used + own > columns:
                yield line
                line, used = "", 0
            line, used = line + cluster, used + own
    if line.strip():
        yield line.rstrip()
