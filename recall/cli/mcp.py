"""`recall mcp`: the tools for agents, over stdin and stdout."""

from __future__ import annotations

import datetime
import importlib.util
import os
import shlex
import sys

import click

from recall.errors import Unavailable

PACKAGE = "mcp>=2,<3"


@click.command("mcp")
def command() -> int:
    """Serve find, show, grep and handoff to an agent over the Model Context Protocol (stdin and stdout). They only read.

    The agent starts it by itself, once it is told to; docs/agents.md says when the skill is the cheaper way.

    \b
      claude mcp add --scope user recall -- recall mcp
      codex mcp add recall -- recall mcp
    """
    if importlib.util.find_spec("mcp") is None:
        raise Unavailable("the package mcp is not installed beside recall", f"{_install()} '{PACKAGE}'")
    from recall.cli.failure import explain
    from recall.mcp.answers import Parts
    from recall.mcp.server import serve
    from recall.settings import load

    load()  # what is wrong with the settings is told now
    serve(Parts(load, lambda: datetime.datetime.now().astimezone(), explain, os.getcwd, os.getppid()))
    return 0


def _install() -> str:
    """The command that puts a package beside us, by what this environment was made with."""
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        return "pipx inject recall-sessions"
    python = shlex.quote(sys.executable)
    if importlib.util.find_spec("pip") is None:  # as uv makes them
        return f"uv pip install --python {python}"
    return f"{python} -m pip install"
