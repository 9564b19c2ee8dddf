"""Plain files, written whole and private."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recall import files
from recall.files import Lock, make_private_dir, write_atomic


def test_written_whole_and_private(tmp_path: Path) -> None:
    """The content is there, 0600 in folders 0700 whatever the umask, and nothing else is left."""
    path = tmp_path / "a" / "b" / "card.md"
    for umask in (0, 0o277):
        before = os.umask(umask)
        try:
            write_atomic(str(path), b"text")
        finally:
            os.umask(before)
        assert path.read_bytes() == b"text"
        assert path.stat().st_mode & 0o777 == 0o600
        assert {folder.stat().st_mode & 0o777 for folder in (path.parent, path.parent.parent)} == {0o700}
        assert os.listdir(path.parent) == ["card.md"]
    write_atomic(str(path), b"", mode=0o644)
    assert path.stat().st_mode & 0o777 == 0o644
    assert path.read_bytes() == b""


@pytest.mark.parametrize("call", ["fsync", "rename", "fchmod"])
def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "card.md"
    path.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OSError, match="No space"):
        write_atomic(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["card.md"]


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real, link = tmp_path / "dotfiles" / "settings.json", tmp_path / "settings.json"
    real.write_bytes(b"old")
    link.symlink_to("dotfiles/settings.json")
    write_atomic(str(link), b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_folders_that_exist_are_left_as_they_are(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_private_dir(str(tmp_path / "x"))
    make_private_dir(str(tmp_path / "x"))
    assert tmp_path.stat().st_mode & 0o777 == 0o755
    (tmp_path / "file").touch()
    with pytest.raises(OSError):
        make_private_dir(str(tmp_path / "file"))


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    """A second one gets None at once, in this process or another, and the lock after the first is gone."""
    path = str(tmp_path / "state" / "lock")
    ask = (
        "import sys; from recall.files import Lock\nwith Lock(sys.argv[1], wait=False) as held: print(held is not None)"
    )

    def other() -> str:
        env = {"PYTHONPATH": str(Path(files.__file__).parents[1])}
        return subprocess.run([sys.executable, "-c", ask, path], env=env, capture_output=True, text=True).stdout.strip()

    with Lock(path) as held:
        assert held
        with Lock(path, wait=False) as second:
            assert second is None
        assert other() == "False"
    assert other() == "True"
    assert os.stat(path).st_mode & 0o777 == 0o600
