"""`recall web`: the index as pages for the browser on this machine."""

from __future__ import annotations

import datetime
import os
import signal
import sys
import threading
from types import FrameType

import click

from recall.cli.app import App


class _Ended(Exception):
    """A signal asks for the end."""


@click.command("web")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="The port (default: any free one).")
@click.option("--open/--no-open", "wanted", default=None, help="Open the browser, or do not. Default: on a desktop.")
@click.option(
    "--idle",
    type=click.FloatRange(0, 100_000),
    default=60.0,
    show_default=True,
    metavar="MINUTES",
    help="End after so long without a request; 0: stay.",
)
def command(port: int, wanted: bool | None, idle: float) -> int:
    """Search and read sessions in a browser: pages over the index, read-only, for this machine alone.

    The server listens on 127.0.0.1 only and wants a key, which is in the address that is printed; nobody else may have
    it. Nothing is asked of the network. Ctrl-C ends it.

    \b
      recall web
      recall web --port 8765 --no-open
    """
    from recall.cli import program
    from recall.cli.failure import explain
    from recall.web.index import Freshness
    from recall.web.parts import Parts
    from recall.web.router import pages
    from recall.web.server import Idle, Server

    app = App.from_environment()
    parts = Parts(
        app.settings,
        lambda: datetime.datetime.now().astimezone(),
        explain,
        Freshness(app.settings),
        program(),
    )
    server = Server(port, pages(parts), idle=idle * 60)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    try:
        print(server.gate.address, flush=True)
        app.say("this address lets in whoever has it; Ctrl-C ends")
        if _desktop() if wanted is None else wanted:
            app.say(
                "it is opened in your browser (--no-open: not)" if wanted is None else "it is opened in your browser"
            )
            threading.Thread(target=_browse, args=(server.gate.ticket(),), daemon=True).start()
        server.run()
    except Idle:
        app.say(f"ended: nobody asked for {idle:g} minutes")
    except (_Ended, KeyboardInterrupt):
        app.say("ended")
    return 0


def _end(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    raise _Ended


def _desktop() -> bool:
    """Is a person at a terminal, with a screen for a browser?"""
    if not sys.stdout.isatty() or os.environ.get("SSH_CONNECTION"):
        return False
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _browse(address: str) -> None:
    import webbrowser

    try:
        done = webbrowser.open(address)
    except (webbrowser.Error, OSError):
        done = False
    if not done:
        App.say("no browser could be started: open the address yourself")
