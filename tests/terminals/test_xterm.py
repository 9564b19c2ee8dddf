"""`x-terminal-emulator`, or xterm: at the boundary of the process."""

from __future__ import annotations

from collections.abc import Mapping

from recall.terminals import xterm
from tests.terminals import standins
from tests.terminals.contract import Place, TerminalTests, place

__all__ = ["place"]


class TestXterm(TerminalTests):
    """The contract."""

    module = "xterm"
    programs = ("x-terminal-emulator",)
    inside = ("XTERM_VERSION", "XTerm(379)")

    def test_the_chosen_one_goes_first(self, place: Place, env: Mapping[str, str]) -> None:
        """What the system has chosen is taken, xterm where it has chosen nothing."""
        only = {**env, "PATH": str(place.bin)}
        standins.opens(place.bin, ("xterm",))
        assert xterm.command(("a", "b"), "/", "", "window", only).argv[0] == f"{place.bin}/x-terminal-emulator"
        (place.bin / "x-terminal-emulator").unlink()
        assert xterm.command(("a", "b"), "/", "", "window", only).argv == (f"{place.bin}/xterm", "-e", "a", "b")
