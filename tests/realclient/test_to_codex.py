"""A task goes from the real Claude Code to the real Codex and back: the model is told of the brief, and of what it says."""

from __future__ import annotations

import json

import pytest

from tests.realclient.lab import Lab, wait_for
from tests.realclient.talk import TURNS, id_of, settled, three_turns
from tests.realclient.test_open import Window, prepare_tmux, recall, windows

pytestmark = pytest.mark.client

BRIEF = "CODEX_HANDOFF.md"


def codex_requests(lab: Lab, since: int = 0) -> list[str]:
    """What reached the model from Codex, as text."""
    return [json.dumps(body) for body in lab.asked(since) if "input" in body]


def test_a_task_goes_to_codex_and_back(lab: Lab) -> None:
    """Codex opens in the folder, in a window of its own, and its first prompt names the brief; the brief holds what was
    asked of Claude Code. What Codex then did makes a brief that Claude Code takes as its first prompt, whole."""
    tui, path = three_turns(lab, "claude")
    tui.quit()
    prepare_tmux(lab)
    lab.rows()
    before, requests, rollouts = windows(lab), len(lab.api.requests), lab.transcripts("codex")
    lab.answer("I have read the brief and run the export.")
    told = json.loads(
        recall(lab, "to-codex", lab.home / "crm", "--task", "Finish the funnel export", "--spawn", "--json")
    )
    assert told["from"] == id_of(path)
    text = (lab.home / "crm" / BRIEF).read_text()
    assert "Finish the funnel export" in text
    assert TURNS[0][0] in text
    assert windows(lab) == before + 1
    (rollout,) = set(lab.transcripts("codex")) - set(rollouts)
    assert told["spawned"]["session"] == id_of(rollout)
    window = Window(lab, "codex", told["spawned"]["window"])
    window.wait("I have read the brief")
    assert window.folder() == str(lab.home / "crm")
    asked = wait_for(lambda: codex_requests(lab, requests), "a request of Codex")
    assert any(f"Read {BRIEF} in this folder" in body for body in asked)
    wait_for(window.idle, "the end of the turn")
    assert "is open" in recall(lab, "open", id_of(rollout), status=3)
    window.quit()

    lab.rows()
    back = recall(lab, "handoff", id_of(rollout), "--for", "claude", "--no-llm")
    assert back.startswith("# Brief for Claude Code")
    assert id_of(rollout) in back
    assert "I have read the brief and run the export" in back

    lab.answer("I go on.")
    requests = len(lab.api.requests)
    reader = lab.tui("claude", back)
    reader.wait("I go on")
    (body,) = [body for body in lab.asked(requests) if "messages" in body]
    assert json.dumps(back.strip())[1:-1] in json.dumps(body)
    reader.close_window()


def test_codex_that_asks_first_is_told_with_its_screen(hooked: Lab) -> None:
    """As it does about hooks that nobody has reviewed: status 4 and what the window shows; the brief is there. Answered, it
    begins with it."""
    hooked.tmux("new-session", "-d", "-s", "first", "-x", "150", "-y", "50", "cat")
    prepare_tmux(hooked)
    crm = hooked.home / "crm"
    said = recall(hooked, "to-codex", crm, "--task", "Look round", "--spawn", "--wait", "8", status=4)
    assert "no Codex session began" in said
    assert "Hooks need review" in said.partition("hint:")[0]
    assert (crm / BRIEF).exists()
    assert codex_requests(hooked) == []
    hooked.answer("I looked round.")
    window = Window(hooked, "codex", hooked.tmux("list-panes", "-a", "-F", "#{pane_id}").split()[-1])
    window.keys("2", "Enter")
    window.wait("I looked round")
    assert f"Read {BRIEF} in this folder" in codex_requests(hooked)[-1]
    wait_for(window.idle, "the end of the turn")
    window.quit()
    settled(hooked)
