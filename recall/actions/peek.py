"""What an open session shows now: the end of its screen, or of its transcript where it has no screen that can be read."""

from __future__ import annotations

from typing import NamedTuple

from recall.actions.driving import Target, World, again, pane_of, screen_of, state_of
from recall.actions.transcript import shown, tail
from recall.core import screen as read
from recall.core.model import ACTION, ASSISTANT, USER, ZONE_NAMES, Open
from recall.errors import Unavailable

_MARGIN = 60  # lines that are read beyond those that are shown: empty ones at the end do not count


class Peeked(NamedTuple):
    """`text`, free of escapes and redacted; `of` is 'screen' or 'transcript'; `state` as far as it is known; `why` there is no
    screen."""

    text: str
    of: str
    state: str
    why: str = ""


def peek(target: Target, lines: int, world: World) -> Peeked:
    """The last `lines` lines. Unavailable where the terminal does not answer, or where there is neither."""
    now = again(target, world)
    try:
        pane = pane_of(target)
    except Unavailable as problem:
        text = _of_transcript(now, lines, world)
        if not text:
            raise
        return Peeked(text, "transcript", now.state, problem.message)
    screen = screen_of(pane, world, lines + _MARGIN)
    return Peeked(read.last(shown(screen), lines), "screen", state_of(now, screen))


def _of_transcript(now: Open, lines: int, world: World) -> str:
    path = world.transcript(now)
    if not path:
        return ""
    try:
        records = tail(path, now.client, (USER, ASSISTANT, ACTION), (USER, ASSISTANT, ACTION), lines)
    except OSError as problem:
        raise Unavailable(f"the transcript of {now.client} {now.session[:8]} cannot be read: {problem}", "") from None
    return read.last("\n".join(f"{ZONE_NAMES[one.zone]}: {shown(one.text)}" for one in records[-lines:]), lines)
