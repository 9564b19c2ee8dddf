"""A look at what is new, before a command that reads."""

from __future__ import annotations

from recall.actions.refresh import refresh
from recall.cli.app import App


def freshen(app: App, *, quiet: bool = False) -> None:
    """Take in what changed since the last sweep, within the budget of `refresh`, before the index is opened; what could
    not be is told on stderr unless `quiet`."""
    left = refresh(app.settings)
    if left and not quiet:
        app.say(left)
