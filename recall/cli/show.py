"""`recall show`: what a session was about, or its conversation."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import click

from recall.actions.cards import card_of
from recall.actions.cmd import newest_of, resume
from recall.actions.show import Kept, Overview, around, last_messages, overview, own_file
from recall.actions.transcript import records, shown
from recall.cli import conversation
from recall.cli.app import App
from recall.cli.fields import session_fields
from recall.cli.fresh import freshen
from recall.cli.output import colored, megabytes, print_json, utc
from recall.core import shell
from recall.core.card import index_line, short_ids
from recall.core.model import EVERYTHING, SPOKEN, ZONE_NAMES, Card, Record, Session
from recall.core.pattern import compiled
from recall.core.plain import one_line
from recall.errors import NothingFound, Unavailable, Usage

_ASK = 600
_ANSWER = 1200
_FILES = 15
_CLIENTS = {"claude": "Claude Code", "codex": "Codex"}


@click.command("show")
@click.argument("session", metavar="ID")
@click.option("-t", "--transcript", is_flag=True, help="The conversation, in a pager on a terminal.")
@click.option("--tail", type=click.IntRange(1, 1_000_000), metavar="N", help="Of it the last N messages.")
@click.option("--around", "text", metavar="TEXT", help="Of it the messages round the first one with TEXT.")
@click.option("--tools", is_flag=True, help="In it also reasoning, and what tools printed.")
@click.option(
    "--numbers", is_flag=True, help="In it the number of each message, as `files --at` and `fork --at` take it."
)
@click.option("--handoff", is_flag=True, help="The handoff, as a resumed session is told it.")
@click.option("--raw", is_flag=True, help="The bytes of the transcript's copy, secrets included.")
@click.option("--json", "as_json", is_flag=True, help="JSON; with --transcript also the messages.")
def command(session: str, **flags: Any) -> int:
    """Show what a session was about, what it touched, where it is kept and how to resume it.

    ID is a full id, any unique beginning of one, `last`, or `.` (the newest of this folder).

    \b
      recall show 1b2c3d4e
      recall show last --tail 5
      recall show . --transcript --tools
    """
    app = App.from_environment()
    freshen(app, quiet=True)
    typed = app.resolve(session)
    row = newest_of(typed, app.store)
    if flags["handoff"]:
        return _handoff(app, row)
    if flags["raw"]:
        return _raw(app, typed)
    part = flags["tail"] is not None or flags["text"] is not None
    if part and flags["numbers"]:
        raise Usage(
            "--numbers counts from the first message", f"recall show {session} --numbers, without --tail or --around"
        )
    talk = flags["transcript"] or flags["tools"] or flags["numbers"] or part
    said = _said(app, row, flags) if talk else None
    if flags["as_json"]:
        _print_document(_document(app, overview(row, app.store, app.settings)), said)
    elif said is not None:
        app.close()  # a pager may stay open for hours, and the index is not to be held for so long
        _read(conversation.lines(said, color=colored(app.settings), numbers=flags["numbers"]))
    else:
        for line in _page(app, overview(row, app.store, app.settings), typed, color=colored(app.settings)):
            print(line)
    app.close()
    return 0


# -- the conversation ------------------------------------------------------------------------------------------


def _said(app: App, row: Session, flags: dict[str, Any]) -> Iterable[Record]:
    """The records that were asked for; NothingFound where `--around` finds nothing."""
    path, file = own_file(row, app.store, app.settings)
    zones: Collection[int] = EVERYTHING if flags["tools"] else SPOKEN
    if flags["text"] is not None:
        pattern = compiled([flags["text"]])
        # What tools printed is looked through as well; that it is not shown without --tools does not hide its place.
        found = list(around(records(path, file.client, app.settings, EVERYTHING), pattern))
        if not found:
            raise NothingFound(
                f"'{flags['text']}' is not in session {row.id}", "recall grep TEXT looks into all sessions"
            )
        hit = next(record for record in found if pattern.find(shown(record.text)))
        return [record for record in found if record.zone in zones or record is hit]
    if flags["tail"] is not None:
        return last_messages(path, file.client, zones, flags["tail"])
    return records(path, file.client, app.settings, zones)


def _read(lines: Iterator[str]) -> None:
    """Through the pager on a terminal, plain otherwise."""
    if sys.stdout.isatty():
        click.echo_via_pager(f"{line}\n" for line in lines)
        return
    for line in lines:
        print(line)


def _handoff(app: App, row: Session) -> int:
    """What the hook would put into the session's context, to the letter."""
    from recall.actions.continuity import context

    text = context(app.settings, row.id, app.now.timestamp())
    app.close()
    if not text:
        raise NothingFound(f"no handoff of session {row.id} that could be used", f"recall handoff {row.id} makes one")
    sys.stdout.write(text)
    return 0


def _raw(app: App, row: Session) -> int:
    """The copy as it is; the client's file where there is no copy."""
    path, file = own_file(row, app.store, app.settings)
    copy = os.path.join(app.settings.archive, file.copy)
    app.close()
    sys.stdout.flush()
    with open(copy if os.path.exists(copy) else path, "rb") as source:
        shutil.copyfileobj(source, sys.stdout.buffer, 1 << 20)
    sys.stdout.buffer.flush()
    return 0


# -- the page --------------------------------------------------------------------------------------------------


