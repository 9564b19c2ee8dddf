"""Who writes cards and handoffs, what that cost, and what is left of the budget."""

from __future__ import annotations

import importlib.util

from recall.actions.doctor.case import Case
from recall.actions.doctor.check import OFF, OK, WARN, Check, ago, plural
from recall.llm import engine_of
from recall.llm.ledger import Ledger
from recall.llm.pauses import EVERYTHING, Pauses

_DAY = 86400.0
_LAST = 5  # calls that all have to fail before that is worth a word


def engine(case: Case) -> Check:
    settings = case.settings
    if settings.llm == "none":
        return Check("engine", OFF, "none, by setting: cards are made by code only")
    found = engine_of(settings)
    if found == "none":
        mend = "install Claude Code, or set llm and what it needs in the settings"
        return Check("engine", OFF, "no model: cards are made by code only", mend)
    if found == "api" and importlib.util.find_spec("anthropic") is None:
        return Check(
            "engine",
            WARN,
            "api, but the package anthropic is missing",
            "pip install anthropic into recall's environment",
        )
    if found == "claude":
        from recall.llm.claude_cli import program

        if not program(settings):
            return Check(
                "engine", WARN, "claude, but Claude Code was not found", "put claude on PATH, or set claude_bin"
            )
    pause = Pauses(settings.state).until(EVERYTHING)
    if pause > case.now:
        minutes = int((pause - case.now) // 60) + 1
        words = f"{found}, {settings.model}; paused for {plural(minutes, 'minute')} since every call failed"
        return Check("engine", WARN, words, f"{case.name} recap last says why")
    return Check("engine", OK, f"{found}, {settings.model}")


def calls(case: Case) -> Check:
    """Calls and cost of the last 30 days."""
    found = list(Ledger(case.settings.state).calls(case.now - 30 * _DAY))
    if not found:
        return Check("model calls", OK, "none in 30 days")
    failed = [call for call in found if not call.ok]
    cost = sum(call.cost for call in found)
    words = f"{plural(len(found), 'call')} in 30 days, {len(failed)} failed, ${cost:.4f}; the last one {ago(found[-1].time, case.now)}"
    last = found[-_LAST:]
    if len(last) == _LAST and not any(call.ok for call in last):
        return Check(
            "model calls", WARN, f"{words}; the last {_LAST} failed ({last[-1].error})", _MEND.get(last[-1].error, "")
        )
    return Check("model calls", OK, words)


_MEND = {
    "auth": "log in: start claude once",
    "missing": "put claude on PATH, or set claude_bin",
    "rate": "the limit of the plan is reached: wait",
}


def budget(case: Case) -> Check:
    most = case.settings.max_llm_per_day
    used = Ledger(case.settings.state).last_day(case.now)
    left = max(0, most - used)
    words = f"{left} of {plural(most, 'call')} left in these 24 hours"
    if not left and most:
        return Check("budget", WARN, words, "wait, or raise RECALL_MAX_LLM_PER_DAY")
    return Check("budget", OK if most else OFF, words)


CHECKS = (engine, calls, budget)
