"""How good is the order of `find`? Known items: typed words, and the session that each must find. `make eval`.

Success at 1, 5 and 10 and the mean reciprocal rank (over the first ten rows), by kind of query and group of languages,
with 95 % intervals (bootstrap over queries, seeded), beside the baseline of eval_find.py (`fts5 --conversation
--bigrams`: one row a session, Porter stems, bm25) on the same files in the same run; then what each idea of the ranking
is worth.

  python bench/evaluate.py                                      the queries of tests/known_items
  python bench/evaluate.py --queries FILE --home HOME           others: JSON lines with query, lang, kind, session_ids
  python bench/evaluate.py --queries FILE --home HOME --noise HOME2    among the sessions of a second home
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench import eval_find, page, process
from bench.ablations import ABLATIONS
from recall.actions.find import find
from recall.actions.sweep import Sweep
from recall.core.query import parse
from recall.settings import Settings, load
from recall.store import Store, open_store

DEPTH = 10
CUTS = (1, 5, 10)
Search = Callable[[str], Sequence[str]]
Query = Mapping[str, Any]


def ranks(queries: Sequence[Query], search: Search) -> list[int]:
    """For each query the row of the first right session, 0 when it is not among the first ten."""
    return [eval_find.rank_of(list(search(one["query"]))[:DEPTH], one["session_ids"]) for one in queries]


def in_process(store: Store) -> Search:
    """Search as `recall find --all` does, a day after the newest event of the index."""
    now = datetime.datetime.fromtimestamp(store.newest() + 86400, datetime.UTC)

    def search(words: str) -> list[str]:
        found = find(parse(words, now), store, now=now.timestamp(), limit=DEPTH, everything=True)
        return [hit.session.id for hit in found.hits]

    return search


def through_binary(env: Mapping[str, str], recall: list[str]) -> Search:
    """Search with `recall find --all` as a process."""
    command = [*recall, "find", "--no-refresh", "--all", "--ids", "-n", str(DEPTH), "--"]
    return lambda words: process.run([*command, words], env).out.split()


def baseline(homes: Sequence[str], place: str) -> Search:
    """The baseline over the same homes; its table is made in `place`."""
    db = os.path.join(place, "baseline.db")
    eval_find.build_fts5(homes, db, conversation=True, cut=True)

    def search(words: str) -> list[str]:
        terms = eval_find.terms_of(words, True)
        ids: list[str] = eval_find.search_fts5(db, terms, False, DEPTH) if terms else []
        return ids

    return search


def index(settings: Settings) -> None:
    """Take in all homes of the settings; an index that was kept is brought up to date."""
    report = Sweep(settings).run()
    for problem in report.problems:
        print(problem, file=sys.stderr)


def known_items(place: str) -> tuple[list[Query], str]:
    """The queries of our tests, and a home with their sessions, made in `place`."""
    from tests.known_items.sessions import build, queries

    home = os.path.join(place, "known")
    build(Path(home))
    return list(queries()), home


FEW = 4
"""With more kinds of queries than this, kinds and languages stand one below the other, not crossed."""


def cells(queries: Sequence[Query]) -> Iterator[tuple[str, list[int]]]:
    """(name, which queries) for each kind, each group of languages within it, and all."""
    groups = [eval_find.group(one["lang"]) for one in queries]
    kinds = list(dict.fromkeys(one["kind"] for one in queries))
    every = list(range(len(queries)))
    for kind in kinds:
        mine = [n for n in every if queries[n]["kind"] == kind]
        yield kind, mine
        if len(kinds) <= FEW:
            yield from _by_group(mine, groups, f"{kind}, ")
    if len(kinds) > FEW:
        yield from _by_group(every, groups, "")
    yield "all", every


def _by_group(which: list[int], groups: Sequence[str], prefix: str) -> Iterator[tuple[str, list[int]]]:
    for group in ("en", "ru", "cjk", "other"):
        part = [n for n in which if groups[n] == group]
        if part:
            yield prefix + group, part


def success(found: Sequence[int], cut: int) -> list[float]:
    return [float(0 < rank <= cut) for rank in found]


def reciprocal(found: Sequence[int]) -> list[float]:
    return [1 / rank if rank else 0.0 for rank in found]


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


class Scale:
    """Intervals with one number of rounds; the same values give the same interval every time."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds

    def interval(self, values: Sequence[float]) -> str:
        low, high = eval_find.bootstrap(list(values), self._rounds)
        return f"{low:.2f} to {high:.2f}"

    def difference(self, ours: Sequence[float], theirs: Sequence[float]) -> str:
        """Mean of the paired differences, with its interval."""
        pairs = [one - other for one, other in zip(ours, theirs, strict=True)]
        low, high = eval_find.bootstrap(pairs, self._rounds)
        return f"{mean(pairs):+.3f} ({low:+.2f} to {high:+.2f})"


