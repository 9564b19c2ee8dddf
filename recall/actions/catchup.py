"""What a sweep does with a model, when it has one: cards and handoffs for the sessions of the last days that lack them.

Newest first, within the bounds of the run and of the day; a session that is not worth it takes no slot. One process
at a
time; the index is not held meanwhile.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from recall.actions.asking import Asking
from recall.actions.cards import card_of
from recall.actions.handoff import keep_handoff, lacks_handoff, write_handoff
from recall.actions.recap import Made, keep, work_on, write_card
from recall.actions.worth import Carded, is_stale, worthy
from recall.core.model import Session
from recall.errors import RecallError
from recall.files import Lock
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import Store


@dataclass
class Caught:
    """What was done: cards and handoffs by a model, cards by code alone in the place of failed ones, attempts that
    failed by kind, dollars; `busy`: another process was at it."""

    cards: int = 0
    handoffs: int = 0
    extracted: int = 0
    attempts: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    cost: float = 0.0
    stopped: str = ""
    busy: bool = False

    @property
    def changed(self) -> bool:
        return bool(self.cards or self.extracted)


def catch_up(
    settings: Settings,
    store: Store,
    shelf: Shelf,
    *,
    clock: Callable[[], float],
    days: int,
    limit: int,
) -> Caught:
    """Write what is missing of the last `days`, with at most `limit` attempts; nothing without a model."""
    done = Caught()
    asking = Asking(settings, clock, limit=limit, patient=True, retries=0)
    if asking.barred():
        done.stopped = asking.barred()
        return done
    with Lock(os.path.join(settings.state, "catchup.lock"), wait=False) as held:
        if held is None:
            done.busy = True
            return done
        rows = worthy(store.sessions(), settings, shelf, since=clock() - days * 86400, least=settings.min_events)
        _cards(rows, settings, store, shelf, asking, clock, done)
        _handoffs(rows, settings, store, asking, clock, done)
        asking.end()
    done.attempts, done.cost, done.stopped = asking.used, asking.cost, asking.barred()
    return done


def _cards(
    rows: list[Session],
    settings: Settings,
    store: Store,
    shelf: Shelf,
    asking: Asking,
    clock: Callable[[], float],
    done: Caught,
) -> None:
    carded = Carded(settings.state).events("card")
    tags = tuple(shelf.preferred_tags())
    for row in rows:
        if asking.barred():
            return
        if asking.barred(row.id) or row.written_by == "hand":
            continue
        if row.status and not is_stale(row, card_of(store, row), carded):
            continue
        try:
            work = work_on(row, store, shelf, settings)
        except (RecallError, OSError):
            continue
        made = keep(write_card(work, settings, asking, now=clock(), tags=tags, unasked=False), settings, shelf, store)
        _count(made, done)


def _count(made: Made, done: Caught) -> None:
    if made.card is not None and not made.why:
        done.cards += 1
    elif made.card is not None:
        done.extracted += 1
    if made.why and made.asked:
        done.failed[made.why] += 1


def _handoffs(
    rows: list[Session],
    settings: Settings,
    store: Store,
    asking: Asking,
    clock: Callable[[], float],
    done: Caught,
) -> None:
    """Handoffs for what still goes on: a session that is done needs none."""
    written = Carded(settings.state).events("handoff")
    fresh = store.sessions_by_no(row.no for row in rows)  # what their new cards say
    for row in (fresh[old.no] for old in rows if old.no in fresh):
        if asking.barred():
            return
        if asking.barred(row.id) or row.status in ("", "done") or not lacks_handoff(row, settings, written):
            continue
        try:
            made = write_handoff(row, store, settings, asking, now=clock())
        except (RecallError, OSError):
            continue
        keep_handoff(made, settings)
        if made.by_model:
            done.handoffs += 1
        elif made.asked:
            done.failed[made.why] += 1
