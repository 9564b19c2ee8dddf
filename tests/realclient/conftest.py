"""The real clients, where they are installed: `install_clients.sh` fills the folder that RECALL_TEST_CLIENTS names."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.llm.conftest import address, model_api  # noqa: F401
from tests.realclient.lab import Lab


def clients_folder() -> Path:
    """RECALL_TEST_CLIENTS, else a folder in the user's cache."""
    named = os.environ.get("RECALL_TEST_CLIENTS")
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME", "/nonexistent"), ".cache")
    return Path(named) if named else Path(cache) / "recall-test-clients"


def _program(name: str) -> Path:
    path = clients_folder() / "node_modules" / ".bin" / name
    if not path.exists():
        pytest.skip(f"no {name} in {clients_folder()}: tests/realclient/install_clients.sh DIR both installs it")
    return path


@pytest.fixture
def real_claude() -> Path:
    """The real Claude Code; the test is skipped where it is not installed."""
    return _program("claude")


@pytest.fixture
def lab() -> Iterator[Lab]:
    """A home with both real clients in it, and a fake of the model behind them."""
    for name in ("claude", "codex"):
        _program(name)
    if not shutil.which("tmux"):
        pytest.skip("no tmux: the clients need a terminal")
    if not shutil.which("node"):
        pytest.skip("no node: the launcher of codex needs it")
    made = Lab(clients_folder())
    yield made
    made.close()


@pytest.fixture
def hooked(lab: Lab) -> Lab:
    """A home in which recall is installed, and where every session is worth a card."""
    lab.recall("install", "--with-handoff", "--no-timer")
    lab.variables["RECALL_MIN_EVENTS"] = "4"
    return lab
