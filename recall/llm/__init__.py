"""Asking a model: one question, one answer in a form that was asked for. The engines, and which one is to be used.

`claude` is the user's own Claude Code in print mode; `api` the maker's SDK, used only where the user chose it: a key in
the environment is not consent; `none` asks nobody.
"""

from __future__ import annotations

from typing import Any

from recall.core.model import Reply
from recall.llm.failure import ModelFailure
from recall.llm.schema import problem
from recall.settings import Settings

MAX_REPLY = 200_000
"""Characters of an answer; a longer one is none."""


def engine_of(settings: Settings) -> str:
    """'claude', 'api' or 'none': what `complete` would use. A recall that runs inside of a model call asks nobody."""
    if settings.guarded or settings.llm == "none":
        return "none"
    if settings.llm == "api":
        return "api"
    from recall.llm.claude_cli import program

    if program(settings):
        return "claude"
    return "claude" if settings.llm == "claude" else "none"


def complete(
    settings: Settings,
    system: str,
    prompt: str,
    schema: dict[str, Any],
    *,
    max_tokens: int,
    timeout: float,
    retries: int = 1,
) -> Reply:
    """Ask the chosen engine; the reply's value fits `schema` (an object).

    `timeout` is in seconds and holds for all of the call; `retries` is how often the engine may try again by itself.
    Raises ModelFailure.
    """
    engine = engine_of(settings)
    if engine == "none":
        raise ModelFailure("missing", "no model is set up")
    if engine == "api":
        from recall.llm import api

        reply = api.complete(settings, system, prompt, schema, max_tokens=max_tokens, timeout=timeout, retries=retries)
    else:
        from recall.llm import claude_cli

        reply = claude_cli.complete(
            settings, system, prompt, schema, max_tokens=max_tokens, timeout=timeout, retries=retries
        )
    wrong = problem(reply.value, schema)
    if wrong:
        raise ModelFailure("bad_reply", f"the answer has another form than the one asked for: {wrong}")
    return reply
