"""The model is asked once about a session, however many processes want to: a hook's recap, a sweep, a person."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall.actions.asking import Asking, NotAsked
from recall.settings import load
from tests.cards.conftest import ANSWERS, CARD, cards, ledger
from tests.conftest import ROOT, Run

Make = Callable[..., list[str]]
Start = Callable[..., "subprocess.Popen[str]"]

WAYS = {
    "recap": ("recap", "{}", "--worth", "--quiet"),  # as SessionEnd starts it
    "by hand": ("recap", "{}", "--force"),
    "sweep": ("sweep",),
    "backfill": ("backfill", "--min-events", "1"),
}


@pytest.fixture
def start(home: Path, address: str, with_model: Run) -> Start:
    """`start("recap", ID)`: recall with the fake model behind it, not waited for."""

    def begin(*args: str) -> subprocess.Popen[str]:
        env = {
            "HOME": str(home),
            "PATH": os.environ.get("PATH", os.defpath),
            "PYTHONPATH": str(ROOT),
            "RECALL_LLM": "api",
            "ANTHROPIC_BASE_URL": address,
            "ANTHROPIC_API_KEY": "test-key",
        }
        argv = [sys.executable, "-m", "recall", *args]
        return subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return begin


def slow(seconds: float) -> dict[str, Any]:
    """The usual answers, late: long enough for another process to come to the same point."""
    rules = [{**rule, "reply": {**rule["reply"], "delay": seconds}} for rule in ANSWERS["rules"]]
    return {"rules": rules, "default": {**ANSWERS["default"], "delay": seconds}}


@pytest.mark.parametrize(
    ("first", "second"),
    [("recap", "sweep"), ("sweep", "backfill"), ("backfill", "recap"), ("recap", "by hand"), ("by hand", "by hand")],
)
def test_two_processes_ask_once(
    home: Path, sessions: Make, with_model: Run, start: Start, model_api: Any, first: str, second: str
) -> None:
    """While one waits for its answer the other leaves the session out; the card is that answer, in the ledger once."""
    (session,) = sessions(1)
    with_model("sweep", "--no-llm")
    model_api.script.load(slow(1.5))
    running = [start(*(word.format(session) for word in WAYS[way])) for way in (first, second)]
    said = [process.communicate(timeout=60) for process in running]
    assert all("Traceback" not in err for _, err in said), said
    asked = [body for body in (one["body"] for one in model_api.requests) if body and "catalogue card" in str(body)]
    calls = [call for call in ledger(home) if call["what"] == "card"]
    if "by hand" in (first, second):  # --force asks again, once the first one is through
        assert len(asked) == len(calls) <= 2
    else:
        assert (len(asked), len(calls)) == (1, 1)
    assert "written_by: claude-haiku-5-5" in cards(home)[session]
    assert str(CARD["task"]) in cards(home)[session]


def test_many_at_once(home: Path, sessions: Make, with_model: Run, start: Start, model_api: Any) -> None:
    """Six recaps of one session: one request."""
    (session,) = sessions(1)
    with_model("sweep", "--no-llm")
    model_api.script.load(slow(1.0))
    running = [start("recap", session, "--worth", "--quiet") for _ in range(6)]
    for process in running:
        process.communicate(timeout=60)
    assert [process.returncode for process in running] == [0] * 6
    assert len(model_api.requests) == 1
    assert "written_by: claude-haiku-5-5" in cards(home)[session]


def test_what_another_wrote_meanwhile_is_not_asked_for(home: Path, with_model: Run, model_api: Any) -> None:
    """Who comes after the other is through looks again before it asks; a run may ask about its own sessions again."""
    settings = load({"HOME": str(home), "RECALL_LLM": "api"})
    mine, other = (Asking(settings, lambda: 1e9) for _ in range(2))
    schema: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}

    def ask(asking: Asking, what: str = "card", wanted: bool = True) -> str:
        model_api.script.load(ANSWERS)
        try:
            asking.ask("a-session", what, "s", "p", schema, max_tokens=100, wanted=lambda: wanted)
        except NotAsked as reason:
            return reason.why
        return ""

    assert ask(mine, wanted=False) == "busy"
    assert mine.used == 0
    assert ask(other) == "busy"
    assert ask(other, what="handoff", wanted=False) == "busy"
    mine.end()
    assert ask(other, wanted=False) == "busy"
    assert other.used == 0
    assert not model_api.requests
