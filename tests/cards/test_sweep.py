"""The sweep's catch-up with a model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cards.conftest import ANSWERS, CARD, cards, fail, ledger
from tests.conftest import Run

Make = Callable[..., list[str]]


def test_a_sweep_writes_cards_and_handoffs_by_the_model(
    home: Path, sessions: Make, with_model: Run, model_api: Any
) -> None:
    """Cards for the newest sessions, then handoffs for what still goes on; find shows the task; each call is noted."""
    ids = sessions(2)
    done = with_model("sweep")
    assert done.returncode == 0
    assert "model: 2 cards, 2 handoffs" in done.stdout
    assert set(cards(home)) == set(ids)
    assert all("written_by: claude-haiku-5-5" in text and CARD["task"] in text for text in cards(home).values())
    assert (home / f".claude/session-recaps/handoffs/{ids[0]}.md").exists()
    calls = ledger(home)
    assert [(call["what"], call["ok"]) for call in calls] == [("card", True)] * 2 + [("handoff", True)] * 2
    assert calls[0]["session"] == ids[0]
    assert calls[0]["cost"] == pytest.approx(0.0011)
    found = with_model("find", "portal", RECALL_LLM="none").stdout
    assert f"[in_progress] {CARD['task']} #export {{portal}}" in found
    assert CARD["task"] in (home / ".claude/session-recaps/INDEX.md").read_text()
    again = with_model("sweep")
    assert "model:" not in again.stdout
    assert len(ledger(home)) == 4


def test_without_a_model_a_sweep_writes_no_card(home: Path, sessions: Make, with_model: Run) -> None:
    """Neither with --no-llm nor where no engine is set up."""
    sessions(2)
    for done in (with_model("sweep", "--no-llm"), with_model("sweep", RECALL_LLM="none")):
        assert done.returncode == 0
    assert not cards(home)
    assert not ledger(home)


@pytest.mark.parametrize("status", [500, 400])
def test_the_bound_counts_every_attempt_and_failures_make_the_next_sweep_wait(
    home: Path, sessions: Make, with_model: Run, model_api: Any, status: int
) -> None:
    """With every call failing, 8 are made of 8 allowed; then none, until the pause is over."""
    sessions(10)
    model_api.script.load(fail(type="status", status=status))
    done = with_model("sweep", "--max-llm", 8)
    assert done.returncode == 0
    assert len(model_api.requests) == 8
    assert [call["ok"] for call in ledger(home)] == [False] * 8
    model_api.script.load(ANSWERS)
    with_model("sweep", "--max-llm", 8)
    assert len(model_api.requests) == 8


def test_sessions_that_are_not_worth_it_take_no_slot(
    home: Path, sessions: Make, with_model: Run, model_api: Any
) -> None:
    """Eight of the newest are too short or headless: the eight behind them still get their cards."""
    sessions(4, turns_each=2)
    sessions(4, first=5, entrypoint="sdk-cli")
    worth = sessions(8, first=20)
    with_model("sweep", "--max-llm", 8)
    assert set(cards(home)) == set(worth)
    assert len(model_api.requests) == 8


@pytest.mark.parametrize("status", [429, 529])
def test_a_service_that_says_stop_is_not_asked_again(
    home: Path, sessions: Make, with_model: Run, model_api: Any, status: int
) -> None:
    """One call, then the run ends; nothing is held against the session, so the next sweep goes on."""
    ids = sessions(3)
    model_api.script.load(fail(type="status", status=status))
    assert with_model("sweep").returncode == 0
    assert len(model_api.requests) == 1
    model_api.script.load(ANSWERS)
    with_model("sweep", "--max-llm", 3)
    assert set(cards(home)) == set(ids)


def test_a_day_has_its_bound(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """Counted from the ledger, over several sweeps."""
    sessions(4)
    with_model("sweep", "--max-llm", 2, RECALL_MAX_LLM_PER_DAY="3")
    with_model("sweep", "--max-llm", 8, RECALL_MAX_LLM_PER_DAY="3")
    assert len(model_api.requests) == 3


def test_a_second_card_needs_ten_new_events(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """Eight are not enough, twelve are: a turn here is a request, two messages and a tool call."""
    for count, calls in ((6, 1), (8, 1), (9, 2)):
        sessions(1, turns_each=count)
        with_model("sweep", "--max-llm", 1)
        assert len([call for call in ledger(home) if call["what"] == "card"]) == calls


def test_a_card_written_by_hand_stays(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """The model is not even asked."""
    (session,) = sessions(1)
    with_model("sweep", "--no-llm")
    path = home / f".claude/session-recaps/{session}.md"
    path.write_text(f"---\nid: {session}\ntask: Mine\nstatus: done\nwritten_by: hand\n---\n")
    before = path.read_bytes()
    with_model("sweep")
    assert path.read_bytes() == before
    assert not [call for call in ledger(home) if call["what"] == "card"]
    assert with_model("recap", session, "--force").returncode == 3
    assert path.read_bytes() == before


def test_only_sessions_of_the_last_days(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """Older ones are left to backfill."""
    sessions(1, minutes=60 * 24 * 20)
    with_model("sweep")
    assert not model_api.requests
    with_model("sweep", "--days", 30, "--max-llm", 1)
    assert len(cards(home)) == 1


def test_inside_of_a_model_call_nothing_is_asked(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """The guard variable ends the recursion."""
    sessions(1)
    assert with_model("sweep", RECALL_GUARD="1").returncode == 0
    assert not model_api.requests


def test_what_is_logged_holds_no_words_of_a_transcript(
    home: Path, sessions: Make, with_model: Run, model_api: Any
) -> None:
    """Ids and kinds only, also where the service repeats the prompt in its error; no key."""
    sessions(2)
    model_api.script.load(
        fail(type="status", status=400, message="bad: Please export deals 1.0 to the portal test-key")
    )
    with_model("sweep")
    state = home / ".claude/recall"
    for name in ("recall.log", "ledger.jsonl", "backoff.json"):
        text = (state / name).read_text()
        assert not any(word in text for word in ("portal", "deals", "test-key"))
        assert (state / name).stat().st_mode & 0o777 == 0o600
