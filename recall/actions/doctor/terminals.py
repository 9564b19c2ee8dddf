"""Where sessions are opened, and whether open ones can be driven."""

from __future__ import annotations

from recall.actions import iterm_install
from recall.actions.doctor.case import Case
from recall.actions.doctor.check import OFF, OK, WARN, Check
from recall.errors import RecallError
from recall.terminals import DRIVEN, iterm2_bridge
from recall.terminals.choose import choose, named


def terminal(case: Case) -> Check:
    """What `open` would use from here."""
    try:
        found = choose(case.settings.terminal, case.env)
    except RecallError as problem:
        return Check("terminal", WARN, problem.message, problem.hint)
    if found is None:
        return Check("terminal", OFF, "none that a window can be opened in from here: `open` prints the command")
    driven = named(found.name) in DRIVEN
    return Check("terminal", OK, f"{found.name}; its sessions can {'' if driven else 'not '}be read and typed into")


def bridge(case: Case) -> Check:
    """The script in iTerm2 that sessions there are driven by."""
    there = iterm_install.ours(case.settings)
    if not there and not iterm2_bridge.runs(case.env):
        return Check("iterm2", OFF, "iTerm2 does not run here")
    if not there:
        return Check("iterm2", WARN, "sessions in iTerm2 cannot be driven", f"{case.name} iterm-install")
    try:
        told = iterm2_bridge.hello(case.env)
    except RecallError as problem:
        return Check("iterm2", WARN, problem.message, problem.hint)
    return Check("iterm2", OK, f"the bridge answers (package iterm2 {told.get('library') or 'of an unknown version'})")


CHECKS = (terminal, bridge)
