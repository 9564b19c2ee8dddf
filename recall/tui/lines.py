"""The one widget that draws: lines made when they are looked at, whatever their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

Draw = Callable[[int, int, bool], Strip]
"""(number of the line, columns, is it selected) -> the line, exactly so wide."""


class Lines(Widget, can_focus=False):
    """So many lines, one of them selected where `chosen` is not -1. Scrolls by whole lines, without bars; where it stands is
    its own number, not textual's, which is right only after the next layout."""

    DEFAULT_CSS = "Lines { background: transparent; }"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._draw: Draw = lambda number, columns, selected: Strip.blank(columns)
        self._count = 0
        self._top = 0
        self.chosen = -1

    def fill(self, count: int, draw: Draw, chosen: int = -1, *, top: int | None = 0) -> None:
        """Other lines. `top` is the first that is seen, None: as before."""
        self._draw, self._count = draw, count
        self.chosen = chosen
        if top is not None:
            self._top = top
        self._follow()
        self.refresh()

    def hold(self, strips: Sequence[Strip], *, top: int | None = 0) -> None:
        """These lines."""
        self.fill(len(strips), lambda number, columns, selected: strips[number], top=top)

    @property
    def count(self) -> int:
        return self._count

    @property
    def top(self) -> int:
        """The first line that is seen."""
        return max(0, min(self._top, self._count - self.size.height))

    def choose(self, number: int) -> None:
        """Select a line, the nearest that there is, and show it."""
        before = self.chosen
        self.chosen = max(0, min(number, self._count - 1)) if self._count else -1
        if self.chosen != before:
            self._follow()
            self.refresh()

    def shift(self, lines: int) -> None:
        """Scroll."""
        self.go(self.top + lines)

    def go(self, line: int) -> None:
        """Show a line as the first one, or as near to it as there is text."""
        self._top = max(0, line)
        self.refresh()

    def _follow(self) -> None:
        height = self.size.height
        if self.chosen < 0 or not height:
            return
        if self.chosen < self.top:
            self._top = self.chosen
        elif self.chosen >= self.top + height:
            self._top = self.chosen - height + 1

    def on_resize(self) -> None:
        self._follow()

    def render_line(self, y: int) -> Strip:
        number = y + self.top
        columns = self.size.width
        if not columns or number >= self._count:
            return Strip.blank(columns, Style())
        line = self._draw(number, columns, number == self.chosen)
        return line if line.cell_length == columns else line.adjust_cell_length(columns)
