"""Ghostty: at the boundary of the process, on Linux and as macOS opens it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from recall.terminals import ghostty
from recall.terminals.base import WINDOW
from tests.terminals import standins
from tests.terminals.contract import Place, TerminalTests, place

__all__ = ["place"]


class TestGhostty(TerminalTests):
    """The contract."""

    module = "ghostty"
    programs = ("ghostty",)
    inside = ("TERM_PROGRAM", "ghostty")

    def test_a_file_is_the_same_for_versions_that_join_the_words(self) -> None:
        """No word of what recall gives it needs quotes, so that it does not matter who reads it."""
        assert ghostty.limit == 0
        what = ghostty.command(("/bin/sh", "/home/a/launch.sh"), "/", "", WINDOW, {})
        assert " ".join(what.argv).split() == list(what.argv) == ["ghostty", "-e", "/bin/sh", "/home/a/launch.sh"]


class TestGhosttyOnMac(TerminalTests):
    """The contract, through `open`."""

    module = "ghostty"
    programs = ("open",)
    inside = ("GHOSTTY_RESOURCES_DIR", "/Applications/Ghostty.app/Contents/Resources/ghostty")
    screen = False

    @pytest.fixture
    def env(self, place: Place) -> Mapping[str, str]:
        """A Mac with Ghostty, as far as we look at it."""
        standins.osascript(place.bin)
        standins.opens(place.bin, self.programs)
        (place.home / "Applications" / "Ghostty.app").mkdir(parents=True)
        return place.env
