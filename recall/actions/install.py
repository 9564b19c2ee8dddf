"""What recall changes outside of its own folders: hooks, permissions, the skill, the timer; and an earlier tool's.

`plan` looks at everything and changes nothing: what cannot be read or would be damaged is refused there. `apply` then does
what the plan says, the journal first.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from recall.actions import earlier, hookconf, launcher, timer
from recall.actions import journal as book
from recall.actions.editor import Editor, handlers, take_handlers, undo, without_handlers
from recall.actions.journal import File, Journal
from recall.actions.machine import Machine
from recall.actions.settings_file import Before, check_claude, check_hooks, decode, read, write
from recall.actions.shipped import names, shipped
from recall.files import make_private_dir
from recall.settings import Settings

SKILL = "session-orchestrator"
FOREVER = 999_999
"""Days until Claude Code deletes a transcript; the largest number that was seen to work."""

SOURCES = "startup|resume|clear|compact|fork"
ALWAYS = ("SessionStart", "Stop", "SubagentStop", "StopFailure", "SessionEnd")
"""SessionStart is more than the handoff loop's: names and the digest are told then, and are switched on later at will."""
LOOP = ("PreCompact", "PostCompact")
"""The events that only the handoff loop needs. Whether it is on, the hook reads in its settings file (`hookconf`)."""

ERASING = ("remove", "forget", "rm", "uninstall")
"""What an agent must ask for."""


class Wish(NamedTuple):
    """What is to be installed. `program` is the command's path, `python` our interpreter, `package` the folder of the
    package that it runs, `commands` the names of all commands."""

    name: str
    program: str
    python: str
    package: str
    commands: frozenset[str]
    version: str = ""
    hooks: bool = True
    timer: bool = True
    handoff: bool = False


@dataclass
class Change:
    """One file as it is (`before`; `link`: where it points, if it is a link to be replaced) and as it will be (`after`
    None: removed). `old` are bytes to keep for whoever takes the change back; None: they are kept already, or none."""

    before: Before
    after: bytes | None
    entry: File
    old: bytes | None = None
    link: str = ""


@dataclass
class Plan:
    """`lines` say in (place, words) what is done, `notes` what the user has to know or do."""

    journal: Journal
    changes: list[Change] = field(default_factory=list)
    crontab: tuple[bytes, bytes] | None = None
    moves: list[tuple[str, str]] = field(default_factory=list)
    unload: list[str] = field(default_factory=list)
    timer: str = ""
    was_timer: str = ""
    start: bool = False
    lines: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not (self.changes or self.crontab or self.moves or self.start)


def events(client: str, handoff: bool) -> list[tuple[str, dict[str, Any]]]:
    """(event, fields of its group and handler) for a client. Codex knows no StopFailure and takes at most 3 s at the end."""
    out = []
    for event in (*ALWAYS, *(LOOP if handoff else ())):
        if client == "codex" and event == "StopFailure":
            continue
        limit = 3 if client == "codex" and event == "SessionEnd" else 10
        out.append((event, {"matcher": SOURCES if event == "SessionStart" else None, "timeout": limit}))
    return out


def group(command: str, matcher: str | None, timeout: int) -> dict[str, Any]:
    """One entry of a `hooks` list, as both clients read it. The own timeout is what lets SessionEnd work longer than 1.5 s."""
    handler = {"type": "command", "command": command, "timeout": timeout}
    return {"matcher": matcher, "hooks": [handler]} if matcher else {"hooks": [handler]}


def rules(name: str) -> dict[str, list[str]]:
    """Permission rules: an agent may find and open, but not erase."""
    return {"allow": [f"Bash({name} *)"], "ask": [f"Bash({name} {verb} *)" for verb in ERASING]}


def present(settings: Settings, client: str) -> list[str]:
    """Homes of a client that are there: a folder with more in it than what is ours."""
    own = {os.path.realpath(path) for path in (settings.data, settings.state, settings.archive)}
    found = []
    for home in settings.homes(client):
        with contextlib.suppress(OSError):
            if any(os.path.realpath(os.path.join(home, name)) not in own for name in os.listdir(home)):
                found.append(home)
    return found


def _homes(settings: Settings, machine: Machine, client: str) -> list[str]:
    """Homes to add to: those that are there, or the first one of a client that is installed and was never started."""
    found = present(settings, client)
    return found or (list(settings.homes(client)[:1]) if machine.has(client) else [])


