"""Which sessions are not to be asked about for a while, since asking failed: `<state>/backoff.json`.

Session id -> `fails` (in a row), `until` (seconds since the epoch), `kind` of the last failure. The key '' is
everything: a run in which no call succeeded makes the next one wait.
"""

from __future__ import annotations

import os
from typing import Any

import orjson

from recall.files import Lock, write_atomic

WAITS = (3600.0, 4 * 3600.0, 86400.0, 3 * 86400.0, 7 * 86400.0)
"""Seconds after the first, second, ... failure in a row; the last one for all that follow. Everything waits for the
second at most: what is down comes back."""

EVERYTHING = ""


class Pauses:
    """The pauses in one state folder; each call reads the file anew, since several processes ask."""

    def __init__(self, state: str) -> None:
        self._path = os.path.join(state, "backoff.json")

    def until(self, session: str) -> float:
        """When the session may be asked about again (seconds since the epoch), 0.0: now."""
        entry = self._read().get(session)
        return _number(entry.get("until")) if isinstance(entry, dict) else 0.0

    def failed(self, session: str, kind: str, now: float) -> None:
        """Asking failed once more."""
        with Lock(self._path + ".lock"):
            found = self._read()
            entry = found.get(session)
            fails = int(_number(entry.get("fails"))) if isinstance(entry, dict) else 0
            longest = len(WAITS) - 1 if session != EVERYTHING else 1
            wait = WAITS[min(fails, longest)]
            found[session] = {"fails": fails + 1, "until": now + wait, "kind": kind}
            self._write(found)

    def succeeded(self, session: str) -> None:
        """Asking went well: nothing of the failures is remembered, nor that everything failed."""
        if not {session, EVERYTHING} & self._read().keys():
            return
        with Lock(self._path + ".lock"):
            found = self._read()
            found.pop(session, None)
            found.pop(EVERYTHING, None)
            self._write(found)

    def all(self) -> dict[str, float]:
        """Session -> when it may be asked about again."""
        return {key: _number(entry.get("until")) for key, entry in self._read().items() if isinstance(entry, dict)}

    def _read(self) -> dict[str, Any]:
        try:
            with open(self._path, "rb") as file:
                found = orjson.loads(file.read())
        except (OSError, orjson.JSONDecodeError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, found: dict[str, Any]) -> None:
        if found:
            write_atomic(self._path, orjson.dumps(found, option=orjson.OPT_INDENT_2))
        elif os.path.exists(self._path):
            os.unlink(self._path)


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0.0
