"""Which page an address means, and what is said where there is none."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable

from recall.core.clean import clean
from recall.errors import NothingFound, RecallError, Unavailable, Usage
from recall.web.activity import chart, weeks
from recall.web.answer import JSON, SVG, Answer, Asked
from recall.web.finding import facets_document, found_document, search_page, visible
from recall.web.frame import ICON, framed, trouble
from recall.web.index import opened
from recall.web.parts import Parts
from recall.web.reading import Readings
from recall.web.session import Where, session_page, turns_document

_WEEKS = 104


def pages(parts: Parts) -> Callable[[Asked], Answer]:
    """All pages: a function that answers what was asked."""
    readings = Readings(parts.settings)

    def answer(asked: Asked) -> Answer:
        try:
            return _answer(asked, parts, readings)
        except Exception as problem:
            return _failed(asked, parts, problem)

    return answer


def _answer(asked: Asked, parts: Parts, readings: Readings) -> Answer:
    everything = bool(asked.number("all"))
    text = asked.text("q")
    where = Where(asked.number("from"), asked.text("find", 500), bool(asked.number("end")))
    if asked.path == "/":
        return search_page(parts, text, asked.number("page"), everything)
    if asked.path == "/api/find":
        return _json(found_document(parts, text, everything))
    if asked.path == "/api/facets":
        return _json(facets_document(parts, text, everything))
    if asked.path == "/activity":
        return _activity(parts)
    if asked.path == "/icon.svg":
        return Answer(200, SVG, ICON)
    if asked.path == "/api/turns":
        return _json(turns_document(parts, readings, asked.text("id", 200), text, where))
    head, _, session = asked.path.rpartition("/")
    if head == "/session" and session:
        return session_page(parts, readings, session, text, where)
    raise NothingFound("There is no such page", "")


def _activity(parts: Parts) -> Answer:
    with opened(parts.settings) as store:
        rows = visible(store.glances(), parts.shelf().is_removed)
    drawn = chart(weeks(rows, parts.now(), _WEEKS), unfolded=True)
    body = drawn or '<p class="note">There is no session in the last two years.</p>'
    return framed("Activity – recall", f'<section class="activity whole"><h1>Sessions by week</h1>{body}</section>')


def _json(document: dict[str, object], status: int = 200) -> Answer:
    return Answer(status, JSON, json.dumps(document, ensure_ascii=False))


def _failed(asked: Asked, parts: Parts, problem: Exception) -> Answer:
    known = parts.explain(problem)
    if known is None and isinstance(problem, OSError):
        known = Unavailable(f"a file cannot be read: {problem.strerror or problem}", "recall doctor says more")
    if known is None:
        traceback.print_exception(problem)  # a bug shows where it is, as in every command
        known, status = RecallError("This is an error in recall", "where it was started, more is said"), 500
    else:
        status = 404 if isinstance(known, (NothingFound, Usage)) else 503
    message, hint = clean(known.message[:1].upper() + known.message[1:]), clean(known.hint)
    if asked.path.startswith("/api/"):
        return _json({"error": {"kind": known.kind, "message": message, "hint": hint}}, status)
    return trouble(status, message, hint, query=asked.text("q"))
