"""`recall wait`: until an open session is idle, asks, or shows a text."""

from __future__ import annotations

import click

from recall.actions.waiting import IDLE, PERMISSION, TEXT, wait
from recall.cli.aim import aim, named, world
from recall.cli.app import App
from recall.cli.output import print_json
from recall.cli.seconds import Seconds
from recall.errors import Usage


@click.command("wait")
@click.argument("address", metavar="ADDR")
@click.argument("seconds", metavar="[SECS]", required=False, default=600.0, type=Seconds(0, 86400 * 7))
@click.option("--for", "aim_at", metavar="WHAT", default=IDLE, help="idle (default), permission, or text=WORDS.")
@click.option("--text", "words", metavar="WORDS", default="", help="The words of `--for text`.")
@click.option("--json", "as_json", is_flag=True, help="JSON: state, seconds.")
def command(address: str, seconds: float, aim_at: str, words: str, as_json: bool) -> int:
    """Wait until an open session is idle, waits for a permission, or shows a text; SECS (600) at most.

    ADDR is an address or an id of `recall ps`. For `text`, case does not matter, nor where a line is broken; what is on the
    screen already counts. The state in the end is printed. The status is 4 when the time is over, 1 when the session ended.

    \b
      recall wait s034
      recall wait %3 60 --for permission
      recall wait 1b2c3d4e --for text='tests passed'
    """
    kind, equals, told = aim_at.partition("=")
    words = told if equals else words
    if kind not in (IDLE, PERMISSION, TEXT) or (equals and kind != TEXT):
        raise Usage(f"cannot wait for '{aim_at}'", "--for is idle, permission, or text=WORDS")
    kind = TEXT if words and kind == IDLE and aim_at == IDLE else kind
    if (kind == TEXT) is not bool(words.strip()):
        raise Usage("which words are waited for?", "--for text='all tests passed'")
    app = App.from_environment()
    target = aim(app, address)
    got = wait(target, kind, world(app, target.open.client), seconds=seconds, text=words, say=app.say)
    if as_json:
        document = {"schema": 1, **named(target), "for": kind, "state": got.state or None}
        print_json({**document, "seconds": round(got.seconds, 1)})
    else:
        print(got.state or "unknown")
    app.close()
    return 0
