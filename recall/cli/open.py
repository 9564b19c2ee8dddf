"""`recall open`: a session again, in a window of its own."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

import click

from recall.actions.reopen import (
    Opening,
    by_session,
    handoff_first,
    prepare,
    program,
    refuse_open,
    refuse_starting,
    reopen,
    turn_to_open,
    whole_plan,
)
from recall.cli.app import App
from recall.cli.fresh import freshen
from recall.cli.output import print_json
from recall.cli.target import unremoved
from recall.core import shell
from recall.core.model import Open, Session
from recall.core.window import scrubbed
from recall.errors import NothingFound, Refused, Usage

if TYPE_CHECKING:
    from recall.terminals.base import Terminal


@click.command("open")
@click.argument("session", metavar="ID")
@click.option("--window", is_flag=True, help="In a new window (the default, but with RECALL_TAB=1).")
@click.option("--tab", is_flag=True, help="In a new tab, where the terminal has some.")
@click.option("--here", is_flag=True, help="In this terminal, in place of recall.")
@click.option("--print", "only_line", is_flag=True, help="Print the line of `recall cmd`, and open nothing.")
@click.option("--print-context", is_flag=True, help="Print what the session is told when it opens, and open nothing.")
@click.option("--prompt", metavar="TEXT", default="", help="The first thing that the session is told.")
@click.option("--in", "folder", metavar="DIR", default="", help="In this folder, where its own is gone.")
@click.option("--terminal", metavar="NAME", default="", help="tmux, iTerm, Terminal, kitty, ... (RECALL_TERMINAL).")
@click.option("--fast", is_flag=True, help="Do not write a handoff first.")
@click.option("--force", is_flag=True, help="Even if the session is open; two clients on one session lose turns.")
@click.option("--dry-run", is_flag=True, help="Say what would be done.")
@click.option("--json", "as_json", is_flag=True, help="JSON: what was opened, where.")
def command(
    session: str,
    window: bool,
    tab: bool,
    here: bool,
    only_line: bool,
    print_context: bool,
    prompt: str,
    folder: str,
    terminal: str,
    fast: bool,
    force: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Open a session in a new window, in its folder, with its history; its handoff is brought up to date first.

    ID is a full id, any unique beginning of one, `last`, or `.` (the newest of this folder). What is open already,
    was removed, or has lost its folder or transcript is refused (status 3), and it is said what can be done. Where there
    is no terminal to open a window in, the line to paste is printed.

    \b
      recall open 1b2c3d4e
      recall open last --tab --prompt "run the tests again"
      recall open . --here --fast
    """
    if window + tab + here + only_line + print_context > 1:
        raise Usage("one of --window, --tab, --here, --print and --print-context", "recall open --help")
    app = App.from_environment()
    freshen(app, quiet=True)
    row = unremoved(app, session)
    if print_context:
        return _print_context(app, row)
    folder = folder or (_ask_folder(app, row, force) if not (only_line or as_json or dry_run) else "")
    told = {"prompt": prompt, "folder": folder, "force": force}
    chosen = None if here or only_line else _terminal(terminal or app.settings.terminal, os.environ)
    if only_line or (chosen is None and not here) or dry_run:
        return _line(app, row, chosen, here, only_line, as_json, told)
    if here:
        return _here(app, row, fast, told)
    assert chosen is not None
    opened = reopen(
        row,
        app.store,
        app.settings,
        chosen,
        "tab" if tab or (app.settings.tab and not window) else "window",
        os.environ,
        live=lambda: _live(app),
        clock=time.time,
        say=app.say,
        prompt=prompt,
        folder=folder,
        force=force,
        fast=fast,
    )
    app.close()
    if as_json:
        fields = {"terminal": opened.terminal, "where": opened.where, "window": opened.id or None}
        print_json({"schema": 1, "opened": True, "session": row.id, **fields, "line": opened.line})
    else:
        print(opened)
    if opened.then:
        app.say(f"to see it: {opened.then}")
    return 0


