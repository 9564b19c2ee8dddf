"""Files that ship with the package: hooks, timers, the skill. In an installed package they stand in `share`."""

from __future__ import annotations

import os

import recall
from recall.errors import Damaged

_PACKAGE = os.path.dirname(os.path.abspath(recall.__file__))
_FOLDERS = (os.path.join(_PACKAGE, "share"), os.path.dirname(_PACKAGE))
"""In an installed package, and in a checkout."""


def shipped(folder: str, name: str) -> bytes:
    """The bytes of one file, `name` relative to its folder; Damaged when the package lacks it."""
    for above in _FOLDERS:
        try:
            with open(os.path.join(above, folder, name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            continue
    raise Damaged(f"{folder}/{name} is missing in the installed program", "install recall again: ./install.sh")


def names(folder: str) -> list[str]:
    """Every file below a folder, as paths relative to it; the README of the checkout is left out."""
    for above in _FOLDERS:
        top = os.path.join(above, folder)
        if os.path.isdir(top):
            found = [
                os.path.relpath(os.path.join(place, name), top)
                for place, _, files in os.walk(top)
                for name in files
                if not name.startswith(".")
            ]
            return sorted(name for name in found if name != "README")
    return []
