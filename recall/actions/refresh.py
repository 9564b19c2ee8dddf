"""What `find` does before it searches: take in what changed, within a budget.

First what a hook marked as changed, then the sessions that are open, then the newest folders. A quarter of a second or
3 MB, whichever comes first; what was left is said. While a sweep runs nothing is done: it is at it already. Whatever
goes wrong here is said as well, and what is indexed is searched.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from recall.actions.turn import lock_path
from recall.actions.walk import Found, homes, purged_ids, stem, walk
from recall.errors import RecallError, Unavailable
from recall.files import Lock, make_private_dir
from recall.settings import Settings
from recall.store import exists, is_of_index, open_store

SECONDS = 0.25
BYTES = 3 << 20


def refresh(settings: Settings) -> str:
    """Take in what changed; gives a word on what could not be, '' when everything is in.

    An index that cannot be used is not for here: opening it says why.
    """
    if not exists(settings.index) and not any(os.path.isdir(home.path) for home in homes(settings)):
        return ""
    end = time.monotonic() + SECONDS
    try:
        make_private_dir(settings.state)
        with Lock(lock_path(settings), wait=False) as held:
            if held is None:
                return "a sweep is running: what is newest may be missing"
            try:
                changed = _changed(settings)
            except RecallError:
                return ""
            return _take(settings, changed, end) if changed else ""
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
        return "the archive is not mounted: what is new is not searched"
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
            if time.monotonic() > end:
                left += len(some) + len(changed) - n - 1
                some = []
                break
            work.take(store, some, known)
            size, held, some = size + held, 0, []
        if some:
            work.take(store, some, known)
        work.take_output(store)
    finally:
        store.close()
    return f"{left} changed files are not searched yet: recall sweep takes them in" if left else ""


def _changed(settings: Settings) -> list[Found]:
    """Files that are not as the index knows them, newest first."""
    known: dict[str, tuple[int, int, int, str]] = {}
    if exists(settings.index):
        with open_store(settings.index) as store:
            known = store.sources()
    out = [found for found in _all(settings) if known.get(found.path, (0,))[:3] != (found.size, found.mtime, found.ino)]
    out.sort(key=lambda found: -found.mtime)
    return out


def _all(settings: Settings) -> Iterator[Found]:
    gone = purged_ids(settings)
    for home in homes(settings):
        for found in walk(home, lambda path, problem: None):
            if not gone or (found.place.session or stem(found.path)) not in gone:
                yield found
