"""`rename` and `tag`: what a person calls a session sticks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recall.core.card import parse
from recall.core.model import Card
from recall.settings import load
from recall.shelf import Shelf
from tests.builders import claude_session, codex_session
from tests.conftest import Run
from tests.machine import append, user

FIRST = "5a1c0b1e-93f0-4f5e-a7d4-9a4b6f6f2c01"
OTHER = "019e10aa-1111-7aaa-8bbb-0123456789ab"
TURNS = [("Move the export to the new API, please", "The export uses the new API now.")]
LINE = "5a1c0b1e 2026-06-11T09:00 crm [new] Move the export to the new API, please"


@pytest.fixture
def source(home: Path, run_recall: Run) -> Path:
    path = claude_session(home, "crm", FIRST, TURNS)
    codex_session(home, "crm", OTHER, TURNS, name="Codex calls it so")
    run_recall("sweep", "--quiet", "--no-llm", check=True)
    return path


def card(home: Path) -> Card:
    return parse((home / ".claude" / "session-recaps" / f"{FIRST}.md").read_text())


def shelf(home: Path) -> Shelf:
    here = load({"HOME": str(home)})
    return Shelf(here.data, here.state)


# -- rename ----------------------------------------------------------------------------------------------------


def test_a_name_sticks_over_sweeps_and_reindex_until_it_is_taken_back(
    source: Path, home: Path, run_recall: Run
) -> None:
    done = run_recall("rename", FIRST[:8], "Zebra", "export")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{LINE} (named Zebra export)\n", "")
    view = home / ".claude" / "session-recaps" / "INDEX.md"
    for again in ("sweep", "reindex"):
        append(source, [user(FIRST, f"after a {again}", len(again))])
        run_recall(again, check=True)
        (found,) = json.loads(run_recall("find", "zebra", "--json").stdout)["results"]
        assert (found["title"], found["task"]) == ("Zebra export", "Move the export to the new API, please")
        assert "(named Zebra export)" in view.read_text()
    done = run_recall("rename", FIRST, "--clear", "--json")
    assert json.loads(done.stdout) == {"schema": 1, "id": FIRST, "title": "", "by": None}
    assert run_recall("find", "zebra").returncode == 1
    assert "zebra" not in view.read_text().lower()


def test_a_name_goes_before_the_clients_and_gives_it_back(source: Path, home: Path, run_recall: Run) -> None:
    run_recall("rename", OTHER, "Mine", check=True)
    run_recall("sweep", "--quiet", "--no-llm", check=True)
    assert json.loads(run_recall("show", OTHER, "--json").stdout)["title"] == "Mine"
    run_recall("rename", OTHER, "--clear", check=True)
    assert json.loads(run_recall("show", OTHER, "--json").stdout)["title"] == "Codex calls it so"


def test_a_name_goes_before_a_cards_title(source: Path, home: Path, run_recall: Run) -> None:
    shelf(home).write_card(Card(FIRST, title="The card's", task="Zebra", written_by="hand"))
    run_recall("sweep", "--no-llm", "--quiet", check=True)
    assert run_recall("rename", "last", "x", check=True)
    run_recall("rename", FIRST, "Mine", check=True)
    assert json.loads(run_recall("find", "zebra", "--json").stdout)["results"][0]["title"] == "Mine"
    assert [line for line in run_recall("find", "card's").stdout.splitlines() if line.startswith("5a1c")]
    run_recall("rename", FIRST, "--clear", check=True)
    assert json.loads(run_recall("show", FIRST, "--json").stdout)["title"] == "The card's"


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ([FIRST], 2, "a name is missing"),
        ([FIRST, " "], 2, "a name is missing"),
        ([FIRST, "x", "--clear"], 2, "exclude each other"),
        ([FIRST, "x" * 201], 2, "at most 200 characters"),
        (["9999", "x"], 1, "no session 9999"),
    ],
)
def test_a_wrong_name_is_said(source: Path, run_recall: Run, words: list[str], status: int, message: str) -> None:
    done = run_recall("rename", *words)
    assert done.returncode == status
    assert message in done.stderr
    assert "Traceback" not in done.stderr


# -- tag -------------------------------------------------------------------------------------------------------


def test_tags_come_and_go_in_the_card(source: Path, home: Path, run_recall: Run) -> None:
    shelf(home).write_card(
        Card(FIRST, task="Zebra", tags=("draft", "api"), status="done", written_by="m", body="A note.")
    )
    done = run_recall("tag", FIRST[:8], "+Big Export", "-draft", "crm")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "5a1c0b1e 2026-06-11T09:00 crm [done] Zebra #api #big-export #crm\n"
    found = card(home)
    assert (found.tags, found.written_by, found.body) == (("api", "big-export", "crm"), "m", "A note.")
    assert run_recall("find", "--ids", "#big-export").stdout == f"{FIRST}\n"
    assert run_recall("find", "#draft").returncode == 1
    view = home / ".claude" / "session-recaps"
    assert "#big-export" in (view / "INDEX.md").read_text()
    assert "- big-export (1)" in (view / "TAGS.md").read_text()


def test_tags_stick_when_a_model_writes_a_new_card(source: Path, home: Path, run_recall: Run) -> None:
    seen = shelf(home).write_card(Card(FIRST, task="Zebra", tags=("draft",), written_by="m"))
    run_recall("tag", FIRST, "+mine", "-draft", check=True)
    found = shelf(home).card_file(FIRST)
    assert found is not None and found[1] != seen
    shelf(home).write_card(Card(FIRST, task="Wombat", tags=("draft", "new"), written_by="m"), found[1])
    assert card(home).tags == ("new", "mine")
    run_recall("tag", FIRST, "+draft", check=True)
    assert card(home).tags == ("new", "mine", "draft")


def test_a_session_without_a_card_gets_one(source: Path, home: Path, run_recall: Run) -> None:
    """It is marked as made without a model, so that a model's may follow."""
    done = run_recall("tag", FIRST, "+export", check=True)
    assert done.stdout.startswith(LINE.partition("[")[0])
    assert "[new]" not in done.stdout
    found = card(home)
    assert (found.id, found.task) == (FIRST, "Move the export to the new API, please")
    assert "export" in found.tags
    assert (found.written_by, found.messages, found.project) == ("extract", 2, "/home/dev/crm")


