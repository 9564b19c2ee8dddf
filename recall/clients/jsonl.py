"""What a line of a transcript holds: its JSON objects, however damaged the line is.

A client that crashed, two that wrote at once, a disk that lost power, a text tool that touched the file: each
leaves its own kind of line. All give the objects that can still be read and a word for what could not be.
"""

from __future__ import annotations

import json
from typing import Any

from orjson import loads

from recall.core.lazy import lazy

Object = dict[str, Any]

__all__ = ["GLUED", "Object", "exact", "loads", "mapping", "objects", "string", "value"]

GLUED = lazy(rb'\}\{"')
"""Where one object ends and the next begins on the same line; a brace and a quote inside a string are never so."""

_ESCAPE = lazy(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)")
_START = lazy(r'\{"[A-Za-z_]+":')
_DECODER = json.JSONDecoder(strict=False)
_TRIES = 20  # places where a second record may begin behind a torn one


def objects(raw: bytes) -> tuple[list[Object], str]:
    """The objects of one line (without its line end) and why something of it was left out ('' if nothing was).

    Never raises. Bytes that are not UTF-8 and lone surrogates become U+FFFD, NUL bytes and a byte order mark go.
    """
    try:
        found = loads(raw)
    except ValueError:
        return _mend(raw)
    return ([found], "") if found and isinstance(found, dict) else ([], "not an object")


def value(text: str) -> Any:
    """The JSON value in `text`, None where there is none."""
    try:
        return loads(text)
    except ValueError:
        pass
    try:
        return json.loads(_without_lone_surrogates(text), strict=False)
    except (ValueError, RecursionError):
        return None


def exact(raw: bytes) -> Object | None:
    """The object of a whole line that will be written again, numbers of any size as they are; None where there is none."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _mend(raw: bytes) -> tuple[list[Object], str]:
    text = raw.decode("utf-8", "replace").replace("\0", "").strip(" \t\r\n\ufeff")
    if not text:
        return [], "NUL bytes" if b"\0" in raw else ""
    text = _without_lone_surrogates(text)
    found: list[Object] = []
    why = ""
    at = 0
    while at < len(text):
        try:
            item, end = _DECODER.raw_decode(text, at)
        except RecursionError:
            return found, "nested too deep"
        except ValueError:
            why = "not JSON"
            tail = _record_at_the_end(text, at + 1)
            if tail is not None:
                found.append(tail)
            break
        if isinstance(item, dict) and item:
            found.append(item)
        else:
            why = "not an object"
        at = end
        while at < len(text) and text[at] in " \t\r\n\ufeff":
            at += 1
    return found, why


def _record_at_the_end(text: str, start: int) -> Object | None:
    """The whole record that follows a torn one on the same line: it reaches to the end of the line."""
    if not text.endswith("}"):
        return None
    for number, match in enumerate(_START.finditer(text, start)):
        if number == _TRIES:
            break
        try:
            item, end = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if end == len(text) and isinstance(item, dict) and "type" in item:
            return item
    return None


def _without_lone_surrogates(text: str) -> str:
    if "\\u" not in text:
        return text
    return _ESCAPE.sub(lambda match: "\\ufffd" if match[1] else match[0], text)


def mapping(value: object) -> Object:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def string(value: object) -> str:
    """`value` if it is text, else ''."""
    return value if isinstance(value, str) else ""
