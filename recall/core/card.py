"""What a card says of a session: on the index line, in its row, and as a file (`parse`, `render`: see `cardfile`).

The index line is one session on one line, for people and agents; they read it, so it is stable. In local time:
`<id8> <YYYY-MM-DD>T<HH:MM> <project> [<status>] (meta)? <task> #tags {entities}`
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from recall.core.model import Card, Glance, Session
from recall.core.plain import one_line

TASK = 110
"""Characters of a first request that stands in for a task."""

CARD_TASK = 400
"""Characters of a card's task that are shown: it may have been written by hand."""

SHORT = {"claude": 8, "codex": 13}
"""Characters of an id that are shown; Codex ids begin with their time, which many share."""


_CLIENTS = {"claude": "Claude Code", "codex": "Codex"}


def client_name(client: str) -> str:
    """What people call a client; one that is not known is called as it is."""
    return _CLIENTS.get(client, client)


def usual(session: str, client: str) -> str:
    """What is shown of an id where nobody asks whether it is unique."""
    return session[: SHORT.get(client, 8)]


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


def parse(text: str, id: str = "") -> Card:
    """The card that a file's text holds; `id` is what the file's name says. Anything at all can be read."""
    from recall.core.cardfile import parse

    return parse(text, id)


def render(card: Card) -> str:
    """The text of a card's file."""
    from recall.core.cardfile import render

    return render(card)


def task_of(row: Session) -> str:
    """What the session was about: its card says it; without one its first request, else its title, on one line."""
    return _cut(one_line(row.task), CARD_TASK) if row.task else _cut(one_line(row.ask or row.title), TASK)


def status_of(row: Session | Glance) -> str:
    """The card's status; without a card 'new', or 'lost' where only parts of the session are left."""
    return row.status or ("lost" if row.lost else "new")


def tags_of(row: Session | Glance) -> list[str]:
    """The card's tags, and the marks that every row carries, card or not."""
    marks = [name for name, holds in (("codex", row.client == "codex"), ("meta", row.meta)) if holds]
    return list(dict.fromkeys([*row.tags.split("\n"), *marks])) if row.tags else marks


def entities_of(row: Session) -> list[str]:
    """The names that the card holds."""
    return row.entities.split("\n") if row.entities else []


def has_row(row: Session | Glance) -> bool:
    """Is there anything to be shown: a message, a card, or at least parts of it?"""
    return bool(row.messages or row.status or row.lost)


def with_card(row: Session, card: Card | None) -> Session:
    """The row of a session with what its card says, or without one. The title that the user gave goes before the card's,
    the card's before the one that the client made; that one is kept in `other_title`."""
    title, by = (
        (row.other_title, "client" if row.other_title else "") if row.title_by == "card" else (row.title, row.title_by)
    )
    row = row._replace(title=title, title_by=by, other_title="")
    if card is None:
        return row._replace(status="", task="", tags="", entities="", written_by="", written_at=0.0)
    if card.title and by != "user":
        row = row._replace(title=card.title, title_by="card", other_title=title)
    return row._replace(
        status=card.status,
        task=card.task or card.title,
        tags="\n".join(card.tags),
        entities="\n".join(card.entities),
        written_by=card.written_by,
        written_at=card.written_at,
    )


def index_line(row: Session, short: str, zone: datetime.tzinfo | None, *, live: bool = False) -> str:
    """The line of a session; `short` is its id as shown, `zone` the local time zone (None: the system's)."""
    date = "----------T--:--"
    if row.updated:
        date = datetime.datetime.fromtimestamp(row.updated, zone).isoformat(timespec="minutes")[:16]
    parts = [short, date, project_name(row), f"[{status_of(row)}]"]
    if row.meta:
        parts.append("(meta)")
    task = task_of(row)
    parts.append(task)
    if row.title_by == "user" and row.title and not _same(row.title, task):
        parts.append(f"(named {_cut(one_line(row.title), TASK)})")
    if row.chain > 1:
        parts.append(f"(chain of {row.chain})")
    if row.fork_of:
        parts.append(f"(fork of {row.fork_of[: SHORT.get(row.client, 8)]})")
    parts += [f"#{tag}" for tag in tags_of(row)]
    if row.entities:
        parts.append(f"{{{', '.join(entities_of(row))}}}")
    if live:
        parts.append("⚡LIVE")
    return " ".join(part for part in parts if part)


def _same(title: str, task: str) -> bool:
    """Does the title only repeat the task, as names made from cards do?"""
    return task[:20].casefold() in title.casefold() or title.casefold() in task.casefold()


def project_name(row: Session | Glance) -> str:
    """The project as it stands in the line: blanks as `_`, `-` when it is not known."""
    return "_".join(one_line(row.project).split()) or "-"


def _cut(text: str, size: int) -> str:
    """At most `size` characters; never inside a character, never before a mark that belongs to the last one."""
    import unicodedata

    if len(text) <= size:
        return text
    end = size - 1
    while end > 0 and (
        unicodedata.combining(text[end]) or text[end] in "\u200d\ufe0e\ufe0f" or text[end - 1] == "\u200d"
    ):
        end -= 1
    return text[:end].rstrip() + "…"
