"""Konsole: at the boundary of the process, and the real one on a screen that nobody looks at."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping

import pytest

from recall.terminals.base import WINDOW
from tests.terminals.contract import Place, TerminalTests, place
from tests.terminals.hostile import SINGLE, WORST
from tests.terminals.screen import desktop, temporary

__all__ = ["place"]


class TestKonsole(TerminalTests):
    """The contract."""

    module = "konsole"
    programs = ("konsole",)
    inside = ("KONSOLE_VERSION", "221203")


@pytest.fixture(scope="module")
def session() -> Iterator[dict[str, str]]:
    """A desktop."""
    if not shutil.which("konsole"):
        pytest.skip("no konsole here")
    with temporary() as folder, desktop(folder) as env:
        yield env


@pytest.mark.slow
class TestReal(TerminalTests):
    """The contract, with the real one."""

    module = "konsole"
    inside = ("KONSOLE_VERSION", "221203")
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
