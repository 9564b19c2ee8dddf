"""Records become parts: a call with what it was given and what it printed, in the place of the call."""

from __future__ import annotations

from recall.core.change import EDIT, PATCH, WRITE, Change
from recall.core.model import ACTION, ASIDE, ASSISTANT, OUTPUT, THINKING, USER, Record
from recall.core.patch import Hunk
from recall.core.talk import difference, parts


def _record(zone: int, text: str, at: int = 0, tool: str = "", call: str = "", failed: bool = False) -> Record:
    return Record(zone, text, at, 1.0, tool, call, failed)


def test_outputs_stand_with_their_calls_however_late_they_come() -> None:
    records = [
        _record(USER, "go", 1),
        _record(ACTION, "Bash ls", 2, "Bash", "a"),
        _record(ACTION, "Bash pwd", 3, "Bash", "b"),
        _record(OUTPUT, "/home", 4, "Bash", "b", True),
        _record(OUTPUT, "file", 5, "Bash", "a"),
        _record(ASSISTANT, "done", 6),
    ]
    found = list(parts(records))
    assert [(one.role, one.number) for one in found] == [("user", 1), ("call", 0), ("call", 0), ("assistant", 2)]
    assert [(one.output, one.failed) for one in found[1:3]] == [("file", False), ("/home", True)]


def test_an_output_without_its_call_is_a_part_of_its_own() -> None:
    (one,) = parts([_record(OUTPUT, "lost", 1, "Bash", "x", True)])
    assert (one.role, one.tool, one.output, one.failed) == ("call", "Bash", "lost", True)


def test_thinking_and_asides_are_not_counted_as_messages() -> None:
    records = [_record(THINKING, "hm"), _record(ASIDE, "context"), _record(ASSISTANT, "yes")]
    assert [(one.role, one.number) for one in parts(records)] == [("thinking", 0), ("aside", 0), ("assistant", 1)]


def test_nothing_is_lost_in_a_long_turn() -> None:
    records = [_record(ACTION, f"Bash {n}", n, "Bash", str(n)) for n in range(2000)]
    records += [_record(OUTPUT, f"out {n}", 5000 + n, "Bash", str(n)) for n in range(2000)]
    found = list(parts(records))
    assert {one.text for one in found} >= {record.text for record in records if record.zone == ACTION}
    assert {line for one in found for line in one.output.split("\n") if line} == {f"out {n}" for n in range(2000)}


def test_differences() -> None:
    edit = Change("/a", EDIT, 0, 0, edits=(("a\nb\nc", "a\nB\nc", False), ("x", "y", False)))
    assert difference(edit) == [" a", "-b", "+B", " c", "…", "-x", "+y"]
    assert difference(Change("/a", WRITE, 0, 0, text="new\n")) == ["+new"]
    assert difference(Change("/a", WRITE, 0, 0, text="a\nc", base="a\nb")) == [" a", "-b", "+c"]
    assert difference(Change("/a", PATCH, 0, 0, hunks=(Hunk("", ("a",), ("b",)),))) == ["-a", "+b"]
