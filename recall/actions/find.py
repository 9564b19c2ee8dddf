"""Words -> the sessions they mean, best first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from recall.core import forms, rank
from recall.core.card import has_row, status_of, tags_of
from recall.core.model import Glance, Hit, Occurrence
from recall.core.query import Query, Term
from recall.core.text import is_unspaced
from recall.store import SHIFT, Store

TEMPLATE_SESSIONS = 3
"""A long request that so many sessions begin with is a template."""

TERMS = 32
"""Terms of one query that are looked for: more is a pasted text."""

PARTS = 12
"""Parts of one typed word that are looked for one by one."""

COMMON = 6000
"""A word in more rows than this is counted by rows, not by occurrences."""


class Found(NamedTuple):
    """`hits` best first, at most as many as asked for, of `total`; `sessions` were searched, the newest event of them at
    `newest` (seconds since the epoch); `hidden` more would answer but are hidden unless asked for."""

    hits: list[Hit]
    total: int
    sessions: int
    newest: float
    hidden: int = 0


class Match(NamedTuple):
    """What stands for one term: index words with their weight, and where they were found."""

    words: dict[str, float]
    rows: list[Occurrence]
    heads: dict[int, dict[str, float]]
    output: set[int]


def find(
    query: Query,
    store: Store,
    *,
    now: float,
    limit: int = 25,
    everything: bool = False,
    without: Collection[str] = (),
    removed: Callable[[str], bool] = lambda _: False,
    live: Collection[str] | None = None,
) -> Found:
    """Sessions that answer `query`. `everything`: hidden ones too; `without`: ids left out (the current session);
    `removed(id)`: has a tombstone; `live`: ids of open sessions, used by `is:live` and `is:idle` filters."""
    sessions, average, average_turn, newest = store.totals()

    def admit(rows: Iterable[Glance]) -> tuple[list[Glance], int]:
        kept, hidden = [], 0
        for row in rows:
            if row.chain_to or row.id in without or not (has_row(row) or row.pieces):
                continue
            if removed(row.id) or not _passes(row, query, live or ()):
                continue
            if row.hidden and not everything:
                hidden += 1
                continue
            kept.append(row)
        return kept, hidden

    files = [one for value in query.filters.get("file", ()) for one in _file_terms(value)]
    if not query.terms and not files:
        rows, hidden = admit(store.glances())
        if query.without:
            barred = _barred(query, store)
            rows = [row for row in rows if row.no not in barred]
        rows.sort(key=lambda row: (-row.updated, row.id))
        full = store.sessions_by_no(row.no for row in rows[:limit])
        return Found([Hit(full[row.no], "", 0.0) for row in rows[:limit]], len(rows), sessions, newest, hidden)

    query = _rarest(query, store)
    tier = ""
    matches = [match(term, store) for term in query.terms]
    shared = store.shared(TEMPLATE_SESSIONS)
    evidence = rank.gather([(one.rows, one.heads, ()) for one in matches], SHIFT, shared)
    complete = sum(1 for one in evidence.values() if len(one.terms()) == len(matches))
    if query.long or complete < max(100, 4 * limit):
        matches = [_with_output(term, one, store) for term, one in zip(query.terms, matches, strict=True)]
        evidence = rank.gather([(one.rows, one.heads, one.output) for one in matches], SHIFT, shared)
    if not evidence and query.terms:
        matches = [_nearest(term, store) for term in query.terms]
        evidence = rank.gather([(one.rows, one.heads, ()) for one in matches], SHIFT)
        tier = "typo"
    if files:
        holders = {row >> SHIFT for term in files for row, zone, _ in store.phrase(term.options[0]) if zone >= 2}
        if query.terms:
            evidence = {no: one for no, one in evidence.items() if no in holders}
        else:
            evidence = {no: rank.Evidence() for no in holders}
    rank.adopt(evidence, store.chained())
    if query.without:
        barred = _barred(query, store)
        evidence = {no: one for no, one in evidence.items() if no not in barred}

    rows, hidden = admit(store.glances(evidence))
    by_no = {row.no: row for row in rows}
    evidence = {no: evidence[no] for no in by_no}
    idf = rank.rarity(evidence, len(matches), sessions)
    docs = {row.no: rank.Doc(row.words, row.updated, row.meta) for row in rows}
    turns = store.turns(row for no in by_no for row in evidence[no].turns)
    ranked = rank.order(
        evidence, docs, turns, idf, average=average, average_turn=average_turn, long=query.long, now=now
    )
    hits = []
    full = store.sessions_by_no(one.no for one in ranked[:limit])
    for one in ranked[:limit]:
        here = tier or ("all-terms" if one.all_terms else "some-terms")
        hits.append(
            Hit(full[one.no], here, one.score, _why(evidence[one.no], query.terms, matches), one.row, _words(matches))
        )
    return Found(hits, len(ranked), sessions, newest, hidden)


def _rarest(query: Query, store: Store) -> Query:
    """Of a long text that was pasted, the words that say most: those in the fewest rows, and in any."""
    if len(query.terms) <= TERMS:
        return query
    rows = {term: max((store.rows_with(word) for word in term.options[0]), default=0) for term in query.terms}
    chosen = set(sorted(query.terms, key=lambda term: (not rows[term], rows[term]))[:TERMS])
    return query._replace(terms=tuple(term for term in query.terms if term in chosen))


def _passes(row: Glance, query: Query, live: Collection[str]) -> bool:
    """Does a session pass the query's filters? Several values of one filter are alternatives."""
    if query.since and row.updated < query.since:
        return False
    if query.before and row.updated >= query.before:
        return False
    for name, values in query.filters.items():
        folded = [value.casefold() for value in values]
        if name == "project":
            here = (row.project.casefold(), row.cwd.casefold())
            if not any(value in here[0] or ("/" in value and value in here[1]) for value in folded):
                return False
        elif name == "client":
            if row.client not in folded:
                return False
        elif name == "branch":
            if not any(value in row.branch.casefold() for value in folded):
                return False
        elif name == "status":
            if status_of(row) not in [value.replace("-", "_").replace(" ", "_") for value in folded]:
                return False
        elif name == "tag":
            if not any(value.lstrip("#").replace("_", "-") in tags_of(row) for value in folded):
                return False
        elif name == "is":
            for value in folded:
                if (value == "live") != (row.id in live) and value in ("live", "idle"):
                    return False
    return True


