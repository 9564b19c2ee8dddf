"""Text as a terminal may show it: without what steers the terminal, and cut or padded by the columns that it takes.

Widths follow Unicode's East Asian Width (UAX 11): wide and fullwidth characters take two columns, marks and format
characters none. What is shown as one picture (UAX 29 grapheme clusters: emoji joined by ZWJ, with skin tones and
variation selectors, flags) is never cut in its middle.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

ELLIPSIS = "…"

_ESCAPES = (
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]{0,4096}(?:\x07|\x1b\\|\x9c)"  # OSC: titles, hyperlinks
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\n]{0,65536}(?:\x1b\\|\x9c)"  # DCS, SOS, PM, APC
    r"|(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]?"  # CSI: colours, cursor
    r"|\x1b[ -/]{0,8}[0-~]?"  # two-character escapes; one of the above without its end loses its beginning only
)
_CONTROLS = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]|[\ud800-\udfff]"


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(_ESCAPES), re.compile(_CONTROLS)


_SHORT = 500  # characters; for longer ones a search is faster


def plain(text: str) -> str:
    """`text` without terminal escapes, control characters (but line ends and tabs), marks that turn the direction of
    writing, and what is never seen (soft hyphens, blanks and joiners without width; joiners that letters need stay). Other
    line ends become `\\n`, lone surrogates U+FFFD. What it gives is left as it is by a second call."""
    if len(text) < _SHORT and text.isprintable():
        return text
    escapes, controls = _patterns()
    if controls.search(text) is None and "\r" not in text:  # what begins an escape is one of them
        return text
    while True:
        # Taking one escape out may put the parts of another together.
        stripped = escapes.sub("", text)
        if stripped == text:
            break
        text = stripped
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return controls.sub(lambda match: "\ufffd" if "\ud800" <= match[0] <= "\udfff" else "", text)


def one_line(text: str) -> str:
    """`text` on one line: plain, runs of blanks and line ends as one blank."""
    if text.isprintable() and "  " not in text and text[:1] != " " and text[-1:] != " " and text.isascii():
        return text
    return " ".join(plain(text).split())


def width(text: str) -> int:
    """Columns that `text`, one line of it, takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(columns for _, columns in clusters(text))


def clusters(text: str) -> Iterator[tuple[str, int]]:
    """What a terminal shows as one picture each, with its columns."""
    start, columns = 0, 0
    joined = False  # after a ZWJ the next character belongs to the same picture
    flag = False  # the first half of a flag waits for its other half
    for at, char in enumerate(text):
        own = _columns(char)
        regional = "\U0001f1e6" <= char <= "\U0001f1ff"
        extends = own == 0 or "\U0001f3fb" <= char <= "\U0001f3ff"
        if at > start and (joined or extends or (flag and regional)):
            if char == "\ufe0f" and columns == 1:
                columns = 2
            columns = max(columns, own) if not (flag and regional) else 2
            flag = False
        elif at > start:
            yield text[start:at], columns
            start, columns, flag = at, own, regional
        else:
            columns, flag = own, regional
        joined = char == "\u200d"
    if start < len(text):
        yield text[start:], columns


@cache
def _columns(char: str) -> int:
    if char.isascii():
        return 1
    if (
        unicodedata.category(char) in ("Mn", "Me", "Mc", "Cf", "Cc")
        or "\u1160" <= char <= "\u11ff"
        or char in "\u200b\u200d"
    ):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut(text: str, columns: int) -> str:
    """`text` in at most so many columns, with `…` for what is left out; '' where not even that has room."""
    if columns < 1:
        return ""
    if text.isascii():
        return text if len(text) <= columns else text[: columns - 1] + ELLIPSIS
    out: list[str] = []
    used, kept = 0, 0  # columns so far; clusters that leave room for the ellipsis
    for cluster, own in clusters(text):
        used += own
        if used > columns:
            return "".join(out[:kept]) + ELLIPSIS
        out.append(cluster)
        if used < columns:
            kept = len(out)
    return text


def pad(text: str, columns: int) -> str:
    """`text` followed by blanks up to so many columns; longer text is cut."""
    text = cut(text, columns)
    return text + " " * (columns - width(text))
