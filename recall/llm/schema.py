"""Does a reply have the form that was asked for? The part of JSON Schema that our own schemas use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


def problem(value: object, schema: Mapping[str, Any], where: str = "reply") -> str:
    """What is wrong with `value`, in words that hold none of its text; '' when it fits.

    Understood: `type` (one or several), `enum`, `const`, `anyOf`, `properties`, `required`, `additionalProperties:
    false`
    (further keys are let pass: they are ignored anyway), `items`.
    """
    if "anyOf" in schema:
        found = [problem(value, one, where) for one in schema["anyOf"]]
        return "" if "" in found else found[0]
    wanted = schema.get("type")
    names = [wanted] if isinstance(wanted, str) else list(wanted or ())
    if names and not any(_is(value, name) for name in names):
        return f"{where} is no {' or '.join(names)}"
    if "const" in schema and value != schema["const"]:
        return f"{where} has another value than the one allowed"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is none of the allowed values"
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                return f"{where} has no {name}"
        for name, inner in schema.get("properties", {}).items():
            if name in value and (wrong := problem(value[name], inner, f"{where}.{name}")):
                return wrong
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        for one in value:
            if wrong := problem(one, schema["items"], f"an item of {where}"):
                return wrong
    return ""


def _is(value: object, name: str) -> bool:
    if isinstance(value, bool) and name in ("integer", "number"):
        return False
    return isinstance(value, _TYPES.get(name, object))
