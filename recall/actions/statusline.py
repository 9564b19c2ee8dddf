"""The line under a session's prompt: project, address, how full the context is.

Fields of Claude Code's status line input: `workspace.project_dir`, `workspace.current_dir`, `cwd`, `context_window` with
`used_percentage`, or `context_window_size` and `current_usage`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from recall.core.address import address_of
from recall.core.plain import one_line
from recall.live import process


def line(status: Mapping[str, object], *, pid: str, parent: int) -> str:
    """`crm  s034  42%`; what is not known is left out. `pid` is the client's where it is known, `parent` ours."""
    parts = (_project(status), _address(pid, parent), _percent(status))
    return "  ".join(part for part in parts if part)


def _project(status: Mapping[str, object]) -> str:
    place = status.get("workspace")
    folders = [place.get("project_dir"), place.get("current_dir")] if isinstance(place, dict) else []
    for folder in (*folders, status.get("cwd")):
        if isinstance(folder, str) and folder.strip("/"):
            return one_line(os.path.basename(folder.rstrip("/")))[:60]
    return ""


def _percent(status: Mapping[str, object]) -> str:
    window = status.get("context_window")
    if not isinstance(window, dict):
        return ""
    used = _number(window.get("used_percentage"))
    if used is None:
        size, usage = _number(window.get("context_window_size")), window.get("current_usage")
        if not size or not isinstance(usage, dict):
            return ""
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        used = sum(_number(usage.get(name)) or 0.0 for name in names) * 100 / size
    return f"{min(999, max(0, round(used)))}%"


def _number(value: object) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e15:
        return float(value)
    return None


def _address(pid: str, parent: int) -> str:
    """The terminal of the client; without its pid, of the nearest ancestor that has one."""
    return address_of(process.tty_of(int(pid) if pid.isascii() and pid.isdigit() else parent))
