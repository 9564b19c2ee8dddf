"""Where Codex keeps its rollouts, and how a session of it is resumed; the parser is apart, and loads slower."""

from __future__ import annotations

from recall.core.lazy import lazy
from recall.core.model import Place, Plan

name = "codex"
folders = ("sessions", "archived_sessions")
files = ("history.jsonl", "session_index.jsonl")
home_variable = "CODEX_HOME"
home_default = ".codex"

_ROLLOUT = lazy(r"(rollout-[\w.-]+)\.jsonl(?:\.zst)?")
_DATED = lazy(r"rollout-(\d{4})-(\d\d)-(\d\d)T[\w.-]+\.jsonl")
_UUID_AT_END = lazy(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")


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


def resume(session: str, cwd: str, flags: tuple[str, ...], prompt: str = "") -> Plan:
    """See `Client.resume`."""
    said = ("--", prompt) if prompt else ()
    return Plan(("codex", "resume", session, *flags, *said), cwd, "")


def transcripts(session: str) -> tuple[str, ...]:
    """See `Client.transcripts`."""
    name = f"*{session}.jsonl*"
    return (f"sessions/*/*/*/{name}", f"archived_sessions/{name}")


def original(archive: str) -> str:
    """See `Client.original`. The day in a rollout's name is that of its folder: both are in local time."""
    if archive in files:
        return archive
    day = _DATED.fullmatch(archive)
    return f"sessions/{day[1]}/{day[2]}/{day[3]}/{archive}" if day else ""
