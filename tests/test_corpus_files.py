"""What `files` replays is what real transcripts show of the same files later: when they read one whole, or edit it again.

Where another program changed a file in between (a formatter, git, a person) the transcript shows something else; that is
taken over from there, and is the reason why not all are the same.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.clients import claude_changes
from recall.core.change import SEEN, Change, replay
from recall.core.model import Line
from tests.conftest import ROOT

CORPUS = ROOT.parent / "shared" / "corpus"
SAME = 0.9


def _changes(path: Path) -> list[Change]:
    at, lines = 0, []
    with path.open("rb") as file:
        for raw in file:
            lines.append(Line(at, raw.rstrip(b"\n")))
            at += len(raw)
    return list(claude_changes.changes(lines))


def _compared(changes: list[Change]) -> list[bool]:
    """For each time that a file which is known is shown again: is it what was replayed?"""
    known: dict[str, str] = {}
    found = []
    for change in changes:
        told = change.text if change.kind == SEEN else change.base
        if told is not None and change.path in known:
            found.append(told.rstrip("\n") == known[change.path].rstrip("\n"))
        before = [Change(change.path, SEEN, 0, 0.0, text=known[change.path])] if change.path in known else []
        text = change.text if change.kind == SEEN else replay([*before, change])[change.path].text
        if text is not None:
            known[change.path] = text
        else:
            known.pop(change.path, None)
    return found


def test_what_is_replayed_is_what_transcripts_show_later() -> None:
    paths = sorted(CORPUS.rglob("projects/*/*.jsonl"))
    if not paths:
        pytest.skip("the collection of published transcripts is not beside this checkout")
    compared = [same for path in paths for same in _compared(_changes(path))]
    assert len(compared) > 200
    assert sum(compared) >= SAME * len(compared)