def _file_terms(path: str) -> list[Term]:
    from recall.core.query import phrase

    return phrase(path)


def _barred(query: Query, store: Store) -> set[int]:
    out: set[int] = set()
    for term in query.without:
        found = match(term._replace(widen=False), store)
        out |= {row >> SHIFT for row, _, _ in found.rows} | set(found.heads)
    return out


def match(term: Term, store: Store) -> Match:
    """What stands for a term in the conversation and in the heads."""
    words: dict[str, float] = {}
    word = term.word
    if word:
        words = _forms(word, store) if term.widen else {word: 1.0}
    rows: list[Occurrence] = []
    rare = dict(words)
    for one in [one for one, weight in words.items() if weight >= forms.FORM]:
        if store.rows_with(one) > COMMON:
            rows += store.common(one)
            del rare[one]
    rows += store.occurrences(rare)
    heads = store.heads(words)
    for option in term.options:
        if len(option) > 1:
            rows += store.phrase(option)
            for no, fields in store.head_phrase(option).items():
                heads.setdefault(no, {}).update(fields)
        elif option != term.options[0]:
            rows += store.occurrences({option[0]: 1.0})
            words.setdefault(option[0], 1.0)
    if not rows and not heads and not term.phrase and len(term.options[0]) > 1:
        rows = _together(term.options[0], store)
    return Match(words, rows, heads, set())


def _forms(word: str, store: Store) -> dict[str, float]:
    span = forms.range_of(word)
    if span is None:
        if len(word) == 1 and not word.isascii():
            return forms.choose(word, store.vocabulary(word, word + "\U0010ffff", 64).items()) or {word: 1.0}
        return {word: 1.0}
    found = forms.choose(word, store.vocabulary(*span).items())
    for other in forms.extra(word):
        if len(found) < forms.LIMIT and store.rows_with(other):
            found[other] = forms.FORM
    return found


def _together(words: tuple[str, ...], store: Store) -> list[Occurrence]:
    """Rows of sessions that hold all parts of a word, though nowhere side by side.

    Of a run without spaces, the parts that exist: two words typed as one have a pair at their seam that is nowhere.
    """
    once = list(dict.fromkeys(words))[:PARTS]
    parts = [store.occurrences({word: 0.3}) for word in once if store.rows_with(word) <= COMMON]
    if any(is_unspaced(word) for word in once):
        parts = [part for part in parts if part]
    holders = set.intersection(*({row >> SHIFT for row, _, _ in part} for part in parts)) if parts else set()
    return [one for part in parts for one in part if one[0] >> SHIFT in holders]


def _with_output(term: Term, found: Match, store: Store) -> Match:
    options: list[tuple[str, ...]] = [(word,) for word in found.words]
    options += [option for option in term.options if len(option) > 1]
    return Match(found.words, found.rows, found.heads, store.printed(options))


def _nearest(term: Term, store: Store) -> Match:
    """The nearest spellings of a term that is nowhere."""
    word = term.word
    if len(word) < 4 or not word.isalnum():
        return Match({}, [], {}, set())
    near = forms.nearest(word, store.spellings(word))
    words = dict.fromkeys(near, 0.5)
    return Match(words, store.occurrences(words), store.heads(words), set())


_FIELDS = ("user", "assistant", "action", "aside")


def _why(one: rank.Evidence, terms: tuple[Term, ...], matches: list[Match]) -> tuple[tuple[str, str, str], ...]:
    """(field, term, word) for each term: where it weighs most."""
    out = []
    for n, term in enumerate(terms):
        shown = next(iter(matches[n].words), term.typed)
        if n in one.heads:
            best = max(one.heads[n], key=lambda name: rank.WEIGHTS[name])
            out.append((best, term.typed, shown))
        if n in one.zones:
            zone = next(zone for zone, count in enumerate(one.zones[n]) if count)
            out.append((_FIELDS[zone], term.typed, shown))
        if n in one.output and n not in one.zones and n not in one.heads:
            out.append(("output", term.typed, shown))
    return tuple(out)


def _words(matches: list[Match]) -> tuple[str, ...]:
    return tuple(word for one in matches for word in one.words)
