"""Where Codex keeps its rollouts, and how a session of it is resumed; the parser is apart, and loads slower."""

from __future__ import annotations

import re

from recall.core.model import Place, Plan

name = "codex"
folders = ("sessions", "archived_sessions")
files = ("history.jsonl", "session_index.jsonl")

_ROLLOUT = re.compile(r"(rollout-[\w.-]+)\.jsonl(?:\.zst)?")
_UUID_AT_END = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")


def place(path: str) -> Place | None:
    """See `Client.place`. A compressed rollout and its plain twin have one copy."""
    if path in files:
        return Place("history", f"codex/{path}", "")
    parts = path.split("/")
    if len(parts) < 2 or parts[0] not in folders or not all(parts) or ".." in parts:
        return None
    match = _ROLLOUT.fullmatch(parts[-1])
    if match is None:
        return None
    stem = match[1]
    number = _UUID_AT_END.search(stem)
    return Place("main", f"codex/{stem}.jsonl", number[0] if number else stem)


def resume(session: str, cwd: str, flags: tuple[str, ...]) -> Plan:
    """See `Client.resume`."""
    return Plan(("codex", "resume", session, *flags), cwd, "")
