"""`recall fork`: a new session with the history of another one up to one message."""

from __future__ import annotations

import contextlib
import os
import sys
import time

import click

from recall.actions.cmd import resume
from recall.actions.fork import Forking, fork, prepare
from recall.cli.app import App
from recall.cli.fresh import freshen
from recall.cli.output import print_json
from recall.cli.target import unremoved
from recall.core import shell
from recall.core.model import Session
from recall.errors import RecallError


@click.command("fork")
@click.argument("session", metavar="ID")
@click.option("--at", required=True, metavar="N|TEXT", help="The last message: its number, or words of a request.")
@click.option("--open", "opens", is_flag=True, help="Open it in a new window.")
@click.option("--dry-run", is_flag=True, help="Say which message it would end with, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="JSON: the new id, and how to resume it.")
def command(session: str, at: str, opens: bool, dry_run: bool, as_json: bool) -> int:
    """Make a new session with the history up to a message, that one included; the old session is not touched.

    Messages are those of the user and the assistant, with the numbers that `recall show ID --numbers` has. TEXT is looked
    for in the user's. A fork of a Codex session reads its history from the old one's file, which has to stay.

    \b
      recall fork 1b2c3d4e --at 4
      recall fork last --at "now the other endpoint" --open
    """
    app = App.from_environment()
    freshen(app, quiet=True)
    row = unremoved(app, session)
    now = time.time()
    plan = prepare(row, app.store, app.settings, at, now=now, random=os.urandom(16))
    cut = {"message": plan.cut.number, "role": plan.cut.role, "text": plan.cut.text}
    if dry_run:
        app.close()
        if as_json:
            print_json({"schema": 1, "id": None, "fork_of": plan.session.id, "at": cut})
        else:
            print(f"would end with message {plan.cut.number}, of the {plan.cut.role}: {plan.cut.text}")
        return 0
    fork(plan, now)
    made = _taken_in(app, plan)
    found = resume(made, app.store, app.settings)
    app.close()
    if as_json:
        line = shell.line(found.plan)
        fields = {"argv": list(found.plan.argv), "cwd": found.plan.cwd, "line": line}
        print_json({"schema": 1, "id": plan.new, "fork_of": plan.session.id, "at": cut, "path": plan.path, **fields})
    else:
        print(f"forked {plan.session.id} after message {plan.cut.number} ({plan.cut.role}: {plan.cut.text})")
        print(plan.new)
        print(f"recall open {plan.new}")
    return _open(app, plan.new, as_json) if opens else 0


def _open(app: App, new: str, as_json: bool) -> int:
    """Open the new session; where JSON was printed, what there is to say of that goes to stderr."""
    from recall.cli.open import command as open_command

    if not as_json:
        return int(open_command.main([new], standalone_mode=False) or 0)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return int(open_command.main([new], standalone_mode=False) or 0)
    except RecallError as problem:
        app.say(f"not opened: {problem.message}" + (f" ({problem.hint})" if problem.hint else ""))
        return problem.exit_code


def _taken_in(app: App, plan: Forking) -> Session:
    """The row of the new session; where the index cannot take it in now, the old one's under the new id."""
    from recall.actions.one import take_file

    try:
        return app.resolve(take_file(app.settings, plan.path))
    except RecallError as problem:
        app.say(f"the index learns of it with the next sweep: {problem.message}")
        return plan.session._replace(no=0, id=plan.new, chain_to=0)
