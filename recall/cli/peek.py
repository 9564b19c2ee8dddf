"""`recall peek`: what an open session shows."""

from __future__ import annotations

import click

from recall.actions.peek import peek
from recall.cli.aim import aim, named, world
from recall.cli.app import App
from recall.cli.output import print_json


@click.command("peek")
@click.argument("address", metavar="ADDR")
@click.argument("lines", metavar="[N]", required=False, default=40, type=click.IntRange(1, 5000))
@click.option("--json", "as_json", is_flag=True, help="JSON: text, what it is of, state.")
def command(address: str, lines: int, as_json: bool) -> int:
    """Print the last N lines (40) that an open session shows.

    ADDR is an address or an id of `recall ps`. Colours and other escapes are taken out and secrets are replaced. Of a
    session in the background the end of its transcript is printed, which is said on stderr.

    \b
      recall peek s034
      recall peek %3 100
    """
    app = App.from_environment()
    target = aim(app, address)
    got = peek(target, lines, world(app, target.open.client))
    if as_json:
        print_json({"schema": 1, **named(target), "of": got.of, "state": got.state or None, "text": got.text})
    else:
        print(got.text)
    if got.why:
        app.say(f"{got.why}: this is the end of its transcript")
    app.close()
    return 0
