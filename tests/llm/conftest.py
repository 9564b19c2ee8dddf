"""A fake of the model API on 127.0.0.1, and settings that lead to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recall.settings import Settings, load
from tests import fake_model_api

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "task": {"type": "string"},
        "status": {"type": "string", "enum": ["done", "in_progress"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["task", "status", "tags"],
    "additionalProperties": False,
}
ANSWER = {"task": "Export of deals", "status": "done", "tags": ["export"]}


@pytest.fixture
def model_api() -> Iterator[fake_model_api.Server]:
    """The server; `model_api.script.load({...})` says what it answers, `model_api.requests` what it was asked."""
    server = fake_model_api.start({"default": {"structured": ANSWER}})
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def address(model_api: fake_model_api.Server) -> str:
    return f"http://127.0.0.1:{model_api.server_address[1]}"


@pytest.fixture
def settings(home: Path) -> Callable[..., Settings]:
    """`settings(RECALL_LLM="api")`: settings of an empty home."""

    def make(**variables: str) -> Settings:
        return load({"HOME": str(home), **variables})

    return make
