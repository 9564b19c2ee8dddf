"""The one widget that draws: lines made when they are looked at, whatever their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

Draw = Callable[[int, int, bool], Strip]
"""(number of the line, columns, is it selected) -> the line, exactly so wide."""


class Lines(ScrollView, can_focus=False):
    """So many lines, one of them selected where `chosen` is not -1. Scrolls without bars."""

    DEFAULT_CSS = """
    Lines { scrollbar-size: 0 0; overflow: hidden scroll; background: transparent; }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._draw: Draw = lambda number, columns, selected: Strip.blank(columns)
        self._count = 0
        self.chosen = -1

    def fill(self, count: int, draw: Draw, chosen: int = -1, *, top: int | None = 0) -> None:
        """Other lines. `top` is the first that is seen, None: as before."""
        self._draw, self._count = draw, count
        self.virtual_size = Size(1, count)
        self.chosen = chosen
        if top is not None:
            self._to(top)
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
        return int(self.scroll_offset.y)

    def choose(self, number: int) -> None:
        """Select a line, the nearest that there is, and show it."""
        before = self.chosen
        self.chosen = max(0, min(number, self._count - 1)) if self._count else -1
        if self.chosen != before:
            self._follow()
            self.refresh()

    def shift(self, lines: int) -> None:
        """Scroll."""
        self._to(self.top + lines)
        self.refresh()

    def go(self, line: int) -> None:
        """Show a line as the first one, or as near to it as there is text."""
        self._to(line)
        self.refresh()

    def _to(self, top: int) -> None:
        self.scroll_to(y=max(0, min(top, self._count - self.size.height)), animate=False, immediate=True)

    def _follow(self) -> None:
        height = self.size.height
        if self.chosen < 0 or not height:
            return
        if self.chosen < self.top:
            self._to(self.chosen)
        elif self.chosen >= self.top + height:
            self._to(self.chosen - height + 1)

    def on_resize(self) -> None:
        self._to(self.top)
        self._follow()

    def render_line(self, y: int) -> Strip:
        number = y + self.top
        columns = self.size.width
        if not columns or number >= self._count:
            return Strip.blank(columns, Style())
        line = self._draw(number, columns, number == self.chosen)
        return line if line.cell_length == columns else line.adjust_cell_length(columns)
