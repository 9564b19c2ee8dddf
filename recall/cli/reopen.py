"""`recall reopen --crashed`: open again what a crash or a restart has ended."""

from __future__ import annotations

import os
import sys
import time

import click

from recall.actions.crashed import DAYS, Crash, crashed, opened_again, transcript_of
from recall.actions.reopen import Opening, by_session, prepare, reopen
from recall.cli.app import App
from recall.cli.fresh import freshen
from recall.cli.output import ago
from recall.core.card import usual
from recall.core.model import Session
from recall.core.plain import one_line
from recall.errors import NothingFound, RecallError, Refused, Unavailable, Usage
from recall.live import open_sessions
from recall.store import exists

MANY = 3
"""Windows that are opened without a question."""


@click.command("reopen")
@click.option(
    "--crashed", "wanted", is_flag=True, help="What was open when the clients were killed or the machine restarted."
)
@click.option("--print", "only_lines", is_flag=True, help="Print the lines of `recall cmd`, and open nothing.")
@click.option("--since", metavar="DATE", default="", help=f"Only what was seen since (default: {DAYS:.0f}d).")
@click.option("--window", is_flag=True, help="In new windows (the default, but with RECALL_TAB=1).")
@click.option("--tab", is_flag=True, help="In new tabs, where the terminal has some.")
@click.option("--terminal", metavar="NAME", default="", help="tmux, iTerm, Terminal, kitty, ... (RECALL_TERMINAL).")
@click.option("--yes", is_flag=True, help="Do not ask before many windows are opened.")
def command(wanted: bool, only_lines: bool, since: str, window: bool, tab: bool, terminal: str, yes: bool) -> int:
    """Open again the sessions that were open when something ended them: a kill, a crash, a restart of the machine.

    A session that its user left is none of them, nor one that is open again. (A Codex whose window was closed looks like one
    that was killed.) What every sweep saw is remembered, so that a client which tidies up after a crash takes nothing away.
    Sessions in the background are only named. Before more than 3 windows are opened it asks; --yes answers.

    \b
      recall reopen --crashed --print
      recall reopen --crashed --tab
    """
    if not wanted:
        raise Usage("which sessions? --crashed: those that a crash ended", "recall open ID opens a single one")
    if window and tab:
        raise Usage("one of --window and --tab", "recall reopen --help")
    app = App.from_environment()
    found = [one for one in _crashed(app, since) if not app.shelf.is_removed(one.open.session)]
    if not found:
        raise NothingFound("no session was ended by a crash", f"looked at {_back(since)}; recall ps shows what is open")
    freshen(app, quiet=True)
    for one in found:
        if one.open.background:
            app.say(f"not reopened, it ran in the background: {_named(one)}; {_reach(one)}")
    first = 0
    openings: list[tuple[Crash, Opening]] = []
    live = by_session(open_sessions(app.settings))
    for one in found:
        if one.open.background:
            continue
        try:
            openings.append((one, prepare(_row(app, one), app.store, app.settings, live=live)))
        except RecallError as problem:
            status = _told(app, one, problem)
            first = first or status
    if not openings and not first:
        raise NothingFound("only sessions in the background were ended by a crash", "the lines above bring them back")
    if only_lines:
        for _, opening in openings:
            print(opening.line)
        app.close()
        return first
    return _open(app, openings, first, terminal, "tab" if tab or (app.settings.tab and not window) else "window", yes)


def _open(app: App, openings: list[tuple[Crash, Opening]], first: int, name: str, where: str, yes: bool) -> int:
    from recall.terminals.choose import choose

    chosen = choose(name or app.settings.terminal, os.environ)
    if chosen is None:
        for _, opening in openings:
            print(opening.line)
        app.say("no terminal to open windows in; paste the lines into one")
        app.close()
        return first
    if len(openings) > MANY and not yes:
        _ask(app, openings, chosen.name)
    for one, opening in openings:
        try:
            done = reopen(
                opening.session,
                app.store,
                app.settings,
                chosen,
                where,
                os.environ,
                live=lambda: by_session(open_sessions(app.settings)),
                clock=time.time,
                say=app.say,
                fast=True,  # what ended in the middle of its work goes on from its transcript; nobody waits for a model here
            )
        except RecallError as problem:
            status = _told(app, one, problem)
            first = first or status
            if isinstance(problem, Unavailable):
                break  # the next window will not open either
            continue
        opened_again(app.settings, [one.open.session], time.time())
        print(done)
    app.close()
    return first


def _ask(app: App, openings: list[tuple[Crash, Opening]], terminal: str) -> None:
    for one, opening in openings:
        print(f"  {_named(one)}, seen {ago(one.last, app.now.timestamp())}: {opening.line}", file=sys.stderr)
    question = f"open {len(openings)} windows in {terminal}"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Refused(f"that would {question}", "--yes does it, --print shows the lines")
    if not click.confirm(f"{question[0].upper()}{question[1:]}?", err=True):
        raise Refused("nothing was opened", "--print shows the lines")


def _crashed(app: App, since: str) -> list[Crash]:
    return crashed(app.settings, app.now.timestamp(), since=_moment(app, since))


def _moment(app: App, since: str) -> float:
    """The moment that `--since` means; 0.0: the usual one."""
    if not since:
        return 0.0
    from recall.core.query import parse

    found = parse([], app.now, {"since": (since,)}).since
    if not found:
        raise Usage(f"--since: no date is {since!r}", "2026-06-11, 3d, yesterday")
    return float(found)


def _back(since: str) -> str:
    return f"what was open since {one_line(since)}" if since else f"the last {DAYS:.0f} days"


def _row(app: App, one: Crash) -> Session:
    """Its row of the index; where there is none yet, its transcript is taken in."""
    from recall.actions.one import take_file

    if exists(app.settings.index):
        found = [row for row in app.store.sessions_like(one.open.session, 2) if row.id == one.open.session]
        if found:
            return found[0]
    path = transcript_of(one.open.client, one.home, one.open.session)
    if not path:
        raise NothingFound(f"session {one.open.session} has no transcript", "")
    return app.resolve(take_file(app.settings, path))


def _told(app: App, one: Crash, problem: RecallError) -> int:
    app.say(f"not reopened: {_named(one)}: {problem.message}" + (f" ({problem.hint})" if problem.hint else ""))
    return problem.exit_code


def _named(one: Crash) -> str:
    about = one.open
    return f"{about.client} {usual(about.session, about.client)} ({one.why})"


def _reach(one: Crash) -> str:
    session = one.open.session
    return f"claude attach {session[:8]}" if one.open.client == "claude" else f"codex resume {session}"
