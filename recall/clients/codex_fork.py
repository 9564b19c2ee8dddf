"""The rollout of a new session of Codex that has another one's history up to one line.

Such a rollout holds no history but says where it is (`history_base`: thread, number of lines, bytes): the client reads it from the
other session's rollout, which must therefore stay. (Observed with codex 0.171.0.) Rollouts whose lines bear no numbers
are of older versions, which knew nothing of the kind.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from recall.clients.jsonl import exact
from recall.core.model import Line

_BEHIND = frozenset(("token_usage_record", "token_count", "task_complete", "world_state", "thread_settings_applied"))
"""What follows an answer and is still of its turn."""


def forked(lines: Iterable[Line], at: int, old: str, new: str, stamp: str) -> bytes:
    """The first line (with its end) of session `new`, which begins with `old` up to the message at byte `at`; the turn is
    whole where nothing else was said in it. `stamp` is the time now, ISO 8601 UTC with milliseconds and Z.

    ValueError where the rollout is none that can be built upon.
    """
    head: dict[str, Any] | None = None
    reached: dict[str, Any] | None = None
    ordinal = end = 0
    for line in lines:
        record = exact(line.raw)
        if head is None:
            head = _head(record)
        if reached is not None and (record is None or not _of_the_same(record, reached)):
            break
        if record is None or not isinstance(record.get("ordinal"), int):
            raise ValueError("its lines bear no numbers")
        ordinal, end = record["ordinal"] + 1, line.at + len(line.raw) + 1
        if line.at >= at and reached is None:
            reached = record
    if head is None or reached is None:
        raise ValueError("its beginning is missing")
    payload = {
        **{key: value for key, value in head.items() if key not in ("context_window", "forked_from_id", "git")},
        "session_id": new,
        "id": new,
        "forked_from_id": old,
        "forked_from_ordinal_exclusive": ordinal,
        "timestamp": stamp,
        "history_base": {"thread_id": old, "end_ordinal_exclusive": ordinal, "end_byte_offset": end},
    }
    made = {"timestamp": stamp, "ordinal": ordinal, "type": "session_meta", "payload": payload}
    return json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def base_of(head: bytes) -> str:
    """The session that a rollout builds upon, told by its first line; '' for one that has its whole history itself."""
    record = exact(head)
    base = _table(_table(record or {}, "payload"), "history_base").get("thread_id")
    return base if isinstance(base, str) else ""


def _head(record: dict[str, Any] | None) -> dict[str, Any]:
    payload = record.get("payload") if record is not None and record.get("type") == "session_meta" else None
    if not isinstance(payload, dict) or payload.get("history_mode") != "paginated":
        raise ValueError("it is of a version that kept its history in another way")
    return payload


def _of_the_same(record: dict[str, Any], message: dict[str, Any]) -> bool:
    """Is it the same message once more (an item and a part of the conversation are written of each), or the end of its turn?"""
    payload = _table(record, "payload")
    kind = payload.get("type") if record.get("type") == "event_msg" else record.get("type")
    if kind in _BEHIND:
        return _role(message) == "assistant"
    return bool(_role(record)) and _role(record) == _role(message) and _text(record) == _text(message)


def _role(record: dict[str, Any]) -> str:
    payload = _table(record, "payload")
    item = _table(payload, "item")
    kinds = {"UserMessage": "user", "AgentMessage": "assistant"}
    role = kinds.get(str(item.get("type"))) if item else payload.get("role")
    return role if isinstance(role, str) else ""


def _text(record: dict[str, Any]) -> str:
    payload = _table(record, "payload")
    content = (_table(payload, "item") or payload).get("content")
    if not isinstance(content, list):
        return ""
    return "\n".join(str(part.get("text")) for part in content if isinstance(part, dict) and part.get("text")).strip()


def _table(value: dict[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}
