"""How much there is: sessions, messages and bytes by client, project and month; cards; model calls and their cost."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from recall.core.card import has_row, project_name
from recall.core.model import Session
from recall.llm.ledger import Ledger
from recall.settings import Settings
from recall.store import Store

WEEKS = 26
"""In a chart."""


@dataclass
class Sum:
    """Of some sessions: how many, their messages, and the bytes of their transcripts."""

    sessions: int = 0
    messages: int = 0
    bytes: int = 0


@dataclass
class Calls:
    """Of some model calls: how many, how many of them failed, tokens, and dollars."""

    calls: int = 0
    failed: int = 0
    input: int = 0
    output: int = 0
    cost: float = 0.0


@dataclass
class Stats:
    """`first` and `last` event of the sessions that are counted, in seconds since the epoch. Months are `2026-06`, weeks
    the date of their Monday, both of the sessions' last events in local time. `cards` counts sessions by who wrote their
    card; `call_weeks` model calls by week."""

    whole: Sum = field(default_factory=Sum)
    first: float = 0.0
    last: float = 0.0
    clients: dict[str, Sum] = field(default_factory=dict)
    projects: dict[str, Sum] = field(default_factory=dict)
    months: dict[str, Sum] = field(default_factory=dict)
    weeks: dict[str, Sum] = field(default_factory=dict)
    cards: dict[str, int] = field(default_factory=dict)
    calls: Calls = field(default_factory=Calls)
    models: dict[str, Calls] = field(default_factory=dict)
    call_weeks: dict[str, Calls] = field(default_factory=dict)


def stats(store: Store, settings: Settings, *, zone: datetime.tzinfo | None, removed: Callable[[str], bool]) -> Stats:
    """Count everything. `zone` is the local time zone (None: the system's); removed sessions do not count."""
    out = Stats()
    rows = {row.no: row for row in store.sessions() if not removed(row.id)}
    sizes: dict[int, int] = {}
    for file in store.files():
        row = rows.get(file.session)
        if row:
            owner = row.chain_to or row.no
            sizes[owner] = sizes.get(owner, 0) + file.done
    for row in rows.values():
        if row.chain_to or not (has_row(row) or row.pieces):
            continue
        months, weeks = _when(row, zone)
        for table, key in (
            (out.clients, row.client),
            (out.projects, project_name(row)),
            (out.months, months),
            (out.weeks, weeks),
        ):
            if key:
                _add(table.setdefault(key, Sum()), row, sizes.get(row.no, 0))
        _add(out.whole, row, sizes.get(row.no, 0))
        out.first = min(out.first or row.started, row.started or out.first)
        out.last = max(out.last, row.updated)
        if row.status:
            who = row.written_by or "unknown"
            out.cards[who] = out.cards.get(who, 0) + 1
    for call in Ledger(settings.state).calls():
        counted = [out.calls, out.models.setdefault(call.model or "unknown", Calls())]
        if call.time:
            counted.append(out.call_weeks.setdefault(_week(call.time, zone), Calls()))
        for one in counted:
            one.calls += 1
            one.failed += not call.ok
            one.input += call.input
            one.output += call.output
            one.cost += call.cost
    return out


def _add(one: Sum, row: Session, size: int) -> None:
    one.sessions += 1
    one.messages += row.messages
    one.bytes += size


def _when(row: Session, zone: datetime.tzinfo | None) -> tuple[str, str]:
    """(month, Monday of the week) of a session's last event; '' where it is not known."""
    if not row.updated:
        return "", ""
    return datetime.datetime.fromtimestamp(row.updated, zone).strftime("%Y-%m"), _week(row.updated, zone)


def _week(seconds: float, zone: datetime.tzinfo | None) -> str:
    """The Monday of the week."""
    day = datetime.datetime.fromtimestamp(seconds, zone).date()
    return (day - datetime.timedelta(days=day.weekday())).isoformat()


def series(weeks: Iterable[str]) -> list[str]:
    """The Mondays that a chart shows: up to the last of `weeks`, without gaps, WEEKS at most."""
    mondays = sorted(weeks)
    if not mondays:
        return []
    first, last = datetime.date.fromisoformat(mondays[0]), datetime.date.fromisoformat(mondays[-1])
    count = min(WEEKS, (last - first).days // 7 + 1)
    return [(last - datetime.timedelta(weeks=n)).isoformat() for n in range(count)][::-1]
