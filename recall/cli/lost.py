"""`recall lost`: prompts whose transcript is gone."""

from __future__ import annotations

import os

import click

from recall.actions.conversation import moment
from recall.actions.lost import Lost, lost
from recall.actions.transcript import shown
from recall.cli.app import App
from recall.cli.fresh import freshen
from recall.cli.output import print_json, terminal_columns, utc
from recall.core.card import usual
from recall.core.plain import cut, one_line
from recall.core.query import when
from recall.errors import NothingFound, Usage


@click.command("lost")
@click.argument("session", metavar="[ID]", required=False)
@click.option(
    "-n", "limit", metavar="N", type=click.IntRange(1, 100_000), default=25, show_default=True, help="Rows at most."
)
@click.option("--project", metavar="P", help="Only of this project (a part of its folder is enough).")
@click.option("--since", metavar="DATE", help="Only typed since: 2026-06-11, 3d, 2w, yesterday.")
@click.option("--json", "as_json", is_flag=True, help="JSON, with all prompts.")
def command(session: str | None, limit: int, project: str | None, since: str | None, as_json: bool) -> int:
    """List sessions of which only the prompts are left, also from before recall was installed.

    The clients keep a list of what was typed for longer than the transcripts. With an ID: all its prompts.

    \b
      recall lost
      recall lost --project crm --since 2026-01-01
      recall lost 1b2c3d4e
    """
    app = App.from_environment()
    start = when(since, app.now) if since else 0.0
    if start is None:
        raise Usage(f"'{since}' is no date", "--since 2026-06-11, 3d, 2w, yesterday")
    freshen(app, quiet=True)
    found = lost(app.store, app.settings, removed=app.shelf.is_removed)
    app.close()
    if project:
        found = [one for one in found if project.casefold() in one.folder.casefold()]
    found = [one for one in found if one.updated >= start]
    if session is not None:
        return _one(found, session, as_json)
    if as_json:
        print_json({"schema": 1, "total": len(found), "results": [_fields(one) for one in found[:limit]]})
        return 0 if found else 1
    if not found:
        raise NothingFound("no lost session: each prompt that is known has its transcript", "recall find WORDS")
    columns = terminal_columns()
    for one in found[:limit]:
        line = _line(one)
        print(cut(line, columns) if columns else line)
    if len(found) > limit:
        app.say(f"{len(found) - limit} more; -n {len(found)} shows them")
    return 0


def _one(found: list[Lost], typed: str, as_json: bool) -> int:
    same = [one for one in found if one.session.startswith(typed)] if typed else []
    if not same:
        raise NothingFound(
            f"no lost session {typed}", "recall lost lists them; recall show ID is for those that are kept"
        )
    if len(same) > 1:
        lines = "\n".join(f"  {_line(one)}" for one in same[:8])
        raise Usage(f"{typed} could be {len(same)} sessions:\n{lines}", "type more of the id")
    if as_json:
        print_json({"schema": 1, "total": 1, "results": [_fields(same[0])]})
        return 0
    for n, prompt in enumerate(same[0].prompts):
        if n:
            print()
        print(f"## user {moment(prompt.time)}\n\n{shown(prompt.text)}")
    return 0


def _line(one: Lost) -> str:
    """`<id8> <date> <project> N prompts: <the first>`; an id that is not known is `?`."""
    short = usual(one.session, one.client) or "?"
    day = moment(one.updated).replace(" ", "T") or "?"
    folder = "_".join(shown(os.path.basename(one.folder.rstrip("/"))).split()) or "?"
    count = f"{len(one.prompts)} prompt{'' if len(one.prompts) == 1 else 's'}"
    text = cut(one_line(shown(one.prompts[0].text)), 110)
    return f"{short} {day} {one_line(folder)} {count}: {text}" + (" #codex" if one.client == "codex" else "")


def _fields(one: Lost) -> dict[str, object]:
    return {
        "id": one.session or None,
        "client": one.client,
        "cwd": one_line(shown(one.folder)) or None,
        "updated": utc(one.updated),
        "prompts": [{"time": utc(prompt.time), "text": shown(prompt.text)} for prompt in one.prompts],
    }
