"""`recall show`: what a session was about, or its conversation."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import click

from recall.actions import conversation
from recall.actions.cards import card_of
from recall.actions.cmd import newest_of, resume
from recall.actions.page import page
from recall.actions.show import Kept, Overview, around, last_messages, overview, own_file
from recall.actions.talk import talk
from recall.actions.transcript import records, shown
from recall.cli.app import App
from recall.cli.budget import HELP, print_fitted, print_fitted_json
from recall.cli.fields import session_fields
from recall.cli.fresh import freshen
from recall.cli.options import LEAST
from recall.cli.output import colored, json_text, print_json, utc
from recall.core import shell
from recall.core.budget import upto
from recall.core.card import short_ids
from recall.core.model import EVERYTHING, SPOKEN, ZONE_NAMES, Card, Record, Session
from recall.core.pattern import compiled
from recall.core.plain import one_line
from recall.errors import NothingFound, Unavailable, Usage


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
@click.option("--budget", type=click.IntRange(LEAST), metavar="BYTES", help=HELP)
@click.option("--json", "as_json", is_flag=True, help="JSON; with --transcript also the messages.")
def command(session: str, **flags: Any) -> int:
    """Show what a session was about, what it touched, where it is kept and how to resume it.

    ID is a full id, any unique beginning of one, `last`, or `.` (the newest of this folder).

    \b
      recall show 1b2c3d4e
      recall show last --tail 5
      recall show . --transcript --tools
    """
    budget = flags["budget"]
    if flags["raw"] and budget is not None:
        raise Usage("--raw gives whole files", "--budget goes with the page, --transcript, --tail, --around, --handoff")
    app = App.from_environment()
    freshen(app, quiet=True)
    typed = app.resolve(session)
    row = newest_of(typed, app.store)
    if flags["handoff"]:
        return _handoff(app, row, budget)
    if flags["raw"]:
        return _raw(app, typed)
    part = flags["tail"] is not None or flags["text"] is not None
    if part and flags["numbers"]:
        raise Usage(
            "--numbers counts from the first message", f"recall show {session} --numbers, without --tail or --around"
        )
    wanted = flags["transcript"] or flags["tools"] or flags["numbers"] or part
    said = _said(app, row, flags) if wanted else None
    if flags["as_json"]:
        document = _document(app, overview(row, app.store, app.settings))
        if budget is None:
            _print_document(document, said)
        else:
            _print_part(app, document, said, budget, from_end=flags["tail"] is not None)
    elif said is not None:
        told = _told(app, row, said, flags, color=colored(app.settings) and budget is None)
        app.close()  # a pager may stay open for hours, and the index is not to be held for so long
        if budget is None:
            _read(told)
        else:
            _print_lines(app, row, told, budget, flags)
    else:
        view = overview(row, app.store, app.settings)
        color = colored(app.settings) and budget is None
        lines = page(view, typed, app.store, app.settings, live=app.live, color=color)
        if budget is None:
            for line in lines:
                print(line)
        else:
            _print_lines(app, row, lines, budget, flags)
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


def _told(app: App, row: Session, said: Iterable[Record], flags: dict[str, Any], *, color: bool) -> Iterator[str]:
    """The lines of a conversation; with --tools each call with what it changed and printed."""
    numbers = bool(flags["numbers"])
    if not flags["tools"]:
        return conversation.lines(said, color=color, numbers=numbers)
    path, file = own_file(row, app.store, app.settings)
    return conversation.with_tools(talk(path, file.client, app.settings, said), color=color, numbers=numbers)


def _read(lines: Iterator[str]) -> None:
    """Through the pager on a terminal, plain otherwise."""
    if sys.stdout.isatty():
        click.echo_via_pager(f"{line}\n" for line in lines)
        return
    for line in lines:
        print(line)


def _print_lines(app: App, row: Session, lines: Iterable[str], budget: int, flags: dict[str, Any]) -> None:
    """What fits: of --tail the end, of --around what is round the first line with the text, else the beginning."""
    kept = list(upto(lines, budget)) if flags["tail"] is None and flags["text"] is None else list(lines)
    focus = 0
    if flags["tail"] is not None:
        focus = len(kept) - 1
    elif flags["text"] is not None:
        focus = conversation.place(kept, flags["text"])
    after = f"… {{}} more lines; recall show {row.id} --tail 20 reads the end".format
    print_fitted(app, kept, budget, name="lines", after=after, focus=focus, partly=True)


def _handoff(app: App, row: Session, budget: int | None) -> int:
    """What the hook would put into the session's context, to the letter."""
    from recall.actions.continuity import context

    text = context(app.settings, row.id, app.now.timestamp())
    app.close()
    if not text:
        raise NothingFound(f"no handoff of session {row.id} that could be used", f"recall handoff {row.id} makes one")
    if budget is None:
        sys.stdout.write(text)
    else:
        after = "… {} more lines".format
        print_fitted(app, text.splitlines(), budget, name="lines", after=after, partly=True)
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
    sys.stdout.write(json_text(document)[:-1] + ', "messages": [')
    for n, record in enumerate(said):
        sys.stdout.write((", " if n else "") + json_text(_message(record)))
    sys.stdout.write("]}\n")


def _print_part(
    app: App, document: dict[str, object], said: Iterable[Record] | None, budget: int, *, from_end: bool
) -> None:
    """The same with what fits; of --tail the last messages."""
    lists, texts = ["files", "generations"], ["last_answer", "last_request", "first_request"]
    if said is not None:
        document["message_count"] = document.pop("messages")
        document["messages"] = [_message(record) for record in said]
        lists.append("messages")
    print_fitted_json(app, document, budget, lists=lists, texts=texts, ends=("messages",) if from_end else ())


def _message(record: Record) -> dict[str, object]:
    return {
        "role": ZONE_NAMES[record.zone],
        "time": utc(record.time),
        "text": shown(record.text),
        "tool": shown(record.tool) or None,
    }
