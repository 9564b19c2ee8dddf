"""The page of one session: its card, how it is resumed, and its conversation in portions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from recall.actions.cards import card_of
from recall.actions.cmd import newest_of, resume
from recall.actions.preview import preview
from recall.actions.resolve import resolve
from recall.actions.show import own_file
from recall.actions.transcript import shown
from recall.core import shell
from recall.core.card import client_name, short_ids, task_of
from recall.core.model import Session
from recall.core.page import conversation, escaped
from recall.core.plain import one_line
from recall.errors import NothingFound, RecallError
from recall.live import live_ids
from recall.store import Store
from recall.web.answer import Answer
from recall.web.finding import badges, search, when
from recall.web.frame import address, framed
from recall.web.index import opened
from recall.web.marks import marked, words_of
from recall.web.parts import Parts
from recall.web.reading import PARTS, Portion, Readings


class Where(NamedTuple):
    """Which part of a conversation is wanted: from place `start` on, only what holds `find`, or the `end`."""

    start: int = 0
    find: str = ""
    end: bool = False


def session_page(parts: Parts, readings: Readings, typed: str, text: str, where: Where) -> Answer:
    """The page. `typed` is an id or the beginning of one, `text` the query that led here."""
    with opened(parts.settings) as store:
        row = _row(parts, store, typed)
        short = short_ids(store.ids_beside([row.id]))[row.id]
        live = row.id in live_ids(parts.settings)
        title = one_line(shown(row.title or task_of(row) or row.id))
        back = f'<p class="back"><a href="{address("/", q=text)}">← {"Results" if text else "All sessions"}</a></p>'
        head = (
            f'{back}<h1>{escaped(title)}</h1><p class="about"><code>{escaped(short)}</code>{badges(row, live)}</p>'
            f"{_fields(_known(store, row))}{_resume(parts, store, row, short, live)}"
        )
        hits = "" if where.find or where.start or where.end else _found(parts, store, row, text)
        file = _file(parts, store, row)
    said = file if isinstance(file, str) else _talk(readings, row.id, *file, where, text)
    return framed(f"{title} – recall", f'<article class="session">{head}{hits}{said}</article>', query=text)


def turns_document(parts: Parts, readings: Readings, typed: str, text: str, where: Where) -> dict[str, object]:
    """The next portion of a conversation as markup; `more` is the markup of the way on, '' at the end."""
    with opened(parts.settings) as store:
        row = _row(parts, store, typed)
        file = _file(parts, store, row)
    if isinstance(file, str):
        return {"schema": 1, "turns": file, "more": ""}
    portion = readings.portion(*file, where.start, where.find)
    return {"schema": 1, "turns": _turns(portion, row.id, where, text), "more": _more(portion, row.id, where, text)}


def _row(parts: Parts, store: Store, typed: str) -> Session:
    """As `show` finds it; what only a command line can mean (`.`, `last`) is no session here."""
    if typed in ("last", "."):
        raise NothingFound(f"no session {typed}", "")
    row = newest_of(resolve(typed, store, parts.shelf(), folder=str), store)
    if parts.shelf().is_removed(row.id):
        raise NothingFound(f"session {row.id} was removed", "")
    return row


def _known(store: Store, row: Session) -> Mapping[str, str]:
    """What stands above the conversation: name -> markup."""
    card = card_of(store, row)
    fields = {
        "task": one_line(shown(card.task)) if card else one_line(shown(row.ask))[:600],
        "method": one_line(shown(card.method)) if card else "",
        "next": one_line(shown(card.next)) if card else "",
        "artifacts": one_line(shown(", ".join(card.artifacts))) if card else "",
        "names": one_line(shown(", ".join(card.entities))) if card else "",
        "notes": shown(card.body).strip()[:4000] if card else "",
        "client": client_name(row.client),
        "folder": one_line(shown(row.cwd)),
        "branch": one_line(row.branch),
        "when": " – ".join(dict.fromkeys(filter(None, (when(row.started), when(row.updated))))),
        "messages": f"{row.messages:,}" if row.messages else "",
    }
    return {name: escaped(value) for name, value in fields.items() if value}


def _fields(known: Mapping[str, str]) -> str:
    inside = "".join(f'<dt>{name}</dt><dd class="{name}">{value}</dd>' for name, value in known.items())
    return f"<dl>{inside}</dl>"


def _resume(parts: Parts, store: Store, row: Session, short: str, live: bool) -> str:
    """How to go on with it: lines to copy, and what speaks against them."""
    notes = []
    try:
        found = resume(row, store, parts.settings)
        line = shell.line(found.plan)
        if found.no_folder:
            notes.append("Its folder is gone.")
        if found.no_transcript:
            kept = "the archive has a copy" if store.files(row.no) else "only its card is left"
            notes.append(f"The client has no transcript of it any more; {kept}.")
    except RecallError as problem:
        line = ""
        notes.append(f"{problem.message[:1].upper()}{problem.message[1:]}.")
    if live:
        notes.append("It is open now: a second client on it would mix up both.")
    lines = [_line("Resume", line)] if line else []
    lines.append(_line("Open in a terminal", f"{parts.program} open {short}"))
    told = "".join(f'<p class="note">{escaped(note)}</p>' for note in notes)
    return f'<section class="resume" aria-label="How to go on">{"".join(lines)}{told}</section>'


def _line(name: str, line: str) -> str:
    return (
        f'<div class="line"><span>{name}</span><code tabindex="0">{escaped(line)}</code>'
        f'<button type="button" class="copy" hidden aria-label="Copy: {name}">Copy</button></div>'
    )


def _found(parts: Parts, store: Store, row: Session, text: str) -> str:
    """Where in it the words of the query stand."""
    if not text.strip():
        return ""
    asked = search(parts, store, text, True)
    if not asked.query.terms:
        return ""
    words = words_of(asked.query, asked.find(25).hits)
    seen = preview(row, store, parts.settings, words=words)
    if not seen.found:
        return ""
    items = "".join(
        f'<li><span class="role {turn.role}">{turn.role}</span><time>{when(turn.time)}</time>'
        f"<p>{marked(turn.text, words)}</p></li>"
        for turn in seen.turns
    )
    return f'<section class="found"><h2>Where the words stand</h2><ul>{items}</ul></section>'


def _file(parts: Parts, store: Store, row: Session) -> tuple[str, str] | str:
    """(path, client) of what is to be read, or markup that says why there is nothing."""
    try:
        path, file = own_file(row, store, parts.settings)
    except NothingFound as problem:
        return f'<p class="note">{escaped(problem.message)}: only what stands above is left.</p>'
    return path, file.client


def _talk(readings: Readings, session: str, path: str, client: str, where: Where, text: str) -> str:
    portion = readings.end(path, client) if where.end else readings.portion(path, client, where.start, where.find)
    start = portion.parts[0][0] if where.end and portion.parts else where.start
    tools = (
        f'<form class="within" action="{address(f"/session/{session}")}" role="search">'
        f'<input type="search" name="find" value="{escaped(where.find)}" placeholder="Search this conversation" '
        'aria-label="Search this conversation" maxlength="500">'
        + (f'<input type="hidden" name="q" value="{escaped(text)}">' if text else "")
        + '<button type="submit">Find</button><button type="button" id="fold" hidden>Unfold all</button>'
        f'<span class="jump"><a href="{address(f"/session/{session}", q=text)}">Beginning</a> '
        f'<a href="{address(f"/session/{session}", q=text, end=1)}">End</a></span></form>'
    )
    earlier = ""
    if start and not where.find:
        to = address(f"/session/{session}", q=text, **{"from": max(0, start - PARTS)})
        earlier = f'<p class="earlier"><a href="{to}">↑ Earlier</a></p>'
    mark = f' data-find="{escaped(where.find)}"' if where.find else ""
    return (
        f'<section class="talk"><h2>Conversation</h2>{tools}{earlier}<div id="turns"{mark}>'
        f"{_turns(portion, session, where, text)}</div>{_more(portion, session, where, text)}</section>"
    )


def _turns(portion: Portion, session: str, where: Where, text: str) -> str:
    if not where.find:
        return "".join(conversation((one.part, one.lines, when(one.part.time)) for _, one in portion.parts))
    out = []
    for at, one in portion.parts:
        inside = "".join(conversation([(one.part, one.lines, when(one.part.time))]))
        to = address(f"/session/{session}", q=text, **{"from": max(0, at - 2)})
        out.append(f'<div class="hit">{inside}<p><a href="{to}#turns">in its place →</a></p></div>')
    if not out and not portion.next:
        out.append('<p class="note">Nothing more.</p>' if where.start else '<p class="note">Not found.</p>')
    return "".join(out)


def _more(portion: Portion, session: str, where: Where, text: str) -> str:
    """The way to what follows: a link, which a script follows by itself when it comes into sight."""
    if not portion.next:
        return ""
    given = {"from": portion.next, "find": where.find, "q": text}
    said = "Search on" if where.find else "More of the conversation"
    return (
        f'<p id="more"><a href="{address(f"/session/{session}", **given)}" '
        f'data-turns="{address("/api/turns", id=session, **given)}">{said} ↓</a></p>'
    )
