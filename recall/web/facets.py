"""What the sessions that answer have in common: project, client, month, status, tag, with how many there are of each."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from recall.core.card import status_of, tags_of
from recall.core.model import Glance, Session
from recall.core.page import escaped
from recall.core.plain import one_line
from recall.core.query import parse
from recall.web import typed
from recall.web.frame import address

MOST = 12
"""Values of one facet that are listed."""
_NAMES = {"project": "Project", "client": "Client", "month": "Month", "status": "Status", "tag": "Tag"}


class Facet(NamedTuple):
    """One value: what it is called, how many sessions have it, and the filters that mean it; none where it cannot be typed."""

    label: str
    sessions: int
    filters: typed.Filters


def facets(rows: Iterable[Session | Glance], now: datetime.datetime) -> dict[str, list[Facet]]:
    """The values of each facet, the most frequent first, months the newest first. `now` is an aware local time."""
    counts: dict[str, dict[str, int]] = {name: {} for name in _NAMES}
    for row in rows:
        for name, value in _values(row):
            counts[name][value] = counts[name].get(value, 0) + 1
    out = {}
    for name, mine in counts.items():
        order = sorted(mine, reverse=True) if name == "month" else sorted(mine, key=lambda one: (-mine[one], one))
        out[name] = [Facet(one_line(value), mine[value], _filters(name, value, now)) for value in order]
    return out


def _values(row: Session | Glance) -> Iterator[tuple[str, str]]:
    if row.project:
        yield "project", row.project
    yield "client", row.client
    if row.updated:
        yield "month", datetime.datetime.fromtimestamp(row.updated).strftime("%Y-%m")
    yield "status", status_of(row)
    for tag in tags_of(row):
        if tag != row.client:  # every session of Codex carries its name, which stands above already
            yield "tag", tag


def _filters(name: str, value: str, now: datetime.datetime) -> typed.Filters:
    if name == "month":
        year, month = map(int, value.split("-"))
        after = f"{year + month // 12:04d}-{month % 12 + 1:02d}-01"
        return (("since", f"{value}-01"), ("before", after))
    understood = parse(typed.piece(name, value), now)
    return ((name, value),) if understood.filters == {name: (value,)} and not understood.terms else ()


def shown(found: dict[str, list[Facet]], query: str, everything: bool) -> str:
    """The facets as markup. Each value is a link: to the query with its filters, or without them where they are in it."""
    return "".join(_group(name, values, query, everything) for name, values in found.items() if values)


def _group(name: str, values: Sequence[Facet], query: str, everything: bool) -> str:
    chosen = [one for one in values if one.filters and typed.holds(query, one.filters)]
    listed = [*chosen, *(one for one in values if one not in chosen)]
    rest = listed[MOST:]
    more = (
        f"<details><summary>{len(rest)} more</summary><ul>{_items(rest, query, everything)}</ul></details>"
        if rest
        else ""
    )
    return f'<section class="facet"><h2>{_NAMES[name]}</h2><ul>{_items(listed[:MOST], query, everything)}</ul>{more}</section>'


def _items(values: Iterable[Facet], query: str, everything: bool) -> str:
    return "".join(f"<li>{_item(one, query, everything)}</li>" for one in values)


def _item(one: Facet, query: str, everything: bool) -> str:
    inside = f'<span class="name">{escaped(one.label)}</span><span class="count">{one.sessions:,}</span>'
    if not one.filters:
        return f'<span class="value">{inside}</span>'
    on = typed.holds(query, one.filters)
    to = typed.without(query, one.filters) if on else typed.beside(query, one.filters)
    mark = ' class="value on" aria-current="true"' if on else ' class="value"'
    return f'<a{mark} href="{address("/", q=to, all=int(everything))}">{inside}</a>'
