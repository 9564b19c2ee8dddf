"""Dates as people type them."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.core.query import when

NOW = datetime.datetime(2026, 6, 11, 15, 30)  # a Thursday

CASES = {
    "now": "2026-06-11 15:30",
    "today": "2026-06-11",
    "yesterday": "2026-06-10",
    "week": "2026-06-08",
    "last-week": "2026-06-01",
    "month": "2026-06-01",
    "monday": "2026-06-08",
    "thursday": "2026-06-04",
    "3d": "2026-06-08 15:30",
    "2w": "2026-05-28 15:30",
    "2026": "2026-01-01",
    "2026-05": "2026-05-01",
    "2026-05-09": "2026-05-09",
    "2026-05-09T10:20": "2026-05-09 10:20",
    "2026-05-09 10:20:30": "2026-05-09 10:20:30",
    "2026-05-09T10:20:00Z": "2026-05-09T10:20:00+00:00",
    " Yesterday ": "2026-06-10",
}


@pytest.mark.parametrize("text", CASES)
def test_what_is_a_date(text: str) -> None:
    assert when(text, NOW) == datetime.datetime.fromisoformat(CASES[text]).timestamp()


@pytest.mark.parametrize("text", ["", "whenever", "2026-13-01", "2026-02-30", "12", "99999", "0000", "d3"])
def test_what_is_none(text: str) -> None:
    assert when(text, NOW) is None


@given(st.text(max_size=40))
def test_no_text_raises(text: str) -> None:
    when(text, NOW)
