"""The picker's screen as a whole: the list, and what keys do to the session that is selected there.

Nothing here waits: what is done is a call of `acts`, in the thread of `Hands`, and what came of it is told at the foot.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from recall.core.card import index_line
from recall.core.model import Session
from recall.errors import RecallError, Refused
from recall.tui import acts
from recall.tui.listing import Listing
from recall.tui.messages import Failed, Then, Word
from recall.tui.search import Parts
from recall.tui.text import block, safe


class Refusal(NamedTuple):
    """What was not opened: `where` it was to be, and `folder`, in which it could be ('': in its own)."""

    where: str
    folder: str = ""


class Leaving(NamedTuple):
    """What is left to do when the picker has gone: become the client of `here` (in `folder`, where its own is gone), print
    `told`, end with `status`."""

    here: Session | None = None
    force: bool = False
    folder: str = ""
    told: str = ""
    status: int = 0


class Main(Listing, inherit_bindings=False):
    """Opens, copies, names, tags and removes what is selected."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._refused: Refusal | None = None
        self._hands = acts.Hands(parts.explain, lambda problem: self._post(Failed(None, problem)), self._bug)

    def stop(self) -> None:
        """End the threads."""
        self._hands.stop()
        super().stop()

    def _quiet(self) -> None:
        super()._quiet()
        self._refused = None

    def action_leave(self) -> None:
        self.app.exit(Leaving())

    def _do(self, doing: str, job: Callable[[], None]) -> None:
        if self._hands.busy:
            self._say("still busy with what was asked before")
            return
        if doing:
            self._say(doing)
        self._hands.do(job)

    def action_open(self, where: str, force: bool = False, folder: str = "", fast: bool = False) -> None:
        row = self._row()
        if row is None:
            return
        self._refused = Refusal(where)

        def say(text: str) -> None:
            self._post(Word(text.replace(" (--fast leaves that out)", "")))

        def there() -> None:
            told = acts.open_there(self.parts, row, where, say, force=force, folder=folder, fast=fast)
            self._post(Then(lambda: self.app.exit(Leaving(told=told))))

        def here() -> None:
            found = acts.may_open(self.parts, row, force=force, folder=folder)
            self._post(Then(lambda: self.app.exit(Leaving(found, force, folder))))

        self._do("opening…", here if where == "here" else there)

    def action_force(self) -> None:
        """Open at once: without a handoff first; what was refused, all the same."""
        refused = self._refused if self.foot.trouble else None
        if refused is None:
            self.action_open("window", fast=True)
        else:
            self.action_open(refused.where, not refused.folder, refused.folder, fast=True)

    def refuse(self, problem: RecallError) -> None:
        """A refusal, with what can be done about it."""
        told, offers, row = problem.message.partition("\n")[0], problem.hint, self._row()
        if self._refused is None or row is None or not isinstance(problem, Refused):
            self._refused = None
        else:
            folder = acts.other_folder(row)
            self._refused = self._refused._replace(folder=folder)
            if folder:
                offers = f"^F opens it in {acts.tilde(folder, self.parts.settings.home)}"
            else:
                offers = re.sub(r"recall peek [\w-]+", "^P looks at it", offers).replace("--force", "^F")
        self._say(f"{told}; {offers}" if offers else told, trouble=True)

    def action_copy(self) -> None:
        row = self._row()
        if row is None:
            return

        def job() -> None:
            line, took = acts.copy(self.parts, row)
            self._post(Then(lambda: self._copied(line, took)))

        self._do("", job)

    def _copied(self, line: str, took: list[str]) -> None:
        self.app.copy_to_clipboard(line)
        self._say(f"copied{' by ' + ' and '.join(took) if took else ''}: {line}")

    def action_read(self) -> None:
        row = self._row()
        if row is not None and self.answer is not None:
            from recall.tui.talk import Talk

            self.app.push_screen(Talk(self.parts, row, frozenset(self.answer.words)))

    def action_peek(self) -> None:
        row = self._row()
        if row is None or self.answer is None:
            return
        if row.id not in self.answer.live:
            self._say("it is not open anywhere")
            return

        def job() -> None:
            lines = acts.peek(self.parts, row)
            self._post(Then(lambda: self._peeked(row, lines)))

        self._do("looking…", job)

    def _peeked(self, row: Session, lines: list[str]) -> None:
        from recall.tui.dialogs import Told

        self._quiet()
        self.app.push_screen(Told(f"{row.id[:13]}: what its terminal shows", [_safe_line(line) for line in lines]))

    def action_rename(self) -> None:
        row = self._row()
        if row is None:
            return

        def named(title: str | None) -> None:
            if title is not None:
                self._do("", lambda: self._post(Word(acts.rename(self.parts, row, title), done=True)))

        mine = row.title if row.title_by == "user" else ""
        self._question("A name for this session", mine, "Enter keeps it, an empty one takes it back, Esc leaves", named)

    def action_tag(self) -> None:
        row = self._row()
        if row is None:
            return
        from recall.core.card import tags_of

        def tagged(words: str | None) -> None:
            if words and words.split():
                self._do("", lambda: self._post(Word(acts.tag(self.parts, row, words.split()), done=True)))

        have = " ".join(f"#{tag}" for tag in tags_of(row)) or "none"
        self._question(f"Tags: {safe(have)}", "", "export adds a tag, -export takes it away, Esc leaves", tagged)

    def _question(self, title: str, value: str, hint: str, then: Callable[[str | None], None]) -> None:
        """Ask for a line of text, above the foot."""
        from recall.tui.dialogs import Ask

        def answered(text: str | None) -> None:
            self._answered()
            then(text)

        self._quiet()
        self.add_class("asking")
        self.mount(Ask(title, value, hint, answered))

    def _answered(self) -> None:
        self.remove_class("asking")
        self.typed.focus()

    def action_remove(self) -> None:
        row = self._row()
        if row is None or self.answer is None:
            return
        told = index_line(row, self._short(row), self.parts.now().tzinfo, live=row.id in self.answer.live)

        def sure(yes: bool) -> None:
            self._answered()
            if yes:
                self._do("removing…", lambda: self._post(Word(acts.remove(self.parts, row), done=True)))
            else:
                self._say("nothing was removed")

        def ask() -> None:
            from recall.tui.dialogs import Confirm

            self._quiet()
            self.add_class("asking")
            self.mount(Confirm("Remove it from recall? Its copies stay.", told, sure))

        def job() -> None:
            acts.refuse_removal(self.parts, row)
            self._post(Then(ask))

        self._do("", job)


def _safe_line(text: str) -> str:
    """A line with its blanks as they are, safe to show."""
    return " ".join(block(text))
