"""GNOME Terminal: at the boundary of the process, and the real one on a screen that nobody looks at."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping

import pytest

from recall.terminals import gnome
from recall.terminals.base import WINDOW
from tests.terminals.contract import Place, TerminalTests, place, run_in
from tests.terminals.hostile import SINGLE, WORST
from tests.terminals.screen import desktop, temporary

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


@pytest.fixture(scope="module")
def session() -> Iterator[dict[str, str]]:
    """A desktop with a window in which nothing happens: without one the terminal's server would end, and lose what it is
    asked for while it does."""
    if not shutil.which("gnome-terminal"):
        pytest.skip("no gnome-terminal here")
    with temporary() as folder, desktop(folder) as env:
        run_in(env, "gnome-terminal", "--", "sh", "-c", "read forever")
        yield env


@pytest.mark.slow
class TestReal(TerminalTests):
    """The contract, with the real one."""

    module = "gnome"
    inside = ("GNOME_TERMINAL_SCREEN", "/org/gnome/Terminal/screen/1")
    samples = WORST
    files = WORST[::3]

    @pytest.fixture
    def env(self, session: dict[str, str]) -> Mapping[str, str]:
        """A desktop."""
        return session

    def test_all_words_at_once(self, place: Place, env: Mapping[str, str]) -> None:
        """Nothing in an argument is acted upon."""
        got = self.opened((str(place.wire.recorder), *SINGLE), "/", "t", WINDOW, env, place.wire)
        assert got.argv == SINGLE
