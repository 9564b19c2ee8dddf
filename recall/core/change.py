"""What a session wrote into files, replayed: changes in their order -> what then stood in each file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from recall.core.patch import Hunk, apply

WRITE, EDIT, PATCH, DELETE, MOVE, SEEN, OTHER = "write", "edit", "patch", "delete", "move", "seen", "other"


class Change(NamedTuple):
    """One change of one file, as a tool's input says it, and as its result says that it was done.

    `kind` WRITE: `text` is the whole file. EDIT: each (old, new, everywhere) of `edits` in turn. PATCH: `hunks`. DELETE; MOVE
    to `to` (the hunks are applied first). SEEN: the session read all of it, and `text` is what stood there. OTHER: a change
    that cannot be replayed. `base` is what stood there before, where the client tells. `at` is the offset of the line.
    """

    path: str
    kind: str
    at: int
    time: float
    text: str = ""
    edits: tuple[tuple[str, str, bool], ...] = ()
    hunks: tuple[Hunk, ...] = ()
    base: str | None = None
    to: str = ""


class Replayed(NamedTuple):
    """What stood in a file in the end. `text` is None where it is not known (it was never seen whole) or `deleted`.

    `changes` counts the session's own changes; `lost` those after which the text was not known any more; `hunks` are the
    changes to a text that is not known.
    """

    path: str
    text: str | None
    deleted: bool
    changes: int
    lost: int
    hunks: tuple[Hunk, ...]
    time: float


def replay(changes: Iterable[Change]) -> dict[str, Replayed]:
    """The files that the changes leave, by path, in the order of their first change. Files that were only read are left out."""
    found: dict[str, Replayed] = {}
    for change in changes:
        state = found.get(change.path) or Replayed(change.path, None, False, 0, 0, (), 0.0)
        if change.kind == SEEN:
            found[change.path] = state._replace(text=change.text, deleted=False, hunks=())
            continue
        state = _changed(state, change)
        if change.kind == MOVE and change.to:
            found[change.path] = state._replace(
                text=None, deleted=True, hunks=(), changes=state.changes + 1, time=change.time
            )
            target = found.get(change.to)
            state = state._replace(path=change.to, changes=target.changes if target else 0)
        found[state.path] = state._replace(changes=state.changes + 1, time=change.time)
    return {path: state for path, state in found.items() if state.changes}


def _changed(state: Replayed, change: Change) -> Replayed:
    if change.kind == WRITE:
        return state._replace(text=change.text, deleted=False, hunks=())
    if change.kind == DELETE:
        return state._replace(text=None, deleted=True, hunks=())
    if change.kind == OTHER:
        return state._replace(text=None, deleted=False, lost=state.lost + 1)
    before = change.base if change.base is not None else state.text
    if state.deleted and change.base is None:
        before = ""
    text = before
    if change.kind == EDIT:
        for old, new, everywhere in change.edits:
            text = _edited(text, old, new, everywhere)
    elif change.hunks:
        text = apply(text, change.hunks) if text is not None else None
    if text is not None:
        return state._replace(text=text, deleted=False, hunks=())
    hunks = change.hunks or tuple(
        Hunk("", tuple(old.split("\n")), tuple(new.split("\n"))) for old, new, _ in change.edits
    )
    return state._replace(
        text=None, deleted=False, lost=state.lost + (before is not None), hunks=(*state.hunks, *hunks)
    )


def _edited(text: str | None, old: str, new: str, everywhere: bool) -> str | None:
    """None where it is not known what stood there, or where that does not hold `old`."""
    if not old:  # a new file, or an empty one
        return new if not text else None
    if text is None or old not in text:
        return None
    return text.replace(old, new) if everywhere else text.replace(old, new, 1)
