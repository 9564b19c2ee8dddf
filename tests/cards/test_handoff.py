"""`recall handoff`: where a session stood."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cards.conftest import ANSWERS, HANDOFF, fail, ledger
from tests.conftest import Run

Make = Callable[..., list[str]]


def _kept(home: Path, session: str) -> str:
    return (home / f".claude/session-recaps/handoffs/{session}.md").read_text()


def test_a_session_gets_its_handoff(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """Printed and kept, at most 25 lines and 2,000 characters; a second time it is only printed."""
    (session,) = sessions(1)
    with_model("sweep", "--no-llm")
    done = with_model("handoff", session[:8])
    assert done.returncode == 0
    assert HANDOFF["task"] in done.stdout
    assert _kept(home, session).strip() == done.stdout.strip()
    assert len(done.stdout) <= 2000
    assert len(done.stdout.splitlines()) <= 25
    again = with_model("handoff", session[:8])
    assert again.stdout == done.stdout
    assert len(model_api.requests) == 1


def test_without_a_model_code_writes_it(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """And a model's one follows when it is asked for."""
    (session,) = sessions(1)
    with_model("sweep", "--no-llm")
    done = with_model("handoff", session, "--no-llm")
    assert (done.returncode, done.stderr) == (0, "")
    assert "extract" in _kept(home, session)
    with_model("handoff", session)
    assert "claude-haiku-5-5" in _kept(home, session)


def test_one_without_a_next_step_is_refused(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """The reason is in the log, and the last good one stays."""
    (session,) = sessions(1)
    with_model("sweep", "--no-llm")
    with_model("handoff", session)
    before = _kept(home, session)
    model_api.script.load({"default": {"structured": {**HANDOFF, "next": []}}})
    done = with_model("handoff", session, "--force")
    assert done.returncode == 0
    assert _kept(home, session) == before
    assert f"handoff of {session} refused" in (home / ".claude/recall/recall.log").read_text()


def test_a_failing_model_leaves_one_made_by_code(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """Status 4, and the kind in the ledger."""
    (session,) = sessions(1)
    with_model("sweep", "--no-llm")
    model_api.script.load(fail(type="status", status=400))
    done = with_model("handoff", session)
    assert done.returncode == 4
    assert "extract" in _kept(home, session)
    assert [call["error"] for call in ledger(home)] == ["bad_reply"]


def test_for_another_client_it_says_where_it_comes_from(home: Path, sessions: Make, with_model: Run) -> None:
    """With a warning that it is history, and the paths."""
    (session,) = sessions(1)
    with_model("sweep", "--no-llm")
    brief = with_model("handoff", session, "--for", "codex").stdout
    assert brief.startswith("# Brief for Codex")
    assert "check it against the files" in brief
    assert "/home/dev/crm1 (folder)" in brief
    assert "export.py" in brief
    assert HANDOFF["task"] in brief


def test_all_of_the_last_days(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """The price is said before; those that have one are left out."""
    ids = sessions(3)
    done = with_model("handoff", "--all", "--days", 7)
    assert done.returncode == 0
    assert "3 handoffs by claude-haiku-5-5, about $" in done.stderr
    assert "3 of 3 handoffs written" in done.stdout
    assert all(_kept(home, session) for session in ids)
    document = json.loads(with_model("handoff", "--all", "--json").stdout)
    assert (document["wanted"], document["by_model"]) == (0, 0)
    assert len(model_api.requests) == 3
    model_api.script.load(ANSWERS)


def test_one_or_all(home: Path, with_model: Run) -> None:
    """Neither or both is wrong usage."""
    assert with_model("handoff").returncode == 2
    assert with_model("handoff", "last", "--all").returncode == 2


def test_the_price_of_all_is_told_before(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """--estimate writes nothing and asks nobody; it is for --all only."""
    sessions(3)
    with_model("sweep", "--no-llm")
    done = with_model("handoff", "--all", "--estimate")
    assert done.returncode == 0
    assert done.stdout.startswith("3 handoffs by claude-haiku-5-5, about $0.0")
    free = with_model("handoff", "--all", "--estimate", "--no-llm", "--json")
    assert json.loads(free.stdout) == {"schema": 1, "wanted": 3, "model": "", "dollars": [0.0, 0.0]}
    assert model_api.requests == []
    assert not (home / ".claude/session-recaps/handoffs").exists()
    assert with_model("handoff", "last", "--estimate").returncode == 2
