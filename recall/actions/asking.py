"""Asking the model within bounds: so many calls a run and a day, pauses after failures, each call in the ledger.

What goes wrong is told in kinds, never in the words of a transcript.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from recall import llm
from recall.core.model import Reply
from recall.files import Lock
from recall.llm.failure import OURS, POLITE, ModelFailure
from recall.llm.ledger import Ledger
from recall.llm.pauses import EVERYTHING, Pauses
from recall.settings import Settings

TIMEOUT = 120.0
"""Seconds for one call."""

_HELD = 64
"""Sessions of a run, the last ones, that no other process may ask about: more than are under way at a time."""

_ALL_FAILED = 3
"""Attempts of a run that must all have failed for the next run to wait."""


class NotAsked(Exception):
    """The model was not asked: `why` is 'none' (no engine), 'limit' (of this run), 'day' (of a day), 'pause' (it failed
    before), 'busy' (another process asks the same, or has its answer), 'ledger' (it cannot be read or written) or the
    kind of the failure that ended the run."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Asking:
    """One run of model calls. `clock` gives seconds since the epoch; `limit` is how many attempts it may take (None:
    only the day's); `patient` runs leave out sessions that failed a short while ago. May be used by several threads."""

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], float],
        *,
        limit: int | None = None,
        patient: bool = False,
        retries: int = 1,
        timeout: float = TIMEOUT,
    ) -> None:
        self.settings = settings
        self.engine = llm.engine_of(settings)
        self.used = 0
        self.good = 0
        self.cost = 0.0
        self.stopped = ""
        self._clock = clock
        self._limit = limit
        self._patient = patient
        self._retries = retries
        self._timeout = timeout
        self._lock = threading.Lock()
        self._held: dict[str, Lock] = {}
        self._ledger = Ledger(settings.state)
        self._pauses = Pauses(settings.state)
        self._before = 0
        try:
            self._before = self._ledger.last_day(clock()) if self.engine != "none" else 0
        except OSError:
            self.stopped = "ledger"  # without it nobody counts
        self._paused = self._pauses.all() if patient else {}

    def barred(self, session: str = EVERYTHING) -> str:
        """Why the model would not be asked about a session (or about any), '' when it would."""
        if self.engine == "none":
            return "none"
        if self.stopped:
            return self.stopped
        if self._limit is not None and self.used >= self._limit:
            return "limit"
        if self._before + self.used >= self.settings.max_llm_per_day:
            return "day"
        now = self._clock()
        if max(self._paused.get(EVERYTHING, 0.0), self._paused.get(session, 0.0)) > now:
            return "pause"
        return ""

    def ask(
        self,
        session: str,
        what: str,
        system: str,
        prompt: str,
        schema: dict[str, Any],
        *,
        max_tokens: int,
        wanted: Callable[[], bool] = lambda: True,
    ) -> Reply:
        """The model's answer about a session. Raises NotAsked, or ModelFailure, which is in the ledger then.

        From here until the run is over no other process asks the same (`what`) about this session, so that there is
        time to keep the answer. `wanted` is looked at when that is so: whether nobody has written one meanwhile.
        """
        with self._lock:
            why = self.barred(session) or self._hold(session, what)
            if not why and not wanted():
                why = "busy"
            if why:
                raise NotAsked(why)
            self.used += 1
        try:
            reply = llm.complete(
                self.settings,
                system,
                prompt,
                schema,
                max_tokens=max_tokens,
                timeout=self._timeout,
                retries=self._retries,
            )
        except ModelFailure as failure:
            self._failed(session, what, failure)
            raise
        self._note(session, what, reply, "")
        with self._lock:
            self.good += 1
            self.cost += reply.usage.cost
        self._pauses.succeeded(session)
        return reply

    def _hold(self, session: str, what: str) -> str:
        """Be the only process that asks this; why that is not to be, ''.

        The file is one of those that hooks lock for what they start, and goes as those do (`marks`).
        """
        path = os.path.join(self.settings.state, "children", f"{session}.ask-{what}")
        if path in self._held:
            return ""
        lock = Lock(path, wait=False)
        try:
            if lock.__enter__() is None:
                return "busy"
            os.utime(path)
        except OSError:
            return "ledger"
        self._held[path] = lock
        if len(self._held) > _HELD:
            self._held.pop(next(iter(self._held))).__exit__(None, None, None)
        return ""

    def release(self) -> None:
        """Let others ask about the sessions of this run."""
        while self._held:
            self._held.popitem()[1].__exit__(None, None, None)

    def __del__(self) -> None:
        self.release()

    def _failed(self, session: str, what: str, failure: ModelFailure) -> None:
        self._note(session, what, None, failure.kind)
        if failure.kind in POLITE | OURS:
            self.stopped = self.stopped or failure.kind
        else:
            self._pauses.failed(session, failure.kind, self._clock())

    def reject(self, session: str) -> None:
        """An answer had the form that was asked for, and says nothing: as good as none."""
        self._pauses.failed(session, "bad_reply", self._clock())

    def _note(self, session: str, what: str, reply: Reply | None, error: str) -> None:
        model = reply.model if reply else self.settings.model
        used = reply.usage if reply else None
        try:
            with self._lock:
                self._ledger.note(self._clock(), session, what, model, self.engine, used, error)
        except OSError:  # no reason to lose the answer that was paid for
            self.stopped = self.stopped or "ledger"

    def end(self) -> None:
        """The run is over. If all that it asked failed, the next patient run waits."""
        self.release()
        if self._patient and not self.good and self.used >= _ALL_FAILED:
            self._pauses.failed(EVERYTHING, self.stopped or "all", self._clock())
