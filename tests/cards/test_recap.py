"""`recall recap`: the card of one session."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import builders
from tests.cards.conftest import CARD, cards, fail, ledger
from tests.conftest import Run

Make = Callable[..., list[str]]


def test_a_session_gets_its_card(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """By id, with the model's words; the prompt holds the transcript, and the index has the task at once."""
    (session,) = sessions(1)
    with_model("sweep", "--no-llm")
    done = with_model("recap", session[:8])
    assert done.returncode == 0
    assert CARD["task"] in done.stdout
    assert "written_by: claude-haiku-5-5" in cards(home)[session]
    assert "export deals 1.0" in json.dumps(model_api.requests[-1]["body"]["messages"])
    again = with_model("recap", session[:8])
    assert (again.returncode, len(model_api.requests)) == (0, 1)
    assert "up to date" in again.stderr
    with_model("recap", session[:8], "--force")
    assert len(model_api.requests) == 2


def test_a_transcript_is_a_name_too(home: Path, sessions: Make, with_model: Run) -> None:
    """A file that no sweep has seen yet is taken in first; one that is no client's is wrong usage."""
    (session,) = sessions(1)
    (path,) = home.glob(".claude/projects/*/*.jsonl")
    assert with_model("recap", path).returncode == 0
    assert session in cards(home)
    other = home / "x.jsonl"
    other.write_text("{}\n")
    assert with_model("recap", other).returncode == 2
    assert with_model("recap", home / "gone.jsonl").returncode == 2


def test_short_sessions_are_told_when_they_are_named(home: Path, sessions: Make, with_model: Run) -> None:
    """And not where only those worth it are wanted."""
    (session,) = sessions(1, turns_each=1)
    (path,) = home.glob(".claude/projects/*/*.jsonl")
    assert with_model("recap", path, "--worth", "--quiet").stdout == ""
    assert not cards(home)
    assert with_model("recap", path).returncode == 0
    assert session in cards(home)


