"""`recall help [CMD]`."""

import click


@click.command("help")
@click.argument("name", metavar="[CMD]", required=False)
@click.pass_context
def command(ctx: click.Context, name: str | None) -> None:
    """Show the commands, or the help of one.

    \b
    Example:
      recall help find
    """
    root = ctx.find_root()
    group = root.command
    assert isinstance(group, click.Group)
    if name is None:
        click.echo(group.get_help(root))
        return
    real, found, _ = group.resolve_command(root, [name])
    assert found is not None
    with found.context_class(found, info_name=real, parent=root) as inner:
        click.echo(found.get_help(inner))
