"""The text of a query, piece by piece: what a click on a facet adds to it and takes away."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PIECE = re.compile(r'(?:[^\s"]|"[^"]*"?)+')

Filters = tuple[tuple[str, str], ...]


def piece(name: str, value: str) -> str:
    """A filter as it is typed."""
    return f'{name}:"{value}"' if re.search(r"\s", value) else f"{name}:{value}"


def holds(text: str, filters: Filters) -> bool:
    """Do all of these stand in the text?"""
    there = {_same(one) for one in _PIECE.findall(text)}
    return all(_same(piece(*one)) in there for one in filters)


def without(text: str, filters: Filters) -> str:
    """The text without these filters."""
    gone = {_same(piece(*one)) for one in filters}
    return " ".join(one for one in _PIECE.findall(text) if _same(one) not in gone)


def without_names(text: str, names: Iterable[str]) -> str:
    """The text without any filter of these names."""
    heads = tuple(f"{name}:" for name in names)
    return " ".join(one for one in _PIECE.findall(text) if not one.lower().startswith(heads))


def beside(text: str, filters: Filters) -> str:
    """The text with these filters behind it. Of a time there is one: it takes the place of another."""
    times = [name for name, _ in filters if name in ("since", "before")]
    return " ".join(filter(None, (without_names(text, times), *(piece(*one) for one in filters))))


def _same(one: str) -> str:
    return one.replace('"', "").casefold().replace("tag:#", "tag:").replace("#", "tag:")
