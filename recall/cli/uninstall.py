"""`recall uninstall`: what `recall install` did is taken back; what was kept stays."""

from __future__ import annotations

import os
import sys

from recall.actions import uninstall as action
from recall.actions.journal import Journal
from recall.actions.machine import of
from recall.cli.install import diff, short
from recall.cli.options import Opt, build
from recall.core.plain import plain
from recall.files import Lock
from recall.settings import Settings, load

OPTIONS = (Opt(("--dry-run",), "dry_run", "flag", "Show every change, and make none."),)


def __getattr__(name: str) -> object:
    if name == "command":
        return build("uninstall", OPTIONS, run)
    raise AttributeError(name)


def run(*, dry_run: bool) -> int:
    """Take back what `recall install` did: hooks, permission rules, settings, the skill, the timer.

    A file that nobody changed since gets its old bytes again; from others only our own entries are removed. Copies of
    transcripts, cards and the index stay. The program itself goes with `./install.sh --uninstall`.

    \b
      recall uninstall --dry-run
      recall uninstall
    """
    settings = load()
    machine = of(os.environ, settings.home, sys.platform)
    if dry_run:
        todo = action.plan(settings, machine)
        for back in todo.backs:
            if back.link:
                print(plain(f"link {back.before.path} -> {back.link}"))
            else:
                sys.stdout.write(diff(back.before.path, back.before.data, back.data))
        if todo.crontab:
            sys.stdout.write(diff("crontab", *todo.crontab))
        if todo.timer:
            print(f"stop the {todo.timer} timer")
    elif os.path.isdir(settings.state):
        with Lock(os.path.join(settings.state, "install.lock")):
            todo = action.plan(settings, machine)
            action.apply(todo, settings, machine)
        for back in todo.backs:
            print(plain(f"  {short(back.before.path, settings.home)}: {_words(back)}"))
        if todo.timer:
            print(f"  timer ({todo.timer}): off")
    else:
        todo = action.Plan(Journal())
    for words in todo.stays:
        print(plain(f"  note: {words}"))
    for start, end in todo.journal.moved:
        print(plain(f"  note: what was in {start} is in {end}"))
    for path, words in todo.left:
        print(plain(f"recall: {path}: {words}"), file=sys.stderr)
    if todo.empty:
        print("Nothing is installed.")
    if dry_run:
        print("Nothing was changed.")
    else:
        print(_kept(settings))
    return 5 if todo.left else 0


def _kept(settings: Settings) -> str:
    """What stays, as far as it is there: nobody shall look for what never was."""
    index = os.path.join(settings.state, "index.db")
    places = (
        ("copies", settings.archive, settings.archive),
        ("cards", settings.data, settings.data),
        ("index", settings.state, index),
    )
    kept = [f"{what} in {short(place, settings.home)}" for what, place, sign in places if os.path.exists(sign)]
    return plain(f"Kept: {', '.join(kept)}" if kept else "There were no copies, cards or index to keep.")


def _words(back: action.Back) -> str:
    if back.link:
        return "the link is back"
    if back.data is None:
        return "removed"
    if back.entry is not None and not back.entry.edits:
        return "as it was"
    return "our entries removed"