def main_table(queries: Sequence[Query], ours: list[int], theirs: list[int], scale: Scale) -> Iterator[str]:
    """Ours and the baseline, as a table of a page."""
    heads = (
        "queries",
        "n",
        "success@1",
        "@5",
        "95 %",
        "@10",
        "MRR",
        "baseline @1",
        "@5",
        "@10",
        "MRR",
        "@5, difference",
    )
    yield f"| {' | '.join(heads)} |"
    yield f"| --- |{' ---: |' * (len(heads) - 1)}"
    for name, which in cells(queries):
        mine, other = [ours[n] for n in which], [theirs[n] for n in which]
        row = [name, str(len(which))]
        for found in (mine, other):
            for cut in CUTS:
                row.append(f"{mean(success(found, cut)):.3f}")
                if found is mine and cut == 5:
                    row.append(scale.interval(success(found, cut)))
            row.append(f"{mean(reciprocal(found)):.3f}")
        row.append(scale.difference(success(mine, 5), success(other, 5)))
        yield f"| {' | '.join(row)} |"


def ablation_table(
    queries: Sequence[Query], ours: list[int], without: Mapping[str, list[int]], scale: Scale
) -> Iterator[str]:
    """Success at 5 and reciprocal rank without each idea, by kind; and what its leaving changes."""
    kinds = [(name, which) for name, which in cells(queries) if "," not in name]
    kinds = kinds if len(kinds) <= FEW + 1 else kinds[-5:]
    heads = ["", *(f"{name}: @1, @5, MRR" for name, _ in kinds), "MRR of all, difference"]
    yield f"| {' | '.join(heads)} |"
    yield f"| --- |{' ---: |' * (len(heads) - 1)}"
    for name, found in {"as it is": ours, **without}.items():
        row = [name]
        for _, which in kinds:
            part = [found[n] for n in which]
            figures = (mean(success(part, 1)), mean(success(part, 5)), mean(reciprocal(part)))
            row.append(" ".join(f"{figure:.3f}" for figure in figures))
        row.append("" if found is ours else scale.difference(reciprocal(found), reciprocal(ours)))
        yield f"| {' | '.join(row)} |"


def lowers_nothing(queries: Sequence[Query], ours: list[int], found: list[int]) -> bool:
    """Is there no figure of any cell that is lower than ours?"""
    for _, which in cells(queries):
        mine, other = [ours[n] for n in which], [found[n] for n in which]
        pairs = [(success(other, cut), success(mine, cut)) for cut in CUTS] + [(reciprocal(other), reciprocal(mine))]
        if any(mean(one) < mean(two) - 1e-9 for one, two in pairs):
            return False
    return True


def report(args: argparse.Namespace, place: str) -> list[str]:
    """Everything that is printed, as lines."""
    if args.queries:
        with open(args.queries, encoding="utf-8") as file:
            queries: list[Query] = [json.loads(line) for line in file if line.strip()]
        home = os.path.abspath(args.home)
    else:
        queries, home = known_items(place)
    keep = os.path.abspath(args.index) if args.index else place
    env = process.environment(home, keep)
    homes = [home]
    if args.noise:
        noise = os.path.abspath(args.noise)
        homes.append(noise)
        env["RECALL_CLAUDE_HOMES"] = os.path.join(noise, ".claude")
        env["RECALL_CODEX_HOMES"] = os.path.join(noise, ".codex")
    settings = load(env)
    os.makedirs(keep, exist_ok=True)
    index(settings)
    scale = Scale(args.rounds)
    with open_store(settings.index) as store:
        search = through_binary(env, process.launcher(place)) if args.binary else in_process(store)
        ours = ranks(queries, search)
        theirs = ranks(queries, baseline(homes, place))
        lines = [f"{len(queries)} queries over {store.count()} sessions.", ""]
        lines += main_table(queries, ours, theirs, scale)
        if not args.binary and not args.no_ablations:
            without = {}
            for name, context in ABLATIONS.items():
                with context():
                    without[name] = ranks(queries, search)
            lines += ["", *ablation_table(queries, ours, without, scale)]
            idle = [name for name, found in without.items() if lowers_nothing(queries, ours, found)]
            lines += ["", f"Leaving it lowers no figure: {', '.join(idle) or 'none'}."]
        if args.misses:
            for one, rank in zip(queries, ours, strict=True):
                if not 0 < rank <= 5:
                    print(f"row {rank}: {one['kind']} {one['lang']} {one['query']!r} {one['session_ids'][0]}")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", metavar="FILE", help="JSON lines: query, lang, kind, session_ids (any is right)")
    parser.add_argument("--home", help="HOME with the sessions of those queries; nothing is written there")
    parser.add_argument("--noise", metavar="HOME2", help="index the sessions of this home as well")
    parser.add_argument("--index", metavar="DIR", help="keep archive and index there, and use them the next time")
    parser.add_argument("--binary", action="store_true", help="search by processes; no ablations then")
    parser.add_argument("--no-ablations", action="store_true")
    parser.add_argument(
        "--misses", action="store_true", help="print the queries whose session is not in the first five"
    )
    parser.add_argument("--rounds", type=int, default=2000, help="of the bootstrap")
    parser.add_argument(
        "--write", metavar="LABEL", help="write the tables into docs/benchmarks.md: known, private or noise"
    )
    args = parser.parse_args()
    if args.queries and not args.home:
        parser.error("--queries needs --home")
    os.umask(0o077)
    with tempfile.TemporaryDirectory(prefix="recall-eval-") as place:
        lines = report(args, place)
    print("\n".join(lines))
    if args.write:
        page.write(f"eval {args.write}", lines, datetime.date.today())
    return 0


if __name__ == "__main__":
    sys.exit(main())
