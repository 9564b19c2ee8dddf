"""The real tmux, in a server of the test's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from recall.core.model import Pane
from recall.core.window import SCRIPT
from recall.errors import Unavailable
from recall.terminals import tmux
from recall.terminals.base import DEADLINE, TAB, WINDOW, size
from recall.terminals.run import ask, launch
from tests.terminals import standins
from tests.terminals.contract import Place, TerminalTests, place, run_in
from tests.terminals.driving import DriverTests, told
from tests.terminals.wire import until

__all__ = ["place"]

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="no tmux here")
KEEP = ("-s", "keep", "--", "sh", "-c", "read forever", "x")
"""A session in which nothing happens, so that the server stays."""


@pytest.fixture
def sockets() -> Iterator[Path]:
    """A folder for sockets: short, since their paths are limited. Servers that are left there are ended."""
    with tempfile.TemporaryDirectory(prefix="rt", dir="/tmp") as folder:
        yield Path(folder)
        for socket in Path(folder).glob("tmux-*/*"):
            subprocess.run(["tmux", "-S", socket, "kill-server"], env={"PATH": "/usr/bin:/bin"}, capture_output=True)


@pytest.fixture
def outside(place: Place, sockets: Path) -> Mapping[str, str]:
    """An environment outside of tmux, without a server."""
    return {**place.env, "TMUX_TMPDIR": str(sockets), "TERM": "xterm-256color"}


@pytest.fixture
def server(outside: Mapping[str, str]) -> Mapping[str, str]:
    """The environment of a pane of a server which an agent started."""
    server = {**outside, "CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CODE_CHILD_SESSION": "1"}
    shown = ("#{socket_path},#{pid},0", "#{pane_id}")
    made = run_in(server, "tmux", "-f", "/dev/null", "new-session", "-d", "-P", "-F", "\n".join(shown), *KEEP)
    where, pane = made.split("\n")[:2]
    return {**outside, "TMUX": where, "TMUX_PANE": pane}


class TestTmux(TerminalTests):
    """The contract, with everything real."""

    module = "tmux"
    inside = ("TMUX", "/tmp/tmux-1000/default,1,0")
    screen = False

    @pytest.fixture
    def env(self, server: Mapping[str, str]) -> Mapping[str, str]:
        """A pane of a server of the test's own."""
        return server

    def test_its_server_was_started_by_an_agent(self, env: Mapping[str, str]) -> None:
        """The contract's test of the environment would pass on a clean server."""
        assert "CLAUDECODE=1" in run_in(env, "tmux", "show-environment", "-g")

    def test_where(self, place: Place, env: Mapping[str, str], outside: Mapping[str, str]) -> None:
        """Inside it is a window of our session; outside one of the session used last, and a person is told how to see it."""
        run_in(env, "tmux", "new-session", "-d", "-s", "newer", "--", "sh", "-c", "read forever", "x")
        argv = ("sh", "-c", "read forever", "x")
        for where in (WINDOW, TAB):
            what = tmux.command(argv, "/", "our title", where, env)
            pane = launch(what, env, name="tmux").strip()
            shown = run_in(env, "tmux", "display-message", "-p", "-t", pane, "#{session_name} #{window_name}")
            assert shown == "keep our title\n"
            assert what.then == ""
        what = tmux.command(argv, "/", "t", WINDOW, outside)
        assert what.then == "tmux attach"
        assert launch(what, outside, name="tmux").strip() in run_in(env, "tmux", "list-panes", "-a", "-F", "#{pane_id}")

    def test_no_server(self, place: Place, outside: Mapping[str, str]) -> None:
        """Without one, a session is made, and the same arrives there."""
        words = ("two words", "#(touch pwned)", "ends in ;", ";")
        what = tmux.command((str(place.wire.recorder), *words), "/", "#(touch pwned) ;", WINDOW, outside)
        assert what.argv[1] == "new-session"
        assert what.then == "tmux attach"
        launch(what, outside, name="tmux")
        assert place.wire.got().argv == words
        assert place.unharmed()

    def test_a_server_that_is_gone(self, place: Place, env: Mapping[str, str]) -> None:
        """Where the server that we ran in has ended, a new one is started: where a person would look for it."""
        run_in(env, "tmux", "kill-server")
        env = {**env, "TMUX": f"{env['TMUX_TMPDIR']}/elsewhere,1,0"}
        what = tmux.command((str(place.wire.recorder), "x"), "/", "t", WINDOW, env)
        assert "new-session" in what.argv and what.then == "env -u TMUX tmux attach"
        launch(what, env, name="tmux")
        assert place.wire.got().argv == ("x",)
        run_in({name: value for name, value in env.items() if name != "TMUX"}, "tmux", "new-session", "-d", *KEEP)
        assert "new-window" in tmux.command(("a", "b"), "/", "t", WINDOW, env).argv
        assert not os.path.exists(f"{env['TMUX_TMPDIR']}/elsewhere")

    def test_a_title_is_no_format(self, place: Place, env: Mapping[str, str]) -> None:
        """tmux runs `#(...)` of a name that it is given: none is given with a `#`."""
        title = "#(touch pwned) #{pid} %Y ü"
        pane = launch(tmux.command(KEEP[3:], "/", title, WINDOW, env), env, name="tmux").strip()
        shown = run_in(env, "tmux", "display-message", "-p", "-t", pane, "#{window_name}").strip()
        assert shown == "(touch pwned) {pid} %Y ü"

    def test_the_limit_is_below_what_tmux_takes(self, place: Place, env: Mapping[str, str]) -> None:
        """Three times the limit is too much: so the limit is needed, and a usual command is below it."""
        argv = ("/bin/sh", str(place.wire.recorder), "x" * tmux.limit * 3)
        with pytest.raises(Unavailable, match="too long"):
            launch(tmux.command(argv, "/", "t", WINDOW, env), env, name="tmux")
        assert size(("/bin/sh", "-c", SCRIPT, "/" * 1000, "p" * 2000)) < tmux.limit


