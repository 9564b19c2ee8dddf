"""The picker's screen: a line to type in, the sessions that answer, and what is known of the one that is selected.

Nothing here waits: searching, reading and acting are threads (`search`, `acts`), which send messages. What comes from a
question that has been overtaken is dropped.
"""

from __future__ import annotations

import gc
import threading

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.screen import Screen
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets import Input

from recall.actions.preview import Preview
from recall.core.card import usual
from recall.core.model import Hit, Session
from recall.errors import RecallError
from recall.tui import completion, styles
from recall.tui.bar import Bar
from recall.tui.card import page
from recall.tui.foot import Foot
from recall.tui.keys import KEYS
from recall.tui.lines import Lines
from recall.tui.messages import Answered, Bug, Failed, Named, Seen, Then, Word
from recall.tui.nothing import nothing
from recall.tui.rows import draw
from recall.tui.search import ROWS, Answer, Names, Parts, Previewer, Searcher, Wanted
from recall.tui.text import safe
from recall.tui.typed import Typed

SMALL = 60
"""Under so many columns nothing is shown of the selected session."""
WIDE = 132
"""From so many columns on it stands beside the list, not below."""
LATE = 1.5
"""Seconds without an answer after which it is said what is waited for."""
WAITING = "waiting for the index: another recall has it, or it is being made again…"
SETTLED = 0.06
"""Seconds that a selection must last before its session is read."""


ACTIONS = {name: key.action for key in KEYS for name in key.keys.split(",")}
ON_SESSION = ("open", "force", "copy", "read", "peek", "tag", "rename", "remove")
"""Actions that are about the selected session: they wait for the answer to what was typed before."""


class Query(Typed):
    """The line to type in. The picker's keys are seen here, in the order in which they were pressed: as bindings of the
    screen they would overtake letters that are still on their way. `?` on an empty line asks for help."""

    async def _on_key(self, event: events.Key) -> None:
        action = ACTIONS.get(event.key)
        if event.character == "?" and not self.value:
            action = "help"
        if action is not None:
            event.stop()
            event.prevent_default()
            assert isinstance(self.screen, Listing)
            await self.screen.press(action)


