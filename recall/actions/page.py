"""The page about one session: its card, where it is kept, how to resume it, its first and last words, what it edited."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator

from recall.actions import conversation
from recall.actions.cards import card_of
from recall.actions.cmd import resume
from recall.actions.show import Overview
from recall.actions.transcript import shown
from recall.core import shell
from recall.core.card import client_name, index_line, short_ids
from recall.core.model import Card, Session
from recall.core.plain import one_line
from recall.errors import Unavailable
from recall.settings import Settings
from recall.store import Store

_ASK = 600
_ANSWER = 1200
_FILES = 15


def page(
    view: Overview, typed: Session, store: Store, settings: Settings, *, live: Container[str] = (), color: bool = False
) -> Iterator[str]:
    """Lines without their ends. `typed` is the session that was asked for, which may be an earlier one of the chain;
    `live`: ids of sessions that are open now."""
    row = view.session
    shorts = short_ids(store.ids())
    line = index_line(row, shorts[row.id], None, live=row.id in live)
    yield f"\x1b[1m{line}\x1b[0m" if color else line
    card = card_of(store, row)
    if card:
        yield ""
        yield from _card_lines(card, color)
    yield ""
    for name, value in _fields(view, typed, shorts, store, settings):
        label = f"{name:<9}"
        yield f"\x1b[36m{label}\x1b[0m {value}" if color else f"{label} {value}"
    texts = [("first request", view.first_ask, _ASK)]
    if view.last_ask != view.first_ask:
        texts.append(("last request", view.last_ask, _ASK))
    texts.append(("last answer", view.last_answer, _ANSWER))
    for name, text, size in texts:
        if text.strip():
            yield from _section(name, conversation.cut(text.strip(), size).split("\n"), color)
    if view.edited:
        paths = [f"{tool} {_inside(path, row.cwd)}" for tool, path in view.edited[:_FILES]]
        more = len(view.edited) - _FILES
        yield from _section("files edited", paths + ([f"… {more} more"] if more > 0 else []), color)


def _card_lines(card: Card, color: bool) -> Iterator[str]:
    """What the card says; a line that would be empty is left out."""
    made = conversation.moment(card.written_at)
    who = {"extract": "recall, without a model", "hand": "hand"}.get(card.written_by, card.written_by)
    values = (
        ("task", card.task),
        ("status", card.status),
        ("method", card.method),
        ("next", card.next),
        ("entities", ", ".join(card.entities)),
        ("tags", " ".join(f"#{tag}" for tag in card.tags)),
        ("artifacts", ", ".join(card.artifacts)),
        ("card by", ", ".join(filter(None, (who, made)))),
    )
    for name, value in values:
        if value:
            label = f"{name:<9}"
            yield f"\x1b[36m{label}\x1b[0m {one_line(shown(value))}" if color else f"{label} {one_line(shown(value))}"
    if card.body:
        yield from _section("notes", shown(card.body).split("\n"), color)


def _fields(
    view: Overview, typed: Session, shorts: dict[str, str], store: Store, settings: Settings
) -> Iterator[tuple[str, str]]:
    row = view.session
    yield "id", one_line(row.id)
    if row.title:
        yield "title", one_line(shown(row.title))
    if row.cwd:
        yield "folder", one_line(shown(row.cwd)) + ("" if os.path.isdir(row.cwd) else "  (gone)")
    if row.branch:
        yield "branch", one_line(row.branch)
    yield "client", f"{client_name(row.client)} {one_line(view.version)}".rstrip()
    first, last = conversation.moment(row.started), conversation.moment(row.updated)
    if first or last:
        end = "" if last == first else f" -> {last[11:] if last[:10] == first[:10] else last}"
        yield "when", f"{first or '?'}{end}"
    counts = [_count(row.messages, "message"), _count(row.events, "event")]
    counts += [_count(view.commands, "command")] if view.commands else []
    counts += [_count(view.agents, "sub-agent")] if view.agents else []
    yield "size", ", ".join(counts)
    if row.chain > 1:
        others = [shorts[one.id] for one in store.sessions() if one.chain_to == row.no]
        named = f"; {shorts[typed.id]} is an earlier one" if typed.no != row.no else ""
        yield "chain", f"newest of {row.chain} transcripts, with all of {', '.join(others)}{named}"
    if row.fork_of:
        yield "fork of", shorts.get(row.fork_of, one_line(row.fork_of))
    yield from _places(view, settings)
    try:
        found = resume(row, store, settings)
        yield "resume", shell.line(found.plan)
        if found.no_transcript:
            yield "", f"but {row.client} has no transcript of it any more, and will not find it"
    except Unavailable as problem:
        yield "resume", f"not possible: {problem.message}"


def _places(view: Overview, settings: Settings) -> Iterator[tuple[str, str]]:
    """Where the session's own transcripts lie."""
    if view.session.lost:
        yield "source", "lost: only parts (sub-agents) were there to be kept"
    elif not view.kept:
        yield "source", "gone: its card is all that is left"
    elif view.archived_only:
        was = one_line(view.own[0].was)
        yield "source", f"archived only; the client had it at {was}" if was else "archived only"
    for kept in view.own:
        if kept.source:
            yield "source", one_line(kept.source)
    for kept in view.own or view.kept[:3]:
        for copy in kept.copies:
            name = f"older g{copy.generation}" if copy.generation else "copy"
            yield name, f"{one_line(os.path.join(settings.archive, copy.file))}  ({_bytes(copy.size)})"
        if not kept.copies:
            yield "copy", f"none: {one_line(os.path.join(settings.archive, kept.file.copy))} is missing"


def _section(name: str, lines: list[str], color: bool) -> Iterator[str]:
    yield ""
    yield f"\x1b[1m{name}\x1b[0m" if color else name
    for line in lines:
        yield f"  {line}".rstrip()


def _inside(path: str, folder: str) -> str:
    return path[len(folder) + 1 :] if folder and path.startswith(f"{folder}/") else path


def _count(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"


def _bytes(size: int) -> str:
    return (
        f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{-(-size // 1000)} KB"
    )
