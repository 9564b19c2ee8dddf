"""The tools' answers: text, within the budget, from the index as it is now.

Each call opens the index for itself and closes it: a rebuild between two calls may have put another one in its place.
What changed since the last sweep is taken in first, as the commands do; nothing else is written.
"""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple

from recall.core.budget import fit, size, upto
from recall.core.model import EVERYTHING, SPOKEN, ZONE_NAMES, Record, Session
from recall.errors import NothingFound, RecallError, Usage
from recall.mcp.tools import TOOLS, meant
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import Store, exists, open_store

_WAIT = 5.0  # seconds for another process that writes into the index
_ALL = 1 << 30
_REFRESHING = threading.Lock()


class Parts(NamedTuple):
    """What the tools work with. `settings` and `now` (local time, aware) are asked anew for each call; `explain` makes an
    error one that a user can understand (None: it is a bug); `folder` is what `.` means; `parent` the process that
    started the server, whose session is the one that asks."""

    settings: Callable[[], Settings]
    now: Callable[[], datetime.datetime]
    explain: Callable[[Exception], RecallError | None]
    folder: Callable[[], str]
    parent: int = 0


class Cancelled(Exception):
    """The client does not want the answer any more."""


class _Call(NamedTuple):
    """One call: its parts as they are now. `current` is the session that asks, '' where none does;
    `note` is a word on what could not be taken in; `tick` raises Cancelled."""

    settings: Settings
    now: datetime.datetime
    store: Store
    shelf: Shelf
    live: frozenset[str]
    current: str
    folder: Callable[[], str]
    note: str
    tick: Callable[[], None]


def answer(name: str, given: Mapping[str, Any], parts: Parts, tick: Callable[[], None] = lambda: None) -> str:
    """The text that a tool answers; RecallError, or what `parts.explain` knows, where it cannot. `tick` is called now and
    then while a long one is worked on."""
    from recall.actions.refresh import refresh
    from recall.live import live_ids

    tool = next((tool for tool in TOOLS if tool.name == name), None)
    if tool is None:
        raise Usage(f"there is no tool {name!r}", f"there are: {', '.join(tool.name for tool in TOOLS)}")
    args = meant(tool, given)
    settings = parts.settings()
    if exists(settings.index):
        open_store(
            settings.index, wait=_WAIT
        ).close()  # what is wrong with it is told before time goes into what is new
    with _REFRESHING:  # a second one would only say that a sweep is running
        note = refresh(settings)
    with closing(open_store(settings.index, wait=_WAIT)) as store:
        call = _Call(
            settings,
            parts.now(),
            store,
            Shelf(settings.data, settings.state),
            live_ids(settings),
            _current(settings, parts.parent),
            parts.folder,
            note,
            tick,
        )
        return _ANSWERS[name](call, args)


def _current(settings: Settings, parent: int) -> str:
    """Id of the session that asks: the one that our parent process has open now, since a client may have begun another
    one after it started us; else that of the environment; '' for none."""
    from recall.live import open_sessions

    mine = (one.session for one in open_sessions(settings) if parent and one.pid == parent)
    return next(mine, settings.current_session)


# -- the tools -------------------------------------------------------------------------------------------------


