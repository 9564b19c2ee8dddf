"""Sessions that nobody named get `folder · task`; a name that somebody gave is never replaced."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from recall.actions import hookconf
from recall.settings import load
from tests.conftest import Run
from tests.hook.conftest import OTHER, SESSION, Place

NAME = "crm · Export deals to the portal"
ON = {"RECALL_AUTONAME": "1"}


@pytest.fixture
def carded(place: Place, run_recall: Run) -> Place:
    """Both sessions have a card by a model."""
    run_recall("sweep", "--no-llm", "--quiet", check=True)
    for session in (SESSION, OTHER):
        (place.data / f"{session}.md").write_text(
            f"---\nid: {session}\nproject: /home/dev/crm\ntask: Export deals to the portal\nstatus: in_progress\n"
            "written_by: claude-haiku-5-5\nwritten_at: 2026-06-11T10:00:00Z\n---\n"
        )
    return place


def titles(path: Path) -> list[dict[str, Any]]:
    records = [json.loads(line) for line in path.read_text().splitlines()]
    return [record for record in records if record["type"] == "custom-title"]


def sweep(run_recall: Run, **settings: str) -> None:
    run_recall("sweep", "--no-llm", "--quiet", check=True, **{**ON, **settings})


def test_a_record_is_appended_once(carded: Place, run_recall: Run) -> None:
    """As the client writes it; the transcript keeps its time, and the copy has the record too."""
    before, status = carded.claude.read_bytes(), carded.claude.stat()
    codex = carded.codex.read_bytes()
    for _ in range(3):
        sweep(run_recall)
    assert titles(carded.claude) == [{"type": "custom-title", "customTitle": NAME, "sessionId": SESSION}]
    assert carded.claude.read_bytes().startswith(before)
    assert carded.claude.stat().st_mtime_ns == status.st_mtime_ns
    assert carded.copy(carded.claude).read_bytes() == carded.claude.read_bytes()
    assert carded.codex.read_bytes() == codex


def test_our_name_is_not_the_users(carded: Place, run_recall: Run) -> None:
    """The row shows the card's title and no name; a later card still wins."""
    sweep(run_recall)
    sweep(run_recall)
    line = run_recall("find", "deals", "--client", "claude").stdout
    assert "(named" not in line
    done = json.loads(run_recall("rename", SESSION, "Mine", "--json").stdout)
    assert (done["title"], done["by"]) == ("Mine", "user")


def test_off_unless_asked_for(carded: Place, run_recall: Run) -> None:
    before = carded.claude.read_bytes()
    run_recall("sweep", "--no-llm", "--quiet", check=True)
    assert carded.claude.read_bytes() == before
    assert not (carded.state / "titles").exists()


@pytest.mark.parametrize("how", ["record", "note", "broken note", "live", "fresh", "by code", "torn"])
def test_where_nothing_is_written(carded: Place, run_recall: Run, how: str) -> None:
    """A user's name in the transcript or beside it; an open session; one that is being written; a card by code."""
    path = carded.claude
    if how == "record":
        with path.open("a") as file:
            file.write('{"type":"custom-title","customTitle":"Mine","sessionId":"x"}\n')
        os.utime(path, (1, 1))
    elif how in ("note", "broken note"):
        text = '{"customTitle":"Mine","by":"user"}' if how == "note" else "{"
        (path.with_suffix("") / "custom-title.json").write_text(text)
    elif how == "live":
        folder = carded.home / ".claude/sessions"
        folder.mkdir()
        (folder / "1.json").write_text(json.dumps({"pid": os.getpid(), "sessionId": SESSION, "entrypoint": "cli"}))
    elif how == "fresh":
        os.utime(path)
    elif how == "by code":
        card = carded.data / f"{SESSION}.md"
        card.write_text(card.read_text().replace("claude-haiku-5-5", "extract"))
    before = path.read_bytes()
    if how == "torn":
        path.write_bytes(before + b'{"type":"us')
        os.utime(path, (1, 1))
    sweep(run_recall)
    if how == "torn":  # the broken line stays by itself
        assert path.read_bytes().startswith(before + b'{"type":"us\n{"type":"custom-title"')
    else:
        assert path.read_bytes() == before


def start(place: Place, **fields: Any) -> str:
    event = place.event("SessionStart", **{"source": "resume", **fields})
    return str(place.call(event, env={**ON, "RECALL_HANDOFF": "0"}).fields.get("sessionTitle", ""))


def test_without_the_handoff_loop_names_and_digest_are_told(carded: Place, run_recall: Run) -> None:
    """SessionStart is registered always; that the loop is off stands in the hook's settings file."""
    os.utime(carded.claude)
    sweep(run_recall)
    carded.handoff()
    settings = load({"HOME": str(carded.home), **ON, "RECALL_STARTUP_DIGEST": "1"})
    for on in (False, True):
        hookconf.write(settings, handoff=on)
        said = carded.call(carded.event("SessionStart", source="resume")).fields
        assert said.get("sessionTitle") == NAME
        assert ("additionalContext" in said) is on
        said = carded.call(carded.event("SessionStart", source="startup", session_id=OTHER)).fields
        assert "Export deals to the portal" in said["additionalContext"]


def test_an_open_session_is_named_when_it_is_resumed(carded: Place, run_recall: Run) -> None:
    """By the client itself, which the hook asks to; not where it has a name."""
    os.utime(carded.claude)
    sweep(run_recall)
    assert start(carded) == NAME
    assert start(carded, session_title="Mine") == ""
    assert start(carded, source="compact") == ""
    assert start(carded, session_id="0198a3c0-9999-4000-8000-000000000000") == ""
    (carded.claude.with_suffix("") / "custom-title.json").write_text('{"by":"user"}')
    assert start(carded) == ""
    (carded.state / "titles" / OTHER).write_text(NAME)
    event = carded.event("SessionStart", "codex", source="resume")
    assert carded.call(event, env={**ON, "RECALL_HANDOFF": "0"}).silent
