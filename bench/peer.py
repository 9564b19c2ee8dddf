"""The same queries asked of fast-resume, a search of sessions in native code: both look for what is new first.

It is installed from PyPI into a virtual environment that goes with the run; where that cannot be done the figure is
skipped and says why. Its own index is made before anything is measured.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import partial

from bench import process
from bench.figure import Figure
from bench.process import against
from bench.whole import LARGE, common_words

NAME = "find against fast-resume, both with refresh"
PACKAGE = "fast-resume"
MINUTES = 5  # for the installation, and for its first index


def figures(env: Mapping[str, str], recall: list[str], place: str, runs: int, rare: str, size: int) -> Iterator[Figure]:
    """Our wall time over theirs, for a word of one session (`rare`) and for two of the commonest; `place` is a folder for the
    virtual environment, `size` the bytes of all transcripts (a small corpus has no bound)."""
    try:
        program = _install(os.path.join(place, "peer"))
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        first = [program, "--list", rare]
        subprocess.run(first, env=dict(env), cwd=env["HOME"], capture_output=True, check=True, timeout=MINUTES * 60)
    except (OSError, subprocess.SubprocessError) as problem:
        yield Figure(NAME, None, note=f"{PACKAGE} cannot be used here: {_reason(problem)}")
        return
    for name, words in (("rare word", (rare,)), ("two words", common_words(env))):
        theirs, ours = [program, "--list", " ".join(words)], [*recall, "find", *words]
        got = against(partial(process.run, theirs, env), partial(process.run, ours, env), runs)
        times = f"ours {got.seconds * 1000:.0f} ms, theirs {got.seconds / got.wall * 1000:.0f} ms; CPU {got.cpu:.2f}x"
        yield Figure(f"{NAME}: {name}", got.wall, 1 if size >= LARGE else None, note=f"{version}; {times}")


def _install(folder: str) -> str:
    """The program, in a new virtual environment at `folder`."""
    subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, check=True, timeout=MINUTES * 60)
    pip = [os.path.join(folder, "bin", "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, PACKAGE], capture_output=True, text=True, check=True, timeout=MINUTES * 60)
    return os.path.join(folder, "bin", "fr")


def _reason(problem: Exception) -> str:
    said = str(getattr(problem, "stderr", "") or "").strip()
    return said.splitlines()[-1] if said else str(problem)
