"""The install journal, `<state>/install.json`: every edit of a file that is not ours, and how it is taken back.

It is written before the edit that it speaks of. A file that still is as we left it gets its old bytes again; in one
that somebody changed since, only what we put there is looked for and taken out.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field
from typing import Any

from recall.errors import Damaged
from recall.files import write_atomic

SCHEMA = 1
_LARGEST = 16 << 20


@dataclass
class Edit:
    """One edit of a JSON file. `do`: 'make' an empty container, 'add' an item or member, 'set' another value, 'take' one out.

    `at` is the place (of the container for `add` and `make`, with `key` where that is an object), `value` what was put
    there, `was` the text that was there, `index` where the taken one stood, `gap` the blanks of an empty container.
    """

    do: str
    at: list[str | int]
    key: str | None = None
    value: Any = None
    was: str = ""
    index: int = 0
    gap: str = ""


@dataclass
class File:
    """One file that was changed. `ours`: nobody else has a use for it. `before` and `after` are SHA-256 in hex ('' where
    there was no file, `link:<target>` for a symbolic link); `backup` names the copy of the old bytes in the backup folder, ''
    where there were none."""

    path: str
    before: str
    after: str
    mode: int = 0o600
    backup: str = ""
    ours: bool = False
    edits: list[Edit] = field(default_factory=list)


@dataclass
class Journal:
    """`name` is the command's; `handoff`, `hooks` and `timer` (its kind, '' for none) what was chosen; `folders` were made
    by us and go when they are empty, the deepest first; `moved` are (from, to) of what was put aside for good."""

    name: str = "recall"
    version: str = ""
    handoff: bool = False
    hooks: bool = False
    timer: str = ""
    command: str = ""
    files: list[File] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    moved: list[list[str]] = field(default_factory=list)

    def file(self, path: str) -> File | None:
        """The entry of a file that is no link to be put back."""
        return next((file for file in self.files if file.path == path and not file.before.startswith("link:")), None)


def place(state: str) -> str:
    return os.path.join(state, "install.json")


def backup_folder(state: str) -> str:
    return os.path.join(state, "install-backup")


def load(state: str) -> Journal | None:
    """The journal of this user; None where nothing is installed. Damaged where it cannot be read."""
    path = place(state)
    try:
        with open(path, "rb") as file:
            raw = file.read(_LARGEST)
    except FileNotFoundError:
        return None
    try:
        found = json.loads(raw)
        if found.pop("schema") != SCHEMA:
            raise ValueError("of another recall")
        found["files"] = [
            File(**{**entry, "edits": [Edit(**edit) for edit in entry["edits"]]}) for entry in found["files"]
        ]
        return Journal(**found)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        raise Damaged(
            f"the install journal {path} cannot be read: {problem}", "move it away; then only hooks are found"
        ) from None


def save(state: str, journal: Journal) -> None:
    text = json.dumps({"schema": SCHEMA, **asdict(journal)}, ensure_ascii=False, indent=1)
    write_atomic(place(state), text.encode("utf-8", "surrogateescape") + b"\n")


def digest(data: bytes | None) -> str:
    """SHA-256 in hex, '' for no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def keep(state: str, data: bytes | None) -> str:
    """Keep old bytes in the backup folder under their digest; its name there, '' for no file."""
    if data is None:
        return ""
    name = digest(data)[:32]
    path = os.path.join(backup_folder(state), name)
    if not os.path.exists(path):
        write_atomic(path, data)
    return name


def kept(state: str, entry: File) -> bytes | None:
    """The old bytes of a file, checked; None where there were none, or the backup is not what it was."""
    if not entry.backup:
        return None
    try:
        with open(os.path.join(backup_folder(state), entry.backup), "rb") as file:
            data = file.read()
    except OSError:
        return None
    return data if digest(data) == entry.before else None
