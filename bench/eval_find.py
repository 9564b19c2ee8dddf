#!/usr/bin/env python3
"""Known-item evaluation of any session search command. Standard library only.

  eval_find.py --queries DEV=dev.jsonl --queries HELD=held.jsonl --home HOME \\
      --cmd 'recall find --json -n 10 --all {query}' --label recall --out recall.json

Queries: JSON lines with query, lang, kind and session_ids; any of the ids is a right answer.

--cmd      split like a shell line, run without a shell. {query} becomes one argument, a word that is
           exactly {terms} becomes one argument per word of the query. Without either the query is appended.
           {or} joins the words with ' OR '.
--fallback a second command, used when the first one names no session (repeatable)
--strip    take stop words out of the query first
Ids        --json-path sessions[].id  (or results[].session_id, [].id, ...) reads JSON or JSON lines;
           without it every string under a key such as id, session, session_id, sessionId is taken in
           order; --regex takes group 1 (or the whole match) of every match in the text instead.
           Repeated ids count once, at the first place. `codex:`-like prefixes are cut. An id of 8 or more
           characters that is the beginning of a right id counts as right.
--fold     HOME: a sub-agent id is counted as its parent session (read from the file layout and first records)
--home     HOME of the command; the environment is empty but for HOME, PATH, LANG and --env K=V
--compare  earlier --out file: paired difference of success@5 with its 95 % interval
--require  'keywords:s5>=0.8' or 'DEV/keywords/cjk:mrr>0.5': exit 1 when not met (repeatable)

The baselines that the project measures itself against are built in, as commands of their own:
  eval_find.py fts5 --home HOME --db FILE [--build] [--conversation] [--bigrams] [--and] [-n 10] QUERY
  eval_find.py grep --home HOME [--and] [-n 10] QUERY
"""

# ruff: noqa: SIM905  (a list of words is read as a text)
from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import shlex
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

Row = dict[str, Any]

METRICS = ("n", "s1", "s5", "s10", "mrr", "empty")
ID_KEYS = ("id", "session", "session_id", "sessionId", "sid", "uuid")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
STOP = set(
    """a an and any are as at be been but by can could did do does for from had has have he her his how i if in
into is it its just like me my no not of off on one only or other our out over so some such than that the their them
then there these they this those through to too up us was we were what when where which while who why will with
without would you your asked wanted session
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по ее мне было вот от меня еще нет о из
ему для при это эта этот или чтобы хотел где когда который через
der die das und ist im in den dem des ein eine einer soll sich aus mit auf von zu statt danach war
le la les un une des de du et est en dans sur pour au aux avec depuis d l
el los las y es que una por con para otra nunca""".split()
)


# ---------------------------------------------------------------- queries and ids
def group(lang: str) -> str:
    return lang if lang in ("en", "ru") else "cjk" if lang in ("zh", "ja", "ko") else "other"


def load_queries(specs: list[str]) -> list[Row]:
    rows = []
    for spec in specs:
        name, _, path = spec.rpartition("=")
        with open(path, encoding="utf-8") as f:
            for line in f:
                if line.strip():
                    q = json.loads(line)
                    q["set"] = name or os.path.basename(path)
                    q["group"] = group(q.get("lang", "en"))
                    rows.append(q)
    return rows


def stripped(query: str) -> str:
    words = [w for w in query.split() if w.strip(".,;:!?()\"'").lower() not in STOP]
    return " ".join(w.strip(",;:!?") for w in words) or query


def argv_for(template: str, query: str) -> list[str]:
    out, used = [], False
    for word in shlex.split(template):
        if word == "{terms}":
            out += query.split()
            used = True
        else:
            used |= "{query}" in word or "{or}" in word
            out.append(word.replace("{or}", " OR ".join(query.split())).replace("{query}", query))
    return out if used else [*out, query]


def norm(sid: object) -> str:
    return str(sid).strip().rsplit(":", 1)[-1]


def by_path(value: Any, path: str) -> list[str | int]:
    """Walk a[].b; a list met without [] is walked too."""
    for part in [p for p in re.split(r"\.|(\[\])", path) if p]:
        if part == "[]":
            value = [x for v in value for x in (v if isinstance(v, list) else [v])] if isinstance(value, list) else []
        else:
            value = [v.get(part) for v in (value if isinstance(value, list) else [value]) if isinstance(v, dict)]
            value = [x for v in value for x in (v if isinstance(v, list) else [v])]
    return [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, (str, int))]


