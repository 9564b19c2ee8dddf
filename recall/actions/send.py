"""Type a text into one open session, and into no other place: checked before, between and after.

Order: the session and its client are looked at once more; the text goes in as a bracketed paste; a pause, since both clients
take an Enter that follows at once for a part of the paste; the client is looked at again, since a question that opened
meanwhile would be answered by Enter; Enter; and what shows that the text arrived. If it still stands in the input line after
a while, Enter is pressed once more. The text itself never is given twice.

Claude Code takes a paste of more than three lines or 800 characters for something that the person copied from elsewhere: the
model gets it in tags that say so, and is told to be wary of what it asks. Therefore a text goes there in several pastes, each
below that, which make one prompt (seen with 2.1.332; Codex gives a paste to the model as it is).

A bracketed paste does for slash commands, too: both clients open their menu and run the command (seen with Claude Code
2.1.332 and Codex 0.171.0).
"""

from __future__ import annotations

import contextlib
import os
import re
import unicodedata
from collections.abc import Collection, Iterator
from typing import NamedTuple

from recall.actions.arrival import Tail, sign
from recall.actions.driving import Target, World, again, called, pane_of, reached, screen_of, state_of
from recall.core import screen as read
from recall.core.model import Open, Pane
from recall.errors import NothingFound, Refused, Unavailable, Usage
from recall.files import Lock

MOST = 100_000
"""Bytes of a text. It is also an argument of a program for Codex's server, which may have 128 kB."""

PAUSE = {"claude": 0.15, "codex": 0.4}  # seconds between paste and Enter, and more the longer the text:
_PER_BYTE = 1 / 20_000
_MOST_MORE = 1.5

LINES, CHARACTERS = 3, 700
"""Of one paste for Claude Code."""
PASTES = 40
"""A text that would take more goes in one paste, in its tags: it is material rather than a request."""

SHOWN = 3.0  # seconds in which the text must be seen in the input line
FIRST = 2.0  # seconds after which Enter is pressed once more
SECOND = 3.0  # seconds that are waited after that
QUEUED = 8.0  # seconds for Codex's server to begin with a text
TURN = 15.0  # seconds for another recall that types into the same session
LEAVES = 0.6  # seconds that are given to a better sign than a text that left the input line
_EVERY = 0.1

_SHELL = ("!", "\uff01")
"""What makes a command for the shell of a text; the second is what a Japanese or Chinese keyboard gives for it."""

_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f]")
_PEEK = "`recall peek {}` shows its screen"


class Sent(NamedTuple):
    """How a text went in: `result` 'arrived', or 'queued' (the client works, and takes it when it has time); `sign` what showed
    it; `presses` of Enter."""

    result: str
    sign: str
    presses: int = 1


