"""What the hook leaves behind: one small job in a process of its own, while the client goes on or is gone.

It was started with nothing on stdin (or a client's summary), its words go to `children.log`, and an inherited lock says that it is
at work. When its time is up it ends in good order, and is ended if it does not.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

GRACE = 10  # seconds to end in good order


def main(args: list[str]) -> None:
    """`args`: seconds that it may take, then what to do: `handoff FILE`, `summary ID` (its text on stdin) or `recap …`."""
    signal.signal(signal.SIGALRM, _over)
    signal.alarm(int(args[0]))
    with contextlib.suppress(OSError):
        os.chdir("/")  # hold no folder that somebody wants to remove
        os.nice(5)
    _run(args[1:])


def _run(args: list[str]) -> None:
    if args[0] == "recap":
        from recall.cli import main as command

        command(args)  # ends the process
        return
    try:
        _write(args)
    except KeyboardInterrupt:
        print(f"recall: {args[0]}: took too long", file=sys.stderr)
        sys.exit(1)


def _write(args: list[str]) -> None:
    from recall.actions import continuity
    from recall.errors import RecallError
    from recall.settings import load

    try:
        settings = load()
        if args[0] == "handoff":
            continuity.write(settings, args[1], now=time.time())
        elif args[0] == "summary":
            continuity.keep_summary(settings, args[1], sys.stdin.buffer.read(1 << 20).decode("utf-8", "replace"))
    except (RecallError, OSError) as problem:
        print(f"recall: {args[0]}: {problem}", file=sys.stderr)
        sys.exit(1)


def _over(*_: object) -> None:
    """End as if interrupted, so that whatever was started is ended too; the second time there is no asking."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(GRACE)
    raise KeyboardInterrupt
