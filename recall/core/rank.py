"""In which order hits are shown. The weights stand in one table; `docs/ranking.md` explains them.

A session's score is the sum over the query's terms of: BM25 of the whole spoken text, the best single turn, what stands in
its head (title, project, first request), and, far below, what was done and printed. Rarity of a term is counted over
sessions. Rows with all terms come before rows with some.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from recall.core.model import ACTION, ASIDE, ASSISTANT, USER, Glance, Occurrence

WEIGHTS = {
    # how often a word in each zone counts towards the spoken text
    "user": 1.25,
    "assistant": 1.0,
    "action": 0.3,
    "aside": 0.05,
    # BM25 of the session, and of its best turn
    "session": 1.0,
    "turn": 1.0,
    "user_turn": 0.5,  # the best turn by the user's words alone, in long questions
    "k1": 1.5,
    "b": 0.85,
    "turn_k1": 1.2,
    "turn_b": 0.6,
    # a term in the head, times its rarity
    # (a card's task and tags say what a session was about: more than any number of mentions elsewhere)
    "task": 4.5,
    "tags": 3.5,
    "title": 0.9,
    "project": 0.9,
    "ask": 0.35,
    "card": 0.3,  # method, next, artifacts: the assistant's words at best
    # a term that only stands in tool output
    "output": 0.1,
    # share of the score that a session of today has over one of long ago; days until half of it is gone
    "fresh": 0.06,
    "fresh_days": 30.0,
    # sessions that only searched for others
    "meta": 0.4,
    # in long questions, how much the share of terms found counts
    "coverage": 0.5,
}

_ZONE = {USER: WEIGHTS["user"], ASSISTANT: WEIGHTS["assistant"], ACTION: WEIGHTS["action"], ASIDE: WEIGHTS["aside"]}


class Evidence(NamedTuple):
    """What was found of one term.

    `sessions`: session -> how often it was spoken there, each occurrence with the weight of its zone; `turns`: row -> the same
    of the user and the assistant alone; `mine`: row -> how often in the user's words; `heads`: session -> field of its head
    -> weight; `output`: sessions with it in tool output.
    """

    sessions: dict[int, float]
    turns: dict[int, float]
    mine: dict[int, float]
    heads: dict[int, dict[str, float]]
    output: set[int]

    def spoken(self) -> set[int]:
        """Sessions that have the term in conversation or head."""
        return self.sessions.keys() | self.heads.keys()

    def holders(self) -> set[int]:
        """Sessions that have the term anywhere."""
        return self.spoken() | self.output


class Ranked(NamedTuple):
    no: int
    score: float
    all_terms: bool
    row: int


def weigh(
    rows: Iterable[Occurrence], heads: Mapping[int, Mapping[str, float]], shift: int, shared: Container[int] = ()
) -> Evidence:
    """The evidence of one term from the rows and heads that it was found in.

    In `shared` rows the request is a template: its words are nobody's, they count as an aside.
    """
    sessions: defaultdict[int, float] = defaultdict(float)
    turns: defaultdict[int, float] = defaultdict(float)
    mine: defaultdict[int, float] = defaultdict(float)
    weights = [_ZONE[zone] for zone in range(len(_ZONE))]
    aside = _ZONE[ASIDE]
    for row, zone, count in rows:
        if zone == USER:
            if row in shared:
                sessions[row >> shift] += count * aside
                continue
            mine[row] += count
        weight = count * weights[zone]
        sessions[row >> shift] += weight
        if zone <= ASSISTANT:
            turns[row] += weight
    return Evidence(sessions, turns, mine, {no: dict(fields) for no, fields in heads.items()}, set())


def adopt(found: Sequence[Evidence], chained: Mapping[int, int]) -> None:
    """Give a chain's row what only its other members hold (their sub-agents and output); all else it holds itself."""
    for one in found:
        for no in sorted(chained.keys() & one.holders()):
            root = chained[no]
            spoken, fields = one.sessions.pop(no, None), one.heads.pop(no, None)
            if root not in one.sessions and root not in one.heads and root not in one.output:
                if spoken is not None:
                    one.sessions[root] = spoken
                if fields is not None:
                    one.heads[root] = fields
            if no in one.output:
                one.output.discard(no)
                one.output.add(root)


def rarity(found: Sequence[Evidence], docs: Set[int], sessions: int) -> list[float]:
    """For each term how much it says: ln(1 + (N - n + 0.5) / (n + 0.5)), n sessions of N hold it (BM25's idf); only those in
    `docs` count as holding it."""
    out = []
    for one in found:
        n = min(len(one.spoken() & docs) or len(one.output & docs), sessions)
        out.append(math.log(1 + (sessions - n + 0.5) / (n + 0.5)))
    return out


