"""Names for sessions of Claude Code that nobody named: `folder · task`, once a model has told the task. Off unless `autoname`.

The name is kept in `<state>/titles/<id>`. A session that is open gets it from the hook when it is resumed; one that is not gets one
record appended to the client's transcript, whose time stays (the client deletes by it). What is appended is what the
client itself writes for a name (observed with 2.1.332). A name that a person gave is never replaced, and under CODEX_HOME nothing is
written.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator

from recall.core.model import Session
from recall.core.plain import one_line
from recall.core.shorten import shorten
from recall.files import write_atomic
from recall.live import live_ids
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import Store

TASK = 60
FOLDER = 30
QUIET = 300
"""Seconds since the last change of a transcript that is written to."""
_BY_CODE = ("", "extract")


def autoname(settings: Settings, store: Store, shelf: Shelf, now: float) -> list[str]:
    """Name what has no name; ids of the sessions that were named in their transcripts."""
    if not settings.autoname:
        return []
    live = live_ids(settings)
    done = []
    for row in _nameless(store, shelf):
        title = shelf.given_name(row.id)
        if not title:
            title = title_of(row)
            write_atomic(shelf.given_path(row.id), f"{title}\n".encode("utf-8", "replace"))
        if row.id in live or title in (row.title, row.other_title):
            continue
        if any(_append(path, row.id, title, now) for path in _transcripts(store, settings, row)):
            done.append(row.id)
    return done


def title_of(row: Session) -> str:
    """`folder · task`."""
    task = shorten(one_line(row.task), TASK)
    folder = shorten(one_line(row.project), FOLDER)
    return f"{folder} · {task}" if folder else task


def _nameless(store: Store, shelf: Shelf) -> Iterator[Session]:
    for row in store.sessions():
        if (
            row.client == "claude"
            and row.task
            and row.written_by not in _BY_CODE
            and row.title_by != "user"
            and not (row.hidden or row.meta or row.lost or row.chain_to)
            and not shelf.is_removed(row.id)
        ):
            yield row


def _transcripts(store: Store, settings: Settings, row: Session) -> Iterator[str]:
    """Where the client keeps the session itself."""
    for file in store.files(row.no):
        inside = any(file.source.startswith(home + os.sep) for home in settings.claude_homes)
        if file.kind == "main" and inside and os.path.basename(file.source) == f"{row.id}.jsonl":
            yield file.source


def _append(path: str, session: str, title: str, now: float) -> bool:
    """Append the name, unless a person gave one or somebody is writing; was it appended?"""
    if _named_by_user(path):
        return False
    record = {"type": "custom-title", "customTitle": title, "sessionId": session}
    line = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
    try:
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        before = os.fstat(fd)
        if not stat.S_ISREG(before.st_mode) or not before.st_size or before.st_mtime > now - QUIET:
            return False
        if os.pread(fd, 1, before.st_size - 1) != b"\n":
            line = b"\n" + line
        os.write(fd, line)
        if os.fstat(fd).st_size == before.st_size + len(line):  # else somebody else wrote too, and the time is theirs
            os.utime(fd, ns=(before.st_atime_ns, before.st_mtime_ns))
        return True
    except OSError:
        return False
    finally:
        os.close(fd)


def _named_by_user(path: str) -> bool:
    """Does the client's note beside the transcript speak of a name that a person gave? One that cannot be read does."""
    try:
        with open(os.path.join(path.removesuffix(".jsonl"), "custom-title.json"), "rb") as file:
            note = json.loads(file.read(65536))
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True
    return not isinstance(note, dict) or note.get("by") != "carried"
