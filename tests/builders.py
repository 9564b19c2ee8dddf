"""Transcripts as the two clients write them, made from a list of turns: what tests put into their homes.

A turn is `(user, assistant)` or `(user, assistant, tools)`; `tools` is a list of `(name, input, output)`. An empty
user or assistant text leaves that record out. All ids and times follow from the arguments, so that
the same call writes the same bytes.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Turn = Sequence[Any]
CLAUDE_VERSION = "2.1.332"
CODEX_VERSION = "0.171.0"
START = "2026-06-11T09:00:00+00:00"
STEP = timedelta(seconds=20)


def claude_folder(cwd: str) -> str:
    """The folder under `projects/` that Claude Code uses for `cwd`: every UTF-16 unit but [A-Za-z0-9] is a dash."""
    return "".join(
        char if re.fullmatch("[A-Za-z0-9]", char) else "-" * (len(char.encode("utf-16-le")) // 2) for char in cwd
    )


def claude_session(
    home: Path,
    project: str,
    session: str,
    turns: Iterable[Turn],
    cwd: str = "",
    *,
    start: str = START,
    branch: str = "main",
    title: str = "",
    entrypoint: str = "cli",
    sidechain: bool = False,
) -> Path:
    """Write a Claude Code transcript under `home`; the path of the file is returned.

    `project` is a name (`crm`: the session ran in `/home/dev/crm`) or an absolute path; `cwd` overrides
    what the records say. A second call for the same session replaces the file.
    """
    cwd = cwd or _launch_folder(project)
    path = home / ".claude" / "projects" / claude_folder(_launch_folder(project)) / f"{session}.jsonl"
    records = list(claude_records(session, turns, cwd, start, branch, entrypoint, sidechain))
    if title:
        records.append({"type": "custom-title", "customTitle": title, "sessionId": session})
        records.append({"type": "agent-name", "agentName": title, "sessionId": session})
    return write_lines(path, records)


def claude_records(
    session: str,
    turns: Iterable[Turn],
    cwd: str,
    start: str = START,
    branch: str = "main",
    entrypoint: str = "cli",
    sidechain: bool = False,
) -> Iterable[dict[str, Any]]:
    """The records of a Claude Code session, one message block each, chained by `parentUuid`."""
    clock = datetime.fromisoformat(start)
    parent: str | None = None
    count = 0

    def chat(kind: str, **fields: Any) -> dict[str, Any]:
        nonlocal parent, count, clock
        count += 1
        record = {
            "parentUuid": parent,
            "isSidechain": sidechain,
            "type": kind,
            **fields,
            "uuid": _id(session, "record", count),
            "timestamp": _stamp(clock),
            "userType": "external",
            "entrypoint": entrypoint,
            "cwd": cwd,
            "sessionId": session,
            "version": CLAUDE_VERSION,
            "gitBranch": branch,
        }
        parent = record["uuid"]
        clock += STEP
        return record

    def answer(number: int, block: dict[str, Any]) -> dict[str, Any]:
        message = {
            "id": f"msg_{_id(session, 'answer', number).replace('-', '')[:24]}",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": [block],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 100, "output_tokens": 20},
        }
        return chat("assistant", message=message)

    yield {"type": "mode", "mode": "normal", "sessionId": session}
    for number, turn in enumerate(turns):
        user, assistant, tools = _parts(turn)
        if user:
            yield chat(
                "user", message={"role": "user", "content": user}, origin={"kind": "human"}, promptSource="typed"
            )
        for index, (name, arguments, output) in enumerate(tools):
            call = f"toolu_{_id(session, 'tool', number, index).replace('-', '')[:24]}"
            yield answer(number * 100 + index, {"type": "tool_use", "id": call, "name": name, "input": arguments})
            result = {"tool_use_id": call, "type": "tool_result", "content": output, "is_error": False}
            yield chat("user", message={"role": "user", "content": [result]}, toolUseResult={"stdout": output})
        if assistant:
            yield answer(number * 100 + 99, {"type": "text", "text": assistant})


def codex_session(
    home: Path,
    project: str,
    session: str,
    turns: Iterable[Turn],
    cwd: str = "",
    *,
    start: str = START,
    branch: str = "main",
    name: str = "",
    originator: str = "codex-tui",
    source: object = "cli",
    fork_of: str = "",
) -> Path:
    """Write a Codex rollout under `home`; the path of the file is returned. `project` and `cwd` as for Claude Code.

    `name` adds a line to `session_index.jsonl`.
    """
    cwd = cwd or _launch_folder(project)
    begun = datetime.fromisoformat(start)
    folder = home / ".codex" / "sessions" / begun.strftime("%Y/%m/%d")
    path = folder / f"rollout-{begun.strftime('%Y-%m-%dT%H-%M-%S')}-{session}.jsonl"
    write_lines(path, codex_records(session, turns, cwd, start, branch, originator, source, fork_of))
    if name:
        with (home / ".codex" / "session_index.jsonl").open("a", encoding="utf-8") as index:
            line = {"id": session, "thread_name": name, "updated_at": _stamp(begun)}
            index.write(json.dumps(line, ensure_ascii=False) + "\n")
    return path


def codex_records(
    session: str,
    turns: Iterable[Turn],
    cwd: str,
    start: str = START,
    branch: str = "main",
    originator: str = "codex-tui",
    source: object = "cli",
    fork_of: str = "",
) -> Iterable[dict[str, Any]]:
    """The records of a Codex rollout in the paginated form: items and the response items they come with."""
    clock = datetime.fromisoformat(start)
    ordinal = 0

    def line(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        nonlocal clock, ordinal
        record = {"timestamp": _stamp(clock), "ordinal": ordinal, "type": kind, "payload": payload}
        ordinal += 1
        clock += STEP
        return record

    def item(turn: str, body: dict[str, Any]) -> dict[str, Any]:
        return line("event_msg", {"type": "item_completed", "thread_id": session, "turn_id": turn, "item": body})

    meta: dict[str, Any] = {
        "session_id": session,
        "id": session,
        "timestamp": _stamp(clock),
        "cwd": cwd,
        "originator": originator,
        "cli_version": CODEX_VERSION,
        "source": source,
        "thread_source": "user" if isinstance(source, str) else "subagent",
        "model_provider": "openai",
        "history_mode": "paginated",
        "git": {"branch": branch},
    }
    if fork_of:
        meta["forked_from_id"] = fork_of
    yield line("session_meta", meta)
    for number, turn in enumerate(turns):
        user, assistant, tools = _parts(turn)
        key = _id(session, "turn", number)
        yield line("event_msg", {"type": "task_started", "turn_id": key})
        yield line("turn_context", {"turn_id": key, "cwd": cwd, "model": "gpt-5.4"})
        if user:
            spoken = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": user}]}
            yield line("response_item", {**spoken, "id": f"msg_{_id(session, 'ask', number)}"})
            content = [{"type": "text", "text": user, "text_elements": []}]
            yield item(key, {"type": "UserMessage", "id": _id(session, "user", number), "content": content})
        for index, (name, arguments, output) in enumerate(tools):
            call = f"call_{_id(session, 'call', number, index).replace('-', '')[:24]}"
            text = json.dumps(arguments, ensure_ascii=False)
            yield line("response_item", {"type": "function_call", "name": name, "arguments": text, "call_id": call})
            yield line("response_item", {"type": "function_call_output", "call_id": call, "output": output})
        if assistant:
            answer = f"msg_{_id(session, 'answer', number).replace('-', '')[:24]}"
            yield item(key, {"type": "AgentMessage", "id": answer, "content": [{"type": "Text", "text": assistant}]})
            content = [{"type": "output_text", "text": assistant, "annotations": []}]
            message = {"type": "message", "status": "completed", "id": answer, "role": "assistant", "content": content}
            yield line("response_item", message)
        yield line("event_msg", {"type": "task_complete", "turn_id": key, "last_agent_message": assistant})


def write_lines(path: Path, records: Iterable[object]) -> Path:
    """Write one JSON value a line, making the folders; the file's time is that of the last time stamp in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    last = ""
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
            if isinstance(record, dict):
                last = record.get("timestamp", last)
    if last:
        when = datetime.fromisoformat(last).timestamp()
        os.utime(path, (when, when))
    return path


def _parts(turn: Turn) -> tuple[str, str, Sequence[tuple[str, dict[str, Any], str]]]:
    return turn[0], turn[1], turn[2] if len(turn) > 2 else ()


def _launch_folder(project: str) -> str:
    return project if project.startswith("/") else f"/home/dev/{project}"


def _id(*parts: object) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "/".join(str(part) for part in parts)))


def _stamp(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
