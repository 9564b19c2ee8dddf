"""Run what opens or drives a terminal: no shell, a clean environment, a deadline."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

from recall.core.window import scrubbed
from recall.errors import Unavailable
from recall.terminals.base import DEADLINE, Launch


class Unanswered(Unavailable):
    """It was asked, and did not answer in time: what it was asked to do may be done yet."""


def ask(
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    stdin: str = "",
    name: str = "",
    hint: str = "",
    deadline: float = DEADLINE,
) -> str:
    """What a terminal's command prints. Raises Unavailable where it is not there, fails or takes too long."""
    who = name or argv[0]
    try:
        done = subprocess.run(
            list(argv),
            input=stdin.encode("utf-8", "surrogateescape"),
            capture_output=True,
            env=scrubbed(env),
            timeout=deadline,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unanswered(f"{who} does not answer", hint) from None
    except OSError as problem:
        raise Unavailable(f"{who} cannot be run: {problem.strerror}", hint) from None
    if done.returncode:
        told = " ".join(done.stderr.decode("utf-8", "replace").split())[:200] or f"status {done.returncode}"
        raise Unavailable(f"{who}: {told}", hint)
    return done.stdout.decode("utf-8", "surrogateescape")


def last_lines(told: str, lines: int) -> str:
    """The last so many lines of what a terminal shows, without blanks at their ends and empty lines at its end."""
    kept = [line.rstrip() for line in told.rstrip().split("\n")]
    return "\n".join(kept[-lines:])


def launch(what: Launch, env: Mapping[str, str], *, name: str, hint: str = "") -> str:
    """Open a window; what the terminal printed (an id, for some). One that is the window itself is left running, in a
    session of its own; that it ends at once with a failure is Unavailable."""
    if not what.stays:
        return ask(what.argv, env, stdin=what.stdin, name=name, hint=hint)
    try:
        process = subprocess.Popen(
            list(what.argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=scrubbed(env),
            start_new_session=True,
        )
    except OSError as problem:
        raise Unavailable(f"{name} cannot be run: {problem.strerror}", hint) from None
    try:
        status = process.wait(timeout=0.7)
    except subprocess.TimeoutExpired:
        return ""
    if status:
        raise Unavailable(f"{name} ended with status {status}", hint)
    return ""
