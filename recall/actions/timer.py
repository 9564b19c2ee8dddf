"""What starts `recall sweep` every half hour: a LaunchAgent, a systemd user timer, or a line for cron.

All three start one script, which sets the environment, keeps the log small and writes down when it ran. `kind_here` says
which of them this machine has; `files` and `cron_line` are values, so that a dry run can show them.
"""

from __future__ import annotations

import os
import re
import shlex
from typing import NamedTuple
from xml.sax.saxutils import escape

from recall.actions.journal import load
from recall.actions.machine import Machine
from recall.actions.shipped import shipped
from recall.errors import RecallError
from recall.settings import Settings

LABEL = "recall.sweep"
UNIT = "recall-sweep"
CRON_MARK = b"# recall-sweep"
LATE = 2 * 3600
"""Seconds after which a timer that should run each half hour is late; a machine may sleep longer."""


def kind_here(machine: Machine) -> str:
    """'launchd', 'systemd' or 'cron'; '' where this machine has none of them."""
    if machine.platform == "darwin":
        return "launchd"
    if machine.run(["systemctl", "--user", "show-environment"], b"").status == 0:
        return "systemd"
    # Status 1 is also what `crontab -l` says where the user has no table yet.
    return "cron" if machine.run(["crontab", "-l"], b"").status in (0, 1) else ""


def script_path(machine: Machine) -> str:
    return os.path.join(machine.share, "recall-sweep")


def script(settings: Settings, machine: Machine, python: str) -> bytes:
    """The script that every timer starts."""
    told = {"HOME": machine.home, "PATH": machine.full_path, **machine.variables}
    exports = "\n".join(f"export {name}={shlex.quote(value)}" for name, value in told.items())
    return _fill(
        shipped("launchagents", "recall-sweep"),
        EXPORTS=exports,
        STATE=shlex.quote(settings.state),
        PYTHON=shlex.quote(python),
    )


def files(kind: str, machine: Machine) -> dict[str, bytes]:
    """The files that a kind of timer needs besides the script: path -> bytes."""
    at = script_path(machine)
    if kind == "launchd":
        text = _fill(
            shipped("launchagents", f"{LABEL}.plist"), LABEL=LABEL, SCRIPT=escape(at), PATH=escape(machine.full_path)
        )
        return {plist_path(machine): text}
    if kind == "systemd":
        folder = os.path.join(machine.config_home, "systemd", "user")
        service = _fill(shipped("launchagents", f"{UNIT}.service"), SCRIPT=_for_systemd(at))
        return {
            os.path.join(folder, f"{UNIT}.service"): service,
            os.path.join(folder, f"{UNIT}.timer"): shipped("launchagents", f"{UNIT}.timer"),
        }
    return {}


def plist_path(machine: Machine) -> str:
    return os.path.join(machine.home, "Library", "LaunchAgents", f"{LABEL}.plist")


def cron_line(machine: Machine) -> bytes:
    """The line for crontab, with its end."""
    at = shlex.quote(script_path(machine)).replace("%", "\\%")
    return _fill(shipped("launchagents", f"{UNIT}.cron"), SCRIPT=at)


def crontab(machine: Machine) -> bytes:
    """The user's table as it is; empty where there is none."""
    ran = machine.run(["crontab", "-l"], b"")
    return ran.out if ran.status == 0 else b""


def with_line(table: bytes, line: bytes) -> bytes:
    """The table with our line at its end, once."""
    if line in table.splitlines(keepends=True):
        return table
    rest = without_line(table)
    return rest + (b"" if not rest or rest.endswith(b"\n") else b"\n") + line


def without_line(table: bytes) -> bytes:
    """The table without lines of ours."""
    lines = table.splitlines(keepends=True)
    return b"".join(line for line in lines if not line.rstrip().endswith(CRON_MARK))


def write_crontab(machine: Machine, table: bytes) -> str:
    """Put a table in place, or remove it where it is empty; '' or what cron said."""
    ran = machine.run(["crontab", "-"], table) if table else machine.run(["crontab", "-r"], b"")
    return "" if ran.status == 0 else f"crontab: {ran.said.decode('utf-8', 'replace').strip()[:200]}"


def start(kind: str, machine: Machine) -> str:
    """Switch on the timer whose files are in place; '' or what went wrong, in one line."""
    if kind == "launchd":
        return _bootstrap(machine, LABEL, plist_path(machine))
    if kind == "systemd":
        for step in (["daemon-reload"], ["enable", "--now", f"{UNIT}.timer"]):
            ran = machine.run(["systemctl", "--user", *step], b"")
            if ran.status:
                return f"systemctl --user {' '.join(step)}: {ran.said.decode('utf-8', 'replace').strip()[:200]}"
    return ""


