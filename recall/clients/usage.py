"""How much of a model's context a session fills: what the client notes of the last request, read from the end.

Claude Code writes the usage of each answer into its record; Codex a record of its own behind each answer. (Observed with
claude 2.1.332 and codex 0.171.0.) After a compaction the notes before it say nothing any more.
"""

from __future__ import annotations

from collections.abc import Iterable

import orjson

_LOOK = (b'"usage"', b'"token_count"', b'"token_usage_record"', b'"compact_boundary"', b'"compacted"')


def context_tokens(lines: Iterable[bytes], client: str) -> int:
    """Tokens of the newest request and its answer, from a transcript's lines, the last one first; 0: nothing is told."""
    for raw in lines:
        if not any(mark in raw for mark in _LOOK):
            continue
        try:
            record = orjson.loads(raw)
        except orjson.JSONDecodeError:
            continue
        if isinstance(record, dict):
            found = _claude(record) if client == "claude" else _codex(record)
            if found is not None:
                return found
    return 0


def _claude(record: dict[str, object]) -> int | None:
    """None: go on looking."""
    if record.get("isSidechain") is True:
        return None
    if record.get("subtype") == "compact_boundary":
        return _number(_table(record, "compactMetadata"), "postTokens")
    if record.get("type") != "assistant":
        return None
    usage = _table(_table(record, "message"), "usage")
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    return sum(_number(usage, name) for name in names) or None  # none: an error that the client words as an answer


def _codex(record: dict[str, object]) -> int | None:
    payload = _table(record, "payload")
    if record.get("type") == "compacted":
        return 0
    if record.get("type") == "token_usage_record":
        usage = _table(payload, "usage")
    elif payload.get("type") == "token_count":
        usage = _table(_table(payload, "info"), "last_token_usage")
    else:
        return None
    return _number(usage, "input_tokens") + _number(usage, "output_tokens") or None


def _table(value: dict[str, object], key: str) -> dict[str, object]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _number(value: dict[str, object], key: str) -> int:
    found = value.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else 0
