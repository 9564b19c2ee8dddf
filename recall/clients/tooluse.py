"""What a tool call did, in words: the short arguments for searching, the long bodies apart.

Both clients name their tools and arguments differently, and servers add their own; so the rule is about shape: a
short text is an argument, a long one or one under a name that stands for contents is a body.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from recall.core.lazy import lazy

SHORT = 500
HEAD = 4000
TAIL = 2000

_BODIES = frozenset(
    """
    content contents new_string old_string new_str old_str file_text insert_text new_source old_source prompt plan
    message instruction instructions text code patch diff input edits todos questions thoughts chars items
    """.split()  # noqa: SIM905 - a list of words
)
_NOISE = frozenset(
    """
    output_mode type status task_id taskId bash_id shell_id session_id workdir timeout justification activeForm
    login shell priority id
    """.split()  # noqa: SIM905 - a list of words
)
_EDITS = frozenset(
    """
    edit write multiedit notebookedit apply_patch applypatch write_file replace edit_file create_file str_replace
    str_replace_editor str_replace_based_edit_tool insert
    """.split()  # noqa: SIM905 - a list of words
)
_DESCRIBED = frozenset(("command", "cmd", "subject"))  # beside these, a description is a line of its own
_LISTS = frozenset(("todos", "plan"))  # points with a status each
_MARKS = {"completed": "x", "done": "x", "in_progress": "~", "cancelled": "-", "deleted": "-"}
_PATCH = "*** Begin Patch"
_PATCHED = lazy(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): ([^\n]{1,1024})", re.M)
_SEARCH = lazy(r"\brecall\s+(?:find|search|grep|show)\b")
_OWN_SKILL = "session-orchestrator"
_SHELLS = ("sh", "bash", "zsh", "dash", "fish", "pwsh", "powershell")


class Use(NamedTuple):
    """One tool call. `action`: name and short arguments; `body`: long texts, cut; the rest are counts to be."""

    action: str
    body: str
    edit: bool
    search: bool


def describe(name: str, arguments: object, bodies: bool, *, whole: bool = False) -> Use:
    """Tell what the call of tool `name` did. `arguments`: an object, or plain text; `bodies`: is the body wanted?
    `whole`: uncut."""
    short: list[str] = [name]
    long: list[str] = []
    note = ""
    if isinstance(arguments, dict):
        described = not _DESCRIBED.isdisjoint(arguments)
        for key, value in arguments.items():
            if isinstance(value, str):
                if key in _BODIES:
                    _body(value, short, long)
                elif described and key == "description" and len(value) <= SHORT:
                    note = value
                elif key not in _NOISE:
                    _argument(value, short, long)
            elif isinstance(value, list) and key == "command":
                _argument(_command_line(value), short, long)
            elif bodies and key in _LISTS and isinstance(value, list):
                long.extend(_points(value))
            elif isinstance(value, (list, dict)) and key not in _NOISE and bodies:
                long.extend(_texts(value))
        if bodies and "taskId" in arguments and isinstance(arguments.get("status"), str):
            long.append(f"#{arguments['taskId']} {arguments['status']}")
    elif isinstance(arguments, str):
        _argument(arguments, short, long)
    action = " ".join(short)
    if note:
        action += f"\n{note}"
    edit = name.lower() in _EDITS or (len(short) > 1 and "apply_patch" in action)
    search = False
    if "recall" in action:
        search = _SEARCH.search(action) is not None or name.startswith("mcp__recall__")
    elif _OWN_SKILL in action:
        search = name in ("Skill", "SlashCommand")
    body = "\n".join(long) if bodies else ""
    return Use(action, body if whole else cut(body), edit, search)


def cut(text: str) -> str:
    """The head and the tail of a long text."""
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n…\n{text[-TAIL:]}"


def _argument(value: str, short: list[str], long: list[str]) -> None:
    patch = value.find(_PATCH, 0, SHORT)
    if patch >= 0:
        if patch:
            short.append(value[:patch].rstrip())
        _body(value, short, long)
        return
    if len(value) <= SHORT:
        short.append(value)
        return
    short.append(value[:SHORT])
    _body(value, short, long)


def _body(value: str, short: list[str], long: list[str]) -> None:
    if value.find(_PATCH, 0, SHORT) >= 0:
        short.extend(dict.fromkeys(_PATCHED.findall(value)))
    if value:
        long.append(value)


def _command_line(words: list[object]) -> str:
    texts = [word for word in words if isinstance(word, str)]
    program = texts[0].replace("\\", "/").rpartition("/")[2].removesuffix(".exe") if texts else ""
    if len(texts) >= 3 and program in _SHELLS and texts[-2].lower() in ("-c", "-lc", "-command"):
        return texts[-1]
    return " ".join(texts)


def _points(value: list[object]) -> list[str]:
    """A to-do list or a plan, a point a line: `[x] done`, `[~] begun`, `[ ] open`."""
    found: list[str] = []
    for point in value[:400]:
        status = point.get("status") if isinstance(point, dict) else None
        if isinstance(point, dict) and isinstance(status, str):
            words = " ".join(_texts(point))
            if words:
                found.append(f"[{_MARKS.get(status, ' ')}] {words}")
        else:
            found += _texts(point)
    return found


def _texts(value: object) -> list[str]:
    """All texts inside nested lists and objects, in order, a bounded number of them."""
    found: list[str] = []
    waiting: list[object] = [value]
    while waiting and len(found) < 400:
        item = waiting.pop()
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, list):
            waiting.extend(reversed(item[:400]))
        elif isinstance(item, dict):
            waiting.extend(reversed([each for key, each in item.items() if key not in _NOISE][:400]))
    return found
