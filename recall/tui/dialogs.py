"""Questions to the person at the keyboard, and the page of keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import Screen
from textual.strip import Strip

from recall.core.plain import pad
from recall.tui import styles
from recall.tui.bar import Bar
from recall.tui.keys import KEYS, MARKS
from recall.tui.lines import Lines
from recall.tui.text import safe, wrapped
from recall.tui.typed import Typed


class Line(Typed):
    """A line of text: Enter gives it, Esc gives None."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key in ("enter", "escape", "ctrl+c", "ctrl+q", "tab", "shift+tab"):
            event.stop()
            event.prevent_default()
            if event.key not in ("tab", "shift+tab"):
                assert isinstance(self.parent, Ask)
                self.parent.close(self.value if event.key == "enter" else None)


class Ask(Vertical):
    """A question above the foot of the screen. `then` gets what was typed, None when it was left."""

    DEFAULT_CSS = """
    Ask { dock: bottom; height: 5; border: round ansi_cyan; background: ansi_default; padding: 0 1; }
    Ask Line, Ask Line:focus { border: none; height: 1; padding: 0; background: ansi_default; background-tint: transparent; }
    """

    def __init__(self, title: str, value: str, hint: str, then: Callable[[str | None], None]) -> None:
        super().__init__()
        self._title, self._value, self._hint, self._then = title, value, hint, then

    def compose(self) -> ComposeResult:
        yield Bar(id="title")
        yield Line(self._value, select_on_focus=False)
        yield Bar(id="hint")

    def on_mount(self) -> None:
        self.query_one("#title", Bar).tell([Segment(self._title, styles.BOLD)])
        self.query_one("#hint", Bar).tell([Segment(self._hint, styles.DIM)])
        line = self.query_one(Line)
        line.cursor_blink = False
        line.cursor_position = len(line.value)
        line.focus()

    def close(self, answer: str | None) -> None:
        self._then(answer)  # first: it takes the focus, which would go anywhere when this is gone
        self.remove()


class Confirm(Vertical, can_focus=True):
    """A question about what `told` says; only `y` is yes. `then` gets the answer."""

    DEFAULT_CSS = """
    Confirm { dock: bottom; height: 7; border: round ansi_red; background: ansi_default; padding: 0 1; }
    Confirm #told { height: 1fr; }
    """

    def __init__(self, question: str, told: str, then: Callable[[bool], None]) -> None:
        super().__init__()
        self._question, self._text, self._then = question, told, then

    def compose(self) -> ComposeResult:
        yield Lines(id="told")
        yield Bar(id="question")

    def on_mount(self) -> None:
        left = [Segment(self._question + "  ", styles.BOLD), Segment("y", styles.KEY), Segment(" yes   ", styles.DIM)]
        self.query_one("#question", Bar).tell([*left, Segment("any other key", styles.KEY), Segment(" no", styles.DIM)])
        self.focus()

    def on_resize(self, event: events.Resize) -> None:
        strips = [Strip([Segment(line)]) for line in wrapped(safe(self._text), max(10, event.size.width))]
        self.query_one("#told", Lines).hold(strips)

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        self._then(event.key in ("y", "Y"))
        self.remove()


class Page(Screen[None], inherit_bindings=False):
    """Text to be read; any of the keys that leave a pager leaves it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,ctrl+c,ctrl+q,f1,question_mark,enter", "leave"),
        Binding("up,k", "shift(-1)"),
        Binding("down,j", "shift(1)"),
        Binding("pageup,b", "page(-1)"),
        Binding("pagedown,space", "page(1)"),
        Binding("home,g", "ends(0)"),
        Binding("end,G", "ends(1)"),
    ]
    DEFAULT_CSS = "Page { background: ansi_default; } Page #page { height: 1fr; }"

    def __init__(self, title: str, keys: str) -> None:
        super().__init__()
        self._title, self._keys = title, keys

    def compose(self) -> ComposeResult:
        yield Bar(id="title", fill="─")
        yield Lines(id="page")
        yield Bar(id="foot")

    def on_mount(self) -> None:
        self.query_one("#title", Bar).tell([Segment(f"── {self._title} ", styles.BOLD)])
        self.query_one("#foot", Bar).tell([Segment(self._keys, styles.DIM)])

    @property
    def text(self) -> Lines:
        return self.query_one("#page", Lines)

    def on_resize(self, event: events.Resize) -> None:
        self.lay(event.size.width)

    def lay(self, columns: int) -> None:
        """Put the text into so many columns."""
        self.text.hold(self.strips(columns), top=None)

    def strips(self, columns: int) -> Sequence[Strip]:
        """The text in so many columns."""
        raise NotImplementedError

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_shift(self, lines: int) -> None:
        self.text.shift(lines)

    def action_page(self, pages: int) -> None:
        self.text.shift(pages * max(1, self.text.size.height - 2))

    def action_ends(self, end: int) -> None:
        self.text.go(self.text.count if end else 0)


class Help(Page):
    """The keys, the signs and the filters."""

    def __init__(self) -> None:
        super().__init__("recall: keys", "Esc back   ↑ ↓ scroll")

    def strips(self, columns: int) -> Sequence[Strip]:
        return [Strip(line) for line in _help(columns)]


class Told(Page):
    """Lines of text as they are."""

    def __init__(self, title: str, lines: Sequence[str]) -> None:
        super().__init__(title, "Esc back   ↑ ↓ scroll")
        self._lines = lines

    def strips(self, columns: int) -> Sequence[Strip]:
        return [Strip([Segment(part)]) for line in self._lines for part in wrapped(line, columns)]


_FILTERS = (
    ("words", "any form of a word, in any language; part of a word is enough"),
    ('"exact phrase"', "these words side by side"),
    ("-word", "sessions without it"),
    ("project:crm", "of this project; Tab completes the values"),
    ("client:codex", "of this client: claude, codex"),
    ("status:done", "by the card: in_progress, done, aborted; new: no card yet"),
    ("tag:export  #export", "with this tag"),
    ("since:7d  before:2w", "by time: 3d, 2w, yesterday, monday, 2026-06, 2026-06-11"),
    ("is:live  is:idle", "open now, or not"),
    ("file:config.py", "that touched this file; branch:main: on this branch"),
)


def _help(columns: int) -> Iterator[list[Segment]]:
    yield []
    yield [Segment(" Keys", styles.LABEL)]
    for key in KEYS:
        if key.help:
            yield from _pair(key.shown, key.help, columns)
    yield []
    yield [Segment(" Filters, among the words", styles.LABEL)]
    for typed, means in _FILTERS:
        yield from _pair(typed, means, columns)
    yield []
    yield [Segment(" Signs", styles.LABEL)]
    for sign, means in MARKS:
        yield from _pair(sign, means, columns)
    yield []


def _pair(name: str, text: str, columns: int) -> Iterator[list[Segment]]:
    left = 23
    for n, line in enumerate(wrapped(text, columns - left - 1)):
        yield [Segment("  " + pad(name if n == 0 else "", left - 2), styles.KEY), Segment(line)]
