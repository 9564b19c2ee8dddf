"""`recall next`: what wants you now, what is open, what is in progress."""

from __future__ import annotations

from collections.abc import Iterable

import click

from recall.actions.ps import Listed, line, state_of
from recall.actions.transcript import shown
from recall.actions.upnext import Upnext, upnext
from recall.cli.app import App
from recall.cli.fresh import freshen
from recall.cli.output import ago, colored, print_json, terminal_columns, utc
from recall.cli.ps import document, rows_of
from recall.core.card import index_line, short_ids, task_of
from recall.core.model import Session
from recall.core.plain import cut, one_line
from recall.errors import NothingFound


@click.command("next")
@click.option(
    "-n",
    "limit",
    metavar="N",
    type=click.IntRange(0, 1000),
    default=10,
    show_default=True,
    help="Sessions in progress at most.",
)
@click.option(
    "--days",
    metavar="DAYS",
    type=click.IntRange(1, 3650),
    default=30,
    show_default=True,
    help="In progress: active in the last DAYS days.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON.")
def command(limit: int, days: int, as_json: bool) -> int:
    """What now? Sessions that wait for you, that are open, and that are in progress, each with its next step.

    What is in progress is known from cards and handoffs. Over both clients; this session is left out.

    \b
      recall next
      recall next --days 7 --json
    """
    app = App.from_environment()
    freshen(app, quiet=True)
    opened = [row for row in rows_of(app) if row.open.session != app.settings.current_session]
    since = app.now.timestamp() - days * 86400
    found = upnext(opened, app.store, app.settings, since=since, removed=app.shelf.is_removed)
    if as_json:
        _print_document(app, found, limit)
    else:
        _print(app, found, limit)
    app.close()
    if not (found.waiting or found.open or found.progress):
        if as_json:
            return 1
        raise NothingFound(
            f"nothing is open, and no card of the last {days} days says that something is in progress",
            "recall backfill makes cards of sessions that have none; recall find shows the newest sessions",
        )
    return 0


def _print(app: App, found: Upnext, limit: int) -> None:
    """Sections with a head each; one that is empty is left out. In a pipe the same, without colour and uncut."""
    columns, color = terminal_columns(), colored(app.settings)

    def section(name: str, lines: Iterable[tuple[str, str]]) -> None:
        print(f"\x1b[1m{name}\x1b[0m" if color else name)
        for text, more in lines:
            text = f"  {text}"
            print(cut(text, columns) if columns else text)
            if more:
                more = f"      next: {more}"
                more = cut(more, columns) if columns else more
                print(f"\x1b[2m{more}\x1b[0m" if color else more)
        print()

    if found.waiting:
        section("waiting for you", [(_open_line(app, row), "") for row in found.waiting])
    if found.open:
        section("open", [(_open_line(app, row), "") for row in found.open])
    if found.progress[:limit]:
        shorts = short_ids(app.store.ids())
        lines = [(_line(app, row, shorts[row.id]), _step(step)) for row, step in found.progress[:limit]]
        section("in progress", lines)
    if len(found.progress) > limit:
        app.say(f"{len(found.progress) - limit} more in progress; -n {len(found.progress)} shows them")


def _open_line(app: App, row: Listed) -> str:
    since = ago(row.open.updated or row.open.started, app.now.timestamp())
    told = f" ({since})" if row.open.state in ("waiting", "idle") and since != "never" else ""
    return f"{line(row)}{told}"


def _line(app: App, row: Session, short: str) -> str:
    return index_line(row, short, None)


def _step(step: str) -> str:
    return one_line(shown(step))


def _print_document(app: App, found: Upnext, limit: int) -> None:
    shorts = short_ids(app.store.ids())

    def open_one(row: Listed) -> dict[str, object]:
        return {**document(app, row), "says": state_of(row)}

    print_json(
        {
            "schema": 1,
            "waiting": [open_one(row) for row in found.waiting],
            "open": [open_one(row) for row in found.open],
            "in_progress": [
                {
                    "id": row.id,
                    "short_id": shorts[row.id],
                    "client": row.client,
                    "project": row.project,
                    "cwd": row.cwd,
                    "updated": utc(row.updated),
                    "task": one_line(shown(task_of(row))),
                    "next": _step(step) or None,
                }
                for row, step in found.progress[:limit]
            ],
            "total_in_progress": len(found.progress),
        }
    )
