"""iTerm2 (a stand-in) and the bridge, where the package that both speak with is installed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def desk() -> Iterator[Any]:
    """iTerm2 with two sessions; no bridge yet."""
    pytest.importorskip("iterm2", reason="the package iterm2 (extra `dev`) is not installed")
    from tests.bridge.desk import Desk

    made = Desk()
    made.iterm.start()
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def bridged(desk: Any) -> Any:
    """iTerm2 with two sessions, and the bridge that listens."""
    desk.bridge()
    return desk
