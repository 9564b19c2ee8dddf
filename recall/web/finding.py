"""The search page: rows as `recall find` orders them, what they have in common beside them."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from recall.actions.find import Found, find
from recall.actions.snippet import snippet
from recall.actions.transcript import shown
from recall.core.card import entities_of, has_row, project_name, short_ids, status_of, tags_of, task_of
from recall.core.model import Glance, Hit, Session
from recall.core.page import escaped
from recall.core.plain import one_line
from recall.core.query import Query, parse
from recall.live import live_ids
from recall.store import Store
from recall.web import facets
from recall.web.activity import chart, weeks
from recall.web.answer import Answer
from recall.web.frame import address, framed
from recall.web.index import opened
from recall.web.marks import marked, words_of
from recall.web.parts import Parts

ROWS = 25
"""Rows of one page."""
_EVERY = 1 << 20
_WEEKS = 26


class Search(NamedTuple):
    """One question, and how it is put to the index."""

    parts: Parts
    store: Store
    text: str
    everything: bool
    query: Query
    now: datetime.datetime
    live: frozenset[str]

    def find(self, limit: int) -> Found:
        settings = self.parts.settings
        return find(
            self.query,
            self.store,
            now=self.now.timestamp(),
            limit=limit,
            everything=self.everything,
            without=(settings.current_session,) if settings.current_session else (),
            removed=self.parts.shelf().is_removed,
            live=self.live if self.query.filters.get("is") else None,
        )


def search(parts: Parts, store: Store, text: str, everything: bool) -> Search:
    """A question from what was typed."""
    now = parts.now()
    return Search(parts, store, text, everything, parse(text, now), now, live_ids(parts.settings))


def search_page(parts: Parts, text: str, number: int, everything: bool) -> Answer:
    """The whole page, as it is without any script. `number` of the page of rows, from 0."""
    note = parts.fresh()
    with opened(parts.settings) as store:
        asked = search(parts, store, text, everything)
        every = asked.find(_EVERY)
        head = _activity(asked) if not text.strip() and not number else ""
        body = (
            f'<div class="columns"><aside id="facets" aria-label="Filters">{_facets(asked, every)}</aside>'
            f'<div>{head}<div id="results">{_results(asked, every, number)}</div></div></div>'
        )
    if note:
        body = f'<p class="note">{escaped(note)}</p>{body}'
    return framed(f"{text} – recall" if text.strip() else "recall", body, query=text, everything=everything)


def found_document(parts: Parts, text: str, everything: bool) -> dict[str, object]:
    """What a script shows while somebody types: `results` are the first rows as markup. Counting all of them, for
    `facets_document`, costs as much again, and comes behind."""
    with opened(parts.settings) as store:
        asked = search(parts, store, text, everything)
        found = asked.find(ROWS)
        return {"schema": 1, "total": found.total, "results": _rows(asked, found, found.hits, found.total, 0)}


def facets_document(parts: Parts, text: str, everything: bool) -> dict[str, object]:
    """The facets of a query as markup, and the exact number of its sessions."""
    with opened(parts.settings) as store:
        asked = search(parts, store, text, everything)
        every = asked.find(_EVERY)
        return {"schema": 1, "total": len(every.hits), "facets": _facets(asked, every), "rest": _pages(asked, every, 0)}


def _facets(asked: Search, every: Found) -> str:
    return facets.shown(facets.facets([hit.session for hit in every.hits], asked.now), asked.text, asked.everything)


def _activity(asked: Search) -> str:
    removed = asked.parts.shelf().is_removed
    rows = visible(asked.store.glances(), removed)
    drawn = chart(weeks(rows, asked.now, _WEEKS))
    return (
        f'<section class="activity"><h2>Sessions by week <a href="/activity">all</a></h2>{drawn}</section>'
        if drawn
        else ""
    )


def visible(rows: Iterable[Glance], removed: Callable[[str], bool]) -> list[Glance]:
    """Sessions that have a row of their own and are not hidden. `removed(id)` tells of tombstones."""
    return [row for row in rows if not (row.chain_to or row.hidden or removed(row.id)) and (has_row(row) or row.pieces)]


def _results(asked: Search, every: Found, number: int) -> str:
    """One page of rows. The first is what `recall find` prints; behind it come all the others."""
    first = asked.find(ROWS)
    if number:
        above = {hit.session.no for hit in first.hits}
        rest = [hit for hit in every.hits if hit.session.no not in above]
        hits = rest[(number - 1) * ROWS : number * ROWS]
    else:
        hits = first.hits
    return _rows(asked, every, hits, len(every.hits), number) + _pages(asked, every, number)


def _rows(asked: Search, found: Found, hits: Sequence[Hit], total: int, number: int) -> str:
    if not hits:
        return _nothing(asked, found)
    words = words_of(asked.query, found.hits)
    shorts = short_ids(asked.store.ids_beside(hit.session.id for hit in hits))
    some = f"{total:,} session{'s' if total != 1 else ''}"
    if not asked.query.terms:
        some += ", newest first"
    out = [
        f'<p class="total" role="status">{some}{_hidden(asked, found)}</p><ol class="rows" start="{number * ROWS + 1}">'
    ]
    last = ""
    for hit in hits:
        if hit.tier != last and hit.tier in ("some-terms", "typo") and asked.query.terms and not asked.query.long:
            said = "With some of the words" if hit.tier == "some-terms" else "Nothing is spelt so; nearest spelling"
            out.append(f'<li class="tier">{said}</li>')
        last = hit.tier
        out.append(_row(asked, hit, shorts[hit.session.id], words))
    return "".join([*out, "</ol>"])


def _row(asked: Search, hit: Hit, short: str, words: tuple[str, ...]) -> str:
    row = hit.session
    cut = snippet(hit, asked.store, asked.parts.settings) if hit.row else ""
    task = one_line(shown(task_of(row))) or short
    to = address(f"/session/{row.id}", q=asked.text)
    name = one_line(shown(row.title)) if row.title_by == "user" else ""
    named = (
        f'<span class="named">{marked(name, words)}</span>' if name and name.casefold() not in task.casefold() else ""
    )
    return (
        f'<li class="row"><a class="task" href="{to}">{marked(task, words)}</a>{named}'
        f'<div class="about"><code>{escaped(short)}</code><time>{when(row.updated)}</time>'
        f'<span class="project">{marked(project_name(row), words)}</span>{badges(row, row.id in asked.live)}'
        f"{_entities(row, words)}</div>"
        + (f'<p class="snippet">{marked(cut, words)}</p>' if cut and not cut.startswith(task[:60]) else "")
        + "</li>"
    )


def badges(row: Session, live: bool) -> str:
    """Client, status, marks and tags of a session."""
    status = status_of(row)
    out = [
        f'<span class="badge client {escaped(row.client)}">{escaped(row.client)}</span>',
        f'<span class="badge status {escaped(status)}">{escaped(status.replace("_", " "))}</span>',
    ]
    if live:
        out.append('<span class="badge live">⚡ open now</span>')
    for holds, said in (
        (row.meta, "meta"),
        (row.hidden, "headless"),
        (row.chain > 1, f"chain of {row.chain}"),
        (row.fork_of, "fork"),
    ):
        if holds:
            out.append(f'<span class="badge">{said}</span>')
    out += [
        f'<span class="tag">#{escaped(one_line(tag))}</span>' for tag in tags_of(row) if tag not in ("codex", "meta")
    ]
    return "".join(out)


def _entities(row: Session, words: tuple[str, ...]) -> str:
    names = one_line(shown(", ".join(entities_of(row)[:8])))
    return f'<span class="entities">{marked(names, words)}</span>' if names else ""


def when(seconds: float) -> str:
    """Local date and time to the minute."""
    return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M") if seconds else ""


def _hidden(asked: Search, found: Found) -> str:
    if asked.everything:
        return f' · <a href="{address("/", q=asked.text)}">without headless ones</a>'
    if found.hidden:
        return f' · <a href="{address("/", q=asked.text, all=1)}">{found.hidden:,} headless ones too</a>'
    return ""


def _nothing(asked: Search, found: Found) -> str:
    if not found.sessions:
        hint = f"Nothing is indexed yet: {asked.parts.program} sweep takes in what the clients keep."
    elif asked.query.filters or asked.query.since or asked.query.before:
        hint = "Leave out a filter."
    else:
        hint = f"Fewer or other words; {asked.parts.program} grep TEXT searches every message as it is."
    return (
        f'<div class="nothing" role="status"><h2>Nothing found</h2><p>{found.sessions:,} sessions were searched'
        f"{_hidden(asked, found)}. {escaped(hint)}</p></div>"
    )


def _pages(asked: Search, every: Found, number: int) -> str:
    """Links to the pages before and behind this one."""
    count = (len(every.hits) + ROWS - 1) // ROWS
    if count < 2:
        return ""

    def link(to: int, said: str, rel: str) -> str:
        if not 0 <= to < count:
            return ""
        return f'<a rel="{rel}" href="{address("/", q=asked.text, page=to, all=int(asked.everything))}">{said}</a>'

    before, behind = link(number - 1, "← Previous", "prev"), link(number + 1, "Next →", "next")
    return f'<nav class="pages" aria-label="Pages">{before}<span>{number + 1} of {count:,}</span>{behind}</nav>'
