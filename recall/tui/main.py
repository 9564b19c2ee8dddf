"""The picker's screen: a line to type in, the sessions that answer, and what is known of the one that is selected.

Nothing here waits: searching, reading and acting are threads (`search`, `acts`), which send messages. What comes from a
question that has been overtaken is dropped.
"""

from __future__ import annotations

import gc
import re
import threading
from collections.abc import Callable
from typing import NamedTuple

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
from recall.core.card import SHORT, index_line
from recall.core.model import Hit, Session
from recall.core.plain import one_line
from recall.errors import RecallError, Refused
from recall.tui import acts, completion, styles
from recall.tui.bar import Bar
from recall.tui.card import page
from recall.tui.keys import KEYS
from recall.tui.lines import Lines
from recall.tui.messages import Answered, Bug, Failed, Named, Seen, Then, Word
from recall.tui.rows import draw
from recall.tui.search import ROWS, Answer, Names, Parts, Previewer, Searcher, Wanted
from recall.tui.text import safe, wrapped
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


FOOT = 4
"""Lines at the foot at most."""


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


class Completing(NamedTuple):
    """What Tab is at: `choices` for the text `typed` with the cursor at `cursor`, choice `number` (-1: none yet), which gave
    `shown` with the cursor at `end`."""

    at: completion.Completion
    typed: str
    number: int
    shown: str
    end: int


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
            assert isinstance(self.screen, Main)
            await self.screen.press(action)


