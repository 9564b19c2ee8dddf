"""The options of a command as a plain table, from which both click and a parser without click are made.

`import click` costs about three bare interpreter starts. A command that people type all the time names its options in
such a table: `quick` reads an ordinary command line by it, and gives way to click (`build`) for everything else: help,
completion, wrong usage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import click


class Opt(NamedTuple):
    """One option. `names` as typed (`--live/--no-live`: both ways of a switch); `kind` is 'flag', 'switch', 'text', 'texts'
    (may be given again), 'count' (an int of at least 1), 'number' (an int), 'bytes' (an int of at least LEAST) or 'choice' (one of
    `choices`)."""

    names: tuple[str, ...]
    dest: str
    kind: str
    help: str
    metavar: str | None = None
    default: Any = None
    choices: tuple[str, ...] = ()


MOST = 10_000
"""The largest count that can be asked for."""

LEAST = 200
"""The smallest budget of an answer, in bytes: fewer would hold only the note that it was cut."""


def defaults(table: Sequence[Opt]) -> dict[str, Any]:
    """What a command gets when nothing is typed."""
    empty = {"flag": False, "texts": ()}
    return {opt.dest: opt.default if opt.default is not None else empty.get(opt.kind) for opt in table}


def quick(table: Sequence[Opt], args: Sequence[str]) -> tuple[list[str], dict[str, Any]] | None:
    """(words, options) of a command line; None where click must look at it. What begins with one dash and is no
    option is a word."""
    out = defaults(table)
    by_name = {name: opt for opt in table for name in opt.names}
    words: list[str] = []
    at = 0
    while at < len(args):
        arg = args[at]
        at += 1
        if arg == "--":
            return words + list(args[at:]), out
        if not arg.startswith("-") or arg == "-":
            words.append(arg)
            continue
        name, equals, value = arg.partition("=")
        opt = by_name.get(name)
        if opt is None:
            if (
                arg.startswith("--")
                or any(arg.startswith(short) for short in by_name if len(short) == 2)
                or arg == "-h"
            ):
                return None
            words.append(arg)
            continue
        if opt.kind in ("flag", "switch"):
            if equals:
                return None
            out[opt.dest] = name == opt.names[0]
            continue
        if not equals:
            if at >= len(args):
                return None
            value = args[at]
            at += 1
        if opt.kind == "texts":
            out[opt.dest] = (*out[opt.dest], value)
        elif opt.kind in ("count", "number"):
            if not value.isascii() or not value.isdigit() or not (opt.kind == "count") <= int(value) <= MOST:
                return None
            out[opt.dest] = int(value)
        elif opt.kind == "bytes":
            if not value.isascii() or not value.isdigit() or len(value) > 12 or int(value) < LEAST:
                return None
            out[opt.dest] = int(value)
        elif opt.kind == "choice" and value not in opt.choices:
            return None
        else:
            out[opt.dest] = value
    return words, out


def build(name: str, table: Sequence[Opt], run: Callable[..., int], metavar: str = "") -> click.Command:
    """The click command: `run(words, **options)`, or `run(**options)` where `metavar` names no words; its docstring is
    the help."""
    import click

    def with_words(words: tuple[str, ...], **options: Any) -> int:
        return run(list(words), **options)

    params: list[click.Parameter] = []
    if metavar:
        params.append(click.Argument(["words"], nargs=-1, type=click.UNPROCESSED, metavar=metavar))
    for opt in table:
        extra: dict[str, Any] = {"help": opt.help, "metavar": opt.metavar}
        if opt.kind == "flag":
            extra |= {"is_flag": True}
        elif opt.kind == "texts":
            extra |= {"multiple": True}
        elif opt.kind == "count":
            extra |= {"type": click.IntRange(1, MOST), "default": opt.default, "show_default": True}
        elif opt.kind == "number":
            extra |= {"type": click.IntRange(0, MOST), "default": opt.default, "show_default": True}
        elif opt.kind == "bytes":
            extra |= {"type": click.IntRange(LEAST)}
        elif opt.kind == "choice":
            extra |= {"type": click.Choice(opt.choices)}
        elif opt.kind == "switch":
            extra |= {"default": None}
        names = ["/".join(opt.names)] if opt.kind == "switch" else list(opt.names)
        params.append(click.Option([*names, opt.dest], **extra))
    return click.Command(
        name,
        callback=with_words if metavar else run,
        params=params,
        help=run.__doc__,
        context_settings={"ignore_unknown_options": False},
    )
