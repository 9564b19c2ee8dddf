"""`recall restore`: an archived transcript back to where its client looks for it."""

from __future__ import annotations

import os
import time

import click

from recall.actions.restore import Restoring, describe, mounted, own_copies, prepare, restore
from recall.archive.store import Copy
from recall.cli.app import App
from recall.cli.fresh import freshen
from recall.cli.output import megabytes, print_json, utc
from recall.cli.target import unremoved
from recall.core import shell
from recall.core.model import Session
from recall.errors import RecallError


@click.command("restore")
@click.argument("session", metavar="ID")
@click.option("--list", "listed", is_flag=True, help="List the texts that are kept of it, and write nothing.")
@click.option("--generation", type=click.IntRange(0), metavar="N", help="An older text of it; 0 is the newest.")
@click.option("--to", metavar="DIR", default="", help="Write it into DIR instead.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="JSON: what was written.")
def command(session: str, listed: bool, generation: int | None, to: str, dry_run: bool, as_json: bool) -> int:
    """Put the archived transcript of a session back, with its sub-agents, results of tools and name.

    Nothing is ever overwritten: where the client has the session, in whatever folder, it is refused (status 3). The files
    get the time of now, so that the client does not delete them at once as too old.

    \b
      recall restore 1b2c3d4e
      recall restore 1b2c3d4e --list
      recall restore 1b2c3d4e --generation 2 --to /tmp/older
    """
    app = App.from_environment()
    freshen(app, quiet=True)
    row = unremoved(app, session)
    if listed:
        return _list(app, row, as_json)
    plan = prepare(row, app.store, app.settings, generation=generation, to=to)
    made = [item.to for item in plan.items] if dry_run else restore(plan, time.time())
    if not dry_run and not to:
        _take_in(app, plan)
    app.close()
    _tell(app, plan, made, dry_run, to, as_json)
    return 0


def _list(app: App, row: Session, as_json: bool) -> int:
    mounted(app.settings)
    _, copies = own_copies(row, app.store.files(row.no), app.settings)
    app.close()
    if as_json:
        print_json({"schema": 1, "session": row.id, "generations": [_fields(app, copy) for copy in copies]})
        return 0
    for copy in copies:
        print(f"{copy.generation}  {describe(copy)}  {shell.word(os.path.join(app.settings.archive, copy.file))}")
    return 0


def _fields(app: App, copy: Copy) -> dict[str, object]:
    path = os.path.join(app.settings.archive, copy.file)
    modified = utc(copy.mtime_ns / 1e9)
    return {"generation": copy.generation, "bytes": copy.size, "modified": modified, "path": path}


def _take_in(app: App, plan: Restoring) -> None:
    """So that the index knows at once where the client has it again."""
    from recall.actions.one import take_file

    try:
        take_file(app.settings, plan.main.to)
    except RecallError as problem:
        app.say(f"the index learns of it with the next sweep: {problem.message}")


def _tell(app: App, plan: Restoring, made: list[str], dry_run: bool, to: str, as_json: bool) -> None:
    row = plan.session
    if as_json:
        print_json(
            {
                "schema": 1,
                "session": row.id,
                "restored": not dry_run,
                "path": plan.main.to,
                "files": made,
                "left": list(plan.present),
                "copy": plan.main.copy,
                "bytes": plan.main.size,
                "damage": list(plan.damage),
            }
        )
    else:
        verb = "would restore" if dry_run else "restored"
        more = f" and {len(made) - 1} files that belong to it" if len(made) > 1 else ""
        print(f"{verb} {shell.word(plan.main.to)} ({megabytes(plan.main.size)}){more}")
        for path in plan.present:
            print(f"left as it is: {shell.word(path)}")
        if not to and not dry_run:
            print(f"recall open {row.id}")
    if plan.damage:
        app.say(
            f"the copy is not what it was ({'; '.join(plan.damage)}): recall restore {row.id} --list shows older ones"
        )
    if plan.base:
        app.say(f"it is a fork and builds upon session {plan.base}, which is gone as well: recall restore {plan.base}")
