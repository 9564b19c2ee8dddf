"""Time stamps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.clients.stamp import seconds, widen
from recall.core.facts import Facts


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-03T21:21:59.836Z", 1772572919.836),
        ("2026-03-03T21:21:59Z", 1772572919.0),
        ("2026-03-03T21:21:59.836123456Z", 1772572919.836123),
        ("2026-03-03T22:21:59+01:00", 1772572919.0),
        ("2026-03-03T21:21:59", 1772572919.0),
        (1772572919, 1772572919.0),
        (1772572919836, 1772572919.836),
        ("1970-01-01T00:00:00Z", 0.0),
        ("2999-01-01T00:00:00Z", 0.0),
        ("yesterday", 0.0),
        ("", 0.0),
        (None, 0.0),
        (True, 0.0),
        (float("nan"), 0.0),
        ([], 0.0),
    ],
)
def test_a_stamp_is_seconds_or_nothing(value: object, expected: float) -> None:
    assert seconds(value) == expected


@given(st.text() | st.floats() | st.integers() | st.datetimes().map(str))
def test_no_stamp_raises(value: object) -> None:
    assert seconds(value) >= 0.0


def test_order_does_not_matter() -> None:
    facts = Facts()
    for time in (30.0, 0.0, 10.0, 20.0):
        widen(facts, time)
    assert (facts.started, facts.updated) == (10.0, 30.0)
