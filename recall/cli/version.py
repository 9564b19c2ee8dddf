"""`recall version`, for the list of commands; the call itself is answered before click is loaded."""

import click

from recall import __version__


@click.command("version")
def command() -> None:
    """Print the version.

    \b
    Example:
      recall version
    """
    click.echo(f"recall {__version__}")
