"""`recall grep`: single messages and tool output by exact words."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterator
from typing import Any

import click

from recall.actions.find import find
from recall.actions.grep import Match, Message, Source, grep, sources
from recall.actions.transcript import shown
from recall.cli.app import App
from recall.cli.budget import HELP, print_fitted, print_fitted_json
from recall.cli.fresh import freshen
from recall.cli.options import LEAST
from recall.cli.output import Progress, ago, colored, print_json, utc
from recall.core.card import project_name, short_ids
from recall.core.model import EVERYTHING, ZONE_NAMES
from recall.core.pattern import compiled
from recall.core.query import parse

_ALL = 1 << 30


@click.command("grep")
@click.argument("patterns", nargs=-1, metavar="PATTERN...")
@click.option("-e", "--regexp", "expressions", multiple=True, metavar="REGEX", help="A regular expression (Python's).")
@click.option("-l", "--sessions", "only_sessions", is_flag=True, help="Sessions only: one line each.")
@click.option(
    "-C", "--context", default=0, metavar="N", type=click.IntRange(0, 1000), help="N messages around each hit."
)
@click.option("--role", multiple=True, type=click.Choice(ZONE_NAMES), help="Only what this role said; may be repeated.")
@click.option(
    "-n", "limit", metavar="N", default=100, show_default=True, type=click.IntRange(1, 1_000_000), help="Hits at most."
)
@click.option("--all", "everything", is_flag=True, help="Headless sessions too (claude -p, codex exec).")
@click.option("--project", metavar="P", multiple=True, help="Only of this project (a part of its name is enough).")
@click.option("--client", type=click.Choice(["claude", "codex"]), help="Only of this client.")
@click.option("--branch", metavar="B", multiple=True, help="Only on this git branch.")
@click.option("--since", metavar="DATE", help="Only messages since: 2026-06-11, 3d, 2w, yesterday, monday.")
@click.option("--before", metavar="DATE", help="Only messages before that.")
@click.option("--live/--no-live", default=None, help="Only sessions that are open now, or only others.")
@click.option("--budget", type=click.IntRange(LEAST), metavar="BYTES", help=HELP)
@click.option("--json", "as_json", is_flag=True, help="JSON.")
@click.option("--no-refresh", is_flag=True, help="Do not look for new sessions first.")
def command(patterns: tuple[str, ...], expressions: tuple[str, ...], **flags: Any) -> int:
    """Find messages by exact words: what was typed, answered, done, thought and printed, in every session.

    Several patterns: any of them. Upper and lower case are the same. One line a hit, newest session first: id, date,
    project, role (user, assistant, action, thinking, output, aside) and the words around it.

    \b
      recall grep 'connection refused'
      recall grep ECONNRESET ETIMEDOUT --since 2w --role output
      recall grep -e 'ADR-0[0-9]+' -C 2
    """
    pattern = compiled(patterns, expressions)
    app = App.from_environment()
    searched = _searched(app, flags)
    zones = frozenset(map(ZONE_NAMES.index, flags["role"])) or EVERYTHING
    bar, unreadable = Progress(quiet=flags["as_json"]), 0
    total, done = sum(one.size for one in searched), 0

    def progress(size: int) -> None:
        nonlocal done
        done += size
        bar(done, total, "searching")

    def trouble(path: str, problem: OSError) -> None:
        nonlocal unreadable
        unreadable += 1

    matches = grep(
        pattern,
        searched,
        app.settings,
        limit=flags["limit"],
        zones=zones,
        context=flags["context"],
        since=_moment(app, flags["since"]),
        before=_moment(app, flags["before"]),
        once=flags["only_sessions"],
        progress=progress,
        trouble=trouble,
    )
    budget = flags["budget"]
    out = _Json(app, budget) if flags["as_json"] else _Lines(app, budget, only_sessions=flags["only_sessions"])
    count = 0
    try:
        for match in matches:
            count += 1
            if count <= flags["limit"]:
                bar.end()
                out.add(match)
    finally:
        bar.end()
    out.end()
    if unreadable:
        app.say(f"{unreadable} files could not be read; recall doctor names them")
    if not count:
        _nothing(app, searched)
    elif count > flags["limit"]:
        app.say(f"{count - flags['limit']} more; -n {count} shows them")
    app.close()
    return 0 if count else 1


def _searched(app: App, flags: dict[str, Any]) -> list[Source]:
    """The files to search: those of the sessions that pass the filters, newest first."""
    options = {
        "project": flags["project"],
        "client": (flags["client"],) if flags["client"] else (),
        "branch": flags["branch"],
        "since": (flags["since"],) if flags["since"] else (),
        "is": () if flags["live"] is None else ("live" if flags["live"] else "idle",),
    }
    if not flags["no_refresh"]:
        freshen(app)
    found = find(
        parse((), app.now, options),
        app.store,
        now=app.now.timestamp(),
        limit=_ALL,
        everything=flags["everything"],
        without=(app.settings.current_session,) if app.settings.current_session else (),
        removed=app.shelf.is_removed,
        live=app.live if flags["live"] is not None else None,
    )
    return sources([hit.session for hit in found.hits], app.store, app.settings)


def _moment(app: App, date: str | None) -> float:
    return parse((), app.now, {"since": (date,)}).since if date else 0.0


def _nothing(app: App, searched: list[Source]) -> None:
    sessions = {one.session.no: one.session.updated for one in searched}
    newest = ago(max(sessions.values(), default=0.0), app.now.timestamp())
    app.say(f"nothing found; searched {len(sessions)} sessions, newest {newest}")
    hint = "nothing passes the filters, or nothing is kept yet: recall sweep"
    if sessions:
        hint = "grep takes words as they stand; recall find knows other forms of them"
    print(f"hint: {hint}", file=sys.stderr)


class _Lines:
    """One line a hit, printed at once, or at the end where there is a budget. With context: the neighbours indented, `--`
    between hits."""

    def __init__(self, app: App, budget: int | None, *, only_sessions: bool) -> None:
        self._app = app
        self._budget = budget
        self._only_sessions = only_sessions
        self._shorts = short_ids(app.store.ids())
        self._color = colored(app.settings) and not budget
        self._first = True
        self._kept: list[str] = []

    def add(self, match: Match) -> None:
        lines = list(self._lines(match))
        if self._budget is not None:
            self._kept.append("\n".join(lines))
            return
        for line in lines:
            print(line)
        if self._color:
            sys.stdout.flush()

    def _lines(self, match: Match) -> Iterator[str]:
        row = match.session
        if self._only_sessions:
            from recall.core.card import index_line

            line = index_line(row, self._shorts[row.id], None, live=row.id in self._app.live)
            short = self._shorts[row.id]
            yield f"{self._paint('36', short)}{line[len(short) :]}"
            return
        if (match.before or match.after) and not self._first:
            yield self._paint("2", "--")
        self._first = False
        for message in match.before:
            yield self._neighbour(message)
        date = _date(match.message.time or row.updated)
        head = f"{self._paint('36', self._shorts[row.id])} {date} {project_name(row)}"
        text, start, end = match.message.snippet
        shown = text[:start] + self._paint("1;31", text[start:end]) + text[end:]
        yield f"{head} {ZONE_NAMES[match.message.zone]} {shown}"
        for message in match.after:
            yield self._neighbour(message)

    def _neighbour(self, message: Message) -> str:
        return self._paint("2", f"  {ZONE_NAMES[message.zone]} {message.snippet.text}")

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._color and text else text

    def end(self) -> None:
        """Print what was kept for a budget."""
        if self._budget is not None:
            after = "… {} more; recall show ID --around TEXT reads round one".format
            print_fitted(self._app, self._kept, self._budget, name="hits", after=after)


class _Json:
    """All hits as one document."""

    def __init__(self, app: App, budget: int | None) -> None:
        self._app = app
        self._budget = budget
        self._shorts = short_ids(app.store.ids())
        self._hits: list[dict[str, object]] = []

    def add(self, match: Match) -> None:
        row = match.session
        hit: dict[str, object] = {
            "id": row.id,
            "short_id": self._shorts[row.id],
            "client": row.client,
            "project": row.project,
            **_fields(match.message),
        }
        if match.before or match.after:
            hit["before"] = [_fields(message) for message in match.before]
            hit["after"] = [_fields(message) for message in match.after]
        self._hits.append(hit)

    def end(self) -> None:
        document: dict[str, object] = {"schema": 1, "hits": self._hits}
        if self._budget is None:
            print_json(document)
        else:
            print_fitted_json(self._app, document, self._budget, lists=("hits",))


def _fields(message: Message) -> dict[str, object]:
    return {
        "time": utc(message.time),
        "role": ZONE_NAMES[message.zone],
        "tool": shown(message.tool) or None,
        "snippet": message.snippet.text,
        "offset": message.at,
    }


def _date(seconds: float) -> str:
    """The local day."""
    return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%d") if seconds else "----------"
