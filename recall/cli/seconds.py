"""A number of seconds as it is typed: within bounds, which `nan` is of none."""

from __future__ import annotations

import math
from typing import Any

import click


class Seconds(click.FloatRange):
    """Like click's, but `nan`, which is neither too small nor too large for it: what waits so long never ends."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value!r} is no number of seconds", param, ctx)
        return found
