"""What is shown of a session before it is opened: its card, and the turns in which the words stand."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from recall.actions.preview import LONGEST, Preview, preview
from recall.store import open_store
from tests.builders import claude_session
from tests.machine import settings, sweep, uid

KEY = "sk-ant-api03-" + "Zr7Qw2Lm9Xc4Vb6N" * 5
TURNS = [
    ("Why does the export fail? " + "It did not yesterday. " * 40, "The port was \x1b[31mclosed\x1b[0m."),
    (f"Use {KEY} for the upload then", "The upload works.", [("Bash", {"command": "make upload"}, "ok")]),
    ("Thanks", "You are welcome."),
]


def seen(home: Path, *words: str, at: Callable[[Path], None] = lambda _: None) -> Preview:
    claude_session(home, "crm", uid(1), TURNS)
    here = settings(home)
    sweep(here)
    at(home)
    with open_store(here.index) as store:
        row = next(one for one in store.sessions() if one.id == uid(1))
        return preview(row, store, here, words=words)


def test_turns_with_the_words(home: Path) -> None:
    """Each turn that holds one is shown with its role, in order, cut round the word."""
    found = seen(home, "upload", "port")
    assert [turn.role for turn in found.turns] == ["assistant", "user", "action", "assistant"]
    assert found.turns[0].text == "The port was closed."
    assert found.turns[1].text.startswith("Use [redacted:") and "Zr7Qw2" not in str(found)


def test_without_words_the_beginning_and_the_end(home: Path) -> None:
    """The first request where it is longer than a row shows, then the last messages."""
    found = seen(home)
    assert found.turns[0].text.startswith("Why does the export fail?") and len(found.turns[0].text) <= LONGEST
    assert [turn.text for turn in found.turns[-2:]] == ["Thanks", "You are welcome."]
    assert (found.card, found.note) == (None, "")


def test_words_that_are_in_no_turn(home: Path) -> None:
    """A session that was found by something else is shown from its ends."""
    assert [turn.text for turn in seen(home, "nosuchword").turns[-1:]] == ["You are welcome."]


def test_a_transcript_that_is_gone(home: Path) -> None:
    """Neither copy nor source: what is known is shown, and that nothing can be read."""

    def gone(home: Path) -> None:
        for folder, _, names in os.walk(home):
            for name in names:
                if name.endswith(".jsonl"):
                    os.unlink(os.path.join(folder, name))

    found = seen(home, at=gone)
    assert "no transcript can be read" in found.note
    assert found.session.id == uid(1)


def test_only_the_session_itself_is_looked_through(home: Path) -> None:
    """Rows of other sessions that hold the words are not counted."""
    claude_session(home, "shop", uid(2), [("upload upload", "upload")] * 5)
    found = seen(home, "upload")
    assert found.found == 1
