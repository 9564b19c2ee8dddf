"""What the parsers of all clients have in common: lines in, records out, facts kept on the way."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from recall.clients.jsonl import Object, loads, objects
from recall.core.model import OUTPUT, SPOKEN, THINKING, Line, Record

if TYPE_CHECKING:
    from recall.core.facts import Facts


class Reader:
    """Turns the records of one file into `Record`s and facts; a client says how, in `passes_over` and `take`."""

    def __init__(self, facts: Facts, want: Collection[int], whole: bool = False) -> None:
        self.facts = facts
        self.whole = whole
        self.want = frozenset(want)
        self.counting = not self.want.isdisjoint(SPOKEN)
        self.printing = OUTPUT in self.want
        self.bodies = THINKING in self.want
        self.out: list[Record] = []

    def passes_over(self, raw: bytes) -> bool:
        """Can the line be left unread, by the look of its bytes?"""
        raise NotImplementedError

    def take(self, item: Object, at: int) -> None:
        """Take in one JSON object of the line at byte `at`."""
        raise NotImplementedError

    def read(self, lines: Iterable[Line], hints: bool) -> Iterator[Record]:
        """The records of these lines. Without `hints` every line is read as JSON: slower, with the same result."""
        out = self.out
        for at, raw in lines:
            if hints and self.passes_over(raw):
                continue
            try:
                item = loads(raw)
            except ValueError:
                item = None
            if type(item) is dict and item:
                self.take(item, at)
            else:
                found, why = objects(raw)
                if why and self.counting:
                    self.facts.skip(why)
                for item in found:
                    self.take(item, at)
            if out:
                yield from out
                out.clear()
