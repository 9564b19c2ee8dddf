"""A process of its own, and what it took. Two commands are measured in turns: what else the machine does meets both."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Took(NamedTuple):
    """Seconds of wall clock and of processor (user and system), the exit status, and what was printed."""

    wall: float
    cpu: float
    status: int
    out: str


class Ratio(NamedTuple):
    """Medians of one command over those of its baseline, and the command's own in seconds."""

    wall: float
    cpu: float
    seconds: float
    last: Took


def environment(home: str, place: str) -> dict[str, str]:
    """Nothing of ours but PATH: `home` is HOME, what recall writes goes to `place`."""
    return {
        "HOME": home,
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONPATH": ROOT,
        "RECALL_STATE": os.path.join(place, "state"),
        "RECALL_ARCHIVE": os.path.join(place, "archive"),
        "RECALL_DATA": os.path.join(place, "data"),
        "RECALL_CONFIG": os.path.join(place, "config.toml"),
    }


def launcher(place: str) -> list[str]:
    """The start of a recall command line: as an installed script does it, without what `-m` costs."""
    path = os.path.join(place, "recall")
    with open(path, "w", encoding="utf-8") as file:
        file.write("import sys\nfrom recall.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n")
    return [sys.executable, path]


def run(argv: Sequence[str], env: Mapping[str, str]) -> Took:
    """Run a command in its HOME; what it says on stderr is shown where it fails with more than "nothing found"."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as words:
        start = time.perf_counter()
        child = subprocess.Popen(
            argv, env=dict(env), cwd=env["HOME"], stdin=subprocess.DEVNULL, stdout=out, stderr=words
        )
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
        if child.returncode > 1:
            words.seek(0)
            sys.stderr.write(words.read().decode("utf-8", "replace"))
    return Took(wall, used.ru_utime + used.ru_stime, child.returncode, text)


def against(base: Callable[[], Took], command: Callable[[], Took], runs: int) -> Ratio:
    """Medians of `runs` turns of both; the first turn warms the caches and is not counted."""
    bases, commands = [], []
    for turn in range(runs + 1):
        one, other = base(), command()
        if turn:
            bases.append(one)
            commands.append(other)
    return Ratio(
        median(took.wall for took in commands) / median(took.wall for took in bases),
        median(took.cpu for took in commands) / median(took.cpu for took in bases),
        median(took.wall for took in commands),
        commands[-1],
    )
