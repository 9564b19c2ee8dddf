"""TEMPORARY stand-in."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from recall.actions.transcript import records, shown
from recall.core.model import ASSISTANT, EVERYTHING, USER, Card, Extract, Handoff, Reply, Session
from recall.settings import Settings

_S = {"type": "string"}
_L = {"type": "array", "items": _S}
RECAP_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "task": _S,
        "status": {"enum": ["done", "in_progress", "aborted"]},
        "method": _S,
        "next": _S,
        "tags": _L,
        "entities": _L,
        "artifacts": _L,
    },
    "required": ["task", "status", "method", "next", "tags", "entities", "artifacts"],
    "additionalProperties": False,
}
HANDOFF_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"task": _S, "done": _L, "in_flight": _L, "next": _L, "gotchas": _L},
    "required": ["task", "done", "in_flight", "next", "gotchas"],
    "additionalProperties": False,
}


class Gist(NamedTuple):
    row: Session
    path: str
    client: str
    extract: Extract
    digest: str
    summary: str

    @property
    def is_empty(self) -> bool:
        return not (self.extract.ask or self.extract.last_answer)

    def extracted(self, now: float) -> Card:
        row = self.row
        return Card(
            row.id,
            row.client,
            row.cwd,
            row.started,
            row.updated,
            row.messages,
            row.title,
            self.extract.ask,
            written_at=now,
        )

    def extracted_handoff(self, now: float) -> Handoff:
        return Handoff(
            self.row.id,
            self.row.title,
            self.row.cwd,
            now,
            "extract",
            self.extract.last_ask,
            next=(self.extract.last_answer,),
        )


def read_gist(row: Session, path: str, client: str, settings: Settings) -> Gist:
    ask = last = answer = ""
    parts = []
    for record in records(path, client, settings, EVERYTHING):
        if record.zone == USER:
            ask, last = ask or shown(record.text), shown(record.text)
        if record.zone == ASSISTANT:
            answer = shown(record.text)
        if record.zone in (USER, ASSISTANT):
            parts.append(shown(record.text)[:500])
    return Gist(row, path, client, Extract(ask, last, answer), "\n".join(parts)[:60000], "")


def card_prompt(gist: Gist, tags: tuple[str, ...]) -> tuple[str, str, dict[str, Any]]:
    return "Write a card.", gist.digest, RECAP_SCHEMA


def grounded(gist: Gist, reply: Reply, settings: Settings, now: float) -> tuple[Card, int]:
    value = json.loads(json.dumps(reply.value))
    for key in ("tags", "entities", "artifacts"):
        value[key] = tuple(value[key])
    return gist.extracted(now)._replace(written_by=reply.model, **value), 0


def handoff_prompt(gist: Gist) -> tuple[str, str, dict[str, Any]]:
    return "Write a handoff.", gist.digest, HANDOFF_SCHEMA


def handoff_from(gist: Gist, reply: Reply, settings: Settings, now: float) -> Handoff:
    value = {key: tuple(one) if isinstance(one, list) else one for key, one in reply.value.items()}
    return Handoff(gist.row.id, gist.row.title, gist.row.cwd, now, reply.model, **value)  # type: ignore[arg-type]


def parse(text: str, id: str) -> Handoff:
    by = text.split("by=")[1].split("\n")[0]
    return Handoff(
        id, "", "", float(text.split("at=")[1].split("\n")[0]), by, text.split("task=")[1].split("\n")[0], next=("x",)
    )


def refusal(handoff: Handoff) -> str:
    return "" if handoff.next and handoff.next[0] else "no next step"


def render(handoff: Handoff) -> str:
    return f"# {handoff.title}\nby={handoff.by}\nat={handoff.updated}\ntask={handoff.task}\n"
