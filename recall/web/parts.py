"""What all pages work with."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import NamedTuple

from recall.errors import RecallError
from recall.settings import Settings
from recall.shelf import Shelf


class Parts(NamedTuple):
    """`now` gives the local time, aware; `explain` makes an error one that a person can understand (None: it is a bug);
    `fresh` takes in what is new and gives a word on what it could not; `program` is what recall is called."""

    settings: Settings
    now: Callable[[], datetime.datetime]
    explain: Callable[[Exception], RecallError | None]
    fresh: Callable[[], str]
    program: str = "recall"

    def shelf(self) -> Shelf:
        """Anew each time: what was removed meanwhile is gone."""
        return Shelf(self.settings.data, self.settings.state)
