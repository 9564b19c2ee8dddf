"""What stands in the clients' own files: hooks, permission rules, how long they keep transcripts, the skill."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

from recall.actions import launcher
from recall.actions.doctor.case import Case, Read, read_json
from recall.actions.doctor.check import BAD, OFF, OK, WARN, Check, plural
from recall.actions.install import ERASING, LOOP, SKILL, ours
from recall.actions.journal import digest
from recall.actions.shipped import shipped
from recall.actions.walk import Home
from recall.errors import RecallError

_KEEPING = ("Stop", "SubagentStop", "SessionEnd")
"""Events at which the archive grows, for both clients."""

_SKILL = os.path.join("skills", SKILL, "SKILL.md")
_SOURCES = ("compact", "resume", "fork")  # of a SessionStart that is to be answered
_LONG = 365  # days
_PLACES = ("~/.local/bin", "~/.npm-global/bin", "~/.bun/bin", "/opt/homebrew/bin", "/usr/local/bin", "/usr/bin")

Handler = tuple[str, int, int, str, str]  # event, its number in the list, number in the group, matcher, command


def is_ours(case: Case, command: str) -> bool:
    """Is this the command of a hook of recall: our launcher, or `recall hook` by hand?"""
    if case.machine is not None and ours(case.machine)(command):
        return True
    return re.search(rf"(?:^|/)(?:recall|{re.escape(case.name)}) hook(?:\s|$)|/recall-hook\b", command) is not None


def handlers(table: object) -> Iterator[Handler]:
    """The command hooks in a client's table of hooks."""
    if not isinstance(table, dict):
        return
    for event, groups in table.items():
        for n, group in enumerate(groups if isinstance(groups, list) else ()):
            inner = group.get("hooks") if isinstance(group, dict) else None
            for m, hook in enumerate(inner if isinstance(inner, list) else ()):
                command = hook.get("command") if isinstance(hook, dict) else None
                if isinstance(command, str):
                    words = (
                        [command, *map(str, hook.get("args") or ())]
                        if isinstance(hook.get("args"), list)
                        else [command]
                    )
                    yield str(event), n, m, str(group.get("matcher") or ""), " ".join(words)


# -- one home of Claude Code -----------------------------------------------------------------------------------


def claude(case: Case, home: Home) -> Iterator[Check]:
    path = os.path.join(home.path, "settings.json")
    read = read_json(path)
    if read.problem:
        words = f"{case.short(path)}: {read.problem}; the client ignores all of it, hooks and permissions too"
        yield Check(case.label("settings", home), BAD, words, "mend the file by hand")
        return
    settings = read.value or {}
    mine = [one for one in handlers(settings.get("hooks")) if is_ours(case, one[4])]
    yield _hooks(case, home, mine, off=settings.get("disableAllHooks") is True, plugin=_plugin(settings))
    yield _loop(case, home, mine)
    yield _permissions(case, home, settings)
    yield _cleanup(case, home, settings)
    yield _skill(case, home, [home.path])
    yield _status_line(case, home, settings)


def _plugin(settings: dict[str, Any]) -> bool:
    """Is recall enabled as a plugin? Its hooks are then in no settings file."""
    enabled = settings.get("enabledPlugins")
    return isinstance(enabled, dict) and any(name.startswith("recall@") and on for name, on in enabled.items())


def _hooks(case: Case, home: Home, mine: list[Handler], *, off: bool, plugin: bool = False) -> Check:
    name = case.label("hooks", home)
    again = f"{case.name} install"
    events = {event for event, *_ in mine}
    if not events:
        if plugin:
            return Check(name, OK, "by the plugin")
        return Check(name, OFF, "not installed: copies are made by the sweep only", again, fix=repair(case))
    if off:
        return Check(
            name, WARN, "installed, but disableAllHooks switches them off", "take disableAllHooks out of the settings"
        )
    broken = sorted({one for *_, command in mine if (one := _missing_program(command))})
    if broken:
        words = f"{case.short(broken[0])} is missing or cannot be run: nothing is copied between two sweeps"
        return Check(name, BAD, words, again, fix=repair(case))
    missing = [event for event in _KEEPING if event not in events]
    if missing:
        return Check(name, WARN, f"none for {', '.join(missing)}", again, fix=repair(case))
    double = "; the plugin is enabled as well, which is not needed" if plugin else ""
    return Check(name, OK, f"at {', '.join(sorted(events))}{double}")


