"""Found words marked in a text that is shown."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from recall.core.model import Hit
from recall.core.page import escaped
from recall.core.query import Query
from recall.core.spots import spans


def words_of(query: Query, hits: Sequence[Hit]) -> tuple[str, ...]:
    """The words of the index that answer a query: those typed first, then the forms that were found."""
    typed = [word for term in query.terms for option in term.options for word in option]
    return tuple(dict.fromkeys([*typed, *(hits[0].words if hits else ())]))


def marked(text: str, words: Collection[str]) -> str:
    """`text` as markup, with what the index knows as one of `words` marked."""
    out, at = [], 0
    for start, end in spans(text, words):
        out += [escaped(text[at:start]), "<mark>", escaped(text[start:end]), "</mark>"]
        at = end
    return "".join([*out, escaped(text[at:])])