def _page(app: App, view: Overview, typed: Session, *, color: bool) -> Iterator[str]:
    row = view.session
    shorts = short_ids(app.store.ids())
    line = index_line(row, shorts[row.id], None, live=row.id in app.live)
    yield f"\x1b[1m{line}\x1b[0m" if color else line
    card = card_of(app.store, row)
    if card:
        yield ""
        yield from _card_lines(card, color)
    yield ""
    for name, value in _fields(app, view, typed, shorts):
        label = f"{name:<9}"
        yield f"\x1b[36m{label}\x1b[0m {value}" if color else f"{label} {value}"
    texts = [("first request", view.first_ask, _ASK)]
    if view.last_ask != view.first_ask:
        texts.append(("last request", view.last_ask, _ASK))
    texts.append(("last answer", view.last_answer, _ANSWER))
    for name, text, size in texts:
        if text.strip():
            yield from _section(name, _cut(text.strip(), size).split("\n"), color)
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


def _fields(app: App, view: Overview, typed: Session, shorts: dict[str, str]) -> Iterator[tuple[str, str]]:
    row = view.session
    yield "id", one_line(row.id)
    if row.title:
        yield "title", one_line(shown(row.title))
    if row.cwd:
        yield "folder", one_line(row.cwd) + ("" if os.path.isdir(row.cwd) else "  (gone)")
    if row.branch:
        yield "branch", one_line(row.branch)
    yield "client", f"{_CLIENTS.get(row.client, row.client)} {one_line(view.version)}".rstrip()
    first, last = conversation.moment(row.started), conversation.moment(row.updated)
    if first or last:
        end = "" if last == first else f" -> {last[11:] if last[:10] == first[:10] else last}"
        yield "when", f"{first or '?'}{end}"
    counts = [_count(row.messages, "message"), _count(row.events, "event")]
    counts += [_count(view.commands, "command")] if view.commands else []
    counts += [_count(view.agents, "sub-agent")] if view.agents else []
    yield "size", ", ".join(counts)
    if row.chain > 1:
        others = [shorts[one.id] for one in app.store.sessions() if one.chain_to == row.no]
        named = f"; {shorts[typed.id]} is an earlier one" if typed.no != row.no else ""
        yield "chain", f"newest of {row.chain} transcripts, with all of {', '.join(others)}{named}"
    if row.fork_of:
        yield "fork of", shorts.get(row.fork_of, one_line(row.fork_of))
    yield from _places(app, view)
    try:
        found = resume(row, app.store, app.settings)
        yield "resume", shell.line(found.plan)
        if found.no_transcript:
            yield "", f"but {row.client} has no transcript of it any more, and will not find it"
    except Unavailable as problem:
        yield "resume", f"not possible: {problem.message}"


def _places(app: App, view: Overview) -> Iterator[tuple[str, str]]:
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
            yield name, f"{one_line(os.path.join(app.settings.archive, copy.file))}  ({_bytes(copy.size)})"
        if not kept.copies:
            yield "copy", f"none: {one_line(os.path.join(app.settings.archive, kept.file.copy))} is missing"


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
    return megabytes(size) if size >= 1_000_000 else f"{-(-size // 1000)} KB"


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else text[: size - 1].rstrip() + "…"


# -- JSON ------------------------------------------------------------------------------------------------------


def _document(app: App, view: Overview) -> dict[str, object]:
    row = view.session
    try:
        plan = resume(row, app.store, app.settings).plan
    except Unavailable:
        plan = None
    return {
        "schema": 1,
        **session_fields(app, row, short_ids(app.store.ids())[row.id], archived_only=view.archived_only),
        "events": row.events,
        "card": _card_fields(card_of(app.store, row)),
        "first_request": view.first_ask,
        "last_request": view.last_ask,
        "last_answer": view.last_answer,
        "files": [{"tool": tool, "path": path} for tool, path in view.edited],
        "commands": view.commands,
        "subagents": view.agents,
        "generations": [_kept_fields(app, kept) for kept in view.kept],
        "resume": {"argv": list(plan.argv), "cwd": plan.cwd, "line": shell.line(plan)} if plan else None,
    }


def _card_fields(card: Card | None) -> dict[str, object] | None:
    if card is None:
        return None
    return {
        "title": one_line(shown(card.title)),
        "task": one_line(shown(card.task)),
        "status": card.status,
        "method": one_line(shown(card.method)),
        "entities": [one_line(shown(text)) for text in card.entities],
        "tags": list(card.tags),
        "artifacts": [one_line(shown(text)) for text in card.artifacts],
        "next": one_line(shown(card.next)),
        "written_by": card.written_by,
        "written_at": utc(card.written_at),
        "body": shown(card.body),
    }


def _kept_fields(app: App, kept: Kept) -> dict[str, object]:
    return {
        "kind": kept.file.kind,
        "source": kept.source or None,
        "copies": [
            {
                "path": os.path.join(app.settings.archive, copy.file),
                "generation": copy.generation,
                "bytes": copy.size,
                "modified": utc(copy.mtime_ns / 1e9),
            }
            for copy in kept.copies
        ],
    }


def _print_document(document: dict[str, object], said: Iterable[Record] | None) -> None:
    """One JSON document; the messages are written one by one, however many they are."""
    if said is None:
        print_json(document)
        return
    document["message_count"] = document.pop("messages")
    sys.stdout.write(json.dumps(document, ensure_ascii=False)[:-1] + ', "messages": [')
    for n, record in enumerate(said):
        message = {
            "role": ZONE_NAMES[record.zone],
            "time": utc(record.time),
            "text": shown(record.text),
            "tool": record.tool or None,
        }
        sys.stdout.write((", " if n else "") + json.dumps(message, ensure_ascii=False))
    sys.stdout.write("]}\n")