def plan(settings: Settings, machine: Machine, wish: Wish) -> Plan:
    """All that an install would do now. Raises Refused or Damaged where a file cannot be changed safely; changes nothing."""
    journal = book.load(settings.state)
    first = journal is None
    journal = journal or Journal()
    todo = Plan(journal, was_timer=journal.timer)
    _launcher(todo, settings, machine, wish)
    homes = _homes(settings, machine, "claude")
    for home in homes:
        _claude(todo, settings, machine, wish, home)
        _skill(todo, wish, os.path.join(home, "skills", SKILL))
    codex = _homes(settings, machine, "codex")
    for home in codex:
        _codex(todo, settings, machine, wish, home)
    if codex:
        _skill(todo, wish, os.path.join(settings.home, ".agents", "skills", SKILL))
    if not homes and not codex:
        todo.notes.append(
            f"Neither Claude Code nor Codex was found: once there is one, `{wish.name} install` adds hooks and the skill"
        )
    _timer(todo, settings, machine, wish)
    _earlier(todo, settings, first)
    journal.name, journal.version, journal.command = wish.name, wish.version, wish.program
    journal.handoff, journal.hooks, journal.timer = wish.handoff, wish.hooks, todo.timer
    return todo


def ours(machine: Machine) -> Callable[[str], bool]:
    """Tells commands of hooks that recall registered."""
    at = launcher.path(machine.share)
    return lambda command: at in command or launcher.quoted(machine.share) in command


def _launcher(todo: Plan, settings: Settings, machine: Machine, wish: Wish) -> None:
    text = launcher.text(wish.python, wish.package, hookconf.path(settings))
    _whole(todo, launcher.path(machine.share), text, 0o700)


def _claude(todo: Plan, settings: Settings, machine: Machine, wish: Wish, home: str) -> None:
    path = os.path.join(home, "settings.json")
    own = ours(machine)
    said: list[str] = []
    replaced: list[str] = []

    def edit(editor: Editor) -> None:
        said.clear()
        replaced[:] = _hooks(editor, settings, machine, wish, "claude")
        if wish.hooks:
            said.append(f"{sum(own(command) for *_, command in handlers(editor.value('hooks')))} hooks")
        for kind, listed in rules(wish.name).items():
            for rule in listed:
                editor.append("permissions", kind, value=rule)
        said.append("permission rules")
        if (editor.value("cleanupPeriodDays") or 0) < FOREVER:
            editor.put("cleanupPeriodDays", FOREVER)
        said.append("transcripts are kept")
        if editor.value("statusLine") is None and "statusline" in wish.commands:
            command = f"{shlex.quote(wish.program)} statusline"
            editor.put("statusLine", {"type": "command", "command": command})
            said.append("status line")

    changed = _json(todo, settings, path, edit, check_claude, own)
    todo.lines.append((path, ", ".join(said) if changed else "nothing to change"))
    todo.lines += [(path, f"replaces the earlier tool's hook {command}") for command in replaced]
    text = _decoded(path)
    if wish.hooks and text and Editor(text).value("disableAllHooks") is True:
        todo.notes.append(f"Hooks are switched off in {path} (disableAllHooks): recall's do not run either")


def _codex(todo: Plan, settings: Settings, machine: Machine, wish: Wish, home: str) -> None:
    path = os.path.join(home, "hooks.json")
    replaced: list[str] = []

    def edit(editor: Editor) -> None:
        replaced[:] = _hooks(editor, settings, machine, wish, "codex")

    if not os.path.lexists(path) and not wish.hooks:
        return
    changed = _json(todo, settings, path, edit, check_hooks, ours(machine))
    count = len(events("codex", wish.handoff)) if wish.hooks else 0
    todo.lines.append((path, f"{count} hooks" if changed else "nothing to change"))
    todo.lines += [(path, f"replaces the earlier tool's hook {command}") for command in replaced]
    if changed and wish.hooks:
        todo.notes.append(
            "Codex runs new hooks only after you have reviewed them: start codex, and it asks (or /hooks)"
        )


def _hooks(editor: Editor, settings: Settings, machine: Machine, wish: Wish, client: str) -> list[str]:
    """Our hooks in a client's file, and none of an earlier tool's; the commands of those that went."""
    own = ours(machine)
    programs = (launcher.path(machine.share), launcher.quoted(machine.share), wish.program)
    wanted = []
    if wish.hooks:
        command = launcher.command(machine.share)
        wanted = [(event, group(command, **fields)) for event, fields in events(client, wish.handoff)]
    take_handlers(editor, own, True, tuple(wanted))
    gone = []
    if wish.hooks:
        gone = take_handlers(editor, lambda command: earlier.is_earlier(command, settings, programs), False)
    for event, value in wanted:
        editor.append("hooks", event, value=value)
    return gone


