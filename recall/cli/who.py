"""`recall who`: which session changed a file or made a commit, and what was asked for."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import click

from recall.actions.cmd import any_source
from recall.actions.conversation import moment
from recall.actions.transcript import shown
from recall.actions.who import SHA, Looked, Touch, who_changed, who_made
from recall.cli.app import App
from recall.cli.fields import session_fields
from recall.cli.fresh import freshen
from recall.cli.output import print_json, utc
from recall.core.card import index_line, short_ids
from recall.core.plain import cut, one_line
from recall.errors import NothingFound, Usage

_REQUEST = 200
_ALONE = {"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
"""For git: a commit that is not here is not fetched. The settings of a repository, which may be anybody's, name the program
that a fetch runs (`remote.*.uploadpack`, `core.sshCommand`). Older versions of git know the first of these only."""


@click.command("who")
@click.argument("what", metavar="PATH|COMMIT")
@click.option(
    "-n", "limit", metavar="N", type=click.IntRange(1, 1000), default=5, show_default=True, help="Sessions at most."
)
@click.option("--json", "as_json", is_flag=True, help="JSON.")
def command(what: str, limit: int, as_json: bool) -> int:
    """Say which session changed a file or made a commit, with the request that asked for it, newest first.

    A number of 7 to 40 hexadecimal digits is a commit, and so is what git knows here as one (`HEAD~2`, a tag). Where no session
    changed the file or made the commit, those that only name it are listed, marked so.

    \b
      recall who src/export.py
      recall who 1a2b3c4
      recall who HEAD
    """
    if not what.strip(" /."):
        raise Usage(f"'{what}' is no file and no commit", "recall who src/export.py")
    app = App.from_environment()
    freshen(app, quiet=True)
    commit = _commit(what)
    removed = app.shelf.is_removed
    if commit:
        found = who_made(commit, app.store, app.settings, removed=removed)
    else:
        found = who_changed(what, os.getcwd(), app.store, app.settings, now=app.now.timestamp(), removed=removed)
    if as_json:
        _print_document(app, commit or what, "commit" if commit else "file", found, limit)
    else:
        _print(app, found, limit, made="made it" if commit else "")
    if found.left:
        app.say(f"{found.left} older sessions that name it were not looked at")
    app.close()
    if not found.touches:
        if as_json:
            return 1
        done = f"made commit {commit[:12]}" if commit else f"changed {what}"
        raise NothingFound(
            f"no session {done}", f"recall grep {commit[:7] or os.path.basename(what)} looks for the words"
        )
    return 0


def _commit(what: str) -> str:
    """The number of a commit; '' where a path is meant."""
    if os.path.lexists(what):
        return ""
    if SHA.fullmatch(what) and not what.isalpha():
        return what.lower()
    if what.startswith("-") or not what:
        return ""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", what + "^{commit}"],
            env={**os.environ, **_ALONE},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="ascii",
            errors="replace",
            timeout=5,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _print(app: App, found: Looked, limit: int, *, made: str) -> None:
    shorts = short_ids(app.store.ids())
    for touch in found.touches[:limit]:
        row = touch.session
        print(index_line(row, shorts[row.id], None, live=row.id in app.live))
        for line in _lines(touch, made):
            print(f"    {line}")
    if len(found.touches) > limit:
        app.say(f"{len(found.touches) - limit} more; -n {len(found.touches)} shows them")


def _lines(touch: Touch, made: str) -> Iterator[str]:
    if not touch.made:
        yield "only names it"
        return
    times = made or f"{touch.changes} change{'' if touch.changes == 1 else 's'}, the last"
    yield f"{times} {moment(touch.time)}".rstrip()
    if touch.request:
        yield f"asked: {cut(one_line(shown(touch.request)), _REQUEST)}"


def _print_document(app: App, what: str, kind: str, found: Looked, limit: int) -> None:
    shorts = short_ids(app.store.ids())
    print_json(
        {
            "schema": 1,
            "kind": kind,
            "what": shown(what),
            "total": len(found.touches),
            "results": [
                {
                    **session_fields(
                        app,
                        touch.session,
                        shorts[touch.session.id],
                        archived_only=not any_source(touch.session, app.store.files(touch.session.no), app.settings),
                    ),
                    "made": touch.made,
                    "changes": touch.changes,
                    "time": utc(touch.time),
                    "request": shown(touch.request) or None,
                }
                for touch in found.touches[:limit]
            ],
        }
    )
