"""How long the extraction of a card takes, over parsing the same transcript: `python bench/extraction.py`.

Processor time of `read_gist` (records, facts, digest with its secrets replaced) over that of reading the same records and
doing nothing with them, in turns; the medians. The session is one of `bench/make_corpus.py`: 50 MB, its sub-agents apart.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench import process
from bench.figure import Figure, line
from recall import clients
from recall.actions.gist import read_gist
from recall.actions.reading import Reading
from recall.core.facts import Facts
from recall.core.model import EVERYTHING, Session
from recall.settings import load

BOUND = 1.5
BYTES = "59M"  # of which 50 are the session's own file


def measure(path: str, runs: int) -> Figure:
    """The figure for one transcript of Claude Code."""
    settings = load({"HOME": os.path.dirname(path)})
    row = Session(1, "claude", os.path.basename(path).removesuffix(".jsonl"))

    def parse() -> None:
        facts = Facts()
        lines = Reading(path, 0, facts, settings.max_line).lines()
        for _ in clients.get("claude").parse(lines, facts, EVERYTHING):
            pass

    def extract() -> None:
        read_gist(row, path, "claude", settings)

    alone, whole = zip(*((seconds(parse), seconds(extract)) for _ in range(runs)), strict=True)
    base, value = statistics.median(alone), statistics.median(whole)
    note = f"{os.path.getsize(path) / 1e6:.0f} MB: {value:.2f} s, its parse {base:.2f} s of CPU"
    return Figure("extraction of a 50 MB session: CPU, over its parse", value / base, BOUND, note=note)


def seconds(work: Callable[[], None]) -> float:
    """Processor time of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def sessions(home: str) -> Iterator[str]:
    """Transcripts of sessions under a home, without those of sub-agents."""
    projects = os.path.join(home, ".claude", "projects")
    for folder in sorted(os.listdir(projects)):
        for name in sorted(os.listdir(os.path.join(projects, folder))):
            if name.endswith(".jsonl"):
                yield os.path.join(projects, folder, name)


def main() -> int:
    """Measure; status 1 when the bound is missed."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--file", help="a transcript of Claude Code, in the place of one that is made")
    options.add_argument("--runs", type=int, default=5)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as place:
        path = given.file
        if not path:
            script = os.path.join(process.ROOT, "bench", "make_corpus.py")
            size = ("--sessions", "1", "--bytes", BYTES, "--codex", "0")
            subprocess.run([sys.executable, script, "--home", place, *size], check=True, stdout=subprocess.DEVNULL)
            path = next(sessions(place))
        figure = measure(path, given.runs)
    print(line(figure))
    return int(figure.missed)


if __name__ == "__main__":
    sys.exit(main())
