"""`recall tag`: tags of a session, that stick."""

from __future__ import annotations

import click

from recall.actions.cmd import newest_of
from recall.actions.naming import changes_of, tag
from recall.cli.app import App
from recall.cli.fresh import freshen
from recall.cli.output import print_json
from recall.core.card import index_line, short_ids, tags_of


@click.command("tag", context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.argument("session", metavar="ID")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[+TAG] [-TAG]...")
@click.option("--json", "as_json", is_flag=True, help="JSON: id and tags.")
def command(session: str, words: tuple[str, ...], as_json: bool) -> int:
    """Add tags to a session (+TAG), or take some away (-TAG). They are kept in its card, in kebab case.

    A later card of the model keeps to it. Without tags: shows those that it has.

    \b
      recall tag 4f1c2d3e +export -draft
      recall find '#export'
    """
    changes = changes_of(words)
    app = App.from_environment()
    freshen(app, quiet=True)
    row = newest_of(app.resolve(session), app.store)
    if changes:
        row = tag(app.settings, app.store, app.shelf, row, changes, now=app.now.timestamp())
    if as_json:
        print_json({"schema": 1, "id": row.id, "tags": tags_of(row)})
    else:
        print(index_line(row, short_ids(app.store.ids())[row.id], app.now.tzinfo))
    app.close()
    return 0
