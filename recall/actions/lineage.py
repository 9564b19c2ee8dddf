"""Which transcripts are one session: chains of resumed copies, and forks.

A client that resumes or forks may copy the history, record ids included, into a new file. If all records of A are in
B, they are one row (a chain), shown as B. If each has records of its own, they are two rows, and the one whose own
records began later is a fork of the other; its first request and its time are those of its own tail.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from recall import clients
from recall.actions.reading import Reading
from recall.core.clean import clean
from recall.core.facts import Facts
from recall.core.model import SPOKEN, Session
from recall.settings import Settings
from recall.store import Store


class Lineage:
    """Gathers what changed during a sweep, then settles who belongs to whom."""

    def __init__(self) -> None:
        self._touched: set[int] = set()
        self._new = False

    def note(self, session: int, *, new: bool) -> None:
        """A session got new records; `new`: a file of it was read from its beginning."""
        self._touched.add(session)
        self._new |= new

    def settle(self, store: Store, settings: Settings, head: Callable[[Session], dict[str, str]]) -> None:
        """Write chain and fork marks; `head` gives what stands above a transcript. In a transaction, after the sessions' rows were
        made."""
        touched = store.sessions_by_no(self._touched).values()
        if not self._new and not any(row.chain_to or row.chain > 1 or row.fork_of for row in touched):
            return
        rows = {row.no: row for row in store.sessions()}
        records: dict[int, set[int]] = {}
        firsts: dict[int, list[int]] = {}
        for session, numbers in store.all_uuids():
            records.setdefault(session, set()).update(numbers)
            firsts.setdefault(numbers[0], []).append(session)
        into: dict[int, int] = {}
        pairs: set[tuple[int, int]] = set()
        for no, mine in records.items():
            for first in firsts.keys() & mine:
                for other in firsts[first]:
                    if other == no:
                        continue
                    theirs = records[other]
                    if theirs < mine or (theirs == mine and _age(rows[other]) < _age(rows[no])):
                        best = into.get(other)
                        if best is None or _age(rows[best]) < _age(rows[no]):
                            into[other] = no
                    elif not mine <= theirs:
                        pairs.add((min(no, other), max(no, other)))
        chains: dict[int, int] = {}
        for no in into:
            root = _root(no, into)
            chains[root] = chains.get(root, 1) + 1
        forks = self._forks(store, settings, rows, records, into, pairs)
        for no, row in rows.items():
            chain_to = _root(no, into) if no in into else 0
            fresh = row._replace(chain_to=chain_to, chain=1 if chain_to else chains.get(no, 1))
            if no in forks and not chain_to:
                origin, tail = forks[no]
                fresh = fresh._replace(
                    fork_of=row.fork_of or rows[origin].id,
                    started=tail.started or row.started,
                    ask=clean(tail.first_ask) or row.ask,
                )
            if fresh != row:
                store.put_session(fresh)
                if fresh.ask != row.ask:
                    store.put_head(no, head(fresh))

    def _forks(
        self,
        store: Store,
        settings: Settings,
        rows: dict[int, Session],
        records: dict[int, set[int]],
        into: dict[int, int],
        pairs: set[tuple[int, int]],
    ) -> dict[int, tuple[int, Facts]]:
        """fork -> (its origin, the facts of its own tail), among sessions that share records."""
        forks: dict[int, tuple[int, Facts]] = {}
        most: dict[int, int] = {}
        for one, two in sorted(pairs):
            if one in into or two in into:
                continue
            shared = records[one] & records[two]
            tails = {no: _tail(store, settings, no, shared) for no in (one, two)}
            named = {no for no in (one, two) if rows[no].fork_of == rows[one + two - no].id}
            fork = named.pop() if len(named) == 1 else max((tails[no].started, no) for no in (one, two))[1]
            if len(shared) > most.get(fork, 0):
                most[fork] = len(shared)
                forks[fork] = (one + two - fork, tails[fork])
        return forks


def _age(row: Session) -> tuple[float, int]:
    return row.updated, row.no


def _root(no: int, into: dict[int, int]) -> int:
    seen = {no}
    while no in into and into[no] not in seen:
        no = into[no]
        seen.add(no)
    return no


def _tail(store: Store, settings: Settings, no: int, shared: set[int]) -> Facts:
    """The facts of a session's own records: those behind the last one that is shared."""
    tail = Facts()
    for file in store.files(no):
        if file.kind != "main":
            continue
        client = clients.get(file.client)
        path = os.path.join(settings.archive, file.copy)
        whole = Facts()
        start = 0
        lines = Reading(path, 0, whole, settings.max_line).lines()
        for line in lines:
            before = len(whole.uuids)
            for _ in client.parse((line,), whole, SPOKEN):
                pass
            if any(number in shared for number in whole.uuids[before:]):
                start = line.at + 1
        own = (line for line in Reading(path, 0, Facts(), settings.max_line).lines() if line.at >= start)
        for _ in client.parse(own, tail, SPOKEN):
            pass
    return tail