def _missing_program(command: str) -> str:
    """The first program of a hook's command that is not there; '' when all are. Our launcher is looked into: it does
    nothing, in silence, where its Python is gone."""
    paths = _absolute(command)
    for path in paths:
        if not os.path.exists(path):
            return path
    for path in [one for one in paths if os.path.basename(one) == launcher.NAME]:
        if not os.access(path, os.X_OK):
            return path
        for line in _text(path).splitlines():
            if line.startswith("exec "):
                gone = [one for one in _absolute(line) if not os.path.exists(one)]
                if gone:
                    return gone[0]
    return ""


def _absolute(line: str) -> list[str]:
    try:
        return [word for word in shlex.split(line) if os.path.isabs(word)]
    except ValueError:
        return []


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(65536)
    except OSError:
        return ""


def _loop(case: Case, home: Home, mine: list[Handler]) -> Check:
    name = case.label("handoff loop", home)
    again = f"{case.name} install --with-handoff"
    events = {event for event, *_ in mine}
    have = [event for event in LOOP if event in events]
    if not have:
        return Check(name, OFF, "a compacted or resumed session is not told where it stood", again)
    missing = [event for event in ("SessionStart", *LOOP) if event not in events]
    if missing:
        return Check(name, WARN, f"half on: none for {', '.join(missing)}", again)
    matchers = [matcher for event, _, _, matcher, _ in mine if event == "SessionStart"]
    unmet = [source for source in _SOURCES if not any(_matches(matcher, source) for matcher in matchers)]
    if unmet:
        return Check(name, WARN, f"on, but not after {', '.join(unmet)}", again)
    return Check(name, OK, "on")


def _matches(matcher: str, source: str) -> bool:
    if matcher in ("", "*"):
        return True
    try:
        return re.search(matcher, source) is not None
    except re.error:
        return False


def _permissions(case: Case, home: Home, settings: dict[str, Any]) -> Check:
    name = case.label("permissions", home)
    rules = settings.get("permissions")
    rules = rules if isinstance(rules, dict) else {}

    def holds(kind: str, line: str) -> bool:
        found = rules.get(kind)
        return isinstance(found, list) and any(f"Bash({line}{end})" in found for end in (" *", ":*"))

    again = f"{case.name} install"
    if holds("deny", case.name):
        return Check(name, WARN, f"an agent may not run {case.name}", "take the rule out of permissions.deny")
    if not holds("allow", case.name):
        return Check(name, OFF, f"an agent has to ask each time it runs {case.name}", again, fix=repair(case))
    unasked = [
        verb for verb in ERASING if not (holds("ask", f"{case.name} {verb}") or holds("deny", f"{case.name} {verb}"))
    ]
    if unasked:
        words = f"an agent may run {case.name} {', '.join(unasked)} without asking"
        return Check(name, WARN, words, again, fix=repair(case))
    return Check(name, OK, "an agent may find and read, and has to ask before it erases")


def _cleanup(case: Case, home: Home, settings: dict[str, Any]) -> Check:
    name = case.label("cleanup", home)
    days = settings.get("cleanupPeriodDays")
    again = f"{case.name} install raises cleanupPeriodDays"
    if "cleanupPeriodDays" not in settings:
        return Check(name, WARN, "the client deletes transcripts after 30 days; copies stay", again, fix=repair(case))
    if not isinstance(days, int) or isinstance(days, bool) or days < 1:
        words = f"cleanupPeriodDays is {days!r}: the client ignores all of its settings for it"
        return Check(name, BAD, words, "make it a whole number of at least 1, without quotes")
    if days < _LONG:
        return Check(name, WARN, f"the client deletes transcripts after {plural(days, 'day')}; copies stay", again)
    return Check(name, OK, f"the client keeps transcripts for {days} days")


def _status_line(case: Case, home: Home, settings: dict[str, Any]) -> Check:
    """There is one a user: somebody's own is left alone."""
    name = case.label("status line", home)
    line = settings.get("statusLine")
    command = line.get("command") if isinstance(line, dict) else None
    if not isinstance(command, str):
        return Check(name, OFF, "none", f"{case.name} install")
    if not re.search(r"\bstatusline\b", command) or not re.search(rf"\b(?:recall|{re.escape(case.name)})\b", command):
        return Check(name, OFF, "another program's, which is left alone")
    gone = _missing_program(command)
    if gone:
        return Check(name, BAD, f"{case.short(gone)} is missing", f"{case.name} install", fix=repair(case))
    return Check(name, OK, "project, address, context")


def _skill(case: Case, home: Home, places: list[str]) -> Check:
    name = case.label("skill", home)
    again = f"{case.name} install"
    for place in places:
        path = os.path.join(place, _SKILL)
        try:
            with open(path, "rb") as file:
                text = file.read()
        except OSError:
            continue
        if not _is_current(case, path, text):
            return Check(name, WARN, f"{case.short(path)} is not the text of this recall", again, fix=repair(case))
        return Check(name, OK, case.short(path))
    return Check(name, OFF, "not installed: an agent does not know recall", again, fix=repair(case))