def _json(
    todo: Plan,
    settings: Settings,
    path: str,
    edit: Callable[[Editor], None],
    check: Callable[[str, str], None],
    own: Callable[[str], bool],
) -> bool:
    """Plan the edits of a JSON file; whether there are any. What an earlier install did is taken back first, in mind."""
    before = read(path)
    text = "{}\n"
    if before.data is not None:
        text = decode(path, before.data)
        check(path, text)
    now = Editor(text)
    edit(now)
    if before.data is not None and now.text == text:
        return False
    entry = todo.journal.file(path)
    base = before.data
    if entry is not None and before.data is not None:
        base = original(settings, entry, before.data, own)
    elif before.data is not None:
        base = without_handlers(text, own).encode("utf-8")
    editor = Editor("{}\n" if base is None else decode(path, base))
    edit(editor)
    after = editor.text.encode("utf-8")
    check(path, decode(path, after))
    new = File(path, book.digest(base), book.digest(after), before.mode, edits=editor.edits)
    todo.changes.append(Change(before, after, new, base))
    return True


def original(settings: Settings, entry: File, data: bytes, own: Callable[[str], bool]) -> bytes | None:
    """A JSON file without our edits: its old bytes where nobody changed it since (None: there was no file), else what is
    left when our entries are taken out."""
    if book.digest(data) == entry.before:
        return data
    if book.digest(data) == entry.after:
        if not entry.before:
            return None
        old = book.kept(settings.state, entry)
        if old is not None:
            return old
    text = undo(decode(entry.path, data), entry.edits, own)
    if not entry.before and Editor(text).value() == {}:
        return None
    return text.encode("utf-8")


def _skill(todo: Plan, wish: Wish, folder: str) -> None:
    found = [name for name in names("skills") if name.startswith(SKILL + "/")]
    if not found:
        return
    if os.path.islink(folder):
        _unlink(todo, folder)
        todo.lines.append((folder, "was a link; replaced by our own folder"))
    elif not _skill_is_ours(todo, folder):
        todo.notes.append(f"{folder} is another skill: left as it is")
        return
    changed = [
        _whole(
            todo, os.path.join(folder, name[len(SKILL) + 1 :]), _named(shipped("skills", name), wish), 0o600, ours=False
        )
        for name in found
    ]
    todo.lines.append((folder, "skill" if any(changed) else "nothing to change"))


def _skill_is_ours(todo: Plan, folder: str) -> bool:
    """May the skill of this name be replaced? Ours, and an earlier tool's, speak of recall."""
    path = os.path.join(folder, "SKILL.md")
    if todo.journal.file(path) or not os.path.lexists(path):
        return True
    try:
        with open(path, "rb") as file:
            return b"recall" in file.read(1 << 20)
    except OSError:
        return False


def _named(text: bytes, wish: Wish) -> bytes:
    """The skill with the command under the name that it has here."""
    if wish.name == "recall":
        return text
    verbs = "|".join(sorted(map(re.escape, wish.commands), key=len, reverse=True))
    pattern = rf"(?<![\w./-])recall(?=`| --?[a-z]| (?:{verbs})\b| \*)"
    return re.sub(pattern, lambda found: wish.name, text.decode("utf-8")).encode("utf-8")


def _timer(todo: Plan, settings: Settings, machine: Machine, wish: Wish) -> None:
    kind = todo.timer = timer.kind_here(machine) if wish.timer else ""
    wanted: dict[str, bytes] = {}
    changed = False
    if kind:
        wanted = timer.files(kind, machine)
        _whole(todo, timer.script_path(machine), timer.script(settings, machine, wish.python), 0o700)
        changes = [_whole(todo, path, data, 0o644) for path, data in wanted.items()]
        changed = any(changes)
    if todo.was_timer and todo.was_timer != kind:
        for path in timer.files(todo.was_timer, machine):
            if os.path.lexists(path):
                _remove(todo, path)
    if kind == "cron" or todo.was_timer == "cron":
        table = timer.crontab(machine)
        then = timer.with_line(table, timer.cron_line(machine)) if kind == "cron" else timer.without_line(table)
        if then != table:
            todo.crontab = (table, then)
            changed = True
    if kind:
        todo.start = changed or timer.state_of(kind, machine)[0] is False
        words = "every half hour, while you are logged in" if kind == "systemd" else "every half hour"
        todo.lines.append((f"timer ({kind})", words if todo.start else "nothing to change"))
    elif wish.timer:
        todo.notes.append(f"There is no launchd, systemd or cron for this user: run `{wish.name} sweep` by hand")


