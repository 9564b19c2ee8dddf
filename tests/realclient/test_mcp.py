"""The tools in the real clients: registered as the docs say, called by a model that is a script."""

from __future__ import annotations

import json
import sys

import pytest

from tests.builders import claude_session
from tests.conftest import ROOT
from tests.machine import uid
from tests.realclient.lab import Lab, wait_for

pytestmark = pytest.mark.client

ROW = f"{uid(1)[:8]} 2026-06-11T09:00 crm [new] export the sales funnel to the portal"


def _with_recall(lab: Lab) -> None:
    """A session that is indexed, and the command on PATH."""
    turns = [("export the sales funnel to the portal", "Done: portal.py, commit 1a2b3c4d")]
    claude_session(lab.home, "crm", uid(1), turns)
    command = lab.home / ".local/bin/recall"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m recall "$@"\n')
    command.chmod(0o755)
    lab.recall("sweep", "--no-llm", "--quiet")


def test_claude_calls_the_tools(lab: Lab) -> None:
    """The row and the words come back to the model; what asks for them is not among what is found."""
    _with_recall(lab)
    lab.run([lab.program("claude"), "mcp", "add", "--scope", "user", "recall", "--", "recall", "mcp"])
    lab.answer(
        {"tools": [{"name": "mcp__recall__find", "input": {"query": "funnel portal"}}]},
        {"tools": [{"name": "mcp__recall__show", "input": {"id": uid(1)[:8], "tail": 2}}]},
        "It went to the portal.",
    )
    done = lab.run([lab.program("claude"), "-p", "where did the funnel portal go?", "--allowedTools", "mcp__recall"])
    assert done.stdout.strip() == "It went to the portal."
    results = _results(lab.asked()[-1])
    assert results[0] == ROW
    assert results[1].endswith("Done: portal.py, commit 1a2b3c4d")


def test_claude_in_a_window_is_not_found_itself(lab: Lab) -> None:
    """Its transcript has all the words by then; after /clear as well."""
    _with_recall(lab)
    lab.run([lab.program("claude"), "mcp", "add", "--scope", "user", "recall", "--", "recall", "mcp"])
    find = {"tools": [{"name": "mcp__recall__find", "input": {"query": "funnel portal"}}]}
    lab.answer(find, "First answer.", find, "Second answer.")
    tui = lab.tui("claude", "--allowedTools", "mcp__recall")
    tui.turn("where did the funnel portal go?", "First answer.")
    assert _results(lab.asked()[-1]) == [ROW]
    first = tui.session()
    tui.submit("/clear")
    wait_for(lambda: tui.session() != first, "another session after /clear")
    tui.turn("once more: the funnel portal?", "Second answer.")
    (told,) = _results(lab.asked()[-1])
    assert ROW in told
    assert first[:8] in told
    assert tui.session()[:8] not in told
    tui.quit()


def test_codex_calls_the_tools(lab: Lab) -> None:
    """Codex offers them once the server has told of them, which the model waits for here."""
    _with_recall(lab)
    told = lab.home / "told"
    served = f"exec recall mcp > >(tee {told})"  # the pid stays: the server's parent is the client
    lab.run([lab.program("codex"), "mcp", "add", "recall", "--", "bash", "-c", served])
    wait = f'until [ "$(cat {told} 2>/dev/null | wc -l)" -ge 2 ]; do sleep 0.1; done'
    lab.answer(
        {"tools": [{"name": "exec_command", "input": {"cmd": wait}}]},
        {"tools": [{"name": "find", "namespace": "mcp__recall", "input": {"query": "funnel portal"}}]},
        "It went to the portal.",
    )
    done = lab.run([lab.program("codex"), "exec", "--skip-git-repo-check", "where did the funnel portal go?"])
    assert done.stdout.strip() == "It went to the portal."
    results = [one["output"] for one in lab.asked()[-1]["input"] if one["type"] == "function_call_output"]
    assert ROW in json.dumps(results[-1])
    assert "where did the funnel portal go" not in json.dumps(results[-1])


def _results(request: dict[str, object]) -> list[str]:
    """The texts of all tool results in a request."""
    out = []
    messages = request["messages"]
    assert isinstance(messages, list)
    for message in messages:
        for block in message["content"] if isinstance(message["content"], list) else []:
            if block.get("type") == "tool_result":
                content = block["content"]
                out.append(content if isinstance(content, str) else "".join(part["text"] for part in content))
    return out
