"""Word forms at query time: which indexed words are forms of a word that was typed.

The index holds surface forms only. A typed word stands for every word of the index that it begins, and for those that
share a stem with it in any stemmer of its script: the language of a mixed text need not be guessed. Two words share a
stem when their stem sets (the word itself and its stem) meet: Snowball is not idempotent, it makes `ивановой` and
`иванова` into `иванов`, but `иванов` into `иван`.
Stemmers: Snowball, through PyStemmer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from recall.core.text import script

LIMIT = 64
"""Forms of a word that are searched for at most."""

COMMON = 500
"""A word in so many rows stands for itself and its forms only."""

EXACT, FORM, BEGINS = 1.0, 0.85, 0.6
"""What an occurrence of the word itself, of another form of it, of a longer word that it begins, counts."""

_LANGUAGES = {
    "latin": (
        "english",
        "german",
        "french",
        "spanish",
        "italian",
        "portuguese",
        "dutch",
        "swedish",
        "norwegian",
        "danish",
        "finnish",
        "hungarian",
        "romanian",
        "turkish",
    ),
    "cyrillic": ("russian", "serbian"),
    "greek": ("greek",),
    "arabic": ("arabic",),
    "armenian": ("armenian",),
    "devanagari": ("hindi", "nepali"),
    "tamil": ("tamil",),
    "hebrew": ("yiddish",),
}


@cache
def _stemmers(name: str) -> tuple[Any, ...]:
    import Stemmer

    have = set(Stemmer.algorithms())
    return tuple(Stemmer.Stemmer(lang, 0) for lang in _LANGUAGES.get(name, ()) if lang in have)


def stem_sets(words: list[str], name: str) -> list[set[str]]:
    """For each word of a script: itself and its stems in all the languages of that script."""
    sets = [{word} for word in words]
    for stemmer in _stemmers(name):
        for found, stem in zip(sets, stemmer.stemWords(words), strict=True):
            if len(stem) >= 2:
                found.add(stem)
    if name == "cyrillic":
        for found in sets:
            found |= {stem[:-2] + stem[-1] for stem in found if len(stem) > 4 and stem[-2:] in _FLEETING}
    return sets


_FLEETING = ("ок", "ек", "ец", "ен", "ел", "ер")
"""Ends of stems whose vowel is there in some forms only: `сделок` and `сделки`, `отец` and `отца`."""


def range_of(word: str) -> tuple[str, str] | None:
    """The range [from, to) of the vocabulary that can hold forms of `word`; None when only itself can be."""
    name = script(word)
    if not name or len(word) < 3 or not word.isalpha():
        if len(word) >= 6 and word.isalnum():
            return word, _after(word)
        return None
    stems = stem_sets([word], name)[0]
    shortest = min(len(stem) for stem in stems)
    start = word[: max(3, min(shortest - (shortest > 4), len(word) - 1))]
    return start, _after(start)


def extra(word: str) -> list[str]:
    """Forms outside that range: English words in -y and their -ies."""
    if script(word) != "latin" or len(word) < 4:
        return []
    return [stem[:-1] + "y" for stem in stem_sets([word], "latin")[0] if stem.endswith("i") and len(stem) > 1]


def respelled(word: str) -> list[str]:
    """How a name that is nowhere in its own letters may be spelt in the other script: `кубернетесе` as `kubernetes`."""
    name = script(word)
    if len(word) < 4 or not word.isalpha():
        return []
    if name == "cyrillic":
        stems = sorted(stem for stem in stem_sets([word], name)[0] if len(stem) >= 4)
        return list(dict.fromkeys(other for one in (word, *stems) for other in _in_latin(one)))
    return _in_cyrillic(word) if name == "latin" else []


_LATIN = dict(zip("абвгдезийклмнопрстуфхцыэіґ", "abvgdeziyklmnoprstufhcyeig", strict=True)) | {
    "ж": "zh", "ч": "ch", "ш": "sh", "щ": "sch", "ъ": "", "ь": "", "ю": "yu", "я": "ya", "є": "ye", "ї": "yi",
}  # fmt: skip
_CYRILLIC = dict(zip("abcdefghiklmnopqrstuvwyz", "абкдефгхиклмнопкрстуввиз", strict=True)) | {
    "sch": "щ", "zh": "ж", "ch": "ч", "sh": "ш", "ck": "к", "ph": "ф", "th": "т", "ts": "ц", "ya": "я", "yu": "ю", "oo": "у",
    "dj": "дж", "j": "дж", "x": "кс",
}  # fmt: skip
_SOUNDS = "sch|zh|ch|sh|ck|ph|th|ts|ya|yu|oo|dj|."


def _in_latin(word: str) -> list[str]:
    """`докер` as `doker`, `docer` or `docker`."""
    plain = "".join(_LATIN.get(char, char) for char in word.replace("дж", "j").replace("кс", "x"))
    if not plain.isascii():
        return []
    return [plain.replace("v", v).replace("k", k) for v in "vw" for k in ("k", "c", "ck")]


def _in_cyrillic(word: str) -> list[str]:
    """`docker` as `докер`."""
    sounds = re.findall(_SOUNDS, word)
    return ["".join(_CYRILLIC[sound] for sound in sounds)] if all(sound in _CYRILLIC for sound in sounds) else []


def _after(start: str) -> str:
    return start[:-1] + chr(ord(start[-1]) + 1)


def choose(word: str, vocabulary: Iterable[tuple[str, int]]) -> dict[str, float]:
    """Which indexed words stand for `word`, and how much each counts.

    `vocabulary` gives (indexed word, rows that hold it) over `range_of(word)`. The result is at most LIMIT words.
    The word itself is in it only if it is in the vocabulary.
    """
    pairs = list(vocabulary)
    name = script(word)
    words = [term for term, _ in pairs]
    mine = stem_sets([word], name)[0] if name and word.isalpha() else {word}
    theirs = stem_sets(words, name) if name and word.isalpha() else [{term} for term in words]
    # Longer words that begin with a very common one are other words, and cost more than they find.
    common = max((rows for term, rows in pairs if term == word), default=0) >= COMMON
    scored: list[tuple[float, int, str]] = []
    for (term, rows), stems in zip(pairs, theirs, strict=True):
        if term == word:
            weight = EXACT
        elif not mine.isdisjoint(stems):
            weight = FORM
        elif not common and term.startswith(word):
            weight = BEGINS
        else:
            continue
        scored.append((weight, rows, term))
    scored.sort(key=lambda item: (-item[0], -item[1], item[2]))
    return {term: weight for weight, _, term in scored[:LIMIT]}


def nearest(word: str, vocabulary: Iterable[tuple[str, int]]) -> list[str]:
    """Indexed words at one or two slips of the keyboard from `word`, nearest first (for the spelling tier)."""
    allowed = 1 if len(word) < 6 else 2
    found = []
    for term, rows in vocabulary:
        if abs(len(term) - len(word)) <= allowed:
            away = _slips(word, term, allowed)
            if away <= allowed:
                found.append((away, -rows, term))
    return [term for _, _, term in sorted(found)[:8]]


def _slips(a: str, b: str, limit: int) -> int:
    """Edit distance with swaps of neighbours (optimal string alignment), or limit + 1 when it is more."""
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
        before, last = last, row
    return last[-1]
