"""Whether the archive may be written to, and where in it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from recall.archive.append import MARKER, locate, purged, ready
from recall.archive.store import adopted


def test_the_first_time_makes_root_and_marker(tmp_path: Path) -> None:
    """Root and state are made, private whatever the umask, and being ready is no news the second time."""
    root, state = tmp_path / "a" / "archive", tmp_path / "b" / "state"
    before = os.umask(0)
    try:
        assert ready(str(root), str(state))
        assert ready(str(root), str(state))
    finally:
        os.umask(before)
    assert (root / MARKER).stat().st_mode & 0o777 == 0o600
    assert {path.stat().st_mode & 0o777 for path in (root, root.parent, state)} == {0o700}
    assert (state / "archive-seen").read_text() == f"{root}\n"


@pytest.mark.parametrize("left", ["nothing", "an empty mount point", "other things"])
def test_a_root_that_lost_its_marker_is_not_mounted(tmp_path: Path, left: str) -> None:
    """Nothing is made, whatever is in its place."""
    root, state = tmp_path / "disk" / "archive", tmp_path / "state"
    assert ready(str(root), str(state))
    shutil.rmtree(root.parent)
    if left != "nothing":
        root.mkdir(parents=True)
    if left == "other things":
        (root / "claude").mkdir()
    before = sorted(tmp_path.rglob("*"))
    assert not ready(str(root), str(state))
    assert sorted(tmp_path.rglob("*")) == before
    root.mkdir(parents=True, exist_ok=True)
    (root / MARKER).touch()
    assert ready(str(root), str(state))


def test_another_root_is_another_matter(tmp_path: Path) -> None:
    """Each root is remembered by itself; one that merely begins like another is not that other."""
    state = str(tmp_path / "state")
    assert ready(str(tmp_path / "one"), state)
    assert ready(str(tmp_path / "on"), state)
    shutil.rmtree(tmp_path / "one")
    assert not ready(str(tmp_path / "one"), state)
    assert ready(str(tmp_path / "on"), state)
    assert ready(str(tmp_path / "onetwo"), state)


def test_a_marked_root_is_remembered_when_the_state_was_lost(tmp_path: Path) -> None:
    root, state = tmp_path / "archive", tmp_path / "state"
    ready(str(root), str(state))
    shutil.rmtree(state)
    assert ready(str(root), str(state))
    shutil.rmtree(root)
    assert not ready(str(root), str(state))


def test_a_root_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError):
        ready(str(tmp_path / "file" / "archive"), str(tmp_path / "state"))
    (tmp_path / "dangling").symlink_to(tmp_path / "unmounted")
    with pytest.raises(OSError):
        ready(str(tmp_path / "dangling"), str(tmp_path / "state"))


def test_purged_ids(tmp_path: Path) -> None:
    """Exactly the ids that have a file; no id, or one that cannot be a name, is not purged."""
    (tmp_path / "purged").mkdir()
    (tmp_path / "purged" / "0b5f").touch()
    assert purged(str(tmp_path), "0b5f")
    for other in ("", "0b5", "0b5f\0", "x/y", "\udc80\ud800"):
        assert not purged(str(tmp_path), other)
    assert not purged(str(tmp_path / "nowhere"), "0b5f")


def test_copies_of_an_earlier_tool_are_gone_on_with_in_place(root: str) -> None:
    """A new-style copy wins, then one directly in the root, else the new name; a hook and a sweep agree."""
    base = Path(root)
    for name in ("-x/old.jsonl", "-x/both.jsonl", "claude/-x/both.jsonl", "-x/old/subagents/a.jsonl"):
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).touch()
    folders = adopted(root)
    assert folders == {"-x"}
    for asked, found in (
        ("claude/-x/old.jsonl", "-x/old.jsonl"),
        ("claude/-x/old/subagents/a.jsonl", "-x/old/subagents/a.jsonl"),
        ("claude/-x/both.jsonl", "claude/-x/both.jsonl"),
        ("claude/-x/new.jsonl", "claude/-x/new.jsonl"),
        ("claude/-y/new.jsonl", "claude/-y/new.jsonl"),
        ("claude/history.jsonl", "claude/history.jsonl"),
        ("codex/rollout-x.jsonl", "codex/rollout-x.jsonl"),
    ):
        assert locate(root, asked) == locate(root, asked, folders) == found
    assert adopted(root + "/nowhere") == frozenset()
