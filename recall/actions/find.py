"""Words -> the sessions they mean, best first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Set
from typing import NamedTuple

from recall.core import forms, rank
from recall.core.card import has_row, status_of, tags_of
from recall.core.model import ASIDE, USER, Glance, Hit, Occurrence
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
    """What stands for one term: index words with their weight, and where they were found in conversation and heads."""

    words: dict[str, float]
    rows: list[Occurrence]
    heads: dict[int, dict[str, float]]


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
    why: bool = False,
) -> Found:
    """Sessions that answer `query`. `everything`: hidden ones too; `without`: ids left out (the current session);
    `removed(id)`: has a tombstone; `live`: ids of open sessions, used by `is:live` and `is:idle` filters; `why`: the hits
    say which word was found where."""
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
    found = [rank.weigh(one.rows, one.heads, SHIFT, shared) for one in matches]
    spoken = set.intersection(*(one.spoken() for one in found)) if found else ()
    if query.long or len(spoken) < max(100, 4 * limit):
        for term, here, one in zip(query.terms, matches, found, strict=True):
            one.output.update(_in_output(term, here, store))
    if query.terms and not any(one.holders() for one in found):
        matches = [_nearest(term, store) for term in query.terms]
        found = [rank.weigh(one.rows, one.heads, SHIFT) for one in matches]
        tier = "typo"
    rank.adopt(found, store.chained())
    candidates: set[int] = set().union(*(one.holders() for one in found))
    if files:
        holders = {row >> SHIFT for term in files for row, zone, _ in store.phrase(term.options[0]) if zone >= 2}
        candidates = candidates & holders if query.terms else holders
    if query.without:
        candidates -= _barred(query, store)

    rows, hidden = admit(store.glances(candidates, bare=not query.filters))
    docs = {row.no: row for row in rows}
    total = len(docs)
    idf = rank.rarity(found, docs.keys(), sessions)
    if not query.long and found:  # where those with all terms fill the list, no other one can be in it
        complete = set.intersection(*(one.holders() for one in found))
        if len(complete & docs.keys()) >= limit:
            docs = {no: row for no, row in docs.items() if no in complete}
    turns = store.turns({row for one in found for row in one.turns if row >> SHIFT in docs})
    ranked = rank.order(
        found,
        docs,
        turns,
        idf,
        shift=SHIFT,
        average=average,
        average_turn=average_turn,
        long=query.long,
        now=now,
        limit=limit,
    )
    full = store.sessions_by_no(hit.no for hit in ranked)
    reasons = _why({hit.no for hit in ranked}, query.terms, matches, found, shared) if why else {}
    words = tuple(word for one in matches for word in one.words)
    hits = []
    for hit in ranked:
        tier_of = tier or ("all-terms" if hit.all_terms else "some-terms")
        hits.append(Hit(full[hit.no], tier_of, hit.score, reasons.get(hit.no, ()), hit.row, words))
    return Found(hits, total, sessions, newest, hidden)


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
    return Match(words, rows, heads)


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
    if not found:
        found = {other: forms.FORM for other in forms.respelled(word) if store.rows_with(other)}
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


def _in_output(term: Term, found: Match, store: Store) -> set[int]:
    """Sessions that have a term in their tool output."""
    options: list[tuple[str, ...]] = [(word,) for word in found.words]
    options += [option for option in term.options if len(option) > 1]
    return store.printed(options)


def _nearest(term: Term, store: Store) -> Match:
    """The nearest spellings of a term that is nowhere."""
    word = term.word
    if len(word) < 4 or not word.isalnum():
        return Match({}, [], {})
    near = forms.nearest(word, store.spellings(word))
    words = dict.fromkeys(near, 0.5)
    return Match(words, store.occurrences(words), store.heads(words))


_FIELDS = ("user", "assistant", "action", "aside")


def _why(
    shown: Set[int],
    terms: tuple[Term, ...],
    matches: list[Match],
    found: list[rank.Evidence],
    shared: Container[int],
) -> dict[int, tuple[tuple[str, str, str], ...]]:
    """For each session shown (field, term, word) for each term: where it weighs most."""
    out: dict[int, list[tuple[str, str, str]]] = {no: [] for no in shown}
    for term, here, one in zip(terms, matches, found, strict=True):
        word = next(iter(here.words), term.typed)
        zones: dict[int, int] = {}
        for row, zone, _ in here.rows:
            no = row >> SHIFT
            if no in shown:
                zone = ASIDE if zone == USER and row in shared else zone
                zones[no] = min(zone, zones.get(no, zone))
        for no in shown:
            if no in one.heads:
                out[no].append((max(one.heads[no], key=lambda name: rank.WEIGHTS[name]), term.typed, word))
            if no in one.sessions:
                out[no].append((_FIELDS[zones.get(no, ASIDE)], term.typed, word))
            elif no in one.output and no not in one.heads:
                out[no].append(("output", term.typed, word))
    return {no: tuple(reasons) for no, reasons in out.items()}
