"""Which engine is used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from recall import llm
from recall.errors import Usage
from recall.llm.failure import ModelFailure
from recall.settings import Settings
from tests.llm.conftest import SCHEMA


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "bin" / "claude"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\nexit 1\n")
    path.chmod(0o755)
    return path


def test_auto_is_claude_where_it_is_found(
    settings: Callable[..., Settings], program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By PATH, by setting, and not where the setting names nothing."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("recall.llm.claude_cli.PROGRAM_PLACES", ())
    assert llm.engine_of(settings()) == "none"
    assert llm.engine_of(settings(RECALL_CLAUDE_BIN=str(program))) == "claude"
    monkeypatch.setenv("PATH", str(program.parent))
    assert llm.engine_of(settings()) == "claude"
    assert llm.engine_of(settings(RECALL_CLAUDE_BIN="/nowhere/claude")) == "none"


def test_a_key_in_the_environment_is_not_consent(
    settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDK is used only where the user chose it."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("recall.llm.claude_cli.PROGRAM_PLACES", ())
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
    assert llm.engine_of(settings()) == "none"
    assert llm.engine_of(settings(RECALL_LLM="api")) == "api"


@pytest.mark.parametrize("llm_setting", ["auto", "api", "claude"])
def test_inside_of_a_model_call_nobody_is_asked(
    settings: Callable[..., Settings], program: Path, llm_setting: str
) -> None:
    """The guard ends the recursion, whatever is set."""
    guarded = settings(RECALL_GUARD="1", RECALL_LLM=llm_setting, RECALL_CLAUDE_BIN=str(program))
    assert llm.engine_of(guarded) == "none"
    with pytest.raises(ModelFailure) as caught:
        llm.complete(guarded, "s", "p", SCHEMA, max_tokens=10, timeout=1)
    assert caught.value.kind == "missing"


def test_claude_that_is_not_there_is_missing(settings: Callable[..., Settings]) -> None:
    """Chosen by name and not found: said so."""
    with pytest.raises(ModelFailure) as caught:
        llm.complete(
            settings(RECALL_LLM="claude", RECALL_CLAUDE_BIN="/nowhere/claude"),
            "s",
            "p",
            SCHEMA,
            max_tokens=9,
            timeout=1,
        )
    assert caught.value.kind == "missing"


@pytest.mark.parametrize(
    "variables", [{"RECALL_LLM": "gpt"}, {"RECALL_MAX_LLM_PER_DAY": "many"}, {"RECALL_MIN_EVENTS": "-1"}]
)
def test_a_setting_without_sense_is_wrong_usage(settings: Callable[..., Settings], variables: dict[str, str]) -> None:
    """One line, not a traceback."""
    with pytest.raises(Usage):
        settings(**variables)
