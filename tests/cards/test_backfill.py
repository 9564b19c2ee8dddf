"""`recall backfill`: many cards, priced first."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cards.conftest import ANSWERS, CARD, cards, fail, ledger
from tests.conftest import Run, environment

Make = Callable[..., list[str]]


def test_the_estimate_asks_nothing(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """Sessions, tokens and a range of prices by model, from the dated table."""
    sessions(3, turns_each=10)
    sessions(1, first=9, turns_each=3)
    done = with_model("backfill", "--estimate")
    assert done.returncode == 0
    assert done.stdout.startswith("3 sessions, ")
    assert "claude-haiku-5-5 (chosen): $0.00 to $0.0" in done.stdout
    assert "prices of 2026-10-07" in done.stdout
    document = json.loads(with_model("backfill", "--estimate", "--json").stdout)
    assert document["sessions"] == 3
    low, high = document["input_tokens"]
    assert 0 < low < high < 100_000
    prices = {one["model"]: one["dollars"] for one in document["models"]}
    assert prices["claude-haiku-4-5"][1] > prices["claude-haiku-5-5"][1] > 0
    assert not model_api.requests
    assert not cards(home)


def test_all_sessions_get_cards(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """Several at a time; a second run has nothing to do."""
    ids = sessions(6, turns_each=7)
    done = with_model("backfill", "--jobs", 3)
    assert done.returncode == 0
    assert "6 of 6 cards written" in done.stdout
    assert "about $" in done.stderr
    assert set(cards(home)) == set(ids)
    assert "0 of 0" in with_model("backfill").stdout
    assert len(model_api.requests) == 6


def test_the_bound_of_a_day_holds(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """What is left is said, and the status is 4."""
    sessions(5, turns_each=7)
    done = with_model("backfill", "--jobs", 4, RECALL_MAX_LLM_PER_DAY="2")
    assert done.returncode == 4
    assert len(model_api.requests) == len(cards(home)) == 2
    assert "RECALL_MAX_LLM_PER_DAY" in done.stderr


def test_a_service_that_says_stop_ends_the_run(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """No more than the calls that were under way."""
    sessions(8, turns_each=7)
    model_api.script.load(fail(type="status", status=429, should_retry=False))
    done = with_model("backfill", "--jobs", 2)
    assert done.returncode == 4
    assert len(model_api.requests) <= 2


def test_without_a_model_cards_are_made_by_code(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """All of them, at no price, and not again while nothing is new."""
    ids = sessions(2, turns_each=7)
    done = with_model("backfill", "--json", RECALL_LLM="none")
    assert done.returncode == 0, done.stderr
    assert (json.loads(done.stdout)["written"], model_api.requests) == (2, [])
    for session in ids:
        card = home / ".claude" / "session-recaps" / f"{session}.md"
        assert "written_by: extract" in card.read_text()
    again = with_model("backfill", "--json", RECALL_LLM="none")
    assert json.loads(again.stdout)["wanted"] == 0


def test_an_engine_that_was_chosen_and_is_missing_is_said(home: Path, sessions: Make, with_model: Run) -> None:
    """And no card by code stands in."""
    sessions(1, turns_each=7)
    done = with_model("backfill", RECALL_LLM="claude", RECALL_CLAUDE_BIN="/nowhere/claude", PATH="/nowhere")
    assert (done.returncode, done.stdout.split(" cards")[0]) == (4, "0 of 1")
    assert "not installed" in done.stderr


def test_an_interrupt_keeps_what_is_written(
    home: Path, sessions: Make, with_model: Run, model_api: Any, address: str
) -> None:
    """Ctrl-C ends it at once, though calls hang; finished cards stay, and the next run goes on with the others."""
    ids = sessions(4, turns_each=7)
    with_model("sweep", "--no-llm")
    hang = {"when": {"any": "deals 3.0"}, "reply": {"fault": {"type": "hang"}}}
    model_api.script.load({**ANSWERS, "rules": [hang, *ANSWERS["rules"]]})
    process = subprocess.Popen(
        [sys.executable, "-m", "recall", "backfill", "--jobs", "1", "--json"],
        env=environment(home, RECALL_LLM="api", ANTHROPIC_BASE_URL=address, ANTHROPIC_API_KEY="test-key"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        while len(cards(home)) < 2 and process.poll() is None:
            os.sched_yield()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert set(cards(home)) == set(ids[:2])
    model_api.script.load(ANSWERS)
    with_model("backfill")
    assert set(cards(home)) == set(ids)


def test_a_batch_is_handed_in_and_collected(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """The first run hands in, the next ones wait, the last one writes the cards, at half the price."""
    ids = sessions(3, turns_each=7)
    lost = {"when": {"any": "deals 2.0"}, "reply": {"fault": {"type": "x"}}}
    model_api.script.load({**ANSWERS, "batch_polls": 1, "rules": [lost, *ANSWERS["rules"]]})
    first = with_model("backfill", "--batch")
    assert first.returncode == 0
    assert "3 sessions, handed in" in first.stdout
    assert not cards(home)
    second = json.loads(with_model("backfill", "--batch", "--json").stdout)
    assert (second["written"], second["handed_in"]) == (0, [])
    assert [entry["sessions"] for entry in second["pending"].values()] == [3]
    third = with_model("backfill", "--batch")
    assert "2 cards written from batches" in third.stdout
    assert set(cards(home)) == {ids[0], ids[2]}
    assert all(CARD["task"] in text for text in cards(home).values())
    calls = ledger(home)
    assert sorted((call["engine"], call["ok"]) for call in calls) == [
        ("batch", False),
        ("batch", True),
        ("batch", True),
    ]
    assert max(call["cost"] for call in calls) == 0.00055
    assert len([one for one in model_api.requests if one["reply"] == "batch"]) == 1


def test_a_batch_needs_the_api(home: Path, sessions: Make, with_model: Run) -> None:
    """Said so."""
    sessions(1, turns_each=7)
    done = with_model("backfill", "--batch", RECALL_LLM="none")
    assert done.returncode == 4
    assert "RECALL_LLM=api" in done.stderr
