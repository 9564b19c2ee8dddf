"""A conversation as parts to be shown: what was said, and each tool call with its input, what it printed and what it changed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from recall.core.change import EDIT, WRITE, Change
from recall.core.model import ACTION, ASIDE, ASSISTANT, OUTPUT, THINKING, USER, Record

_WAITING = 400
"""Parts that are held back for what a call prints later."""
_LONG = 4000
"""Lines of one text that are compared; behind them all are shown as removed and added."""


class Part(NamedTuple):
    """`role` is user, assistant, aside, thinking or call. `number` counts the messages of the human and the assistant, 0 for
    other parts. Of a call: `tool`, `text` its short arguments, `body` its long ones, `output` what it printed, `failed`."""

    role: str
    text: str
    time: float
    at: int
    number: int = 0
    tool: str = ""
    body: str = ""
    output: str = ""
    failed: bool = False


_ROLES = {USER: "user", ASSISTANT: "assistant", ASIDE: "aside"}


def parts(records: Iterable[Record]) -> Iterator[Part]:
    """Records of all zones, in order, as parts: bodies and outputs stand with their calls. Those whose call is not there
    are parts of their own."""
    held: list[Part] = []
    calls: dict[str, int] = {}  # call -> its place in `held`
    count = 0
    for record in records:
        if record.zone == USER or len(held) > _WAITING:
            yield from held
            held, calls = [], {}
        if record.zone in _ROLES:
            count += record.zone != ASIDE
            number = count if record.zone != ASIDE else 0
            held.append(Part(_ROLES[record.zone], record.text, record.time, record.at, number))
            continue
        key = record.call or f"{record.tool}@{record.at}"
        place = calls.get(key)
        if record.zone == ACTION:
            calls[key] = len(held)
            held.append(Part("call", record.text, record.time, record.at, tool=record.tool))
        elif record.zone == THINKING and not record.tool:
            held.append(Part("thinking", record.text, record.time, record.at))
        elif place is None:
            calls[key] = len(held)
            part = Part("call", record.tool, record.time, record.at, tool=record.tool, failed=record.failed)
            held.append(
                part._replace(body=record.text) if record.zone == THINKING else part._replace(output=record.text)
            )
        elif record.zone == OUTPUT:
            text = "\n".join(filter(None, (held[place].output, record.text)))
            held[place] = held[place]._replace(output=text, failed=held[place].failed or record.failed)
        else:
            held[place] = held[place]._replace(body="\n".join(filter(None, (held[place].body, record.text))))
    yield from held


def difference(change: Change) -> list[str]:
    """What a change did to its file, as lines that begin with a blank, `-` or `+`; `…` stands between places."""
    if change.kind == WRITE:
        before, text = (one.removesuffix("\n") for one in (change.base or "", change.text))
        return _lines(before.split("\n") if before else [], text.split("\n"))
    pairs = [(old.split("\n") if old else [], new.split("\n")) for old, new, _ in change.edits]
    if change.kind != EDIT:
        pairs = [(list(hunk.old), list(hunk.new)) for hunk in change.hunks]
    out: list[str] = []
    for old, new in pairs:
        out += [*(["…"] if out else []), *_lines(old, new)]
    return out


def _lines(old: list[str], new: list[str]) -> list[str]:
    if len(old) + len(new) > _LONG or not old:
        return [f"-{line}" for line in old] + [f"+{line}" for line in new]
    found = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    return ["…" if line.startswith("@@") else line for line in found[1:]] if found else [f" {line}" for line in new]
