"""What a command printed with --json, against its schema in docs/schemas: by an independent validator."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from recall.cli import ALIASES, COMMANDS
from tests.conftest import ROOT

FOLDER = ROOT / "docs" / "schemas"


@cache
def validator(name: str) -> Draft202012Validator:
    """For the documents of a command, or for `error`."""
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    return Draft202012Validator(schema)


def problems(name: str, document: Any) -> list[str]:
    """Where `document` is not what the schema of `name` says, the deepest first; [] where it is."""
    found = []
    for error in validator(name).iter_errors(document):
        deep = [error, *(inner for inner in error.context or ())]
        found += [f"{inner.json_path}: {inner.message[:300]}" for inner in sorted(deep, key=lambda one: -len(one.path))]
    return found


def wrong(args: Sequence[object], stdout: str) -> list[str]:
    """The same for a whole command line and what it printed. [] where no JSON was asked for, or nothing was printed."""
    words = [str(arg) for arg in args]
    words = words[: words.index("--")] if "--" in words else words
    name = ALIASES.get(words[0], words[0]) if words else ""
    if "--json" not in words or name not in COMMANDS or not stdout.startswith("{"):
        return []
    document = json.loads(stdout)
    return problems("error" if set(document) == {"error"} else name, document)
