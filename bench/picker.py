"""The picker in a terminal of its own: how long until its first row is there, and what a key press takes.

  python bench/picker.py --home DIR [--runs 11]     DIR: a home with sessions; what recall writes goes to a temporary place
  python bench/picker.py --state DIR --home DIR     with the index, archive and data folders below --state, already swept

Medians in milliseconds, and as ratios to an empty Python that is started in turns with it. The screen is read as bytes from
a pseudo-terminal, so a terminal's own drawing is not in them.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Mapping
from statistics import median

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench import process

ROW = re.compile(rb"(claude|codex ) ")
"""What stands in every row of the list, and nowhere else on the screen before a session is read."""
WORDS = ("export", "parse", "выгрузк", "config", "error")


class Screen:
    """The picker in a pseudo-terminal of 80 columns and 24 rows."""

    def __init__(self, argv: list[str], env: Mapping[str, str]) -> None:
        self._began = time.perf_counter()
        self._pid, self._fd = pty.fork()
        if not self._pid:
            os.chdir(env["HOME"])
            os.execve(argv[0], argv, {**env, "TERM": "xterm-256color"})
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def first(self) -> float:
        """Seconds from the start until the first row has come."""
        return self._until(ROW, self._began, 60.0)

    def press(self, key: str) -> tuple[float, float]:
        """Seconds until something has come after a key, and until rows have; 0: they did not change."""
        self.rest()
        start = time.perf_counter()
        os.write(self._fd, key.encode())
        if not select.select([self._fd], [], [], 10.0)[0]:
            return 0.0, 0.0
        echoed = time.perf_counter() - start
        return echoed, self._until(ROW, start, 0.6)

    def rest(self, seconds: float = 0.4) -> None:
        """Read until nothing has come for so long."""
        while select.select([self._fd], [], [], seconds)[0]:
            if not self._read():
                return

    def _until(self, pattern: re.Pattern[bytes], start: float, quiet: float) -> float:
        seen = b""
        while select.select([self._fd], [], [], quiet)[0]:
            part = self._read()
            if not part:
                return 0.0
            seen += part
            if pattern.search(seen):
                return time.perf_counter() - start
        return 0.0

    def _read(self) -> bytes:
        try:
            return os.read(self._fd, 1 << 16)
        except OSError:
            return b""

    def close(self) -> None:
        os.kill(self._pid, signal.SIGTERM)
        self.rest(0.2)
        os.close(self._fd)
        os.waitpid(self._pid, 0)


def empty(env: Mapping[str, str]) -> float:
    return process.run([sys.executable, "-c", "pass"], env).wall


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--home", required=True)
    parser.add_argument("--state", default="")
    parser.add_argument("--runs", type=int, default=11)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        env = process.environment(asked.home, asked.state or place)
        argv = process.launcher(place)
        argv = [argv[0], argv[1]]
        if not asked.state:
            subprocess.run([*argv, "sweep", "--no-llm", "--quiet"], env=env, check=True)
        bases, paints = [], []
        for turn in range(asked.runs + 1):
            base = empty(env)
            screen = Screen(argv, env)
            paint = screen.first()
            screen.close()
            if turn:
                bases.append(base)
                paints.append(paint)
        screen = Screen(argv, env)
        screen.first()
        screen.rest(2.0)
        echoes, rows, moves = [], [], []
        for word in WORDS:
            for key in word:
                echoed, listed = screen.press(key)
                echoes.append(echoed)
                if listed:
                    rows.append(listed)
                bases.append(empty(env))
            for _ in range(5):
                moves.append(screen.press("\x1b[B")[1])
            screen.press("\x15")
        screen.close()
    base = median(bases)
    print(f"empty Python: {base * 1e3:.0f} ms")
    for name, found in (
        ("first row", paints),
        ("key press until its letter is there", echoes),
        ("key press until other rows are there", rows),
        ("arrow until the row is marked", [one for one in moves if one]),
    ):
        if found:
            middle = median(found)
            print(
                f"{name}: {middle * 1e3:.0f} ms, {middle / base:.1f} times ({len(found)} times, worst {max(found) * 1e3:.0f} ms)"
            )


if __name__ == "__main__":
    main()
