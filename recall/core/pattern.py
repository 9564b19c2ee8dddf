"""What `grep` looks for: texts and regular expressions; and what the bytes of a line must hold for a match.

A text matches blind to case, as Unicode folds it. The sieve is a cheap look at bytes before a line is parsed: it lets
through every line that may match, and some that do not. Bytes that are the same letter in another case are made one
by a table, so one substring search answers for all spellings. What JSON or a client may write in another way
(quotes, backslashes, slashes, blanks, line ends) is not looked for: the longest run of other characters is. A line
with `\\uXXXX` is always let through, for any letter may hide there. Not known to it are a few old signs that have more
bytes than the letters that they fold to: the long s, the capital sharp s, ligatures, the signs for Kelvin and Ohm.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from recall.errors import Usage

_MARK = "redacted"
_APART = re.compile(r"(?:i?\u0307|[\s\"'\\/#<>&…\[\]\0-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff])+")  # i and a dot: İ
_ESCAPED = re.compile(rb"\\u[0-9a-fA-F]{4}")
_TEST_PART = 2  # a shorter part of a text is not worth a search


class Pattern(NamedTuple):
    """`texts` are folded; any of them, or any expression, is a match."""

    texts: tuple[str, ...]
    expressions: tuple[re.Pattern[str], ...] = ()

    def find(self, text: str) -> tuple[int, int] | None:
        """(start, end) in `text` of the first match; None: there is none. An empty match is none."""
        best: tuple[int, int] | None = None
        if self.texts:
            folded = text.lower() if text.isascii() else text.casefold()
            for one in self.texts:
                at = folded.find(one)
                if at >= 0 and (best is None or at < best[0]):
                    best = (at, at + len(one))
            if best and len(folded) != len(text):
                best = _unfolded(text, *best)
        for expression in self.expressions:
            for match in expression.finditer(text):
                if match.end() > match.start():
                    if best is None or match.start() < best[0]:
                        best = match.span()
                    break
        return best

    @property
    def seeks_marks(self) -> bool:
        """Is it about the marks that stand for secrets? They are in no transcript."""
        return any(_MARK in one for one in self.texts) or any(_MARK in one.pattern.lower() for one in self.expressions)


def compiled(texts: Sequence[str], expressions: Sequence[str] = ()) -> Pattern:
    """A pattern from what was typed. Usage for an expression that is none, or when there is nothing to look for."""
    folded = tuple(dict.fromkeys(text.casefold() for text in texts if text))
    if not folded and not any(expressions):
        raise Usage("nothing to look for", "recall grep TEXT, or -e REGEX")
    return Pattern(folded, tuple(_expression(one) for one in expressions if one))


def _expression(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.IGNORECASE | re.MULTILINE)
    except re.error as problem:
        where = f" at position {problem.pos}" if problem.pos is not None else ""
        hint = "without -e it is looked for as it is"
        raise Usage(f"'{text}' is no regular expression: {problem.msg}{where}", hint) from None
    except (OverflowError, RecursionError) as problem:
        raise Usage(f"'{text[:60]}' is no regular expression: {problem}") from None


def _unfolded(text: str, start: int, end: int) -> tuple[int, int]:
    """The place in `text` of what stands at [start, end) in its folded form, which has another length."""
    at, first, last = 0, len(text), len(text)
    for place, char in enumerate(text):
        size = 1 if char.isascii() else len(char.casefold())
        if at <= start < at + size:
            first = place
        at += size
        if at >= end:
            last = place + 1
            break
    return first, last


class Sieve:
    """Tells which lines of a block of bytes may match `pattern`."""

    def __init__(self, pattern: Pattern) -> None:
        wanted = [[text] for text in pattern.texts]
        wanted += [_sure(expression.pattern) for expression in pattern.expressions]
        parts = [_parts(one) for one in wanted]
        self.open = pattern.seeks_marks or not all(parts)
        """Every line may match: there is nothing to look for in bytes."""
        self._table = _table(part for some in parts for part in some)
        self._needles = [[self._bytes(part) for part in some] for some in parts]

    def _bytes(self, part: str) -> bytes:
        return part.encode("utf-8", "replace").translate(self._table)

    def lines(self, block: bytes) -> list[tuple[int, int]]:
        """(start, end) of the lines of `block`, without their ends, that may match; `block` holds whole lines."""
        found: dict[int, int] = {}
        if self.open:
            start = 0
            while start < len(block):
                start = _line(block, start, found) + 1
            return list(found.items())
        folded = block.translate(self._table)
        for first, *others in self._needles:
            at = folded.find(first)
            while at >= 0:
                start = folded.rfind(b"\n", 0, at) + 1
                end = folded.find(b"\n", at)
                end = end if end >= 0 else len(folded)
                if all(folded.find(other, start, end) >= 0 for other in others):
                    found[start] = end
                at = folded.find(first, end)
        at = block.find(b"\\u")
        while at >= 0:
            match = _ESCAPED.search(block, at)
            if match is None:
                break
            at = block.find(b"\\u", _line(block, match.start(), found))
        return sorted(found.items())


def _line(block: bytes, at: int, found: dict[int, int]) -> int:
    """Note the line that holds byte `at`; where it ends."""
    end = block.find(b"\n", at)
    end = end if end >= 0 else len(block)
    found[block.rfind(b"\n", 0, at) + 1] = end
    return end


def _parts(texts: Iterable[str]) -> list[str]:
    """What must stand in the bytes of a line for all these texts to be in it, the most telling part first."""
    out = {part for text in texts for part in _APART.split(text.casefold()) if part}
    return sorted((part for part in out if len(part) >= _TEST_PART), key=lambda part: (-len(part), part)) or sorted(out)


@cache
def _folding() -> dict[str, str]:
    """Letters that are not ASCII, by what they fold to."""
    out: dict[str, str] = {}
    for first, after in _BLOCKS:
        for code in range(first, after):
            folded = chr(code).casefold()
            if folded != chr(code):
                out[folded] = out.get(folded, "") + chr(code)
    return out


_BLOCKS = (
    (0x80, 0x2200),
    (0x2C00, 0x2E00),
    (0xA640, 0xAC00),
    (0xFB00, 0xFB18),
    (0xFF21, 0xFF3B),
    (0x10400, 0x10600),
    (0x10C80, 0x10D00),
    (0x118A0, 0x118E0),
    (0x16E40, 0x16E80),
    (0x1E900, 0x1E944),
)


def _cases(char: str) -> str:
    """The letters that fold to `char`, which is not ASCII, and have as many bytes."""
    return "".join(other for other in _folding().get(char, "") if len(other.encode()) == len(char.encode()))


def _table(parts: Iterable[str]) -> bytes:
    """Byte -> the byte that stands for it and for all that it is in another case of a character of these texts."""
    texts = list(parts)
    table = bytearray(bytes(range(256)).lower())
    pairs = {(char, other) for char in set("".join(texts)) if not char.isascii() for other in _cases(char)}
    if any("ss" in text for text in texts):
        pairs.add(("ss", "ß"))
    for char, other in sorted(pairs):
        for one, two in zip(char.encode(), other.encode(), strict=True):
            a, b = table[one], table[two]
            table = bytearray(a if each == b else each for each in table)
    return bytes(table)


_LITERAL = re.compile(r"[^\\.^$*+?{}\[\]|()]")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x..|u.{4}|U.{8}|N\{[^}]*\}|[0-9]{1,3}|.)", re.DOTALL)


def _sure(expression: str) -> list[str]:
    """Texts that whatever the expression matches must hold; [] where that is not plain to see."""
    if re.search(r"[|(]", re.sub(r"\\.", "", expression)):
        return []
    out, at = [""], 0
    while at < len(expression):
        char = expression[at]
        size = 1
        if char == "\\":
            match = _ESCAPE.match(expression, at)
            size = len(match[0]) if match else 1
        elif char == "[":
            match = _CLASS.match(expression, at)
            size = len(match[0]) if match else len(expression)
        elif char == "{":
            close = expression.find("}", at)
            size = (close if close > 0 else len(expression)) + 1 - at
        following = expression[at + size : at + size + 1]
        if _LITERAL.fullmatch(char) and size == 1 and following not in ("?", "*", "{"):
            out[-1] += char
            if following == "+":
                out.append("")
        elif char == "\\" and size == 2 and not expression[at + 1].isalnum() and following not in ("?", "*", "{", "+"):
            out[-1] += expression[at + 1]
        else:
            out.append("")
        at += size
    return [text for text in out if text]
