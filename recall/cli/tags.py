"""`recall tags`: the vocabulary, with counts."""

from __future__ import annotations

import click

from recall.actions.view import tag_counts
from recall.cli.app import App
from recall.cli.fresh import freshen
from recall.cli.output import print_json


@click.command("tags")
@click.option("--json", "as_json", is_flag=True, help="JSON.")
def command(as_json: bool) -> int:
    """List all tags, the most used first: `<tag> <sessions>`.

    Tags that TAGS.md names and no session carries yet are listed with 0. `recall find '#TAG'` shows the sessions.

    \b
      recall tags
      recall tags --json
    """
    app = App.from_environment()
    freshen(app, quiet=True)
    counts = tag_counts(app.store.sessions(), app.shelf)
    preferred = app.shelf.preferred_tags()
    names = sorted({*counts, *preferred}, key=lambda name: (-counts.get(name, 0), name))
    if as_json:
        known = frozenset(preferred)
        rows = [{"tag": name, "sessions": counts.get(name, 0), "preferred": name in known} for name in names]
        print_json({"schema": 1, "tags": rows})
    else:
        for name in names:
            print(name, counts.get(name, 0))
        if not names:
            app.say("no tags yet: cards have them, and recall tag ID +TAG adds one")
    app.close()
    return 0 if names else 1
