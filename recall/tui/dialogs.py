"""Questions to the person at the keyboard, and the page of keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen
from textual.strip import Strip
from textual.widgets import Input

from recall.core.plain import pad
from recall.tui import styles
from recall.tui.bar import Bar
from recall.tui.keys import KEYS, MARKS
from recall.tui.lines import Lines
from recall.tui.text import safe, wrapped


class Ask(ModalScreen[str | None], inherit_bindings=False):
    """One line of text; None when it was left with Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", priority=True),
        Binding("escape,ctrl+c,ctrl+q", "leave", priority=True),
    ]
    DEFAULT_CSS = """
    Ask { align: center bottom; background: transparent; }
    Ask #box { width: 100%; height: 5; border: round ansi_cyan; background: ansi_default; padding: 0 1; }
    Ask Input { border: none; height: 1; padding: 0; background: ansi_default; }
    """

    def __init__(self, title: str, value: str, hint: str) -> None:
        super().__init__()
        self._title, self._value, self._hint = title, value, hint

    def compose(self) -> ComposeResult:
        from textual.containers import Vertical

        with Vertical(id="box"):
            yield Bar(id="title")
            yield Input(self._value, id="answer", select_on_focus=False)
            yield Bar(id="hint")

    def on_mount(self) -> None:
        self.query_one("#title", Bar).tell([Segment(self._title, styles.BOLD)])
        self.query_one("#hint", Bar).tell([Segment(self._hint, styles.DIM)])

    def action_take(self) -> None:
        self.dismiss(self.query_one("#answer", Input).value)

    def action_leave(self) -> None:
        self.dismiss(None)


class Confirm(ModalScreen[bool], inherit_bindings=False):
    """A question about what `told` says; only `y` is yes."""

    DEFAULT_CSS = """
    Confirm { align: center bottom; background: transparent; }
    Confirm #box { width: 100%; height: 9; border: round ansi_red; background: ansi_default; padding: 0 1; }
    Confirm #told { height: 1fr; }
    """

    def __init__(self, question: str, told: str) -> None:
        super().__init__()
        self._question, self._text = question, told

    def compose(self) -> ComposeResult:
        from textual.containers import Vertical

        with Vertical(id="box"):
            yield Lines(id="told")
            yield Bar(id="question")

    def on_mount(self) -> None:
        left = [Segment(self._question + "  ", styles.BOLD), Segment("y", styles.KEY), Segment(" yes   ", styles.DIM)]
        self.query_one("#question", Bar).tell([*left, Segment("any other key", styles.KEY), Segment(" no", styles.DIM)])

    def on_resize(self, event: events.Resize) -> None:
        columns = max(10, event.size.width - 4)
        strips = [Strip([Segment(line)]) for line in wrapped(safe(self._text), columns)]
        self.query_one("#told", Lines).hold(strips)

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        self.dismiss(event.key in ("y", "Y"))


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
        self.text.hold(self.strips(event.size.width), top=None)

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