def test_without_a_model_code_writes_the_card(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """Marked `extract`; a model may replace it later, and it never replaces a model's."""
    (session,) = sessions(1)
    with_model("sweep", "--no-llm")
    done = with_model("recap", session, RECALL_LLM="none")
    assert (done.returncode, done.stderr) == (0, "")
    assert "written_by: extract" in cards(home)[session]
    assert "export deals" in cards(home)[session]
    with_model("recap", session)
    assert "written_by: claude-haiku-5-5" in cards(home)[session]
    with_model("recap", session, "--force", "--no-llm")
    assert "written_by: claude-haiku-5-5" in cards(home)[session]


FAULTS: list[tuple[str, dict[str, Any]]] = [
    ("rate", fail(type="status", status=429, retry_after=0)),
    ("overloaded", fail(type="status", status=529, retry_after=0)),
    ("server", fail(type="status", status=500, retry_after=0)),
    ("bad_reply", fail(type="malformed_sse")),
    ("bad_reply", {"default": {"plain": True, "text": "Well."}}),
    ("bad_reply", {"default": {"structured": {"task": 1}}}),
    ("bad_reply", {"default": {"structured": {**CARD, "task": "x" * 1_000_000}}}),
    ("refusal", {"default": {"stop": "refusal", "plain": True, "text": ""}}),
    ("too_long", {"default": {"stop": "max_tokens", "plain": True, "text": '{"ta'}}),
]


@pytest.mark.parametrize(("kind", "script"), FAULTS, ids=[f"{n}-{kind}" for n, (kind, _) in enumerate(FAULTS)])
def test_a_failing_model_leaves_a_card_made_without_it(
    home: Path, sessions: Make, with_model: Run, model_api: Any, kind: str, script: dict[str, Any]
) -> None:
    """Status 4, one line that says why, an extracted card, and the kind in the ledger."""
    (session,) = sessions(1)
    with_model("sweep", "--no-llm")
    model_api.script.load(script)
    done = with_model("recap", session)
    assert done.returncode == 4
    assert "made without it" in done.stderr
    assert "Traceback" not in done.stderr
    assert "written_by: extract" in cards(home)[session]
    assert [call["error"] for call in ledger(home)] == [kind]


def test_a_failing_model_does_not_replace_what_one_wrote(
    home: Path, sessions: Make, with_model: Run, model_api: Any
) -> None:
    """The card stays as it was."""
    (session,) = sessions(1)
    with_model("sweep", "--max-llm", 1)
    before = cards(home)
    model_api.script.load(fail(type="status", status=400))
    done = with_model("recap", session, "--force")
    assert done.returncode == 4
    assert "stays as it was" in done.stderr
    assert cards(home) == before


def test_secrets_reach_neither_model_nor_card(home: Path, with_model: Run, model_api: Any) -> None:
    """What goes out is redacted, and what comes back again."""
    secret = "ghp_" + "9fK2mQ7xR4tZ8vB3nL6pW1sD5gH0jY2cE4aU"
    turns = [(f"Use the token {secret} to push", f"Pushed with {secret}")] * 8
    builders.claude_session(home, "crm", "aaaaaaaa-0000-4000-8000-000000000000", turns)
    model_api.script.load({"default": {"structured": {**CARD, "task": f"Push with {secret}"}}})
    with_model("sweep", "--no-llm")
    with_model("recap", "aaaaaaaa")
    assert secret not in json.dumps(model_api.requests[-1]["body"])
    assert secret not in cards(home)["aaaaaaaa-0000-4000-8000-000000000000"]


def test_a_removed_session_comes_back_with_force(home: Path, sessions: Make, with_model: Run) -> None:
    """Without it: refused, and said how."""
    (session,) = sessions(1)
    with_model("sweep", "--max-llm", 1)
    with_model("remove", session, "--yes")
    refused = with_model("recap", session)
    assert refused.returncode == 3
    assert "--force" in refused.stderr
    assert not cards(home)
    assert with_model("recap", session, "--force").returncode == 0
    assert session in cards(home)
    assert session[:8] in with_model("find", "portal", RECALL_LLM="none").stdout


def test_the_card_as_json(home: Path, sessions: Make, with_model: Run) -> None:
    """Stable keys, times in ISO 8601."""
    (session,) = sessions(1)
    with_model("sweep", "--no-llm")
    document = json.loads(with_model("recap", session, "--json").stdout)
    assert document["schema"] == 1
    assert (document["card"]["id"], document["card"]["task"]) == (session, CARD["task"])
    assert document["card"]["last"].endswith("Z")
    assert (document["written"], document["why"]) == (True, "")


def test_a_model_that_hangs_is_given_up(home: Path, sessions: Make, run_recall: Run, tmp_path: Path) -> None:
    """Of the user's own client: its limit is passed on, and a card is written without it."""
    (session,) = sessions(1)
    run_recall("sweep", "--no-llm")
    program = tmp_path / "claude"
    printed = json.dumps({"is_error": True, "result": "Request timed out.", "api_error_status": None})
    program.write_text(f"#!/bin/sh\nprintf '%s' '{printed}'\nexit 1\n")
    program.chmod(0o755)
    done = run_recall("recap", session, RECALL_CLAUDE_BIN=str(program))
    assert done.returncode == 4
    assert "in time" in done.stderr
    assert "written_by: extract" in cards(home)[session]


def test_no_call_is_made_that_cannot_be_counted(home: Path, sessions: Make, with_model: Run, model_api: Any) -> None:
    """Without a ledger no bound of a day would hold."""
    (session,) = sessions(1)
    with_model("sweep", "--no-llm")
    (home / ".claude/recall/ledger.jsonl").mkdir()
    done = with_model("recap", session)
    assert "ledger" in done.stderr
    assert not model_api.requests
    assert "written_by: extract" in cards(home)[session]


@pytest.mark.parametrize("swept", [True, False])
@pytest.mark.parametrize(("by", "title"), [("user", "quarterly zebra"), ("carried", CARD["title"])])
def test_a_name_of_another_session_is_not_the_cards_title(
    home: Path, sessions: Make, with_model: Run, by: str, title: str, swept: bool
) -> None:
    """/clear carries the user's name over into the new session, and says so in a note beside the transcript."""
    (session,) = sessions(1, title="quarterly zebra")
    (path,) = home.glob(".claude/projects/*/*.jsonl")
    path.with_suffix("").mkdir()
    note = {"customTitle": "quarterly zebra", "by": by}
    (path.with_suffix("") / "custom-title.json").write_text(json.dumps(note))
    if swept:
        with_model("sweep", "--no-llm")
    assert with_model("recap", session if swept else path).returncode == 0
    assert f"\ntitle: {title}\n" in cards(home)[session]
