"""What model calls cost: a table with a date.

Dollars for a million tokens, from the price pages of the models' maker. A prompt longer than the step of its model is
billed at the second row, whole. Batches cost half.
"""

from __future__ import annotations

from typing import NamedTuple

from recall.core.model import Usage

DATE = "2026-10-07"
"""When the table was looked up."""

BATCH = 0.5
"""Share of the price that a batch costs."""


class Price(NamedTuple):
    """Dollars for a million tokens: prompt, answer, prompt read from the cache, prompt written to it (5 minutes)."""

    input: float
    output: float
    cache_read: float
    cache_write: float


class Tariff(NamedTuple):
    """The price of prompts up to `step` tokens, and of longer ones."""

    usual: Price
    step: int
    above: Price


_HAIKU_4_5 = Price(1.0, 5.0, 0.10, 1.25)
TARIFFS = {
    "claude-haiku-5-5": Tariff(Price(0.10, 0.50, 0.01, 0.125), 100_000, Price(0.50, 2.50, 0.05, 0.625)),
    "claude-haiku-4-5": Tariff(_HAIKU_4_5, 0, _HAIKU_4_5),
}
_ALIASES = {"haiku": "claude-haiku-5-5"}


def tariff(model: str) -> Tariff | None:
    """The tariff of a model by its id, dated or not (`claude-haiku-4-5-20251001`), or alias; None when it is not
    known."""
    name = _ALIASES.get(model, model)
    for known, found in TARIFFS.items():
        rest = name.removeprefix(known)
        if not rest or (rest != name and rest[1:].isdigit() and rest[0] in "-@"):
            return found
    return None


def cost(model: str, usage: Usage, *, batch: bool = False) -> float:
    """Dollars for one call; 0.0 for a model whose price is not known. `usage.input` is without what the cache gave or
    took."""
    found = tariff(model)
    if found is None:
        return 0.0
    prompt = usage.input + usage.cache_read + usage.cache_write
    price = found.above if prompt > found.step else found.usual
    dollars = (
        usage.input * price.input
        + usage.output * price.output
        + usage.cache_read * price.cache_read
        + usage.cache_write * price.cache_write
    ) / 1e6
    return dollars * BATCH if batch else dollars
