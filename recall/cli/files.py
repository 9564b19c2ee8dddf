"""`recall files`: what a session wrote into files."""

from __future__ import annotations

import os
import sys

import click

from recall.actions.cmd import newest_of
from recall.actions.files import give_back, one_of, target, written
from recall.actions.transcript import shown
from recall.cli.app import App
from recall.cli.fresh import freshen
from recall.cli.output import print_json, utc
from recall.core.change import Replayed
from recall.core.plain import one_line
from recall.errors import NothingFound


@click.command("files")
@click.argument("session", metavar="ID")
@click.argument("path", required=False)
@click.option(
    "--at",
    type=click.IntRange(1),
    metavar="N",
    help="As they stood after message N; `show --numbers` counts them.",
)
@click.option("--to", "folder", metavar="DIR", help="Write them below DIR; nothing that exists is touched.")
@click.option("--raw", is_flag=True, help="With PATH: its text as it was, secrets included.")
@click.option("--json", "as_json", is_flag=True, help="The list as JSON.")
def command(session: str, path: str | None, at: int | None, folder: str | None, raw: bool, as_json: bool) -> int:
    """List the files that a session changed, print one, or give them back.

    The inputs of its tools are replayed: what it wrote, each edit, each patch. Files that it changed by shell
    commands are not known. PATH is any tail of a path. What --to writes is the text as it was, secrets included.

    \b
      recall files 1b2c3d4e
      recall files last src/app.py
      recall files last --at 12 --to ~/rescued
    """
    app = App.from_environment()
    freshen(app, quiet=True)
    row = newest_of(app.resolve(session), app.store)
    files = written(row, app.store, app.settings, at=at)
    app.close()
    if path is not None:
        files = [one_of(files, path, row.cwd)]
    if not files:
        raise NothingFound(f"session {row.id} changed no file that is known", "recall show tells what it did")
    if folder is not None:
        done = give_back(files, row.cwd, os.path.abspath(os.path.expanduser(folder)))
        _say_unknown(app, files)
        if as_json:
            print_json({"schema": 1, "written": done})
        for one in [] if as_json else done:
            print(one_line(one))
        return 0 if done else 1
    if as_json:
        print_json({"schema": 1, "id": row.id, "files": [_fields(file, row.cwd) for file in files]})
    elif path is not None:
        _print(files[0], raw)
    else:
        for file in files:
            print(_line(file, row.cwd))
    return 0


def _print(file: Replayed, raw: bool) -> None:
    if file.text is None:
        what = "was deleted" if file.deleted else "was never seen whole: only changes to it are known"
        raise NothingFound(f"{file.path} {what}", "--at N may find an earlier state" if file.deleted else "")
    if raw:
        sys.stdout.flush()
        sys.stdout.buffer.write(file.text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()
    else:
        sys.stdout.write(shown(file.text))


def _line(file: Replayed, cwd: str) -> str:
    """`  3 changes   1204 bytes  src/app.py`, the same on a terminal and in a pipe."""
    size = (
        "deleted"
        if file.deleted
        else "unknown"
        if file.text is None
        else f"{len(file.text.encode('utf-8', 'replace'))} bytes"
    )
    plural = " " if file.changes == 1 else "s"
    return f"{file.changes:4} change{plural} {size:>14}  {one_line(shown(_name(file.path, cwd)))}"


def _name(path: str, cwd: str) -> str:
    return path[len(cwd) + 1 :] if cwd and path.startswith(cwd.rstrip("/") + "/") else path


def _fields(file: Replayed, cwd: str) -> dict[str, object]:
    return {
        "path": one_line(shown(file.path)),
        "target": one_line(shown(target(file.path, cwd))),
        "state": "deleted" if file.deleted else "unknown" if file.text is None else "known",
        "bytes": None if file.text is None else len(file.text.encode("utf-8", "replace")),
        "changes": file.changes,
        "updated": utc(file.time),
    }


def _say_unknown(app: App, files: list[Replayed]) -> None:
    unknown = [file for file in files if file.text is None and not file.deleted]
    if unknown:
        names = ", ".join(one_line(shown(file.path)) for file in unknown[:5])
        more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        app.say(f"not written, only changes to them are known: {names}{more}")
