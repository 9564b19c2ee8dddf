"""The conversation of a session as parts that may be shown: redacted, without escapes, edits as differences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from recall.actions.files import changes_of
from recall.actions.transcript import records, shown
from recall.core.change import SEEN, Change
from recall.core.model import EVERYTHING, Record
from recall.core.talk import Part, difference, parts
from recall.settings import Settings


class Shown(NamedTuple):
    """One part as it may be shown; `lines` is what the call changed in a file, see `core.talk.difference`."""

    part: Part
    lines: list[str]


def talk(path: str, client: str, settings: Settings, said: Iterable[Record] | None = None) -> Iterator[Shown]:
    """All parts of one transcript, in order, or those of the records `said` of it. OSError when it cannot be read."""
    changes: dict[int, list[Change]] = {}
    for change in changes_of(path, client, settings):
        if change.kind != SEEN:
            changes.setdefault(change.at, []).append(change)
    for part in parts(records(path, client, settings, EVERYTHING) if said is None else said):
        mine = changes.get(part.at, []) if part.role == "call" else []
        mine = [change for change in mine if change.path.rpartition("/")[2] in part.text]
        lines = [line for change in mine for line in difference(_redacted(change))]
        text, body, output = (shown(one) if one else "" for one in (part.text, part.body, part.output))
        yield Shown(part._replace(text=text, body=body, output=output), lines)


def _redacted(change: Change) -> Change:
    """The change with its texts as they may be shown: each is redacted whole, before it is cut into lines."""
    return change._replace(
        text=shown(change.text),
        base=shown(change.base) if change.base else change.base,
        edits=tuple((shown(old), shown(new), every) for old, new, every in change.edits),
        hunks=tuple(hunk._replace(old=_each(hunk.old), new=_each(hunk.new)) for hunk in change.hunks),
    )


def _each(lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(shown("\n".join(lines)).split("\n")) if lines else ()
