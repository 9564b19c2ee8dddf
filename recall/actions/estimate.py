"""What cards for many sessions would take, before any is asked for: from the index alone, as a range."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from recall.core.digest import BUDGET
from recall.core.model import Session, Usage
from recall.llm import prices

_FIXED = 1300  # tokens of the fixed part: what is asked, and the schema
_WORD = 7.0  # characters, blank included
_EVENT = 80.0  # characters of what stands round an event
_DENSE, _LOOSE = 2.2, 4.0  # characters in a token: dense scripts and code, plain English


class Estimate(NamedTuple):
    """`sessions` many; tokens of all prompts and all answers together, low and high."""

    sessions: int
    input: tuple[int, int]
    output: tuple[int, int]

    def price(self, model: str, *, batch: bool = False) -> tuple[float, float] | None:
        """Dollars, low and high; None where the model's price is not known."""
        if prices.tariff(model) is None or not self.sessions:
            return None if self.sessions else (0.0, 0.0)
        # One prompt never comes near the step of the price: reckoned a call at a time.
        low, high = (
            self.sessions
            * prices.cost(model, Usage(self.input[n] // self.sessions, self.output[n] // self.sessions), batch=batch)
            for n in (0, 1)
        )
        return low, high


def estimate(rows: Iterable[Session]) -> Estimate:
    """Of a card for each of these sessions."""
    count, low, high = 0, 0, 0
    for row in rows:
        count += 1
        size = row.words * _WORD + row.events * _EVENT
        low += _FIXED + int(min(BUDGET, size * 0.3) / _LOOSE)
        high += _FIXED + int(min(BUDGET, size) / _DENSE)
    return Estimate(count, (low, high), (count * 200, count * 600))
