"""The engine `api`: the real SDK against a fake of the model API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from recall import llm
from recall.core.model import Reply
from recall.llm import api
from recall.llm.failure import ModelFailure
from recall.settings import Settings
from tests.fake_model_api import Server
from tests.llm.conftest import ANSWER, SCHEMA

pytest.importorskip("anthropic", reason="the extra `api` is not installed")

Ask = Callable[..., Reply]


@pytest.fixture
def ask(settings: Callable[..., Settings], address: str, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Ask the fake through the SDK, with no retries unless told."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")

    def one(prompt: str = "What was it?", *, retries: int = 0, timeout: float = 20, **variables: str) -> Reply:
        chosen = settings(RECALL_LLM="api", **variables)
        return llm.complete(chosen, "Be short.", prompt, SCHEMA, max_tokens=700, timeout=timeout, retries=retries)

    return one


def test_the_answer_comes_with_model_tokens_and_cost(ask: Ask, model_api: Server) -> None:
    """A reply is the object, the model that gave it, what it took, and what that costs by the table."""
    model_api.script.load({"default": {"structured": ANSWER, "usage": {"input_tokens": 20_000, "output_tokens": 400}}})
    reply = ask()
    assert reply.value == ANSWER
    assert reply.model == "claude-haiku-5-5"
    assert reply.usage[:4] == (20_000, 400, 0, 0)
    assert reply.usage.cost == pytest.approx(0.0022)


def test_the_request_is_one_that_models_of_today_take(ask: Ask, model_api: Server) -> None:
    """Structured output by schema, the fixed part cached, no temperature, no prefilled answer."""
    ask("a transcript")
    body = model_api.requests[-1]["body"]
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert body["system"] == [{"type": "text", "text": "Be short.", "cache_control": {"type": "ephemeral"}}]
    assert body["messages"] == [{"role": "user", "content": "a transcript"}]
    assert body["max_tokens"] == 700
    assert not {"temperature", "top_p", "top_k", "tools"} & body.keys()


def test_blocks_are_told_by_their_type(ask: Ask, model_api: Server) -> None:
    """Reasoning before the answer is not taken for it."""
    model_api.script.load({"default": {"thinking": "{hmm", "structured": ANSWER}})
    assert ask().value == ANSWER


FAULTS: list[tuple[str, dict[str, Any]]] = [
    ("rate", {"fault": {"type": "status", "status": 429}}),
    ("overloaded", {"fault": {"type": "status", "status": 529}}),
    ("server", {"fault": {"type": "status", "status": 500}}),
    ("auth", {"fault": {"type": "status", "status": 401}}),
    ("auth", {"fault": {"type": "status", "status": 404, "message": "model: claude-x"}}),
    ("auth", {"fault": {"type": "status", "status": 400, "message": "Your credit balance is too low"}}),
    ("too_long", {"fault": {"type": "status", "status": 400, "message": "prompt is too long: 3 tokens > 2 maximum"}}),
    ("too_long", {"fault": {"type": "status", "status": 413}}),
    ("bad_reply", {"fault": {"type": "status", "status": 400}}),
    ("bad_reply", {"fault": {"type": "malformed_sse"}}),
    ("bad_reply", {"fault": {"type": "empty_body"}}),
    ("bad_reply", {"fault": {"type": "html"}}),
    ("bad_reply", {"plain": True, "text": "It was an export."}),
    ("bad_reply", {"plain": True, "text": '{"task": "cut'}),
    ("bad_reply", {"plain": True, "text": "[1]"}),
    ("bad_reply", {"plain": True, "text": "null"}),
    ("bad_reply", {"plain": True, "text": "[" * 5000}),
    ("bad_reply", {"structured": {"task": "x"}}),
    ("bad_reply", {"structured": {**ANSWER, "status": "maybe"}}),
    ("bad_reply", {"structured": {**ANSWER, "tags": [1]}}),
    ("bad_reply", {"structured": {**ANSWER, "task": "x" * 1_000_000}}),
    ("refusal", {"stop": "refusal", "plain": True, "text": "no"}),
    ("too_long", {"stop": "max_tokens", "plain": True, "text": '{"task": "cu'}),
]


@pytest.mark.parametrize(("kind", "reply"), FAULTS, ids=[f"{n}-{kind}" for n, (kind, _) in enumerate(FAULTS)])
def test_a_fault_has_a_kind_and_says_nothing_of_the_transcript(
    ask: Ask, model_api: Server, kind: str, reply: dict[str, Any]
) -> None:
    """Whatever goes wrong is a ModelFailure of the right kind; prompt, answer and key are not in its words."""
    model_api.script.load({"default": reply})
    with pytest.raises(ModelFailure) as caught:
        ask("the secret plan")
    assert caught.value.kind == kind
    told = f"{caught.value.message} {caught.value.hint}"
    assert not any(word in told for word in ("secret", "plan", "export", "test-key", "x" * 20))
    assert len(model_api.requests) == 1


def test_a_connection_that_is_cut_is_a_failure(ask: Ask, model_api: Server) -> None:
    """Half a body is no answer."""
    model_api.script.load({"default": {"structured": ANSWER, "fault": {"type": "truncated_sse"}}})
    with pytest.raises(ModelFailure) as caught:
        ask()
    assert caught.value.kind in ("server", "bad_reply")


def test_a_server_that_hangs_is_given_up(ask: Ask, model_api: Server) -> None:
    """The limit holds."""
    model_api.script.load({"default": {"fault": {"type": "hang"}}})
    with pytest.raises(ModelFailure) as caught:
        ask(timeout=0.4)
    assert caught.value.kind == "timeout"


def test_a_short_fault_is_tried_again_where_that_is_allowed(ask: Ask, model_api: Server) -> None:
    """One retry mends one failure."""
    model_api.script.add_fault({"fault": {"type": "status", "status": 500, "retry_after": 0}, "times": 1})
    assert ask(retries=1).value == ANSWER
    assert len(model_api.requests) == 2


def test_no_key_is_a_failure_of_its_own(
    settings: Callable[..., Settings], address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDK says so in a TypeError; here it is `auth`."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    chosen = settings(RECALL_LLM="api")
    monkeypatch.setenv("HOME", chosen.home)
    with pytest.raises(ModelFailure) as caught:
        llm.complete(chosen, "s", "p", SCHEMA, max_tokens=10, timeout=5)
    assert caught.value.kind == "auth"


def test_a_batch_is_handed_in_and_collected(ask: Ask, model_api: Server, settings: Callable[..., Settings]) -> None:
    """Answers come by key in any order, at half the price; one that expired is a failure of its own."""
    model_api.script.load(
        {
            "batch_polls": 1,
            "rules": [{"when": {"last_user": "second"}, "reply": {"fault": {"type": "x"}}}],
            "default": {"structured": ANSWER, "usage": {"input_tokens": 20_000, "output_tokens": 400}},
        }
    )
    chosen = settings(RECALL_LLM="api")
    questions = [api.Question("a-1", "Be short.", "first"), api.Question("b-2", "Be short.", "second")]
    batch = api.submit(chosen, questions, SCHEMA, max_tokens=700)
    assert not api.ended(batch)
    assert api.ended(batch)
    found = dict(api.collect(chosen, batch, SCHEMA))
    assert isinstance(found["a-1"], Reply)
    assert found["a-1"].usage.cost == pytest.approx(0.0011)
    assert isinstance(found["b-2"], ModelFailure)
    assert found["b-2"].kind == "timeout"


def test_a_batch_that_nobody_knows_is_a_failure(ask: Ask) -> None:
    """Not an exception of the SDK."""
    with pytest.raises(ModelFailure):
        api.ended("msgbatch_gone")
