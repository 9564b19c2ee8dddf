"""`recall completion SHELL`: the completion script, made from the definitions of the commands."""

from __future__ import annotations

import os

import click

from recall.core.complete import Flag, Verb, script

_KINDS = {
    "ID": "id",
    "[ID]": "id",
    "[ID|FILE]": "id",
    "ID|FILE": "id",
    "ADDR": "address",
    "P": "project",
    "T": "tag",
    "B": "branch",
    "TERMS...": "word",
    "[TERMS]...": "word",
    "FILE": "file",
    "DIR": "file",
    "PATH": "file",
    "PATH|COMMIT": "file",
}
_PLACES = {
    "bash": "~/.local/share/bash-completion/completions/{name}",
    "zsh": "~/.local/share/zsh/site-functions/_{name}",
    "fish": "~/.config/fish/completions/{name}.fish",
}


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.option("--write", is_flag=True, help="Write it where the shell looks for it, and say what is left to do.")
@click.pass_context
def command(ctx: click.Context, shell: str, write: bool) -> None:
    """Print the completion script for a shell: commands, options, ids with their titles, projects, tags, filters.

    Only ids, projects and tags start recall at a Tab; all else stands in the script. Make it again after an update.

    \b
      recall completion bash --write
      recall completion fish > ~/.config/fish/completions/recall.fish
    """
    name = ctx.find_root().info_name or "recall"
    text = script(shell, name, verbs())
    if not write:
        click.echo(text, nl=False)
        return
    from recall.files import write_atomic

    path = os.path.expanduser(_PLACES[shell].format(name=name))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write_atomic(path, text.encode())
    click.echo(path)
    if shell == "zsh":
        folder = os.path.dirname(path)
        click.echo(
            f"recall: zsh looks there with this in ~/.zshrc, before compinit:  fpath=({folder} $fpath)", err=True
        )
    elif shell == "bash":
        click.echo("recall: a new shell knows it, if the package bash-completion is there", err=True)


def verbs() -> list[Verb]:
    """All commands as the scripts need them. Imports every command."""
    from recall.cli import ALIASES, COMMANDS
    from recall.cli.group import commands

    found = []
    for name, (_, line) in COMMANDS.items():
        one = commands.get_command(None, name)
        assert one is not None
        kind, choices = "", ()  # type: tuple[str, tuple[str, ...]]
        flags = []
        for param in one.params:
            if isinstance(param, click.Option) and not param.hidden:
                value, of = _value(param)
                names = (*param.opts, *param.secondary_opts)
                flags.append(Flag(tuple(names), (param.help or "").rstrip("."), value, of))
            elif isinstance(param, click.Argument) and not kind:
                kind, choices = _value(param)
        if name == "help":
            kind, choices = "choice", tuple(COMMANDS)
        aliases = tuple(alias for alias, meant in ALIASES.items() if meant == name)
        found.append(Verb(name, aliases, line.rstrip("."), kind, choices, tuple(flags)))
    return found


def _value(param: click.Parameter) -> tuple[str, tuple[str, ...]]:
    if isinstance(param, click.Option) and (param.is_flag or param.count):
        return "", ()
    if isinstance(param.type, click.Choice):
        return "choice", tuple(str(one) for one in param.type.choices)
    if param.name == "status":
        return "choice", ("done", "in_progress", "aborted", "new", "lost")
    return _KINDS.get(param.metavar or (param.name or "").upper(), "text"), ()
