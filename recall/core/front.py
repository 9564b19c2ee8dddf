"""Front matter: `key: value` lines between two lines `---`, read tolerantly, written so that it is read back.

A small part of YAML, as people and models really write it: flow lists `[a, b]`, block lists (`- a`), quotes or none, colons
and `#12` inside values, folded texts (`>`, `|`, indented lines), comments on lines of their own. A value is never lost
because it is not what YAML would accept.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

_KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)[ \t]*:(?:[ \t]+(.*)|$)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\']|\'\')*)\'')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_FOLDED = frozenset((">", "|", ">-", "|-", ">+", "|+"))
_NULL = frozenset(("null", "~"))
_OPEN = {"[": 1, "(": 1, "{": 1, "]": -1, ")": -1, "}": -1}

Value = str | list[str]


class Page(NamedTuple):
    """A text in two parts: `fields` by key, in order, each value as it was written, on one line with single blanks, or the
    items of a block list; `body` is what follows. `fields` is None when there is no front matter."""

    fields: dict[str, Value] | None
    body: str


def read(text: str, known: Collection[str]) -> Page:
    """Split a text whose line ends are `\\n`. `known` keys are recognised in any spelling: `Written-By`, `status:done`."""
    if not text.startswith("---"):
        text = text.lstrip()
        if not text.startswith("---"):
            return Page(None, text)
    first, _, rest = text.partition("\n")
    if first.rstrip() != "---":
        return Page(None, text)
    head, body = _divide(rest)
    fields: dict[str, Value] = {}
    key, folded = "", False
    stray: list[str] = []
    for line in head.split("\n"):
        name, colon, value = line.partition(":")
        if colon and name in known:
            key, value = name, " ".join(value.split())
            folded = value in _FOLDED
            fields[key] = "" if folded else value
            continue
        bare = " ".join(line.split())
        if not bare or (bare[0] == "#" and not (folded and line[0] in " \t")):
            continue
        match = None if line[0] in " \t-" else _key(line, known)
        if match:
            key, value = match
            folded = value in _FOLDED
            fields[key] = "" if folded else value
        elif not key:
            stray.append(bare)
        elif (
            not folded and (bare == "-" or bare.startswith("- ")) and (not fields[key] or isinstance(fields[key], list))
        ):
            fields[key] = [*fields[key], bare[1:].strip()]
        else:
            before = fields[key]
            if isinstance(before, list):
                before[-1] = f"{before[-1]} {bare}".strip()
            else:
                fields[key] = f"{before} {bare}".strip()
    return Page(fields, "\n".join([*stray, body]) if stray else body)


def _divide(rest: str) -> tuple[str, str]:
    """Front matter and what follows; where the closing line is missing, the first blank line ends it."""
    if rest.startswith("---"):
        rest = "\n" + rest
    at = rest.find("\n---")
    while at >= 0:
        end = rest.find("\n", at + 1)
        if end < 0:
            end = len(rest)
        if not rest[at + 4 : end].strip():
            return rest[:at], rest[end + 1 :]
        at = rest.find("\n---", at + 1)
    head, _, body = rest.partition("\n\n")
    return head, body


def _key(line: str, known: Collection[str]) -> tuple[str, str] | None:
    match = _KEY.match(line)
    if match:
        name = match[1]
        same = name.lower().replace("-", "_")
        return same if same in known else name, " ".join((match[2] or "").split())
    name, colon, value = line.partition(":")
    same = name.strip().lower().replace("-", "_")
    return (same, " ".join(value.split())) if colon and same in known else None


def scalar(value: Value) -> str:
    """The text that a value stands for; the items of a list one after the other."""
    if isinstance(value, list):
        return "; ".join(filter(None, map(scalar, value)))
    if value[:1] in ('"', "'"):
        match = _QUOTED.match(value)
        if match:
            rest = value[match.end() :].lstrip()
            if not rest or rest[0] == "#":
                return _unquoted(match)
    return "" if value in _NULL else value


def _unquoted(match: re.Match[str]) -> str:
    inner = match[1]
    if inner is None:
        return str(match[2]).replace("''", "'").strip()
    return " ".join(_ESCAPE.sub(_character, inner).split()) if "\\" in inner else str(inner).strip()


def _character(match: re.Match[str]) -> str:
    if match[1]:
        code = int(match[1], 16)
        return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)
    return " " if match[2] in "nrt" else match[2] if match[2] in '"\\/' else match[0]


def bare(value: Value) -> str:
    """As `scalar`, without a comment behind it: for values that cannot hold a `#`."""
    text = scalar(value)
    return text.partition(" #")[0].rstrip() if " #" in text else text


def items(value: Value) -> list[str]:
    """The items of a list, however it is written; empty ones are left out."""
    if isinstance(value, list):
        return [text for item in value if (text := scalar(item))]
    if value in _NULL:
        return []
    if value[:1] == "[":
        end = value.rfind("]")
        tail = value[end + 1 :].strip()
        value = value[1:end] if end > 0 and (not tail or tail[0] == "#") else value[1:]
        return _split(value)
    if value[:1] in ('"', "'"):
        return _split(value)
    return [text for item in value.split(", " if ", " in value else ",") if (text := item.strip())]


def _split(text: str) -> list[str]:
    """The items of a flow list without its brackets."""
    if not ("[" in text or "(" in text or '"' in text or "'" in text or "{" in text):
        return [item for part in text.split(",") if (item := part.strip())]
    out: list[str] = []
    at, size = 0, len(text)
    while at < size:
        while at < size and text[at] in " \t,":
            at += 1
        match = _QUOTED.match(text, at)
        if match:
            end = match.end()
            while end < size and text[end] in " \t":
                end += 1
            if end == size or text[end] == ",":
                out.append(_unquoted(match))
                at = end
                continue
        end = _end(text, at)
        out.append(text[at:end].strip())
        at = end
    return [item for item in out if item]


def _end(text: str, at: int) -> int:
    """Where an unquoted item ends: at a comma that is in no brackets, at the next comma where they are never closed."""
    depth = 0
    for n in range(at, len(text)):
        char = text[n]
        if char == "," and depth <= 0:
            return n
        depth += _OPEN.get(char, 0)
    if depth <= 0:
        return len(text)
    comma = text.find(",", at)
    return comma if comma >= 0 else len(text)


def written(text: str) -> str:
    """A text of one line as a value: quoted only where it would be read otherwise."""
    if text[:1] in ('"', "'") or text in _NULL or text in _FOLDED:
        return _quote(text)
    return text


def written_list(texts: Iterable[str]) -> str:
    """Texts of one line as a flow list."""
    return f"[{', '.join(_quote(text) if _is_risky(text) else text for text in texts)}]"


def _is_risky(text: str) -> bool:
    if "," in text or text[:1] in ('"', "'"):
        return True
    depth = 0
    for char in text:
        depth += _OPEN.get(char, 0)
        if depth < 0:
            return True
    return depth != 0


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
