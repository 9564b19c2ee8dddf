"""Whole processes, from start to exit, against `python -c pass`; and a rare word against ripgrep over the raw files."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping

from bench import make_corpus, process
from bench.figure import Figure
from bench.process import Ratio, Took, against
from recall.archive.append import BLOCK, TAIL
from recall.settings import load
from recall.store import open_store

TOUCHED = 5
SAMPLE = 4096
LARGE = 500_000_000
"""Bytes of transcripts from which on a search must be faster than reading them all; below, starting counts most."""


def figures(env: Mapping[str, str], recall: list[str], runs: int, rare: str, size: int) -> Iterator[Figure]:
    """Measure with the index that is there; `rare` is a word of one session, `size` the bytes of all transcripts."""
    common, second = common_words(env)

    def bare() -> Took:
        return process.run([sys.executable, "-c", "pass"], env)

    def ratio(*args: str) -> Ratio:
        got = against(bare, lambda: process.run([*recall, *args], env), runs)
        if got.last.status:
            sys.exit(f"bench: recall {' '.join(args)} ended with status {got.last.status}")
        return got

    yield _figure("sweep, nothing changed", 8, ratio("sweep", "--no-llm", "--quiet"))
    for name, words, bound in (
        ("rare word", (rare,), 6.5),
        ("common word", (common,), 8),
        ("two words", (common, second), 8),
    ):
        yield _figure(f"find --no-refresh, {name}", bound, ratio("find", "--no-refresh", *words))
    yield _figure("find, nothing changed", 8, ratio("find", rare))
    yield _against_ripgrep(env, recall, runs, rare, size)


def _figure(name: str, bound: float, got: Ratio) -> Figure:
    return Figure(name, got.wall, bound, note=f"{got.seconds * 1000:.0f} ms; CPU {got.cpu:.1f}x")


def _against_ripgrep(env: Mapping[str, str], recall: list[str], runs: int, rare: str, size: int) -> Figure:
    name = "rare word: find against rg -l, times faster"
    program = shutil.which("rg")
    if not program:
        return Figure(name, None, note="rg is not installed (package ripgrep)")
    folders = [path for path in (".claude", ".codex") if os.path.isdir(os.path.join(env["HOME"], path))]
    search = [program, "-l", "--no-ignore", "--hidden", rare, *folders]
    got = against(
        lambda: process.run([*recall, "find", "--no-refresh", rare], env), lambda: process.run(search, env), runs
    )
    note = f"rg {got.seconds * 1000:.0f} ms"
    if size < LARGE:
        return Figure(name, got.wall, note=note + "; no bound for a small corpus")
    return Figure(name, got.wall, 8, least=True, note=note)


def common_words(env: Mapping[str, str]) -> tuple[str, str]:
    """Of the words that the corpus is made of, the one in most rows, and the twentieth."""
    words = sorted({*make_corpus.EN_NOUN, *make_corpus.EN_VERB, *make_corpus.EN_ADJ})
    with open_store(load(env).index) as store:
        words.sort(key=lambda word: (-store.rows_with(word), word))
    return words[0], words[19]


def appended(env: Mapping[str, str], recall: list[str], runs: int) -> Iterator[Figure]:
    """A sweep after a few sessions grew: its time, and what it read of them. Appends to the transcripts in HOME."""
    rounds = iter(range(1, runs + 2))
    most = (0.0, "")

    def bare() -> Took:
        return process.run([sys.executable, "-c", "pass"], env)

    def grown() -> Took:
        nonlocal most
        before = _grow(env["HOME"], next(rounds))
        took = process.run([*recall, "sweep", "--no-llm", "--json"], env)
        report = json.loads(took.out)
        if report["grown"] != len(before) or report["new"] or report["rewritten"]:
            sys.exit(f"bench: {len(before)} sessions grew, and the sweep says {report}")
        new = sum(os.path.getsize(path) - size for path, size in before.items())
        compared = sum(map(_window, before.values()))
        note = f"read {report['bytes_read']:,}; new {new:,}, to be compared {compared:,} at most"
        most = max(most, (report["bytes_read"] / (new + compared), note))
        return took

    yield _figure(f"sweep, {TOUCHED} sessions grew", 11, against(bare, grown, runs))
    yield Figure(f"sweep, {TOUCHED} sessions grew: bytes read", most[0], 1, note=most[1])


def loosen(home: str, runs: int) -> None:
    """Make files of their own of the transcripts that will be appended to, where they are links to another corpus."""
    for number in range(1, runs + 2):
        for path in make_corpus.to_touch(home, TOUCHED, 1, number):
            if os.stat(path).st_nlink > 1:
                shutil.copy2(path, path + ".copy")
                os.replace(path + ".copy", path)


def _grow(home: str, number: int) -> dict[str, int]:
    """Append to some sessions; the transcripts with their sizes before."""
    before = {path: os.path.getsize(path) for path in make_corpus.to_touch(home, TOUCHED, 1, number)}
    make_corpus.touch(Namespace(home=home, touch=TOUCHED, lines=20, seed=1, round=number))
    return before


def _window(length: int) -> int:
    """Bytes of a transcript that a sweep compares before it appends: see `recall.archive.store.refresh`."""
    return min(length, SAMPLE * (math.ceil(length / BLOCK) + 2)) + TAIL
