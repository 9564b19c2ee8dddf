"""The reference page of all commands, made from the same definitions as parser, help and completion.

`python -m recall.cli.reference FILE` writes it (`make docs`); a test fails while `docs/commands.md` is stale.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator

import click

from recall.cli import ALIASES, COMMANDS
from recall.cli.group import commands

_HEAD = """\
# Commands

Made by `make docs` from the definitions of the commands: change those, not this page.
Every command takes `--help`.
"""


def reference() -> str:
    """The page as markdown. Imports every command."""
    parts = [_HEAD, "\n".join(f"- [`{name}`](#{name}): {line}" for name, (_, line) in COMMANDS.items()) + "\n"]
    for name in COMMANDS:
        command = commands.get_command(None, name)
        assert command is not None
        parts.append("\n".join(_section(name, command)))
    return "\n".join(parts)


def _section(name: str, command: click.Command) -> Iterator[str]:
    arguments = [part for param in command.params if (part := _argument(param))]
    options = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    also = [alias for alias, meant in ALIASES.items() if meant == name]
    yield f"## {name}\n"
    usage = " ".join(["recall", name, *(["[OPTIONS]"] if options else []), *arguments])
    yield f"    {usage}\n"
    if also:
        yield f"Also {' and '.join(f'`recall {alias}`' for alias in also)}.\n"
    yield _prose(command.help or "")
    if options:
        yield "| option | |\n| --- | --- |"
        yield "\n".join(_row(option) for option in options) + "\n"
    if command.epilog:
        yield _prose(command.epilog)


def _argument(param: click.Parameter) -> str:
    if not isinstance(param, click.Argument):
        return ""
    if param.metavar:
        return param.metavar
    choices = getattr(param.type, "choices", None)
    shown = "|".join(map(str, choices)) if choices else (param.name or "").upper()
    shown += "…" if param.nargs != 1 else ""
    return shown if param.required else f"[{shown}]"


def _row(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    if not option.is_flag and not option.count:
        choices = getattr(option.type, "choices", None)
        kind = "N" if option.type.name.startswith("integer") else option.type.name.upper()
        value = option.metavar or ("|".join(map(str, choices)) if choices else kind)
        names += f" `{value}`"
    text = " ".join((option.help or "").split())
    if option.show_default and option.default is not None:
        text += f" (default: {option.default})"
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in (names, text)) + " |"


def _prose(text: str) -> str:
    """A help text: paragraphs are joined, those that begin with \\b are examples and kept as they are."""
    out = []
    for paragraph in inspect.cleandoc(text).split("\f")[0].split("\n\n"):
        if paragraph.startswith("\b"):
            lines = paragraph.split("\n")[1:]
            if lines and not lines[0].startswith(" "):
                out.append(lines.pop(0))
            out.append("\n".join(f"    {line.strip()}" if line.strip() else "" for line in lines))
        elif paragraph.strip():
            out.append(" ".join(paragraph.split()))
    return "\n\n".join(out) + "\n" if out else ""


def main() -> None:
    text = reference()
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w", encoding="utf-8") as file:
            file.write(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
