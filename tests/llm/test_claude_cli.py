"""The engine `claude` with a stand-in for the client: what it is given, and what is made of what it prints."""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall import llm
from recall.llm import claude_cli
from recall.llm.failure import ModelFailure
from recall.settings import Settings
from tests.llm.conftest import ANSWER, SCHEMA

Stand = Callable[..., Settings]


@pytest.fixture
def stand_in(settings: Callable[..., Settings], tmp_path: Path) -> Stand:
    """`stand_in("print(1)")`: settings whose client is a Python program with this body."""

    def make(body: str) -> Settings:
        path = tmp_path / "claude"
        path.write_text(f"#!{sys.executable} -S\nimport json, os, sys\n{body}\n")
        path.chmod(0o755)
        return settings(RECALL_LLM="claude", RECALL_CLAUDE_BIN=str(path))

    return make


def _ask(settings: Settings, timeout: float = 30) -> Any:
    return llm.complete(settings, "Be short.", "What was it?", SCHEMA, max_tokens=700, timeout=timeout, retries=0)


def test_the_client_gets_prompt_limits_and_an_empty_folder(stand_in: Stand, tmp_path: Path) -> None:
    """The prompt comes on stdin; no transcript, no hooks, no tools, no servers; cwd is a folder of recall's own."""
    seen = tmp_path / "seen.json"
    settings = stand_in(
        "seen = [sys.argv[1:], sys.stdin.read(), os.getcwd(), os.listdir('.'), dict(os.environ)]\n"
        f"json.dump(seen, open({str(seen)!r}, 'w'))\n"
        f"print(json.dumps({{'is_error': False, 'structured_output': {ANSWER!r}, 'usage': {{'input_tokens': 10}}}}))"
    )
    assert _ask(settings).value == ANSWER
    argv, prompt, cwd, files, env = json.loads(seen.read_text())
    assert prompt == "What was it?"
    assert (cwd, files) == (os.path.realpath(os.path.join(settings.state, "model")), [])
    pairs = dict(itertools.pairwise(argv))
    assert "-p" in argv
    assert "--no-session-persistence" in argv
    assert "--strict-mcp-config" in argv
    assert json.loads(pairs["--settings"]) == {"disableAllHooks": True}
    assert json.loads(pairs["--json-schema"]) == SCHEMA
    assert (pairs["--tools"], pairs["--system-prompt"], pairs["--model"]) == ("", "Be short.", "claude-haiku-5-5")
    assert env["RECALL_GUARD"] == "1"
    assert env["CLAUDE_CODE_MAX_RETRIES"] == "0"
    assert env["API_TIMEOUT_MS"] == "27000"