def _find(call: _Call, args: Mapping[str, Any]) -> str:
    from recall.actions.find import find
    from recall.actions.snippet import snippet
    from recall.core.card import index_line, short_ids
    from recall.core.query import parse

    query = parse(
        (args["query"],), call.now, {**_filters(args), **{key: args[key] for key in ("status", "tag", "file")}}
    )
    found = find(
        query,
        call.store,
        now=call.now.timestamp(),
        limit=args["limit"],
        everything=args["all"],
        without=(call.current,) if call.current else (),
        removed=call.shelf.is_removed,
        live=call.live if query.filters.get("is") else None,
    )
    if not found.hits:
        hidden = f"; all=true would find {found.hidden} headless ones" if found.hidden else ""
        hint = "fewer or other words, or no filter; grep looks for exact text in every message"
        newest = f", the newest of {_moment(found.newest)}" if found.newest else ""
        return _whole([f"nothing found in {found.sessions} sessions{newest}{hidden}", f"hint: {hint}"], call, args)
    shorts = short_ids(call.store.ids_beside(hit.session.id for hit in found.hits))
    rows: list[str] = []
    last = ""
    for hit in found.hits:
        lines = []
        if hit.tier != last and hit.tier in ("some-terms", "typo") and not query.long:
            lines.append("-- with some of the words:" if hit.tier == "some-terms" else "-- nearest spelling:")
        last = hit.tier
        lines.append(index_line(hit.session, shorts[hit.session.id], None, live=hit.session.id in call.live))
        if args["snippets"]:
            words = snippet(hit, call.store, call.settings)
            lines += [f"    {words}"] if words else []
        rows.append("\n".join(lines))
    return _rows(rows, call, args, rest=found.total - len(rows), more="… {} more sessions")


def _grep(call: _Call, args: Mapping[str, Any]) -> str:
    from recall.actions.find import find
    from recall.actions.grep import grep, sources
    from recall.core.card import project_name, short_ids
    from recall.core.pattern import compiled
    from recall.core.query import parse

    texts = args["patterns"]
    pattern = compiled((), texts) if args["regex"] else compiled(texts)
    found = find(
        parse((), call.now, {**_filters(args), "before": ()}),
        call.store,
        now=call.now.timestamp(),
        limit=_ALL,
        everything=args["all"],
        without=(call.current,) if call.current else (),
        removed=call.shelf.is_removed,
    )
    searched = sources([hit.session for hit in found.hits], call.store, call.settings)
    bounds = [parse((), call.now, {"since": (args[key],)}).since if args[key] else 0.0 for key in ("since", "before")]
    matches = grep(
        pattern,
        searched,
        call.settings,
        limit=args["limit"],
        zones=frozenset(map(ZONE_NAMES.index, args["role"])) or EVERYTHING,
        context=args["context"],
        since=bounds[0],
        before=bounds[1],
        progress=lambda size: call.tick(),
    )
    shorts = short_ids(call.store.ids())
    rows: list[str] = []
    rest = False
    for match in matches:
        call.tick()
        if len(rows) == args["limit"]:
            rest = True
            break
        lines = [f"  {ZONE_NAMES[message.zone]} {message.snippet.text}" for message in match.before]
        date = _moment(match.message.time or match.session.updated)[:10]
        head = f"{shorts[match.session.id]} {date} {project_name(match.session)}"
        lines.append(f"{head} {ZONE_NAMES[match.message.zone]} {match.message.snippet.text}")
        lines += [f"  {ZONE_NAMES[message.zone]} {message.snippet.text}" for message in match.after]
        rows.append("\n".join(lines))
    if not rows:
        hint = "it takes words as they stand; find knows other forms of them"
        return _whole([f"nothing found in {len(found.hits)} sessions", f"hint: {hint}"], call, args)
    return _rows(rows, call, args, rest=int(rest), more="… at least {} more hits" if rest else "… {} more hits")


def _show(call: _Call, args: Mapping[str, Any]) -> str:
    from recall.actions import conversation
    from recall.actions.page import page
    from recall.actions.show import overview

    typed, row = _session(call, args["id"])
    if not (args["tail"] or args["around"] or args["transcript"] or args["tools"]):
        view = overview(row, call.store, call.settings)
        lines = list(page(view, typed, call.store, call.settings, live=call.live))
        return _lines(lines, call, args, more="… {} more lines; tail=10 reads the end of the conversation")
    said = conversation.lines(_said(call, row, args))
    if args["around"]:
        kept = list(said)
        return _lines(kept, call, args, focus=conversation.place(kept, args["around"]))
    if args["tail"]:
        kept = list(said)
        return _lines(kept, call, args, focus=len(kept) - 1)
    kept = []
    for line in upto(said, args["budget"]):
        call.tick()
        kept.append(line)
    return _lines(kept, call, args, more="… {} more lines; tail=10 reads the end, around=TEXT another place")


