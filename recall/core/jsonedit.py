"""Edits of JSON text that leave every other byte as it is: indentation, line ends, key order, duplicate keys.

The text is read strictly (RFC 8259: no comments, no trailing commas, no NaN), for what it belongs to reads it so. Of keys that
stand twice the last one counts, as it does for the programs that read it. Each edit has an inverse that gives
back the same text; a place is a path of keys and positions from the root.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

Path = tuple[str | int, ...]

DEEPEST = 100
"""Levels; what is deeper is no settings file."""


class NotJson(ValueError):
    """The text is no JSON: `line` and `column` (from 1) of where it stops being so, and `why` in a few words."""

    def __init__(self, text: str, at: int, why: str) -> None:
        self.line = text.count("\n", 0, at) + 1
        self.column = at - text.rfind("\n", 0, at)
        self.why = why
        super().__init__(f"line {self.line}, column {self.column}: {why}")


class Node(NamedTuple):
    """A value in the text: `[start, end)`; `parts` are its items, or its members with their `keys` and the offsets
    `heads` at which each part begins (a member begins with its key)."""

    start: int
    end: int
    kind: str  # object, array, string, number, word
    parts: tuple[Node, ...] = ()
    keys: tuple[str, ...] = ()
    heads: tuple[int, ...] = ()

    def value(self, text: str) -> Any:
        return json.loads(text[self.start : self.end])


class Gone(NamedTuple):
    """What a removal took: `raw` text of the value, its `place` in the container."""

    raw: str
    place: int


_BLANK = re.compile(r"[ \t\n\r]*+")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_WORD = re.compile(r"(?:true|false|null)(?![A-Za-z0-9_])")
_INDENT = re.compile(r"\n([ \t]*)")


def scan(text: str) -> Node:
    """The tree of a whole text (a BOM before it is passed over); raises NotJson."""
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    if start == len(text):
        raise NotJson(text, start, "the file is empty")
    node = _value(text, start, 0)
    end = _skip(text, node.end)
    if end != len(text):
        raise NotJson(text, end, _odd(text, end, "something follows the end"))
    return node


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    assert found is not None
    return found.end()


def _value(text: str, at: int, depth: int) -> Node:
    if depth > DEEPEST:
        raise NotJson(text, at, f"nested deeper than {DEEPEST} levels")
    sign = text[at : at + 1]
    if sign == "{" or sign == "[":
        return _container(text, at, depth, sign == "{")
    for kind, form in (("string", _STRING), ("number", _NUMBER), ("word", _WORD)):
        found = form.match(text, at)
        if found:
            return Node(at, found.end(), kind)
    raise NotJson(text, at, _odd(text, at, "no JSON value"))


def _container(text: str, start: int, depth: int, keyed: bool) -> Node:
    close = "}" if keyed else "]"
    parts: list[Node] = []
    keys: list[str] = []
    heads: list[int] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != close:
        heads.append(at)
        if keyed:
            found = _STRING.match(text, at)
            if not found:
                raise NotJson(text, at, _odd(text, at, "a key in quotes is missing"))
            keys.append(json.loads(found.group()))
            at = _skip(text, found.end())
            if text[at : at + 1] != ":":
                raise NotJson(text, at, _odd(text, at, "a colon is missing"))
            at = _skip(text, at + 1)
        part = _value(text, at, depth + 1)
        parts.append(part)
        at = _skip(text, part.end)
        sign = text[at : at + 1]
        if sign == ",":
            comma, at = at, _skip(text, at + 1)
            if text[at : at + 1] == close:
                raise NotJson(text, comma, "a comma before the closing bracket")
        elif sign != close:
            raise NotJson(text, at, _odd(text, at, "a comma or a closing bracket is missing"))
    return Node(start, at + 1, "object" if keyed else "array", tuple(parts), tuple(keys), tuple(heads))


def _odd(text: str, at: int, why: str) -> str:
    if at >= len(text):
        return "the text ends too early"
    return "a comment" if text[at] in "/#" else why


def at(text: str, path: Path, root: Node | None = None) -> Node | None:
    """The value at a place; None where there is none."""
    node = root or scan(text)
    for step in path:
        if isinstance(step, str):
            if node.kind != "object" or step not in node.keys:
                return None
            node = node.parts[len(node.keys) - 1 - node.keys[::-1].index(step)]
        else:
            if node.kind != "array" or not 0 <= step < len(node.parts):
                return None
            node = node.parts[step]
    return node


def replace(text: str, path: Path, raw: str) -> str:
    """The text with the value at an existing place written as `raw`."""
    node = _there(text, path)
    return text[: node.start] + raw + text[node.end :]


def add(text: str, path: Path, value: Any, key: str | None = None) -> tuple[str, str]:
    """The text with one more member (`key`) or item at the end of the container at `path`, written as its neighbours are.

    Also what stood between the brackets where there was nothing: `drop` needs it to give back the same text.
    """
    node = _there(text, path)
    index = len(node.parts)
    if index:
        return _after(text, node, index - 1, value, key, None), ""
    gap = text[node.start + 1 : node.end - 1]
    newline = newline_of(text)
    root = scan(text)
    if root.parts and "\n" not in text[root.start : root.end]:
        return _splice(text, node.start + 1, node.end - 1, _member(text, key, _dump(text, value, None))), gap
    outer = _line_indent(text, node.start)
    inner = outer + unit_of(text)
    body = newline + inner + _member(text, key, _dump(text, value, inner)) + newline + outer
    return _splice(text, node.start + 1, node.end - 1, body), gap


def put(text: str, path: Path, gone: Gone, key: str | None = None) -> str:
    """The text with what a removal took, back at its place (or at the end of what is left)."""
    node = _there(text, path)
    if not node.parts:
        return add(text, path, _Raw(gone.raw), key)[0]
    if gone.place >= len(node.parts):
        return _after(text, node, len(node.parts) - 1, None, key, gone.raw)
    head = node.heads[gone.place]
    blank = text[node.start + 1 : node.heads[0]] if gone.place == 0 else _blank_before(text, node, gone.place)
    return _splice(text, head, head, _member(text, key, gone.raw) + "," + (blank or _pad(text)))


def drop(text: str, path: Path, gap: str = "") -> tuple[str, Gone]:
    """The text without the item or member at `path`; where it was the only one, `gap` is left between the brackets."""
    node = _there(text, path[:-1])
    step = path[-1]
    index = step if isinstance(step, int) else len(node.keys) - 1 - node.keys[::-1].index(step)
    part = node.parts[index]
    gone = Gone(text[part.start : part.end], index)
    if len(node.parts) == 1:
        return _splice(text, node.start + 1, node.end - 1, gap), gone
    if index:
        return _splice(text, node.parts[index - 1].end, part.end, ""), gone
    return _splice(text, node.heads[0], node.heads[1], ""), gone


def newline_of(text: str) -> str:
    """How lines of the text end: as the first one does."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def unit_of(text: str) -> str:
    """By how much a level is indented: as the first member of the root is; two blanks where that says nothing."""
    root = scan(text)
    if root.heads and "\n" in text[root.start : root.heads[0]]:
        return text[root.start : root.heads[0]].rpartition("\n")[2]
    return "  "


