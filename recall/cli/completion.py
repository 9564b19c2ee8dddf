"""`recall completion SHELL`: click's own completion script."""

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    \b
    Put one of these lines where your shell starts:
      eval "$(recall completion bash)"        ~/.bashrc (bash 4.4 or newer)
      eval "$(recall completion zsh)"         ~/.zshrc
      recall completion fish | source         ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    root = ctx.find_root()
    name = root.info_name or "recall"
    kind = get_completion_class(shell)
    assert kind is not None
    variable = f"_{name}_COMPLETE".replace("-", "_").replace(".", "_").upper()
    click.echo(kind(root.command, {}, name, variable).source())
