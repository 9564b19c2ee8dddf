"""`recall` alone on a terminal: the picker."""

from __future__ import annotations

import datetime
import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable

from recall.cli.app import App
from recall.core.model import Session
from recall.errors import Unavailable

PEEK = 5.0
"""Seconds that another terminal may take to tell what it shows."""


def run(app: App) -> int:
    """Show the picker, and do what it leaves to do. The exit status."""
    gc.disable()  # until the first screen stands (`recall.tui.listing`): what is made until then stays
    from recall.cli import program
    from recall.cli.failure import explain
    from recall.tui.app import pick
    from recall.tui.search import Parts

    parts = Parts(app.settings, _clock(app.now), explain, app.rebuild, dict(os.environ), program(), _peek)
    try:
        left = pick(parts)
    finally:
        gc.enable()
    if "NO_COLOR" in parts.env:  # textual takes it out of the environment; what is run from here is told as well
        os.environ["NO_COLOR"] = parts.env["NO_COLOR"]
    if left.told:
        print(left.told)
    if left.here is not None:
        from recall.cli.group import run as command

        more = [*(["--force"] if left.force else []), *(["--in", left.folder] if left.folder else [])]
        return command(["open", left.here.id, "--here", *more])
    return left.status


def pick_or_list() -> int:
    """The picker; where what it is drawn with is not installed, the newest sessions, and a word on stderr."""
    app = App.from_environment()
    try:
        import textual  # noqa: F401
    except ImportError:
        from recall.cli.group import run as command

        status = command([])
        app.say("the picker needs the package textual: install recall again, and it comes with it")
        return status
    return run(app)


def _clock(start: datetime.datetime) -> Callable[[], datetime.datetime]:
    """A clock that goes on from `start`."""
    begun = time.monotonic()
    return lambda: start + datetime.timedelta(seconds=time.monotonic() - begun)


def _peek(row: Session) -> list[str]:
    """What `recall peek` prints."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "recall", "peek", row.id],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PEEK,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Unavailable("the other terminal does not answer", "recall doctor") from problem
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip().split("\n")
        raise Unavailable(told[0].removeprefix("recall: "), told[1].removeprefix("hint: ") if len(told) > 1 else "")
    return done.stdout.decode("utf-8", "replace").rstrip().split("\n")
