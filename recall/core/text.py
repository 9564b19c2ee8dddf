"""Text as the index holds it: folded surface forms, and the words of a query in the same form.

Folding (`fold`) is applied to everything before it is indexed and to every query, so that both sides agree:
compatibility forms and full width unified (NFKC), case folded, accents of Latin and Greek letters dropped, `ё` as `е`.
Runs of Chinese, Japanese, Korean and Thai, which have no spaces, are written as overlapping pairs of characters.
Identifiers in camel case are followed, at the end of the text, by their parts. The SQLite tokenizer (unicode61) then
only cuts at what is no letter, digit or mark.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache

TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'"
"""The FTS5 tokenizer that `tokens` imitates."""

# Scripts written without spaces: Thai, Lao, Khmer, Myanmar; kana, Han, Hangul, with their extensions.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_MAYBE_RUN = "[^\0-\u0dff\u1e00-\u3004]"
_CAMEL = re.compile(r"\b[A-Z]*+[a-z0-9]++[A-Z][A-Za-z0-9]*+")
_ACCENTED = "[\u00c0-\u024f\u0370-\u03ff\u1e00-\u1fff]"
_CASES = bytes(
    97 if chr(n) in "abcdefghijklmnopqrstuvwxyz0123456789" else 65 if 65 <= n <= 90 else 32 for n in range(256)
)
_HUMPED = b"aA"  # in a text whose bytes went through _CASES: what every name in camel case has
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SINGLE = (
    ("ё", "е"),
    ("ı", "i"),
    ("ø", "o"),
    ("ł", "l"),
    ("đ", "d"),
    ("ð", "d"),
    ("þ", "th"),
    ("æ", "ae"),
    ("œ", "oe"),
)


@cache
def _wide() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Expressions that only texts beyond ASCII need: an accented letter, a cheap look for a run without spaces
    (whose own class is slow), such a run."""
    return re.compile(_ACCENTED), re.compile(_MAYBE_RUN), re.compile(f"[{_UNSPACED}]+")


def fold(text: str) -> str:
    """Conversation as it is indexed: the words in order, then the parts of identifiers in camel case."""
    camels = _CAMEL.findall(text)
    text = fold_plain(text)
    if camels:
        return f"{text}\n{' . '.join(map(_parts, dict.fromkeys(camels)))}"
    return text


def fold_all(texts: Sequence[str]) -> list[str]:
    """Each as `fold` gives it; where none has camel case, by one look at all of them."""
    joined = "\0".join(texts)
    if joined.count("\0") >= len(texts) or _HUMPED in joined.encode("latin-1", "replace").translate(_CASES):
        return [fold(text) for text in texts]
    if joined.isascii():
        return list(texts)
    folded = fold_plain(joined).split("\0")
    return [text if text.isascii() else plain for text, plain in zip(texts, folded, strict=True)]


def fold_plain(text: str) -> str:
    """Tool output as it is indexed: without the parts of identifiers, which would cost more than the rest."""
    if text.isascii():
        return text
    if not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    text = text.casefold()
    for letter, plain in _SINGLE:
        text = text.replace(letter, plain)
    accented, maybe_run, run = _wide()
    if "\u0307" in text:
        text = text.replace("\u0307", "")
    if accented.search(text):
        text = accented.sub(_bare, text)
    return run.sub(_pairs, text) if maybe_run.search(text) else text


@lru_cache(maxsize=1 << 15)
def _parts(word: str) -> str:
    return " ".join(_HUMP.findall(word)).lower() if len(word) <= 80 else ""


def _bare(match: re.Match[str]) -> str:
    return _bare_letter(match[0])


@lru_cache(maxsize=4096)
def _bare_letter(letter: str) -> str:
    return "".join(mark for mark in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(mark))


def _pairs(match: re.Match[str]) -> str:
    run = match[0]
    if len(run) < 3:
        return f" {run} "
    return " " + " ".join([run[i : i + 2] for i in range(len(run) - 1)]) + " "


def tokens(folded: str) -> list[str]:
    """The tokens that FTS5 makes of folded text."""
    out: list[str] = []
    start = -1
    for place, char in enumerate(folded):
        if _is_token_char(char):
            if start < 0:
                start = place
        elif start >= 0:
            out.append(folded[start:place])
            start = -1
    if start >= 0:
        out.append(folded[start:])
    return [word.lower() for word in out]


@lru_cache(maxsize=8192)
def _is_token_char(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] in "LN" or category in ("Co", "Mn", "Mc")


def is_unspaced(word: str) -> bool:
    """Is it of a script that is indexed in pairs of characters?"""
    return not word.isascii() and _wide()[2].search(word) is not None


def humps(word: str) -> list[str]:
    """The parts of an identifier in camel case, lower case; one part when it is none."""
    return [part.lower() for part in _HUMP.findall(word)] if _CAMEL.fullmatch(word) else [word.lower()]


def script(word: str) -> str:
    """The script that decides which stemmers fit: 'latin', 'cyrillic', 'greek', 'arabic', 'armenian', 'indic', 'hebrew' or ''."""
    for char in word:
        if char.isascii():
            if char.isalpha():
                return "latin"
            continue
        code = ord(char)
        for first, last, name in _SCRIPTS:
            if first <= code <= last:
                return name
    return ""


_SCRIPTS = (
    (0x00C0, 0x024F, "latin"),
    (0x1E00, 0x1EFF, "latin"),
    (0x0370, 0x03FF, "greek"),
    (0x0400, 0x052F, "cyrillic"),
    (0x0530, 0x058F, "armenian"),
    (0x0590, 0x05FF, "hebrew"),
    (0x0600, 0x06FF, "arabic"),
    (0x0900, 0x097F, "devanagari"),
    (0x0B80, 0x0BFF, "tamil"),
)