def test_what_a_session_around_us_has_set_is_not_handed_on(settings: Callable[..., Settings]) -> None:
    """CLAUDECODE and CLAUDE_CODE_* of a running session go; how the user reaches the model stays."""
    outer = {
        "PATH": "/bin",
        "CLAUDECODE": "1",
        "CLAUDE_CODE_SESSION_ID": "x",
        "CLAUDE_CODE_ENTRYPOINT": "cli",
        "CLAUDE_CODE_CHILD_SESSION": "1",
        "CLAUDE_CODE_USE_BEDROCK": "1",
        "CLAUDE_CODE_OAUTH_TOKEN": "t",
        "CLAUDE_CONFIG_DIR": "/c",
        "ANTHROPIC_BASE_URL": "http://h",
    }
    env = claude_cli.environment(outer, settings(), max_tokens=1, timeout=10, retries=1)
    kept = {"PATH", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", "ANTHROPIC_BASE_URL"}
    assert outer.keys() & env.keys() == kept


KEY = "sk-test-0123456789abcdefghijklmnop"


@pytest.mark.parametrize(
    ("state", "kept"),
    [
        (None, True),
        ({}, True),
        ({"oauthAccount": {"x": 1}}, False),
        ({"oauthAccount": {"x": 1}, "customApiKeyResponses": {"approved": [KEY[-20:]]}}, True),
        ({"customApiKeyResponses": {"rejected": [KEY[-20:]]}}, False),
        ([], True),
    ],
)
def test_a_key_is_used_where_the_user_uses_it_in_the_client(
    settings: Callable[..., Settings], home: Path, state: Any, kept: bool
) -> None:
    """Print mode would take a key before the login: it gets one that the user allowed, or needs."""
    if state is not None:
        (home / ".claude.json").write_text(json.dumps(state))
    env = claude_cli.environment({"ANTHROPIC_API_KEY": KEY}, settings(), max_tokens=1, timeout=10, retries=1)
    assert ("ANTHROPIC_API_KEY" in env) is kept


GOOD = {"is_error": False, "structured_output": ANSWER, "usage": {"input_tokens": 3, "output_tokens": 2}}


@pytest.mark.parametrize(
    ("kind", "printed"),
    [
        ("bad_reply", b""),
        ("bad_reply", b"Segmentation fault"),
        ("bad_reply", b"[]"),
        ("bad_reply", b"[" * 100_000),
        ("bad_reply", b'{"is_error":false'),
        ("bad_reply", {**GOOD, "structured_output": None, "result": "In words."}),
        ("bad_reply", {"is_error": True, "terminal_reason": "structured_output_retry_exhausted"}),
        ("bad_reply", {**GOOD, "structured_output": {"task": "x" * 1_000_000}}),
        ("rate", {"is_error": True, "subtype": "success", "api_error_status": 429, "result": "secret"}),
        ("rate", {"is_error": True, "api_error_status": None, "result": "Claude usage limit reached, resets 3pm"}),
        ("overloaded", {"is_error": True, "api_error_status": 529}),
        ("server", {"is_error": True, "api_error_status": 500}),
        ("server", {"is_error": True, "result": "secret"}),
        ("auth", {"is_error": True, "api_error_status": 401}),
        ("auth", {"is_error": True, "result": "Not logged in · Please run /login"}),
        ("auth", {"is_error": True, "result": "Invalid API key · Fix external API key"}),
        ("timeout", {"is_error": True, "result": "Request timed out. secret"}),
        ("too_long", {"is_error": True, "api_error_status": 400, "terminal_reason": "prompt_too_long"}),
        ("too_long", {**GOOD, "stop_reason": "max_tokens"}),
        ("refusal", {**GOOD, "stop_reason": "refusal"}),
    ],
)
def test_what_the_client_prints_has_a_kind(kind: str, printed: Any) -> None:
    """Failures are told by the fields, since `subtype` says success even then; none repeats what the client said."""
    raw = printed if isinstance(printed, bytes) else json.dumps(printed).encode()
    with pytest.raises(ModelFailure) as caught:
        claude_cli.read(raw, "claude-haiku-5-5")
    assert caught.value.kind == kind
    assert "secret" not in caught.value.message


def test_the_model_is_the_one_that_answered() -> None:
    """An alias in the settings is not what the card says; an unknown model's price is the client's."""
    found = {**GOOD, "modelUsage": {"claude-new-9": {"outputTokens": 2}}, "total_cost_usd": 0.5}
    reply = claude_cli.read(json.dumps(found).encode(), "new")
    assert (reply.model, reply.usage.cost) == ("claude-new-9", 0.5)


def test_a_client_that_hangs_is_ended_with_all_that_it_started(stand_in: Stand, tmp_path: Path) -> None:
    """The limit holds, and the whole process group goes."""
    pids = tmp_path / "pids"
    settings = stand_in(
        "import subprocess, time\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(pids)!r} + '.new', 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        f"os.rename({str(pids)!r} + '.new', {str(pids)!r})\n"
        "time.sleep(600)"
    )
    with pytest.raises(ModelFailure) as caught:
        _ask(settings, timeout=3)
    assert caught.value.kind == "timeout"
    client, child = map(int, pids.read_text().split())
    with pytest.raises(ProcessLookupError):
        os.kill(client, 0)
    assert _ends(child)


def _ends(pid: int) -> bool:
    """Gone, or dead and not yet collected by whoever inherited it; the kernel may need a moment to carry out a kill."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False


def test_a_client_that_does_not_read_is_no_crash(stand_in: Stand) -> None:
    """A client that ends before it read the prompt gives a failure."""
    with pytest.raises(ModelFailure) as caught:
        llm.complete(stand_in("sys.exit(3)"), "s", "p" * 1_000_000, SCHEMA, max_tokens=9, timeout=30)
    assert caught.value.kind == "bad_reply"
