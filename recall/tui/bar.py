"""A line that tells something: of keys, of numbers, of what went wrong."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from recall.core.plain import cut, width
from recall.tui import styles


class Bar(Widget, can_focus=False):
    """Something at the left, something at the right, `fill` between. Where there is not room for all, the right goes first.

    Where the bar stands upright (one column wide), it is a line."""

    DEFAULT_CSS = "Bar { height: 1; background: transparent; }"

    def __init__(self, *, id: str, fill: str = " ") -> None:
        super().__init__(id=id)
        self._fill = fill
        self._left: tuple[Segment, ...] = ()
        self._right: tuple[Segment, ...] = ()

    def tell(self, left: Sequence[Segment], right: Sequence[Segment] = ()) -> None:
        if (self._left, self._right) != (tuple(left), tuple(right)):
            self._left, self._right = tuple(left), tuple(right)
            self.refresh()

    @property
    def told(self) -> str:
        """What stands there, without colours."""
        return "".join(segment.text for segment in (*self._left, *self._right))

    def render_line(self, y: int) -> Strip:
        columns = self.size.width
        if columns == 1:
            return Strip([Segment("│", styles.DIM)])
        left, right = list(self._left), list(self._right)
        used = sum(width(one.text) for one in left)
        free = columns - used - sum(width(one.text) for one in right)
        if free < (1 if right else 0):
            right = []
            free = columns - used
        if free < 0:
            left, free = _fitted(left, columns), 0
        return Strip([*left, Segment(self._fill * free, styles.DIM), *right]).adjust_cell_length(columns)


def _fitted(parts: list[Segment], columns: int) -> list[Segment]:
    """The segments in so many columns; the one that has no room is cut."""
    out: list[Segment] = []
    for one in parts:
        text = cut(one.text, columns)
        out.append(Segment(text, one.style))
        columns -= width(text)
        if columns < 1:
            break
    return out