class TestDriver(DriverTests):
    """The contract of a driver, with the real tmux."""

    module = "tmux"

    @pytest.fixture
    def env(self, server: Mapping[str, str]) -> Mapping[str, str]:
        """A pane of a server of the test's own."""
        return server

    def test_a_synchronised_window(self, place: Place, env: Mapping[str, str]) -> None:
        """What is sent to one pane of a window whose panes are synchronised reaches that one alone, Enter too."""
        one = self.reader(place, env, "one")
        other = self.reader(place, env, "other")
        run_in(env, "tmux", "join-pane", "-d", "-s", other.id, "-t", one.id)
        run_in(env, "tmux", "set-option", "-w", "-t", one.id, "synchronize-panes", "on")
        self.driver.paste(one, "a\nb\nc", env)
        self.driver.enter(one, env)
        assert told(place.wire) == ["one", "a\nb\nc", 1]
        self.driver.paste(other, "mine", env)
        self.driver.enter(other, env)
        assert told(place.wire) == ["other", "mine", 1]
        run_in(env, "tmux", "send-keys", "-t", one.id, "Enter")  # what must not be used: it reaches both
        assert sorted([told(place.wire), told(place.wire)]) == [["one", "", 0], ["other", "", 0]]

    def test_copy_mode(self, place: Place, env: Mapping[str, str]) -> None:
        """A person who scrolls in the pane does not keep the text from arriving as a paste."""
        pane = self.reader(place, env, "scrolled")
        run_in(env, "tmux", "copy-mode", "-t", pane.id)
        self.driver.paste(pane, "a\nb", env)
        self.driver.enter(pane, env)
        assert told(place.wire) == ["scrolled", "a\nb", 1]

    def test_no_buffer_is_left(self, place: Place, env: Mapping[str, str]) -> None:
        """The person's paste buffers are as before, also when sending fails."""
        run_in(env, "tmux", "set-buffer", "-b", "mine", "kept")
        pane = self.reader(place, env, "tidy")
        self.driver.paste(pane, "text", env)
        with pytest.raises(Unavailable):
            self.driver.paste(pane._replace(id="%999"), "text", env)
        with pytest.raises(Unavailable):
            tmux._put(pane._replace(id="%999", pid=0), "text", (), env)
        assert run_in(env, "tmux", "list-buffers", "-F", "#{buffer_name}") == "mine\n"
        assert run_in(env, "tmux", "show-buffer", "-b", "mine") == "kept"

    def test_the_text_is_in_no_argument(self, place: Place, env: Mapping[str, str]) -> None:
        """Others on the machine can see arguments: the text goes by stdin."""
        log = place.home / "arguments"
        standins.program(
            place.bin / "tmux",
            f'#!/bin/sh\nprintf "%s\\n" "$@" >>"{log}"\nPATH=/usr/bin:/bin exec tmux "$@"\n',
        )
        pane = self.reader(place, env, "secret")
        self.driver.paste(pane, "swordfish", env)
        self.driver.enter(pane, env)
        assert told(place.wire) == ["secret", "swordfish", 1]
        assert "paste-buffer" in log.read_text()
        assert "swordfish" not in log.read_text()

    def test_several_servers(
        self, place: Place, env: Mapping[str, str], outside: Mapping[str, str], sockets: Path
    ) -> None:
        """Panes of all of a person's servers are found, also from outside; a socket without a server is passed over."""
        run_in(outside, "tmux", "-L", "second", "-f", "/dev/null", "new-session", "-d", *KEEP)
        run_in(outside, "tmux", "-L", "third", "-f", "/dev/null", "new-session", "-d", *KEEP)
        run_in(outside, "tmux", "-L", "third", "kill-server")
        for seen_from in (env, outside):
            found = self.driver.panes(seen_from)
            assert sorted(Path(pane.where).name for pane in found) == ["default", "second"]
            assert all(pane.tty.startswith(("pts/", "ttys")) for pane in found)

    def test_nothing_runs(self, outside: Mapping[str, str]) -> None:
        """Without a server there are no panes."""
        assert self.driver.panes(outside) == []

    def test_dead_panes_are_none(self, place: Place, env: Mapping[str, str]) -> None:
        """A pane that tmux keeps after its program has ended is not listed, and nothing is sent there."""
        run_in(env, "tmux", "set-option", "-g", "remain-on-exit", "on")
        pane = self.reader(place, env, "dead")
        self.driver.paste(pane, "quit", env)
        self.driver.enter(pane, env)
        assert told(place.wire)[1] == "quit"
        self.started.remove(pane.pid)
        assert until(lambda: run_in(env, "tmux", "display-message", "-p", "-t", pane.id, "#{pane_dead}") == "1\n")
        with pytest.raises(Unavailable, match="gone"):
            self.driver.enter(pane, env)
        assert pane.id not in {left.id for left in self.driver.panes(env)}

    def test_a_server_that_does_not_answer(
        self, place: Place, env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """That is Unavailable in time."""
        standins.program(place.bin / "tmux", "#!/bin/sh\nexec sleep 60\n")
        assert DEADLINE <= 5
        monkeypatch.setitem(ask.__kwdefaults__, "deadline", 0.2)
        with pytest.raises(Unavailable, match="does not answer"):
            self.driver.panes(env)
        with pytest.raises(Unavailable, match="does not answer"):
            self.driver.paste(Pane("tmux", "%0"), "x", env)
