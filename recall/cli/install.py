"""`recall install`: hooks, permissions, the skill and the timer, for every client that is here."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import sys
from glob import escape, glob

import recall
from recall import __version__
from recall.actions import install as action
from recall.actions import journal as book
from recall.actions.machine import Machine, of
from recall.cli import ALIASES, COMMANDS
from recall.cli.options import Opt, build
from recall.core.plain import plain
from recall.errors import Usage
from recall.files import Lock
from recall.settings import load

OPTIONS = (
    Opt(
        ("--with-handoff", "--without-handoff"),
        "handoff",
        "switch",
        "Tell a compacted or resumed session where it stood.",
    ),
    Opt(("--no-hooks",), "no_hooks", "flag", "No hooks: where recall runs as a plugin, or by timer only."),
    Opt(("--no-timer",), "no_timer", "flag", "No timer."),
    Opt(("--name",), "name", "text", "The command's name, where `recall` is taken.", "NAME"),
    Opt(("--dry-run",), "dry_run", "flag", "Show every change, and make none."),
)

QUESTION = """\
The handoff loop: when a session was compacted or is resumed, recall gives it
a short note of where it stood (task, what is in flight, next step; at most
2,000 characters, marked as history). Switch it on? [y/N] """


def __getattr__(name: str) -> object:
    if name == "command":
        return build("install", OPTIONS, run)
    raise AttributeError(name)


def run(*, handoff: bool | None, no_hooks: bool, no_timer: bool, name: str | None, dry_run: bool) -> int:
    """Add hooks, permission rules, the skill and a timer for Claude Code and Codex, as far as they are here.

    Every edit is written down first, and `recall uninstall` takes back exactly those. A file that cannot be
    read safely is refused, and then nothing at all is changed. Twice is once; another choice of options replaces
    the earlier one.

    \b
      recall install --dry-run     a diff of every file
      recall install --with-handoff
    """
    settings = load()
    machine = of(os.environ, settings.home, sys.platform)
    known = book.load(settings.state)
    called = name or (known.name if known else "recall")
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", called):
        raise Usage(f"'{called}' cannot be the name of a command", "use letters, digits, - and _")
    python, package = program_of(machine, dry_run)
    with Lock(os.path.join(settings.state, "install.lock")) if not dry_run else contextlib.nullcontext():
        wish = action.Wish(
            name=called,
            program=os.path.join(machine.bin, called),
            python=python,
            package=package,
            commands=frozenset((*COMMANDS, *ALIASES)),
            version=__version__,
            hooks=not no_hooks,
            timer=not no_timer,
            handoff=False,
        )
        action.plan(settings, machine, wish)  # what is refused is refused before anything is asked
        wish = wish._replace(handoff=_handoff(handoff, known, not no_hooks and not dry_run))
        todo = action.plan(settings, machine, wish)
        if dry_run:
            show(todo)
            return 0
        trouble = action.apply(todo, settings, machine)
    tell(todo, settings.home)
    for word in trouble:
        print(plain(f"recall: {word}"), file=sys.stderr)
    return 4 if trouble else 0


def program_of(machine: Machine, dry_run: bool) -> tuple[str, str]:
    """The Python that hooks and timer run, and the folder of its package `recall`: those of the installed program.

    Run from a checkout they are this process's own; but a dry run, which the installer may call before there is a
    program, shows where they will be.
    """
    venv = os.path.join(machine.share, "venv")
    own = os.path.dirname(os.path.abspath(recall.__file__))
    if not own.startswith(venv + "/") and not dry_run:
        return sys.executable, own
    lib = os.path.join("lib", f"python{sys.version_info[0]}.{sys.version_info[1]}", "site-packages", "recall")
    there = glob(os.path.join(escape(venv), "lib", "python3*", "site-packages", "recall"))
    package = own if own.startswith(venv + "/") else next(iter(there), os.path.join(venv, lib))
    return os.path.join(venv, "bin", "python"), package


def _handoff(typed: bool | None, known: book.Journal | None, ask: bool) -> bool:
    """What was typed, else what was chosen before, else what a person at the terminal says; else no."""
    if typed is not None:
        return typed
    if known is not None:
        return known.handoff
    if not ask or not sys.stdin.isatty() or not sys.stderr.isatty():
        return False
    sys.stderr.write(QUESTION)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes", "j", "ja", "д", "да", "是")


def tell(todo: action.Plan, home: str) -> None:
    """What was done, a line a place; then what is left to do."""
    for place, words in dict.fromkeys(todo.lines):
        print(plain(f"  {short(place, home)}: {words}"))
    for note in dict.fromkeys(todo.notes):
        print(plain(f"  note: {note}"))


def short(path: str, home: str) -> str:
    return "~" + path[len(home) :] if path.startswith(home + "/") else path


def show(todo: action.Plan) -> None:
    """The plan as a diff, and in words."""
    for change in todo.changes:
        path = change.before.path
        if change.link:
            print(plain(f"--- {path} (a link to {change.link})\n+++ removed"))
        elif change.before.data is None and change.after and path.endswith(".md"):
            print(plain(f"--- /dev/null\n+++ {path} ({len(change.after.splitlines())} lines)"))
        else:
            sys.stdout.write(diff(path, change.before.data, change.after))
    if todo.crontab:
        sys.stdout.write(diff("crontab", *todo.crontab))
    for start, end in todo.moves:
        print(plain(f"move {start} -> {end}"))
    for label in todo.unload:
        print(plain(f"run  launchctl bootout {label}"))
    if todo.was_timer and todo.was_timer != todo.timer:
        print(f"stop the {todo.was_timer} timer")
    if todo.start:
        print(f"start the {todo.timer} timer")
    for note in dict.fromkeys(todo.notes):
        print(plain(f"note: {note}"))
    print("Nothing to change." if todo.empty else "Nothing was changed.")


def diff(path: str, old: bytes | None, new: bytes | None) -> str:
    """A unified diff as text; carriage returns are shown, other control characters are not printed."""

    def lines(data: bytes | None) -> list[str]:
        text = (data or b"").decode("utf-8", "replace").replace("\r", "␍")
        return [plain(line) for line in text.removesuffix("\n").split("\n")] if text else []

    names = (path if old is not None else "/dev/null", path if new is not None else "/dev/null")
    return "".join(
        line.rstrip("\n") + "\n" for line in difflib.unified_diff(lines(old), lines(new), *names, lineterm="")
    )
