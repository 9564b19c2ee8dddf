"""Where Claude Code keeps its files, and how a session of it is resumed; the parser is apart, and loads slower."""

from __future__ import annotations

from recall.core.lazy import lazy
from recall.core.model import Place, Plan

name = "claude"
folders = ("projects",)
files = ("history.jsonl",)
home_variable = "CLAUDE_CONFIG_DIR"
home_default = ".claude"

_UUID = lazy(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NAME = lazy(r"[\w-][\w.-]*")


def place(path: str) -> Place | None:
    """See `Client.place`. The cwd is never decoded from the folder: different paths share one name."""
    if path == "history.jsonl":
        return Place("history", "claude/history.jsonl", "")
    parts = path.split("/")
    if len(parts) < 3 or parts[0] != "projects" or not all(parts) or ".." in parts:
        return None
    archive = "claude/" + "/".join(parts[1:])
    last = parts[-1]
    if len(parts) == 3:
        stem, _, ending = last.rpartition(".")
        if ending != "jsonl" or not _NAME.fullmatch(stem):
            return None
        if stem.startswith("agent-"):
            return Place("sub", archive, "")
        return Place("main", archive, stem)
    session = parts[2]
    if last.startswith(".") or last.endswith(".tmp"):
        return None
    agent = parts[3] == "subagents" and last.startswith("agent-") and last.endswith(".jsonl")
    if agent and len(parts) > 4 and _NAME.fullmatch(session) and _NAME.fullmatch(last):
        return Place("sub", archive, session)
    if _UUID.fullmatch(session):
        return Place("companion", archive, session)
    return None


def resume(session: str, cwd: str, flags: tuple[str, ...], prompt: str = "") -> Plan:
    """See `Client.resume`. Options that take several words would take the prompt as well, but for the `--`."""
    said = ("--", prompt) if prompt else ()
    return Plan(("claude", "--resume", session, *flags, *said), cwd, "")


def transcripts(session: str) -> tuple[str, ...]:
    """See `Client.transcripts`."""
    return (f"projects/*/{session}.jsonl",)


def original(archive: str) -> str:
    """See `Client.original`."""
    return archive if archive in files else f"projects/{archive}"
