"""The open session that an address means, and the world around it, for the commands that drive one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

from recall.actions.driving import Target, World, transcript_of
from recall.actions.ps import find_target, listed
from recall.cli.app import App
from recall.core.bridge import FIX
from recall.core.model import Open, Pane
from recall.errors import Unavailable
from recall.live import open_sessions
from recall.settings import Settings
from recall.terminals.base import Driver

QUEUE_DEADLINE = 30.0
"""Seconds that `codex queue` may take: it starts a whole client."""


def aim(app: App, address: str, *, typing: bool = False) -> Target:
    """The session; NothingFound or Usage where an address means none or several.

    A terminal that does not answer matters only where the session is in none of the others: Unavailable for what types,
    else it is said.
    """
    troubles: list[str] = []
    row = find_target(address, listed(app.settings, None, os.environ, trouble=troubles.append))
    if row.pane is None and row.open.tty and not row.reach and troubles:
        told = f"where {address} is shown cannot be told: {'; '.join(troubles)}"
        if typing:
            raise Unavailable(told, _mend(troubles))
        app.say(told)
    return Target(row.open, row.pane, row.address, row.reach)


def _mend(troubles: list[str]) -> str:
    if any("bridge not responding" in trouble for trouble in troubles):
        return FIX
    return "is that terminal still there? `recall doctor` tells more; end a server that hangs, then try again"


def named(target: Target) -> dict[str, object]:
    """The session as JSON names it."""
    return {"address": target.address, "client": target.open.client, "id": target.open.session}


def world(app: App, client: str) -> World:
    """The world as it is; `client`: of which sessions are looked for."""
    settings = app.settings
    only = settings._replace(codex_homes=()) if client == "claude" else settings._replace(claude_homes=())
    return World(
        sessions=lambda: open_sessions(only),
        driver=_driver,
        transcript=lambda one: _transcript(one, settings),
        env=os.environ,
        clock=time.monotonic,
        sleep=time.sleep,
        run=_runner(settings),
    )


def _driver(pane: Pane) -> Driver:
    from recall.terminals import DRIVEN, driver

    if pane.terminal not in DRIVEN:  # a pane names the module, not what a person reads
        raise Unavailable(f"{pane.terminal} cannot be driven", "")
    return driver(pane.terminal)


def _transcript(one: Open, settings: Settings) -> str:
    return transcript_of(one, settings.claude_homes, settings.codex_homes)


def _runner(settings: Settings) -> Callable[[tuple[str, ...], Mapping[str, str]], str]:
    def run(argv: tuple[str, ...], more: Mapping[str, str]) -> str:
        from recall.actions.reopen import program
        from recall.terminals.run import ask

        found = program(argv[0], os.environ.get("PATH", ""), settings)
        told = " ".join(argv[:2])
        return ask((found, *argv[1:]), {**os.environ, **more}, name=told, deadline=QUEUE_DEADLINE)

    return run
