"""Which files a Codex session changed, and to what: from its patches and what the client says came of them.

A patch is the input of the tool `apply_patch` (`custom_tool_call`, or `function_call` of older versions), or of a shell that
calls a program of that name. Where the call is not in the rollout, `patch_apply_end` and the item `FileChange` hold its changes.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from recall.clients.jsonl import Object, mapping, objects, string, value
from recall.clients.stamp import seconds
from recall.core.change import DELETE, MOVE, PATCH, WRITE, Change
from recall.core.model import Line
from recall.core.patch import BEGIN, hunks, sections

_HINTS = (
    BEGIN.encode(),
    b"_call_output",
    b"patch_apply_end",
    b"FileChange",
    b'"session_meta"',
    b'"turn_context"',
    b'"cwd"',
)
_FAILED = ("error", "failed", "verification failed", "invalid patch")


def changes(lines: Iterable[Line]) -> Iterator[Change]:
    """The changes that were made, in order. A call whose result is missing or a failure was not made."""
    waiting: dict[str, tuple[str, str, int]] = {}
    known: set[str] = set()
    cwd = ""
    for line in lines:
        if not any(hint in line.raw for hint in _HINTS):
            continue
        for record in objects(line.raw)[0]:
            payload = mapping(record.get("payload")) or record
            kind = string(payload.get("type")) or string(record.get("type"))
            time = seconds(record.get("timestamp"))
            if record.get("type") in ("session_meta", "turn_context") and isinstance(payload.get("cwd"), str):
                cwd = payload["cwd"]
            call = string(payload.get("call_id"))
            if kind in ("custom_tool_call", "function_call", "local_shell_call"):
                patch, folder = _patch(payload)
                if patch:
                    waiting[call] = (patch, posixpath.join(cwd, folder), line.at)
                    known.add(call)
            elif kind in ("custom_tool_call_output", "function_call_output"):
                made = waiting.pop(call, None)
                if made and _worked(payload.get("output")):
                    yield from _made(*made, time)
            elif kind == "patch_apply_end" and call not in known and payload.get("success") is not False:
                yield from _told(mapping(payload.get("changes")), cwd, line.at, time)
            elif kind == "item_completed":
                item = mapping(payload.get("item"))
                done = item.get("type") == "FileChange" and item.get("status", "completed") in ("completed", "success")
                if done and string(item.get("id")) not in known:
                    yield from _told(mapping(item.get("changes")), cwd, line.at, time)


def _patch(payload: Object) -> tuple[str, str]:
    """The patch in a call, and the folder that it is told to work in; '' where it is no such call."""
    given = payload.get("input", payload.get("arguments"))
    if isinstance(given, str) and BEGIN not in given:
        return "", ""
    fields = value(given) if isinstance(given, str) and given.lstrip().startswith("{") else given
    if isinstance(fields, str):
        return (fields, "") if BEGIN in fields else ("", "")
    fields = mapping(fields)
    folder = string(fields.get("workdir")) or string(fields.get("cwd"))
    for name in ("input", "patch", "cmd", "command"):
        text = fields.get(name)
        words = text if isinstance(text, list) else [text]
        found = next((word for word in words if isinstance(word, str) and BEGIN in word), "")
        if found and (name in ("input", "patch") or "apply_patch" in " ".join(w for w in words if isinstance(w, str))):
            return found, folder
    return "", ""


def _worked(output: object) -> bool:
    if isinstance(output, str) and output.lstrip().startswith("{"):
        output = value(output) or output
    if isinstance(output, dict):
        status = mapping(output.get("metadata")).get("exit_code")
        if isinstance(status, int):
            return status == 0
        output = output.get("output", output.get("content"))
    text = string(output).strip().lower()
    head = text[:400]
    if "exit code: " in head:
        return "exit code: 0" in head
    if "process exited with code " in head:
        return "process exited with code 0" in head
    return not head.startswith(_FAILED) and "apply_patch verification failed" not in head


def _made(patch: str, cwd: str, at: int, time: float) -> Iterator[Change]:
    for one in sections(patch):
        path, to = _path(cwd, one.path), _path(cwd, one.to) if one.to else ""
        if one.what == "Add":
            yield Change(path, WRITE, at, time, text=one.text)
        elif one.what == "Delete":
            yield Change(path, DELETE, at, time)
        else:
            yield Change(path, MOVE if to else PATCH, at, time, hunks=one.hunks, to=to)


def _told(table: Object, cwd: str, at: int, time: float) -> Iterator[Change]:
    for name, what in table.items():
        what = mapping(what)
        kind = string(what.get("type")) or string(mapping(what.get("kind")).get("type"))
        path, to = _path(cwd, name), string(what.get("move_path"))
        if kind == "add" and isinstance(what.get("content"), str):
            yield Change(path, WRITE, at, time, text=what["content"])
        elif kind == "delete":
            yield Change(path, DELETE, at, time)
        elif kind == "update" and isinstance(what.get("unified_diff"), str):
            made = tuple(hunks(what["unified_diff"].split("\n")))
            yield Change(path, MOVE if to else PATCH, at, time, hunks=made, to=_path(cwd, to) if to else "")


def _path(cwd: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(cwd, path))
