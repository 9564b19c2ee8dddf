"""What `find` does before it searches: take in what changed, within a budget.

First what a hook marked as changed, then the sessions that are open, then the newest folders. A quarter of a second or
3 MB, whichever comes first; what was left is said. While a sweep runs nothing is done: it is at it already. Whatever
goes wrong here is said as well, and what is indexed is searched.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from recall.actions import marks
from recall.actions.cards import any_changed
from recall.actions.turn import lock_path
from recall.actions.walk import Found, Seen, homes, purged_ids, stem, walk
from recall.clients import NAMES
from recall.errors import RecallError, Unavailable
from recall.files import Lock, make_private_dir
from recall.live import live_ids
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import Store, exists, is_of_index, open_store

if TYPE_CHECKING:
    from recall.actions.sweep import Sweep

SECONDS = 0.25
BYTES = 3 << 20


def refresh(settings: Settings) -> str:
    """Take in what changed; gives a word on what could not be, '' when everything is in.

    An index that cannot be used is not for here: opening it says why.
    """
    if not any(map(os.path.exists, (settings.index, settings.data, *(home.path for home in homes(settings))))):
        return ""
    end = time.monotonic() + SECONDS
    try:
        make_private_dir(settings.state)
        with Lock(lock_path(settings), wait=False) as held:
            if held is None:
                return "a sweep is running: what is newest may be missing"
            try:
                changed, cards = _changed(settings)
            except RecallError:
                return ""
            return _take(settings, changed, end) if changed or cards else ""
    except (OSError, Unavailable) as problem:
        return f"what is new is not searched: {_reason(problem)}"
    except Exception as problem:
        if not is_of_index(problem):
            raise
        return f"what is new is not searched: {problem}"


def _reason(problem: OSError | Unavailable) -> str:
    if isinstance(problem, OSError):
        return f"{problem.filename or 'the index'}: {problem.strerror}"
    return problem.message


def _take(settings: Settings, changed: list[Found], end: float) -> str:
    from recall.actions.sweep import Sweep
    from recall.archive import append

    if not append.ready(settings.archive, settings.state):
        if exists(settings.index):
            with open_store(settings.index) as store:
                Sweep(settings).take_cards(store, end)
        return "the archive is not mounted: what is new is not searched" if changed else ""
    if not exists(settings.index) and not _all_here(settings, changed):
        return "the index is missing: recall reindex makes it again from the archive"
    work = Sweep(settings)
    store = work.open()
    left = 0
    try:
        known = store.sources()
        size = 0
        some: list[Found] = []
        held = 0
        for n, found in enumerate(changed):
            new = max(0, found.size - max(0, known.get(found.path, (0,))[0]))
            if size + held + new > BYTES:
                left += 1  # too much for now; a smaller one may still fit
                continue
            some.append(found)
            held += new
            if held < BYTES // 3 and len(some) < 20 and n + 1 < len(changed):
                continue
            if size and time.monotonic() > end:  # one batch at least: else a slow machine would never get on
                left += len(some) + len(changed) - n - 1
                some = []
                break
            _take_some(work, store, some, known)
            size, held, some = size + held, 0, []
        if some:
            _take_some(work, store, some, known)
        work.take_output(store)
        left += work.take_cards(store, end)
    finally:
        store.close()
    return f"{left} changed files are not searched yet: recall sweep takes them in" if left else ""


def _all_here(settings: Settings, changed: list[Found]) -> bool:
    """Are all copies in the archive of transcripts that are here? So it is until the first sweep, when hooks have copied.

    Else an index of what is here would look like one of everything.
    """
    here = {stem(found.path) for found in changed}
    for name in NAMES:
        for _, _, files in os.walk(os.path.join(settings.archive, name)):
            if any(".jsonl" in file and file.partition(".jsonl")[0] not in here for file in files):
                return False
    return True


def _take_some(work: Sweep, store: Store, some: list[Found], known: dict[str, tuple[int, int, int, str]]) -> None:
    work.take(store, some, known)
    marks.clear(work.settings, {found.place.session for found in some})


def _changed(settings: Settings) -> tuple[list[Found], bool]:
    """Files that are not as the index knows them: first what a hook marked, then open sessions, then the newest; and
    whether a card changed."""
    shelf = Shelf(settings.data, settings.state)
    seen: Seen = frozenset()
    if exists(settings.index):
        with open_store(settings.index) as store:
            seen = store.seen()
            cards = any_changed(store, shelf)
    else:
        cards = bool(shelf.card_files())
    out = list(_unseen(settings, seen))
    if sum(found.size for found in out) <= BYTES:
        return sorted(out, key=lambda found: -found.mtime), cards
    marked = marks.changed(settings)
    live = live_ids(settings)
    out.sort(key=lambda found: (found.place.session not in marked, found.place.session not in live, -found.mtime))
    return out, cards


def _unseen(settings: Settings, seen: Seen) -> Iterator[Found]:
    gone = purged_ids(settings)
    for home in homes(settings):
        for found in walk(home, lambda path, problem: None, seen):
            if not gone or (found.place.session or stem(found.path)) not in gone:
                yield found
