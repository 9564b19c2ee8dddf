"""kitty: at the boundary of the process, and the real one on a screen that nobody looks at."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from recall.core.model import Pane
from recall.errors import Unavailable
from recall.terminals import kitty
from recall.terminals.base import TAB, WINDOW
from recall.terminals.run import launch
from tests.terminals import standins
from tests.terminals.contract import Place, TerminalTests, place
from tests.terminals.driving import DriverTests
from tests.terminals.hostile import WORST
from tests.terminals.screen import screen
from tests.terminals.wire import until

__all__ = ["place"]

LISTENS = {"KITTY_LISTEN_ON": "unix:/nowhere", "KITTY_WINDOW_ID": "1"}


class TestWithoutRemoteControl(TerminalTests):
    """The contract, where no kitty listens: a kitty of its own."""

    module = "kitty"
    programs = ("kitty",)
    inside = ("KITTY_WINDOW_ID", "1")


class TestWithRemoteControl(TerminalTests):
    """The contract, where one listens: it is asked."""

    module = "kitty"
    programs = ("kitten",)
    inside = ("KITTY_WINDOW_ID", "1")
    screen = False

    @pytest.fixture
    def env(self, place: Place) -> Mapping[str, str]:
        """A window of a kitty that listens."""
        standins.opens(place.bin, self.programs)
        return {**place.env, **LISTENS}

    def test_the_commands(self, place: Place, env: Mapping[str, str]) -> None:
        """A window and a tab; `kitten` where there is one, else `kitty`. What kitty would replace is armoured."""
        for program in ("kitten", "kitty"):
            remote = (f"{place.bin}/{program}", "@", "--to", "unix:/nowhere", "launch")
            only = {**env, "PATH": str(place.bin)}
            if program == "kitty":
                (place.bin / "kitten").unlink()
                standins.opens(place.bin, ("kitty",))
            assert kitty.command(("a", "b"), "/", "t i", WINDOW, only).argv == (
                *remote,
                *("--type=os-window", "--title=t i", "--", "a", "b"),
            )
            assert kitty.command(("a", "b"), "/", "", TAB, only).argv == (*remote, "--type=tab", "--", "a", "b")
        assert "@selection" not in kitty.command(("a", "@selection"), "/", "", TAB, env).argv


@pytest.mark.parametrize("listing", ["", "{}", "[", "null", '[{"tabs": 1}]'])
def test_a_list_that_is_none(place: Place, listing: str) -> None:
    """What cannot be read is Unavailable, and the settings that are needed are named."""
    standins.program(place.bin / "kitten", f"#!/bin/sh\necho '{listing}'\n")
    if listing == "{}":
        assert kitty.panes({**place.env, **LISTENS}) == []
        return
    with pytest.raises(Unavailable) as caught:
        kitty.panes({**place.env, **LISTENS})
    assert "allow_remote_control" in caught.value.hint


def test_refused(place: Place) -> None:
    """A kitty that allows no remote control is Unavailable with the settings that are needed; none that listens has no panes."""
    standins.program(place.bin / "kitten", "#!/bin/sh\necho 'Remote control is disabled' >&2\nexit 1\n")
    with pytest.raises(Unavailable, match="Remote control is disabled") as caught:
        kitty.panes({**place.env, **LISTENS})
    assert "listen_on" in caught.value.hint
    assert kitty.panes(place.env) == []


@pytest.fixture(scope="module")
def listening() -> Iterator[Mapping[str, str]]:
    """A real kitty with one window in which nothing happens, started by an agent; what its windows have in their environment."""
    if not shutil.which("kitty"):
        pytest.skip("no kitty here")
    with tempfile.TemporaryDirectory(prefix="rk", dir="/tmp") as folder, screen() as display:
        address = f"unix:{folder}/socket"
        env = {
            "PATH": "/usr/bin:/bin",
            "HOME": folder,
            "LANG": "C.UTF-8",
            "SHELL": "/bin/true",
            "DISPLAY": display,
            "LIBGL_ALWAYS_SOFTWARE": "1",
        }
        options = ("--config", "NONE", "-o", "allow_remote_control=yes", "-o", "update_check_interval=0")
        process = subprocess.Popen(
            ["kitty", *options, "--listen-on", address, "--", "sh", "-c", "read forever", "x"],
            env={**env, "CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CODE_CHILD_SESSION": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            listens = {**env, "KITTY_LISTEN_ON": address, "KITTY_WINDOW_ID": "1"}
            if not until(lambda: process.poll() is not None or _answers(listens)) or process.poll() is not None:
                pytest.skip("kitty does not start here")
            yield listens
        finally:
            process.terminate()
            process.wait(timeout=20)


def _answers(env: Mapping[str, str]) -> bool:
    try:
        return bool(kitty.panes(env))
    except Unavailable:
        return False


@pytest.mark.slow
class TestReal(TerminalTests):
    """The contract, with the real kitty."""

    module = "kitty"
    inside = ("KITTY_WINDOW_ID", "1")
    screen = False
    samples = WORST
    files = WORST[::3]

    @pytest.fixture
    def env(self, place: Place, listening: Mapping[str, str]) -> Mapping[str, str]:
        """A window of the kitty that runs."""
        return {**listening, "HOME": str(place.home)}

    def test_its_server_was_started_by_an_agent(self, env: Mapping[str, str]) -> None:
        """The contract's test of the environment would pass on a clean kitty."""
        (pid,) = [pane.pid for pane in kitty.panes(env) if pane.id == "1"]
        assert b"CLAUDECODE=1" in Path(f"/proc/{pid}/environ").read_bytes()

    def test_a_title(self, place: Place, env: Mapping[str, str]) -> None:
        """It is the window's."""
        what = kitty.command(("sh", "-c", "read forever", "x"), "/", "-our $(title)\n#{x}", WINDOW, env)
        ident = launch(what, env, name="kitty").strip()
        assert [pane.title for pane in kitty.panes(env) if pane.id == ident] == ["our $(title) #{x}"]

    def test_no_remote_control(self, place: Place, env: Mapping[str, str]) -> None:
        """Where none listens, a new kitty is started: it is the window, and is left running."""
        alone = {name: value for name, value in env.items() if not name.startswith("KITTY")}
        got = self.opened((str(place.wire.recorder), *WORST, "@selection"), "/", "t", WINDOW, alone, place.wire)
        assert got.argv == (*WORST, "@selection")


@pytest.mark.slow
class TestDriver(DriverTests):
    """The contract of a driver, with the real kitty."""

    module = "kitty"

    @pytest.fixture
    def env(self, listening: Mapping[str, str]) -> Mapping[str, str]:
        """A window of the kitty that runs."""
        return listening

    def test_the_text_is_in_no_argument(self, place: Place) -> None:
        """Others on the machine can see arguments: the text goes by stdin."""
        log, windows = place.home / "asked", [{"tabs": [{"windows": [{"id": 7, "pid": 5}]}]}]
        (place.home / "listing").write_text(json.dumps(windows))
        standins.program(
            place.bin / "kitten",
            f"#!/bin/sh\nprintf '%s ' \"$@\" >>'{log}'\ncase $4 in ls) cat '{place.home}/listing';; *) cat >'{log}.sent';; esac\n",
        )
        kitty.paste(Pane("kitty", "7", pid=5, where="unix:/there"), "swordfish", {**place.env, **LISTENS})
        assert "send-text --match id:7 --stdin" in log.read_text()
        assert "--to unix:/there" in log.read_text()
        assert "swordfish" not in log.read_text()
        assert Path(f"{log}.sent").read_text() == "\x1b[200~swordfish\x1b[201~"