def test_without_tags_they_are_shown(source: Path, home: Path, run_recall: Run) -> None:
    shelf(home).write_card(Card(FIRST, tags=("api",)))
    run_recall("sweep", "--no-llm", "--quiet", check=True)
    assert json.loads(run_recall("tag", FIRST, "--json").stdout) == {"schema": 1, "id": FIRST, "tags": ["api"]}
    assert json.loads(run_recall("tag", OTHER, "--json").stdout)["tags"] == ["codex"]


@pytest.mark.parametrize("word", ["-hotfix", "-h", "-x"])
def test_a_tag_that_looks_like_an_option_is_a_tag(source: Path, home: Path, run_recall: Run, word: str) -> None:
    shelf(home).write_card(Card(FIRST, task="Zebra", tags=(word[1:], "api")))
    run_recall("tag", FIRST, word, check=True)
    assert card(home).tags == ("api",)


def test_a_word_that_is_no_tag_is_said(source: Path, run_recall: Run) -> None:
    done = run_recall("tag", FIRST, "+++", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout or done.stderr)["error"]["kind"] == "usage"


def test_a_card_that_somebody_wrote_by_hand_can_be_tagged(source: Path, home: Path, run_recall: Run) -> None:
    shelf(home).write_card(Card(FIRST, task="Zebra", written_by="hand"))
    run_recall("tag", FIRST, "+export", check=True)
    assert (card(home).tags, card(home).written_by) == (("export",), "hand")
