"""Which session is meant: by an id or the beginning of one, `last`, or `.` for the newest of a folder."""

from __future__ import annotations

from collections.abc import Callable

from recall.core.model import Session
from recall.errors import NothingFound, Usage
from recall.shelf import Shelf
from recall.store import Store


def resolve(typed: str, store: Store, shelf: Shelf, *, folder: Callable[[], str], without: str = "") -> Session:
    """The session that an id, a prefix of one, `last` or `.` means; `.` is the newest below `folder()`, and neither it nor
    `last` is `without`, the session that asks.

    Raises NothingFound, or Usage with the candidates where a prefix is not unique. A removed session is not found.
    """
    if typed == "last":
        return _newest(store, shelf, without, lambda row: True, "no session yet", "run: recall sweep")
    if typed == ".":
        here = folder()
        return _newest(
            store,
            shelf,
            without,
            lambda row: row.cwd == here or row.cwd.startswith(here + "/"),
            f"no session in {here}",
            "an id, or `last`, names one elsewhere",
        )
    if not typed or "/" in typed or typed.startswith("-") or len(typed) > 200 or not _is_text(typed):
        raise Usage(f"'{typed}' is no session id", "recall find WORDS shows ids")
    found = [row for row in store.sessions_like(typed, 50) if not shelf.is_removed(row.id)]
    exact = [row for row in found if row.id == typed]
    if exact:
        return exact[0]
    if not found:
        removed = store.sessions_like(typed, 1) or shelf.is_removed(typed)
        if removed:
            raise NothingFound(f"session {typed} was removed", "")
        raise NothingFound(f"no session {typed}", "recall find WORDS shows ids; recall sweep takes in new sessions")
    if len(found) > 1:
        from recall.core.card import index_line, short_ids

        rows = found[:8]
        shorts = short_ids((row.client, row.id) for row in found)
        lines = "\n".join("  " + index_line(row, shorts[row.id], None) for row in rows)
        more = f"\n  … {len(found) - len(rows)} more" if len(found) > len(rows) else ""
        raise Usage(f"{typed} could be {len(found)} sessions:\n{lines}{more}", "type more of the id")
    return found[0]


def _is_text(typed: str) -> bool:
    """False where bytes were typed that are no text."""
    return not any("\ud800" <= char <= "\udfff" for char in typed)


def _newest(
    store: Store, shelf: Shelf, without: str, fits: Callable[[Session], bool], message: str, hint: str
) -> Session:
    rows = [
        row
        for row in store.sessions()
        if not row.chain_to
        and not row.hidden
        and row.messages
        and row.id != without
        and not shelf.is_removed(row.id)
        and fits(row)
    ]
    if not rows:
        raise NothingFound(message, hint)
    return max(rows, key=lambda row: row.updated)
