"""A settings file of a client: read strictly, or refused in plain words; written whole, and read back.

A client that cannot make sense of one value of its file passes over all of it, hooks and permissions included
(Claude Code 2.1.332). So nothing is written that was not looked at as the client would look at it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from typing import Any, NamedTuple

from recall.core import jsonedit
from recall.errors import Damaged, RecallError, Refused
from recall.files import write_atomic

LARGEST = 1 << 20
"""Bytes; what is larger was not written as settings."""

_MEND = "mend the file, then run this again"


class Before(NamedTuple):
    """A file as it was found. `data` None: there is none; `mode` its permissions."""

    path: str
    data: bytes | None
    mode: int


def read(path: str) -> Before:
    """The file's bytes. Raises Refused where it could not be replaced: read-only, a dangling link, no plain file."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        if os.path.islink(path):
            raise Refused(
                f"{path} is a link to a file that is not there", "remove the link, or make its target"
            ) from None
        _refuse_place(path)
        return Before(path, None, 0o600)
    if not stat.S_ISREG(found.st_mode):
        raise Refused(f"{path} is no plain file", "move it away, then run this again")
    mode = stat.S_IMODE(found.st_mode)
    if not mode & stat.S_IWUSR:
        raise Refused(f"{path} is read-only", f"chmod u+w {path}, or change it where it is made")
    _refuse_place(path)
    if found.st_size > LARGEST:
        raise Refused(f"{path} is too large to be settings: {found.st_size} bytes", _MEND)
    try:
        with open(path, "rb") as file:
            return Before(path, file.read(), mode)
    except PermissionError:
        raise Refused(f"{path} cannot be read", f"chmod u+r {path}") from None


def _refuse_place(path: str) -> None:
    folder = os.path.dirname(os.path.realpath(path))
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        raise Refused(f"{folder} is no folder", "move it away, then run this again")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Refused(f"{folder} cannot be written", f"chmod u+w {folder}")


def decode(path: str, data: bytes) -> str:
    """The text of a JSON file whose root is an object; raises Damaged where it is anything else."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise Damaged(f"{path} is not UTF-8 (byte {problem.start})", _MEND) from None
    try:
        root = jsonedit.scan(text)
    except jsonedit.NotJson as problem:
        raise Damaged(f"{path} is no JSON: {problem}", _MEND) from None
    if root.kind != "object":
        raise Damaged(f"{path} holds no JSON object", _MEND)
    return text


def check_claude(path: str, text: str) -> None:
    """Raises Damaged for a value that makes Claude Code pass over the whole file, or that we could not add to.

    What stands in _TYPES was tried with Claude Code 2.1.332. Of other values nothing is said: it has many keys. It passes over
    a wrong rule or hook alone, so those are left as they are.
    """
    value = jsonedit.scan(text).value(text)
    for place, (kind, words) in _TYPES.items():
        box: Any = value
        *above, key = place.split(".")
        for step in above:
            box = box.get(step, {})
        if key in box and not isinstance(box[key], kind):
            raise _bad(path, place, box[key], words)
    days = value.get("cleanupPeriodDays", 1)
    if isinstance(days, bool) or not isinstance(days, (int, float)) or not 1 <= days < 1e15 or days % 1:
        raise _bad(path, "cleanupPeriodDays", days, "a whole number of at least 1")
    line = value.get("statusLine")
    if line is not None and (line.get("type") != "command" or not isinstance(line.get("command"), str)):
        raise _bad(path, "statusLine", line, "of type command, with a command")
    check_hooks(path, text)


_TYPES: dict[str, tuple[type, str]] = {
    "permissions": (dict, "an object"),
    "permissions.allow": (list, "a list"),
    "permissions.ask": (list, "a list"),
    "permissions.deny": (list, "a list"),
    "permissions.defaultMode": (str, "a text"),
    "env": (dict, "an object"),
    "statusLine": (dict, "an object"),
    "model": (str, "a text"),
    "language": (str, "a text"),
    "apiKeyHelper": (str, "a text"),
    "disableAllHooks": (bool, "true or false"),
    "includeCoAuthoredBy": (bool, "true or false"),
}


def check_hooks(path: str, text: str) -> None:
    """Raises Damaged where hooks are not lists by event: there is nothing to add to."""
    hooks = jsonedit.scan(text).value(text).get("hooks", {})
    if not isinstance(hooks, dict):
        raise _bad(path, "hooks", hooks, "an object")
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            raise _bad(path, f"hooks.{event}", groups, "a list")


def _bad(path: str, key: str, value: Any, right: str) -> RecallError:
    import json

    shown = json.dumps(value, ensure_ascii=False)
    shown = shown if len(shown) <= 60 else shown[:59] + "…"
    return Damaged(f"{path}: {key} is {shown}, not {right}, and the client does not take that", _MEND)


def write(before: Before, data: bytes) -> None:
    """Replace the file by `data`, if it still is as it was read, and read it back. Raises Refused, Damaged, OSError."""
    now: bytes | None = None
    with contextlib.suppress(FileNotFoundError), open(before.path, "rb") as file:
        now = file.read()
    if now != before.data:
        raise Refused(f"{before.path} was changed by somebody else meanwhile", "run this again")
    write_atomic(before.path, data, before.mode)
    with open(before.path, "rb") as file:
        if file.read() != data:
            raise Damaged(f"{before.path} does not hold what was written", "run this again")
