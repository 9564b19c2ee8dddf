"""What can go wrong with a model call, as one type with a kind."""

from __future__ import annotations

from recall.errors import Unavailable

POLITE = frozenset(("rate", "overloaded"))
"""Kinds after which a run stops asking: the service said so."""

OURS = frozenset(("auth", "missing"))
"""Kinds that say nothing of the session that was asked about: the next question would fail as well."""

_HINTS = {
    "rate": "wait a while; the next sweep tries again",
    "overloaded": "wait a while; the next sweep tries again",
    "server": "try again later",
    "timeout": "try again later",
    "bad_reply": "try again, or set another model (RECALL_MODEL)",
    "refusal": "try another model (RECALL_MODEL)",
    "too_long": "try another model (RECALL_MODEL)",
    "auth": "log in to the client, or set the key that the engine needs",
    "missing": "RECALL_LLM=claude needs Claude Code, RECALL_LLM=api the extra `api` of this package",
}


class ModelFailure(Unavailable):
    """A model call without an answer. `kind` is one of 'rate', 'overloaded', 'server', 'timeout', 'bad_reply',
    'refusal',
    'too_long', 'auth', 'missing'. `message` holds no text of a transcript and no key: it may be logged."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message, _HINTS.get(kind, ""))
        self.kind = kind


def of_status(status: int, words: str = "") -> ModelFailure:
    """The failure that an HTTP status of the model API means; `words` are the service's own, to recognise lengths
    by."""
    if status == 429:
        return ModelFailure("rate", "the model API answered 429: too many requests")
    if status in (529, 503):
        return ModelFailure("overloaded", f"the model API answered {status}: overloaded")
    if status in (401, 403):
        return ModelFailure("auth", f"the model API answered {status}: not allowed")
    if status == 404:
        return ModelFailure("auth", "the model API answered 404: it does not know the model")
    if status == 413 or (status == 400 and "too long" in words.lower()):
        return ModelFailure("too_long", f"the model API answered {status}: the prompt is too long")
    if status == 402 or (status == 400 and "credit balance" in words.lower()):
        return ModelFailure("auth", f"the model API answered {status}: no credit")
    if status in (408, 504):
        return ModelFailure("timeout", f"the model API answered {status}: timed out")
    if status >= 500:
        return ModelFailure("server", f"the model API answered {status}")
    return ModelFailure("bad_reply", f"the model API answered {status}")
