"""What an agent can ask: the tools, their arguments, and a call's arguments as they were meant.

Descriptions are read by a model in every session that has the server: they are short, and say what to do next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from recall.core.model import ZONE_NAMES
from recall.errors import Usage

LEAST, MOST = 200, 100_000
"""Bytes that an answer may be limited to."""


class Arg(NamedTuple):
    """One argument. `kind` is 'text', 'texts' (a list), 'number' or 'flag'; a number is in [least, most]; `default` None of
    a `needed` one: it must be given."""

    name: str
    kind: str
    help: str
    default: Any = None
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 0
    needed: bool = False


class Tool(NamedTuple):
    """One tool: its name, its title, what the model is told of it, and its arguments."""

    name: str
    title: str
    help: str
    args: tuple[Arg, ...]


_ID = Arg("id", "text", "A session's id, a unique beginning of it, or 'last'.", needed=True)
_FILTERS = (
    Arg("project", "texts", "Only of these projects (a part of the name is enough).", ()),
    Arg("client", "text", "Only of this client.", "", ("claude", "codex")),
    Arg("branch", "texts", "Only on these git branches.", ()),
    Arg("since", "text", "Only since: 2026-06-11, 3d, 2w, yesterday.", ""),
    Arg("before", "text", "Only before that.", ""),
    Arg("all", "flag", "Headless sessions too.", False),
)


def _budget(size: int) -> Arg:
    return Arg("budget", "number", "Bytes of the answer at most.", size, (), LEAST, MOST)


TOOLS = (
    Tool(
        "find",
        "Find past sessions",
        "Find past Claude Code and Codex sessions by what was done in them; any language, any form of the words. Several "
        "stems do better than a sentence. One line a session, best first: id, last active, project, [status], task. "
        "No words: the newest. Go on with show(id).",
        (
            Arg("query", "text", 'Words; also "a phrase", -without, project:crm, tag:x, since:7d.', ""),
            Arg("limit", "number", "Sessions at most.", 10, (), 1, 200),
            Arg("snippets", "flag", "The best matching words of each as well.", False),
            *_FILTERS,
            Arg("status", "texts", "Only with this status: done, in_progress, aborted, new.", ()),
            Arg("tag", "texts", "Only with this tag.", ()),
            Arg("file", "texts", "Only sessions that touched this path (any tail part).", ()),
            _budget(3000),
        ),
    ),
    Tool(
        "show",
        "Show one session",
        "What a session was: task, method, artifacts, first and last words, files, how to resume it. With tail, around or "
        "transcript: its conversation instead.",
        (
            _ID,
            Arg("tail", "number", "The last messages, so many.", 0, (), 1, 1000),
            Arg("around", "text", "The messages round the first one with this text.", ""),
            Arg("transcript", "flag", "The conversation from its beginning.", False),
            Arg("tools", "flag", "In the conversation also reasoning, and what tools printed.", False),
            _budget(6000),
        ),
    ),
    Tool(
        "grep",
        "Search messages by exact text",
        "Single messages and tool output by exact text (upper and lower case are the same), newest session first. One line "
        "a hit: id, date, project, role, words around it. Go on with show(id, around=TEXT).",
        (
            Arg("patterns", "texts", "Texts; any of them is a hit.", needed=True),
            Arg("regex", "flag", "They are regular expressions (Python's).", False),
            Arg("limit", "number", "Hits at most.", 20, (), 1, 1000),
            Arg("context", "number", "Messages around each hit.", 0, (), 0, 20),
            Arg("role", "texts", "Only what this role said.", (), ZONE_NAMES),
            *_FILTERS,
            _budget(4000),
        ),
    ),
    Tool(
        "handoff",
        "Where a session stood",
        "Where a session stood: task now, done, in flight, next steps, gotchas. Check it before acting on it.",
        (
            _ID,
            Arg("for", "text", "As a brief for this client.", "", ("claude", "codex")),
            _budget(6000),
        ),
    ),
)


def schema(tool: Tool) -> dict[str, Any]:
    """The tool's arguments as JSON Schema."""
    out: dict[str, Any] = {
        "type": "object",
        "properties": {arg.name: _property(arg) for arg in tool.args},
        "additionalProperties": False,
    }
    needed = [arg.name for arg in tool.args if arg.needed]
    return {**out, "required": needed} if needed else out


def _property(arg: Arg) -> dict[str, Any]:
    choice: dict[str, Any] = {"enum": list(arg.choices)} if arg.choices else {}
    if arg.kind == "texts":
        return {"type": "array", "items": {"type": "string", **choice}, "description": arg.help}
    if arg.kind == "number":
        limits: dict[str, Any] = {"minimum": arg.least, "maximum": arg.most}
        return {
            "type": "integer",
            **limits,
            **({"default": arg.default} if arg.default else {}),
            "description": arg.help,
        }
    if arg.kind == "flag":
        return {"type": "boolean", "default": False, "description": arg.help}
    return {"type": "string", **choice, "description": arg.help}


def meant(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """A call's arguments, all of them. A number or a yes that came as text is taken, as is one text for a list.

    Raises Usage for what is unknown, missing or no such value.
    """
    known = {arg.name: arg for arg in tool.args}
    for name in given:
        if name not in known:
            raise Usage(f"{tool.name} takes no argument {name!r}", f"it takes: {', '.join(known)}")
    out = {}
    for arg in tool.args:
        value = given.get(arg.name)
        if value is None or (value in ("", []) and arg.kind != "flag"):
            if arg.needed:
                raise Usage(f"{tool.name} needs {arg.name!r}", f"{arg.name}: {arg.help}")
            out[arg.name] = arg.default
        else:
            out[arg.name] = _value(arg, value)
    return out


def _value(arg: Arg, value: Any) -> Any:
    if arg.kind == "texts":
        values = value if isinstance(value, list) else [value]
        return tuple(_text(arg, one) for one in values)
    if arg.kind == "number":
        number = _number(value)
        if number is None or not arg.least <= number <= arg.most:
            raise Usage(f"{arg.name} is no number from {arg.least} to {arg.most}: {value!r}", arg.help)
        return number
    if arg.kind == "flag":
        if value in (True, "true", "True", 1):
            return True
        if value in (False, "false", "False", "", 0):
            return False
        raise Usage(f"{arg.name} is true or false, not {value!r}", arg.help)
    return _text(arg, value)


def _number(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value // 1:
        return None
    return int(value)


def _text(arg: Arg, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Usage(f"{arg.name} is a text, not {value!r}", arg.help)
    if arg.choices and value not in arg.choices:
        raise Usage(f"{arg.name} cannot be {value!r}", f"one of {', '.join(arg.choices)}")
    return value
