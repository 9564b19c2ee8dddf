"""`recall send`: type a text into one open session."""

from __future__ import annotations

import os
import sys
import time

import click

from recall.actions.audit import Entry, note
from recall.actions.send import Sent, alone, fit, send
from recall.cli.aim import aim, named, world
from recall.cli.app import App
from recall.cli.output import print_json
from recall.errors import RecallError, Usage


@click.command("send")
@click.argument("address", metavar="ADDR")
@click.argument("text")
@click.option("--force", is_flag=True, help="Also while a question is open (Enter then answers it), or in a menu.")
@click.option("--json", "as_json", is_flag=True, help="JSON: result, what showed it.")
def command(address: str, text: str, force: bool, as_json: bool) -> int:
    """Type TEXT into one open session and press Enter; `-` reads it from standard input.

    ADDR is an address or an id of `recall ps`. Nothing is typed unless the client is really there and shows its input
    line; a session that waits for an answer is refused (status 3), since Enter would give it. Then it is looked whether the
    text arrived; if not, the status is 4, and the text is not typed again. A client at work takes it when it has time. A
    session of Codex's background server gets it through `codex queue`. Slash commands work. Before a TEXT that begins with
    a dash stands `--`. Every send is noted in iterm-audit.log in the state folder.

    \b
      recall send s034 'run the tests again'
      recall send %3 /compact
      recall send 1b2c3d4e - < prompt.txt
    """
    app = App.from_environment()
    if text == "-":
        text = _standard_input()
    entry = Entry(address, text, "", force=force)
    try:
        text = fit(text)
        target = aim(app, address, typing=True)
        pane = target.pane
        entry = entry._replace(
            text=text,
            session=target.open.session,
            client=target.open.client,
            terminal=pane.terminal if pane else "",
            pane=pane.id if pane else "",
        )
        around = world(app, target.open.client)
        with alone(app.settings.state, target, around):
            done = send(target, text, around, own=app.settings.current_session, above=_above(), force=force)
    except RecallError as problem:
        _note(app, entry._replace(result=f"{problem.kind}: {problem.message}"))
        raise
    except BaseException as problem:
        _note(app, entry._replace(result=f"broken off: {type(problem).__name__}"))
        raise
    _note(app, entry._replace(result=done.result))
    if as_json:
        print_json({"schema": 1, **named(target), "result": done.result, "sign": done.sign, "presses": done.presses})
    else:
        print(_told(done, target.address or target.open.session))
    app.close()
    return 0


def _told(done: Sent, where: str) -> str:
    if done.result == "queued":
        return f"queued in {where}: it works, and takes the text when it has time"
    return f"arrived in {where} ({done.sign})"


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError:
        raise Usage("standard input is not valid UTF-8", "") from None


def _above() -> tuple[int, ...]:
    """The processes above this one: a client among them would type into itself."""
    from recall.live.process import ancestors

    return tuple(ancestors(os.getpid()))


def _note(app: App, entry: Entry) -> None:
    try:
        note(app.settings.state, entry, time.time())
    except OSError as problem:
        app.say(f"the send could not be noted in the audit log: {problem.strerror}")
