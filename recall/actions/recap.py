"""The card of a session: read its transcript, ask the model, check what it says, and put the card on the shelf.

A transcript is read twice, as a stream: once for what code can tell and for the digest that the model gets, once more
to see whether each name in the answer really occurs. Without a model, or where it fails, the card is made from the
first reading.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple

from recall.actions.asking import Asking, NotAsked
from recall.actions.cards import take_cards
from recall.actions.gist import Gist, card_prompt, grounded, read_gist
from recall.actions.log import log
from recall.actions.show import own_file
from recall.actions.worth import Carded, is_stale
from recall.core.model import Card, Reply, Session
from recall.errors import Refused
from recall.llm.failure import ModelFailure
from recall.settings import Settings
from recall.shelf import CardFile, Shelf
from recall.store import Store

MAX_TOKENS = 2000
"""Of a card's answer: ten times what one needs."""


class Work(NamedTuple):
    """A session to write about: its row, the transcript to read, and the card that it has with its file as it was
    read."""

    row: Session
    path: str
    client: str
    card: Card | None
    seen: CardFile | None


class Made(NamedTuple):
    """What came of it: the card to keep (None: the one that is there stays), and why it is not the model's ('' when
    it is): a kind of ModelFailure, a reason of NotAsked, 'hand', 'fresh', 'empty', 'unreadable' or 'changed'.
    `asked`: an attempt was made."""

    work: Work
    card: Card | None
    why: str = ""
    dropped: int = 0
    cost: float = 0.0
    asked: bool = False


def work_on(row: Session, store: Store, shelf: Shelf, settings: Settings) -> Work:
    """What is to be read for a session's card; NothingFound when no transcript of it can be read."""
    path, file = own_file(row, store, settings)
    card, seen = shelf.card_file(row.id) or (None, None)
    return Work(row, path, file.client, card, seen)


def write_card(
    work: Work,
    settings: Settings,
    asking: Asking,
    *,
    now: float,
    tags: tuple[str, ...] = (),
    force: bool = False,
    unasked: bool = True,
) -> Made:
    """Make a session's card, by the model if it may be asked. Reads the transcript and asks; touches nothing of ours.

    A card written by hand stays, and one that is not out of date stays unless `force`. `tags` are those to prefer.
    Where the model may not be asked there is a card by code only if `unasked`.
    """
    if work.card is not None and work.card.written_by == "hand":
        return Made(work, None, "hand")
    if not force and not is_stale(work.row, work.card, Carded(settings.state).events("card")):
        return Made(work, None, "fresh")
    try:
        gist = read_gist(work.row, work.path, work.client, settings, tags)
    except OSError:
        return Made(work, None, "unreadable")
    if gist.is_empty:
        return Made(work, None, "empty")
    try:
        system, prompt, schema = card_prompt(gist)
        shelf = Shelf(settings.data, settings.state)

        def wanted() -> bool:
            try:
                return (shelf.card_file(work.row.id) or (None, None))[1] == work.seen
            except OSError:
                return False

        reply = asking.ask(work.row.id, "card", system, prompt, schema, max_tokens=MAX_TOKENS, wanted=wanted)
        return _checked(work, gist, reply, settings, now)
    except ValueError as problem:  # of the reply: there is no task in it
        log(settings, now, f"card of {work.row.id}: {problem}")
        asking.reject(work.row.id)
        why, asked = "bad_reply", True
    except ModelFailure as failure:
        log(settings, now, f"card of {work.row.id}: {failure.kind}: {failure.message}")
        why, asked = failure.kind, True
    except NotAsked as reason:
        why, asked = reason.why, False
        if why == "busy":  # a card by code would be in the way of the other's
            return Made(work, None, why)
    # What a model wrote before is better than what code can tell.
    kept = (work.card is not None and work.card.written_by != "extract") or not (asked or unasked)
    return Made(work, None if kept else gist.extracted(now), why, asked=asked)


def from_reply(work: Work, reply: Reply, settings: Settings, now: float) -> Made:
    """The card of an answer that came later, from a batch. OSError when the transcript cannot be read."""
    gist = read_gist(work.row, work.path, work.client, settings)
    try:
        return _checked(work, gist, reply, settings, now)
    except ValueError as problem:
        log(settings, now, f"card of {work.row.id}: {problem}")
        return Made(work, None, "bad_reply", cost=reply.usage.cost, asked=True)


def _checked(work: Work, gist: Gist, reply: Reply, settings: Settings, now: float) -> Made:
    card, dropped = grounded(gist, reply, settings, now)
    return Made(work, card, "", dropped, reply.usage.cost, True)


def keep(made: Made, settings: Settings, shelf: Shelf, store: Store) -> Made:
    """Put a card on the shelf and into the index; a file that was changed meanwhile stays as it is ('changed')."""
    if made.card is None:
        return made
    row = made.work.row
    if shelf.is_removed(row.id):
        return made._replace(card=None, why="removed")
    try:
        shelf.write_card(made.card, made.work.seen)
    except Refused:
        return made._replace(card=None, why="changed")
    take_cards(store, shelf)
    if made.card.written_by != "extract":
        Carded(settings.state).note("card", row.id, row.events)
    return made


def many(
    works: Iterator[Work], write: Callable[[Work], Made], *, jobs: int, stop: Callable[[], None]
) -> Iterator[Made]:
    """What `write` makes of the sessions, `jobs` at a time, as it is done. Closed early (Ctrl-C), what is under way is
    given up by `stop`, and no other is begun."""
    todo: queue.Queue[Work | None] = queue.Queue(jobs)
    done: queue.Queue[Made | BaseException] = queue.Queue()

    def worker() -> None:
        while (work := todo.get()) is not None:
            try:
                done.put(write(work))
            except BaseException as problem:
                done.put(problem)

    for _ in range(jobs):
        threading.Thread(target=worker, daemon=True).start()
    under_way = 0
    try:
        for work in works:
            todo.put(work)
            under_way += 1
            while under_way >= jobs or not done.empty():
                yield _taken(done)
                under_way -= 1
        while under_way:
            yield _taken(done)
            under_way -= 1
    finally:
        if under_way:
            stop()
        for _ in range(jobs):
            todo.put(None)


def _taken(done: queue.Queue[Made | BaseException]) -> Made:
    made = done.get()
    if isinstance(made, BaseException):
        raise made
    return made