def _is_current(case: Case, path: str, text: bytes) -> bool:
    """Is this the skill's text as shipped, or as the installer wrote it (under another name of the command)?"""
    try:
        if text == shipped("skills", f"{SKILL}/SKILL.md"):
            return True
    except RecallError:
        return True
    entry = case.journal.file(path) if case.journal and case.journal.name != "recall" else None
    return entry is not None and entry.after == digest(text)


# -- one home of Codex -----------------------------------------------------------------------------------------


def codex(case: Case, home: Home) -> Iterator[Check]:
    path = os.path.join(home.path, "hooks.json")
    read = read_json(path)
    if read.problem:
        yield Check(case.label("hooks", home), BAD, f"{case.short(path)}: {read.problem}", "mend the file by hand")
    else:
        mine = [one for one in handlers((read.value or {}).get("hooks")) if is_ours(case, one[4])]
        config = _read_toml(os.path.join(home.path, "config.toml"))
        features = (config.value or {}).get("features")
        off = isinstance(features, dict) and False in (features.get("hooks"), features.get("codex_hooks"))
        yield _codex_hooks(case, home, mine, config, off=off)
        if mine:
            yield _loop(case, home, mine)
    yield _skill(case, home, [os.path.join(case.settings.home, ".agents"), home.path])


def _codex_hooks(case: Case, home: Home, mine: list[Handler], config: Read, *, off: bool) -> Check:
    base = _hooks(case, home, mine, off=False)
    if not mine or base.state == BAD:
        return base
    if off:
        return base._replace(
            state=WARN, text="installed, but [features] hooks is false", mend=f"take it out of {home.path}/config.toml"
        )
    if config.problem:
        return base._replace(state=BAD, text=f"{home.path}/config.toml: {config.problem}", mend="mend the file by hand")
    trusted = _trusted(config.value or {}, home)
    waiting = [event for event, n, m, _, _ in mine if f"{_snake(event)}:{n}:{m}" not in trusted]
    if waiting:
        words = f"{len(waiting)} of {plural(len(mine), 'hook')} not trusted yet, so that Codex does not run them"
        return Check(
            base.name, WARN, words, "open codex, and answer `Hooks need review` (or type /hooks)", tuple(waiting)
        )
    return base._replace(text=f"{base.text}; trusted") if base.state == OK else base


def _trusted(config: dict[str, Any], home: Home) -> set[str]:
    """Which hooks of this home the user reviewed: `stop:0:0` (event, group, number).

    Codex 0.171 keeps `[hooks.state."<folder>/hooks.json:stop:0:0"] trusted_hash`. That the hash is still that of
    the command is not looked at: how it is made is not published."""
    hooks = config.get("hooks")
    state = hooks.get("state") if isinstance(hooks, dict) else None
    out = set()
    for key, value in (state if isinstance(state, dict) else {}).items():
        path, mark, rest = key.partition("/hooks.json:")
        if not mark or not isinstance(value, dict) or os.path.realpath(path) != os.path.realpath(home.path):
            continue
        if value.get("trusted_hash") and value.get("enabled") is not False:
            out.add(rest)
    return out


def _snake(event: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()


def _read_toml(path: str) -> Read:
    try:
        with open(path, "rb") as file:
            return Read(tomllib.load(file), "")
    except FileNotFoundError:
        return Read(None, "")
    except OSError as problem:
        return Read(None, problem.strerror or str(problem))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        return Read(None, f"no TOML: {problem}")


# -- both ------------------------------------------------------------------------------------------------------


def program(case: Case, client: str) -> Check:
    """Is the client there, by an absolute path? Cards need it, and whoever resumes a session."""
    path = find_program(case, client)
    if path:
        return Check(f"{client} program", OK, path)
    if not any(home.client == client for home in case.homes):
        return Check(f"{client} program", OFF, "not used here")
    mend = f"put {client} on PATH" + ("; the timer finds it by RECALL_CLAUDE_BIN" if client == "claude" else "")
    return Check(f"{client} program", WARN, f"no `{client}` on PATH nor in the usual places", mend)


def find_program(case: Case, client: str) -> str:
    if client == "claude":
        from recall.llm.claude_cli import program

        return program(case.settings)
    found = shutil.which(client)
    if found:
        return os.path.abspath(found)
    places = [os.path.join(place.replace("~", case.settings.home, 1), client) for place in _PLACES]
    return next((path for path in places if os.path.isfile(path) and os.access(path, os.X_OK)), "")


def repair(case: Case) -> Callable[[], str] | None:
    """What runs the install again, as it was chosen; None where its journal says of none."""
    return case.again if case.journal is not None else None
