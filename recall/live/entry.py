"""One trace of a session that a client opened, as the client left it: what `claude.entries` and `codex.entries` give."""

from __future__ import annotations

from typing import NamedTuple

from recall.core.model import Open


class Entry(NamedTuple):
    """`open` is what the trace says of the session. `alive`: the client runs and has it open; otherwise the client ended and
    left the trace behind, as it does when it is killed. `terminal`: it is a person's session, not a headless run.
    `start` tells two processes of one number apart (the client's own mark where it writes one); `at` when the trace was last
    touched, in seconds since 1970; `home` whose it is, `path` its file."""

    open: Open
    alive: bool
    terminal: bool
    start: str
    at: float
    home: str
    path: str
