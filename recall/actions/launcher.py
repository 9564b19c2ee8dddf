"""The launcher that the clients' hooks call: a fixed `sh` script, so that an upgrade changes no registered command.

Codex trusts a hook by its command line; where that changed, it would ask again and run nothing meanwhile.
"""

from __future__ import annotations

import os
import shlex

from recall.actions.shipped import shipped
from recall.files import write_atomic

NAME = "recall-hook"


def path(folder: str) -> str:
    """Where the launcher stands in our own folder."""
    return os.path.join(folder, NAME)


def command(folder: str) -> str:
    """The command line to register: the launcher's path, quoted for sh."""
    return shlex.quote(path(folder))


def text(python: str, package: str) -> bytes:
    """The script for an interpreter and the folder of the installed package `recall`."""
    template = shipped("hooks", NAME).decode("utf-8")
    filled = template.replace("@PYTHON@", shlex.quote(python))
    main = shlex.quote(os.path.join(package, "hook_main.py"))
    return filled.replace("@MAIN@", main).encode("utf-8", "surrogateescape")


def write(folder: str, python: str, package: str) -> str:
    """Write the launcher (0700, atomically) unless it stands there already; the command line to register."""
    wanted = text(python, package)
    at = path(folder)
    try:
        with open(at, "rb") as file:
            there = file.read() == wanted and os.access(at, os.X_OK)
    except OSError:
        there = False
    if not there:
        write_atomic(at, wanted, 0o700)
    return command(folder)