def fit(text: str) -> str:
    """The text as it is sent: line ends are LF, none at the end. Usage for one that cannot be."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    if not text.strip():
        raise Usage("there is no text to send", "recall send ADDR 'what to do', or - to read it from standard input")
    found = _CONTROL.search(text)
    if found is not None:
        raise Usage(
            f"the text holds a control character (U+{ord(found[0]):04X}), which would steer the terminal",
            "send plain text; put anything else into a file and send its path",
        )
    if not text.isprintable() and any("\ud800" <= char <= "\udfff" for char in text):
        raise Usage("the text is not valid UTF-8", "put it into a file and send its path")
    size = len(text.encode())
    if size > MOST:
        raise Usage(f"the text has {size} bytes, more than {MOST}", "put it into a file and send its path")
    return text


def ending(client: str, text: str) -> str:
    """The text with what makes the Enter behind it submit: behind a backslash it begins a new line in Claude Code, which takes
    a blank at the end away (seen with 2.1.332)."""
    return text + " " if client == "claude" and text.endswith("\\") else text


def pieces(client: str, text: str) -> list[str]:
    """The text as the pastes that it is given in."""
    if client != "claude":
        return [text]
    out = [""]
    for part in re.findall(rf"\n?[^\n]{{1,{CHARACTERS - 1}}}|\n", text):
        if len(out[-1]) + len(part) > CHARACTERS or out[-1].count("\n") + part.count("\n") >= LINES:
            out.append("")
        out[-1] += part
    return out if len(out) <= PASTES else [text]


@contextlib.contextmanager
def alone(state: str, target: Target, world: World) -> Iterator[None]:
    """One recall types into a session at a time: the texts of two would become one prompt. `state` is the state folder.

    Refused while another one types longer than TURN seconds. The file is one of those that hooks lock for what they
    start, and goes as those do. OSError where it cannot be made.
    """
    path = os.path.join(state, "children", f"{target.open.session}.send")
    end = world.clock() + TURN
    while True:
        with Lock(path, wait=False) as held:
            if held is not None:
                os.utime(path)
                yield
                return
        if world.clock() >= end:
            raise Refused(f"another recall types into {called(target)}", "wait for it, then try again")
        world.sleep(_EVERY)


def send(
    target: Target,
    text: str,
    world: World,
    *,
    own: str = "",
    above: Collection[int] = (),
    force: bool = False,
) -> Sent:
    """Send a text that `fit` gave. `own` is the session that runs us, `above` the processes above us: neither is typed into.

    Raises NothingFound (1) where the session is not open any more, Refused (3) where a question is open or the client is not
    what gets the keys (`force`: for the first only), Unavailable (4) where no terminal answers or nothing was seen to arrive.
    """
    shared = target.open.background  # a server's process is above all of its sessions
    if target.open.session == own or (not shared and target.open.pid and target.open.pid in above):
        raise Refused(f"{called(target)} is the session that this runs in", "a session does not type into itself")
    if _first_seen(text) in _SHELL and not force:
        raise Refused(
            "a text that begins with ! is a command for the shell, which no permission question stands before",
            "begin with another word; --force if that is what is wanted",
        )
    if target.open.client == "codex" and target.open.background:
        return _queue(target, text, world)
    pane = pane_of(target)
    return _Typing(target, pane, text, world, force).run()


def _first_seen(text: str) -> str:
    """The first character that shows. Claude Code takes invisible ones out of what is typed: then this one is the first."""
    for char in text:
        if char.isprintable() and not char.isspace() and unicodedata.category(char)[0] != "M":
            return char
    return ""


class _Typing:
    """One text on its way into one pane."""

    def __init__(self, target: Target, pane: Pane, text: str, world: World, force: bool) -> None:
        self._target, self._pane, self._text, self._world, self._force = target, pane, text, world, force
        self._driver = world.driver(pane)
        self._peek = _PEEK.format(target.address or target.open.session)

    def run(self) -> Sent:
        before, state, stood = self._look(typed=False)
        tail = Tail(lambda: self._world.transcript(before))
        for piece in pieces(before.client, ending(before.client, self._text)):
            self._driver.paste(self._pane, piece, self._world.env)
        size = len(self._text.encode())
        self._world.sleep(PAUSE[before.client] + min(_MOST_MORE, size * _PER_BYTE))
        stands = None if stood is None else self._taken(stood)
        self._look(typed=True)
        return self._enter(before, state, stands, tail)

    def _look(self, *, typed: bool) -> tuple[Open, str, str | None]:
        """What the client tells, its state, and what stands in its input line (None: not to be seen); Refused where nothing
        may be typed. `typed`: the text was pasted already."""
        now = again(self._target, self._world)
        reached(self._target, self._pane, now, self._world)
        screen = screen_of(self._pane, self._world)
        state = state_of(now, screen)
        # Codex draws its question a moment after its rollout tells of it, and the input line stands there until then.
        waits = "waiting" in (state, now.state)
        stands = read.input_line(now.client, screen)
        meanwhile = " meanwhile; the text was not submitted" if typed else ""
        if waits and not self._force:
            what = f" ({now.waiting_for})" if now.waiting_for else ""
            raise Refused(
                f"{called(self._target)} waits for an answer{what}{meanwhile}: Enter would give it",
                f"{self._peek}; answer there, or --force",
            )
        if read.for_shell(now.client, screen) and not self._force:
            raise Refused(
                f"{called(self._target)} is in shell mode{meanwhile}: Enter would run the text as a command",
                f"{self._peek}; leave that mode there (Esc, or Backspace at the beginning), or --force",
            )
        if stands is None and not self._force:
            raise Refused(
                f"{called(self._target)} does not show its input line{meanwhile}",
                f"{self._peek}; a menu or another view may be open: close it, or --force",
            )
        return now, state, stands

    def _taken(self, stood: str) -> str:
        """What stands in the input line with the text in it; raises where that is not so, or where more is in it."""
        world = self._world
        end = world.clock() + SHOWN
        while True:
            inside = read.input_line(self._target.open.client, screen_of(self._pane, world))
            if inside is None:
                return ""  # something opened: the look before Enter tells
            if read.holds(inside, self._text) and inside != stood:
                break
            if world.clock() >= end:
                raise Unavailable(
                    f"{called(self._target)} did not take the text; Enter was not pressed", f"{self._peek}; try again"
                )
            world.sleep(_EVERY)
        if read.mixed(stood, inside, self._text) and not self._force:
            raise Refused(
                f"somebody is typing in {called(self._target)}: the text stands behind theirs now, not submitted",
                f"{self._peek}; clear its input line, then try again",
            )
        return inside

    def _enter(self, before: Open, state: str, stands: str | None, tail: Tail) -> Sent:
        world = self._world
        for presses, patience in ((1, FIRST), (2, SECOND)):
            self._driver.enter(self._pane, world.env)
            began = world.clock()
            left = None
            while True:
                found, still = self._sign(before, state, stands, tail)
                now = world.clock()
                if found in ("arrived", "queued"):
                    return Sent("queued" if found == "queued" else "arrived", "its transcript", presses)
                left = left if left is not None else now if found == "left" else None
                if found and (found != "left" or (left is not None and now - left >= LEAVES)):
                    words = {"left": "the text left its input line"}.get(found, found)
                    return Sent("queued" if state == "busy" else "arrived", words, presses)
                if now - began >= patience:
                    break
                world.sleep(_EVERY)
            if not still or presses == 2:
                break
            self._look(typed=True)
        raise Unavailable(
            f"the text was typed into {called(self._target)}, but was not seen to arrive",
            f"{self._peek}; it was not typed a second time",
        )

    def _sign(self, before: Open, state: str, stands: str | None, tail: Tail) -> tuple[str, bool]:
        """What shows that the text arrived, '' for nothing yet; and: does it still stand in the input line?"""
        told = sign(tail.new(), self._text)
        if told:
            return told, False
        try:
            now = again(self._target, self._world) if before.client == "claude" else before
            screen = screen_of(self._pane, self._world)
        except (NothingFound, Unavailable):
            if self._text.startswith("/"):  # /clear, /exit
                return "the client left the session", False
            raise
        inside = read.input_line(before.client, screen)
        if now.state == "busy" and before.state not in ("busy", "waiting") and before.client == "claude":
            return "it began to work", False
        if state != "busy" and before.client == "codex" and read.works(screen):
            return "it began to work", False
        if self._text.startswith("/") and stands and (inside is None or now.state == "waiting"):
            return "it opened a view", False
        if stands and inside is not None and inside != stands and not read.holds(inside, self._text):
            return "left", False
        return "", bool(stands) and inside is not None and read.same(inside, stands or "")


def _queue(target: Target, text: str, world: World) -> Sent:
    """A session that Codex's background server owns: its own command takes the text there."""
    now = again(target, world)
    path = world.transcript(now)
    home = path.rpartition("/sessions/")[0]
    tail = Tail(lambda: world.transcript(now))
    busy = now.state in ("busy", "waiting")
    words = ("codex", "queue", "--thread", now.session, f"--message={text}", "--resume")
    world.run(words, {"CODEX_HOME": home} if home else {})
    end = world.clock() + (LEAVES if busy else QUEUED)
    while True:
        if sign(tail.new(), text):
            return Sent("arrived", "its transcript", 0)
        if world.clock() >= end:
            break
        world.sleep(_EVERY)
    if busy:
        return Sent("queued", "codex queue took it", 0)
    raise Unavailable(
        f"codex queue took the text for {called(target)}, but it was not seen to begin",
        f"recall show {now.session} --transcript --tail 2 shows whether it has; it was not given a second time",
    )
