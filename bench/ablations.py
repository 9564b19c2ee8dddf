"""What `find` would be without one of its ideas: each is a context in which it searches that way.

Nothing in the product knows of these: weights are changed in their table, and functions wrapped from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

from recall.actions import find
from recall.actions.find import Match
from recall.core import rank
from recall.core.model import ACTION, ASIDE
from recall.core.query import Term
from recall.store import Store

Context = Callable[[], AbstractContextManager[Any]]


@contextmanager
def _weights(**values: float) -> Iterator[None]:
    zones = {zone: values[name] for name, zone in (("action", ACTION), ("aside", ASIDE)) if name in values}
    with patch.dict(rank.WEIGHTS, values), patch.dict(rank._ZONE, zones):
        yield


@contextmanager
def no_word_forms() -> Iterator[None]:
    """A word stands for itself only, not for other forms of it nor for what it begins."""
    with patch.object(find, "_forms", lambda word, store: {word: 1.0}):
        yield


def no_head() -> AbstractContextManager[None]:
    """Title, project, first request and card weigh nothing."""
    return _weights(title=0, project=0, ask=0, task=0, tags=0)


@contextmanager
def no_rarity() -> Iterator[None]:
    """Every term says as much as any other."""
    with patch.object(rank, "rarity", lambda found, docs, sessions: [1.0] * len(found)):
        yield


def one_bag() -> AbstractContextManager[None]:
    """What was done, what nobody said and what was printed count like what was said."""
    return _weights(action=1, aside=1, output=1)


@contextmanager
def first_prompt() -> Iterator[None]:
    """Only the first request is searched, as the clients' own lists do."""

    match = find.match

    def ask_only(term: Term, store: Store) -> Match:
        found = match(term, store)
        heads = {no: {"ask": fields["ask"]} for no, fields in found.heads.items() if "ask" in fields}
        return found._replace(rows=[], heads=heads)

    unprinted = patch.object(find, "_in_output", lambda term, found, store: set())
    with patch.object(find, "match", ask_only), unprinted, _weights(ask=1):
        yield


def no_turn() -> AbstractContextManager[None]:
    """The session counts as a whole; its best turn does not count again."""
    return _weights(turn=0, user_turn=0)


@contextmanager
def no_templates() -> Iterator[None]:
    """A long request that many sessions begin with counts like any other."""
    with patch.object(Store, "shared", lambda store, count: set()):
        yield


ABLATIONS: Mapping[str, Context] = {
    "no word forms": no_word_forms,
    "no head fields": no_head,
    "no rarity": no_rarity,
    "one bag (output like speech)": one_bag,
    "first prompt only": first_prompt,
    "no turn score": no_turn,
    "no templates": no_templates,
}
