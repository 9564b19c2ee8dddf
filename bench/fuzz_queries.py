"""Random and hostile queries: none may raise, and none may be slow.

  python bench/fuzz_queries.py                         100,000 over the sessions of tests/known_items
  python bench/fuzz_queries.py --home HOME --count 5000     over those of HOME; nothing is written there
  python bench/fuzz_queries.py --index DIR             over an index that `evaluate.py --index DIR` has left

The same seed gives the same queries. Prints the slowest, by processor time, so that what else the machine does is not
counted; ends with status 1 when one raised or took too long.
"""

from __future__ import annotations

import argparse
import datetime
import heapq
import os
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench import make_corpus, process
from recall.actions.find import find
from recall.actions.sweep import Sweep
from recall.core.query import FILTERS, parse
from recall.settings import load
from recall.store import Store, exists, open_store

WORDS = (*make_corpus.EN_FUNC, *make_corpus.EN_NOUN, *make_corpus.RU_NOUN_M, *make_corpus.DE_NOUN, *make_corpus.ZH)
SYNTAX = (
    '"',
    "'",
    "*",
    "(",
    ")",
    "^",
    "-",
    "--",
    "+",
    ":",
    "{",
    "}",
    "#",
    "\\",
    "%",
    "_",
    "~",
    ";",
    "AND",
    "OR",
    "NOT",
)
SYNTAX_LONG = (
    "NEAR(",
    "NEAR/2",
    "user:",
    "{user assistant}:",
    "- user :",
    "rowid:",
    "--json",
    "«",
    "」",
    "“",
    "''",
    '""',
)
SCRIPTS = (
    (0x20, 0x7E),
    (0xA0, 0x24F),
    (0x300, 0x36F),
    (0x370, 0x52F),
    (0x590, 0x6FF),
    (0x900, 0x97F),
    (0xE00, 0xE7F),
    (0x1100, 0x11FF),
    (0x2000, 0x206F),
    (0x3040, 0x30FF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3),
    (0xD800, 0xDFFF),
    (0xFB00, 0xFFFF),
    (0x1F300, 0x1FAFF),
    (0x20000, 0x2A6DF),
    (0, 0x1F),
)
DATES = (
    "3d",
    "2026-06-11",
    "0000-00-00",
    "9999-99-99",
    "99999y",
    "-1d",
    "yesterday",
    "2026-02-30T25:61",
    "monday",
    "1e9d",
)
_STEPS = 12


def hostile(rng: random.Random, words: Sequence[str] = WORDS) -> str:
    """One query. `words` are such as the index holds."""
    makers = (_plain, _plain, _letters, _syntax, _filters, _mixed, _mixed, _repeated, _identifier, _long)
    return rng.choice(makers)(rng, words)


def _plain(rng: random.Random, words: Sequence[str]) -> str:
    return " ".join(rng.choices(words, k=rng.randint(1, 9)))


def _letters(rng: random.Random, words: Sequence[str]) -> str:
    first, last = rng.choice(SCRIPTS)
    return "".join(chr(rng.randint(first, last)) for _ in range(rng.randint(0, 40)))


def _syntax(rng: random.Random, words: Sequence[str]) -> str:
    parts = rng.choices((*SYNTAX, *SYNTAX_LONG, *rng.choices(words, k=8)), k=rng.randint(1, 12))
    return rng.choice(("", " ")).join(parts)


def _filters(rng: random.Random, words: Sequence[str]) -> str:
    value = rng.choice((*DATES, "", '"', "''", "*", "/", "live", "\0", *rng.choices(words, k=4)))
    pair = rng.choice(("", "-", "#")) + rng.choice(FILTERS) + rng.choice((":", "::", ":-", ':"')) + value
    return " ".join((pair, *rng.choices(words, k=rng.randint(0, 3))))


def _mixed(rng: random.Random, words: Sequence[str]) -> str:
    """Some of everything, with letters knocked out of the words."""
    makers = (_letters, _syntax, _filters, _identifier)
    parts = [rng.choice(makers)(rng, words)[:60] for _ in range(rng.randint(1, 3))]
    for word in rng.choices(words, k=rng.randint(1, 4)):
        at = rng.randrange(len(word))
        parts.append(word[:at] + rng.choice(("", "?", "'", "\u0301", "\u200d", " ")) + word[at + 1 :])
    rng.shuffle(parts)
    return " ".join(parts)


