"""The contract of drivers, held by the bridge: the stand-in's sessions are real terminals with real programs in them."""

from __future__ import annotations

import contextlib
import itertools
import os
import pty
import re
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from recall.core.model import Pane
from tests.terminals.contract import Place, place
from tests.terminals.driving import READER, DriverTests, told

pytest.importorskip("iterm2", reason="the package iterm2 (extra `dev`) is not installed")

from tests.bridge.desk import Desk
from tests.bridge.standin import Screen, StandIn

__all__ = ["place"]

_COLOURS = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]")


class Terminal(Screen):
    """A session with a program in it. Its screen is what the program printed, line for line."""

    def __init__(self, name: str, argv: tuple[str, ...], iterm: StandIn) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        super().__init__(name, os.ttyname(slave), self.process.pid, self.process.pid, "reader", "/")
        os.close(slave)
        self._iterm, self._said = iterm, b""
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while more := os.read(self._master, 65536):
                self._said += more
                text = _COLOURS.sub(b"", self._said).decode("utf-8", "replace")
                self.lines = [(line, True) for line in text.split("\r\n")]
        self._iterm.screens.pop(self.id, None)

    def receive(self, text: str) -> None:
        super().receive(text)
        data = text.encode()
        while data:
            data = data[os.write(self._master, data) :]

    def close(self) -> None:
        self.process.kill()
        self.process.wait(10)
        self._thread.join(10)
        os.close(self._master)


class TestBridge(DriverTests):
    """Text, Enter, reading, and panes that are gone or became others."""

    module = "iterm2"
    numbers = itertools.count(1)

    @pytest.fixture
    def env(self, place: Place, bridged: Desk) -> Any:
        """iTerm2 with the bridge in it."""
        self.desk = bridged
        self.terminals: list[Terminal] = []
        yield bridged.env
        for terminal in self.terminals:
            terminal.close()
        self.started.clear()  # they are ended, and their numbers free for others

    def reader(self, place: Place, env: Mapping[str, str], name: str, *kind: str) -> Pane:
        """A new session in which a reader waits. (Opening is AppleScript's, and tested with that.)"""
        argv = (sys.executable, "-ISE", READER, str(place.wire.pipe), name, *kind)
        terminal = Terminal(f"GUID-{next(self.numbers)}-{name}", argv, self.desk.iterm)
        self.terminals.append(terminal)
        self.desk.iterm.screens[terminal.id] = terminal
        self.started.append(terminal.pid)
        assert told(place.wire) == [name, "ready", 0]
        (found,) = [pane for pane in self.driver.panes(env) if pane.id == terminal.id]
        return found
