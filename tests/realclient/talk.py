"""What is said in the sessions of these tests, and what the model answers."""

from __future__ import annotations

import fcntl
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.realclient.lab import Lab, Tui, wait_for

CLIENTS = pytest.mark.parametrize("client", ["claude", "codex"])
TRUSTED = {"claude": (), "codex": ("--dangerously-bypass-hook-trust",)}
"""Options without which hooks do not run before somebody has looked at them."""

ANSWERS = (
    "The funnel export is in export.py.",
    "Ivanova has 12 open deals.",
    "Done. The report was sent to the portal.",
)
TURNS = (
    ("please export the sales funnel", ANSWERS[0]),
    ("сколько сделок у Ивановой", ANSWERS[1]),
    ("send it to the portal", ANSWERS[2]),
)
CARD = {
    "title": "Funnel export",
    "task": "Export the sales funnel for Ivanova",
    "status": "done",
    "method": "Wrote export.py",
    "next": "",
    "tags": ["export"],
    "entities": ["Ivanova"],
    "artifacts": ["export.py"],
}
"""What the model says of a session when it is asked for a card."""


def three_turns(lab: Lab, client: str, *args: str, cwd: str = "crm", **answers: Any) -> tuple[Tui, Path]:
    """A session of three turns in an open window, and its transcript."""
    lab.answer(*ANSWERS, **answers)
    before = set(lab.transcripts(client))
    tui = lab.tui(client, *args, cwd=cwd)
    for text, answer in TURNS:
        tui.turn(text, answer)
    (path,) = set(lab.transcripts(client)) - before
    return tui, path


def id_of(transcript: Path) -> str:
    return re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", transcript.name)[-1]


def card_rules(about: str = "", **changed: Any) -> list[dict[str, Any]]:
    """A rule for the requests by which recall asks for a card; `about`: only of a session with these words."""
    when = {"model": "haiku", "structured": True, **({"any": about} if about else {})}
    return [{"when": when, "reply": {"structured": {**CARD, **changed}}}]


def summary_rules(text: str) -> list[dict[str, Any]]:
    """Rules for the requests by which either client asks for a summary."""
    return [
        {"when": {"api": "anthropic", "last_user": "summary of the conversation"}, "reply": {"text": text}},
        {"when": {"api": "openai", "last_user": "CONTEXT CHECKPOINT"}, "reply": {"text": text}},
    ]


def compact(tui: Tui) -> None:
    """/compact, to its end."""
    tui.submit("/compact")
    tui.wait("[Cc]ompacted")
    wait_for(tui.idle, "the end of the compaction")


def spoken(transcript: Path) -> list[str]:
    """The lines of a transcript in which somebody says something."""
    lines = transcript.read_text().splitlines()
    kinds = ('"type":"user"', '"type":"assistant"', '"UserMessage"', '"AgentMessage"')
    return [line for line in lines if any(kind in line for kind in kinds)]


def hook_summaries(transcript: Path) -> list[dict[str, Any]]:
    """What Claude Code notes of its Stop hooks, a note a turn: `hookInfos` (the commands), `hookErrors`, ..."""
    items = [json.loads(line) for line in transcript.read_text().splitlines() if "stop_hook_summary" in line]
    return [item for item in items if item.get("subtype") == "stop_hook_summary"]


def settled(lab: Lab) -> None:
    """Wait for the end of what hooks have started."""

    def free() -> bool:
        for path in (lab.home / ".claude/recall/children").glob("*"):
            with path.open("rb") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return False
        return True

    wait_for(free, "the end of detached processes")
