"""The transcript of a new session of Claude Code that has another one's history up to one line.

As the client's own /branch writes it (observed with 2.1.332): the records with their ids, parents and times, under the
new session's id, and in each `forkedFrom`: the session and record that it is a copy of. Left out is what belongs to the run and
not to the conversation: modes, costs, the log of requests, names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from recall.clients.jsonl import exact
from recall.core.model import Line


def forked(lines: Iterable[Line], at: int, old: str, new: str) -> Iterator[bytes]:
    """Lines (with their ends) of session `new`: those of `old` up to the message whose line begins at byte `at`.

    What was attached to a request behind its line comes along. A request that was typed while the client was busy
    stands in the transcript twice: as a note, and later as the record, which is meant.
    """
    waiting = ""  # the request whose record is still to come
    reached = False
    for line in lines:
        record = exact(line.raw)
        if record is None:
            continue
        if reached and not waiting and not _belongs(record):
            return
        if line.at >= at and not reached:
            reached = True
            waiting = "" if record.get("uuid") else _noted(record)
        elif waiting and record.get("type") == "user" and _text(record).strip() == waiting:
            waiting = ""
        if record.get("uuid"):
            yield _copy(record, old, new)


def _belongs(record: dict[str, Any]) -> bool:
    """Does it go with the request before it?"""
    return record.get("type") == "attachment" or not record.get("uuid")


def _noted(record: dict[str, Any]) -> str:
    """The text of a request that only a note tells so far; '' for any other line."""
    text = record.get("content") if record.get("operation") == "enqueue" else ""
    return text.strip() if isinstance(text, str) else ""


def _text(record: dict[str, Any]) -> str:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else ""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        content = "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _copy(record: dict[str, Any], old: str, new: str) -> bytes:
    origin = {"sessionId": old, "messageUuid": record["uuid"]}
    copied = {**record, "sessionId": new, "forkedFrom": origin}
    try:
        return json.dumps(copied, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:  # half of a pair, which only an escape can hold
        return json.dumps(copied, separators=(",", ":")).encode() + b"\n"
