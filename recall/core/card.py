"""The index line: one session on one line, for people and agents.

Format: `<id8> <YYYY-MM-DD>T<HH:MM> <project> [<status>] (meta)? <task> #tags {entities}`, in local time. It is stable:
agents read it.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from recall.core.model import Session
from recall.core.plain import one_line

TASK = 110
"""Characters of a first request that stands in for a task."""

SHORT = {"claude": 8, "codex": 13}
"""Characters of an id that are shown; Codex ids begin with their time, which many share."""


def short_ids(ids: Iterable[tuple[str, str]]) -> dict[str, str]:
    """id -> what is shown of it, from (client, id) pairs of all sessions: where the usual length is not unique, the shortest
    that is."""
    pairs = sorted((session, client) for client, session in ids)
    out: dict[str, str] = {}
    for n, (session, client) in enumerate(pairs):
        need = SHORT.get(client, 8)
        for other in (pairs[n - 1][0] if n else "", pairs[n + 1][0] if n + 1 < len(pairs) else ""):
            if other and other != session:
                need = max(need, _common(session, other) + 1)
        out[session] = session[:need]
    return out


def _common(a: str, b: str) -> int:
    n = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        n += 1
    return n


def task_of(row: Session) -> str:
    """What the session was about, while it has no card: its title, else its first request, on one line."""
    return _cut(one_line(row.title or row.ask), TASK)


def tags_of(row: Session) -> list[str]:
    """Marks that every row carries, card or not."""
    return [name for name, holds in (("codex", row.client == "codex"), ("meta", row.meta)) if holds]


def index_line(row: Session, short: str, zone: datetime.tzinfo | None, *, live: bool = False) -> str:
    """The line of a session; `short` is its id as shown, `zone` the local time zone (None: the system's)."""
    moment = datetime.datetime.fromtimestamp(row.updated, zone) if row.updated else None
    date = moment.strftime("%Y-%m-%dT%H:%M") if moment else "----------T--:--"
    parts = [short, date, project_name(row), "[lost]" if row.lost else "[new]"]
    if row.meta:
        parts.append("(meta)")
    parts.append(task_of(row))
    if row.chain > 1:
        parts.append(f"(chain of {row.chain})")
    if row.fork_of:
        parts.append(f"(fork of {row.fork_of[: SHORT.get(row.client, 8)]})")
    parts += [f"#{tag}" for tag in tags_of(row)]
    if live:
        parts.append("⚡LIVE")
    return " ".join(part for part in parts if part)


def project_name(row: Session) -> str:
    """The project as it stands in the line: blanks as `_`, `-` when it is not known."""
    return "_".join(one_line(row.project).split()) or "-"


def _cut(text: str, size: int) -> str:
    """At most `size` characters; never inside a character, never before a mark that belongs to the last one."""
    import unicodedata

    if len(text) <= size:
        return text
    end = size - 1
    while end > 0 and (unicodedata.combining(text[end]) or text[end] in "\u200d\ufe0e\ufe0f" or text[end - 1] == "\u200d"):
        end -= 1
    return text[:end].rstrip() + "…"