def by_key(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key in ID_KEYS:
            if isinstance(value.get(key), str):
                yield value[key]
                break
        for v in value.values():
            if isinstance(v, (dict, list)):
                yield from by_key(v)
    elif isinstance(value, list):
        for v in value:
            yield from by_key(v)


def parse_ids(text: str, json_path: str | None, regex: str | None) -> list[Any]:
    if regex:
        return [m.group(1) if m.re.groups else m.group(0) for m in re.finditer(regex, text, re.M)]
    docs = []
    try:
        docs = [json.loads(text)]
    except ValueError:
        for line in text.splitlines():
            with contextlib.suppress(ValueError):
                docs.append(json.loads(line))
    if not docs:
        return UUID.findall(text)
    return [i for d in docs for i in (by_path(d, json_path) if json_path else by_key(d))]


def ranked(ids: Iterable[object], parents: dict[str, str], k: int) -> list[str]:
    out = []
    for sid in map(norm, ids):
        sid = parents.get(sid, sid)
        if sid and sid not in out:
            out.append(sid)
    return out[:k] if k else out


def rank_of(ids: list[str], gold: list[str]) -> int:
    for place, sid in enumerate(ids, 1):
        if any(sid == g or (len(sid) >= 8 and g.startswith(sid)) for g in gold):
            return place
    return 0


def find_parents(home: str) -> dict[str, str]:
    """Sub-agent id (file stem) -> id of the session it belongs to."""
    parents = {}
    for base, _, files in os.walk(os.path.join(home, ".claude", "projects")):
        for name in files:
            if not (name.startswith("agent-") and name.endswith(".jsonl")):
                continue
            stem, up = name[:-6], os.path.basename(os.path.dirname(base))
            if os.path.basename(base) != "subagents":
                try:
                    with open(os.path.join(base, name), encoding="utf-8", errors="replace") as f:
                        up = json.loads(f.readline()).get("sessionId")
                except (ValueError, AttributeError):
                    up = ""
            if up:
                parents[stem] = parents[stem[6:]] = up
    return parents


# ---------------------------------------------------------------- running and scoring
def run_one(args: argparse.Namespace, env: dict[str, str], query: str) -> tuple[list[str], float, int]:
    text = stripped(query) if args.strip else query
    took, ids, code = 0.0, [], 0
    for template in [args.cmd, *args.fallback]:
        start = time.perf_counter()
        try:
            p = subprocess.run(
                argv_for(template, text),
                env=env,
                cwd=args.cwd,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=args.timeout,
            )
            out, code = p.stdout.decode("utf-8", "replace"), p.returncode
        except subprocess.TimeoutExpired:
            out, code = "", 124
        took += time.perf_counter() - start
        ids = ranked(parse_ids(out, args.json_path, args.regex), args.parents, args.depth)
        if ids:
            break
    return ids, took, code


def percentile(values: list[float], share: float) -> float:
    v = sorted(values)
    return v[min(len(v) - 1, int(share * len(v)))] if v else 0.0


def bootstrap(values: list[float], rounds: int, seed: int = 1) -> list[float]:
    if not values:
        return [0.0, 0.0]
    rng, n = random.Random(seed), len(values)
    means = sorted(sum(rng.choices(values, k=n)) / n for _ in range(rounds))
    return [means[int(0.025 * rounds)], means[min(rounds - 1, int(0.975 * rounds))]]


def score(rows: list[Row], rounds: int) -> Row:
    r = [x["rank"] for x in rows]
    n = len(r)

    def hit(k: int) -> float:
        return sum(1 for x in r if 0 < x <= k) / n

    return {
        "n": n,
        "s1": hit(1),
        "s5": hit(5),
        "s10": hit(10),
        "mrr": sum(1 / x for x in r if 0 < x <= 10) / n,
        "empty": sum(1 for x in rows if not x["ids"]) / n,
        "s5_ci": bootstrap([1.0 if 0 < x <= 5 else 0.0 for x in r], rounds),
    }


def cells(rows: list[Row], rounds: int) -> dict[str, Row]:
    """Scores for every set / kind / language group, 'all' standing for any."""
    sets = sorted({x["set"] for x in rows})
    kinds = sorted({x["kind"] for x in rows}, reverse=True)
    out = {}
    for s in ["all"] + (sets if len(sets) > 1 else []):
        for k in kinds:
            for g in ("all", "en", "ru", "cjk", "other"):
                part = [x for x in rows if s in ("all", x["set"]) and x["kind"] == k and g in ("all", x["group"])]
                if part:
                    out[f"{s}/{k}/{g}"] = score(part, rounds)
    return out


def table(result: Row) -> Iterator[str]:
    yield f"{'set/kind/language':34}   n    s@1    s@5   [95 %]          s@10   MRR    empty"
    for name, c in result["cells"].items():
        lo, hi = c["s5_ci"]
        yield (
            f"{name:34} {c['n']:4} {c['s1']:6.3f} {c['s5']:6.3f}  [{lo:.3f}, {hi:.3f}] {c['s10']:6.3f} "
            f"{c['mrr']:6.3f} {c['empty']:6.3f}"
        )
    yield (
        f"latency ms: median {result['ms_median']:.0f}, p95 {result['ms_p95']:.0f}; "
        f"non-zero exits {result['nonzero']}, timeouts {result['timeouts']}"
    )


def compare(rows: list[Row], other: Row, rounds: int) -> dict[str, Row]:
    """Paired difference of success@5 (ours minus theirs), by kind."""

    def key(x: Row) -> tuple[str, str, str]:
        return (x["set"], x["kind"], x["query"])

    theirs = {key(x): x["rank"] for x in other["rows"]}
    out = {}
    for kind in sorted({x["kind"] for x in rows}, reverse=True):
        d = [
            float(0 < x["rank"] <= 5) - float(0 < theirs[key(x)] <= 5)
            for x in rows
            if x["kind"] == kind and key(x) in theirs
        ]
        if d:
            out[kind] = {"n": len(d), "diff": sum(d) / len(d), "ci": bootstrap(d, rounds)}
    return out


def required(spec: str, result: Row) -> tuple[bool, str, float]:
    m = re.fullmatch(r"(.+):(\w+)(>=|>|<=|<)([0-9.]+)", spec)
    if not m or m[2] not in METRICS:
        sys.exit(f"eval_find: cannot read --require {spec}")
    parts = m[1].split("/")
    name = "/".join({1: ["all", *parts, "all"], 2: [*parts, "all"], 3: parts}[len(parts)])
    got, want = result["cells"][name][m[2]], float(m[4])
    return {">=": got >= want, ">": got > want, "<=": got <= want, "<": got < want}[m[3]], name, got


def evaluate(argv: list[str]) -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--queries", action="append", required=True, metavar="[NAME=]FILE")
    ap.add_argument("--cmd", required=True)
    ap.add_argument("--fallback", action="append", default=[])
    ap.add_argument("--strip", action="store_true")
    ap.add_argument("--kind")
    ap.add_argument("--json-path")
    ap.add_argument("--regex")
    ap.add_argument("--fold", metavar="HOME")
    ap.add_argument("--home", default=os.environ.get("HOME"))
    ap.add_argument("--env", action="append", default=[], metavar="K=V")
    ap.add_argument("--path", default="/usr/local/bin:/usr/bin:/bin")
    ap.add_argument("--cwd")
    ap.add_argument("--depth", type=int, default=10)
    ap.add_argument("--timeout", type=float, default=60)
    ap.add_argument("--jobs", type=int, default=1)
    ap.add_argument("--warm", type=int, default=1, help="queries run once before, not counted")
    ap.add_argument("--limit", type=int, help="only the first N queries of the shuffled set")
    ap.add_argument("--boot", type=int, default=2000)
    ap.add_argument("--label", default="")
    ap.add_argument("--out")
    ap.add_argument("--compare")
    ap.add_argument("--require", action="append", default=[])
    args = ap.parse_args(argv)
    args.cwd = args.cwd or args.home
    args.parents = find_parents(args.fold) if args.fold else {}
    env = {"HOME": args.home, "PATH": args.path, "LANG": "C.UTF-8", **dict(e.split("=", 1) for e in args.env)}
    queries = [q for q in load_queries(args.queries) if args.kind in (None, q["kind"])]
    if args.limit:
        random.Random(1).shuffle(queries)
        queries = queries[: args.limit]
    for q in queries[: args.warm]:
        run_one(args, env, q["query"])
    with ThreadPoolExecutor(args.jobs) as pool:
        answers = list(pool.map(lambda q: run_one(args, env, q["query"]), queries))
    rows = [
        {**q, "ids": ids, "rank": rank_of(ids, q["session_ids"]), "ms": took * 1000, "exit": code}
        for q, (ids, took, code) in zip(queries, answers, strict=True)
    ]
    times = [r["ms"] for r in rows]
    result = {
        "label": args.label,
        "cells": cells(rows, args.boot),
        "ms_median": percentile(times, 0.5),
        "ms_p95": percentile(times, 0.95),
        "nonzero": sum(1 for r in rows if r["exit"]),
        "timeouts": sum(1 for r in rows if r["exit"] == 124),
        "rows": rows,
    }
    print(args.label)
    print("\n".join(table(result)))
    if args.compare:
        with open(args.compare, encoding="utf-8") as f:
            result["compare"] = compare(rows, json.load(f), args.boot)
        for kind, c in result["compare"].items():
            print(
                f"success@5 against {os.path.basename(args.compare)}, {kind}: {c['diff']:+.3f} "
                f"[{c['ci'][0]:+.3f}, {c['ci'][1]:+.3f}]"
            )
    if args.out:
        with open(args.out, "w", encoding="utf-8") as f:
            json.dump(result, f, ensure_ascii=False, indent=1)
    failed = 0
    for spec in args.require:
        ok, _, got = required(spec, result)
        print(("ok    " if ok else "FAIL  ") + f"{spec} (measured {got:.3f})")
        failed += not ok
    return 1 if failed else 0


# ---------------------------------------------------------------- built-in baselines
def sessions(home: str) -> dict[str, tuple[float, list[str]]]:
    """(id, mtime, files) of every session; sub-agent files belong to their parent."""
    parents = find_parents(home)
    found: dict[str, tuple[float, list[str]]] = {}
    for root in (
        os.path.join(home, ".claude", "projects"),
        os.path.join(home, ".codex", "sessions"),
        os.path.join(home, ".codex", "archived_sessions"),
    ):
        for base, _, files in os.walk(root):
            for name in files:
                if not name.endswith(".jsonl"):
                    continue
                stem = name[:-6]
                if "rollout-" in stem:
                    m = UUID.search(stem)
                    stem = m.group(0) if m else stem
                sid = parents.get(stem, stem)
                path = os.path.join(base, name)
                newest, paths = found.get(sid, (0.0, []))
                found[sid] = (max(newest, os.stat(path).st_mtime), [*paths, path])
    return {k: (v[0], sorted(v[1])) for k, v in found.items()}


SKIP = {
    "signature",
    "encrypted_content",
    "data",
    "base64",
    "uuid",
    "parentUuid",
    "sessionId",
    "requestId",
    "id",
    "timestamp",
    "version",
    "type",
    "role",
    "call_id",
    "tool_use_id",
    "model",
    "usage",
    "snapshot",
    "toolUseResult",
    "base_instructions",
    "instructions",
}


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for v in value:
            yield from strings(v)
    elif isinstance(value, dict):
        for k, v in value.items():
            if k not in SKIP:
                yield from strings(v)


def spoken(rec: Row) -> Iterator[str]:
    """Text said by the human or the assistant in one record, for both clients."""
    payload = rec.get("payload")
    p: Row = payload if isinstance(payload, dict) else rec
    kind = p.get("type")
    if kind in ("user", "assistant"):
        m = p.get("message")
        content = m.get("content") if isinstance(m, dict) else None
    elif kind == "message" and p.get("role") in ("user", "assistant"):
        content = p.get("content")
    elif kind == "summary":
        content = p.get("summary")
    else:
        return
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and isinstance(block.get("text"), str) and "tool" not in str(block.get("type")):
            yield block["text"]


CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")


def bigrams(text: str) -> str:
    """Write every run of Chinese, Japanese or Korean characters as overlapping pairs."""
    return CJK.sub(lambda m: " " + " ".join(m[0][i : i + 2] for i in range(max(1, len(m[0]) - 1))) + " ", text)


def build_fts5(homes: Iterable[str], db: str, conversation: bool, cut: bool = False) -> None:
    """Make the baseline's table of all sessions of these homes in the file `db`."""
    if os.path.exists(db):
        os.remove(db)
    con = sqlite3.connect(db)
    con.execute("CREATE VIRTUAL TABLE s USING fts5(sid UNINDEXED, body, tokenize='porter unicode61')")
    for sid, (_, files) in (item for home in homes for item in sessions(home).items()):
        text: list[str] = []
        for path in files:
            with open(path, encoding="utf-8", errors="replace") as f:
                for line in f:
                    try:
                        rec = json.loads(line)
                    except ValueError:
                        continue
                    if isinstance(rec, dict):
                        text += spoken(rec) if conversation else strings(rec)
        body = "\n".join(t.encode("utf-8", "replace").decode() for t in text)
        con.execute("INSERT INTO s VALUES (?,?)", (sid, bigrams(body) if cut else body))
    con.execute("INSERT INTO s(s) VALUES('optimize')")
    con.commit()


def terms_of(query: str, cut: bool) -> list[str]:
    text = query.lower()
    return list(dict.fromkeys((bigrams(text) if cut else text).split()))


def search_fts5(db: str, terms: list[str], every: bool, n: int) -> list[str]:
    """The `n` best sessions of the baseline's table for the terms joined by OR, or by AND when `every`."""
    words = ['"' + w.replace('"', '""') + '"' for w in terms]
    con = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    try:
        rows = con.execute(
            "SELECT sid FROM s WHERE s MATCH ? ORDER BY bm25(s) LIMIT ?", ((" " if every else " OR ").join(words), n)
        )
        return [r[0] for r in rows]
    finally:
        con.close()


def search_grep(home: str, terms: list[str], every: bool, n: int) -> list[str]:
    """The `n` sessions whose raw files hold most of the terms (all of them when `every`), newest first."""
    known = sessions(home)
    count: dict[str, int] = {}
    owner = {p: sid for sid, (_, files) in known.items() for p in files}
    options = ["-liF", "--no-messages", "--no-ignore", "--hidden", "-g", "*.jsonl"]
    for t in terms:
        p = subprocess.run(
            ["rg", *options, "-e", t, ".claude/projects", ".codex"], cwd=home, capture_output=True, text=True
        )
        found = (owner.get(os.path.join(home, x)) for x in p.stdout.splitlines())
        for sid in {sid for sid in found if sid}:
            count[sid] = count.get(sid, 0) + 1
    best = [s for s in count if not every or count[s] == len(terms)]
    return sorted(best, key=lambda s: (count[s], known[s][0]), reverse=True)[:n]


def baseline(argv: list[str]) -> int:
    ap = argparse.ArgumentParser()
    ap.add_argument("engine", choices=("fts5", "grep"))
    ap.add_argument("--home", default=os.environ.get("HOME"))
    ap.add_argument("--db", default="fts5.db")
    ap.add_argument("--build", action="store_true")
    ap.add_argument("--conversation", action="store_true")
    ap.add_argument("--bigrams", action="store_true", help="cut Chinese, Japanese and Korean runs into pairs")
    ap.add_argument("--and", dest="every", action="store_true")
    ap.add_argument("-n", type=int, default=10)
    a, rest = ap.parse_known_args(argv)
    if a.build:
        build_fts5([a.home], a.db, a.conversation, a.bigrams)
    terms = terms_of(" ".join(w for w in rest if w != "--"), a.bigrams)
    if not terms:
        return 0
    if a.engine == "fts5":
        ids = search_fts5(a.db, terms, a.every, a.n)
    else:
        ids = search_grep(a.home, terms, a.every, a.n)
    print(json.dumps({"sessions": [{"id": i} for i in ids]}))
    return 0 if ids else 1


if __name__ == "__main__":
    sys.exit(baseline(sys.argv[1:]) if sys.argv[1:2] in (["fts5"], ["grep"]) else evaluate(sys.argv[1:]))
