"""Looking into the index while somebody types: in threads of their own, with a connection of their own.

Only the newest question is answered: one that comes while another is worked on takes the place of those that wait. The
index is let go when nobody has asked for a moment, since a sweep or a rebuild may want it alone.
"""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable, Mapping
from typing import Generic, NamedTuple, TypeVar

from recall.actions.find import Found, find
from recall.actions.preview import Preview, preview
from recall.core.card import short_ids
from recall.core.model import Hit, Session
from recall.core.query import Query, parse, phrase
from recall.errors import RecallError
from recall.live import live_ids
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import OlderIndex, Store, open_store
from recall.tui import completion

ROWS = 60
"""Sessions that are listed at first; whoever goes to the end gets more."""
IDLE = 1.0
"""Seconds without a question after which the index is let go."""

Job = TypeVar("Job")


class Parts(NamedTuple):
    """What the picker works with. `now` gives the local time, aware; `explain` makes an error one that a user can
    understand (None: it is a bug); `rebuild` makes an index of an older recall again; `env` is the environment; `peek` gives
    what the terminal of a live session shows."""

    settings: Settings
    now: Callable[[], datetime.datetime]
    explain: Callable[[Exception], RecallError | None]
    rebuild: Callable[[], None]
    env: Mapping[str, str]
    program: str = "recall"
    peek: Callable[[Session], list[str]] | None = None


class Asked(NamedTuple):
    """One question: `number` tells which of two is newer."""

    number: int
    text: str
    everything: bool
    rows: int = ROWS


class Answer(NamedTuple):
    """What a question gave. `words` are those of the index that answer it."""

    asked: Asked
    query: Query
    found: Found
    words: tuple[str, ...]
    live: frozenset[str]


class Names(NamedTuple):
    """What is the same for all questions until something changes: `shorts`, ids as they are shown, and `known`, what filters
    can be completed with."""

    shorts: Mapping[str, str]
    known: completion.Values


class Latest(Generic[Job]):
    """A thread that works on the newest job only. `rest` is called in it when there was none for a moment."""

    def __init__(self, work: Callable[[Job], None], rest: Callable[[], None] = lambda: None) -> None:
        self._work = work
        self._rest = rest
        self._wake = threading.Condition()
        self._job: Job | None = None
        self._over = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def ask(self, job: Job) -> None:
        with self._wake:
            self._job = job
            self._wake.notify()

    def stop(self, seconds: float) -> None:
        """End the thread; one that hangs in its work is not waited for longer than so many seconds."""
        with self._wake:
            self._over, self._job = True, None
            self._wake.notify()
        self._thread.join(seconds)

    def _run(self) -> None:
        resting = True
        while True:
            with self._wake:
                while self._job is None and not self._over:
                    if not self._wake.wait(None if resting else IDLE):
                        break
                job, self._job = self._job, None
                if self._over:
                    break
            if job is None:
                self._rest()
                resting = True
                continue
            resting = False
            self._work(job)
        self._rest()


class Index:
    """A connection for one thread, made when it is asked for and let go between."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._store: Store | None = None

    def open(self) -> Store:
        if self._store is None:
            try:
                self._store = open_store(self._parts.settings.index)
            except OlderIndex:
                self._parts.rebuild()
                self._store = open_store(self._parts.settings.index)
        return self._store

    def rest(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None


class Searcher:
    """Answers questions: `told` gets the answers, `named` the names behind the first one and behind one after `renew`,
    `failed` the question and why there is no answer. All are called in the thread."""

    def __init__(
        self,
        parts: Parts,
        told: Callable[[Answer], None],
        named: Callable[[Names], None],
        failed: Callable[[Asked, RecallError], None],
        bug: Callable[[Exception], None],
    ) -> None:
        self._parts = parts
        self._told, self._named, self._failed, self._bug = told, named, failed, bug
        self._index = Index(parts)
        self._names: Names | None = None
        self._newest = 0
        self._latest: Latest[Asked] = Latest(self._work, self._index.rest)

    def ask(self, text: str, everything: bool, rows: int = ROWS) -> int:
        """Put a question; its number."""
        self._newest += 1
        self._latest.ask(Asked(self._newest, text, everything, rows))
        return self._newest

    def renew(self) -> None:
        """Something changed in the index."""
        self._names = None

    def stop(self) -> None:
        self._latest.stop(0.3)

    def _work(self, asked: Asked) -> None:
        try:
            self._told(self.answer(asked))
            if self._names is None:  # behind the answer, which a person waits for
                rows = self._index.open().glances()
                self._names = Names(short_ids((row.client, row.id) for row in rows), completion.values(rows))
                self._named(self._names)
        except Exception as problem:
            self._index.rest()
            known = self._parts.explain(problem)
            if known is None:
                self._bug(problem)
            else:
                self._failed(asked, known)

    def answer(self, asked: Asked) -> Answer:
        """The answer to one question; what `find` prints for the same words, in the same order."""
        settings = self._parts.settings
        now = self._parts.now()
        store = self._index.open()
        query = parse(completion.settled(asked.text, self._names.known if self._names else {}), now)
        live = live_ids(settings)
        shelf = Shelf(settings.data, settings.state)  # anew: what was removed meanwhile is gone
        found = find(
            query,
            store,
            now=now.timestamp(),
            limit=asked.rows,
            everything=asked.everything,
            without=(settings.current_session,) if settings.current_session else (),
            removed=shelf.is_removed,
            live=live if query.filters.get("is") else None,
        )
        return Answer(asked, query, found, words_of(query, found.hits), live)


def words_of(query: Query, hits: list[Hit]) -> tuple[str, ...]:
    """The index words that answer a query: what was typed first, then the forms that were found."""
    typed = [word for term in query.terms for option in term.options for word in option]
    files = [term for value in query.filters.get("file", ()) for term in phrase(value)]
    named = [word for term in files for option in term.options for word in option]
    return tuple(dict.fromkeys([*typed, *named, *(hits[0].words if hits else ())]))


class Wanted(NamedTuple):
    """One session to be looked at."""

    hit: Hit
    words: tuple[str, ...]


class Previewer:
    """Looks at sessions. `told` gets the preview, in the thread."""

    def __init__(self, parts: Parts, told: Callable[[Wanted, Preview], None], bug: Callable[[Exception], None]) -> None:
        self._parts = parts
        self._told, self._bug = told, bug
        self._index = Index(parts)
        self._latest: Latest[Wanted] = Latest(self._work, self._index.rest)

    def ask(self, wanted: Wanted) -> None:
        self._latest.ask(wanted)

    def stop(self) -> None:
        self._latest.stop(0.3)

    def _work(self, wanted: Wanted) -> None:
        session = wanted.hit.session
        try:
            store = self._index.open()
            seen = preview(session, store, self._parts.settings, words=wanted.words, best=wanted.hit.row)
        except Exception as problem:
            self._index.rest()
            known = self._parts.explain(problem)
            if known is None:
                self._bug(problem)
                return
            seen = Preview(session, None, (), 0, known.message)
        self._told(wanted, seen)
