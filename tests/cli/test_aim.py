"""A pane names its terminal's module: what drives it is found by that, whatever a person calls the terminal."""

from __future__ import annotations

import pytest

from recall import terminals
from recall.cli.aim import _driver
from recall.core.model import Pane
from recall.errors import Unavailable


@pytest.mark.parametrize("name", terminals.DRIVEN)
def test_every_terminal_that_can_be_driven_is(name: str) -> None:
    """iTerm2 and WezTerm are written otherwise than their modules."""
    assert _driver(Pane(name, "1")) is terminals.driver(name)


def test_others_are_told() -> None:
    """Status 4."""
    with pytest.raises(Unavailable, match="cannot be driven"):
        _driver(Pane("apple", "1"))
