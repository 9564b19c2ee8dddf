"""`recall export`: one session as a page, as Markdown or as JSON."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import click

from recall.actions.cards import card_of
from recall.actions.cmd import any_source, newest_of
from recall.actions.conversation import moment
from recall.actions.restore import give_name
from recall.actions.show import own_file
from recall.actions.talk import Shown, talk
from recall.actions.transcript import shown
from recall.cli.app import App
from recall.cli.fields import session_fields
from recall.cli.fresh import freshen
from recall.cli.output import json_text, utc
from recall.core import shell
from recall.core.card import client_name, index_line, short_ids, task_of
from recall.core.model import Session
from recall.core.plain import one_line
from recall.errors import Refused, Usage
from recall.files import naming

_FORMS = ("html", "md", "json")


@click.command("export")
@click.argument("session", metavar="ID")
@click.option("--html", "form", flag_value="html", help="One self-contained page (the default).")
@click.option("--md", "form", flag_value="md", help="Markdown.")
@click.option("--json", "form", flag_value="json", help="JSON, a message or call each.")
@click.option("-o", "--output", metavar="FILE", help="The file to make; - for standard output.")
@click.option("--force", is_flag=True, help="Write over a file that exists.")
def command(session: str, form: str | None, output: str | None, force: bool) -> int:
    """Write one session into one file that opens anywhere: search, folding, dark mode; no network, no secrets.

    Without -o the page goes to standard output, or on a terminal into `recall-ID.html` in this folder. Files are
    made readable for you alone, and nothing is written over unless --force.

    \b
      recall export 1b2c3d4e
      recall export last --md > talk.md
      recall export . --html -o ~/talk.html
    """
    form = form or _form_of(output)
    app = App.from_environment()
    freshen(app, quiet=True)
    row = newest_of(app.resolve(session), app.store)
    path, file = own_file(row, app.store, app.settings)
    said = talk(path, file.client, app.settings)
    pieces = {"html": _html, "md": _markdown, "json": _json}[form](app, row, said)
    if output is None and sys.stdout.isatty():
        output = f"recall-{short_ids(app.store.ids())[row.id]}.{form}"
    if output in (None, "-"):
        for piece in pieces:
            sys.stdout.write(piece.encode("utf-8", "replace").decode())
    else:
        assert output is not None
        _write(output, pieces, force)
        app.say(f"written: {output}")
    app.close()
    return 0


def _form_of(output: str | None) -> str:
    ending = os.path.splitext(output or "")[1].lstrip(".").lower()
    names = {"htm": "html", "markdown": "md"}
    return next((form for form in _FORMS if form == names.get(ending, ending)), "html")


def _write(output: str, pieces: Iterator[str], force: bool) -> None:
    """Into a file of its own first, so that a failure half way leaves nothing behind."""
    target = os.path.realpath(os.path.expanduser(output)) if force else os.path.expanduser(output)
    if os.path.isdir(target):
        raise Usage(f"{output} is a folder", f"-o {os.path.join(output, 'session.html')}")
    if os.path.lexists(target) and not force:
        raise Refused(f"{output} exists already", "another name with -o, or --force")
    if os.path.lexists(target) and not os.path.isfile(target):
        raise Refused(f"{output} is no ordinary file, which could be written over", f"-o - > {shell.word(output)}")
    part = f"{target}.{os.getpid()}.part"
    try:
        with naming(output, part):
            fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(fd, "w", encoding="utf-8") as file, naming(output):
            for piece in pieces:
                file.write(piece.encode("utf-8", "replace").decode())
        if force:
            os.replace(part, target)
        else:
            give_name(part, target)
    except FileExistsError:
        raise Refused(f"{output} exists already", "another name with -o, or --force") from None
    except (FileNotFoundError, NotADirectoryError):
        raise Usage(f"there is no folder for '{output}'", "make it first") from None
    finally:
        if os.path.lexists(part):
            os.unlink(part)


def _title(row: Session) -> str:
    return one_line(shown(row.title or task_of(row) or row.id))


def _head(app: App, row: Session) -> dict[str, str]:
    """What stands above the conversation."""
    card = card_of(app.store, row)
    fields = {
        "session": row.id,
        "client": client_name(row.client),
        "folder": one_line(shown(row.cwd)),
        "branch": one_line(shown(row.branch)),
        "when": " – ".join(dict.fromkeys(filter(None, (moment(row.started), moment(row.updated))))),
    }
    if card:
        fields |= {
            "task": one_line(shown(card.task)),
            "status": card.status,
            "method": one_line(shown(card.method)),
            "next": one_line(shown(card.next)),
            "tags": " ".join(f"#{tag}" for tag in card.tags),
            "artifacts": one_line(shown(", ".join(card.artifacts))),
        }
    return {name: value for name, value in fields.items() if value}


def _html(app: App, row: Session, said: Iterator[Shown]) -> Iterator[str]:
    from importlib.resources import files

    from recall.core.page import page

    folder = files("recall") / "share" / "page"
    style, script = ((folder / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    parts = ((one.part, one.lines, moment(one.part.time)) for one in said)
    yield from page(_title(row), _head(app, row), parts, style, script)


def _markdown(app: App, row: Session, said: Iterator[Shown]) -> Iterator[str]:
    yield f"# {_title(row)}\n\n"
    for name, value in _head(app, row).items():
        yield f"- {name}: {value}\n"
    speaker = ""
    for part, lines in said:
        now = part.role if part.role in ("user", "assistant", "aside") else "assistant"
        if now != speaker and now != "aside":
            speaker = now
            yield f"\n## {now} {moment(part.time)}".rstrip() + "\n"
        if part.role in ("user", "assistant"):
            yield f"\n{part.text.strip()}\n"
        elif part.role == "call":
            yield f"\n{_fenced(part.text, '')}"
            if lines or part.body:
                yield _fenced(chr(10).join(lines), "diff") if lines else _fenced(part.body, "")
            if part.output.strip():
                yield _fenced(part.output, "")
        else:
            yield f"\n({part.role})\n{_fenced(part.text, '')}"


def _fenced(text: str, kind: str) -> str:
    """A block that ends where it should, whatever fences stand in it."""
    longest = max((len(run) for run in _runs(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{text.rstrip()}\n{fence}\n"


def _runs(text: str) -> Iterator[str]:
    import re

    yield from re.findall("`+", text)


def _json(app: App, row: Session, said: Iterator[Shown]) -> Iterator[str]:
    short = short_ids(app.store.ids())[row.id]
    kept = any_source(row, app.store.files(row.no), app.settings)
    head = session_fields(app, row, short, archived_only=not kept)
    head["cwd"] = one_line(shown(row.cwd))  # what is exported is to be given away: nobody goes there by it
    head["message_count"] = head.pop("messages")
    head["line"] = index_line(row, short, None)
    yield json_text({"schema": 1, **head})[:-1] + ', "messages": ['
    for n, (part, lines) in enumerate(said):
        message = {
            "role": part.role,
            "number": part.number or None,
            "time": utc(part.time),
            "text": part.text,
            "tool": shown(part.tool) or None,
            "body": part.body or None,
            "output": part.output or None,
            "failed": part.failed,
            "diff": lines or None,
        }
        yield (", " if n else "") + json_text(message)
    yield "]}\n"
