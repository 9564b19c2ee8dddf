"""The click group: a command's module is imported when that command is asked for, and not before."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module

import click

from recall import __version__
from recall.cli import ALIASES, COMMANDS, program
from recall.errors import Usage

SECTIONS = {
    "Find and read": ("find", "grep", "show", "next", "who", "files", "lost", "export", "web", "tags", "stats"),
    "Go on with a session": ("open", "cmd", "fork", "restore", "reopen", "handoff", "to-codex"),
    "Sessions that are open now": ("ps", "peek", "send", "wait"),
    "Cards, names, tags": ("recap", "backfill", "rename", "tag"),
    "Copies and index": ("sweep", "remove", "verify", "reindex"),
    "Set up": ("doctor", "install", "uninstall", "completion", "iterm-install", "demo", "version", "help"),
    "Called by clients": ("hook", "statusline", "mcp"),
}
"""The commands as `recall --help` lists them, each once."""


class Commands(click.Group):
    """Names and one-line helps come from the table; the list of commands and completion import no module."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context | None, name: str) -> click.Command | None:
        name = ALIASES.get(name, name)
        if name not in COMMANDS:
            return None
        command = import_module(COMMANDS[name][0]).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        typed = args[0]
        if typed.startswith("-"):
            return super().resolve_command(ctx, args)
        command = self.get_command(ctx, typed)
        if command is None:
            raise Usage(f"there is no command '{typed}'", _meant(typed, args))
        return ALIASES.get(typed, typed), command, args[1:]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, COMMANDS))
        for title, names in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), COMMANDS[name][1]) for name in names])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[click.shell_completion.CompletionItem]:
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name, help=line) for name, (_, line) in COMMANDS.items() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="recall %(version)s")
@click.pass_context
def commands(ctx: click.Context) -> int | None:
    """Keep, find and continue the sessions of Claude Code and Codex.

    Without a command: on a terminal the picker, which finds while you type; piped, the newest sessions.

    \b
      recall                       pick a session and open it
      recall find export deals     the session where that was done
      recall cmd last              the line that resumes it
    """
    if ctx.invoked_subcommand is not None:
        return None
    command = commands.get_command(ctx, "find")
    assert command is not None
    with command.make_context("find", [], parent=ctx) as inner:
        return _status(command.invoke(inner))


def run(args: Sequence[str]) -> int:
    """Run the command line `args`; its exit status. Whatever goes wrong is raised, `click.UsageError` included.

    click's own `main` is not used: it makes a broken pipe exit 1 and an interrupt a word on stderr.
    """
    name = program()
    variable = f"_{name}_COMPLETE".replace("-", "_").replace(".", "_").upper()
    if variable in os.environ:  # the shell asks for completions
        commands.main(list(args), name, variable)
    try:
        with commands.make_context(name, list(args)) as ctx:
            return _status(commands.invoke(ctx))
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None


def _status(result: object) -> int:
    """A command returns its exit status, or nothing when all went well."""
    return result if isinstance(result, int) else 0


def _meant(typed: str, args: Sequence[str]) -> str:
    import shlex
    from difflib import get_close_matches

    near = get_close_matches(typed.lower(), [*COMMANDS, *ALIASES], n=1, cutoff=0.6)
    if near:
        return f"did you mean `recall {near[0]}`?"
    words = [arg for arg in args if not arg.startswith("-")]
    return f"to search: `recall find {shlex.join(words)}`; all commands: `recall help`"
