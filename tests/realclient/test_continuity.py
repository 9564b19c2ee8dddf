"""A compacted or resumed session of the real clients is told where it stood: once, as a quotation, with its next step."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from recall.core.injection import LIMIT, MARK
from tests.realclient.lab import Lab, Tui, wait_for
from tests.realclient.talk import CLIENTS, TRUSTED, compact, id_of, settled, summary_rules

pytestmark = pytest.mark.client

STEP = "Import the VAT numbers of Ivanova into the portal"
FIRST = ("please export the sales funnel for the portal", "The sales funnel is exported to funnel.csv.")
SECOND = (
    "check the VAT numbers of Ivanova as well",
    f"I checked 14 VAT numbers, two were wrong and are mended.\n\nNext steps:\n1. {STEP}\n2. Write to Petrov",
)
SUMMARY = "<summary>The walrus talked about a funnel.</summary>"


def two_turns(lab: Lab, client: str, *args: str, usage: dict[str, Any] | None = None) -> tuple[Tui, Path]:
    """A session with something left to do, in an open window, and its transcript."""
    last = {"text": SECOND[1], **({"usage": usage} if usage else {})}
    lab.answer(FIRST[1], last, rules=summary_rules(SUMMARY))
    tui = lab.tui(client, *TRUSTED[client], *args)
    tui.turn(*FIRST)
    tui.turn(SECOND[0], "Write to Petrov")
    (path,) = lab.transcripts(client)
    return tui, path


def older(lab: Lab, seconds: int) -> None:
    """As if the notes that are there had been written earlier: one that is nearly as new as the session is kept."""
    for note in (lab.home / ".claude/session-recaps/handoffs").glob("*.md"):
        before = note.stat().st_mtime - seconds
        os.utime(note, (before, before))


def told(body: dict[str, Any]) -> list[str]:
    """The handoffs in one request, as the model reads them."""
    texts: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, list):
            for each in value:
                walk(each)
        elif isinstance(value, dict):
            for each in value.values():
                walk(each)

    walk(body.get("messages") or body.get("input"))
    return [found for text in texts for found in re.findall(f"<{MARK} .*?</{MARK}>", text, re.DOTALL)]


def next_request(lab: Lab, tui: Tui, text: str, answer: str) -> dict[str, Any]:
    """Go on by a turn; the request that it made."""
    before = len(lab.api.requests)
    lab.answer(answer, rules=summary_rules(SUMMARY))
    tui.turn(text, answer)
    return [body for body in lab.asked(before) if "haiku" not in str(body.get("model"))][-1]


def check(note: str, session: str) -> None:
    """The note holds task and next step, all of it quoted and dated, within its limit."""
    head, *lines, tail = note.splitlines()
    assert re.match(rf'<{MARK} written="20\d\d-\d\d-\d\d \d\d:\d\d UTC" by="', head)
    assert tail == f"</{MARK}>"
    assert all(line.startswith("> ") for line in lines)
    quoted = "\n".join(lines)
    assert STEP in quoted[quoted.index("## Next") :]
    assert session[:8] in quoted
    assert "VAT" in quoted[quoted.index("## Task now") :]
    assert "walrus" not in quoted
    assert len(note) <= LIMIT


@CLIENTS
def test_after_compact(hooked: Lab, client: str) -> None:
    """/compact: the note is in the next request, once, and what `show --handoff` prints; later turns bring no other."""
    tui, path = two_turns(hooked, client)
    compact(tui)
    settled(hooked)
    (note,) = told(next_request(hooked, tui, "go on", "It is imported."))
    check(note, id_of(path))
    assert note in hooked.recall("show", id_of(path), "--handoff").stdout
    assert len(told(next_request(hooked, tui, "and now to Petrov", "I wrote to him."))) == 1
    tui.quit()


def test_after_an_automatic_compaction_of_claude(hooked: Lab) -> None:
    """The window is full: the client compacts by itself, in the middle of the work."""
    full = {"input_tokens": 99000, "output_tokens": 500}
    tui, path = two_turns(hooked, "claude", "--autocompact", "100000", usage=full)
    before = len(hooked.api.requests)
    (note,) = told(next_request(hooked, tui, "go on", "It is imported."))
    check(note, id_of(path))
    assert any("summary of the conversation" in json.dumps(body) for body in hooked.asked(before))
    assert '"trigger":"auto"' in path.read_text()
    tui.quit()


def test_after_an_automatic_compaction_of_codex(hooked: Lab) -> None:
    """The same with Codex's own limit."""
    full = {"input_tokens": 99000, "output_tokens": 500}
    tui, path = two_turns(hooked, "codex", "-c", "model_auto_compact_token_limit=90000", usage=full)
    before = len(hooked.api.requests)
    (note,) = told(next_request(hooked, tui, "go on", "It is imported."))
    check(note, id_of(path))
    assert any("CONTEXT CHECKPOINT" in json.dumps(body) for body in hooked.asked(before, kind=""))
    tui.quit()


