"""What wants you now, what is open, and what is in progress with its next step: one list over both clients."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from recall.actions.cards import card_of
from recall.actions.handoff import kept
from recall.actions.ps import Listed
from recall.core.card import has_row, status_of
from recall.core.model import Session
from recall.settings import Settings
from recall.store import Store


class Upnext(NamedTuple):
    """`waiting` and `open` are sessions that are open (those that wait for the person, and the others); `progress` sessions that
    are not, by their cards in progress and not older than was asked, each with its next step, newest first."""

    waiting: list[Listed]
    open: list[Listed]
    progress: list[tuple[Session, str]]


def upnext(
    opened: Iterable[Listed], store: Store | None, settings: Settings, *, since: float, removed: Callable[[str], bool]
) -> Upnext:
    """`opened` is what is open now; `since` the oldest last event (seconds) of a session in progress; `removed(id)`: it
    has a tombstone."""
    waiting: list[Listed] = []
    other: list[Listed] = []
    for row in opened:
        (waiting if row.open.state == "waiting" else other).append(row)
    there = {row.open.session for row in (*waiting, *other)}
    progress = []
    for session in store.sessions() if store else ():
        if (
            session.id not in there
            and not removed(session.id)
            and session.updated >= since
            and not session.chain_to
            and not session.hidden
            and not session.meta
            and has_row(session)
            and status_of(session) == "in_progress"
        ):
            progress.append(session)
    progress.sort(key=lambda session: (-session.updated, session.id))
    return Upnext(waiting, other, [(session, next_of(session, store, settings)) for session in progress])


def next_of(session: Session, store: Store | None, settings: Settings) -> str:
    """The next step as its card or its handoff has it, whichever is newer; '' when neither knows one."""
    card = card_of(store, session) if store else None
    handoff = kept(settings, session.id)
    steps = handoff.next[0] if handoff and handoff.next else ""
    if steps and handoff and (not card or not card.next or handoff.updated >= card.written_at):
        return steps
    return card.next if card else ""
