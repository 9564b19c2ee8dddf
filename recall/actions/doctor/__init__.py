"""Is everything as it should be? A list of checks, each small; and mending what can be mended safely.

Looking writes nothing. A check that fails for a reason of its own says so, and does not stop the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from recall.actions.doctor import indexed, installed, keeping, machine, models, terminals
from recall.actions.doctor.case import Case
from recall.actions.doctor.check import BAD, WARN, Check
from recall.actions.machine import Machine
from recall.errors import RecallError
from recall.settings import Settings
from recall.store import is_of_index

__all__ = ["BAD", "WARN", "Check", "Finding", "Mended", "examine", "mend"]


class Finding(NamedTuple):
    """One check of one group."""

    group: str
    check: Check


class Mended(NamedTuple):
    """What was done about a check, or why it could not be."""

    name: str
    text: str
    done: bool


def examine(
    settings: Settings,
    now: float,
    name: str,
    machine: Machine | None = None,
    again: Callable[[], str] | None = None,
    env: Mapping[str, str] | None = None,
) -> list[Finding]:
    """All checks, group by group. `now` in seconds since the epoch; `name` is what recall is called here; `again` runs the
    install once more, as it was chosen, and says what it did; `env` is what terminals are looked for by."""
    case = Case(settings, now, name, machine, again, env)
    try:
        return list(_all(case))
    finally:
        case.close()


def mend(findings: list[Finding]) -> list[Mended]:
    """Do what is safe about those that are not as they should be; look again afterwards."""
    out: list[Mended] = []
    done: list[Callable[[], str]] = []  # one run of the install mends several checks
    for _, check in findings:
        if check.fix is None or check.fix in done:
            continue
        done.append(check.fix)
        try:
            out.append(Mended(check.name, check.fix(), True))
        except (RecallError, OSError) as problem:
            out.append(Mended(check.name, getattr(problem, "message", "") or str(problem), False))
    return out


def _all(case: Case) -> Iterator[Finding]:
    for function in keeping.CHECKS:
        yield Finding("archive", _one(function, case))
    for function in indexed.CHECKS:
        yield Finding("index", _one(function, case))
    for client in ("claude", "codex"):
        yield Finding("clients", installed.program(case, client))
    for home in case.homes:
        for check in (installed.claude if home.client == "claude" else installed.codex)(case, home):
            yield Finding("clients", check)
    for function in models.CHECKS:
        yield Finding("model", _one(function, case))
    for function in terminals.CHECKS:
        yield Finding("terminals", _one(function, case))
    for function in machine.CHECKS:
        yield Finding("machine", _one(function, case))


def _one(function: Callable[[Case], Check], case: Case) -> Check:
    try:
        return function(case)
    except RecallError as problem:
        return Check(function.__name__, BAD, problem.message, problem.hint)
    except OSError as problem:
        return Check(function.__name__, BAD, f"{problem.filename or 'a file'}: {problem.strerror or problem}")
    except Exception as problem:
        if not is_of_index(problem):
            raise
        return Check(function.__name__, BAD, f"cannot be told, the index is damaged: {problem}", f"{case.name} reindex")
