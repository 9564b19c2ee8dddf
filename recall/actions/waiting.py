"""Wait until an open session is idle, asks for something, or shows a text. It looks at small files and at the screen, a few
times a second, and holds nothing that somebody else might want."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from recall import clients
from recall.actions.arrival import Tail
from recall.actions.driving import Target, World, again, called, screen_of, state_of
from recall.actions.transcript import tail
from recall.core import screen as read
from recall.core.facts import Facts
from recall.core.model import ACTION, ASSISTANT, USER, Line, Open, Pane
from recall.core.plain import one_line
from recall.errors import Unavailable

IDLE, PERMISSION, TEXT = "idle", "permission", "text"

EVERY = 0.2
SETTLED = 0.4
"""Seconds that a session must be idle: between two prompts that stand in a queue, and right after one was sent, it is so for
a moment."""
STILL = 2.0
"""Seconds without a change after which a screen that tells nothing is taken for that of an idle client."""

_SAID = (USER, ASSISTANT, ACTION)
_BEFORE = 4  # records before the beginning in which a text may stand


class Waited(NamedTuple):
    """The state in the end, and the seconds that it took."""

    state: str
    seconds: float


def wait(
    target: Target,
    aim: str,
    world: World,
    *,
    seconds: float,
    text: str = "",
    say: Callable[[str], None] = lambda line: None,
) -> Waited:
    """Return when the session is what `aim` says; `text`, for TEXT, may be there already. `say` is told once when a question is
    open meanwhile.

    NothingFound (1) where the session ends or its window goes on with another one; Unavailable (4) when `seconds` are over.
    """
    began = world.clock()
    look = _Look(target, world, text if aim == TEXT else "")
    told = False
    while True:
        state = look.now(aim)
        if look.done(aim, state):
            return Waited(state, world.clock() - began)
        if state == "waiting" and not told:
            told = True
            say(f"{called(target)} waits for an answer: {one_line(look.waiting_for) or 'a question is open'}")
        left = seconds - (world.clock() - began)
        if left <= 0 and aim == IDLE == state:
            return Waited(state, world.clock() - began)
        if left <= 0:
            wanted = {IDLE: "idle", PERMISSION: "waiting for a permission", TEXT: "showing that text"}[aim]
            raise Unavailable(
                f"{called(target)} is not {wanted} after {seconds:g} seconds; it is {state or 'in an unknown state'}",
                f"recall peek {target.address or target.open.session} shows what it does",
            )
        world.sleep(min(EVERY, left))


class _Look:
    """What was seen of a session so far."""

    def __init__(self, target: Target, world: World, text: str) -> None:
        self._target, self._world, self._text = target, world, text
        self._idle_since: float | None = None
        self._screen: str | None = None
        self._same_since = world.clock()
        self._tail = Tail(lambda: world.transcript(target.open)) if text else None
        self._seen = bool(text) and self._said_before(target.open)
        self.waiting_for = ""

    def now(self, aim: str) -> str:
        """The state of the session now."""
        one = again(self._target, self._world)
        self.waiting_for = one.waiting_for
        pane = self._target.pane
        screen = None
        if pane is not None and (aim == TEXT or one.client != "claude" or not one.state):
            screen = self._read(pane)
            if screen != self._screen:
                self._screen, self._same_since = screen, self._world.clock()
        if self._text and not self._seen:
            self._seen = (screen is not None and read.shows(screen, self._text)) or self._said(one)
        state = state_of(one, screen)
        if not state and screen is not None and self._world.clock() - self._same_since >= STILL:
            state = "idle"
        if state != "idle":
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = self._world.clock()
        return state

    def done(self, aim: str, state: str) -> bool:
        """Is it what was waited for?"""
        if aim == TEXT:
            return self._seen
        if aim == PERMISSION:
            return state == "waiting"
        return self._idle_since is not None and self._world.clock() - self._idle_since >= SETTLED

    def _read(self, pane: Pane) -> str:
        try:
            return screen_of(pane, self._world)
        except Unavailable:
            self._world.sleep(EVERY)
            again(self._target, self._world)  # a window that was closed: its session has ended
            raise

    def _said_before(self, one: Open) -> bool:
        path = self._world.transcript(one)
        try:
            records = tail(path, one.client, _SAID, _SAID, _BEFORE)[-_BEFORE:] if path else []
        except OSError:
            return False
        return any(read.shows(record.text, self._text) for record in records)

    def _said(self, one: Open) -> bool:
        added = self._tail.new() if self._tail else b""
        lines = [Line(number, raw) for number, raw in enumerate(added.split(b"\n")) if raw]
        if not lines:
            return False
        records = clients.get(one.client).parse(iter(lines), Facts(), _SAID)
        return any(read.shows(record.text, self._text) for record in records)
