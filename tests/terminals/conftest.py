"""For all tests of terminals."""

from __future__ import annotations

import pytest

from recall.terminals.run import ask
from tests.terminals.wire import PATIENCE


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real terminal on a busy machine may take longer to answer than a person would wait."""
    monkeypatch.setitem(ask.__kwdefaults__, "deadline", PATIENCE)
