"""`recall stats`: how much there is, and what the model calls cost."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict

import click

from recall.actions.stats import Calls, Stats, Sum, series, stats
from recall.cli.app import App
from recall.cli.fresh import freshen
from recall.cli.output import megabytes, print_json, utc

_BAR = 40
_MONTHS = 12
_WRITERS = {"extract": "code alone"}


@click.command("stats")
@click.option(
    "-n", "limit", metavar="N", type=click.IntRange(1, 10_000), default=10, show_default=True, help="Projects at most."
)
@click.option("--json", "as_json", is_flag=True, help="JSON, with all projects and months.")
def command(limit: int, as_json: bool) -> int:
    """Count sessions, messages and bytes by client, project and month, and what model calls cost.

    \b
      recall stats
      recall stats --json
    """
    app = App.from_environment()
    freshen(app, quiet=True)
    found = stats(app.store, app.settings, zone=app.now.tzinfo, removed=app.shelf.is_removed)
    app.close()
    if as_json:
        print_json(_document(found))
    else:
        for line in _page(found, limit, app.now.tzinfo, bar="█" if sys.stdout.isatty() else "#"):
            print(line)
    return 0


def _page(found: Stats, limit: int, zone: datetime.tzinfo | None, *, bar: str) -> Iterator[str]:
    whole = found.whole
    yield f"{whole.sessions} sessions, {whole.messages} messages, {megabytes(whole.bytes)} of transcripts"
    if found.first and found.last:
        days = [datetime.datetime.fromtimestamp(moment, zone).date() for moment in (found.first, found.last)]
        yield f"{days[0]} to {days[1]}"
    if found.cards:
        count = sum(found.cards.values())
        writers = ", ".join(f"{n} by {_WRITERS.get(who, who)}" for who, n in _most(found.cards))
        yield f"{count} card{'s' if count > 1 else ''}: {writers}"
    yield from _table("client", _largest(found.clients))
    projects = _largest(found.projects)
    yield from _table("project", projects[:limit])
    if len(projects) > limit:
        yield f"… {len(projects) - limit} more; -n {len(projects)} shows them"
    yield from _table("month", sorted(found.months.items(), reverse=True)[:_MONTHS])
    if len(found.months) > _MONTHS:
        yield f"… {len(found.months) - _MONTHS} earlier; --json has them"
    yield from _chart(found, bar)
    if found.calls.calls:
        yield ""
        yield f"model calls: {_calls(found.calls)}"
        if len(found.models) > 1:
            for name, calls in sorted(found.models.items(), key=lambda pair: -pair[1].calls):
                yield f"  {name}: {_calls(calls)}"


def _largest(table: Mapping[str, Sum]) -> list[tuple[str, Sum]]:
    return sorted(table.items(), key=lambda pair: (-pair[1].sessions, pair[0]))


def _most(table: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(table.items(), key=lambda pair: (-pair[1], pair[0]))


def _table(name: str, rows: list[tuple[str, Sum]]) -> Iterator[str]:
    if not rows:
        return
    width = max(len(name), *(len(key) for key, _ in rows))
    yield ""
    yield f"{name:<{width}}  sessions  messages       size"
    for key, one in rows:
        yield f"{key:<{width}}  {one.sessions:>8}  {one.messages:>8}  {megabytes(one.bytes):>9}"


def _chart(found: Stats, bar: str) -> Iterator[str]:
    """Sessions by week, and beside them what model calls cost in it, where any did."""
    keys = series([*found.weeks, *found.call_weeks])
    if not keys:
        return
    counts = [found.weeks[key].sessions if key in found.weeks else 0 for key in keys]
    costs = [found.call_weeks[key].cost if key in found.call_weeks else 0.0 for key in keys]
    most, paid = max(counts) or 1, any(costs)
    yield ""
    yield "sessions by week, and what model calls cost" if paid else "sessions by week"
    for key, count, cost in zip(keys, counts, costs, strict=True):
        size = max(1, round(count / most * _BAR)) if count else 0
        drawn = f"{bar * size} {count}" if size else "0"
        money = f"{drawn:<{_BAR + 6}} ${cost:.4f}" if paid and cost else drawn
        yield f"{key}  {money}"


def _calls(calls: Calls) -> str:
    failed = f" ({calls.failed} failed)" if calls.failed else ""
    return f"{calls.calls}{failed}, {calls.input} tokens in, {calls.output} out, ${calls.cost:.4f}"


def _document(found: Stats) -> dict[str, object]:
    return {
        "schema": 1,
        **asdict(found.whole),
        "first": utc(found.first),
        "last": utc(found.last),
        "clients": {key: asdict(one) for key, one in _largest(found.clients)},
        "projects": {key: asdict(one) for key, one in _largest(found.projects)},
        "months": {key: asdict(one) for key, one in sorted(found.months.items())},
        "weeks": {key: asdict(one) for key, one in sorted(found.weeks.items())},
        "cards": dict(_most(found.cards)),
        "model": {
            **asdict(found.calls),
            "models": {key: asdict(one) for key, one in sorted(found.models.items())},
            "weeks": {key: asdict(one) for key, one in sorted(found.call_weeks.items())},
        },
    }
