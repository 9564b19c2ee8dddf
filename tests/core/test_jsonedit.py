"""Edits of JSON text: every other byte stays, and each edit can be taken back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.core import jsonedit
from recall.core.jsonedit import NotJson

WRONG = [
    ("", "empty"),
    ("  \n", "empty"),
    ('{"a": 1,}', "a comma before the closing bracket"),
    ("[1,]", "a comma before the closing bracket"),
    ('{"a": 1 // no\n}', "a comment"),
    ("/* no */ {}", "a comment"),
    ("{'a': 1}", "a key in quotes"),
    ('{"a" 1}', "a colon"),
    ('{"a": 1 "b": 2}', "a comma or a closing bracket"),
    ('{"a": NaN}', "no JSON value"),
    ('{"a": 01}', "a comma or a closing bracket"),
    ('{"a": "tab\there"}', "no JSON value"),
    ('{"a": "\\x"}', "no JSON value"),
    ('{"a": 1', "ends too early"),
    ("{} {}", "something follows"),
    ("[" * 200 + "]" * 200, "nested deeper"),
    ("nullx", "no JSON value"),
]


@pytest.mark.parametrize(("text", "why"), WRONG)
def test_what_is_no_json_is_told(text: str, why: str) -> None:
    """Comments, trailing commas and the like are named, with their place."""
    with pytest.raises(NotJson) as caught:
        jsonedit.scan(text)
    assert why in str(caught.value)


def test_the_place_of_a_fault_is_told() -> None:
    """Line and column count from one."""
    with pytest.raises(NotJson, match="line 2, column 8: a comma before the closing bracket"):
        jsonedit.scan('{\n "a": 1,\n}')


def test_the_last_of_equal_keys_counts() -> None:
    """As it does for the clients."""
    assert jsonedit.replace('{"a": 1, "a": 2}', ("a",), "3") == '{"a": 1, "a": 3}'


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)
INDENTS = st.sampled_from([None, "  ", "\t", "", "   "])
SEPARATORS = st.sampled_from([(", ", ": "), (",", ":"), (" , ", " : ")])
FRAMES = st.sampled_from(["{}", "{}\n", "\ufeff{}", "\r\n{}\r\n\r\n"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """JSON objects in many layouts."""
    value = draw(st.dictionaries(st.text(max_size=3), VALUES, max_size=4))
    body = json.dumps(value, indent=draw(INDENTS), separators=draw(SEPARATORS), ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):
        body = body.replace("\n", "\r\n")
    body = body.replace("{}", draw(st.sampled_from(["{}", "{ }", "{\n}"])))
    return draw(FRAMES).replace("{}", body, 1)


def value_of(text: str) -> Any:
    return jsonedit.scan(text).value(text)


@given(texts())
def test_what_python_writes_is_read(text: str) -> None:
    """The strict reader and the library agree."""
    assert value_of(text) == json.loads(text.lstrip("\ufeff"))


@given(texts(), VALUES)
def test_a_member_can_be_added_and_taken_back(text: str, value: Any) -> None:
    """The text is the same again, and in between it says what it should."""
    before = value_of(text)
    key = "a new key"
    longer, gap = jsonedit.add(text, (), value, key)
    assert value_of(longer) == {**before, key: value}
    assert jsonedit.drop(longer, (key,), gap)[0] == text


@given(texts(), st.lists(VALUES, max_size=3), VALUES)
def test_an_item_can_be_added_and_taken_back(text: str, items: list[Any], value: Any) -> None:
    """The same for the end of a list."""
    key = "a new key"
    with_list, _ = jsonedit.add(text, (), items, key)
    longer, gap = jsonedit.add(with_list, (key,), value)
    assert value_of(longer)[key] == [*items, value]
    assert jsonedit.drop(longer, (key, len(items)), gap)[0] == with_list


@given(st.lists(VALUES, min_size=1, max_size=4), st.data())
def test_a_taken_item_can_be_put_back(items: list[Any], data: st.DataObject) -> None:
    """At its old place, whatever its place was."""
    text = json.dumps({"list": items}, indent=data.draw(INDENTS))
    index = data.draw(st.integers(0, len(items) - 1))
    shorter, gone = jsonedit.drop(text, ("list", index))
    assert value_of(shorter)["list"] == items[:index] + items[index + 1 :]
    assert value_of(jsonedit.put(shorter, ("list",), gone))["list"] == items


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:0 eE-.\\ut/\n', max_size=40).map(str.encode))
def test_nothing_breaks_the_reader(data: bytes) -> None:
    """It says yes or NotJson, never anything else, and never yes to what the library refuses."""
    text = data.decode("utf-8", "replace")
    try:
        node = jsonedit.scan(text)
    except NotJson:
        return
    assert node.value(text) == json.loads(text.lstrip("\ufeff"))
