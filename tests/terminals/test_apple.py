"""Terminal.app: scripts as text, and typed into the shells that a person may have."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

import pytest

from recall.terminals import apple
from recall.terminals.base import WINDOW
from tests.terminals import standins
from tests.terminals.contract import Place, TerminalTests, place
from tests.terminals.hostile import WORST

__all__ = ["place"]


class TestApple(TerminalTests):
    """The contract."""

    module = "apple"
    inside = ("TERM_PROGRAM", "Apple_Terminal")
    screen = False

    @pytest.fixture
    def env(self, place: Place) -> Mapping[str, str]:
        """A Mac, as far as we look at it."""
        standins.osascript(place.bin)
        return place.env

    def test_the_script(self) -> None:
        """A window, as text: the string is escaped for AppleScript, what is in it for any shell."""
        what = apple.command(("/bin/sh", '/a "b"'), "/", "t", WINDOW, {})
        assert what.argv == ("osascript", "-")
        assert what.stdin == (
            'tell application "Terminal"\n'
            "  do script \"exec '/bin/sh' '-c' 'set -f;IFS=;e=$(printf %s $0|tr ?-@ [-^);x=$(printf $e);eval exec $x;'"
            " '@047/bin/sh@047@040@047/a@040@042b@042@047'\"\n"
            "  activate\n"
            "end tell\n"
        )

    def test_the_name_of_a_file_is_short_enough_to_be_typed(self) -> None:
        """A terminal device of macOS keeps 1,024 bytes of a line that no program reads yet."""
        script = apple.command(("/bin/sh", "/Users/имя/" + "я" * 80), "/", "", WINDOW, {}).stdin
        assert max(map(len, script.splitlines())) < 1000

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh", "dash"])
    def test_whatever_shell_the_person_has(self, place: Place, shell: str) -> None:
        """The line means the same in it."""
        program = shutil.which(shell)
        if program is None:
            pytest.skip(f"no {shell} here")
        standins.osascript(place.bin, shell=(program, "-c"))
        for name in WORST:
            argv = (str(place.wire.recorder), name, "")
            assert TestApple().opened(argv, "/", name, WINDOW, place.env, place.wire).argv == argv[1:]
        assert place.unharmed()
