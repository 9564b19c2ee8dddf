"""The launcher that the clients' hooks call: a fixed `sh` script, so that an upgrade changes no registered command.

Codex trusts a hook by its command line; where that changed, it would ask again and run nothing meanwhile.
"""

from __future__ import annotations

import os
import re
import shlex

from recall.actions.shipped import shipped

NAME = "recall-hook"


def path(folder: str) -> str:
    """Where the launcher stands in our own folder."""
    return os.path.join(folder, NAME)


def quoted(folder: str) -> str:
    """The launcher's path as it stands in a command line for sh."""
    return shlex.quote(path(folder))


def command(folder: str) -> str:
    """The command line to register. A client that is open during an uninstall calls it until it is closed: without the
    launcher it does nothing, with status 0."""
    return f"[ ! -x {quoted(folder)} ] || exec {quoted(folder)}"


def text(python: str, package: str, conf: str) -> bytes:
    """The script for an interpreter, the folder of the installed package `recall`, and the hook's settings file."""
    values = {"PYTHON": python, "MAIN": os.path.join(package, "hook_main.py"), "CONF": conf}
    template = shipped("hooks", NAME).decode("utf-8")
    filled = re.sub("@([A-Z]+)@", lambda found: shlex.quote(values[found[1]]), template)
    return filled.encode("utf-8", "surrogateescape")
