"""Is everything kept? Archive, sweep, timer, and what the clients deleted meanwhile."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from recall.actions.cmd import source_of
from recall.actions.doctor.case import Case
from recall.actions.doctor.check import BAD, OFF, OK, WARN, Check, ago, plural
from recall.actions.doctor.installed import repair
from recall.actions.walk import Found, Home

_DAY = 86400.0
_WEEK = 7 * _DAY
_SETTLED = 3600.0  # seconds after its last change in which two sweeps of the timer should have taken a file in
_NAMED = 10
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def archive(case: Case) -> Check:
    path = case.short(case.settings.archive)
    if case.mounted:
        return Check("archive", OK, path)
    if case.seen_archive:
        mend = "mount its disk; if it was moved for good, set RECALL_ARCHIVE or put .recall-archive back into it"
        return Check("archive", BAD, f"{path} is not mounted: nothing is copied", mend)
    return Check("archive", WARN, "nothing is kept yet", f"{case.name} sweep")


def sweep(case: Case) -> Check:
    """The last sweep, and what stopped it."""
    last = case.swept
    if last is None:
        return Check("last sweep", WARN, "none yet", f"{case.name} sweep")
    when = ago(last.time, case.now)
    if last.error:
        return Check("last sweep", BAD, f"{when}: {last.error}", f"{case.name} sweep says more")
    if case.now - last.time > 2 * _DAY:
        return Check(
            "last sweep", WARN, f"{when}: nothing runs it", f"{case.name} sweep; {case.name} install sets a timer"
        )
    return Check("last sweep", OK, when)


def unreadable(case: Case) -> Check:
    """Files that the last sweep could not take in, by client, and folders that cannot be listed now."""
    troubles = {**case.shelf.troubles(), **case.walk_problems}
    if not troubles:
        return Check("unreadable files", OK, "none")
    counts: dict[str, int] = {}
    for path in troubles:
        home = next((home.client for home in case.homes if path.startswith(home.path + os.sep)), "archive and cards")
        counts[home] = counts.get(home, 0) + 1
    parts = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    lines = [f"{case.short(path)}: {words}" for path, words in sorted(troubles.items())]
    more = (f"… {len(lines) - _NAMED} more",) if len(lines) > _NAMED else ()
    mend = "mend their permissions or move them away; a damaged one is read as far as it can be"
    return Check("unreadable files", BAD, parts, mend, (*lines[:_NAMED], *more))


def timer(case: Case) -> Check:
    """When the timer last ran a sweep, and why it does not where it does not."""
    from recall.actions.timer import kind_here, state

    if case.machine is None:
        return Check("timer", OFF, "not looked at")
    found = state(case.settings, case.machine, case.now)
    ran = f"last run {ago(found.began, case.now)}" if found.began else "it has not run yet"
    if not found.kind:
        mend = f"{case.name} install"
        if not kind_here(case.machine):
            mend = f"there is no launchd, systemd or cron for this user: run {case.name} sweep by hand"
        return Check("timer", OFF, found.why or "none is installed", mend)
    if found.on is False:
        return Check("timer", BAD, f"{found.kind}: {found.why}", f"{case.name} install", fix=repair(case))
    if found.why:
        return Check("timer", WARN, f"{found.kind}: {found.why}", f"{case.name} sweep shows what is wrong")
    return Check("timer", OK, f"{found.kind}, {ran}")


def hook_log(case: Case) -> Check:
    """What the hooks noted of their failures in the last 7 days: a line each, the time first."""
    import datetime

    try:
        with open(os.path.join(case.settings.state, "hook.log"), encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return Check("hook log", OK, "no failures")
    since = datetime.datetime.fromtimestamp(case.now - _WEEK, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    late = [line for line in lines if line[:20] >= since]
    if not late:
        return Check("hook log", OK, "no failures in 7 days")
    words = f"{plural(len(late), 'failure')} in 7 days"
    mend = "each is made up for by the next event or sweep, unless its cause stays"
    return Check("hook log", WARN, words, mend, tuple(late[-3:]))


def coverage(case: Case) -> Check:
    """The transcripts of the last 7 days: are they copied, and in the index?"""
    recent = [found for _, found in case.sources if _is_recent(found, case.now)]
    if not recent:
        return Check("last 7 days", OK, "no transcript changed")
    growing = 0
    uncopied: list[str] = []
    unindexed: list[str] = []
    for found in recent:
        copied, indexed = _has(case, found)
        if copied and indexed:
            continue
        if case.now - found.mtime / 1e9 < _SETTLED:
            growing += 1
        else:
            (unindexed if copied else uncopied).append(found.path)
    words = plural(len(recent), "transcript")
    if uncopied or unindexed:
        parts = [f"{len(some)} not {what}" for some, what in ((uncopied, "copied"), (unindexed, "indexed")) if some]
        paths = [case.short(path) for path in uncopied + unindexed]
        more = (f"… {len(paths) - _NAMED} more",) if len(paths) > _NAMED else ()
        return Check(
            "last 7 days", WARN, f"{words}, {', '.join(parts)}", f"{case.name} sweep", (*paths[:_NAMED], *more)
        )
    new = f", {growing} of them changed within the hour" if growing else ""
    return Check("last 7 days", OK, f"{words}, all copied and indexed{new}")


def _is_recent(found: Found, now: float) -> bool:
    return found.place.kind in ("main", "sub") and now - found.mtime / 1e9 < _WEEK and found.size > 0


def _has(case: Case, found: Found) -> tuple[bool, bool]:
    """(is its copy as long as it is, did the last sweep see it so)"""
    seen = case.known.get(found.path)
    same = seen is not None and seen[:3] == (found.size, found.mtime, found.ino)
    if found.path.endswith(".zst"):
        return same, same
    try:
        copied = os.stat(case.copy_of(found)).st_size >= found.size
    except OSError:
        copied = False
    return copied, same


def newest(case: Case) -> Check:
    """The age of the newest copy."""
    times = [found.mtime / 1e9 for _, found in case.sources if found.place.kind == "main"]
    copies = []
    for file in case.files:
        try:
            copies.append(os.stat(os.path.join(case.settings.archive, file.copy)).st_mtime)
        except OSError:
            continue
    if not copies:
        return Check("newest copy", WARN if times else OK, "none", f"{case.name} sweep" if times else "")
    words = f"of a transcript that changed {ago(max(copies), case.now)}"
    if times and max(times) - max(copies) > _DAY:
        return Check("newest copy", WARN, f"{words}; there are newer ones", f"{case.name} sweep")
    return Check("newest copy", OK, words)


def deleted(case: Case) -> Check:
    """Transcripts that the clients do not have any more."""
    gone = [file for file in case.files if file.kind == "main" and file.source and not source_of(file.source)]
    unkept = (
        [file.source for file in gone if not os.path.exists(os.path.join(case.settings.archive, file.copy))]
        if case.mounted
        else []
    )
    before = list(_lost_before(case))
    late = [path for path, moment in before if case.now - moment < _WEEK]
    if unkept:
        words = f"{plural(len(unkept), 'transcript')} deleted by the client, and the copy is gone too"
        return Check("deleted by clients", BAD, words, "look for a backup of the archive", tuple(unkept[:_NAMED]))
    parts = []
    if gone:
        parts.append(f"{plural(len(gone), 'transcript')}, all kept here")
    if before:
        parts.append(f"{len(before)} before they were ever copied (their folders are left)")
    if late:
        hooks = case.journal is not None and case.journal.hooks
        mend = "" if hooks else f"let the hooks copy every turn: {case.name} install"
        more = (f"… {len(late) - _NAMED} more",) if len(late) > _NAMED else ()
        details = (*map(case.short, late[:_NAMED]), *more)
        return Check("deleted by clients", WARN, "; ".join(parts), mend, details)
    return Check("deleted by clients", OK, "; ".join(parts) or "none")


def _lost_before(case: Case) -> Iterator[tuple[str, float]]:
    """Folders `<id>/` without their `<id>.jsonl`, and without a copy of that: (path, its time)."""
    kept = {file.copy for file in case.files}
    for home in case.homes:
        if home.client != "claude":
            continue
        for folder, names in _projects(home):
            have = set(names)
            for name in names:
                if not _UUID.fullmatch(name) or f"{name}.jsonl" in have:
                    continue
                project = os.path.basename(folder)
                places = (f"{home.prefix}/{project}/{name}.jsonl", f"{project}/{name}.jsonl")
                if not any(
                    place in kept or os.path.exists(os.path.join(case.settings.archive, place)) for place in places
                ):
                    path = os.path.join(folder, name)
                    try:
                        yield path, os.stat(path).st_mtime
                    except OSError:
                        continue


def _projects(home: Home) -> Iterator[tuple[str, list[str]]]:
    top = os.path.join(home.path, "projects")
    try:
        folders = os.listdir(top)
    except OSError:
        return
    for folder in folders:
        try:
            yield os.path.join(top, folder), os.listdir(os.path.join(top, folder))
        except OSError:
            continue


def vanished(case: Case) -> Check:
    """Did all transcripts of a home vanish at once? A client deletes the old ones, never the newest with them."""
    lines = []
    for home in _all_homes(case):
        mine = [file for file in case.files if file.kind == "main" and file.source.startswith(home.path + os.sep)]
        if mine and not any(source_of(file.source) for file in mine):
            lines.append(f"{case.short(home.path)}: {plural(len(mine), 'transcript')}")
    if not lines:
        return Check("sources", OK, "there")
    words = f"all transcripts vanished: {'; '.join(lines)}. Nothing was removed here"
    mend = (
        "is the client's folder mounted, moved or renamed? (CLAUDE_CONFIG_DIR, CODEX_HOME, claude_homes, codex_homes)"
    )
    return Check("sources", WARN, words, mend)


def _all_homes(case: Case) -> list[Home]:
    from recall.actions.walk import homes

    return homes(case.settings)


CHECKS = (archive, sweep, unreadable, timer, hook_log, coverage, newest, deleted, vanished)