def _repeated(rng: random.Random, words: Sequence[str]) -> str:
    """One thing over and over: what makes an expression with a choice in it slow."""
    part = rng.choice(
        (
            *SYNTAX,
            "a",
            "aA",
            "A1",
            "1",
            "я",
            "会",
            "ก",
            "\u0301",
            "a'",
            "a-",
            '"a" ',
            "-a ",
            "since:",
            rng.choice(words),
        )
    )
    return part * rng.randint(2, 3000 // len(part))


def _identifier(rng: random.Random, words: Sequence[str]) -> str:
    some = rng.choices(words, k=rng.randint(2, 5))
    joined = rng.choice(("_", "-", ".", "/", "\\", "::", "", "'", "@"))
    if joined == "":
        return some[0] + "".join(word.title() for word in some[1:])
    return joined.join(some) + rng.choice(("", "()", ".py", ":42", "++", "#1", "%"))


def _long(rng: random.Random, words: Sequence[str]) -> str:
    """A pasted paragraph; up to 10,000 characters."""
    size = rng.choice((200, 1000, 10_000)) if rng.random() < 0.1 else 200
    return " ".join(rng.choices(words, k=size // 4))[:size]


class Outcome:
    """What came of it: queries that raised, with why, and the slowest, in seconds of this process."""

    def __init__(self) -> None:
        self.count = 0
        self.raised: list[tuple[str, str]] = []
        self.slowest: list[tuple[float, str]] = []

    def note(self, query: str, seconds: float) -> None:
        self.count += 1
        heapq.heappush(self.slowest, (seconds, query))
        if len(self.slowest) > _STEPS:
            heapq.heappop(self.slowest)


def fuzz(store: Store, count: int, seed: int, tick: Callable[[int], None] = lambda done: None) -> Outcome:
    """Search for `count` hostile queries; `tick` is told how many are done."""
    rng = random.Random(seed)
    now = datetime.datetime(2026, 11, 2, tzinfo=datetime.UTC)
    outcome = Outcome()
    for done in range(count):
        query = hostile(rng)
        start = time.process_time()
        try:
            find(parse(query if done % 2 else query.split(" "), now), store, now=now.timestamp())
        except Exception:
            outcome.raised.append((query, traceback.format_exc(limit=-2)))
        outcome.note(query, time.process_time() - start)
        tick(done + 1)
    return outcome


def _lines(outcome: Outcome) -> Iterator[str]:
    for query, why in outcome.raised[:20]:
        yield f"raised: {query!r}\n{why}"
    yield f"{outcome.count} queries, {len(outcome.raised)} raised; the slowest:"
    for seconds, query in sorted(outcome.slowest, reverse=True):
        shown = query if len(query) <= 100 else f"{query[:100]}… ({len(query)} characters)"
        yield f"{seconds * 1000:8.1f} ms  {shown!r}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", help="HOME with sessions; nothing is written there")
    parser.add_argument("--index", metavar="DIR", help="archive and index are kept there, and used the next time")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slow", type=float, default=1.0, help="seconds of processor time that no query may take")
    args = parser.parse_args()
    os.umask(0o077)

    def tick(done: int) -> None:
        if done % 5000 == 0 and sys.stderr.isatty():
            print(f"\r{done}", end="", file=sys.stderr)

    with tempfile.TemporaryDirectory(prefix="recall-fuzz-") as place:
        home = os.path.abspath(args.home) if args.home else os.path.join(place, "home")
        settings = load(process.environment(home, os.path.abspath(args.index) if args.index else place))
        if not exists(settings.index):
            if not args.home:
                from tests.known_items.sessions import build

                build(Path(home))
            Sweep(settings).run()
        with open_store(settings.index) as store:
            outcome = fuzz(store, args.count, args.seed, tick)
    print("\n".join(_lines(outcome)))
    slowest = max(outcome.slowest, default=(0.0, ""))[0]
    return 1 if outcome.raised or slowest > args.slow else 0


if __name__ == "__main__":
    sys.exit(main())
