"""Time stamps of transcripts: ISO 8601 text or a number, to seconds since the epoch."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recall.core.facts import Facts

_OLDEST = 946684800.0  # 2000-01-01
_NEWEST = 4102444800.0  # 2100-01-01


def seconds(value: object) -> float:
    """Seconds since the epoch, UTC; 0.0 for what is no time between 2000 and 2100. Milliseconds are recognised."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            found = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return 0.0
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        if not 0 < value < 1e14:
            return 0.0
        found = float(value)
        if found > 1e11:
            found /= 1000
    else:
        return 0.0
    return found if _OLDEST <= found < _NEWEST else 0.0


def widen(facts: Facts, time: float) -> None:
    """Let `facts.started` and `facts.updated` include `time`: records may be out of order."""
    if time:
        if not facts.started or time < facts.started:
            facts.started = time
        if time > facts.updated:
            facts.updated = time
