"""What a machine can do to recall: no permission, no space, no home, a wrong clock. One line, the right status."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from recall import settings as configuration
from recall.actions import refresh as fresh
from recall.errors import Usage
from tests.builders import claude_session, codex_session
from tests.conftest import ROOT, Run, environment
from tests.machine import append, rows, search, settings, sweep, uid, user

TURNS = [("export the deals to a heron", "done")]
_POWERS = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH: what lets root read anything


def _ordinary() -> Callable[[], None] | None:
    """For `preexec_fn`: what makes a child obey permissions even where the tests run as root."""
    if os.geteuid():
        return None
    if not sys.platform.startswith("linux"):
        pytest.skip("runs as root, whom no permission stops")
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)

    def drop() -> None:
        for power in _POWERS:
            if libc.prctl(24, power, 0, 0, 0):
                os._exit(99)

    return drop


def _run(home: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "recall", *args],
        env=environment(home, **env),
        cwd=ROOT,
        capture_output=True,
        text=True,
        preexec_fn=_ordinary(),
    )
    if done.returncode == 99:
        pytest.skip("root cannot give up its powers here")
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.fixture
def locked() -> object:
    """`locked(path)` takes all permissions away; they are back when the test ends."""
    before: list[tuple[Path, int]] = []

    def lock(path: Path, mode: int = 0) -> None:
        before.append((path, path.stat().st_mode))
        path.chmod(mode)

    yield lock
    for path, mode in reversed(before):
        path.chmod(mode)


Lock = Callable[..., None]


def test_an_unreadable_file_is_told_once(home: Path, locked: Lock) -> None:
    """The others are indexed; it is named once, the status says it while it lasts, and it comes when it can be read."""
    paths = [claude_session(home, "crm", uid(number), TURNS) for number in range(3)]
    locked(paths[1])
    first = _run(home, "sweep")
    assert first.returncode == 5
    assert [line for line in first.stderr.splitlines() if "Permission denied" in line] == [
        f"recall: {paths[1]}: Permission denied"
    ]
    assert sorted(rows(settings(home))) == sorted([uid(0), uid(2)])
    second = _run(home, "sweep")
    assert (second.returncode, second.stderr) == (5, "")
    assert "1 with problems" in second.stdout
    paths[1].chmod(0o600)
    third = _run(home, "sweep")
    assert (third.returncode, third.stderr) == (0, "")
    assert len(rows(settings(home))) == 3


def test_an_unreadable_folder_is_told_and_nothing_in_it_is_forgotten(home: Path, locked: Lock) -> None:
    path = claude_session(home, "crm", uid(1), TURNS)
    claude_session(home, "api", uid(2), TURNS)
    assert _run(home, "sweep").returncode == 0
    locked(path.parent)
    done = _run(home, "sweep")
    assert (done.returncode, done.stderr) == (5, f"recall: {path.parent}: Permission denied\n")
    assert len(rows(settings(home))) == 2
    path.parent.chmod(0o700)
    again = _run(home, "sweep")
    assert (again.returncode, "0 changed" in again.stdout) == (0, True)


def test_a_folder_of_the_archive_that_cannot_be_written_stops_nothing(home: Path, locked: Lock) -> None:
    path = claude_session(home, "crm", uid(1), TURNS)
    claude_session(home, "api", uid(2), TURNS)
    _run(home, "sweep")
    folder = next((home / "backups").rglob(path.parent.name))
    locked(folder, 0o500)
    claude_session(home, "crm", uid(3), TURNS)
    claude_session(home, "api", uid(4), TURNS)
    done = _run(home, "sweep")
    assert (done.returncode, done.stderr) == (5, f"recall: {folder}: Permission denied\n")
    assert sorted(rows(settings(home))) == sorted([uid(1), uid(2), uid(4)])


@pytest.mark.parametrize("command", [("sweep",), ("reindex",), ("remove", uid(1), "--yes")])
def test_a_state_folder_that_cannot_be_written_is_told(home: Path, locked: Lock, command: tuple[str, ...]) -> None:
    claude_session(home, "crm", uid(1), TURNS)
    _run(home, "sweep")
    state = home / ".claude" / "recall"
    for path in state.iterdir():
        if path.is_file():
            locked(path, 0o400)
    locked(state, 0o500)
    done = _run(home, *command)
    assert done.returncode == 4, done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("recall:")]) == 1
    assert str(state) in done.stderr


def test_find_on_a_state_folder_that_cannot_be_written_has_an_answer_or_a_reason(home: Path, locked: Lock) -> None:
    claude_session(home, "crm", uid(1), TURNS)
    _run(home, "sweep")
    state = home / ".claude" / "recall"
    locked(state, 0o500)
    done = _run(home, "find", "heron")
    assert (done.returncode, bool(done.stdout)) in ((0, True), (4, False)), done.stderr


def test_find_answers_from_what_is_indexed_when_the_archive_cannot_be_written(home: Path, locked: Lock) -> None:
    path = claude_session(home, "crm", uid(1), TURNS)
    _run(home, "sweep")
    append(path, [user(uid(1), "something newer", 1)])
    folder = next((home / "backups").rglob(path.parent.name))
    for copy in folder.iterdir():
        locked(copy, 0o400)
    locked(folder, 0o500)
    done = _run(home, "find", "heron", "--ids")
    assert (done.returncode, done.stdout) == (0, f"{uid(1)}\n")


def test_without_a_home_recall_says_so() -> None:
    """Nothing is guessed, nothing is written to the root."""
    for env in ({}, {"HOME": ""}):
        with pytest.raises(Usage, match="HOME"):
            configuration.load(env)


def test_a_home_that_does_not_exist_is_made_only_by_what_writes(tmp_path: Path, run_recall: Run) -> None:
    missing = tmp_path / "nowhere"
    done = run_recall("find", "x", home=missing, cwd=tmp_path)
    assert done.returncode in (1, 4)
    assert not missing.exists()
    assert "Traceback" not in done.stderr


def test_a_clock_that_is_behind_changes_nothing(home: Path, run_recall: Run) -> None:
    """Sessions from the future are swept once, found, and listed first."""
    claude_session(home, "crm", uid(1), TURNS, start="2090-06-11T09:00:00+00:00")
    codex_session(home, "api", uid(2), TURNS)
    run_recall("sweep", check=True)
    assert "0 changed" in run_recall("sweep").stdout
    done = run_recall("find", "--ids")
    assert done.stdout.split() == [uid(1), uid(2)]
    assert run_recall("find", "heron", "--ids").returncode == 0
    assert run_recall("find", "nothingofthekind").returncode == 1


def test_a_pipe_or_a_folder_in_the_place_of_a_transcript_blocks_nobody(home: Path, run_recall: Run) -> None:
    path = claude_session(home, "crm", uid(1), TURNS)
    os.mkfifo(path.with_name(f"{uid(2)}.jsonl"))
    path.with_name(f"{uid(3)}.jsonl").mkdir()
    path.with_name(f"{uid(4)}.jsonl").symlink_to(path.with_name("nowhere"))
    done = run_recall("sweep", timeout=60)
    assert "Traceback" not in done.stderr
    assert list(rows(settings(home))) == [uid(1)]


def test_find_leaves_a_file_alone_that_grew_too_much(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too much for a quarter of a second is said; smaller changes are found at once."""
    big = claude_session(home, "crm", uid(1), TURNS)
    small = claude_session(home, "crm", uid(2), TURNS)
    here = settings(home)
    sweep(here)
    monkeypatch.setattr(fresh, "BYTES", 20_000)
    append(big, [user(uid(1), "a walrus " * 4000, 1)])
    append(small, [user(uid(2), "a small walrus", 1)])
    assert "1 changed files are not searched yet" in fresh.refresh(here)
    assert search(here, "walrus") == [uid(2)]
    sweep(here)
    assert fresh.refresh(here) == ""
    assert sorted(search(here, "walrus")) == sorted([uid(1), uid(2)])


def test_private_whatever_the_umask(home: Path) -> None:
    """Every folder 0700, every file 0600."""
    claude_session(home, "crm", uid(1), TURNS)
    before = set(home.rglob("*"))
    script = "import os, sys; os.umask(0); from recall.cli import main; main(sys.argv[1:])"
    for args in (["sweep"], ["reindex"], ["find", "heron"], ["remove", uid(1), "--purge", "--yes"]):
        subprocess.run([sys.executable, "-c", script, *args], env=environment(home), cwd=ROOT, check=True)
        for path in set(home.rglob("*")) - before:
            mode = path.stat().st_mode & 0o777
            assert mode == (0o700 if path.is_dir() else 0o600), (args, path, oct(mode))
