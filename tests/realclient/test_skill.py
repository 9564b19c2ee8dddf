"""The skill in the real clients, and what `doctor` says of what the real clients keep. The model is a script."""

from __future__ import annotations

import json
import shutil
import sys

import pytest

from tests.builders import claude_session
from tests.conftest import ROOT
from tests.machine import uid
from tests.realclient.lab import Lab, wait_for
from tests.test_skill import DESCRIPTION, TEXT

pytestmark = pytest.mark.client


def _with_skill(lab: Lab) -> None:
    """A session, the command on PATH, the skill where either client looks for it."""
    turns = [("export the sales funnel to the portal", "Done: portal.py, commit 1a2b3c4d")]
    claude_session(lab.home, "crm", uid(1), turns)
    for top in (".claude", ".agents"):
        shutil.copytree(ROOT / "skills", lab.home / top / "skills")
    command = lab.home / ".local/bin/recall"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m recall "$@"\n')
    command.chmod(0o755)
    lab.recall("sweep", "--no-llm", "--quiet")


def _bash(command: str) -> dict[str, object]:
    return {"tools": [{"name": "Bash", "input": {"command": command, "description": "look"}}]}


def test_claude_lists_it_whole_and_follows_it(lab: Lab) -> None:
    """The whole description is offered, the whole text is read, and the commands in it answer inside the client."""
    _with_skill(lab)
    lab.answer(
        {"tools": [{"name": "Skill", "input": {"skill": "session-orchestrator"}}]},
        _bash("recall find funnel portal"),
        _bash(f"recall show {uid(1)[:8]} --tail 2"),
        "It went to the portal.",
    )
    done = lab.run([lab.program("claude"), "-p", "в какой сессии мы делали выгрузку воронки?"])
    assert done.stdout.strip() == "It went to the portal."
    asked = lab.asked()
    assert DESCRIPTION in _texts(asked[0])
    told = _texts(asked[-1])
    assert TEXT.split("---\n", 2)[2].strip() in told
    assert f"{uid(1)[:8]} 2026-06-11T09:00 crm [new] export the sales funnel to the portal" in told
    assert "Done: portal.py, commit 1a2b3c4d" in told


def test_codex_lists_it_whole(lab: Lab) -> None:
    _with_skill(lab)
    lab.answer("nothing to do")
    lab.run([lab.program("codex"), "exec", "--skip-git-repo-check", "find the session about the funnel"])
    assert DESCRIPTION in _texts(lab.asked()[-1])


def test_doctor_knows_whether_codex_trusts_the_hooks(lab: Lab) -> None:
    """Before the user's review, and after it: as the real client notes it."""
    lab.recall("install", "--no-timer", "--with-handoff")

    def hooks() -> dict[str, str]:
        checks = json.loads(lab.recall("doctor", "--json", check=False).stdout)["checks"]
        return next(check for check in checks if check["name"] == "codex hooks")

    assert hooks()["state"] == "warn"
    tui = lab.tui("codex", ready="[Hh]ooks need review")
    tui.keys("2")
    tui.wait("› 2. Trust all")
    tui.keys("Enter")
    wait_for(lambda: hooks()["text"].endswith("; trusted"), "the trust of all hooks in what doctor says")


def _texts(value: object) -> str:
    """All texts in a request, one after the other."""
    if isinstance(value, str):
        return value + "\n"
    if isinstance(value, dict):
        return "".join(map(_texts, value.values()))
    return "".join(map(_texts, value)) if isinstance(value, list) else ""
