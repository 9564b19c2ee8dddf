"""iTerm2's opening side: scripts as text, and run by a stand-in for osascript that reads them as AppleScript and iTerm2 do."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from recall.terminals import iterm2
from recall.terminals.base import TAB, WINDOW
from tests.terminals import standins
from tests.terminals.contract import Place, TerminalTests, place

__all__ = ["place"]


class TestITerm2(TerminalTests):
    """The contract."""

    module = "iterm2"
    inside = ("TERM_PROGRAM", "iTerm.app")
    screen = False

    @pytest.fixture
    def env(self, place: Place) -> Mapping[str, str]:
        """A Mac with iTerm2, as far as we look at it."""
        standins.osascript(place.bin)
        (place.home / "Applications" / "iTerm.app").mkdir(parents=True)
        return place.env

    def test_the_script(self) -> None:
        """A window and a tab, as text."""
        window = iterm2.command(("/bin/sh", "/a b/c"), "/", "t", WINDOW, {})
        tab = iterm2.command(("/bin/sh", "/a b/c"), "/", "t", TAB, {})
        command = (
            r'command "\"/bin/sh\" \"-c\" \"set -f;IFS=;e=$(printf %s $0|tr ?-@ [-^);x=$(printf $e);eval exec $x;\"'
            r' \"@047/bin/sh@047@040@047/a@040b/c@047\""'
        )
        assert window.argv == tab.argv == ("osascript", "-")
        assert window.stdin == (
            f'tell application "iTerm2"\n  create window with default profile {command}\n  activate\nend tell\n'
        )
        assert f"    tell current window to create tab with default profile {command}\n" in tab.stdin

    def test_over_ssh(self, place: Place) -> None:
        """What ssh carries along does not make another machine a Mac."""
        far = {**place.env, "LC_TERMINAL": "iTerm2", "TERM_PROGRAM": "iTerm.app"}
        assert not iterm2.available(far)
