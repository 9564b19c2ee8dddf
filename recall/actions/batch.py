"""Cards by a batch: handed in together, at half the price, and collected by a later run.

What was handed in stands in `<state>/batches.json` (batch id -> model, time, session of each key) until it is
collected.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from recall.actions.gist import card_prompt, read_gist
from recall.actions.recap import MAX_TOKENS, Made, Work, from_reply, work_on
from recall.core.model import Session
from recall.core.recap import RECAP_SCHEMA
from recall.errors import RecallError
from recall.files import write_atomic
from recall.llm import api
from recall.llm.failure import ModelFailure
from recall.llm.ledger import Ledger
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import Store

_CHUNK = 1000
"""Sessions in one batch, about 60 MB of prompts: well below what the service takes."""


def pending(settings: Settings) -> dict[str, dict[str, Any]]:
    """Batches that were handed in and not collected."""
    try:
        with open(_path(settings), "rb") as file:
            found = orjson.loads(file.read())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return {key: value for key, value in found.items() if isinstance(value, dict)} if isinstance(found, dict) else {}


def waiting(settings: Settings) -> set[str]:
    """Ids of sessions whose answer is to come."""
    return {session for entry in pending(settings).values() for session in entry.get("sessions", {}).values()}


def hand_in(works: Iterable[Work], settings: Settings, *, now: float, tags: tuple[str, ...]) -> list[str]:
    """Hand in the sessions; the ids of the batches. Raises ModelFailure; what was handed in before that is noted."""
    out: list[str] = []
    questions: list[api.Question] = []
    sessions: dict[str, str] = {}

    def send() -> None:
        batch = api.submit(settings, questions, RECAP_SCHEMA, max_tokens=MAX_TOKENS)
        entry = {"model": settings.model, "time": now, "sessions": dict(sessions)}
        write_atomic(_path(settings), orjson.dumps({**pending(settings), batch: entry}))
        out.append(batch)
        questions.clear()
        sessions.clear()

    for work in works:
        try:
            gist = read_gist(work.row, work.path, work.client, settings, tags)
        except OSError:
            continue
        if gist.is_empty:
            continue
        system, prompt, _ = card_prompt(gist)
        key = f"s{len(questions)}"
        sessions[key] = work.row.id
        questions.append(api.Question(key, system, prompt))
        if len(questions) == _CHUNK:
            send()
    if questions:
        send()
    return out


def collect(settings: Settings, store: Store, shelf: Shelf, *, now: float) -> Iterator[Made]:
    """The cards of all batches that have ended, to be kept; a batch is forgotten when all of it was taken.

    Raises ModelFailure where the service cannot be asked.
    """
    ledger = Ledger(settings.state)
    for batch, entry in pending(settings).items():
        try:
            if not api.ended(batch):
                continue
        except ModelFailure as failure:
            if "404" not in failure.message:
                raise
            _forget(settings, batch)  # results are kept for 29 days only
            continue
        sessions = entry.get("sessions", {})
        chosen = settings._replace(model=str(entry.get("model") or settings.model))
        for key, reply in api.collect(chosen, batch, RECAP_SCHEMA):
            session = sessions.get(key, "")
            row = _row(store, session)
            if isinstance(reply, ModelFailure):
                ledger.note(now, session, "card", chosen.model, "batch", error=reply.kind)
            else:
                ledger.note(now, session, "card", reply.model, "batch", reply.usage)
            if row is None or shelf.is_removed(row.id):
                continue
            try:
                work = work_on(row, store, shelf, settings)
                if work.card is not None and work.card.written_by == "hand":
                    continue
                if isinstance(reply, ModelFailure):
                    yield Made(work, None, reply.kind, asked=True)
                else:
                    yield from_reply(work, reply, settings, now)
            except (RecallError, OSError):
                continue
        _forget(settings, batch)


def _row(store: Store, session: str) -> Session | None:
    return next((row for row in store.sessions_like(session, 5) if row.id == session), None) if session else None


def _forget(settings: Settings, batch: str) -> None:
    left = {key: value for key, value in pending(settings).items() if key != batch}
    if left:
        write_atomic(_path(settings), orjson.dumps(left))
    else:
        os.unlink(_path(settings))


def _path(settings: Settings) -> str:
    return os.path.join(settings.state, "batches.json")