class Main(Screen[None], inherit_bindings=False):
    """List, preview and the line to type in."""

    DEFAULT_CSS = """
    Main { background: ansi_default; layout: vertical; }
    Main #top { height: 1; }
    Main #sign { width: 3; }
    Main #count { width: 24; }
    Main Query { width: 1fr; height: 1; border: none; padding: 0; background: ansi_default; }
    Main Query:focus { border: none; background: ansi_default; background-tint: transparent; }
    Main #body { height: 1fr; layout: vertical; }
    Main #list { width: 1fr; height: 9fr; }
    Main #card { width: 1fr; height: 11fr; padding: 0 1; }
    Main #middle { width: 1fr; height: 1; }
    Main.wide #body { layout: horizontal; }
    Main.wide #list { width: 11fr; height: 1fr; padding: 0 1 0 0; }
    Main.wide #card { width: 9fr; height: 1fr; }
    Main.wide #middle { width: 1; height: 1fr; }
    Main.bare #card, Main.bare #middle { display: none; }
    Main.asking #foot { display: none; }
    Main.small #card, Main.small #middle { display: none; }
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.parts = parts
        self.answer: Answer | None = None
        self.seen: Preview | None = None
        self._asked = 0
        self._everything = False
        self._problem: RecallError | None = None
        self._message = ""
        self._trouble = False
        self._completing: Completing | None = None
        self._after = ""  # what was pressed before the answer was there
        self._refused: Refusal | None = None
        self._names = Names({}, {})
        self._rows = ROWS
        self._refreshed = False
        self._searcher = Searcher(
            parts,
            lambda answer: self._post(Answered(answer)),
            lambda names: self._post(Named(names)),
            lambda asked, problem: self._post(Failed(asked, problem)),
            self._bug,
        )
        self._previewer = Previewer(parts, lambda wanted, seen: self._post(Seen(wanted, seen)), self._bug)
        self._hands = acts.Hands(parts.explain, lambda problem: self._post(Failed(None, problem)), self._bug)
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
        yield Lines(id="foot")

    # -- beginning and end -------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.list = self.query_one("#list", Lines)
        self.card = self.query_one("#card", Lines)
        self.typed = self.query_one("#query", Query)
        self.query_one("#sign", Bar).tell([Segment(" ❯ ", styles.LABEL)])
        self.typed.cursor_blink = False
        self.typed.focus()
        self._foot()
        self._ask()

    def stop(self) -> None:
        """End the threads."""
        self._hands.stop()
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
        if self._message == WAITING:
            self._quiet()

    def on_failed(self, event: Failed) -> None:
        if event.asked is None:
            self._refuse(event.problem)
        elif event.asked.number == self._asked:
            self._on_time()
            self.answer, self.seen, self._problem = None, None, event.problem
            self._list(-1)
            self._show_card()
            self._count()
            if not self._refreshed:
                self._refreshed = True
                threading.Thread(target=self._refresh_index, daemon=True).start()

    def on_named(self, event: Named) -> None:
        before, self._names = self._names, event.names
        row = self._row()
        if row is not None and before.shorts.get(row.id) != event.names.shorts.get(row.id):
            self._show_card(top=None)

    def _short(self, row: Session) -> str:
        return self._names.shorts.get(row.id) or row.id[: SHORT.get(row.client, 8)]

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

    # -- what is seen ------------------------------------------------------------------------------------------

    def _list(self, chosen: int, *, top: int | None = 0) -> None:
        answer = self.answer
        self.set_class(answer is None or not answer.found.hits, "bare")
        if answer is None or not answer.found.hits:
            self.list.hold(self._nothing(self.list.size.width or 80))
            return
        hits, words, live = answer.found.hits, frozenset(answer.words), answer.live
        now = self.parts.now().timestamp()

        def line(number: int, columns: int, selected: bool) -> Strip:
            hit = hits[number]
            return draw(hit, words, hit.session.id in live, now, columns, selected=selected)

        self.list.fill(len(hits), line, chosen, top=top)

    def _nothing(self, columns: int) -> list[Strip]:
        """What is said where there is no row."""
        told: list[tuple[str, str]] = []
        name = self.parts.program
        if self._problem is not None:
            told = [(self._problem.message, self._problem.hint)]
            if "nothing is indexed" in self._problem.message:
                told = self._empty(name)
        elif self.answer is not None:
            found = self.answer.found
            if not found.sessions:
                told = self._empty(name)
            else:
                told = [(f"Nothing found in {found.sessions:,} sessions.", self._hint(name))]
        out: list[Strip] = [Strip([])]
        for text, hint in told:
            for line, style in ((text, styles.BOLD), (hint, styles.PLAIN)):
                out += [Strip([Segment("   " + part, style)]) for part in wrapped(safe(line), columns - 6) if line]
            out.append(Strip([]))
        return out

    def _empty(self, name: str) -> list[tuple[str, str]]:
        return [
            ("Nothing is indexed yet.", ""),
            (f"{name} sweep", "takes in every session of Claude Code and Codex that is on this machine"),
            (f"{name} demo", "shows what it does, on samples in a throw-away folder"),
        ]

    def _hint(self, name: str) -> str:
        assert self.answer is not None
        found, query = self.answer.found, self.answer.query
        if found.hidden:
            return f"{found.hidden} headless ones would answer: ^L lists them."
        if query.filters or query.since or query.before:
            return "Leave out a filter."
        return f"Fewer or other words; {name} grep TEXT searches every message as it is."

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
        self._message, self._trouble = one_line(text.replace("\n", "; ")), trouble
        self._foot()

    def _quiet(self) -> None:
        if self._message:
            self._message, self._trouble = "", False
            self._foot()
        self._refused = None

    def _foot(self) -> None:
        """What is to be told, on as many lines as it takes; else the keys."""
        columns = self.app.size.width
        strips = [keys_line(columns)]
        if self._message:
            style = styles.TROUBLE if self._trouble else styles.GOOD
            told = list(wrapped(safe(self._message), columns - 2))
            strips = [Strip([Segment(" " + line, style)]) for line in told[:FOOT]]
        foot = self.query_one("#foot", Lines)
        foot.styles.height = len(strips)
        foot.hold(strips)

    def on_resize(self, event: events.Resize) -> None:
        columns = event.size.width
        self.set_class(columns >= WIDE, "wide")
        self.set_class(columns < SMALL, "small")
        self.query_one("#count", Bar).styles.width = 24 if columns >= SMALL else 14
        self._foot()
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
        self.app.exit(Leaving())

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
        doing = self._completing
        if doing and doing.end != self.typed.cursor_position:
            doing = None
        if doing:
            at, typed = doing.at, doing.typed
            number = max(doing.number + way, -1) % len(at.choices)
        else:
            typed = self.typed.value
            at = completion.complete(typed, self.typed.cursor_position, self._names.known)
            if not at.choices:
                self._say("nothing completes this; Tab completes project: client: status: tag: since: …")
                return
            number = 0 if way > 0 else len(at.choices) - 1
            if len(at.choices) > 1 and at.end == at.start:  # nothing is typed yet: only tell what there is
                number = -1
        shown, end = (typed, at.end) if number < 0 else completion.apply(typed, at, at.choices[number])
        self._completing = Completing(at, typed, number, shown, end) if len(at.choices) > 1 else None
        self.typed.value = shown
        self.typed.cursor_position = end
        self._menu(at.choices, number)

    def _menu(self, choices: tuple[str, ...], number: int) -> None:
        """The choices, the one that was put in standing out."""
        parts = [Segment("── ", styles.DIM)]
        if len(choices) > 1:
            first = max(0, number - 3)
            for place, choice in enumerate(choices[first : first + 40], first):
                shown = choice if place == first or ":" not in choice[:-1] else choice.partition(":")[2]
                parts.append(Segment(safe(shown), styles.SELECTED if place == number else styles.LABEL))
                parts.append(Segment("  "))
        self.query_one("#rule", Bar).tell(parts if len(choices) > 1 else [])

    # -- what is done to a session -----------------------------------------------------------------------------

    def _do(self, doing: str, job: Callable[[], None]) -> None:
        if self._hands.busy:
            self._say("still busy with what was asked before")
            return
        if doing:
            self._say(doing)
        self._hands.do(job)

    def _row(self) -> Session | None:
        hit = self.selected
        return hit.session if hit else None

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
        refused = self._refused if self._trouble else None
        if refused is None:
            self.action_open("window", fast=True)
        else:
            self.action_open(refused.where, not refused.folder, refused.folder, fast=True)

    def _refuse(self, problem: RecallError) -> None:
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
        self.app.push_screen(Told(f"{row.id[:13]}: what its terminal shows", [safe_line(line) for line in lines]))

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


def safe_line(text: str) -> str:
    """A line with its blanks as they are, safe to show."""
    from recall.tui.text import block

    return " ".join(block(text))
