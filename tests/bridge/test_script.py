"""The script of the bridge: what it repeats of recall, and what any line does to it. iTerm2 is not needed here."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import json
import math
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.core import bridge as wire
from recall.errors import Refused
from recall.terminals import pasting
from tests.conftest import ROOT

SCRIPT = ROOT / "recall/share/iterm2/recall_bridge.py"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("recall_bridge_under_test", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = _load()


@pytest.mark.parametrize(
    "name", ["VERSION", "LARGEST_REQUEST", "LARGEST_ANSWER", "MOST_LINES", "LONGEST", *[op.upper() for op in wire.OPS]]
)
def test_both_sides_say_the_same(name: str) -> None:
    """The script cannot import what it repeats."""
    assert getattr(script, name) == getattr(wire, name)


def test_both_sides_know_what_acts_in_a_terminal() -> None:
    """Neither lets through what the other one refuses; and the marks of a paste are the same."""
    assert (script.BEGIN, script.END) == (pasting.BEGIN, pasting.END)
    for code in (*range(0x300), *range(0xD7F0, 0xE010)):
        refused = True
        with contextlib.suppress(Refused):
            pasting.pasteable(chr(code))
            refused = False
        assert bool(script.ACTED_UPON.search(chr(code))) is refused, hex(code)


def test_it_needs_nothing_of_ours_and_no_new_python() -> None:
    """Only the standard library and iterm2, in the grammar of Python 3.8: it runs in iTerm2's own Python."""
    tree = ast.parse(SCRIPT.read_text(), feature_version=(3, 8))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(str(node.module))
    outside = {name for name in names if name.split(".")[0] not in sys.stdlib_module_names}
    assert outside == {"iterm2"}
    assert "TaskGroup" not in SCRIPT.read_text()
    assert "asyncio.timeout(" not in SCRIPT.read_text()


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_break_it(line: bytes) -> None:
    """Any line is a request or Wrong."""
    with contextlib.suppress(script.Wrong):
        assert script.understood(line)["op"] in wire.OPS


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.lists(st.integers(), max_size=2),
    st.sampled_from(["GUID-A", "all", 1, 5, 10]),
)


@settings(deadline=None)
@given(
    st.fixed_dictionaries(
        {"v": st.sampled_from([1, 1, 1, 2, "1", True])},
        optional={
            "op": st.one_of(st.sampled_from(wire.OPS), VALUES),
            "until": st.one_of(st.just(0), VALUES),
            "within": st.one_of(st.just(5), VALUES),
            "pane": VALUES,
            "tty": VALUES,
            "text": VALUES,
            "lines": VALUES,
        },
    ),
    st.booleans(),
)
def test_what_is_understood_can_be_done(asked: dict[str, object], soon: bool) -> None:
    """A request that is not Wrong has all that its operation needs, in the right types and bounds."""
    if soon:
        asked = {**asked, "until": time.time() + 5}
    try:
        found = script.understood(json.dumps(asked).encode() + b"\n")
    except script.Wrong:
        return
    if found["op"] == wire.RETIRE:
        return
    assert asked["v"] == 1
    assert math.isfinite(found["until"])
    assert found["within"] <= wire.LONGEST
    if found["op"] in (wire.READ, wire.PASTE, wire.ENTER):
        assert isinstance(found["pane"], str)
    if found["op"] == wire.READ:
        assert 0 < found["lines"] <= wire.MOST_LINES
    if found["op"] == wire.PASTE:
        assert pasting.pasteable(found["text"]) == found["text"] != ""


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=20))
def test_what_recall_asks_is_understood(text: str, pane: str) -> None:
    """Of any text that may be pasted, word for word."""
    try:
        given_text = pasting.pasteable(text)
    except Refused:
        return
    line = wire.request("paste", time.time(), 5, pane="x" + pane.replace("\ud800", ""), text="x" + given_text)
    assert line.count(b"\n") == 1
    assert script.understood(line)["text"] == "x" + given_text


@settings(deadline=None)
@given(st.text(max_size=300))
def test_an_answer_is_one_line_that_recall_reads(text: str) -> None:
    """Whatever stands on the screen."""
    data = script.packed({"ok": True, "text": text})
    assert data.count(b"\n") == 1
    assert wire.answer(data)["text"] == text


@pytest.mark.parametrize("gone", [True, False])
def test_a_job_is_wanted_while_its_caller_is_there(gone: bool) -> None:
    """By the connection, not by what the caller once said."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        job = script.Job(ours, time.monotonic(), wire.request("hello", time.time(), 5))
        job.wanted()
        if gone:
            theirs.close()
            with pytest.raises(script.Wrong, match="hung up"):
                job.wanted()


@pytest.mark.parametrize(("until", "arrived"), [(-1.0, 0.0), (100.0, -10.0)])
def test_a_job_is_over_by_whichever_clock_is_first(until: float, arrived: float) -> None:
    """Somebody may set the clock, and the machine may have slept."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        line = wire.request("hello", time.time() + until - 5, 5)
        job = script.Job(ours, time.monotonic() + arrived, line)
        with pytest.raises(script.Wrong, match="was over"):
            job.wanted()


def test_the_checkout_s_own_file_does_not_run(tmp_path: Path) -> None:
    """Without the path of a socket it says what puts it in place."""
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert "recall iterm-install" in done.stderr
