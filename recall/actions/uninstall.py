"""Taking back what `recall install` did, by its journal.

Copies of transcripts, cards and the index stay. A file that nobody changed since gets its old bytes again; from one that
somebody did, only what is ours is taken out. What cannot be taken back is told, stays in the journal, and stops nothing.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass, field
from typing import NamedTuple

from recall.actions import hookconf, iterm_install, timer
from recall.actions import journal as book
from recall.actions.editor import Editor, without_handlers
from recall.actions.install import original, ours, present
from recall.actions.journal import File, Journal
from recall.actions.machine import Machine
from recall.actions.settings_file import Before, decode, read, write
from recall.errors import Damaged, RecallError
from recall.settings import Settings


class Back(NamedTuple):
    """One file: as it is, and as it will be (`data` None: gone; `link`: a link to there is put back)."""

    before: Before
    data: bytes | None
    entry: File | None
    link: str = ""


@dataclass
class Plan:
    """`left` are (path, words) of what cannot be taken back; `stays` says what somebody else changed and is left."""

    journal: Journal
    backs: list[Back] = field(default_factory=list)
    crontab: tuple[bytes, bytes] | None = None
    timer: str = ""
    left: list[tuple[str, str]] = field(default_factory=list)
    stays: list[str] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not (self.backs or self.crontab or self.timer or self.left)


def plan(settings: Settings, machine: Machine) -> Plan:
    """All that an uninstall would do now; changes nothing. Raises Damaged where the journal cannot be read."""
    journal = book.load(settings.state)
    todo = Plan(journal or Journal(), timer=journal.timer if journal else "")
    links = []
    for entry in reversed(todo.journal.files):
        if entry.before.startswith("link:"):
            links.append(entry)
            continue
        try:
            _file(todo, settings, machine, entry)
        except RecallError as problem:
            todo.left.append((entry.path, f"{problem.message} ({problem.hint})"))
        except OSError as problem:
            todo.left.append((entry.path, problem.strerror or str(problem)))
    for entry in links:
        todo.backs.append(Back(Before(entry.path, None, 0), None, entry, entry.before[len("link:") :]))
    _unknown(todo, settings, machine)
    if todo.timer == "cron":
        table = timer.crontab(machine)
        then = timer.without_line(table)
        if then != table:
            todo.crontab = (table, then)
    return todo


def _file(todo: Plan, settings: Settings, machine: Machine, entry: File) -> None:
    before = read(entry.path)
    now = book.digest(before.data)
    if now == entry.before:
        return  # as it was, or never written
    if entry.after and before.data is None:
        if entry.before and not entry.edits:
            todo.stays.append(f"{entry.path} was deleted by somebody and stays so")
        return
    if entry.edits:
        assert before.data is not None
        data = original(settings, entry, before.data, ours(machine))
        if data != before.data:
            todo.backs.append(Back(before, data, entry))
        return
    if now != entry.after and not entry.ours:
        todo.stays.append(f"{entry.path} was changed by somebody and stays")
        return
    old = book.kept(settings.state, entry)
    if entry.before and old is None:
        raise Damaged(f"the old content of {entry.path} is lost", "remove the file by hand")
    todo.backs.append(Back(before._replace(mode=entry.mode), old, entry))


def _unknown(todo: Plan, settings: Settings, machine: Machine) -> None:
    """Hooks of ours in files that the journal does not know, and the bridge in iTerm2: they would call what is gone."""
    known = {entry.path for entry in todo.journal.files}
    bridge = iterm_install.ours(settings)
    if bridge and bridge not in known:
        todo.backs.append(Back(read(bridge), None, None))
    paths = [os.path.join(home, "settings.json") for home in present(settings, "claude")]
    paths += [os.path.join(home, "hooks.json") for home in present(settings, "codex")]
    for path in paths:
        if path in known:
            continue
        try:
            before = read(path)
            if before.data is None or not any(map(ours(machine), [before.data.decode("utf-8", "replace")])):
                continue
            data = without_handlers(decode(path, before.data), ours(machine)).encode("utf-8")
        except RecallError as problem:
            todo.left.append((path, problem.message))
            continue
        if data != before.data:
            todo.backs.append(Back(before, data, None))
            if Editor(data.decode("utf-8")).value("hooks") == {}:
                todo.stays.append(f"{path}: permission rules and other settings are not in the journal and stay")


def apply(todo: Plan, settings: Settings, machine: Machine) -> None:
    """Do what the plan says. What fails is added to `left`."""
    journal = todo.journal
    if todo.timer:
        timer.stop(todo.timer, machine)
    if todo.crontab and (word := timer.write_crontab(machine, todo.crontab[1])):
        todo.left.append(("crontab", word))
    links = [back for back in todo.backs if back.link]
    for back in todo.backs:
        if not back.link:
            _attempt(todo, back)
    for folder in sorted(journal.folders, key=len, reverse=True):
        with contextlib.suppress(OSError):
            os.rmdir(folder)
    for back in links:
        _attempt(todo, back)
    if todo.timer:
        timer.forget(todo.timer, machine)
    _close(todo, settings)


def _attempt(todo: Plan, back: Back) -> None:
    path = back.before.path
    try:
        if back.link:
            with contextlib.suppress(OSError):
                os.rmdir(path)
            if not os.path.lexists(path):
                os.symlink(back.link, path)
        elif back.data is None:
            os.unlink(path)
        else:
            write(back.before, back.data)
    except RecallError as problem:
        todo.left.append((path, problem.message))
    except OSError as problem:
        todo.left.append((path, problem.strerror or str(problem)))


def _close(todo: Plan, settings: Settings) -> None:
    """The journal goes when all of it was taken back; else it keeps what was not."""
    failed = {path for path, _ in todo.left}
    if failed:
        todo.journal.files = [entry for entry in todo.journal.files if entry.path in failed]
        todo.journal.timer = todo.journal.timer if "crontab" in failed else ""
        book.save(settings.state, todo.journal)
        return
    for path in (hookconf.path(settings), book.place(settings.state)):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    shutil.rmtree(book.backup_folder(settings.state), ignore_errors=True)
