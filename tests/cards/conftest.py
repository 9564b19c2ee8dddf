"""A home with sessions of the last days, and recall with a model behind it that is a fake."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests import builders
from tests.conftest import Run
from tests.llm.conftest import address, model_api  # noqa: F401

CARD = {
    "title": "Deal export",
    "task": "Export deals to the portal",
    "status": "in_progress",
    "method": "Wrote export.py",
    "next": "Run it on all deals",
    "tags": ["export"],
    "entities": ["portal"],
    "artifacts": ["export.py"],
}
HANDOFF = {
    "title": "Deal export",
    "task": "Export deals to the portal",
    "done": ["export.py reads deals"],
    "in_flight": ["the upload"],
    "next": ["Run export.py on all deals"],
    "gotchas": ["the portal wants UTC"],
}


def session_id(n: int) -> str:
    return f"{n:08x}-0000-4000-8000-000000000000"


def turns(n: int, count: int) -> list[builders.Turn]:
    """A session that exports deals: `count` turns, three events each."""
    tool = ("Write", {"file_path": "export.py", "content": "print(1)"}, "ok")
    return [
        (f"Please export deals {n}.{k} to the portal", f"I wrote export.py, step {k}", [tool]) for k in range(count)
    ]


@pytest.fixture
def sessions(home: Path) -> Callable[..., list[str]]:
    """`sessions(8, turns=6)`: sessions of yesterday, the first one the newest; their ids."""

    def make(count: int, *, turns_each: int = 6, first: int = 1, minutes: int = 0, **more: Any) -> list[str]:
        out = []
        for n in range(first, first + count):
            moment = datetime.now(UTC) - timedelta(days=1, minutes=n + minutes)
            builders.claude_session(
                home, f"crm{n}", session_id(n), turns(n, turns_each), start=moment.isoformat(), **more
            )
            out.append(session_id(n))
        return out

    return make


@pytest.fixture
def with_model(run_recall: Run, model_api: Any, address: str) -> Run:  # noqa: F811
    """As `run_recall`, with the SDK as the engine and the fake behind it, which answers with cards and handoffs."""
    pytest.importorskip("anthropic", reason="the extra `api` is not installed")
    model_api.script.load(ANSWERS)

    def run(*args: object, **settings: Any) -> Any:
        variables = {"RECALL_LLM": "api", "ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "test-key"}
        return run_recall(*args, **{**variables, **settings})

    return run


ANSWERS: dict[str, Any] = {
    "rules": [{"when": {"any": '"gotchas"'}, "reply": {"structured": HANDOFF}}],
    "default": {"structured": CARD, "usage": {"input_tokens": 10_000, "output_tokens": 200}},
}


def fail(**fault: Any) -> dict[str, Any]:
    """A script whose every answer is this fault."""
    return {"default": {"fault": fault}}


def ledger(home: Path) -> list[dict[str, Any]]:
    path = home / ".claude/recall/ledger.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def cards(home: Path) -> dict[str, str]:
    """Session id -> text of its card."""
    folder = home / ".claude/session-recaps"
    return {path.stem: path.read_text() for path in folder.glob("*-*.md")}
