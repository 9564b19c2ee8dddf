"""The ledger of model calls: `<state>/ledger.jsonl`, one line a call, appended and never changed.

A line: `time` (ISO 8601 UTC), `session`, `what` ('card' or 'handoff'), `model`, `engine`, `input`, `output` (tokens;
input with what the cache gave and took), `cost` (dollars by the dated table), `ok`, `error` (a kind, '' when it went
well). No text of a transcript.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator
from typing import NamedTuple

import orjson

from recall.core.model import Usage
from recall.files import append_private

_TAIL = 1 << 20
"""Bytes at the end that are read to count the last calls: far more than a day's."""


class Call(NamedTuple):
    """One line of the ledger; `time` in seconds since the epoch."""

    time: float
    session: str
    what: str
    model: str
    engine: str
    input: int
    output: int
    cost: float
    ok: bool
    error: str


class Ledger:
    """The ledger in one state folder."""

    def __init__(self, state: str) -> None:
        self.path = os.path.join(state, "ledger.jsonl")

    def note(
        self, now: float, session: str, what: str, model: str, engine: str, usage: Usage | None = None, error: str = ""
    ) -> None:
        """Append one call; OSError when that cannot be done."""
        used = usage or Usage()
        line = orjson.dumps(
            {
                "time": datetime.datetime.fromtimestamp(now, datetime.UTC).isoformat(timespec="seconds"),
                "session": session,
                "what": what,
                "model": model,
                "engine": engine,
                "input": used.input + used.cache_read + used.cache_write,
                "output": used.output,
                "cost": round(used.cost, 6),
                "ok": not error,
                "error": error,
            },
            option=orjson.OPT_APPEND_NEWLINE,
        )
        append_private(self.path, line)

    def calls(self, since: float = 0.0) -> Iterator[Call]:
        """The calls from `since` on, oldest first. Lines that are no calls are passed over."""
        try:
            with open(self.path, "rb") as file:
                if since:
                    size = os.fstat(file.fileno()).st_size
                    file.seek(max(0, size - _TAIL))
                    if size > _TAIL:
                        file.readline()
                for line in file:
                    call = _call(line)
                    if call is not None and call.time >= since:
                        yield call
        except FileNotFoundError:
            return

    def last_day(self, now: float) -> int:
        """How many calls were made in the 24 hours before `now`."""
        return sum(1 for _ in self.calls(now - 86400))


def _call(line: bytes) -> Call | None:
    try:
        found = orjson.loads(line)
        return Call(
            datetime.datetime.fromisoformat(found["time"]).timestamp(),
            str(found.get("session", "")),
            str(found.get("what", "")),
            str(found.get("model", "")),
            str(found.get("engine", "")),
            int(found.get("input", 0)),
            int(found.get("output", 0)),
            float(found.get("cost", 0.0)),
            bool(found.get("ok")),
            str(found.get("error", "")),
        )
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
        return None
