"""`recall find`: the session from a few words that you remember."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

from recall.actions.find import Found, find
from recall.cli.app import App
from recall.cli.options import Opt, build
from recall.cli.output import ago, colored, print_json, terminal_columns, utc
from recall.core.card import index_line, short_ids, task_of
from recall.core.model import Hit
from recall.core.plain import cut, one_line, width
from recall.core.query import Query, parse

WORDS = "TERMS..."
"""What the words of the line are called."""

OPTIONS = (
    Opt(("-n",), "limit", "count", "Rows at most.", "N", 25),
    Opt(("--all",), "everything", "flag", "Headless sessions too (claude -p, codex exec)."),
    Opt(("--project",), "project", "texts", "Only of this project (a part of its name is enough).", "P"),
    Opt(("--client",), "client", "choice", "Only of this client.", None, None, ("claude", "codex")),
    Opt(("--status",), "status", "texts", "Only with this status: done, in_progress, aborted, new, lost.", "S"),
    Opt(("--tag",), "tag", "texts", "Only with this tag; in the query: #tag or tag:x.", "T"),
    Opt(("--file",), "file", "texts", "Only sessions that touched this path (any tail part).", "PATH"),
    Opt(("--branch",), "branch", "texts", "Only on this git branch.", "B"),
    Opt(("--since",), "since", "text", "Only active since: 2026-06-11, 3d, 2w, yesterday, monday.", "DATE"),
    Opt(("--before",), "before", "text", "Only last active before that.", "DATE"),
    Opt(("--live", "--no-live"), "live", "switch", "Only sessions that are open now, or only others."),
    Opt(("--why",), "why", "flag", "Say for each row which word was found where."),
    Opt(("--budget",), "budget", "bytes", "Print at most BYTES (UTF-8); what is left out is counted.", "BYTES"),
    Opt(("--json",), "as_json", "flag", "JSON, with snippets."),
    Opt(("--ids",), "ids", "flag", "Full ids only."),
    Opt(("--no-refresh",), "no_refresh", "flag", "Do not look for what is new first."),
)

_NARROW = 60
"""Columns of a terminal below which a row may take two lines."""

_VALUES = {
    "since": "3d, 2w, yesterday, monday, 2026-06, 2026-06-11",
    "before": "3d, 2w, yesterday, monday, 2026-06, 2026-06-11",
    "is": "live, idle",
    "client": "claude, codex",
    "status": "done, in_progress, aborted, new, lost",
}
"""What a filter takes, where not just anything."""


def __getattr__(name: str) -> object:
    if name == "command":  # made when asked for: click is not needed for an ordinary line
        return build("find", OPTIONS, run, WORDS)
    raise AttributeError(name)


def run(terms: list[str], **flags: Any) -> int:
    """Find sessions: type what you remember, in any language, in any form of the words.

    Filters can stand in the query: project:crm since:7d tag:export client:codex -word "exact phrase".
    Without words: the newest sessions. (An unquoted # begins a comment in the shell: quote it.)

    \b
      recall find export deals
      recall find 'выгрузка по менеджеру' --since 2w
      recall find "parse config" project:api -test --why
    """
    app = App.from_environment()
    options = {
        "project": flags["project"],
        "client": (flags["client"],) if flags["client"] else (),
        "status": flags["status"],
        "tag": flags["tag"],
        "file": flags["file"],
        "branch": flags["branch"],
        "since": (flags["since"],) if flags["since"] else (),
        "before": (flags["before"],) if flags["before"] else (),
        "is": () if flags["live"] is None else ("live" if flags["live"] else "idle",),
    }
    query = parse(terms, app.now, options)
    if not flags["no_refresh"]:
        _refresh(app)
    found = find(
        query,
        app.store,
        now=app.now.timestamp(),
        limit=flags["limit"],
        everything=flags["everything"],
        without=(app.settings.current_session,) if app.settings.current_session else (),
        removed=app.shelf.is_removed,
        live=app.live if query.filters.get("is") else None,
        why=flags["why"] or flags["as_json"],
    )
    if flags["as_json"]:
        _print_document(app, _document(app, query, found), flags["budget"])
    elif flags["ids"]:
        _print_rows(app, [hit.session.id for hit in found.hits], flags["budget"])
    else:
        _print_rows(app, list(_rows(app, query, found, why=flags["why"], budget=flags["budget"])), flags["budget"])
        if not found.hits:
            _nothing(app, query, found)
        elif found.total > len(found.hits):
            app.say(f"{found.total - len(found.hits)} more; -n {min(found.total, 10000)} shows them")
    for typed in query.unread:
        key = typed.partition(":")[0].lower()
        app.say(f"{one_line(typed)} is no filter, and was looked for as words; {key}: takes {_VALUES[key]}")
    if not terms and sys.stdin.isatty():
        app.say("no words: the newest sessions (an unquoted # is a comment to the shell)")
    status = 0 if found.hits else 1
    app.close()
    return status


def _refresh(app: App) -> None:
    from recall.actions.refresh import refresh

    left = refresh(app.settings)
    if left:
        app.say(left)


def _rows(app: App, query: Query, found: Found, *, why: bool, budget: int | None) -> Iterator[str]:
    """The rows, each with what belongs to it."""
    rows = [hit.session for hit in found.hits]
    shorts = short_ids(app.store.ids_beside(row.id for row in rows))
    color = colored(app.settings) and not budget
    columns = terminal_columns()
    last = ""
    for hit in found.hits:
        row = []
        if hit.tier != last and hit.tier in ("some-terms", "typo") and query.terms and not query.long:
            words = "with some of the words:" if hit.tier == "some-terms" else "nothing is spelt so; nearest spelling:"
            row.append(_dim(f"-- {words}", color))
        last = hit.tier
        line = index_line(hit.session, shorts[hit.session.id], None, live=hit.session.id in app.live)
        if columns:
            line = _fitted(line, task_of(hit.session), columns)
        if color:
            head, rest = line[: len(shorts[hit.session.id])], line[len(shorts[hit.session.id]) :]
            line = f"\x1b[36m{head}\x1b[0m{rest}"
        row.append(line)
        if why:
            for field, typed, word in hit.why:
                shown = typed if typed.casefold() == word else f"{typed} ({word})"
                row.append(_dim(f"    {field}: {shown}", color))
            row.append(_dim(f"    score {hit.score:.2f}", color))
        yield "\n".join(row)


def _print_rows(app: App, rows: list[str], budget: int | None) -> None:
    if budget is None:
        for row in rows:
            print(row)
        return
    from recall.cli.budget import print_fitted

    print_fitted(app, rows, budget, name="sessions", after=lambda count: f"… {count} more; recall show ID tells of one")


def _print_document(app: App, document: dict[str, object], budget: int | None) -> None:
    if budget is None:
        print_json(document)
        return
    from recall.cli.budget import print_fitted_json

    print_fitted_json(app, document, budget, lists=("results",))


def _fitted(line: str, task: str, columns: int) -> str:
    """The line in so many columns of a terminal: the task gives way, marks behind it stay. A narrow one has two lines for
    it, since one would end before the task."""
    columns *= 2 if columns < _NARROW else 1
    over = width(line) - columns
    if over <= 0:
        return line
    room = width(task) - over
    return line.replace(task, cut(task, room), 1) if task and room >= 10 else cut(line, columns)


def _nothing(app: App, query: Query, found: Found) -> None:
    newest = ago(found.newest, app.now.timestamp())
    app.say(f"nothing found; searched {found.sessions} sessions, newest {newest}")
    if found.hidden:
        hint = f"{found.hidden} headless ones would answer: --all"
    elif query.filters or query.since or query.before:
        odd = [(key, value) for key in ("client", "status") for value in query.filters.get(key, ()) if _odd(key, value)]
        hint = f"{odd[0][0]}: takes {_VALUES[odd[0][0]]}" if odd else "leave out a filter"
    elif not found.sessions:
        hint = "nothing is indexed: recall sweep"
    else:
        hint = "fewer or other words; recall grep TEXT searches every message as it is"
    print(f"hint: {hint}", file=sys.stderr)


def _odd(key: str, value: str) -> bool:
    return value.lower() not in _VALUES[key].split(", ")


def _dim(text: str, color: bool) -> str:
    return f"\x1b[2m{text}\x1b[0m" if color else text


def _document(app: App, query: Query, found: Found) -> dict[str, object]:
    shorts = short_ids(app.store.ids_beside(hit.session.id for hit in found.hits))
    return {
        "schema": 1,
        "query": query.text,
        "searched": {"sessions": found.sessions, "newest": utc(found.newest)},
        "total": found.total,
        "results": [_result(app, hit, shorts[hit.session.id]) for hit in found.hits],
    }


def _result(app: App, hit: Hit, short: str) -> dict[str, object]:
    from recall.actions.cmd import plan_of
    from recall.actions.snippet import snippet
    from recall.cli.fields import session_fields

    row = hit.session
    files = app.store.files(row.no)
    plan = plan_of(row, files, app.settings)
    kept = any(file.source and os.path.exists(file.source) for file in files)
    return {
        **session_fields(app, row, short, archived_only=not kept),
        "tier": hit.tier,
        "score": round(hit.score, 4),
        "why": [{"field": field, "term": typed, "word": word} for field, typed, word in hit.why],
        "snippet": snippet(hit, app.store, app.settings),
        "resume": {"argv": list(plan.argv), "cwd": plan.cwd, "variables": dict(plan.variables)},
    }
