"""The real clients, where they are installed: `install_clients.sh` fills the folder that RECALL_TEST_CLIENTS names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.llm.conftest import address, model_api  # noqa: F401


def clients_folder() -> Path:
    """RECALL_TEST_CLIENTS, else a folder in the user's cache."""
    named = os.environ.get("RECALL_TEST_CLIENTS")
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME", "/nonexistent"), ".cache")
    return Path(named) if named else Path(cache) / "recall-test-clients"


@pytest.fixture
def real_claude() -> Path:
    """The real Claude Code; the test is skipped where it is not installed."""
    path = clients_folder() / "node_modules" / ".bin" / "claude"
    if not path.exists():
        pytest.skip(f"no Claude Code in {clients_folder()}: tests/realclient/install_clients.sh DIR installs it")
    return path
