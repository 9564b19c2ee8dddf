"""`recall remove`: a session out of recall, or every trace of it."""

from __future__ import annotations

import sys

import click

from recall.actions.remove import Removed, family, purge, purge_removed, refuse_live, remove
from recall.actions.turn import turn
from recall.cli.app import App
from recall.cli.output import Progress
from recall.core.card import index_line, short_ids
from recall.errors import NothingFound, Refused


@click.command("remove")
@click.argument("session", metavar="ID")
@click.option("--purge", "everything", is_flag=True, help="The copies in the archive as well, and every word of it.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def command(session: str, everything: bool, yes: bool) -> int:
    """Remove a session from recall: its row, card and handoff; neither sweep nor reindex brings it back.

    The copy of the transcript stays in the archive unless --purge is given, and the client's own file stays in
    any case: it is named, to be deleted by hand. `recall recap ID --force` takes a removed session in again.

    \b
      recall remove 4f1c2d3e
      recall remove 4f1c2d3e --purge --yes
    """
    app = App.from_environment()
    try:
        row = app.resolve(session)
    except NothingFound:
        if everything:
            return _purge_removed(app, session, yes)
        raise
    refuse_live(family(app.store, row), app.live)
    shorts = short_ids(app.store.ids())
    print(index_line(row, shorts[row.id], app.now.tzinfo), flush=True)
    _ask("Delete it and all that is kept of it for good?" if everything else "Remove it?", yes)
    with turn(app.settings):
        if everything:
            bar = Progress()
            try:
                done = purge(app.settings, app.store, app.shelf, row, progress=bar)
            finally:
                bar.end()
        else:
            done = remove(app.settings, app.store, app.shelf, row)
    app.close()
    _tell(app, done, everything)
    return 0


def _purge_removed(app: App, typed: str, yes: bool) -> int:
    """`--purge` of a session that was removed before: its copies may still be there."""
    ids = app.shelf.removed_like(typed)
    if len(ids) != 1:
        raise NothingFound(f"no session {typed}", "recall find WORDS shows ids")
    refuse = app.live & set(ids)
    if refuse:
        raise Refused(f"session {ids[0]} is open", "close it first: what it writes next would come back")
    app.close()
    print(f"{ids[0]} (removed)", flush=True)
    _ask("Delete all that is kept of it for good?", yes)
    with turn(app.settings):
        bar = Progress()
        try:
            done = purge_removed(app.settings, app.shelf, ids[0], progress=bar)
        finally:
            bar.end()
    if not done.copies:
        raise NothingFound(f"session {ids[0]} was removed, and nothing of it is kept", "")
    _tell(app, done, True)
    return 0


def _ask(question: str, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise Refused("nothing was removed: there is no terminal to ask at", "add --yes")
    if not click.confirm(question, default=False, err=True):
        raise Refused("nothing was removed", "")


def _tell(app: App, done: Removed, everything: bool) -> None:
    count = f" and {len(done.sessions) - 1} earlier parts of it" if len(done.sessions) > 1 else ""
    if everything:
        print(f"purged{count}: {len(done.copies)} copies deleted")
    else:
        print(f"removed{count}")
    for path in done.left:
        print(f"the client's own file stays: {path}")
    for session in done.kin:
        app.say(f"session {session} holds records of it as well, and stays")
