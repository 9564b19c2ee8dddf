"""The engine `api`: the `anthropic` SDK, which is imported here only.

Address and key come from where the SDK itself looks for them (ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY, ...).
Structured output is `output_config.format`; models of today take neither `temperature` nor a prefilled answer.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from recall.core.model import Reply, Usage
from recall.llm import MAX_REPLY
from recall.llm.failure import ModelFailure, of_status
from recall.llm.prices import cost
from recall.llm.schema import problem
from recall.settings import Settings

_T = TypeVar("_T")

_CONNECT = 10.0  # seconds
_BATCH_CALL = 120.0  # seconds for one request about a batch


class Question(NamedTuple):
    """One request of a batch; `key` is at most 64 of [a-zA-Z0-9_-]."""

    key: str
    system: str
    prompt: str


def available() -> bool:
    """Is the SDK installed?"""
    from importlib.util import find_spec

    return find_spec("anthropic") is not None


def complete(
    settings: Settings,
    system: str,
    prompt: str,
    schema: dict[str, Any],
    *,
    max_tokens: int,
    timeout: float,
    retries: int,
) -> Reply:
    """Ask once; raises ModelFailure. The form of the reply is not checked here."""
    client = _client(timeout / (retries + 1), retries)
    params = _params(settings.model, system, prompt, schema, max_tokens)
    message = _within(timeout + 5, lambda: _guarded(lambda: client.messages.create(**params)))
    return read(message, settings.model)


def read(message: Any, model: str, *, batch: bool = False) -> Reply:
    """A message of the API as a reply; raises ModelFailure for one without an answer."""
    taken = getattr(message, "usage", None)
    used = Usage(*(_count(taken, name) for name in ("input_tokens", "output_tokens", "cache_read_input_tokens",
                                                    "cache_creation_input_tokens")))  # fmt: skip
    named = str(getattr(message, "model", "") or model)
    used = used._replace(cost=cost(named, used, batch=batch) or cost(model, used, batch=batch))
    stop = getattr(message, "stop_reason", None)
    if stop == "refusal":
        raise ModelFailure("refusal", "the model refused to answer")
    if stop in ("max_tokens", "model_context_window_exceeded"):
        raise ModelFailure("too_long", "the answer was cut at its limit")
    # A block of reasoning may come first: blocks are told by their type.
    blocks = getattr(message, "content", None) or ()
    text = "".join(str(block.text) for block in blocks if getattr(block, "type", "") == "text")
    return Reply(_object(text), named, used)


def _params(
    model: str, system: str, prompt: str, schema: dict[str, Any], max_tokens: int, *, hour: bool = False
) -> dict[str, Any]:
    cache = {"type": "ephemeral", "ttl": "1h"} if hour else {"type": "ephemeral"}
    return {
        "model": model,
        "max_tokens": max_tokens,
        "system": [{"type": "text", "text": system, "cache_control": cache}],
        "messages": [{"role": "user", "content": prompt}],
        "thinking": {"type": "disabled"},
        "output_config": {"format": {"type": "json_schema", "schema": schema}},
    }


def _object(text: str) -> dict[str, object]:
    if len(text) > MAX_REPLY:
        raise ModelFailure("bad_reply", "the answer is far too long")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelFailure("bad_reply", "the answer is no JSON") from None
    if not isinstance(value, dict):
        raise ModelFailure("bad_reply", "the answer is no JSON object")
    return value


def _count(usage: object, name: str) -> int:
    value = getattr(usage, name, 0)
    return value if isinstance(value, int) else 0


def _client(timeout: float, retries: int) -> Any:
    try:
        import anthropic
    except ImportError:
        raise ModelFailure("missing", "the package `anthropic` is not installed") from None
    try:
        return anthropic.Anthropic(
            timeout=anthropic.Timeout(timeout, connect=min(timeout, _CONNECT)), max_retries=retries
        )
    except (anthropic.AnthropicError, TypeError, ValueError):
        raise ModelFailure("auth", "the model API has no key") from None


def _guarded(call: Callable[[], _T]) -> _T:
    """`call()`, with the SDK's errors as ModelFailure."""
    import anthropic

    try:
        return call()
    except anthropic.APITimeoutError:
        raise ModelFailure("timeout", "the model API did not answer in time") from None
    except anthropic.APIStatusError as error:
        raise of_status(error.status_code, error.message) from None
    except anthropic.APIConnectionError:
        raise ModelFailure("server", "the model API cannot be reached, or broke off") from None
    except anthropic.CredentialsError:
        raise ModelFailure("auth", "the model API has no key") from None
    except (anthropic.APIError, anthropic.AnthropicError):
        raise ModelFailure("bad_reply", "the model API answered something that cannot be read") from None
    except TypeError as error:
        if "authentication" in str(error):  # how the SDK says that it has no key
            raise ModelFailure("auth", "the model API has no key") from None
        raise
    except (ValueError, OSError):  # a body that is no JSON; a connection that was cut while it was read
        raise ModelFailure("bad_reply", "the model API answered something that cannot be read") from None


def _within(seconds: float, call: Callable[[], _T]) -> _T:
    """`call()`, given up after `seconds`: the SDK's own limit is between two bytes, and starts anew with each."""
    done: list[_T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(call())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise ModelFailure("timeout", "the model API did not answer in time")
    return done[0]


# -- batches ---------------------------------------------------------------------------------------------------


def submit(settings: Settings, questions: list[Question], schema: dict[str, Any], *, max_tokens: int) -> str:
    """Hand in many questions at half the price; the id of the batch. Raises ModelFailure."""
    client = _client(_BATCH_CALL, 1)
    requests = [
        {"custom_id": one.key, "params": _params(settings.model, one.system, one.prompt, schema, max_tokens, hour=True)}
        for one in questions
    ]
    return str(_guarded(lambda: client.messages.batches.create(requests=requests)).id)


def ended(batch: str) -> bool:
    """Are all answers of a batch there? Raises ModelFailure ('auth' also where the batch is not known)."""
    client = _client(_BATCH_CALL, 1)
    return bool(_guarded(lambda: client.messages.batches.retrieve(batch)).processing_status == "ended")


def collect(settings: Settings, batch: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, Reply | ModelFailure]]:
    """(key, answer or why there is none) of an ended batch, in any order. Raises ModelFailure."""
    client = _client(_BATCH_CALL, 1)
    results = iter(_guarded(lambda: client.messages.batches.results(batch)))
    while True:
        one = _guarded(lambda: next(results, None))
        if one is None:
            return
        yield str(one.custom_id), _result(one.result, settings.model, schema)


def _result(result: Any, model: str, schema: Mapping[str, Any]) -> Reply | ModelFailure:
    kind = getattr(result, "type", "")
    if kind != "succeeded":
        return ModelFailure("timeout" if kind == "expired" else "server", f"the batch says: {kind or 'no result'}")
    try:
        reply = read(result.message, model, batch=True)
    except ModelFailure as failure:
        return failure
    wrong = problem(reply.value, schema)
    return ModelFailure("bad_reply", f"the answer has another form than the one asked for: {wrong}") if wrong else reply