def _earlier(todo: Plan, settings: Settings, first: bool) -> None:
    for agent in earlier.agents(settings, (timer.LABEL,)):
        _remove(todo, agent.path)
        todo.unload.append(agent.label)
        todo.lines.append((agent.path, "the earlier tool's timer: switched off and removed"))
    for path in earlier.bridges(settings):
        _remove(todo, path)
        todo.lines.append((path, "the earlier tool's bridge: removed"))
        todo.notes.append("Restart iTerm2 to end the earlier tool's bridge")
    if first:  # what lies there later is ours
        for folder in earlier.queues(settings):
            todo.moves.append((folder, _free(folder + ".set-aside")))
            todo.lines.append((folder, "jobs of the earlier tool: put aside, never run"))


def _whole(todo: Plan, path: str, data: bytes, mode: int, *, ours: bool = True) -> bool:
    """Plan a whole file; whether anything is to be done.

    What stood there before is kept in the backup folder, and stays if somebody changed it since the last install, unless it
    is `ours` alone.
    """
    if os.path.islink(path):
        _unlink(todo, path)
        before = Before(path, None, mode)
    elif any(change.link and path.startswith(change.before.path + "/") for change in todo.changes):
        before = Before(path, None, mode)
    else:
        before = read(path)
    entry = todo.journal.file(path)
    if before.data == data:
        if ours and entry is None:  # of an install that the journal does not know
            todo.journal.files.append(File(path, "", book.digest(data), mode, ours=True))
        return False
    if entry is not None and before.data is not None and not ours and book.digest(before.data) != entry.after:
        todo.notes.append(f"{path} was changed by somebody and is left so: delete it to get the new one")
        return False
    old = None if ours else before.data
    new = File(path, book.digest(old), book.digest(data), before.mode if old is not None else mode, ours=ours)
    if entry is not None:
        new.before, new.backup, old = entry.before, entry.backup, None
    todo.changes.append(Change(before._replace(mode=mode), data, new, old))
    return True


def _remove(todo: Plan, path: str) -> None:
    if os.path.islink(path):
        _unlink(todo, path)
        return
    before = read(path)
    entry = todo.journal.file(path)
    if entry is not None:
        todo.changes.append(Change(before, None, replace(entry, after="")))
    else:
        new = File(path, book.digest(before.data), "", before.mode)
        todo.changes.append(Change(before, None, new, before.data))


def _unlink(todo: Plan, path: str) -> None:
    target = os.readlink(path)
    todo.changes.append(Change(Before(path, None, 0), None, File(path, f"link:{target}", ""), link=target))


def _decoded(path: str) -> str:
    before = read(path)
    return decode(path, before.data) if before.data is not None else ""


def _free(path: str) -> str:
    candidates: Iterator[str] = (path if not number else f"{path}-{number}" for number in range(1000))
    return next(name for name in candidates if not os.path.lexists(name))


def apply(todo: Plan, settings: Settings, machine: Machine) -> list[str]:
    """Do what the plan says; words about what did not work but is no reason to stop. Raises Refused, OSError."""
    state, journal = settings.state, todo.journal
    for label in todo.unload:
        timer.bootout(machine, label)
    if todo.was_timer and todo.was_timer != todo.timer:
        timer.stop(todo.was_timer, machine)
    for start, end in todo.moves:
        journal.moved.append([start, end])
        book.save(state, journal)
        os.rename(start, end)
    hookconf.write(settings, handoff=journal.handoff)
    for change in todo.changes:
        _do(change, state, journal)
    trouble = []
    if todo.crontab:
        trouble.append(timer.write_crontab(machine, todo.crontab[1]))
    if todo.start:
        trouble.append(timer.start(todo.timer, machine))
    if todo.was_timer and todo.was_timer != todo.timer:
        timer.forget(todo.was_timer, machine)
    book.save(state, journal)
    return [word for word in trouble if word]


def _do(change: Change, state: str, journal: Journal) -> None:
    path = change.before.path
    if change.old is not None:
        change.entry.backup = book.keep(state, change.old)
    journal.files = [file for file in journal.files if file.path != path or file.before.startswith("link:")]
    journal.files.append(change.entry)
    journal.folders += [folder for folder in _missing(os.path.dirname(path)) if folder not in journal.folders]
    book.save(state, journal)
    if change.link or change.after is None:
        os.unlink(path)
    else:
        make_private_dir(os.path.dirname(os.path.realpath(path)))
        write(change.before, change.after)


def _missing(folder: str) -> Iterable[str]:
    """Folders that will have to be made, the upper ones first."""
    out: list[str] = []
    while folder and not os.path.lexists(folder):
        out.insert(0, folder)
        folder = os.path.dirname(folder)
    return out
