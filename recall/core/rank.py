"""In which order hits are shown. The weights stand in one table; `docs/ranking.md` explains them.

A session's score is the sum over the query's terms of: BM25 of the whole spoken text, the best single turn, what stands in
its head (title, project, first request), and, far below, what was done and printed. Rarity of a term is counted over
sessions. Rows with all terms come before rows with some.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from recall.core.model import ACTION, ASIDE, ASSISTANT, USER, Occurrence

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


class Evidence:
    """What was found of one session, by the number of the term.

    `zones`: term -> counts by zone; `heads`: term -> field -> weight; `output`: terms in tool output; `turns`: row -> term ->
    [count in the user's words, in the assistant's].
    """

    __slots__ = ("heads", "output", "turns", "zones")

    def __init__(self) -> None:
        self.zones: dict[int, list[float]] = {}
        self.heads: dict[int, dict[str, float]] = {}
        self.output: set[int] = set()
        self.turns: dict[int, dict[int, list[float]]] = {}

    def terms(self) -> set[int]:
        return set(self.zones) | set(self.heads) | self.output


class Doc(NamedTuple):
    """What ranking must know of a session: words spoken, seconds since the epoch of its last event, is it meta."""

    words: int
    updated: float
    meta: bool


class Ranked(NamedTuple):
    no: int
    score: float
    all_terms: bool
    row: int


def gather(
    found: Sequence[tuple[Sequence[Occurrence], Mapping[int, Mapping[str, float]], Iterable[int]]],
    shift: int,
    shared: Container[int] = (),
) -> dict[int, Evidence]:
    """Evidence by session, from what was found for each term: rows, heads, and sessions with it in their output.

    In `shared` rows the request is a template: its words are nobody's, they count as an aside.
    """
    out: dict[int, Evidence] = {}
    for term, (rows, heads, output) in enumerate(found):
        for row, zone, count in rows:
            if zone == USER and row in shared:
                zone = ASIDE
            no = row >> shift
            one = out.get(no)
            if one is None:
                one = out[no] = Evidence()
            counts = one.zones.get(term)
            if counts is None:
                counts = one.zones[term] = [0.0, 0.0, 0.0, 0.0]
            counts[zone] += count
            if zone < 2:
                turn = one.turns.get(row)
                if turn is None:
                    turn = one.turns[row] = {}
                pair = turn.get(term)
                if pair is None:
                    pair = turn[term] = [0.0, 0.0]
                pair[zone] += count
        for no, fields in heads.items():
            one = out.get(no)
            if one is None:
                one = out[no] = Evidence()
            one.heads[term] = dict(fields)
        for no in output:
            one = out.get(no)
            if one is None:
                one = out[no] = Evidence()
            one.output.add(term)
    return out


def adopt(evidence: dict[int, Evidence], chained: Mapping[int, int]) -> None:
    """Give a chain's row what only its other members hold (their sub-agents and output); all else it holds itself."""
    for no, root in chained.items():
        member = evidence.pop(no, None)
        if member is None:
            continue
        one = evidence.setdefault(root, Evidence())
        have = one.terms()
        for term, zones in member.zones.items():
            if term not in have:
                one.zones[term] = zones
        for term, fields in member.heads.items():
            if term not in have:
                one.heads[term] = fields
        one.output |= member.output


def rarity(evidence: Mapping[int, Evidence], terms: int, sessions: int) -> list[float]:
    """For each term how much it says: ln(1 + (N - n + 0.5) / (n + 0.5)), n sessions of N hold it (BM25's idf)."""
    spoken = [0] * terms
    anywhere = [0] * terms
    for one in evidence.values():
        for term in one.zones.keys() | one.heads.keys():
            spoken[term] += 1
        for term in one.output:
            anywhere[term] += 1
    out = []
    for mine, others in zip(spoken, anywhere, strict=True):
        n = min(mine or others, sessions)
        out.append(math.log(1 + (sessions - n + 0.5) / (n + 0.5)))
    return out


def order(
    evidence: Mapping[int, Evidence],
    docs: Mapping[int, Doc],
    turn_words: Mapping[int, int],
    idf: Sequence[float],
    *,
    average: float,
    average_turn: float,
    long: bool,
    now: float,
) -> list[Ranked]:
    """Sessions of `docs`, best first. `average`: words of a session; `turn_words`: words by row."""
    out = []
    for no, doc in docs.items():
        one = evidence[no]
        score, row = _score(one, doc, turn_words, idf, average, average_turn, long)
        have = one.terms()
        if long:
            total = sum(idf) or 1.0
            share = sum(idf[term] for term in have) / total
            score *= 1 - WEIGHTS["coverage"] + WEIGHTS["coverage"] * share
        days = max(0.0, (now - doc.updated) / 86400)
        score *= 1 + WEIGHTS["fresh"] * 0.5 ** (days / WEIGHTS["fresh_days"])
        if doc.meta:
            score *= WEIGHTS["meta"]
        out.append(Ranked(no, score, len(have) == len(idf), row))
    if long:
        out.sort(key=lambda one: (-one.score, -docs[one.no].updated))
    else:
        out.sort(key=lambda one: (not one.all_terms, -one.score, -docs[one.no].updated))
    return out


def _score(
    one: Evidence,
    doc: Doc,
    turn_words: Mapping[int, int],
    idf: Sequence[float],
    average: float,
    average_turn: float,
    long: bool,
) -> tuple[float, int]:
    k1, b = WEIGHTS["k1"], WEIGHTS["b"]
    norm = k1 * (1 - b + b * doc.words / average) if average else k1
    session = 0.0
    for term, counts in one.zones.items():
        tf = sum(count * _ZONE[zone] for zone, count in enumerate(counts) if count)
        session += idf[term] * tf * (k1 + 1) / (tf + norm)
    best, best_user, best_row = 0.0, 0.0, 0
    k1, b = WEIGHTS["turn_k1"], WEIGHTS["turn_b"]
    for row, terms in one.turns.items():
        norm = k1 * (1 - b + b * turn_words.get(row, 0) / average_turn) if average_turn else k1
        score = user = 0.0
        for term, (mine, other) in terms.items():
            tf = mine * _ZONE[USER] + other * _ZONE[ASSISTANT]
            score += idf[term] * tf * (k1 + 1) / (tf + norm)
            if mine:
                user += idf[term] * mine * (k1 + 1) / (mine + norm)
        if score > best:
            best, best_row = score, row
        best_user = max(best_user, user)
    total = WEIGHTS["session"] * session + WEIGHTS["turn"] * best
    if long:
        total += WEIGHTS["user_turn"] * best_user
    for term, fields in one.heads.items():
        total += idf[term] * sum(WEIGHTS[name] * weight for name, weight in fields.items())
    for term in one.output:
        if term not in one.zones and term not in one.heads:
            total += WEIGHTS["output"] * idf[term]
    return total, best_row
