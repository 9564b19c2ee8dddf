"""`recall ps`: the sessions that are open now."""

from __future__ import annotations

import os
import sys

import click

from recall.actions.ps import Listed, line, listed, state_of
from recall.cli.app import App
from recall.cli.output import colored, print_json, terminal_columns, utc
from recall.core.plain import cut, pad, width

_HEAD = ("ADDRESS", "CLIENT", "ID", "PROJECT", "STATE", "TITLE")


@click.command("ps")
@click.option("--json", "as_json", is_flag=True, help="JSON: all that is known of each.")
def command(as_json: bool) -> int:
    """List the sessions that are open now: address, client, id, project, state, title.

    The state is busy, idle, or waiting (for you: a permission, a question); `?` where the client does not tell. Sessions in
    the background have no terminal: what brings them to one is said behind them. Headless runs (claude -p) are not listed.
    The exit status is 1 when nothing is open.

    \b
      recall ps
      recall ps --json
    """
    app = App.from_environment()
    rows = rows_of(app)
    if as_json:
        print_json({"schema": 1, "sessions": [document(app, row) for row in rows]})
    elif columns := terminal_columns():
        _table(app, rows, columns)
    else:
        for row in rows:
            print(line(row))
    if not rows:
        app.say("no session is open")
    app.close()
    return 0 if rows else 1


def rows_of(app: App) -> list[Listed]:
    """What is open now, with titles where there is an index that can be read; what could not be asked is said."""
    from recall.errors import RecallError
    from recall.store import exists, is_of_index

    try:
        store = app.store if exists(app.settings.index) else None
        return listed(app.settings, store, os.environ, removed=app.shelf.is_removed, trouble=app.say)
    except Exception as problem:
        if not (isinstance(problem, RecallError) or is_of_index(problem)):
            raise
        app.say(f"no titles: {problem}")
    return listed(app.settings, None, os.environ, trouble=app.say)


def _table(app: App, rows: list[Listed], columns: int) -> None:
    cells = [
        (row.address or "-", row.open.client, row.short, row.project, state_of(row), row.title or "-", row.reach)
        for row in rows
    ]
    wide = [max([len(head), *(width(cell[n]) for cell in cells)]) for n, head in enumerate(_HEAD[:-1])]
    wide[3], wide[4] = min(wide[3], 20), min(wide[4], 26)  # project and state; an address or id that is cut is none
    dim, plain = ("\x1b[2m", "\x1b[0m") if colored(app.settings) else ("", "")
    if rows:
        head = "  ".join(pad(name, size) for name, size in zip(_HEAD, [*wide, 5], strict=True))
        print(f"{dim}{cut(head, columns).rstrip()}{plain}")
    for *cell, title, reach in cells:
        start = "  ".join(pad(text, size) for text, size in zip(cell, wide, strict=True))
        if reach:
            room = columns - width(start) - width(reach) - 5
            title = f"{cut(title, room)} ({reach})" if room > 0 else reach
        print(cut(f"{start}  {title}", max(columns, 20)))
    sys.stdout.flush()


def document(app: App, row: Listed) -> dict[str, object]:
    """An open session as JSON; see `docs/formats.md`."""
    one, pane = row.open, row.pane
    return {
        "address": row.address,
        "client": one.client,
        "id": one.session,
        "short_id": row.short,
        "project": row.project,
        "cwd": one.cwd,
        "title": row.title,
        "state": one.state or None,
        "waiting_for": one.waiting_for,
        "background": one.background,
        "reach": row.reach,
        "terminal": {"name": pane.terminal, "pane": pane.id} if pane else None,
        "tty": one.tty,
        "pid": one.pid or None,
        "started": utc(one.started),
        "updated": utc(one.updated),
        "current": one.session == app.settings.current_session,
    }


__all__ = ["command", "document", "rows_of"]
