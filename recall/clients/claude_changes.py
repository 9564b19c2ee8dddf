"""Which files a Claude Code session changed, and to what: from the inputs of its tools and what the client says came of them.

Tools and fields as observed in transcripts of 2025 and 2026: `Write` {file_path, content}, `Edit` {file_path, old_string,
new_string, replace_all}, `MultiEdit` {file_path, edits}, `NotebookEdit` {notebook_path}, `Read` {file_path, offset, limit}; the
record of a result may have `toolUseResult` with `originalFile`, what stood there before.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from recall.clients.jsonl import Object, mapping, objects, string
from recall.clients.stamp import seconds
from recall.core.change import EDIT, OTHER, SEEN, WRITE, Change
from recall.core.model import Line

_HINTS = (b'"tool_use"', b'"tool_result"')
_NUMBERED = re.compile(r"\s*(\d+)(?:\t|→)(.*)", re.S)
_TOOLS = frozenset(("write", "edit", "multiedit", "notebookedit", "read"))


def changes(lines: Iterable[Line]) -> Iterator[Change]:
    """The changes that were made, in order, and what was read whole. A call without its result was not made."""
    waiting: dict[str, tuple[str, Object, int, str]] = {}
    seen: set[str] = set()
    for line in lines:
        if not any(hint in line.raw for hint in _HINTS):
            continue
        for record in objects(line.raw)[0]:
            content = mapping(record.get("message")).get("content")
            blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
            results = [block for block in blocks if block.get("type") == "tool_result"]
            for block in blocks:
                name, call = string(block.get("name")), string(block.get("id"))
                if block.get("type") == "tool_use" and name.lower() in _TOOLS and call not in seen:
                    seen.add(call)  # a fork or a second writer repeats records
                    waiting[call] = (name.lower(), mapping(block.get("input")), line.at, string(record.get("cwd")))
            for block in results:
                call_of = waiting.pop(string(block.get("tool_use_id")), None)
                told = record.get("toolUseResult") if len(results) == 1 else None
                if call_of is None or block.get("is_error") is True or _failed(told):
                    continue
                change = _change(*call_of, mapping(told), block.get("content"), seconds(record.get("timestamp")))
                if change is not None:
                    yield change


def _failed(told: object) -> bool:
    return isinstance(told, str) and told.startswith("Error")


def _change(name: str, given: Object, at: int, cwd: str, told: Object, printed: object, time: float) -> Change | None:
    path = string(given.get("file_path")) or string(given.get("notebook_path"))
    if not path:
        return None
    path = posixpath.normpath(posixpath.join(cwd, path)) if "\\" not in path else path
    base = told.get("originalFile", told.get("originalFileContents"))
    base = base if isinstance(base, str) else None
    if name == "write":
        return Change(path, WRITE, at, time, text=string(given.get("content")))
    if name == "notebookedit":
        return Change(path, OTHER, at, time)
    if name == "read":
        text = None if given.get("offset") or given.get("limit") else _read(told, printed)
        return Change(path, SEEN, at, time, text=text) if text is not None else None
    edits = given.get("edits") if name == "multiedit" else [given]
    done = []
    for edit in edits if isinstance(edits, list) else []:
        if isinstance(edit, dict):
            old, new = string(edit.get("old_string")), string(edit.get("new_string"))
            done.append((old, new, edit.get("replace_all") is True))
    if name == "edit" and isinstance(told.get("oldString"), str) and isinstance(told.get("newString"), str):
        done = [
            (told["oldString"], told["newString"], told.get("replaceAll") is True)
        ]  # as it was found, and as the person let it pass
    return Change(path, EDIT, at, time, edits=tuple(done), base=base)


def _read(told: Object, printed: object) -> str | None:
    """All of a file that was read whole; None where it was read in part or is no text."""
    file = mapping(told.get("file"))
    if isinstance(file.get("content"), str):
        whole = file.get("startLine") == 1 and file.get("numLines") == file.get("totalLines")
        return file["content"] if whole else None
    if isinstance(printed, list):
        printed = "".join(string(block.get("text")) for block in printed if isinstance(block, dict))
    if not isinstance(printed, str):
        return None
    printed = printed.partition("\n\n<system-reminder>")[0].partition("\n<system-reminder>")[0]
    out = []
    for number, line in enumerate(printed.split("\n"), start=1):
        found = _NUMBERED.fullmatch(line)
        if not found or int(found[1]) != number:
            return None
        out.append(found[2])
    return "\n".join(out) if len(out) < 2000 else None  # at 2,000 lines the client stops by itself
