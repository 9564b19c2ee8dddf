"""`recall doctor`: is everything as it should be; `recall doctor ID`: why a session is or is not found."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial

import click

from recall import __version__
from recall.actions.doctor import BAD, WARN, Finding, Mended, examine, mend
from recall.actions.machine import Machine, of
from recall.cli import ALIASES, COMMANDS, program
from recall.cli.app import App
from recall.cli.output import colored, print_json
from recall.core.plain import one_line
from recall.errors import Refused, Unavailable, Usage
from recall.files import Lock
from recall.settings import Settings

_DAMAGED = 5
_MARKS = {"ok": ("✓", "32"), "warn": ("!", "33"), "bad": ("✗", "31"), "off": ("–", "2")}


@click.command("doctor")
@click.argument("session", metavar="[ID]", required=False)
@click.option("--fix", is_flag=True, help="Mend what can be mended safely, say what was done, then look again.")
@click.option("--json", "as_json", is_flag=True, help="The checks as JSON.")
def command(session: str | None, fix: bool, as_json: bool) -> int:
    """Check everything that recall needs: archive, index, hooks, timer, model, permissions.

    Each line is one check: ok, warn (works, but not as it could), bad (damaged, unreadable or not working) or off
    (not in use), and how to mend it. Exit status 5 where something is bad, else 0.

    With ID (any unique beginning of one, `last` or `.`): why `find` shows that session or does not; exit status 1
    where nothing at all is known of it.

    \b
      recall doctor
      recall doctor --fix
      recall doctor 3f2a     why is that session not found?
    """
    app = App.from_environment()
    if session is not None:
        if fix:
            raise Usage("--fix goes without an ID", "recall doctor --fix")
        return _why(app, session, as_json=as_json)
    machine = of(os.environ, app.settings.home, sys.platform)

    def look() -> list[Finding]:
        again = partial(_install_again, app.settings, machine)
        return examine(app.settings, app.now.timestamp(), program(), machine, again, os.environ)

    findings = look()
    mended = mend(findings) if fix else []
    if mended:
        findings = look()
    bad = any(check.state == BAD for _, check in findings)
    if as_json:
        print_json(_document(findings, mended if fix else None, ok=not bad))
    else:
        _print(findings, mended, fix=fix, color=colored(app.settings))
    return _DAMAGED if bad else 0


def _install_again(settings: Settings, machine: Machine) -> str:
    """Run the install once more, as its journal says that it was chosen."""
    from recall.actions import install
    from recall.actions.journal import load
    from recall.cli.install import program_of

    python, package = program_of(machine, False)
    with Lock(os.path.join(settings.state, "install.lock")):
        journal = load(settings.state)
        if journal is None:
            raise Refused("nothing was installed", "recall install")
        wish = install.Wish(
            name=journal.name,
            program=os.path.join(machine.bin, journal.name),
            python=python,
            package=package,
            commands=frozenset((*COMMANDS, *ALIASES)),
            version=__version__,
            hooks=journal.hooks,
            timer=bool(journal.timer),
            handoff=journal.handoff,
        )
        todo = install.plan(settings, machine, wish)
        changed = [change.before.path for change in todo.changes]
        trouble = install.apply(todo, settings, machine)
    if trouble:
        raise Unavailable(trouble[0])
    return f"installed again: {', '.join(changed)}" if changed else "installed again: nothing was missing"


def _print(findings: Sequence[Finding], mended: Sequence[Mended], *, fix: bool, color: bool) -> None:
    for one in mended:
        print(f"{'fixed' if one.done else 'not fixed'}: {one_line(one.name)}: {one_line(one.text)}")
    if fix:
        print("" if mended else "nothing to fix\n")
    last = ""
    for group, check in findings:
        if group != last:
            print(("\n" if last else "") + (f"\x1b[1m{group}\x1b[0m" if color else group))
        last = group
        print(f"  {_mark(check.state, color=color)} {one_line(check.name)}: {one_line(check.text)}")
        quiet = "\x1b[2m{}\x1b[0m" if color else "{}"
        for line in check.details:
            print(quiet.format(f"       {one_line(line)}"))
        if check.mend and check.state != "ok":
            print(quiet.format(f"       mend: {one_line(check.mend)}"))
    print()
    print(_summary(findings, fix=fix))


def _mark(state: str, *, color: bool) -> str:
    if not color:
        return f"{state:<4}"
    mark, number = _MARKS[state]
    return f"\x1b[{number}m{mark}\x1b[0m   "


def _summary(findings: Sequence[Finding], *, fix: bool) -> str:
    counts = {state: sum(1 for _, check in findings if check.state == state) for state in (BAD, WARN)}
    parts = [f"{count} {state}" for state, count in counts.items() if count]
    if not parts:
        return "all well"
    fixable = sum(1 for _, check in findings if check.fix is not None)
    more = f"; `{program()} doctor --fix` can mend {fixable}" if fixable and not fix else ""
    return ", ".join(parts) + more


def _document(findings: Sequence[Finding], mended: Sequence[Mended] | None, *, ok: bool) -> dict[str, object]:
    out: dict[str, object] = {
        "schema": 1,
        "ok": ok,
        "checks": [
            {
                "group": group,
                "name": one_line(check.name),
                "state": check.state,
                "text": one_line(check.text),
                "mend": one_line(check.mend) if check.state != "ok" else "",
                "details": [one_line(line) for line in check.details],
                "fixable": check.fix is not None,
            }
            for group, check in findings
        ],
    }
    if mended is not None:
        out["fixed"] = [{"name": one.name, "text": one_line(one.text), "done": one.done} for one in mended]
    return out


def _why(app: App, typed: str, *, as_json: bool) -> int:
    from recall.actions.why import why

    found = why(app.settings, app.shelf, typed, live=app.live, resolve=app.resolve, name=program())
    if as_json:
        print_json(
            {
                "schema": 1,
                "id": found.id,
                "client": found.client,
                "found": found.found,
                "line": one_line(found.line),
                "reasons": [
                    {"kind": one.kind, "text": one_line(one.text), "mend": one_line(one.mend)} for one in found.reasons
                ],
            }
        )
        return 0
    print(one_line(found.line) if found.line else found.id)
    print(f"{program()} find {'shows it' if found.found else 'does not show it'}")
    for one in found.reasons:
        print(f"  {one.kind}: {one_line(one.text)}")
        if one.mend:
            print(f"       mend: {one_line(one.mend)}")
    return 0
