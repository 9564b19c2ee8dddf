"""What holds for every terminal that can be driven, with real panes and a program that reads like the clients do."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from recall import terminals
from recall.core.model import Pane
from recall.errors import Refused, Unavailable
from recall.terminals.base import WINDOW, Driver
from recall.terminals.run import launch
from tests.terminals.contract import Place
from tests.terminals.wire import Wire, until

READER = str(Path(__file__).with_name("reader.py"))
THREE_LINES = "first line\nsecond 'line' $(id) `id` \\n #{pid} 😀\n  third line;"


def told(wire: Wire) -> list[Any]:
    """What a reader says next: its name, the text, how many pastes it came in."""
    said: list[Any] = json.loads(wire.until(b"\n"))
    return said


class DriverTests:
    """The contract of a driver. `module` is the back-end's module; the fixture `env` has a terminal that runs."""

    module: ClassVar[str]

    @property
    def driver(self) -> Driver:
        """The back-end."""
        return terminals.driver(self.module)

    @pytest.fixture(autouse=True)
    def readers(self) -> Iterator[None]:
        """Readers that are left are ended: a terminal that draws many windows is slow."""
        self.started: list[int] = []
        yield
        for pid in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def reader(self, place: Place, env: Mapping[str, str], name: str, *kind: str) -> Pane:
        """A new window in which a reader waits."""
        argv = (sys.executable, "-ISE", READER, str(place.wire.pipe), name, *kind)
        before = {pane.id for pane in self.driver.panes(env)}
        terminal = terminals.get(self.module)
        launch(terminal.command(argv, "/", name, WINDOW, env), env, name=self.module)
        assert told(place.wire) == [name, "ready", 0]
        found = [pane for pane in self.driver.panes(env) if pane.id not in before]
        assert len(found) == 1
        self.started.append(found[0].pid)
        return found[0]

    def test_three_lines_are_one_prompt(self, place: Place, env: Mapping[str, str]) -> None:
        """Three lines are pasted once and submitted once, byte for byte, in the pane they were meant for and in no other."""
        one, other = self.reader(place, env, "one"), self.reader(place, env, "other")
        self.driver.paste(one, THREE_LINES, env)
        self.driver.enter(one, env)
        assert told(place.wire) == ["one", THREE_LINES, 1]
        self.driver.paste(other, "mine", env)
        self.driver.enter(other, env)
        assert told(place.wire) == ["other", "mine", 1]

    def test_a_long_text(self, place: Place, env: Mapping[str, str]) -> None:
        """A text far longer than a message or an argument may be arrives whole."""
        pane = self.reader(place, env, "long")
        text = "\n".join(f"{number} длинная строка {'x' * 60}" for number in range(400))
        self.driver.paste(pane, text, env)
        self.driver.enter(pane, env)
        assert told(place.wire) == ["long", text, 1]

    def test_nothing_is_submitted_in_a_program_that_is_not_ready(self, place: Place, env: Mapping[str, str]) -> None:
        """Line ends of a paste are no Enter even for a program that did not ask for bracketed paste."""
        pane = self.reader(place, env, "early", "bare")
        self.driver.paste(pane, "a\r\nb\nc", env)
        self.driver.enter(pane, env)
        name, text, _ = told(place.wire)
        assert (name, text.count("\n"), text.count("\r")) == ("early", 2, 0)

    def test_what_ends_a_paste_is_refused(self, place: Place, env: Mapping[str, str]) -> None:
        """A text with control characters is refused, and nothing of it arrives."""
        pane = self.reader(place, env, "safe")
        with pytest.raises(Refused):
            self.driver.paste(pane, "a\x1b[201~\rb", env)
        self.driver.paste(pane, "next", env)
        self.driver.enter(pane, env)
        assert told(place.wire) == ["safe", "next", 1]

    def test_read(self, place: Place, env: Mapping[str, str]) -> None:
        """The last lines that are not empty are read, also those that have scrolled away, without colours."""
        pane = self.reader(place, env, "shown")
        self.driver.paste(pane, "lines 60", env)
        self.driver.enter(pane, env)
        assert told(place.wire)[1] == "lines 60"
        assert until(lambda: self.driver.read(pane, 1, env) == "line 59")
        assert self.driver.read(pane, 50, env).split("\n") == [f"line {number}" for number in range(10, 60)]

    def test_the_pane_is_told_with_its_device(self, place: Place, env: Mapping[str, str]) -> None:
        """A pane names the terminal, the process that was started there and its device."""
        pane = self.reader(place, env, "device")
        assert pane.terminal == self.module
        assert pane.pid > 0
        stat = Path(f"/proc/{pane.pid}/stat")
        if stat.exists():
            assert os.readlink(f"/proc/{pane.pid}/fd/0") == f"/dev/{pane.tty}"

    def test_a_pane_that_is_gone(self, place: Place, env: Mapping[str, str]) -> None:
        """Nothing can be sent to it, and that is said."""
        pane = self.reader(place, env, "gone")
        self.driver.paste(pane, "quit", env)
        self.driver.enter(pane, env)
        assert told(place.wire)[1] == "quit"
        self.started.remove(pane.pid)
        assert until(lambda: pane.id not in {left.id for left in self.driver.panes(env)})
        for act in (lambda: self.driver.paste(pane, "x", env), lambda: self.driver.enter(pane, env)):
            with pytest.raises(Unavailable):
                act()
        with pytest.raises(Unavailable):
            self.driver.read(pane, 3, env)

    def test_a_pane_that_became_another(self, place: Place, env: Mapping[str, str]) -> None:
        """The same id with another process in it is another pane: nothing is sent."""
        pane = self.reader(place, env, "reused")
        with pytest.raises(Unavailable, match="gone"):
            self.driver.paste(pane._replace(pid=pane.pid + 1), "x", env)
        self.driver.paste(pane, "y", env)
        self.driver.enter(pane, env)
        assert told(place.wire) == ["reused", "y", 1]
