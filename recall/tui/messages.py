"""What the threads of the picker tell its screen, which alone may draw."""

from __future__ import annotations

from collections.abc import Callable

from textual.message import Message

from recall.actions.preview import Preview
from recall.errors import RecallError
from recall.tui.search import Answer, Asked, Names, Wanted


class Answered(Message):
    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


class Named(Message):
    def __init__(self, names: Names) -> None:
        super().__init__()
        self.names = names


class Failed(Message):
    """A question without an answer (`asked`), or an act that was refused (None)."""

    def __init__(self, asked: Asked | None, problem: RecallError) -> None:
        super().__init__()
        self.asked, self.problem = asked, problem


class Seen(Message):
    def __init__(self, wanted: Wanted, seen: Preview) -> None:
        super().__init__()
        self.wanted, self.seen = wanted, seen


class Word(Message):
    """Something to be told at the foot; `done`: the sessions are not what they were, so look again."""

    def __init__(self, text: str, *, done: bool = False) -> None:
        super().__init__()
        self.text, self.done = text, done


class Then(Message):
    """Something to be done on the screen, by a thread that may not touch it."""

    def __init__(self, call: Callable[[], None]) -> None:
        super().__init__()
        self.call = call


class Bug(Message):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error
