"""Is the index there and sound, and what of the transcripts was not understood?"""

from __future__ import annotations

import os
from collections.abc import Callable

import orjson

from recall.actions.doctor.case import Case
from recall.actions.doctor.check import BAD, OK, WARN, Check, plural
from recall.actions.turn import turn
from recall.store import NewerIndex, is_damage, output_path

_NAMED = 12


def index(case: Case) -> Check:
    """Present, of this version, and sound at a quick look."""
    again = f"{case.name} reindex"
    if not case.has_index:
        if os.path.lexists(case.settings.index) or case.files_kept:
            return Check("index", BAD, "there is none", again, fix=_rebuild(case))
        return Check("index", WARN, "nothing is indexed yet", f"{case.name} sweep")
    store = case.store
    if store is None:
        words, problem = case.store_problem
        if isinstance(problem, NewerIndex):
            return Check("index", BAD, words, "upgrade recall: ./install.sh of a newer checkout")
        if problem is not None and (getattr(problem, "kind", "") == "damaged" or is_damage(problem)):
            return Check("index", BAD, words, again, fix=_rebuild(case))
        return Check("index", BAD, words, "look at the permissions of its folder, and at its disk")
    wrong = store.probe()
    if wrong:
        return Check("index", BAD, f"damaged: {wrong[0]}", again, tuple(wrong[1:]), _rebuild(case))
    parts = (case.settings.index, output_path(case.settings.index))
    size = sum(os.path.getsize(path) for path in parts if os.path.exists(path))
    words = (
        f"{plural(store.count(), 'session')}, {size / 1e6:.1f} MB, sound at a quick look ({case.name} verify reads all)"
    )
    return Check("index", OK, words)


def _rebuild(case: Case) -> Callable[[], str]:
    def fix() -> str:
        from recall.actions.reindex import rebuild

        case.close()
        with turn(case.settings):
            count = rebuild(case.settings, progress=lambda done, total, what: None)
        return f"made the index again from the archive: {plural(count, 'session')}"

    return fix


def records(case: Case) -> Check:
    """Record types that no parser knows, and lines that hold none, by client."""
    if case.store is None:
        return Check("records", OK, "not known without an index")
    found = case.store.skipped(orjson.loads)
    unknown, lines = 0, []
    for client, counts in sorted(found.items()):
        for why, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
            unknown += count if why.startswith("type ") else 0
            lines.append(f"{client}: {why}: {count}")
    more = (f"… {len(lines) - _NAMED} more",) if len(lines) > _NAMED else ()
    details = (*lines[:_NAMED], *more)
    if unknown:
        mend = "a client newer than this recall? Upgrade recall; what was skipped is kept, and read again then"
        return Check("records", WARN, f"{plural(unknown, 'record')} of unknown types", mend, details)
    skipped = sum(sum(counts.values()) for counts in found.values())
    words = f"all known; {plural(skipped, 'damaged line')} passed over" if skipped else "all known"
    return Check("records", OK, words, "", details)


CHECKS = (index, records)
