"""`recall reindex`: the index again, from what is kept."""

from __future__ import annotations

import time

import click

from recall.cli.app import App
from recall.cli.output import Progress, megabytes, print_json


@click.command("reindex")
@click.option("--quiet", is_flag=True, help="Say nothing but problems.")
@click.option("--json", "as_json", is_flag=True, help="Counts as JSON.")
def command(quiet: bool, as_json: bool) -> int:
    """Make the index and INDEX.md again from archive and cards.

    No model is asked. The old index is used until the new one is in place; interrupted, it stays as it was.

    \b
      recall reindex
    """
    from recall.actions.reindex import rebuild, transcripts
    from recall.actions.turn import turn
    from recall.actions.view import write_view

    app = App.from_environment()
    bar = Progress(quiet=quiet or as_json)
    start = time.monotonic()
    problems: dict[str, str] = {}
    with turn(app.settings):
        try:
            sessions = rebuild(app.settings, progress=bar, trouble=problems.__setitem__)
        finally:
            bar.end()
        write_view(app.settings, app.store, app.shelf)
        kept = transcripts(app.settings)
    app.close()
    for path, words in problems.items():
        app.say(f"{path}: {words}")
    size = sum(one.size for one in kept)
    if as_json:
        print_json(
            {
                "schema": 1,
                "sessions": sessions,
                "transcripts": len(kept),
                "bytes": size,
                "problems": [f"{path}: {words}" for path, words in problems.items()],
            }
        )
    elif not quiet:
        seconds = time.monotonic() - start
        print(f"{sessions} sessions from {len(kept)} transcripts ({megabytes(size)}) in {seconds:.1f} s")
    return 5 if problems else 0
