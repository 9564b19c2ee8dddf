"""Planted phrases: each must lead to the session that it was planted in."""

from __future__ import annotations

import datetime
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from bench import process
from bench.figure import Figure
from recall.actions.find import find
from recall.core.query import parse
from recall.settings import load
from recall.store import open_store

ROWS = 20
THROUGH_BINARY = 20


def load_needles(home: str) -> list[dict[str, Any]]:
    """The needles of a corpus: kind, query, session_id (None: nothing may be found)."""
    path = os.path.join(home, "needles.jsonl")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def figures(env: Mapping[str, str], recall: list[str], needles: list[dict[str, Any]]) -> Iterator[Figure]:
    """How many needles are found within the first rows, by kind."""
    if not needles:
        yield Figure("needles", None, note="no needles.jsonl in that home")
        return
    now = datetime.datetime.now(datetime.UTC)
    all_of, found_of = Counter[str](), Counter[str]()
    lost = []
    with open_store(load(env).index) as store:
        for needle in needles:
            query = parse(needle["query"], now)
            found = find(query, store, now=now.timestamp(), limit=ROWS, everything=True)
            all_of[needle["kind"]] += 1
            if _right(needle, [hit.session.id for hit in found.hits]):
                found_of[needle["kind"]] += 1
            else:
                lost.append(needle["query"])
    kinds = ", ".join(f"{kind} {found_of[kind]}/{count}" for kind, count in sorted(all_of.items()))
    name = f"needles in the first {ROWS} rows"
    yield Figure(name, 100 * found_of.total() / all_of.total(), 100, "%", least=True, note=kinds)
    if lost:
        yield Figure("needles that were not found", float(len(lost)), 0, "", note=", ".join(lost[:5]))
    step = max(1, len(needles) // THROUGH_BINARY)
    some = needles[::step][:THROUGH_BINARY]
    right = 0
    for needle in some:
        search = ["find", "--no-refresh", "--all", "--ids", "-n", str(ROWS), needle["query"]]
        right += _right(needle, process.run([*recall, *search], env).out.split())
    yield Figure("needles, through the binary", 100 * right / len(some), 100, "%", least=True, note=f"of {len(some)}")
    yield _grep(env, recall, [needle for needle in needles if needle["kind"] == "big_line"])


def _right(needle: Mapping[str, Any], ids: list[str]) -> bool:
    return needle["session_id"] in ids if needle["session_id"] else not ids


def _grep(env: Mapping[str, str], recall: list[str], needles: list[dict[str, Any]]) -> Figure:
    """In lines of a megabyte and more, which `find` has cut and `grep` must not."""
    name = "grep: phrases in very long lines"
    if process.run([*recall, "grep", "--help"], env).status:
        return Figure(name, None, note="there is no grep yet")
    if not needles:
        return Figure(name, None, note="no such needle in that corpus")
    right = 0
    for needle in needles:
        out = process.run([*recall, "grep", needle["text"].strip()], env).out
        right += needle["session_id"][:8] in out
    return Figure(name, 100 * right / len(needles), 100, "%", least=True, note=f"of {len(needles)}")
