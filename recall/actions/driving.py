"""What `peek`, `send` and `wait` have in common: the session that is meant, and the world that it is driven in."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from recall.actions.foreground import behind
from recall.core import screen as read
from recall.core.address import address_of
from recall.core.card import usual
from recall.core.model import Open, Pane
from recall.errors import NothingFound, Refused, Unavailable
from recall.live import codex
from recall.terminals.base import Driver

_LOOKS = 6  # at a registry whose file may just be written anew
_BETWEEN = 0.05
SCREEN = 120  # lines of a pane that are read to see what the client does


class Target(NamedTuple):
    """An open session, where it is shown (`pane` None: nowhere that can be driven), how a person calls it, and what brings it
    before a person's eyes ('' where it is there)."""

    open: Open
    pane: Pane | None = None
    address: str = ""
    reach: str = ""


class World(NamedTuple):
    """What driving touches, as functions, so that a test needs neither a terminal nor a clock.

    `sessions`: what is open now; `driver`: what drives the terminal of a pane; `behind`: why keys do not reach a process (see
    `recall.actions.foreground`); `transcript`: the client's own file of a session, '' where there is none yet; `run`: what a
    program prints, given its words and variables that it needs beside the environment; `clock` in seconds, `sleep` waits so many.
    """

    sessions: Callable[[], Sequence[Open]]
    driver: Callable[[Pane], Driver]
    transcript: Callable[[Open], str]
    env: Mapping[str, str]
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    behind: Callable[[int], str] = behind
    run: Callable[[tuple[str, ...], Mapping[str, str]], str] = lambda argv, more: ""


def called(target: Target) -> str:
    """The session as it is named in a message: its address and its id."""
    address = target.address or address_of(target.open.tty)
    short = usual(target.open.session, target.open.client)
    return (
        f"{address} ({target.open.client} {short})" if address and address != short else f"{target.open.client} {short}"
    )


def again(target: Target, world: World) -> Open:
    """What the client tells of the session now. NothingFound where it ended, or where its process has another one open."""
    was = target.open
    for look in range(_LOOKS):
        mine = [one for one in world.sessions() if one.client == was.client and one.pid == was.pid]
        found = next((one for one in mine if one.session == was.session), None)
        if found is not None and (was.client != "claude" or found.started == was.started):
            return found
        if mine and was.client == "claude":
            now = mine[0].session
            raise NothingFound(
                f"{called(target)} is not open any more: that client has session {now[:8]} open now",
                "`recall ps` shows what is open",
            )
        if look < _LOOKS - 1:
            world.sleep(_BETWEEN)
    raise NothingFound(f"{called(target)} is not open any more", "`recall ps` shows what is open")


def pane_of(target: Target) -> Pane:
    """Where the session is shown. Unavailable, with the way that is left, for one that is shown nowhere, or in a terminal
    that cannot be driven."""
    if target.pane is not None:
        return target.pane
    here, way = target.open, target.reach
    if here.background or not here.tty:
        raise Unavailable(
            f"{called(target)} runs in the background and has no terminal",
            f"{way or f'recall cmd {here.session}'} brings it into one",
        )
    if way:
        raise Unavailable(
            f"{called(target)} is open behind another session of its client", f"{way} brings it to the front"
        )
    raise Unavailable(
        f"{called(target)} runs on {here.tty}, in a terminal that cannot be read or typed into",
        "tmux, kitty (remote control on), WezTerm and iTerm2 (recall iterm-install) can be",
    )


def screen_of(pane: Pane, world: World, lines: int = SCREEN) -> str:
    """What a pane shows now."""
    return world.driver(pane).read(pane, lines, world.env)


def reached(target: Target, pane: Pane, now: Open, world: World) -> None:
    """Refused unless what is typed into the pane goes to the session's client, and to nothing else."""
    if pane.tty and now.tty and address_of(pane.tty) != address_of(now.tty):
        raise Refused(
            f"{called(target)} is on {now.tty} now, not in {pane.terminal}'s {pane.id}", "`recall ps` shows where it is"
        )
    why = world.behind(now.pid)
    if why:
        raise Refused(
            f"the client of {called(target)} {why}: what is typed there would go to another program",
            "bring it back (`fg` in that window), then try again",
        )


def state_of(now: Open, screen: str | None) -> str:
    """busy, idle, waiting, '' where it cannot be told: as Claude Code says itself; Codex says it on its screen only
    (None: there is none), else what its rollout looks like."""
    if screen is None:
        return now.state
    if read.asks(now.client, screen):
        return "waiting"
    if now.client == "claude":
        return now.state
    if read.works(screen):
        return "busy"
    return "idle" if read.input_line(now.client, screen) is not None else now.state


def transcript_of(now: Open, claude_homes: Sequence[str], codex_homes: Sequence[str]) -> str:
    """The client's own transcript of an open session, '' before its first prompt."""
    if now.client == "codex":
        return next(filter(None, (codex.rollout_of(home, now.session) for home in codex_homes)), "")
    name = f"{glob.escape(now.session)}.jsonl"
    found = [
        path for home in claude_homes for path in glob.glob(os.path.join(glob.escape(home), "projects", "*", name))
    ]
    return max(found, key=_written, default="")


def _written(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
