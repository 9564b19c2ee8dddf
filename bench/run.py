"""Measure recall against bounds: `make bench`.

Every time is a ratio to a baseline that is measured in turns with it, so that the bounds hold on any machine. Needs a
quiet one all the same. Ends with status 1 when a bound is missed.

  python bench/run.py                        a synthetic corpus of 200 sessions, 100 MB
  python bench/run.py --preset M --write     2,000 sessions, 1 GB; the table in docs/benchmarks.md is written again
  python bench/run.py --home DIR             a corpus that exists: nothing is written there
  python bench/run.py --only needles
"""

from __future__ import annotations

import argparse
import datetime
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench import cold, figure, hook, needles, page, peer, process, whole
from bench.figure import Figure

PARTS = ("cold", "whole", "peer", "needles", "grown", "hook")


def make(home: str, preset: str) -> None:
    """A corpus in the new folder `home`, with the same bytes every time."""
    script = os.path.join(process.ROOT, "bench", "make_corpus.py")
    subprocess.run([sys.executable, script, "--home", home, "--preset", preset], check=True, stdout=subprocess.DEVNULL)


def mirror(corpus: str, home: str) -> None:
    """The transcripts of `corpus` under `home`, as links where the file system allows: `corpus` stays as it is."""
    for name in (".claude", ".codex", "needles.jsonl"):
        source, target = os.path.join(corpus, name), os.path.join(home, name)
        if os.path.isdir(source):
            shutil.copytree(source, target, copy_function=_link, symlinks=True)
        elif os.path.exists(source):
            shutil.copy2(source, target)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def measure(corpus: str, place: str, runs: int, only: str) -> Iterator[Figure]:
    """All figures of the corpus; `place` is a folder for what is written."""
    home = os.path.join(place, "home")
    os.makedirs(home)
    mirror(corpus, home)
    whole.loosen(home, runs)
    env = process.environment(home, place)
    recall = process.launcher(place)
    planted = needles.load_needles(home)
    size = sum(os.path.getsize(path) for path in _transcripts(home))

    def wanted(part: str) -> bool:
        return only in ("", part)

    if wanted("cold"):
        yield from cold.figures(env, max(1, runs // (20 if size > whole.LARGE else 5)))
    if wanted("hook"):
        yield from hook.figures(place, runs)
    if only == "hook":
        return
    first = process.run([*recall, "sweep", "--no-llm", "--quiet"], env)
    if first.status:
        sys.exit(f"bench: the first sweep ended with status {first.status}")
    rare = next((one["text"].split()[0] for one in planted if one["kind"] == "user"), "")
    if wanted("whole") or wanted("peer"):
        if rare and wanted("whole"):
            yield from whole.figures(env, recall, runs, rare, size)
        if rare and wanted("peer"):
            yield from peer.figures(env, recall, place, runs, rare, size)
        if not rare:
            yield Figure("whole processes", None, note="no needles.jsonl in that home")
    if wanted("needles"):
        yield from needles.figures(env, recall, planted)
    if wanted("grown"):
        if planted:
            yield from whole.appended(env, recall, runs)
            yield from _grown_needles(env, recall, home, len(planted))
        else:
            yield Figure("sweep, sessions grew", None, note="no synthetic corpus")


def _grown_needles(env: dict[str, str], recall: list[str], home: str, before: int) -> Iterator[Figure]:
    for one in needles.figures(env, recall, needles.load_needles(home)[before:]):
        if one.name.startswith("needles in"):
            yield one._replace(name="phrases in what was appended, found")


def _transcripts(home: str) -> Iterator[str]:
    for folder, _, names in os.walk(home):
        for name in names:
            if name.endswith(".jsonl") and folder != home:
                yield os.path.join(folder, name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=("S", "M"), default="S", help="size of the corpus that is made")
    parser.add_argument("--home", help="a corpus that exists; --preset then only names its table")
    parser.add_argument("--runs", type=int, default=15, help="turns of each whole process")
    parser.add_argument("--only", choices=PARTS, default="", help="one part of the figures")
    parser.add_argument("--write", action="store_true", help="write the table in docs/benchmarks.md again")
    args = parser.parse_args()
    if args.write and args.only:
        parser.error("--write needs all figures: leave out --only")
    os.umask(0o077)
    figures = []
    with tempfile.TemporaryDirectory(prefix="recall-bench-") as place:
        corpus = args.home and os.path.abspath(args.home)
        if not corpus:
            corpus = os.path.join(place, "corpus")
            make(corpus, args.preset)
        for one in measure(corpus, place, args.runs, args.only):
            print(figure.line(one), flush=True)
            figures.append(one)
    if args.write:
        page.write(f"bench {args.preset}", figure.markdown(figures), datetime.date.today())
    missed = [one for one in figures if one.missed]
    print(f"\n{len(figures)} figures, {len(missed)} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
