"""One measured figure, its bound, and how both are printed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Figure(NamedTuple):
    """`value` is None where it could not be measured: `note` says why. `bound` is None where there is nothing to meet.

    `least`: the bound is the smallest good value, not the largest. `unit` stands behind both.
    """

    name: str
    value: float | None
    bound: float | None = None
    unit: str = "x"
    least: bool = False
    note: str = ""

    @property
    def missed(self) -> bool:
        if self.value is None or self.bound is None:
            return False
        return self.value < self.bound if self.least else self.value > self.bound

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "skipped"
        if self.bound is None:
            return ""
        return "miss" if self.missed else "ok"


HEADS = ("what", "bound", "measured", "", "note")


def _cells(one: Figure) -> tuple[str, ...]:
    bound = "" if one.bound is None else f"{'≥' if one.least else '≤'} {one.bound:g}{_unit(one)}"
    value = "" if one.value is None else f"{_short(one.value)}{_unit(one)}"
    return one.name, bound, value, one.verdict, one.note


def _unit(one: Figure) -> str:
    return one.unit if one.unit in ("x", "") else f" {one.unit}"


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"


def line(one: Figure) -> str:
    """One figure for a terminal, in columns."""
    name, bound, value, verdict, note = _cells(one)
    return f"{name:46} {bound:>9} {value:>10}  {verdict:7} {note}".rstrip()


def markdown(figures: Iterable[Figure]) -> Iterator[str]:
    """The figures as a table of a page."""
    yield f"| {' | '.join(HEADS)} |"
    yield f"|{' --- |' * len(HEADS)}"
    for one in figures:
        yield f"| {' | '.join(_cells(one))} |"