def order(
    found: Sequence[Evidence],
    docs: Mapping[int, Glance],
    turn_words: Mapping[int, int],
    idf: Sequence[float],
    *,
    shift: int,
    average: float,
    average_turn: float,
    long: bool,
    now: float,
    limit: int,
) -> list[Ranked]:
    """The first `limit` sessions of `docs`, best first. `average`: words of a session; `turn_words`: words by row, of the rows
    that count as turns."""
    scores = _whole(found, docs, idf, average)
    best, rows = _best_turns(found, turn_words, idf, shift, average_turn)
    for no, score in best.items():
        scores[no] += WEIGHTS["turn"] * score
    if long:
        for no, score in _best_by_user(found, turn_words, idf, shift, average_turn).items():
            scores[no] += WEIGHTS["user_turn"] * score
        _weigh_coverage(scores, found, idf)
    complete = set.intersection(*(one.holders() for one in found)) if found else docs.keys()
    fresh, fresh_days = WEIGHTS["fresh"], WEIGHTS["fresh_days"]
    out = []
    for no, doc in docs.items():
        days = max(0.0, (now - doc.updated) / 86400)
        score = scores[no] * (1 + fresh * 0.5 ** (days / fresh_days))
        if doc.meta:
            score *= WEIGHTS["meta"]
        out.append((not long and no not in complete, -score, -doc.updated, no))
    out.sort()
    return [Ranked(no, -score, no in complete, rows.get(no, 0)) for _, score, _, no in out[:limit]]


def _whole(
    found: Sequence[Evidence], docs: Mapping[int, Glance], idf: Sequence[float], average: float
) -> defaultdict[int, float]:
    """By session the score of conversation, head and output."""
    k1, b = WEIGHTS["k1"], WEIGHTS["b"]
    norms = {no: k1 * (1 - b + b * doc.words / average) if average else k1 for no, doc in docs.items()}
    scores: defaultdict[int, float] = defaultdict(float)
    for one, rare in zip(found, idf, strict=True):
        most = WEIGHTS["session"] * rare * (k1 + 1)
        for no, tf in one.sessions.items():
            if no in norms:
                scores[no] += most * tf / (tf + norms[no])
        for no, fields in one.heads.items():
            scores[no] += rare * sum(WEIGHTS[name] * weight for name, weight in fields.items())
        for no in one.output.difference(one.sessions, one.heads):
            scores[no] += WEIGHTS["output"] * rare
    return scores


def _weigh_coverage(scores: dict[int, float], found: Sequence[Evidence], idf: Sequence[float]) -> None:
    """Lower the scores by what is missing of the terms, by rarity."""
    total = sum(idf) or 1.0
    shares: defaultdict[int, float] = defaultdict(float)
    for one, rare in zip(found, idf, strict=True):
        for no in one.holders():
            shares[no] += rare
    for no in scores:
        scores[no] *= 1 - WEIGHTS["coverage"] + WEIGHTS["coverage"] * shares[no] / total


def _best_turns(
    found: Sequence[Evidence], turn_words: Mapping[int, int], idf: Sequence[float], shift: int, average: float
) -> tuple[dict[int, float], dict[int, int]]:
    """By session the score of its best turn, and which row that is."""
    best: dict[int, float] = {}
    rows: dict[int, int] = {}
    for row, score in _turn_scores([one.turns for one in found], turn_words, idf, average).items():
        no = row >> shift
        if score > best.get(no, 0.0):
            best[no], rows[no] = score, row
    return best, rows


def _best_by_user(
    found: Sequence[Evidence], turn_words: Mapping[int, int], idf: Sequence[float], shift: int, average: float
) -> dict[int, float]:
    """By session the score of the best turn by the user's words alone."""
    best: dict[int, float] = {}
    for row, score in _turn_scores([one.mine for one in found], turn_words, idf, average).items():
        no = row >> shift
        if score > best.get(no, 0.0):
            best[no] = score
    return best


def _turn_scores(
    turns: Sequence[Mapping[int, float]], turn_words: Mapping[int, int], idf: Sequence[float], average: float
) -> dict[int, float]:
    """BM25 of single rows, those of `turn_words`, from how often each term is there."""
    k1, b = WEIGHTS["turn_k1"], WEIGHTS["turn_b"]
    base, slope = k1 * (1 - b) if average else k1, k1 * b / average if average else 0.0
    scores: defaultdict[int, float] = defaultdict(float)
    for one, rare in zip(turns, idf, strict=True):
        most = rare * (k1 + 1)
        for row, tf in one.items():
            if row in turn_words:
                scores[row] += most * tf / (tf + base + slope * turn_words[row])
    return scores
