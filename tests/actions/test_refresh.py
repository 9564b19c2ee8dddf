"""The look round that `find` takes."""

from __future__ import annotations

import shutil
from pathlib import Path

from recall.actions.refresh import refresh
from tests.builders import claude_session
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