class _Raw(NamedTuple):
    """A value that is text already."""

    text: str


def _there(text: str, path: Path) -> Node:
    node = at(text, path)
    if node is None:
        raise KeyError(path)
    return node


def _splice(text: str, start: int, end: int, middle: str) -> str:
    return text[:start] + middle + text[end:]


def _after(text: str, node: Node, index: int, value: Any, key: str | None, raw: str | None) -> str:
    """Behind the part `index`, with the blanks that stand before that part."""
    blank = _blank_before(text, node, index)
    if raw is None:
        raw = _dump(text, value, blank.rpartition("\n")[2] if "\n" in blank else None)
    end = node.parts[index].end
    return _splice(text, end, end, "," + blank + _member(text, key, raw))


def _blank_before(text: str, node: Node, index: int) -> str:
    if index:
        comma = text.index(",", node.parts[index - 1].end)
        return text[comma + 1 : node.heads[index]]
    blank = text[node.start + 1 : node.heads[0]]
    return blank if "\n" in blank else _pad(text)


def _pad(text: str) -> str:
    """What stands behind a comma in one line: nothing where colons have no blank either."""
    return "" if _colon(text) == ":" else " "


def _colon(text: str) -> str:
    root = scan(text)
    if root.kind != "object" or not root.parts:
        return ": "
    between = text[root.heads[0] : root.parts[0].start]
    return ":" if between.endswith(":") else ": "


def _member(text: str, key: str | None, raw: str) -> str:
    return raw if key is None else json.dumps(key, ensure_ascii=False) + _colon(text) + raw


def _dump(text: str, value: Any, indent: str | None) -> str:
    """The value as text: over several lines, the first at `indent`, or in one line."""
    if isinstance(value, _Raw):
        return value.text
    colon = _colon(text)
    if indent is None:
        return json.dumps(value, ensure_ascii=False, separators=("," + _pad(text), colon))
    whole = json.dumps(value, ensure_ascii=False, indent=unit_of(text), separators=(",", colon))
    return whole.replace("\n", newline_of(text) + indent)


def _line_indent(text: str, at: int) -> str:
    """The blanks that the line of an offset begins with."""
    start = text.rfind("\n", 0, at) + 1
    end = start
    while end < len(text) and text[end] in " \t":
        end += 1
    return text[start:end]
