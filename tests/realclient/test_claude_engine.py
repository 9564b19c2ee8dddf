"""Cards through the user's own Claude Code: the real program, with a fake of the model API behind it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests import builders
from tests.conftest import Run

pytestmark = pytest.mark.client

SESSION = "aaaaaaaa-0000-4000-8000-000000000000"
CARD = {
    "title": "Deal export",
    "task": "Export deals to the portal",
    "status": "done",
    "method": "Wrote export.py",
    "next": "",
    "tags": ["export"],
    "entities": ["portal"],
    "artifacts": ["export.py"],
}
Claude = Callable[..., Any]


@pytest.fixture
def hook_log(home: Path) -> Path:
    return home / "hooks.log"


@pytest.fixture
def with_claude(
    home: Path,
    run_recall: Run,
    real_claude: Path,
    model_api: Any,
    address: str,
    hook_log: Path,
) -> Claude:
    """recall with the real client as its engine, found on PATH; the client has hooks that leave a trace."""
    started = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    tool = ("Write", {"file_path": "export.py", "content": "print(1)"}, "ok")
    turns = [(f"Please export deals {n} to the portal", f"I wrote export.py, step {n}", [tool]) for n in range(6)]
    builders.claude_session(home, "crm", SESSION, turns, start=started)
    state = {"hasCompletedOnboarding": True, "customApiKeyResponses": {"approved": ["test-key"], "rejected": []}}
    (home / ".claude.json").write_text(json.dumps(state))
    trace = [{"hooks": [{"type": "command", "command": f"echo fired >> {hook_log}"}]}]
    events = ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")
    _settings(home, {"hooks": dict.fromkeys(events, trace)})
    (home / "bin").mkdir()
    (home / "bin/claude").symlink_to(real_claude)
    model_api.script.load({"default": {"structured": CARD}})

    def run(*args: object, **settings: Any) -> Any:
        variables = {
            "PATH": f"{home}/bin:/usr/bin:/bin",
            "ANTHROPIC_BASE_URL": address,
            "ANTHROPIC_API_KEY": "test-key",
            "CLAUDE_CODE_TMPDIR": str(home),
        }
        return run_recall(*args, **{**variables, **settings})

    return run


def _settings(home: Path, settings: dict[str, Any]) -> None:
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".claude/settings.json").write_text(json.dumps(settings))


def _transcripts(home: Path) -> list[str]:
    return sorted(path.name for path in home.glob(".claude/projects/*/*.jsonl"))


def _card(home: Path) -> str:
    return (home / f".claude/session-recaps/{SESSION}.md").read_text()


def test_a_card_comes_and_nothing_is_left(home: Path, with_claude: Claude, model_api: Any, hook_log: Path) -> None:
    """One request, no transcript, no hook, no tool but the one for the answer; the ledger names the engine."""
    done = with_claude("sweep", "--max-llm", 1)
    assert (done.returncode, "1 card" in done.stdout) == (0, True)
    assert "written_by: claude-haiku-5-5" in _card(home)
    assert _transcripts(home) == [f"{SESSION}.jsonl"]
    assert not hook_log.exists()
    asked = [one["body"] for one in model_api.requests if "/messages" in one["path"]]
    assert len(asked) == 1
    assert {tool["name"] for tool in asked[0]["tools"]} <= {"StructuredOutput", "DeferredToolPlaceholder"}
    assert "export deals 0" in json.dumps(asked[0]["messages"])
    call = json.loads((home / ".claude/recall/ledger.jsonl").read_text())
    assert (call["engine"], call["ok"], call["input"]) == ("claude", True, 100)
    assert "1 sessions" in with_claude("sweep", "--no-llm").stdout


def test_the_settings_of_the_user_hold(home: Path, with_claude: Claude, model_api: Any) -> None:
    """Whoever logs in by a helper program, or reaches the model by variables in the settings, is understood."""
    helper = home / "helper"
    helper.write_text("#!/bin/sh\necho helper-key\n")
    helper.chmod(0o755)
    _settings(home, {"apiKeyHelper": str(helper), "env": {"ANTHROPIC_CUSTOM_HEADERS": "X-From-Settings: yes"}})
    assert with_claude("sweep", "--max-llm", 1, ANTHROPIC_API_KEY="").returncode == 0
    assert "written_by: claude-haiku-5-5" in _card(home)
    headers = {key.lower(): value for key, value in model_api.requests[-1]["headers"].items()}
    assert headers["x-from-settings"] == "yes"


@pytest.mark.parametrize(
    ("kind", "script"),
    [
        ("rate", {"default": {"fault": {"type": "status", "status": 429}}}),
        ("overloaded", {"default": {"fault": {"type": "status", "status": 529}}}),
        ("server", {"default": {"fault": {"type": "status", "status": 500}}}),
        ("auth", {"default": {"fault": {"type": "status", "status": 401}}}),
        ("bad_reply", {"default": {"plain": True, "text": "It was an export."}}),
        ("bad_reply", {"default": {"structured": {"task": 1}}}),
    ],
)
def test_faults_are_told_apart(
    home: Path,
    with_claude: Claude,
    model_api: Any,
    kind: str,
    script: dict[str, Any],
) -> None:
    """The sweep goes well all the same, and asks no more than once."""
    model_api.script.load(script)
    assert with_claude("sweep", "--max-llm", 1).returncode == 0
    (call,) = map(json.loads, (home / ".claude/recall/ledger.jsonl").read_text().splitlines())
    assert call["error"] == kind


def test_without_a_login_it_is_said(with_claude: Claude) -> None:
    """Status 4 of a card that was asked for, and what to do."""
    done = with_claude("recap", SESSION, ANTHROPIC_API_KEY="")
    assert done.returncode in (1, 4)
    with_claude("sweep", "--no-llm")
    done = with_claude("recap", SESSION, ANTHROPIC_API_KEY="")
    assert done.returncode == 4
    assert "login" in done.stderr


def test_inside_of_a_session_and_inside_of_a_call(home: Path, with_claude: Claude, model_api: Any) -> None:
    """From a running session it works; from a call of our own nothing is asked."""
    inside = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "x", "CLAUDE_CODE_ENTRYPOINT": "cli"}
    with_claude("sweep", "--max-llm", 1, RECALL_GUARD="1", **inside)
    assert not model_api.requests
    with_claude("sweep", "--max-llm", 1, **inside)
    assert "written_by: claude-haiku-5-5" in _card(home)


def test_a_program_that_is_not_on_path(home: Path, with_claude: Claude, real_claude: Path) -> None:
    """Found by its setting, and in the usual places: a timer's PATH is short."""
    bare = {"PATH": "/usr/bin:/bin"}
    assert "card" not in with_claude("sweep", "--max-llm", 1, **bare).stdout
    (home / ".local/bin").mkdir(parents=True)
    (home / ".local/bin/claude").symlink_to(real_claude)
    assert "1 card" in with_claude("sweep", "--max-llm", 1, **bare).stdout
    shutil.rmtree(home / ".local")
    (home / f".claude/session-recaps/{SESSION}.md").unlink()
    done = with_claude("recap", SESSION, "--force", RECALL_CLAUDE_BIN=os.fspath(real_claude), **bare)
    assert done.returncode == 0
    assert "written_by: claude-haiku-5-5" in _card(home)