def _said(call: _Call, row: Session, args: Mapping[str, Any]) -> Iterable[Record]:
    from recall.actions.show import around, last_messages, own_file
    from recall.actions.transcript import records, shown
    from recall.core.pattern import compiled

    path, file = own_file(row, call.store, call.settings)
    zones = EVERYTHING if args["tools"] else SPOKEN
    if args["around"]:
        pattern = compiled([args["around"]])
        found = list(around(records(path, file.client, call.settings, EVERYTHING), pattern))
        if not found:
            raise NothingFound(f"'{args['around']}' is not in session {row.id}", "grep looks into all sessions")
        hit = next(record for record in found if pattern.find(shown(record.text)))
        return [record for record in found if record.zone in zones or record is hit]
    if args["tail"]:
        return last_messages(path, file.client, zones, args["tail"])
    return records(path, file.client, call.settings, zones)


def _handoff(call: _Call, args: Mapping[str, Any]) -> str:
    """The one that is kept, or one by code alone, which is not kept: nothing is written, no model asked."""
    from recall.actions.handoff import brief_for, expired, kept, lacks_handoff, write_handoff
    from recall.actions.transcript import shown
    from recall.actions.worth import Carded
    from recall.core.handoff import render

    _, row = _session(call, args["id"])
    now = call.now.timestamp()
    have = kept(call.settings, row.id)
    events = Carded(call.settings.state).events("handoff")
    if have is None or expired(have, call.settings, now) or lacks_handoff(row, call.settings, events):
        have = write_handoff(row, call.store, call.settings, None, now=now).handoff or have
    if have is None:
        raise NothingFound(f"session {row.id} has nothing to hand on", "show tells what it was")
    text = brief_for(row, have, args["for"], call.store, call.settings) if args["for"] else render(have)
    return _lines(shown(text).splitlines(), call, args, more="… {} more lines; budget shows more")


_ANSWERS: dict[str, Callable[[_Call, Mapping[str, Any]], str]] = {
    "find": _find,
    "grep": _grep,
    "show": _show,
    "handoff": _handoff,
}


# -- what they share -------------------------------------------------------------------------------------------


def _filters(args: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    out = {key: tuple(args[key]) for key in ("project", "branch")}
    return out | {key: (args[key],) if args[key] else () for key in ("client", "since", "before")}


def _session(call: _Call, typed: str) -> tuple[Session, Session]:
    """The session that is meant, and the newest of its chain."""
    from recall.actions.cmd import newest_of
    from recall.actions.resolve import resolve

    row = resolve(typed.strip(), call.store, call.shelf, folder=call.folder, without=call.current)
    return row, newest_of(row, call.store)


def _rows(rows: Sequence[str], call: _Call, args: Mapping[str, Any], *, rest: int, more: str) -> str:
    """Rows from the first; `rest` more were not even made."""
    note = f"{more.format(rest)}: narrower words, or a larger limit" if rest else ""
    room = args["budget"] - (size(note) + 1 if note else 0)
    fitted = fit(rows, room, after=lambda count: f"{more.format(count + rest)}: narrower words, or a larger budget")
    return _whole([*fitted.lines, note] if note and not fitted.left_out else fitted.lines, call, args)


def _lines(lines: Sequence[str], call: _Call, args: Mapping[str, Any], *, focus: int = 0, more: str = "") -> str:
    """Lines round `focus`."""
    fitted = fit(
        lines,
        args["budget"],
        before="… {} lines before".format,
        after=(more or "… {} more lines").format,
        focus=focus,
        partly=True,
    )
    return _whole(fitted.lines, call, args)


def _whole(lines: Sequence[str], call: _Call, args: Mapping[str, Any]) -> str:
    """The text, with the word on what could not be taken in if there is room for it."""
    text = "\n".join(lines)
    note = f"\nnote: {call.note}"
    return text + note if call.note and size(text + note) <= args["budget"] else text


def _moment(seconds: float) -> str:
    """Local date and time."""
    return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M") if seconds else "----------"
