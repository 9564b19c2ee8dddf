"""One line, however damaged: its objects, and why something was left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.clients.jsonl import objects, value


@pytest.mark.parametrize(
    ("raw", "found", "why"),
    [
        (b'{"a":1}', [{"a": 1}], ""),
        (b'{"a":1}\r', [{"a": 1}], ""),
        (b'\xef\xbb\xbf{"a":1}', [{"a": 1}], ""),
        (b'{"a":1}{"b":2}', [{"a": 1}, {"b": 2}], ""),
        (b'{"a":1} {"b":2}\t{"c":3}', [{"a": 1}, {"b": 2}, {"c": 3}], ""),
        (b'{"a":1}{"b":', [{"a": 1}], "not JSON"),
        (b'{"a":1,"b":{"type":"te{"type":"x","b":2}', [{"type": "x", "b": 2}], "not JSON"),
        (b'{"a":{"type":"inner"},', [], "not JSON"),
        (b'\0\0{"a":1}\0', [{"a": 1}], ""),
        (b"\0\0\0", [], "NUL bytes"),
        (b"   ", [], ""),
        (b'{"a":"\\ud83d"}', [{"a": "�"}], ""),
        (b'{"a":"\\\\ud83d \\ud83d\\ude00"}', [{"a": "\\ud83d 😀"}], ""),
        (b'{"a":"\xff\xfe"}', [{"a": "��"}], ""),
        (b'{"a":"tab\tinside"}', [{"a": "tab\tinside"}], ""),
        (b'{"a":NaN}{"b":1}', None, ""),
        (b"null", [], "not an object"),
        (b'[{"a":1}]', [], "not an object"),
        (b"{}", [], "not an object"),
        (b"<<<<<<< HEAD", [], "not JSON"),
        (b'{"a":' + b"9" * 6000 + b"}", None, None),
        (b'{"a":' + b"[" * 900 + b"]" * 900 + b"}", None, ""),
        (b'{"a":' + b"[" * 90000 + b"]" * 90000 + b"}", [], "nested too deep"),
    ],
)
def test_a_line_gives_what_can_be_read(raw: bytes, found: list[object] | None, why: str | None) -> None:
    """None in the table: whatever it gives, it does not raise."""
    got, reason = objects(raw)
    if found is not None:
        assert got == found
    if why is not None:
        assert reason == why


@given(st.binary(max_size=200))
def test_no_bytes_raise(raw: bytes) -> None:
    for item in objects(raw)[0]:
        assert isinstance(item, dict) and item


@given(st.text(max_size=100))
def test_no_text_raises(text: str) -> None:
    value(text)


def test_arguments_with_a_lone_surrogate_are_read() -> None:
    assert value('{"a":"\\udc00"}') == {"a": "�"}
    assert value("{broken") is None
