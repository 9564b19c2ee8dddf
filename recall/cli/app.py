"""The parts of recall put together for one command: settings, the clock, the index, and where output goes."""

from __future__ import annotations

import datetime
import os
import sys
from functools import cached_property

from recall.core.model import Session
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
        """A word to the person, beside the output; redacted, and without what steers a terminal."""
        from recall.core.clean import clean

        print(f"recall: {clean(line)}", file=sys.stderr)

    def resolve(self, typed: str) -> Session:
        """The session that an id, a prefix of one, `last` or `.` means.

        Raises NothingFound, or Usage with the candidates where a prefix is not unique. A removed session is not found.
        """
        from recall.actions.resolve import resolve

        return resolve(typed, self.store, self.shelf, folder=os.getcwd, without=self.settings.current_session)