@CLIENTS
def test_after_resume(hooked: Lab, client: str) -> None:
    """Closed and resumed: the note comes with the first request. Resumed once more with nothing new: not again."""
    tui, path = two_turns(hooked, client)
    tui.quit()
    settled(hooked)
    resume = {"claude": ("--resume", id_of(path)), "codex": ("resume", id_of(path))}[client]
    tui = hooked.tui(client, *TRUSTED[client], *resume)
    (note,) = told(next_request(hooked, tui, "go on", "It is imported."))
    check(note, id_of(path))
    assert len(told(next_request(hooked, tui, "thanks", "Gladly."))) == 1
    tui.quit()
    settled(hooked)


def test_after_a_branch(hooked: Lab) -> None:
    """/branch: the new session is told where the old one stood."""
    tui, path = two_turns(hooked, "claude")
    tui.submit("/branch other-way")
    wait_for(lambda: tui.session() != id_of(path), "another id")
    notes = told(next_request(hooked, tui, "go on", "It is imported."))
    assert len(notes) == 1
    assert STEP in notes[0]
    tui.quit()


def test_after_a_fork_of_unknown_origin(hooked: Lab) -> None:
    """--fork-session: the client says nowhere what was forked, and its file does not exist yet: nothing is told, and
    nothing is wrong; the history is in the request anyway."""
    tui, path = two_turns(hooked, "claude")
    tui.quit()
    settled(hooked)
    tui = hooked.tui("claude", "--resume", id_of(path), "--fork-session")
    body = next_request(hooked, tui, "go on", "It is imported.")
    assert told(body) == []
    assert STEP in json.dumps(body)
    tui.quit()


@CLIENTS
def test_compacted_then_resumed(hooked: Lab, client: str) -> None:
    """A compaction, more work, the end, `resume`: one note is the newest, and it tells of the later work."""
    tui, path = two_turns(hooked, client)
    compact(tui)
    settled(hooked)
    later = "I imported all of them.\n\nNext steps:\n1. Send the receipt to Sidorov"
    hooked.answer(later, rules=summary_rules(SUMMARY))
    tui.turn("go on", "receipt to Sidorov")
    tui.quit()
    settled(hooked)
    older(hooked, 300)
    resume = {"claude": ("--resume", id_of(path)), "codex": ("resume", id_of(path))}[client]
    tui = hooked.tui(client, *TRUSTED[client], *resume)
    body = next_request(hooked, tui, "what is next", "The receipt.")
    notes = told(body)
    assert len(notes) == len(set(notes))
    assert "receipt to Sidorov" in notes[-1]
    tui.quit()


@CLIENTS
def test_an_injected_note_is_nobodys_words(hooked: Lab, client: str) -> None:
    """It is in the transcript of the client, and not what the session is found by, nor part of the next note."""
    tui, path = two_turns(hooked, client)
    compact(tui)
    settled(hooked)
    (_note,) = told(next_request(hooked, tui, "go on", "It is imported."))
    tui.quit()
    wait_for(lambda: "It is imported." in path.read_text(), "the last turn")
    assert MARK in path.read_text()
    assert hooked.rows("quoted", "newest", "wins") == []
    hits = hooked.recall("grep", "Where this work stood", check=False)
    assert (hits.returncode, hits.stdout) == (1, "")
    settled(hooked)


def test_without_the_handoff_loop_nothing_is_told(lab: Lab) -> None:
    """Installed without it, which is what an unattended install does."""
    lab.recall("install", "--no-timer")
    tui, path = two_turns(lab, "claude")
    compact(tui)
    assert told(next_request(lab, tui, "go on", "It is imported.")) == []
    tui.quit()
    assert lab.copy_of(path).exists()
