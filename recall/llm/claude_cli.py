"""The engine `claude`: the user's own Claude Code in print mode, with the login that it has.

The call leaves no transcript, fires no hook, has no tools and sees no project; the user's settings (login helpers,
environment)
still hold, which is why hooks are switched off by a setting and not by leaving the settings out. All of it, and what
the reply holds, was observed with Claude Code 2.1.332.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Mapping
from typing import Any

from recall.core.model import Reply, Usage
from recall.files import make_private_dir
from recall.llm import MAX_REPLY
from recall.llm.failure import ModelFailure, of_status
from recall.llm.prices import cost
from recall.settings import PROGRAM_PLACES, Settings

GUARD = "RECALL_GUARD"
"""Set for the client and so for whatever it starts: hook and recall do nothing there."""

_OF_USER = (
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_",
    "CLAUDE_CODE_SKIP_",
    "CLAUDE_CODE_CLIENT_",
    "CLAUDE_CODE_API_KEY_HELPER",
    "CLAUDE_CODE_EXTRA_BODY",
    "CLAUDE_CODE_TMPDIR",
    "CLAUDE_CODE_GIT_BASH_PATH",
    "CLAUDE_CODE_DISABLE_",
)
"""Beginnings of variables that say how the user reaches the model. The other CLAUDE_CODE_* are a running session's
own."""

_MAX_OUTPUT = 4 << 20  # bytes on stdout


def program(settings: Settings) -> str:
    """The absolute path of the client: setting `claude_bin`, PATH, the usual places; '' where there is none."""
    if settings.claude_bin:
        return settings.claude_bin if _runs(settings.claude_bin) else ""
    places = [place for place in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(place)]
    places += [settings.home + place[1:] if place.startswith("~") else place for place in PROGRAM_PLACES]
    return next((path for place in places if _runs(path := os.path.join(place, "claude"))), "")


def _runs(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def complete(
    settings: Settings,
    system: str,
    prompt: str,
    schema: dict[str, Any],
    *,
    max_tokens: int,
    timeout: float,
    retries: int,
) -> Reply:
    """Ask once; raises ModelFailure. The form of the reply is not checked here."""
    path = program(settings)
    if not path:
        raise ModelFailure("missing", "Claude Code was not found")
    folder = settings.model_folder
    make_private_dir(folder)
    argv = [
        path,
        "-p",
        "--model",
        settings.model,
        "--output-format",
        "json",
        "--json-schema",
        json.dumps(schema),
        "--settings",
        '{"disableAllHooks":true}',
        "--no-session-persistence",
        "--tools",
        "",
        "--strict-mcp-config",
        "--system-prompt",
        system,
    ]
    env = environment(os.environ, settings, max_tokens=max_tokens, timeout=timeout, retries=retries)
    out = _run(argv, prompt, folder, env, timeout)
    return read(out, settings.model)


def environment(
    outer: Mapping[str, str], settings: Settings, *, max_tokens: int, timeout: float, retries: int
) -> dict[str, str]:
    """The client's environment: the user's, without what a session around us has set, with limits and the guard."""
    env = {name: value for name, value in outer.items() if not _of_session(name)}
    if env.get("ANTHROPIC_API_KEY") and not _uses_key(settings, env):
        del env["ANTHROPIC_API_KEY"]
    env.update(
        {
            GUARD: "1",
            "HOME": settings.home,
            "API_TIMEOUT_MS": str(max(1000, int(timeout * 900 / (retries + 1)))),
            "CLAUDE_CODE_MAX_RETRIES": str(retries),
            "MAX_STRUCTURED_OUTPUT_RETRIES": "1",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(max_tokens),
            "CLAUDE_CODE_EFFORT_LEVEL": "low",
            "CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
    )
    return env


def _of_session(name: str) -> bool:
    if name in ("CLAUDECODE", "CLAUDE_PID", "CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE", "CLAUDE_EFFORT"):
        return True
    return name.startswith("CLAUDE_CODE_") and not name.startswith(_OF_USER)


def _uses_key(settings: Settings, env: Mapping[str, str]) -> bool:
    """Does the user's client use the key in the environment? In print mode it would take it unasked, before the login:
    so only where the user said yes to this key in the client, or has no login there."""
    key = env["ANTHROPIC_API_KEY"]
    path = os.path.join(env.get("CLAUDE_CONFIG_DIR") or settings.home, ".claude.json")
    try:
        with open(path, "rb") as file:
            state = json.load(file)
    except (OSError, ValueError):
        return True
    if not isinstance(state, dict):
        return True
    answers = state.get("customApiKeyResponses")
    answers = answers if isinstance(answers, dict) else {}
    if key[-20:] in (answers.get("approved") or ()):
        return True
    return not state.get("oauthAccount") and key[-20:] not in (answers.get("rejected") or ())


def _run(argv: list[str], prompt: str, folder: str, env: dict[str, str], timeout: float) -> bytes:
    """What the client prints; the client and all that it started are ended after `timeout` seconds."""
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=env,
            start_new_session=True,
        )
    except OSError as problem:
        raise ModelFailure("missing", f"Claude Code does not start: {problem.strerror}") from None
    _running.add(process)
    try:
        out, _ = process.communicate(prompt.encode("utf-8", "replace"), timeout=timeout)
    except subprocess.TimeoutExpired:
        raise ModelFailure("timeout", "Claude Code did not answer in time") from None
    finally:
        _running.discard(process)
        _end(process)
    return out


_running: set[subprocess.Popen[bytes]] = set()


def stop() -> None:
    """End the calls that other threads have under way: nobody waits for them any more."""
    for process in list(_running):
        _end(process, wait=False)


def _end(process: subprocess.Popen[bytes], *, wait: bool = True) -> None:
    """End the client and all that it started, unless it has ended by itself."""
    if process.returncode is None:  # not waited for yet, so its number is still its own
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    if wait:
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def read(out: bytes, model: str) -> Reply:
    """What the client printed as a reply; raises ModelFailure for one without an answer."""
    if len(out) > _MAX_OUTPUT:
        raise ModelFailure("bad_reply", "the answer is far too long")
    try:
        found = json.loads(out)
    except (ValueError, RecursionError):
        raise ModelFailure("bad_reply", "Claude Code printed no JSON") from None
    if not isinstance(found, dict):
        raise ModelFailure("bad_reply", "Claude Code printed no JSON object")
    if found.get("stop_reason") == "refusal":
        raise ModelFailure("refusal", "the model refused to answer")
    if found.get("stop_reason") == "max_tokens":
        raise ModelFailure("too_long", "the answer was cut at its limit")
    if found.get("is_error"):  # `subtype` says success even then
        raise _failure(found)
    value = found.get("structured_output")
    if not isinstance(value, dict):  # the model answered in words
        raise ModelFailure("bad_reply", "the answer has no structured output")
    if len(json.dumps(value, ensure_ascii=False)) > MAX_REPLY:
        raise ModelFailure("bad_reply", "the answer is far too long")
    used = _usage(found.get("usage"))
    named = _model(found.get("modelUsage"), model)
    dollars = cost(named, used) or _number(found.get("total_cost_usd"))
    return Reply(value, named, used._replace(cost=dollars))


def _failure(found: Mapping[str, Any]) -> ModelFailure:
    words = str(found.get("result") or "")
    status = found.get("api_error_status")
    reason = found.get("terminal_reason")
    if reason == "prompt_too_long":
        return ModelFailure("too_long", "the prompt is too long")
    if reason == "structured_output_retry_exhausted":
        return ModelFailure("bad_reply", "the answer has another form than the one asked for")
    if isinstance(status, int):
        return of_status(status, words)
    low = words.lower()
    if "/login" in low or "api key" in low:
        return ModelFailure("auth", "Claude Code is not logged in")
    if "timed out" in low:
        return ModelFailure("timeout", "the model API did not answer in time")
    if "limit reached" in low or "usage limit" in low or "hit your limit" in low:
        return ModelFailure("rate", "the limit of the plan is reached")
    if "usage policy" in low:
        return ModelFailure("refusal", "the model refused to answer")
    if "output token maximum" in low:
        return ModelFailure("too_long", "the answer was cut at its limit")
    return ModelFailure("server", "Claude Code could not get an answer")


def _usage(found: object) -> Usage:
    if not isinstance(found, dict):
        return Usage()
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return Usage(*(int(_number(found.get(name))) for name in names))


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0.0


def _model(found: object, model: str) -> str:
    """The model that answered: an alias stands for one."""
    if isinstance(found, dict) and found and model not in found:
        return str(max(found, key=lambda name: _number((found[name] or {}).get("outputTokens"))))
    return model
