"""The tools' table: what a client is told of them is valid, and a call's arguments are taken as they were meant."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from recall.errors import Usage
from recall.mcp.tools import TOOLS, Tool, meant, schema

BY_NAME = {tool.name: tool for tool in TOOLS}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)


def test_there_are_four() -> None:
    assert list(BY_NAME) == ["find", "show", "grep", "handoff"]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_schema_is_one(tool: Tool) -> None:
    """An independent validator takes it, and it takes what has only what is needed."""
    Draft202012Validator.check_schema(schema(tool))
    least = {arg.name: ["x"] if arg.kind == "texts" else "x" for arg in tool.args if arg.needed}
    Draft202012Validator(schema(tool)).validate(least)
    assert meant(tool, least)["budget"] >= 3000


def test_all_descriptions_together_are_small() -> None:
    """They stand in the context of every session that has the server."""
    words = sum(len(tool.help) + sum(len(arg.help) for arg in tool.args) for tool in TOOLS)
    assert words < 3000


@pytest.mark.parametrize(
    ("tool", "given", "name", "value"),
    [
        ("find", {}, "limit", 10),
        ("find", {"limit": 3}, "limit", 3),
        ("find", {"limit": "3"}, "limit", 3),
        ("find", {"limit": 3.0}, "limit", 3),
        ("find", {"snippets": True}, "snippets", True),
        ("find", {"snippets": "true"}, "snippets", True),
        ("find", {"all": "false"}, "all", False),
        ("find", {"project": "crm"}, "project", ("crm",)),
        ("find", {"project": ["crm", "shop"]}, "project", ("crm", "shop")),
        ("find", {"project": []}, "project", ()),
        ("find", {"client": ""}, "client", ""),
        ("find", {"query": None}, "query", ""),
        ("grep", {"patterns": "one text"}, "patterns", ("one text",)),
        ("grep", {"patterns": ["x"], "role": "output"}, "role", ("output",)),
        ("handoff", {"id": "last", "for": "codex"}, "for", "codex"),
    ],
)
def test_what_was_meant(tool: str, given: dict[str, Any], name: str, value: object) -> None:
    assert meant(BY_NAME[tool], given)[name] == value


@pytest.mark.parametrize(
    ("tool", "given", "message"),
    [
        ("find", {"words": "x"}, "find takes no argument 'words'"),
        ("find", {"limit": 0}, "limit is no number from 1 to 200: 0"),
        ("find", {"limit": "many"}, "limit is no number from 1 to 200: 'many'"),
        ("find", {"limit": True}, "limit is no number from 1 to 200: True"),
        ("find", {"budget": 10}, "budget is no number from 200 to 100000: 10"),
        ("find", {"client": "vim"}, "client cannot be 'vim'"),
        ("find", {"all": "maybe"}, "all is true or false, not 'maybe'"),
        ("find", {"query": ["x"]}, "query is a text, not ['x']"),
        ("grep", {}, "grep needs 'patterns'"),
        ("grep", {"patterns": []}, "grep needs 'patterns'"),
        ("grep", {"patterns": ["x"], "role": ["nobody"]}, "role cannot be 'nobody'"),
        ("show", {"id": ""}, "show needs 'id'"),
    ],
)
def test_what_cannot_be_meant(tool: str, given: dict[str, Any], message: str) -> None:
    """One line, and a hint that says what can."""
    with pytest.raises(Usage) as failed:
        meant(BY_NAME[tool], given)
    assert failed.value.message == message
    assert failed.value.hint


@given(st.sampled_from(TOOLS), st.data())
def test_no_arguments_break_it(tool: Tool, data: st.DataObject) -> None:
    """Whatever a model sends is taken whole or refused in words."""
    names = st.sampled_from([arg.name for arg in tool.args]) | st.text(max_size=5)
    sent = data.draw(st.dictionaries(names, JSON, max_size=4))
    try:
        args = meant(tool, sent)
    except Usage:
        return
    assert set(args) == {arg.name for arg in tool.args}
