"""A conversation to be read from end to end: who spoke when, what was said, a line for each thing that was done.

It is read by a thread and comes in portions, so that the first screen of a long one is there at once.
"""

from __future__ import annotations

import datetime
import threading
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from recall.actions.cmd import newest_of
from recall.actions.show import own_file
from recall.actions.transcript import records
from recall.core.model import ACTION, ASIDE, EVERYTHING, OUTPUT, SPOKEN, THINKING, Record, Session
from recall.core.plain import cut
from recall.core.spots import spans
from recall.errors import RecallError
from recall.store import open_store
from recall.tui import styles
from recall.tui.bar import Bar
from recall.tui.dialogs import Page
from recall.tui.rows import headline, marked
from recall.tui.search import Parts
from recall.tui.text import block, safe, wrapped

MOST = 50_000
"""Records that are shown: beyond that nobody reads, and memory is somebody else's."""
PORTION = 200
LINES = 2000
"""Lines of one text that are shown."""
INDENT = "  "


class Said(NamedTuple):
    """One record as it is shown."""

    zone: int
    time: float
    text: list[str]


class Portion(Message):
    """Some texts more; `last`: there are no others. `problem`: what went wrong."""

    def __init__(self, found: Sequence[Said], last: bool, problem: str = "", reading: int = 0) -> None:
        super().__init__()
        self.found, self.last, self.problem, self.reading = found, last, problem, reading


class Talk(Page):
    """The transcript of a session. Words that were looked for stand out; `n` and `N` go from one to the next."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "hit(1)"),
        Binding("N", "hit(-1)"),
        Binding("t", "tools"),
    ]
    KEYS = "Esc back  ↑ ↓ PgUp PgDn g G  n N next, last hit  t tools"

    def __init__(self, parts: Parts, row: Session, words: Collection[str]) -> None:
        super().__init__(cut(safe(headline(row)), 60), self.KEYS)
        self._parts, self._row, self._words = parts, row, words
        self._zones: Collection[int] = SPOKEN
        self._records: list[Said] = []
        self._strips: list[Strip] = []
        self._hits: list[int] = []
        self._speaker = ""
        self._columns = 0
        self._reading = 0  # what a thread brings that was told to read something else is dropped
        self._over = False
        self._jump = bool(words)
        self._note = "reading…"

    def on_mount(self) -> None:
        self._start()

    def on_unmount(self) -> None:
        self._reading += 1

    def _start(self) -> None:
        self._reading += 1
        self._records, self._strips, self._hits, self._speaker = [], [], [], ""
        self._over, self._note = False, "reading…"
        threading.Thread(target=self._read, args=(self._reading, self._zones), daemon=True).start()

    def _read(self, reading: int, zones: Collection[int]) -> None:
        """In a thread: the records, in portions."""

        def tell(found: Sequence[Said], last: bool, problem: str = "") -> None:
            self.post_message(Portion(found, last, problem, reading))

        home = self._parts.settings.home
        try:
            with open_store(self._parts.settings.index) as store:
                row = store.session(self._row.no)
                row = newest_of(row if row and row.id == self._row.id else self._row, store)
                path, file = own_file(row, store, self._parts.settings)
            found = islice(records(path, file.client, self._parts.settings, zones), MOST)
            while part := list(islice(found, PORTION)):
                if reading != self._reading:
                    return
                tell([_said(record, home) for record in part], False)
            tell([], True)
        except Exception as problem:
            known = self._parts.explain(problem)
            tell([], True, known.message if isinstance(known, RecallError) else repr(problem))

    def on_portion(self, portion: Portion) -> None:
        portion.stop()
        if portion.reading != self._reading:
            return
        self._records += portion.found
        self._over = portion.last
        self._note = portion.problem
        if self._columns:
            self._add(portion.found, self._columns)
            self.text.hold(self._strips, top=None)
            if self._jump and self._hits:
                self._jump = False
                self.text.go(max(0, self._hits[0] - 3))
        self._tell()

    def _tell(self) -> None:
        parts = [Segment(self.KEYS, styles.DIM)]
        if self._note:
            parts = [Segment(self._note, styles.TROUBLE)]
        more = "…" if not self._over else ""
        hits = f"{len(self._hits)} hits  " if self._words else ""
        self.query_one("#foot", Bar).tell(parts, [Segment(f"{hits}{len(self._strips)}{more} lines", styles.DIM)])

    def lay(self, columns: int) -> None:
        share = self.text.top / max(1, self.text.count)
        self._columns = columns
        self._strips, self._hits, self._speaker = [], [], ""
        self._add(self._records, self._columns)
        self.text.hold(self._strips, top=int(share * len(self._strips)))
        self._tell()

    def _add(self, found: Sequence[Said], columns: int) -> None:
        for line, hit in self._lines(found, min(columns, 110)):
            if hit:
                self._hits.append(len(self._strips))
            self._strips.append(Strip(line))

    def _lines(self, found: Sequence[Said], columns: int) -> Iterator[tuple[list[Segment], bool]]:
        for record in found:
            text = record.text
            if not any(text):
                continue
            who = "user" if record.zone == 0 else "aside" if record.zone == ASIDE else "assistant"
            if who not in ("aside", self._speaker):
                self._speaker = who
                name, style = styles.ROLES[who]
                moment = _moment(record.time)
                if self._strips and self._strips[-1].cell_length:
                    yield [], False
                yield [Segment(name or self._row.client, style), Segment(f"  {moment}", styles.DIM)], False
            if record.zone in (ACTION, ASIDE):
                sign = "· " if record.zone == ACTION else "( "
                line = cut(INDENT + sign + " ".join(text), columns)
                yield marked(line, self._words, styles.DIM), bool(spans(line, self._words))
                continue
            style = styles.DIM if record.zone in (OUTPUT, THINKING) else styles.PLAIN
            edge = {OUTPUT: "  | ", THINKING: "  ~ "}.get(record.zone, INDENT)
            for whole in text:
                for part in wrapped(whole, columns - len(edge)):
                    yield [Segment(edge, styles.DIM), *marked(part, self._words, style)], bool(spans(part, self._words))
            if record.zone not in (OUTPUT, THINKING):
                yield [], False

    def action_tools(self) -> None:
        """What tools printed and what was thought, or not."""
        self._zones = SPOKEN if self._zones == EVERYTHING else EVERYTHING
        self._start()
        self.text.hold([], top=0)

    def action_hit(self, way: int) -> None:
        here = self.text.top + 3
        if way > 0:
            there = next((line for line in self._hits if line > here), None)
        else:
            there = next((line for line in reversed(self._hits) if line < here), None)
        if there is not None:
            self.text.go(max(0, there - 3))


def _said(record: Record, home: str) -> Said:
    """In the thread, since secrets are looked for in every text. Below `home`, paths of actions begin with `~`."""
    text = block(record.text.replace(home + "/", "~/") if record.zone == ACTION and len(home) > 1 else record.text)
    if len(text) > LINES:
        text = [*text[:LINES], f"… {len(text) - LINES} more lines"]
    return Said(record.zone, record.time, text)


def _moment(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M") if seconds else ""