class Listing(Screen[None], inherit_bindings=False):
    """List, preview and the line to type in."""

    DEFAULT_CSS = """
    Listing { background: ansi_default; layout: vertical; }
    Listing #top { height: 1; }
    Listing #sign { width: 3; }
    Listing #count { width: 24; }
    Listing Query { width: 1fr; height: 1; border: none; padding: 0; background: ansi_default; }
    Listing Query:focus { border: none; background: ansi_default; background-tint: transparent; }
    Listing #body { height: 1fr; layout: vertical; }
    Listing #list { width: 1fr; height: 9fr; }
    Listing #card { width: 1fr; height: 11fr; padding: 0 1; }
    Listing #middle { width: 1fr; height: 1; }
    Listing.wide #body { layout: horizontal; }
    Listing.wide #list { width: 11fr; height: 1fr; padding: 0 1 0 0; }
    Listing.wide #card { width: 9fr; height: 1fr; }
    Listing.wide #middle { width: 1; height: 1fr; }
    Listing.bare #card, Listing.bare #middle { display: none; }
    Listing.asking #foot { display: none; }
    Listing.small #card, Listing.small #middle { display: none; }
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.parts = parts
        self.answer: Answer | None = None
        self.seen: Preview | None = None
        self._asked = 0
        self._everything = False
        self._problem: RecallError | None = None
        self._completing: completion.Completing | None = None
        self._after = ""  # what was pressed before the answer was there
        self._names = Names({}, {})
        self._rows = ROWS
        self._refreshed = False
        self.foot = Foot(id="foot")
        self._searcher = Searcher(
            parts,
            lambda answer: self._post(Answered(answer)),
            lambda names: self._post(Named(names)),
            lambda asked, problem: self._post(Failed(asked, problem)),
            self._bug,
        )
        self._previewer = Previewer(parts, lambda wanted, seen: self._post(Seen(wanted, seen)), self._bug)
        self._settle: Timer | None = None
        self._late: Timer | None = None

    def compose(self) -> ComposeResult:
        with Horizontal(id="top"):
            yield Bar(id="sign")
            yield Query(id="query", placeholder="type what you remember", select_on_focus=False)
            yield Bar(id="count")
        yield Bar(id="rule", fill="─")
        with Horizontal(id="body"):
            yield Lines(id="list")
            yield Bar(id="middle", fill="─")
            yield Lines(id="card")
        yield self.foot

    # -- beginning and end -------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.list = self.query_one("#list", Lines)
        self.card = self.query_one("#card", Lines)
        self.typed = self.query_one("#query", Query)
        self.query_one("#sign", Bar).tell([Segment(" ❯ ", styles.LABEL)])
        self.typed.cursor_blink = False
        self.typed.focus()
        self.foot.lay()
        self._ask()

    def stop(self) -> None:
        """End the threads."""
        self._searcher.stop()
        self._previewer.stop()

    def _post(self, message: Message) -> None:
        if self.is_attached:
            self.post_message(message)

    def _bug(self, error: Exception) -> None:
        self._post(Bug(error))

    def on_bug(self, bug: Bug) -> None:
        raise bug.error

    def on_then(self, then: Then) -> None:
        then.call()

    def _refresh_index(self) -> None:
        """In a thread: take in what is new, once, then look again."""
        from recall.actions.refresh import refresh

        try:
            left = refresh(self.parts.settings)
        except Exception as problem:
            known = self.parts.explain(problem)
            if known is None:
                self._bug(problem)
                return
            left = known.message
        self._post(Word(left, done=True))

    # -- looking for sessions ----------------------------------------------------------------------------------

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._completing and event.value != self._completing.shown:
            self._completing = None
        self._quiet()
        self._rows = ROWS
        self._ask()

    def _ask(self) -> None:
        self._asked = self._searcher.ask(self.typed.value, self._everything, self._rows)
        if self._late is not None:
            self._late.stop()
        self._late = self.set_timer(LATE, lambda: self._say(WAITING))
        self._count()

    def on_answered(self, event: Answered) -> None:
        answer = event.answer
        if answer.asked.number != self._asked:
            return
        self._on_time()
        before = self.answer
        old = self.selected
        again = before is not None and before.asked[1:3] == answer.asked[1:3]
        self.answer, self._problem = answer, None
        chosen = 0
        if again and old is not None:
            ids = [hit.session.id for hit in answer.found.hits]
            # What was selected stays so; where it has gone, what took its place is.
            chosen = ids.index(old.session.id) if old.session.id in ids else min(self.list.chosen, len(ids) - 1)
        self._list(chosen, top=None if again else 0)
        self._selected()
        self._count()
        after, self._after = self._after, ""
        if after:
            self.call_later(self.press, after)
        if not self._refreshed:
            self._refreshed = True
            # What stands by now stays to the end: a look for garbage need not go through it at every letter.
            gc.freeze()
            gc.enable()
            # Behind the first screen: whoever has opened the picker is reading it.
            self.set_timer(0.05, lambda: threading.Thread(target=self._refresh_index, daemon=True).start())

    def _on_time(self) -> None:
        """The answer is there."""
        if self._late is not None:
            self._late.stop()
        if self.foot.message == WAITING:
            self._quiet()

    def on_failed(self, event: Failed) -> None:
        if event.asked is None:
            self.refuse(event.problem)
        elif event.asked.number == self._asked:
            self._on_time()
            self.answer, self.seen, self._problem = None, None, event.problem
            self._list(-1)
            self._show_card()
            self._count()
            if not self._refreshed:
                self._refreshed = True
                threading.Thread(target=self._refresh_index, daemon=True).start()

    def refuse(self, problem: RecallError) -> None:
        """Tell of an act that was refused."""
        raise NotImplementedError

    def on_named(self, event: Named) -> None:
        before, self._names = self._names, event.names
        row = self._row()
        if row is not None and before.shorts.get(row.id) != event.names.shorts.get(row.id):
            self._show_card(top=None)

    def _short(self, row: Session) -> str:
        return self._names.shorts.get(row.id) or usual(row.id, row.client)

    def on_word(self, event: Word) -> None:
        if event.text:
            self._say(event.text)
        if event.done:
            self._searcher.renew()
            self._ask()

    @property
    def selected(self) -> Hit | None:
        if self.answer is None or not 0 <= self.list.chosen < len(self.answer.found.hits):
            return None
        return self.answer.found.hits[self.list.chosen]

    def _row(self) -> Session | None:
        hit = self.selected
        return hit.session if hit else None

    # -- what is seen ------------------------------------------------------------------------------------------

    def _list(self, chosen: int, *, top: int | None = 0) -> None:
        answer = self.answer
        self.set_class(answer is None or not answer.found.hits, "bare")
        if answer is None or not answer.found.hits:
            self.list.hold(nothing(self.parts.program, self.answer, self._problem, self.list.size.width or 80))
            return
        hits, words, live = answer.found.hits, frozenset(answer.words), answer.live
        now = self.parts.now().timestamp()

        def line(number: int, columns: int, selected: bool) -> Strip:
            hit = hits[number]
            return draw(hit, words, hit.session.id in live, now, columns, selected=selected)

        self.list.fill(len(hits), line, chosen, top=top)

    def _count(self) -> None:
        answer = self.answer
        told = ""
        if answer is not None and answer.found.sessions:
            found = answer.found
            told = (
                f"{found.total:,} of {found.sessions:,}" if answer.asked.text.strip() else f"{found.total:,} sessions"
            )
            if answer.asked.everything:
                told += " (all)"
        self.query_one("#count", Bar).tell([], [Segment(told + " ", styles.DIM)])
        if self._completing is None:
            self.query_one("#rule", Bar).tell([])

    def _selected(self) -> None:
        """Another session is selected: read it, when nobody moves on."""
        if self._settle is not None:
            self._settle.stop()
        hit = self.selected
        if hit is None or self.answer is None:
            self.seen = None
            self._show_card()
            return
        if self.seen is None or self.seen.session != hit.session:
            self.seen = Preview(hit.session, None, ())
            self._show_card()
        wanted = Wanted(hit, self.answer.words)
        self._settle = self.set_timer(SETTLED, lambda: self._previewer.ask(wanted))

    def on_seen(self, event: Seen) -> None:
        hit = self.selected
        if hit is None or self.answer is None or event.wanted != Wanted(hit, self.answer.words):
            return
        self.seen = event.seen
        self._show_card(top=None)

    def _show_card(self, *, top: int | None = 0) -> None:
        columns = self.card.size.width
        middle = self.query_one("#middle", Bar)
        if self.seen is None or self.answer is None or not columns:
            self.card.hold([])
            middle.tell([])
            return
        row, answer = self.seen.session, self.answer
        strips = page(
            self.seen,
            self._short(row),
            self.parts.settings.home,
            self.parts.now().tzinfo,
            frozenset(answer.words),
            row.id in answer.live,
            columns,
        )
        self.card.hold(strips, top=top)

    def _say(self, text: str, *, trouble: bool = False) -> None:
        self.foot.say(text, trouble=trouble)

    def _quiet(self) -> None:
        self.foot.quiet()

    def on_resize(self, event: events.Resize) -> None:
        columns = event.size.width
        self.set_class(columns >= WIDE, "wide")
        self.set_class(columns < SMALL, "small")
        self.query_one("#count", Bar).styles.width = 24 if columns >= SMALL else 14
        self.foot.lay()
        self.call_after_refresh(self._resized)

    def _resized(self) -> None:
        if self.answer is None or not self.answer.found.hits:
            self._list(-1)
        self._show_card(top=None)

    # -- keys --------------------------------------------------------------------------------------------------

    async def press(self, action: str) -> None:
        """Do what a key stands for."""
        self._after = ""
        if action.startswith(ON_SESSION) and not self._current() and self._problem is None:
            self._after = action
            return
        await self.run_action(action)

    def _current(self) -> bool:
        """Is what is listed the answer to what is typed?"""
        return self.answer is not None and self.answer.asked[1:3] == (self.typed.value, self._everything)

    def action_move(self, lines: int) -> None:
        self._quiet()
        self._choose(self.list.chosen + lines)

    def action_page(self, pages: int) -> None:
        self._choose(self.list.chosen + pages * max(1, self.list.size.height - 1))

    def action_ends(self, end: int) -> None:
        self._choose(0 if end < 0 else self.list.count - 1)

    def _choose(self, number: int) -> None:
        if self.selected is not None:
            self.list.choose(number)
            self._selected()
            if (
                number >= self.list.count - 1
                and self.answer
                and self.answer.found.total > self.list.count == self._rows
            ):
                self._rows *= 4
                self._ask()

    def action_scroll(self, lines: int) -> None:
        self.card.shift(lines * 2)

    def action_back(self) -> None:
        self._quiet()
        if self.typed.value:
            self.typed.value = ""
        else:
            self.action_leave()

    def action_leave(self) -> None:
        raise NotImplementedError

    def action_suspend(self) -> None:
        self.app.action_suspend_process()

    def action_help(self) -> None:
        from recall.tui.dialogs import Help

        self.app.push_screen(Help())

    def action_everything(self) -> None:
        self._everything = not self._everything
        self._say("headless sessions are listed too" if self._everything else "headless sessions are left out")
        self._ask()

    def action_complete(self, way: int) -> None:
        """Put in what may stand here; again: the next of it."""
        doing = completion.step(self._completing, self.typed.value, self.typed.cursor_position, way, self._names.known)
        if doing is None:
            self._say("nothing completes this; Tab completes project: client: status: tag: since: …")
            return
        self._completing = doing if len(doing.at.choices) > 1 else None
        self.typed.value = doing.shown
        self.typed.cursor_position = doing.end
        self.query_one("#rule", Bar).tell(_menu(doing.at.choices, doing.number))


def _menu(choices: tuple[str, ...], number: int) -> list[Segment]:
    """The choices, the one that was put in standing out; nothing where there is but one."""
    if len(choices) < 2:
        return []
    parts = [Segment("── ", styles.DIM)]
    first = max(0, number - 3)
    for place, choice in enumerate(choices[first : first + 40], first):
        shown = choice if place == first or ":" not in choice[:-1] else choice.partition(":")[2]
        parts.append(Segment(safe(shown), styles.SELECTED if place == number else styles.LABEL))
        parts.append(Segment("  "))
    return parts
