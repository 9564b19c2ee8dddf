"""A real terminal to look at the picker in: tmux with a server of its own, driven by keys.

Nothing here waits for a time: a screen is asked for until it is what was waited for, and a test fails with the last one.
"""

from __future__ import annotations

import difflib
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent / "golden"
ROOT = Path(__file__).resolve().parents[2]
NOON = "2026-11-25T12:00:00+00:00"
DEADLINE = 90.0
ABOVE = "what stood here before"
BIN = shutil.which("tmux")


class Terminal:
    """One window of so many columns and rows with a shell in it, whose HOME is `home`."""

    def __init__(self, folder: Path, home: Path, columns: int, rows: int, **variables: str) -> None:
        self.home = home
        self._socket = str(folder / "tmux")
        self._env = {
            "HOME": str(home),
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "xterm-256color",
            "PYTHONPATH": str(ROOT),
            "RECALL_LLM": "none",
            **variables,
        }
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), "env PS1='$ ' sh")
        self.tmux("set-option", "-g", "status", "off")
        self.tmux("set-option", "-g", "escape-time", "0")
        self.until(lambda screen: screen.startswith("$"))

    def tmux(self, *args: str) -> str:
        done = subprocess.run(
            [BIN or "tmux", "-S", self._socket, "-f", "/dev/null", *args],
            env=self._env,
            capture_output=True,
            encoding="utf-8",
            check=True,
            timeout=DEADLINE,
        )
        return done.stdout

    def close(self) -> None:
        subprocess.run(
            [BIN or "tmux", "-S", self._socket, "kill-server"], env=self._env, capture_output=True, check=False
        )

    def shell(self, line: str) -> None:
        """Type a line into the shell."""
        self.tmux("send-keys", "-l", line)
        self.tmux("send-keys", "Enter")

    def picker(self, moment: str = NOON) -> None:
        """Start the picker below something else, and wait until it has been drawn."""
        script = Path(__file__).resolve().parent / "at.py"
        self.shell(f"clear; echo {shlex.quote(ABOVE)}")
        self.until(lambda screen: screen.startswith(ABOVE))
        self.shell(shlex.join([sys.executable, str(script), moment]))
        self.until(lambda screen: "❯" in screen)

    def keys(self, *names: str) -> None:
        """Press keys, as tmux calls them."""
        self.tmux("send-keys", *names)

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", text)

    def screen(self, *, styled: bool = False) -> str:
        text = self.tmux("capture-pane", "-p", *(["-e"] if styled else []))
        return "\n".join(line.rstrip() for line in text.split("\n")).rstrip("\n")

    def until(self, fits: Callable[[str], bool]) -> str:
        """The first screen that fits."""
        end = time.monotonic() + DEADLINE
        while True:
            screen = self.screen()
            if fits(screen):
                return screen
            assert time.monotonic() < end, f"this is what stands there:\n{screen}"
            time.sleep(0.02)

    def shows(self, *texts: str) -> str:
        """The first screen on which all of these stand."""
        return self.until(lambda screen: all(text in screen for text in texts))

    def matches(self, name: str) -> None:
        """The screen becomes the golden one `name`. With RECALL_GOLDEN=write in the environment it is written instead, as
        it stands when nothing has moved for a while."""
        path = GOLDEN / f"{name}.txt"
        if os.environ.get("RECALL_GOLDEN") == "write":
            path.write_text(self._still() + "\n", encoding="utf-8")
            return
        wanted = path.read_text(encoding="utf-8").rstrip("\n")
        end = time.monotonic() + DEADLINE
        while (screen := self._told()) != wanted:
            if time.monotonic() > end:
                diff = difflib.unified_diff(wanted.split("\n"), screen.split("\n"), "golden", "screen", lineterm="")
                raise AssertionError(f"{path.name} is not what stands there:\n" + "\n".join(diff))
            time.sleep(0.02)

    def _told(self) -> str:
        return self.screen().replace(str(self.home), "HOME")

    def _still(self) -> str:
        before, since = "", time.monotonic()
        while time.monotonic() - since < 1.0:
            screen = self._told()
            if screen != before:
                before, since = screen, time.monotonic()
            time.sleep(0.05)
        return before
