"""A session as a JSON object: the fields that every command gives in the same way."""

from __future__ import annotations

from recall.actions.transcript import shown
from recall.cli.app import App
from recall.cli.output import utc
from recall.core.card import entities_of, status_of, tags_of, task_of
from recall.core.model import Session
from recall.core.plain import one_line


def session_fields(app: App, row: Session, short: str, *, archived_only: bool) -> dict[str, object]:
    """What the index knows of a session; see `docs/formats.md`. Texts are redacted and without terminal escapes."""
    return {
        "id": row.id,
        "short_id": short,
        "client": row.client,
        "project": row.project,
        "cwd": row.cwd,
        "branch": row.branch,
        "started": utc(row.started),
        "updated": utc(row.updated),
        "messages": row.messages,
        "status": status_of(row),
        "live": row.id in app.live,
        "meta": bool(row.meta),
        "hidden": bool(row.hidden),
        "chain": row.chain,
        "fork_of": row.fork_of or None,
        "archived_only": archived_only,
        "title": one_line(shown(row.title)),
        "task": task_of(row),
        "tags": tags_of(row),
        "entities": entities_of(row),
    }
