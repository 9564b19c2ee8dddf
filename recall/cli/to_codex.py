"""`recall to-codex`: hand a task over to Codex."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

import click

from recall.cli.app import App
from recall.cli.output import print_json
from recall.cli.seconds import Seconds
from recall.core.plain import plain
from recall.errors import Unavailable, Usage

if TYPE_CHECKING:
    from recall.actions.to_codex import Written
    from recall.core.model import Session


@click.command("to-codex")
@click.argument("folder", metavar="DIR")
@click.option("--brief", "file", metavar="FILE", help="Your own brief, as it is; `-` for standard input.")
@click.option("--task", metavar="TEXT", help="What is to be done; the rest is from the newest session of that folder.")
@click.option("--session", metavar="ID", help="From this session in place of the newest one.")
@click.option("--spawn", "spawning", is_flag=True, help="Open Codex there, and see that it began.")
@click.option("--terminal", metavar="NAME", default="", help="With --spawn: tmux, iTerm, kitty, ... (RECALL_TERMINAL).")
@click.option("--tab", is_flag=True, help="With --spawn: in a new tab, where the terminal has some.")
@click.option(
    "--wait",
    "patience",
    metavar="SECS",
    type=Seconds(1, 600),
    default=45,
    show_default=True,
    help="With --spawn: how long Codex may take to begin.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON: what was written, from where, what was opened.")
def command(
    folder: str,
    file: str | None,
    task: str | None,
    session: str | None,
    spawning: bool,
    terminal: str,
    tab: bool,
    patience: float,
    as_json: bool,
) -> int:
    """Write a brief for Codex into a folder: CODEX_HANDOFF.md, with task, done, in flight, next, gotchas and paths.

    A brief that is there already is kept as CODEX_HANDOFF.md.bak. AGENTS.md is written only where there is none. Secrets are
    replaced. With --spawn Codex is opened there and told to read it; status 4 if it did not begin. docs/CODEX.md tells
    more, and how to come back.

    \b
      recall to-codex . --task "finish the export" --spawn
      recall to-codex ~/src/crm --brief brief.md
      recall to-codex . --session 1b2c3d4e
    """
    from recall.actions import to_codex

    folder = os.path.abspath(folder)
    _check(folder, file, task, session)
    written_by_hand = to_codex.brief_of(_read(file, to_codex.LARGEST)) if file is not None else ""
    app = App.from_environment()
    chosen = None
    if spawning:
        from recall.actions.reopen import program
        from recall.terminals.choose import choose

        chosen = choose(terminal or app.settings.terminal, os.environ)
        program("codex", os.environ.get("PATH", ""), app.settings)
    row = _source(app, folder, session) if file is None else None
    if file is None:
        text = to_codex.brief_from(row, task or "", folder, app.store if row else None, app.settings, now=time.time())
    else:
        text = written_by_hand
    done = to_codex.write(folder, text, app.settings)
    line = to_codex.line(folder, app.settings)
    told: dict[str, object] = {
        "schema": 1,
        "brief": done.brief,
        "changed": done.changed,
        "backup": done.backup or None,
        "agents": done.agents or None,
        "from": row.id if row else None,
        "line": line,
        "spawned": None,
    }
    app.close()
    if not as_json:
        _tell(done, row.id if row else "")
    if spawning and chosen is None and (terminal or app.settings.terminal).strip().lower() != "print":
        raise Unavailable("there is no terminal here to open a window in; the brief is written", line)
    if chosen is not None:
        from recall.live import open_sessions

        spawned = to_codex.spawn(
            folder,
            chosen,
            "tab" if tab or app.settings.tab else "window",
            os.environ,
            app.settings,
            live=lambda: open_sessions(app.settings),
            clock=time.monotonic,
            pause=time.sleep,
            patience=patience,
        )
        opened = spawned.opened
        told["spawned"] = {
            "session": spawned.session,
            "terminal": opened.terminal,
            "where": opened.where,
            "window": opened.id or None,
        }
        if not as_json:
            print(plain(f"Codex began session {spawned.session} in {opened.terminal} ({opened.where})"))
        if opened.then:
            app.say(f"to see it: {opened.then}")
    elif not as_json:
        print(line)
    if as_json:
        print_json(told)
    return 0


def _source(app: App, folder: str, session: str | None) -> Session | None:
    """The session that is asked for, else the one that was last at work in the folder, up to date; None: there is none."""
    from recall.actions.to_codex import newest_in
    from recall.cli.fresh import freshen
    from recall.cli.target import session_of

    if session is None and not os.path.exists(app.settings.index):
        app.say("nothing is indexed yet: the brief holds the task only (run: recall sweep)")
        return None
    freshen(app, quiet=True)
    if session is not None:
        return session_of(app, session)
    newest = newest_in(folder, app.store.sessions(), app.shelf.is_removed)
    return session_of(app, newest.id) if newest else None


def _check(folder: str, file: str | None, task: str | None, session: str | None) -> None:
    if not os.path.isdir(folder):
        raise Usage(f"there is no folder {folder}", "recall to-codex DIR takes one that exists")
    if file is not None and (task is not None or session is not None):
        raise Usage(
            "--brief is the whole brief: --task and --session are for one that recall writes", "give one of both"
        )
    if task is not None and not task.strip():
        raise Usage("--task is empty", "say what is to be done")
    if file is None and task is None and session is None:
        raise Usage("what is to be handed over?", "--task TEXT, --brief FILE or --session ID")


def _read(file: str, most: int) -> str:
    """The text of a brief; Usage where it cannot be read."""
    try:
        if file == "-":
            data = sys.stdin.buffer.read(most + 1)
        else:
            with open(file, "rb") as stream:
                data = stream.read(most + 1)
    except OSError as problem:
        raise Usage(
            f"cannot read {file}: {problem.strerror}", "--brief takes a file, or - for standard input"
        ) from None
    if len(data) > most:
        raise Usage(f"{file} has more than {most >> 20} MB", "a brief fits on a page")
    return data.decode("utf-8-sig", "replace")


def _tell(done: Written, session: str) -> None:
    source = f", from session {session}" if session else ""
    print(plain(f"{done.brief}: {'written' if done.changed else 'as it was'}{source}"))
    if done.backup:
        print(plain(f"{done.backup}: what was there before"))
    if done.agents:
        print(plain(f"{done.agents}: written, there was none"))
