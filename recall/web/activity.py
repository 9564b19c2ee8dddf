"""How many sessions there were in each week: a chart, and the same as a table."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import NamedTuple

from recall.core.model import Glance
from recall.core.page import escaped
from recall.web.frame import address

_WIDE, _HIGH, _LEFT, _BOTTOM, _TOP = 720, 170, 34, 22, 8


class Week(NamedTuple):
    """The week that begins at a Monday: client -> how many sessions had their last event in it."""

    monday: datetime.date
    counts: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def query(self) -> str:
        return f"since:{self.monday} before:{self.monday + datetime.timedelta(weeks=1)}"


def weeks(rows: Sequence[Glance], now: datetime.datetime, most: int) -> list[Week]:
    """The last weeks, `most` of them, up to this one, in local time; from the first that has a session. Empty without any."""
    today = now.date()
    this = today - datetime.timedelta(days=today.weekday())
    found: dict[datetime.date, dict[str, int]] = {}
    for row in rows:
        if row.updated:
            day = datetime.datetime.fromtimestamp(row.updated).date()
            mine = found.setdefault(day - datetime.timedelta(days=day.weekday()), {})
            mine[row.client] = mine.get(row.client, 0) + 1
    shown = [monday for monday in found if this - datetime.timedelta(weeks=most) < monday <= this]
    if not shown:
        return []
    first = min(shown)
    count = (this - first).days // 7 + 1
    mondays = [first + datetime.timedelta(weeks=n) for n in range(count)]
    return [Week(monday, found.get(monday, {})) for monday in mondays]


def chart(shown: Sequence[Week], *, unfolded: bool = False) -> str:
    """The weeks as markup; '' for none. Each bar leads to its sessions. The table is open where it is `unfolded`."""
    if not shown:
        return ""
    clients = sorted({client for week in shown for client in week.counts})
    most = _round(max(week.total for week in shown))
    room = (_WIDE - _LEFT) / max(len(shown), 12)
    scale = (_HIGH - _BOTTOM - _TOP) / most
    ground = _HIGH - _BOTTOM
    out = []
    for part in (0, 0.5, 1):
        y = ground - part * most * scale
        value = part * most
        if value == int(value):
            out.append(
                f'<line class="grid" x1="{_LEFT}" x2="{_WIDE}" y1="{y:.1f}" y2="{y:.1f}"/>'
                f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{int(value):,}</text>'
            )
    month, last = "", -100.0
    for n, week in enumerate(shown):
        x = _LEFT + n * room
        label = week.monday.strftime("%b")
        if label != month and x - last > 34 and x < _WIDE - 24:
            label_text = f"{label} {week.monday.year}" if week.monday.month == 1 and x < _WIDE - 60 else label
            out.append(f'<text x="{x:.1f}" y="{_HIGH - 6}">{label_text}</text>')
            last = x
        month = label
        if week.total:
            out.append(_bar(week, clients, x, room, ground, scale))
    named = "".join(
        f'<span class="key {escaped(client)}"></span>{escaped(client)} '
        f"{sum(week.counts.get(client, 0) for week in shown):,} "
        for client in clients
    )
    total = sum(week.total for week in shown)
    said = f"Sessions by week from {shown[0].monday}: {total:,} in {len(shown)} weeks. The table below says the same."
    return (
        f'<div class="chart" tabindex="0"><svg viewBox="0 0 {_WIDE} {_HIGH}" role="group" aria-label="{escaped(said)}">'
        f'{"".join(out)}</svg></div><p class="legend">{named}</p>{_table(shown, clients, unfolded)}'
    )


def _bar(week: Week, clients: Sequence[str], x: float, room: float, ground: float, scale: float) -> str:
    parts = ", ".join(f"{client} {week.counts[client]}" for client in clients if client in week.counts)
    said = f"Week of {week.monday}: {week.total} session{'s' if week.total != 1 else ''} ({parts})"
    wide = max(1.5, room - 3)
    y = ground
    out = [f'<rect class="hover" x="{x:.1f}" y="{_TOP}" width="{room:.1f}" height="{ground - _TOP}"/>']
    for client in clients:
        if high := week.counts.get(client, 0) * scale:
            y -= high
            out.append(
                f'<rect class="{escaped(client)}" x="{x + 1:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}"/>'
            )
    return f'<a href="{address("/", q=week.query)}" aria-label="{escaped(said)}"><title>{escaped(said)}</title>{"".join(out)}</a>'


def _table(shown: Sequence[Week], clients: Sequence[str], unfolded: bool) -> str:
    head = "".join(f'<th scope="col">{escaped(client)}</th>' for client in clients)
    rows = "".join(
        f'<tr><th scope="row"><a href="{address("/", q=week.query)}">{week.monday}</a></th>'
        + "".join(f"<td>{week.counts.get(client, 0) or ''}</td>" for client in clients)
        + f"<td>{week.total}</td></tr>"
        for week in reversed(shown)
    )
    return (
        f'<details class="table"{" open" if unfolded else ""}><summary>As a table</summary><table><caption>Sessions by the week of their last event'
        f'</caption><thead><tr><th scope="col">Week of</th>{head}<th scope="col">all</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></details>"
    )


def _round(value: int) -> int:
    """The next number from 1, 2, 4, 10, 20, 40, 100 …"""
    step = 1
    while True:
        for one in (1, 2, 4):
            if value <= one * step:
                return one * step
        step *= 10