def _live(app: App) -> dict[str, Open]:
    from recall.live import open_sessions

    return by_session(open_sessions(app.settings))


def _terminal(name: str, env: Mapping[str, str]) -> Terminal | None:
    """The terminal that a person names, or the one that we run in; None: there is none, or it is called `print`."""
    from recall.terminals.choose import choose

    return choose(name, env)


def _ask_folder(app: App, row: Session, force: bool) -> str:
    """Which folder to take in place of one that is gone, asked on a terminal; '' where nothing was asked. What else speaks
    against opening is raised before."""
    from recall.actions.folders import offers

    if not row.cwd or os.path.isdir(row.cwd) or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return ""
    left = offers(row.cwd)
    if not left:
        return ""
    prepare(row, app.store, app.settings, live=_live(app), folder=left[0].path, force=force)
    print(f"the folder of the session is gone: {shell.folder(row.cwd)}", file=sys.stderr)
    for number, one in enumerate(left, 1):
        print(f"  {number}  {shell.folder(one.path)}  {one.what}", file=sys.stderr)
    choice = click.prompt("In which one? 0: none", type=click.IntRange(0, len(left)), default=0, err=True)
    if not choice:
        raise Refused("nothing was opened", f"recall open {row.id} --in DIR takes any folder")
    return left[choice - 1].path


def _line(
    app: App, row: Session, chosen: Terminal | None, here: bool, only_line: bool, as_json: bool, told: dict[str, object]
) -> int:
    """The line to paste, with what a dry run says of the terminal."""
    opening = _prepared(app, row, told)
    where = "here" if here else chosen.name if chosen else "print"
    if chosen or here:
        program(opening.plan.argv[0], os.environ.get("PATH", ""), app.settings)
    app.close()
    if as_json:
        print_json({"schema": 1, "opened": False, "session": row.id, "terminal": where, **_fields(opening)})
    elif chosen or here:
        print(f"would open {row.id} in {chosen.name if chosen else 'this terminal'}: {opening.line}")
    else:
        print(opening.line)
    if not (only_line or chosen or here):
        app.say("no terminal to open a window in; paste the line into one")
    return 0


def _prepared(app: App, row: Session, told: dict[str, object]) -> Opening:
    opening = prepare(row, app.store, app.settings, live=_live(app), **told)  # type: ignore[arg-type]
    for warning in opening.warnings:
        app.say(warning)
    return opening


def _fields(opening: Opening) -> dict[str, object]:
    plan = opening.plan
    return {"argv": list(plan.argv), "cwd": plan.cwd, "variables": dict(plan.variables), "line": opening.line}


def _here(app: App, row: Session, fast: bool, told: dict[str, object]) -> int:
    """Become the client. Does not come back."""
    with turn_to_open(app.settings, row.id, time.time) as turn:
        opening = _prepared(app, row, told)
        if not told["force"]:
            refuse_starting(opening, turn.before, time.time())
        plan = whole_plan(opening, os.environ.get("PATH", ""), app.settings)
        if not fast and handoff_first(row, app.store, app.settings, time.time, app.say) and not told["force"]:
            refuse_open(row, _live(app))
        app.close()
        with turn.opening():
            _become(plan.argv, plan.cwd, plan.variables)


def _become(argv: tuple[str, ...], cwd: str, variables: tuple[tuple[str, str], ...]) -> NoReturn:
    env = scrubbed(os.environ)
    for name, value in variables:
        env.pop(name, None)
        if value:
            env[name] = value
    os.chdir(cwd)
    env["PWD"] = cwd
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvpe(argv[0], argv, env)


def _print_context(app: App, row: Session) -> int:
    """To the letter what the hook gives to the session, as `show --handoff` does."""
    from recall.actions.continuity import context

    text = context(app.settings, row.id, app.now.timestamp())
    app.close()
    if not text:
        raise NothingFound(f"session {row.id} is told nothing", f"recall handoff {row.id} writes down where it stood")
    sys.stdout.write(text)
    return 0
