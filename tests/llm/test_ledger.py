"""Ledger, pauses and prices."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recall.core.model import Usage
from recall.llm import prices
from recall.llm.ledger import Ledger
from recall.llm.pauses import EVERYTHING, WAITS, Pauses
from recall.llm.schema import problem

NOW = 1_790_000_000.0


def test_a_call_is_one_private_line(tmp_path: Path) -> None:
    """Time, session, kind, model, tokens, cost: readable by its owner only, appended."""
    ledger = Ledger(str(tmp_path / "state"))
    ledger.note(NOW, "abc", "card", "claude-haiku-5-5", "api", Usage(10, 5, 3, 2, 0.001))
    ledger.note(NOW + 1, "abd", "handoff", "claude-haiku-5-5", "claude", error="rate")
    first, second = (json.loads(line) for line in Path(ledger.path).read_text().splitlines())
    assert first == {
        "time": "2026-09-21T14:13:20+00:00",
        "session": "abc",
        "what": "card",
        "model": "claude-haiku-5-5",
        "engine": "api",
        "input": 15,
        "output": 5,
        "cost": 0.001,
        "ok": True,
        "error": "",
    }
    assert (second["ok"], second["error"]) == (False, "rate")
    assert Path(ledger.path).stat().st_mode & 0o777 == 0o600


def test_a_day_is_counted_from_the_ledger(tmp_path: Path) -> None:
    """The calls of the last 24 hours, good or not; damaged lines are none."""
    ledger = Ledger(str(tmp_path))
    for hours in (30, 25, 23, 1):
        ledger.note(NOW - hours * 3600, "a", "card", "m", "api")
    with open(ledger.path, "ab") as file:
        file.write(b'{"time": 5}\n[]\nnull\n{"time": "2026-')
    assert ledger.last_day(NOW) == 2
    assert len(list(ledger.calls())) == 4


def test_pauses_grow_and_end_with_success(tmp_path: Path) -> None:
    """1 hour, 4 hours, a day, ...; one success forgets them, and that everything failed."""
    pauses = Pauses(str(tmp_path))
    for wait in WAITS:
        pauses.failed("a", "server", NOW)
        assert pauses.until("a") == NOW + wait
    pauses.failed("a", "server", NOW)
    assert pauses.until("a") == NOW + WAITS[-1]
    for _ in range(5):
        pauses.failed(EVERYTHING, "all", NOW)
    assert pauses.until(EVERYTHING) == NOW + WAITS[1]
    pauses.failed("b", "timeout", NOW)
    pauses.succeeded("a")
    assert pauses.all() == {"b": NOW + WAITS[0]}
    pauses.succeeded("b")
    assert pauses.all() == {}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1, "b": {"until": "x"}}'])
def test_a_damaged_file_of_pauses_is_none(tmp_path: Path, text: str) -> None:
    """Derived data: what cannot be read is not there."""
    (tmp_path / "backoff.json").write_text(text)
    pauses = Pauses(str(tmp_path))
    assert pauses.until("a") == pauses.until("b") == 0.0
    pauses.failed("a", "x", NOW)
    assert pauses.until("a") == NOW + WAITS[0]


@pytest.mark.parametrize(
    ("model", "usage", "dollars"),
    [
        ("claude-haiku-5-5", Usage(100_000, 1000), 0.0105),
        ("claude-haiku-5-5", Usage(100_001, 1000), 0.0525005),
        ("claude-haiku-5-5", Usage(50_000, 0, 50_001), 0.02750005),
        ("claude-haiku-5-5", Usage(0, 0, 1000, 1000), 0.000135),
        ("haiku", Usage(1_000, 0), 0.0001),
        ("claude-haiku-4-5-20251001", Usage(1000, 1000), 0.006),
        ("claude-haiku-5-50", Usage(1000, 1000), 0.0),
        ("gpt", Usage(1000, 1000), 0.0),
    ],
)
def test_prices(model: str, usage: Usage, dollars: float) -> None:
    """By the dated table; a prompt above the step costs more as a whole; an unknown model has no price; a batch is
    half."""
    assert prices.cost(model, usage) == pytest.approx(dollars)
    assert prices.cost(model, usage, batch=True) == pytest.approx(dollars / 2)


@pytest.mark.parametrize(
    ("value", "schema", "wrong"),
    [
        ({}, {"type": "object"}, False),
        ([], {"type": "object"}, True),
        (True, {"type": "integer"}, True),
        (1, {"type": "number"}, False),
        (None, {"type": ["string", "null"]}, False),
        ("x", {"anyOf": [{"type": "null"}, {"type": "string"}]}, False),
        (1, {"anyOf": [{"type": "null"}, {"type": "string"}]}, True),
        ("b", {"enum": ["a"]}, True),
        ("b", {"const": "a"}, True),
        ({"a": {"b": [1]}}, {"properties": {"a": {"properties": {"b": {"items": {"type": "string"}}}}}}, True),
        ({"a": 1}, {"required": ["b"]}, True),
    ],
)
def test_forms(value: object, schema: dict[str, object], wrong: bool) -> None:
    """What our schemas use of JSON Schema is checked."""
    assert bool(problem(value, schema)) is wrong
