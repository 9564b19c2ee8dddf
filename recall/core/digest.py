"""A session in at most so many bytes: what a model is given to read of it.

Fed record by record. What is kept does not grow with the session: the first request, the last ones and an even choice
of those between; the last answers, plans and summaries; and what an `Extractor` keeps. The text has one entry a line, so
that no words of the session can look like a heading of ours.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from recall.core.extract import Extractor
from recall.core.facts import Facts
from recall.core.model import ACTION, ASIDE, ASSISTANT, OUTPUT, USER, Record
from recall.core.shorten import clean_middle, held, shorten_bytes, shorten_middle

BUDGET = 60_000
"""Bytes of UTF-8, a fifth of what 100,000 tokens are in the densest scripts."""

_FIRST = 4000
_REQUEST = 1500
_ANSWER = 4000
_SUMMARY = 12_000
_PLAN = 3000
_SAMPLE = 256  # requests kept between the first and the last ones
_LAST = 16


class _Section(NamedTuple):
    """`share`: of the budget, in percent, that it may take before others are asked for what they do not need."""

    heading: str
    entries: list[str]
    share: int


class Digest:
    """Takes the records of a session in order, all zones; `text` is the digest at any moment.

    `extractor` holds what the same pass found out by itself; `summary` is the client's own last summary of a
    compaction, without secrets, '' where there was none.
    """

    def __init__(self) -> None:
        self.extractor = Extractor()
        self.summary = ""
        self._requests = _Sample()
        self._answers: deque[str] = deque(maxlen=6)
        self._answer = ""
        self._summaries: deque[str] = deque(maxlen=3)
        self._plans: deque[str] = deque(maxlen=3)
        self._plan_call = ""

    def add(self, record: Record) -> None:
        self.extractor.add(record)
        zone = record.zone
        if zone == OUTPUT:
            return
        if zone == USER:
            self._turn_ends()
            self._requests.add(record.text)
        elif zone == ASSISTANT:
            if record.call and record.call == self._plan_call:
                self._plans.append(clean_middle(held(record.text, _PLAN), _PLAN))
            else:
                self._answer = held(record.text, _ANSWER)
        elif zone == ACTION:
            if record.tool == "ExitPlanMode":
                self._plan_call = record.call
        elif zone == ASIDE and record.tool == "summary":
            self._summaries.append(clean_middle(held(record.text, _SUMMARY), _SUMMARY))
            self.summary = self._summaries[-1]

    def text(self, budget_bytes: int = BUDGET, facts: Facts | None = None) -> str:
        """The digest, at most `budget_bytes` in UTF-8. With `facts`, paths are told as seen from the session's folder."""
        facts = facts or Facts()
        told = self.extractor.result(facts)
        answers = [clean_middle(answer, _ANSWER) for answer in (*self._answers, self._answer) if answer]
        edited = [f"{path} ×{count}" for path, count in self.extractor.edited(facts.cwd)]
        sections = [
            _Section("Requests of the user, first to last", self._requests.entries(), 42),
            _Section("Last answers of the assistant, the last one at the end", answers, 24),
            _Section("Summaries that the client made when the context was full", list(self._summaries), 12),
            _Section("Plans", list(self._plans), 6),
            _Section("Open points of the last to-do list", list(told.todo), 2),
            _Section("Commands that failed", list(told.failed), 4),
            _Section("Commits, branches, pull requests", [*told.commits, *told.branches, *told.prs], 3),
            _Section("Files edited, with counts", edited, 4),
            _Section("Commands", list(told.commands), 2),
            _Section("Skills and tools", [*told.skills, *(f"{name} ×{count}" for name, count in told.tools)], 1),
        ]
        ending = _ending(told.interrupted, told.last_failed)
        if ending:
            sections.append(_Section("How it ended", [ending], 0))
        return _fit([section for section in sections if section.entries], max(budget_bytes, 0))

    def _turn_ends(self) -> None:
        if self._answer:
            self._answers.append(self._answer)  # cleaned when it is told: nearly all are forgotten before
            self._answer = ""


class _Sample:
    """Requests, each cut: the first, the last ones, and of those between every n-th, n doubling as they become more."""

    def __init__(self) -> None:
        self.count = 0
        self._first = ""
        self._last: deque[tuple[int, str]] = deque()
        self._between: list[tuple[int, str]] = []
        self._step = 1

    def add(self, text: str) -> None:
        self.count += 1
        size = _FIRST if self.count == 1 else _REQUEST
        text = clean_middle(held(text, size), size)
        if self.count == 1:
            self._first = text
            return
        self._last.append((self.count, text))
        if len(self._last) > _LAST:
            number, text = self._last.popleft()
            if number % self._step == 0:
                self._between.append((number, text))
                if len(self._between) > _SAMPLE:
                    self._step *= 2
                    self._between = [pair for pair in self._between if pair[0] % self._step == 0]

    def entries(self) -> list[str]:
        pairs = [(1, self._first), *self._between, *self._last]
        return [f"[{number}/{self.count}] {text}" for number, text in pairs if text]


def _ending(interrupted: bool, failed: bool) -> str:
    parts = [
        "the last request or action has no answer" if interrupted else "",
        "the last command failed" if failed else "",
    ]
    return "; ".join(part for part in parts if part)


def _fit(sections: Sequence[_Section], budget: int) -> str:
    heads = [f"## {section.heading}\n" for section in sections]
    room = budget - sum(_size(head) + 1 for head in heads)
    if room <= 0:
        return shorten_bytes("".join(heads), budget)
    needs = [sum(_size(entry) + 3 for entry in section.entries) for section in sections]
    grants = [min(need, room * section.share // 100) for need, section in zip(needs, sections, strict=True)]
    left = room - sum(grants)
    # The least first: a short section is whole before a long one takes the rest; the rest goes in the order above.
    for number in sorted(range(len(needs)), key=lambda number: (needs[number] - grants[number] > room // 50, number)):
        more = min(needs[number] - grants[number], left)
        grants[number] += more
        left -= more
    parts = []
    for section, head, grant in zip(sections, heads, grants, strict=True):
        body = _entries(section.entries, grant)
        if body:
            parts.append(head + body)
    return shorten_bytes("\n".join(parts), budget)


def _entries(entries: list[str], room: int) -> str:
    """As lines of at most `room` bytes altogether: shorter ones first, then fewer of them, the first and last ones kept
    and those between evenly chosen."""
    kept = entries
    for size in (_SUMMARY, 4000, 2000, 1000, 500, 250):
        kept = [shorten_middle(entry, size) for entry in entries]
        if sum(_size(entry) + 3 for entry in kept) <= room:
            return "".join(f"- {entry}\n" for entry in kept)
    sizes = [_size(entry) + 3 for entry in kept]
    chosen: list[int] = []
    used = 0
    for number in _order(len(kept)):
        if used + sizes[number] <= room:
            chosen.append(number)
            used += sizes[number]
    if not chosen and kept and room > 8:
        return f"- {shorten_bytes(kept[-1], room - 3)}\n"
    return "".join(f"- {kept[number]}\n" for number in sorted(chosen))


def _order(count: int) -> list[int]:
    """Numbers below `count` by importance: first, last, then by halving what lies between, so that any beginning of the
    order is spread evenly."""
    order = dict.fromkeys((0, count - 1, *range(count - 2, max(count - 6, 0), -1))) if count else {}
    step = count
    while step > 1 and len(order) < count:
        step = (step + 1) // 2
        order.update(dict.fromkeys(range(0, count, step)))
    order.update(dict.fromkeys(range(count)))
    return [number for number in order if 0 <= number < count]


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
