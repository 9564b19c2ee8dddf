"""Is there anything to do for a sweep? Mostly there is not, and the answer should cost next to nothing.

Nothing here reads a transcript or loads what reading needs. Where the answer is not a plain no, the whole sweep runs,
looks again, and says what is wrong.
"""

from __future__ import annotations

import os

from recall.actions import marks
from recall.actions.cards import any_changed
from recall.actions.report import Report
from recall.actions.turn import lock_path
from recall.actions.walk import homes, purged_ids, unfinished, walk
from recall.archive import append
from recall.core.versions import PARSERS, of_rows
from recall.errors import RecallError
from recall.files import Lock
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import GONE, Store, exists, is_of_index, open_store


def idle(settings: Settings) -> Report | None:
    """The report of a sweep that has nothing to do; None when there may be something. The lock is held meanwhile."""
    if not exists(settings.index) or purged_ids(settings) or os.path.exists(unfinished(settings)):
        return None
    if not _view_is_current(settings):  # before the index is opened, which touches its log
        return None
    try:
        with Lock(lock_path(settings), wait=False) as held:
            if held is None or not append.ready(settings.archive, settings.state):
                return None
            marked = marks.changed(settings)
            with open_store(settings.index, wait=0.0) as store:
                report = _look(settings, store)
            if report is not None:
                marks.clear(settings, marked)
            return report
    except (OSError, RecallError):
        return None
    except Exception as problem:
        if not is_of_index(problem):
            raise
        return None


def _look(settings: Settings, store: Store) -> Report | None:
    shelf = Shelf(settings.data, settings.state)
    if shelf.troubles():
        return None
    report = Report()
    known = store.sources()
    problems: list[str] = []
    missing = len(known) - sum(1 for size, *_ in known.values() if size == GONE)
    for home in homes(settings):
        for found in walk(home, lambda path, problem: problems.append(path)):
            report.seen += 1
            seen = known.get(found.path)
            if seen is None or seen[:3] != (found.size, found.mtime, found.ino):
                return None
            missing -= 1
    if problems or missing or store.stale({name: of_rows(name) for name in PARSERS}) or store.unprinted():
        return None
    if any_changed(store, shelf):
        return None
    report.sessions = store.count()
    return report


def _view_is_current(settings: Settings) -> bool:
    """Was `INDEX.md` written (or found right) after the index, and the files that people may edit? `find` writes none."""
    try:
        view = os.stat(os.path.join(settings.data, "INDEX.md")).st_mtime_ns
    except OSError:
        return False
    edited = (os.path.join(settings.data, name) for name in (".removed", "names.json"))
    for path in (settings.index, settings.index + "-wal", *edited):
        try:
            if os.stat(path).st_mtime_ns > view:
                return False
        except OSError:
            continue
    return True
