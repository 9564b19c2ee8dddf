"""The texts that a model is given as its task: `prompts/<name>.md`, shipped with the package."""

from __future__ import annotations

import os

import recall
from recall.errors import Damaged

_PACKAGE = os.path.dirname(os.path.abspath(recall.__file__))
_FOLDERS = (os.path.join(_PACKAGE, "share", "prompts"), os.path.join(os.path.dirname(_PACKAGE), "prompts"))
"""In an installed package, and in a checkout."""


def prompt(name: str) -> str:
    """The text of one prompt; Damaged when the package lacks it."""
    for folder in _FOLDERS:
        try:
            with open(os.path.join(folder, f"{name}.md"), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            continue
    raise Damaged(f"the prompt {name}.md is missing", "install recall again")
