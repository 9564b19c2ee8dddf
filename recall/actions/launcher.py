"""The launcher that the clients' hooks call: a fixed `sh` script, so that an upgrade changes no registered command.

Codex trusts a hook by its command line; where that changed, it would ask again and run nothing meanwhile.
"""

from __future__ import annotations

import os
import re
import shlex

from recall.actions.shipped import shipped
from recall.actions.walk import homes
from recall.settings import Settings

NAME = "recall-hook"


def path(folder: str) -> str:
    """Where the launcher stands in our own folder."""
    return os.path.join(folder, NAME)


def command(folder: str) -> str:
    """The command line to register: the launcher's path, quoted for sh."""
    return shlex.quote(path(folder))


def text(python: str, package: str, conf: str) -> bytes:
    """The script for an interpreter, the folder of the installed package `recall`, and the hook's settings file."""
    values = {"PYTHON": python, "MAIN": os.path.join(package, "hook_main.py"), "CONF": conf}
    template = shipped("hooks", NAME).decode("utf-8")
    filled = re.sub("@([A-Z]+)@", lambda found: shlex.quote(values[found[1]]), template)
    return filled.encode("utf-8", "surrogateescape")


def conf_path(settings: Settings) -> str:
    return os.path.join(settings.state, "hook.conf")


def conf(settings: Settings, handoff: bool) -> bytes:
    """What the hook must know and does not find out itself: lines `key=value`. The environment goes before them.

    A home is `home=<prefix> <folder>`; the prefix stands before the paths of its copies.
    """
    pairs = [("state", settings.state), ("archive", settings.archive), ("data", settings.data)]
    pairs += [("home", f"{home.prefix} {home.path}") for home in homes(settings)]
    pairs += [("handoff", "1" if handoff else "0"), ("handoff_days", str(settings.handoff_days))]
    text = "".join(f"{key}={value}\n" for key, value in pairs if "\n" not in value)
    return f"# Written by `recall install` from its settings.\n{text}".encode("utf-8", "surrogateescape")
