"""Whether a text arrived in a transcript. The lines are as Claude Code 2.1.332 and Codex 0.171.0 write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recall.actions.arrival import Tail, sign

LONG = "look at this:\n" + "line of a long text\n" * 500


def lines(*records: object) -> bytes:
    return b"".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for one in records)


def claude(content: object, kind: str = "user") -> dict[str, object]:
    return {"parentUuid": None, "type": kind, "message": {"role": kind, "content": content}, "uuid": "1"}


def codex(text: str, role: str = "user") -> dict[str, object]:
    content = [{"type": "input_text", "text": text}]
    return {"ordinal": 9, "type": "response_item", "payload": {"type": "message", "role": role, "content": content}}


def typed_item(text: str) -> dict[str, object]:
    item = {"type": "UserMessage", "content": [{"type": "text", "text": text}]}
    return {"type": "event_msg", "payload": {"type": "item_completed", "item": item}}


@pytest.mark.parametrize(
    ("record", "text", "found"),
    [
        (claude('say "hello"\nтак\tü'), 'say "hello"\nтак\tü', "arrived"),
        (claude(f'\n\n<pasted_content id="1">\n{LONG}</pasted_content>'), LONG, "arrived"),
        (claude("<command-name>/compact</command-name>\n<command-args>be short</command-args>"), "/compact be short", "arrived"),
        ({"type": "queue-operation", "operation": "enqueue", "content": "later"}, "later", "queued"),
        (claude([{"type": "text", "text": "later"}], "assistant"), "later", ""),
        (claude("something else"), "later", ""),
        (codex("one\n\ntwo"), "one\n\ntwo", "arrived"),
        (typed_item("one"), "one", "arrived"),
        (codex("one", "assistant"), "one", ""),
    ],
)  # fmt: skip
def test_sign(record: object, text: str, found: str) -> None:
    """A prompt with the text is a sign, an answer with it is none."""
    assert sign(lines({"type": "other"}, record), text) == found


def test_a_prompt_that_waited_and_was_used() -> None:
    """Both records have been added meanwhile."""
    queued = {"type": "queue-operation", "operation": "enqueue", "content": "later"}
    assert sign(lines(queued, claude("later")), "later") == "arrived"


def test_only_what_is_new(tmp_path: Path) -> None:
    """Whole lines that were added, each once; a transcript that comes into being later is new altogether."""
    path = tmp_path / "t.jsonl"
    tail = Tail(lambda: str(path) if path.exists() else "")
    assert tail.new() == b""
    path.write_bytes(b"one\ntw")
    assert tail.new() == b"one\n"
    with path.open("ab") as file:
        file.write(b"o\nthree\n")
    assert tail.new() == b"two\nthree\n"
    assert tail.new() == b""
    assert Tail(lambda: str(path)).new() == b""
    path.unlink()
    assert tail.new() == b""
