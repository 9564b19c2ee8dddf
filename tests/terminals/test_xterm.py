"""`x-terminal-emulator`, or xterm: at the boundary of the process, and the real xterm on a screen that nobody looks at."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping

import pytest

from recall.terminals import xterm
from tests.terminals import standins
from tests.terminals.contract import Place, TerminalTests, place
from tests.terminals.hostile import WORST
from tests.terminals.screen import screen

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
        assert xterm.command(("a", "b"), "/", "", "window", only).argv[:2] == (f"{place.bin}/xterm", "-e")


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """A screen."""
    if not shutil.which("xterm"):
        pytest.skip("no xterm here")
    with screen() as name:
        yield name


@pytest.mark.slow
class TestReal(TerminalTests):
    """The contract, with the real xterm as what the system has chosen."""

    module = "xterm"
    inside = ("XTERM_VERSION", "XTerm(379)")
    samples = WORST
    files = WORST[::3]

    @pytest.fixture
    def env(self, place: Place, display: str) -> Mapping[str, str]:
        """A desktop."""
        (place.bin / "x-terminal-emulator").symlink_to(str(shutil.which("xterm")))
        return {**place.env, "DISPLAY": display}
