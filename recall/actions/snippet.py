"""A few words of the transcript round what was found: cut from the redacted record, never from raw bytes."""

from __future__ import annotations

import os
import re

from recall import clients
from recall.actions.reading import line_range
from recall.core.clean import clean
from recall.core.facts import Facts
from recall.core.model import SPOKEN, Hit
from recall.core.plain import one_line
from recall.core.spots import AROUND, window
from recall.core.text import fold_plain
from recall.settings import Settings
from recall.store import Store


def snippet(hit: Hit, store: Store, settings: Settings) -> str:
    """The best turn of a hit, round the first of its words; '' when there is none or the copy cannot be read."""
    place = store.place(hit.row) if hit.row else None
    if place is None:
        return ""
    file = store.file_by_no(place[0])
    if file is None:
        return ""
    best, best_count = "", -1
    try:
        lines = line_range(os.path.join(settings.archive, file.copy), place[1], place[2])
        for record in clients.get(file.client).parse(lines, Facts(), SPOKEN):
            text = one_line(clean(record.text))
            cut, count = around(text, hit.words)
            if count > best_count:
                best, best_count = cut, count
    except OSError:
        return ""
    return best


def around(text: str, words: tuple[str, ...]) -> tuple[str, int]:
    """(`text` cut round the place where most of the folded `words` are near, how many of them)."""
    folded = fold_plain(text).lower()
    if len(folded) != len(text):
        folded = text.casefold()
    places = []
    for word in words:
        pattern = re.compile(rf"(?<![^\W_]){re.escape(word)}") if word.isascii() else re.compile(re.escape(word))
        match = pattern.search(folded)
        if match:
            places.append(match.start())
    if not places:
        return window(text, 0), 0
    best = max(places, key=lambda start: sum(1 for other in places if 0 <= other - start <= 2 * AROUND))
    return window(text, best), sum(1 for other in places if 0 <= other - best <= 2 * AROUND)
