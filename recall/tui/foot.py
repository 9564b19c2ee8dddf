"""The foot of the picker: what is to be told, else the keys."""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip

from recall.core.plain import one_line
from recall.tui import styles
from recall.tui.keys import KEYS
from recall.tui.lines import Lines
from recall.tui.text import safe, wrapped

MOST = 4
"""Lines at most."""


class Foot(Lines):
    """As many lines as it takes."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.message = ""
        self.trouble = False

    def say(self, text: str, *, trouble: bool = False) -> None:
        """Tell something in place of the keys."""
        self.message, self.trouble = one_line(text.replace("\n", "; ")), trouble
        self.lay()

    def quiet(self) -> None:
        """The keys again."""
        if self.message:
            self.say("")

    def lay(self) -> None:
        """Put it into the columns of the screen."""
        columns = self.app.size.width
        strips = [keys_line(columns)]
        if self.message:
            style = styles.TROUBLE if self.trouble else styles.GOOD
            told = list(wrapped(safe(self.message), columns - 2))
            strips = [Strip([Segment(" " + line, style)]) for line in told[:MOST]]
        self.styles.height = len(strips)
        self.hold(strips)


def keys_line(columns: int) -> Strip:
    """The keys, as far as there is room; help and the way out in any case."""
    parts: list[Segment] = []
    keys = [key for key in KEYS if key.short]
    last = [key for key in keys if key.action in ("help", "leave")]
    need = sum(len(key.shown) + len(key.short) + 4 for key in last)
    room = columns
    for key in keys:
        size = len(key.shown) + len(key.short) + 4
        if key in last:
            need -= size
        elif size + need > room:
            continue
        room -= size
        parts += [Segment(f" {key.shown}", styles.KEY), Segment(f" {key.short}  ", styles.DIM)]
    return Strip(parts)
