"""`verify`: each damaged byte range is named, and what is missing from the index as well."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from recall.archive.append import BLOCK
from recall.store import open_store
from tests.builders import claude_session
from tests.conftest import Run
from tests.machine import append, settings, sweep, uid, user


def _copy(home: Path, number: int) -> Path:
    (found,) = (home / "backups").rglob(f"{uid(number)}.jsonl")
    return found


def _make(home: Path) -> None:
    claude_session(home, "crm", uid(1), [("lorem " * 3000, "ipsum " * 3000)] * 80)
    claude_session(home, "crm", uid(2), [("small", "fine")])
    sweep(settings(home))


def test_a_sound_archive_is_sound(home: Path, run_recall: Run) -> None:
    """Also with a torn last line, which is no damage."""
    _make(home)
    path = next((home / ".claude" / "projects").rglob(f"{uid(2)}.jsonl"))
    with path.open("ab") as file:
        file.write(b'{"type":"user","mess')
    sweep(settings(home))
    done = run_recall("verify")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("2 sessions, all sound\n")
    assert json.loads(run_recall("verify", "--json").stdout)["ok"] is True


def test_a_damaged_byte_is_named_with_its_block(home: Path, run_recall: Run) -> None:
    _make(home)
    copy = _copy(home, 1)
    data = bytearray(copy.read_bytes())
    assert len(data) > 2 * BLOCK
    data[BLOCK + 77] ^= 1
    times = copy.stat()
    with copy.open("r+b") as file:
        file.write(data)
    os.utime(copy, ns=(times.st_atime_ns, times.st_mtime_ns))
    done = run_recall("verify")
    name = copy.relative_to(home / "backups" / "claude-transcripts")
    assert done.returncode == 5
    assert done.stdout.splitlines()[0] == f"damaged  {name}: block 1, bytes {BLOCK}-{2 * BLOCK}"
    found = json.loads(run_recall("verify", "--json").stdout)
    assert (found["ok"], found["index"]) == (False, [])
    assert [(one["why"], one["block"], one["start"], one["end"]) for one in found["damaged"]] == [
        ("damaged", 1, BLOCK, 2 * BLOCK)
    ]


@pytest.mark.parametrize("harm", ["missing", "short"])
def test_a_copy_that_lost_bytes_is_named(home: Path, run_recall: Run, harm: str) -> None:
    _make(home)
    copy = _copy(home, 2)
    size = copy.stat().st_size
    if harm == "missing":
        copy.unlink()
    else:
        os.truncate(copy, 100)
    done = run_recall("verify")
    assert done.returncode == 5
    start = 0 if harm == "missing" else 100
    assert f"{harm:<8} " in done.stdout
    assert f"bytes {start}-{size}" in done.stdout


def test_what_is_missing_from_the_index_is_named(home: Path, run_recall: Run) -> None:
    """A transcript that was swept and has no rows is a fault; one that came since is not."""
    _make(home)
    here = settings(home)
    with open_store(here.index) as store, store.writing():
        sources = store.sources()
        (row,) = [row for row in store.sessions() if row.id == uid(2)]
        store.forget_session(row.no)
        for path, seen in sources.items():
            store.set_source(path, *seen)
    done = run_recall("verify")
    assert done.returncode == 5
    assert f"{uid(2)}.jsonl: not indexed" in done.stdout
    assert run_recall("reindex").returncode == 0
    assert run_recall("verify").returncode == 0
    path = next((home / ".claude" / "projects").rglob(f"{uid(2)}.jsonl"))
    append(path, [user(uid(2), "later", 1)])
    with _copy(home, 2).open("ab") as file:
        file.write(path.read_bytes()[_copy(home, 2).stat().st_size :])
    done = run_recall("verify")
    assert (done.returncode, "sweep takes it in" in done.stderr) == (0, True)


def test_a_damaged_index_is_told(home: Path, run_recall: Run) -> None:
    _make(home)
    index = Path(settings(home).index)
    data = index.read_bytes()
    index.write_bytes(data[:16384] + os.urandom(len(data) - 16384))
    done = run_recall("verify")
    assert done.returncode == 5
    assert "index " in done.stdout
    assert "recall reindex" in done.stderr
    index.unlink()
    assert run_recall("verify").returncode == 5


def test_with_nothing_kept_nothing_is_wrong(run_recall: Run) -> None:
    done = run_recall("verify")
    assert (done.returncode, done.stderr) == (0, "")
