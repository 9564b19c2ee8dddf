"""The bridge as iTerm2 runs it: the installed script, in a process of its own, with a stand-in for iTerm2 behind it."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from recall.actions import iterm_install
from recall.settings import load
from tests.bridge.standin import COOKIE, Screen, StandIn


class Desk:
    """A home with iTerm2 (the stand-in) and the bridge in it."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="rb", dir="/tmp"))  # short: paths of sockets are limited
        self.home = self.root / "h"
        self.home.mkdir(mode=0o700)
        self.env = {"HOME": str(self.home), "PATH": os.environ["PATH"], "TERM_PROGRAM": "iTerm.app"}
        self.settings = load(self.env)
        self.socket = Path(self.settings.state) / "iterm/bridge.sock"
        self.iterm = StandIn(
            self.home,
            Screen("GUID-A", "/dev/ttys003", 100, 101, "claude", "/home/dev/crm", [("❯ ", True)]),
            Screen("GUID-B", "/dev/ttys004", 200, 201, "codex", "/home/dev/shop", [("› ", True)]),
        )
        self.bridges: list[subprocess.Popen[str]] = []

    def bridge(self, *, wait: bool = True) -> subprocess.Popen[str]:
        """Start the bridge as iTerm2 does; `wait` until it listens."""
        script = Path(iterm_install.place(self.settings.home))
        if not script.exists():
            iterm_install.install(self.settings, "darwin")
        started = subprocess.Popen(
            [sys.executable, str(script)],
            env={**self.env, "ITERM2_COOKIE": COOKIE, "ITERM2_KEY": "a-key"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.home,
        )
        self.bridges.append(started)
        if wait:
            self.said(started, "listening")
        return started

    def said(self, started: subprocess.Popen[str], words: str, seconds: float = 20) -> str:
        """Wait for a line of the bridge's output that holds these words."""
        assert started.stdout is not None
        seen = ""
        while True:
            ready, _, _ = select.select([started.stdout], [], [], seconds)
            line = started.stdout.readline() if ready else ""
            assert line, f"the bridge never said {words!r} but: {seen}"
            if words in line:
                return line
            seen += line

    def close(self) -> None:
        for started in self.bridges:
            with contextlib.suppress(ProcessLookupError):
                started.send_signal(signal.SIGCONT)
            started.kill()
            started.wait(10)
            if started.stdout is not None:
                started.stdout.close()
        self.iterm.stop()
        shutil.rmtree(self.root, ignore_errors=True)
