"""The look round that `find` takes."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recall.actions.refresh import refresh
from recall.store import open_store
from tests.builders import claude_session, codex_session
from tests.machine import search, settings, sweep, uid


def _copies(home: Path) -> Path:
    return home / "backups/claude-transcripts/claude"


def test_what_hooks_copied_before_the_first_sweep_is_found(home: Path) -> None:
    """There is an archive and no index yet: everything in it is here, so an index of what is here is whole."""
    here = settings(home)
    path = claude_session(home, "crm", uid(1), [("Export the funnel", "Done")])
    sweep(here)
    shutil.rmtree(here.state)
    assert refresh(here) == ""
    assert search(here, "funnel") == [uid(1)]
    assert next(iter(_copies(home).rglob("*.jsonl"))).read_bytes() == path.read_bytes()


def test_an_index_of_a_part_of_the_archive_is_not_made(home: Path) -> None:
    """A copy without its source: an index without it would look whole, so it is said how to make one of everything."""
    here = settings(home)
    claude_session(home, "crm", uid(1), [("Export the funnel", "Done")])
    gone = claude_session(home, "crm", uid(2), [("Paint the logo", "Done")])
    sweep(here)
    shutil.rmtree(here.state)
    gone.unlink()
    assert "recall reindex" in refresh(here)
    assert not Path(here.index).exists()


_watched: list[str] | None = None


def _audit(event: str, args: tuple[object, ...]) -> None:
    if _watched is not None and event == "open" and isinstance(args[0], str):
        _watched.append(args[0])


@pytest.fixture
def opened() -> Iterator[Callable[[], list[str]]]:
    """The files under the clients' homes that were opened since the last call, each as often as it was."""
    global _watched
    sys.addaudithook(_audit)  # there is no way to take it back: it does nothing outside of these tests
    _watched = []

    def names() -> list[str]:
        found = [path for path in _watched or () if "/.claude/projects/" in path or "/.codex/sessions/" in path]
        assert _watched is not None
        _watched.clear()
        return [os.path.basename(path) for path in found]

    yield names
    _watched = None


def test_only_what_changed_is_opened(home: Path, opened: Callable[[], list[str]]) -> None:
    """Of many transcripts a look round opens those that grew, are new or were replaced, and none where nothing changed."""
    here = settings(home)
    paths = {n: claude_session(home, "crm", uid(n), [(f"Export number {n}", "Done")]) for n in range(1, 9)}
    codex = codex_session(home, "crm", uid(9), [("Draw the funnel", "Done")])
    sweep(here)
    opened()
    assert refresh(here) == ""
    assert opened() == []
    claude_session(home, "crm", uid(3), [("Export number 3", "Done"), ("and the quokka", "Added")])
    claude_session(home, "crm", uid(10), [("Feed the wombat", "Done")])
    codex_session(home, "crm", uid(9), [("Draw the funnel", "Done"), ("and the platypus", "Drawn")])
    assert refresh(here) == ""
    assert set(opened()) == {paths[3].name, f"{uid(10)}.jsonl", codex.name}
    assert search(here, "quokka") == [uid(3)]
    assert search(here, "wombat") == [uid(10)]
    assert search(here, "platypus") == [uid(9)]
    assert refresh(here) == ""
    assert opened() == []


def test_a_file_of_the_same_size_that_was_written_again_is_new(home: Path) -> None:
    """Size alone does not tell: its time does."""
    here = settings(home)
    path = claude_session(home, "crm", uid(1), [("Export the funnel", "Done")])
    sweep(here)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("funnel", "wombat"), encoding="utf-8")
    assert path.stat().st_size == len(text.encode())
    assert refresh(here) == ""
    assert search(here, "wombat") == [uid(1)]


def test_a_transcript_that_was_moved_is_seen_at_its_new_place(home: Path) -> None:
    """The same bytes, time and inode under another name: the index says where the client keeps it now."""
    here = settings(home)
    path = claude_session(home, "crm", uid(1), [("Export the funnel", "Done")])
    sweep(here)
    moved = path.parent.parent / "-home-dev-sales" / path.name
    moved.parent.mkdir()
    path.rename(moved)
    assert refresh(here) == ""
    with open_store(here.index) as store:
        assert store.source(str(moved)) is not None


def test_one_batch_is_taken_however_slow_the_machine_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A budget that the look round alone uses up would leave what is new unfound for ever."""
    here = settings(home)
    claude_session(home, "crm", uid(1), [("Export the funnel", "Done")])
    sweep(here)
    claude_session(home, "crm", uid(2), [("Paint the logo", "Done")])
    monkeypatch.setattr("recall.actions.refresh.SECONDS", -1.0)
    assert refresh(here) == ""
    assert search(here, "logo") == [uid(2)]
