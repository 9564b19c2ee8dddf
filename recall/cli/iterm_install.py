"""`recall iterm-install`: the bridge that lets recall list, read and drive the sessions in iTerm2."""

from __future__ import annotations

import os
import sys

import click

from recall.cli.output import print_json
from recall.core.plain import plain
from recall.errors import RecallError


@click.command("iterm-install")
@click.option("--uninstall", is_flag=True, help="Take the bridge away again.")
@click.option("--force", is_flag=True, help="Also where this is no macOS.")
@click.option("--json", "as_json", is_flag=True, help="JSON: path, changed, set_aside, running, clicks.")
def command(uninstall: bool, force: bool, as_json: bool) -> int:
    """Put recall's bridge into iTerm2's folder AutoLaunch, and say which clicks remain.

    iTerm2 lets a script use its API only when it has started it itself. The bridge is such a script: it listens on a socket that
    only you can reach, and `ps`, `peek`, `send` and `wait` ask it. Run this again after an update of recall.

    \b
      recall iterm-install
      recall iterm-install --uninstall
    """
    from recall.actions import iterm_install
    from recall.core.bridge import RETIRE
    from recall.settings import load
    from recall.terminals import iterm2_bridge

    settings = load()
    if uninstall:
        done = iterm_install.remove(settings)
        running = _running()
        if running:
            iterm2_bridge.ask(os.environ, RETIRE)
        clicks: tuple[str, ...] = ()
        words = "removed" if done.changed else "there is none"
    else:
        done = iterm_install.install(settings, sys.platform, force=force)
        running = _running()
        clicks = iterm_install.CLICKS if not running else iterm_install.CLICKS[2:3] if done.changed else ()
        words = "put in place" if done.changed else "nothing to change"
    if as_json:
        print_json(
            {
                "schema": 1,
                "path": done.path,
                "changed": done.changed,
                "set_aside": [list(pair) for pair in done.set_aside],
                "running": running,
                "clicks": list(clicks),
            }
        )
        return 0
    print(plain(f"{done.path}: {words}"))
    for old, new in done.set_aside:
        print(plain(f"  an earlier tool's bridge is put aside: {old} -> {new}"))
    if uninstall:
        return 0
    print("The bridge answers." if running else "The bridge does not answer yet.")
    if clicks:
        print("Left to do in iTerm2:" if not running else "To start the new one, in iTerm2:")
        for number, click_ in enumerate(clicks, 1):
            print(f"  {number}. {click_}")
        print("Then: recall ps")
    return 0


def _running() -> bool:
    """Does a bridge answer, of this version?"""
    from recall.terminals import iterm2_bridge

    try:
        iterm2_bridge.hello(os.environ, within=2)
    except RecallError:
        return False
    return True