def stop(kind: str, machine: Machine) -> None:
    """Switch off the timer, before its files go. One that is not on is no trouble."""
    if kind == "launchd":
        bootout(machine, LABEL)
    elif kind == "systemd":
        machine.run(["systemctl", "--user", "disable", "--now", f"{UNIT}.timer"], b"")


def forget(kind: str, machine: Machine) -> None:
    """After the files went."""
    if kind == "systemd":
        machine.run(["systemctl", "--user", "daemon-reload"], b"")


def bootout(machine: Machine, label: str) -> None:
    for domain in ("gui", "user"):
        machine.run(["launchctl", "bootout", f"{domain}/{machine.uid}/{label}"], b"")


def _bootstrap(machine: Machine, label: str, plist: str) -> str:
    """Loading a label that is loaded fails, and unloading takes a moment: so out first, then some tries."""
    bootout(machine, label)
    said = b""
    for attempt in range(4):
        if attempt:
            machine.wait(0.5)
        for domain in ("gui", "user"):  # gui/ is there only for a login at the screen, not over ssh
            ran = machine.run(["launchctl", "bootstrap", f"{domain}/{machine.uid}", plist], b"")
            if ran.status == 0:
                return ""
            said = ran.said
    return f"launchctl bootstrap: {said.decode('utf-8', 'replace').strip()[:200]}; it starts with the next login"


class TimerState(NamedTuple):
    """How it stands with the timer: `kind` ('' where none is installed), `on` (None: cannot be told), times in seconds
    since 1970 (0: never), `status` of the last sweep (None: never ran), `why` it does not run, '' where it does."""

    kind: str
    on: bool | None
    began: float
    ended: float
    status: int | None
    why: str


def state(settings: Settings, machine: Machine, now: float) -> TimerState:
    """When the timer last ran, and why it does not where it does not."""
    began, ended, status = _last(settings)
    try:
        journal = load(settings.state)
    except RecallError as problem:
        return TimerState("", None, began, ended, status, problem.message)
    if journal is None or not journal.timer:
        return TimerState("", False, began, ended, status, "none is installed")
    kind = journal.timer
    missing = [path for path in (script_path(machine), *files(kind, machine)) if not os.path.exists(path)]
    on, why = (False, f"{missing[0]} is gone") if missing else state_of(kind, machine)
    if not why and status not in (None, 0, 5):
        why = f"the last sweep failed (status {status}): see {os.path.join(settings.state, 'sweep.log')}"
    elif not why and began and now - began > LATE:
        why = f"it has not run for {int((now - began) / 3600)} hours: was the machine off?"
    return TimerState(kind, on, began, ended, status, why)


def state_of(kind: str, machine: Machine) -> tuple[bool | None, str]:
    """Is a kind of timer switched on (None: cannot be told), and if not, why."""
    if kind == "launchd":
        for domain in ("gui", "user"):
            if machine.run(["launchctl", "print", f"{domain}/{machine.uid}/{LABEL}"], b"").status == 0:
                return True, ""
        return False, f"launchd does not know {LABEL}"
    if kind == "systemd":
        ran = machine.run(["systemctl", "--user", "is-active", f"{UNIT}.timer"], b"")
        if ran.status == 0:
            return True, ""
        if ran.out.strip() in (b"inactive", b"failed", b"unknown"):
            return False, f"{UNIT}.timer is not active: systemctl --user enable --now {UNIT}.timer"
        return None, "the user's systemd does not answer"
    table = crontab(machine)
    if cron_line(machine) in table.splitlines(keepends=True):
        return True, ""
    return False, "its line is gone from crontab"


def _last(settings: Settings) -> tuple[float, float, int | None]:
    try:
        with open(os.path.join(settings.state, "timer.last"), "rb") as file:
            began, ended, status = file.read(200).split()
        return float(began), float(ended), int(status)
    except (OSError, ValueError):
        return 0.0, 0.0, None


def _for_systemd(path: str) -> str:
    """One argument of ExecStart: quoted, and free of what systemd would expand."""
    quoted = path.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{quoted}"'


def _fill(template: bytes, **values: str) -> bytes:
    """The template with each @NAME@ replaced; what a value holds is not looked at again."""
    text = template.decode("utf-8")
    filled = re.sub(r"@([A-Z]+)@", lambda found: values[found[1]], text)
    return filled.encode("utf-8", "surrogateescape")
