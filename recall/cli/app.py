"""The parts of recall put together for one command: settings, the clock, the index, and where output goes."""

from __future__ import annotations

import datetime
import os
import sys
from collections.abc import Callable
from functools import cached_property

from recall.core.model import Session
from recall.errors import NothingFound, Usage
from recall.settings import Settings, load
from recall.shelf import Shelf
from recall.store import Store, open_store


class App:
    """What a command works with. Everything is made when it is first asked for."""

    def __init__(self, settings: Settings, now: datetime.datetime) -> None:
        self.settings = settings
        self.now = now  # aware, in local time

    @classmethod
    def from_environment(cls) -> App:
        return cls(load(), datetime.datetime.now().astimezone())

    @cached_property
    def store(self) -> Store:
        """The open index; one of an older version is made again first."""
        from recall.store import OlderIndex

        try:
            return open_store(self.settings.index)
        except OlderIndex:
            self.say("the index is of an older recall: making it again from the archive")
            self.rebuild()
            return open_store(self.settings.index)

    def rebuild(self) -> None:
        from recall.actions.reindex import rebuild
        from recall.actions.sweep import nothing
        from recall.files import Lock

        with Lock(os.path.join(self.settings.state, "sweep.lock")):
            rebuild(self.settings, progress=nothing)

    @cached_property
    def shelf(self) -> Shelf:
        return Shelf(self.settings.data, self.settings.state)

    @cached_property
    def live(self) -> frozenset[str]:
        """Ids of the sessions that are open now."""
        from recall.live import live_ids

        return live_ids(self.settings)

    def close(self) -> None:
        if "store" in self.__dict__:
            self.store.close()

    @staticmethod
    def say(line: str) -> None:
        """A word to the person, beside the output."""
        print(f"recall: {line}", file=sys.stderr)

    def resolve(self, typed: str) -> Session:
        """The session that an id, a prefix of one, `last` or `.` means.

        Raises NothingFound, or Usage with the candidates where a prefix is not unique. A removed session is not found.
        """
        if typed == "last":
            return self._newest(lambda row: True, "no session yet", "run: recall sweep")
        if typed == ".":
            here = os.getcwd()
            return self._newest(
                lambda row: row.cwd == here or row.cwd.startswith(here + "/"),
                f"no session in {here}",
                "an id, or `last`, names one elsewhere",
            )
        if not typed or "/" in typed or typed.startswith("-") or len(typed) > 200:
            raise Usage(f"'{typed}' is no session id", "recall find WORDS shows ids")
        found = [row for row in self.store.sessions_like(typed, 50) if not self.shelf.is_removed(row.id)]
        exact = [row for row in found if row.id == typed]
        if exact:
            return exact[0]
        if not found:
            removed = self.store.sessions_like(typed, 1) or self.shelf.is_removed(typed)
            if removed:
                raise NothingFound(f"session {typed} was removed", "")
            raise NothingFound(f"no session {typed}", "recall find WORDS shows ids; recall sweep takes in new sessions")
        if len(found) > 1:
            from recall.core.card import index_line, short_ids

            rows = found[:8]
            shorts = short_ids((row.client, row.id) for row in found)
            lines = "\n".join("  " + index_line(row, shorts[row.id], None) for row in rows)
            more = f"\n  … {len(found) - len(rows)} more" if len(found) > len(rows) else ""
            raise Usage(f"{typed} could be {len(found)} sessions:\n{lines}{more}", "type more of the id")
        return found[0]

    def _newest(self, fits: Callable[[Session], bool], message: str, hint: str) -> Session:
        rows = [
            row
            for row in self.store.sessions()
            if not row.chain_to
            and not row.hidden
            and row.messages
            and row.id != self.settings.current_session
            and not self.shelf.is_removed(row.id)
            and fits(row)
        ]
        if not rows:
            raise NothingFound(message, hint)
        return max(rows, key=lambda row: row.updated)
