"""`recall cmd`: the shell line that resumes a session."""

from __future__ import annotations

import click

from recall.actions.cmd import resume
from recall.cli.app import App
from recall.cli.fresh import freshen
from recall.cli.output import print_json
from recall.core import shell


@click.command("cmd")
@click.argument("session", metavar="ID")
@click.option("--prompt", metavar="TEXT", default="", help="The first thing that the session is told.")
@click.option("--json", "as_json", is_flag=True, help="JSON: argv, cwd, variables and line.")
def command(session: str, prompt: str, as_json: bool) -> int:
    """Print the shell line that resumes a session; it can be pasted into sh, bash, zsh and fish.

    ID is a full id, any unique beginning of one, `last`, or `.` (the newest of this folder). RECALL_CLAUDE_FLAGS is
    appended for Claude Code.

    \b
      recall cmd 1b2c3d4e
      eval "$(recall cmd last)"
    """
    app = App.from_environment()
    freshen(app, quiet=True)
    found = resume(app.resolve(session), app.store, app.settings, prompt=prompt)
    text = shell.line(found.plan)
    if as_json:
        plan = found.plan
        fields = {"argv": list(plan.argv), "cwd": plan.cwd, "variables": dict(plan.variables), "line": text}
        print_json({"schema": 1, **fields})
    else:
        print(text)
    if found.no_folder:
        app.say(f"the folder is gone: {shell.quoted(found.plan.cwd)}")
    if found.no_transcript:
        kept = "the archive has a copy" if app.store.files(found.session.no) else "only its card is left"
        app.say(f"{found.session.client} has no transcript of it any more and will not find it; {kept}")
    if found.session.id in app.live:
        app.say("it is open now: a second client on it would mix up both")
    app.close()
    return 0
