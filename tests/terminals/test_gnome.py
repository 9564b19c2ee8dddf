"""GNOME Terminal: at the boundary of the process."""

from __future__ import annotations

from collections.abc import Mapping

from recall.terminals import gnome
from tests.terminals.contract import Place, TerminalTests, place

__all__ = ["place"]


class TestGnome(TerminalTests):
    """The contract."""

    module = "gnome"
    programs = ("gnome-terminal",)
    inside = ("GNOME_TERMINAL_SCREEN", "/org/gnome/Terminal/screen/1")

    def test_the_command(self, place: Place, env: Mapping[str, str]) -> None:
        """A window and a tab, with a title."""
        assert gnome.command(("a", "b"), "/", "t i", "window", env).argv == (
            *("gnome-terminal", "--window", "--title=t i", "--"),
            *("a", "b"),
        )
        assert gnome.command(("a", "b"), "/", "", "tab", env).argv == ("gnome-terminal", "--tab", "--", "a", "b")
