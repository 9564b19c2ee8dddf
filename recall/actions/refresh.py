"""What `find` does before it searches: take in what changed, within a budget.

First what a hook marked as changed, then the sessions that are open, then the newest folders. A quarter of a second or
3 MB, whichever comes first; what was left is said. While a sweep runs nothing is done: it is at it already.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from recall.actions.walk import Found, homes, walk
from recall.files import Lock
from recall.settings import Settings
from recall.store import exists, open_store

SECONDS = 0.25
BYTES = 3 << 20


def refresh(settings: Settings) -> str:
    """Take in what changed; gives a word on what could not be, '' when everything is in."""
    from recall.archive import append

    if not exists(settings.index) and not any(os.path.isdir(home.path) for home in homes(settings)):
        return ""
    from recall.files import make_private_dir

    make_private_dir(settings.state)
    end = time.monotonic() + SECONDS
    with Lock(os.path.join(settings.state, "sweep.lock"), wait=False) as held:
        if held is None:
            return "a sweep is running: what is newest may be missing"
        changed = _changed(settings)
        if not changed:
            return ""
        from recall.actions.sweep import Sweep

        if not append.ready(settings.archive, settings.state):
            return "the archive is not mounted: what is new is not searched"
        work = Sweep(settings)
        store = work.open()
        try:
            taken, size = 0, 0
            known = store.sources()
            while taken < len(changed) and size < BYTES and time.monotonic() < end:
                some: list[Found] = []
                while taken < len(changed) and sum(one.size for one in some) < BYTES // 3 and len(some) < 20:
                    new = changed[taken].size - known.get(changed[taken].path, (0, 0, 0, ""))[0]
                    if some and size + max(0, new) > BYTES:
                        break
                    some.append(changed[taken])
                    size += max(0, new)
                    taken += 1
                work.take(store, some, known)
            work.take_output(store)
        finally:
            store.close()
    left = len(changed) - taken
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
    for home in homes(settings):
        yield from walk(home, lambda path, problem: None)
