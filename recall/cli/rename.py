"""`recall rename`: a name for a session, that sticks."""

from __future__ import annotations

import click

from recall.actions.cmd import newest_of
from recall.actions.naming import rename
from recall.cli.app import App
from recall.cli.fresh import freshen
from recall.cli.output import print_json
from recall.core.card import index_line, short_ids
from recall.errors import Usage


@click.command("rename")
@click.argument("session", metavar="ID")
@click.argument("title", nargs=-1)
@click.option("--clear", is_flag=True, help="Take the name back.")
@click.option("--json", "as_json", is_flag=True, help="JSON: id and title.")
def command(session: str, title: tuple[str, ...], clear: bool, as_json: bool) -> int:
    """Give a session a name of your own. It goes before every other title, and no sweep or card replaces it.

    \b
      recall rename 4f1c2d3e Quarterly export, second try
      recall rename last --clear
    """
    words = " ".join(title).strip()
    if bool(words) == clear:
        raise Usage(
            "a name is missing" if not words else "a name and --clear exclude each other", "recall rename ID TITLE"
        )
    app = App.from_environment()
    freshen(app, quiet=True)
    row = newest_of(app.resolve(session), app.store)
    row = rename(app.settings, app.store, app.shelf, row, words)
    if as_json:
        print_json({"schema": 1, "id": row.id, "title": row.title, "by": row.title_by or None})
    else:
        print(index_line(row, short_ids(app.store.ids())[row.id], app.now.tzinfo))
        if row.title and row.title_by != "user":
            print(f"title: {row.title}")
    app.close()
    return 0
