"""What a sweep did with a model: doing it, and telling it."""

from __future__ import annotations

import time

from recall.actions.catchup import Caught, catch_up
from recall.actions.view import write_view
from recall.cli.app import App


def catch(app: App, days: int, limit: int) -> Caught:
    """Cards and handoffs by a model for the sessions of the last `days`, with at most `limit` attempts."""
    caught = catch_up(app.settings, app.store, app.shelf, clock=time.time, days=days, limit=limit)
    if caught.changed:
        write_view(app.settings, app.store, app.shelf)
    return caught


def line(caught: Caught) -> str:
    """What was written, in one line; '' when there was nothing to do."""
    parts = [_count(caught.cards, "card"), _count(caught.handoffs, "handoff")]
    parts += [f"{n} failed ({kind})" for kind, n in sorted(caught.failed.items())]
    told = ", ".join(filter(None, parts))
    return f"model: {told}, ${caught.cost:.4f}" if told else ""


def document(caught: Caught) -> dict[str, object]:
    """The same as JSON."""
    return {
        "attempts": caught.attempts,
        "cards": caught.cards,
        "handoffs": caught.handoffs,
        "extracted": caught.extracted,
        "failed": dict(caught.failed),
        "stopped": caught.stopped,
        "cost": round(caught.cost, 6),
    }


def _count(n: int, name: str) -> str:
    return f"{n} {name}{'' if n == 1 else 's'}" if n else ""
