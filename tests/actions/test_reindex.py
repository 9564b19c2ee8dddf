"""`reindex`: the same index again, from the archive, without hurting the old one."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from recall.actions.reindex import placed, rebuild
from recall.actions.sweep import nothing
from recall.actions.turn import turn
from recall.errors import Unavailable
from recall.settings import Settings
from recall.store import NEW, open_store, output_path
from tests.builders import claude_session, codex_session
from tests.conftest import ROOT, Run, environment
from tests.machine import append, rows, search, settings, sweep, uid, user

HARMS = ("missing", "garbage", "older", "newer", "no output", "output of another")


def _fill(home: Path, count: int = 12) -> None:
    for number in range(count):
        turns = [(f"question about heron{number}", "answer", [("Bash", {"command": "ls"}, f"printed{number}")])] * 3
        claude_session(home, "crm", uid(number), turns)
        codex_session(home, "api", uid(100 + number), turns, name=f"name{number}")


def _state(here: Settings) -> list[tuple[object, ...]]:
    """What the index says, without its own numbers."""
    with open_store(here.index) as store:
        sessions = sorted((row.id, *row[2:16], row.words, row.pieces) for row in store.sessions())
        files = sorted((file.copy, file.kind, file.source, file.done) for file in store.files())
        known = sorted(store.sources().items())
    return [*sessions, *files, *known]


def _set_version(here: Settings, value: str) -> None:
    with sqlite3.connect(here.index) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (value,))
    db.close()


@pytest.mark.parametrize("harm", HARMS)
def test_an_index_in_any_state_is_made_again(home: Path, run_recall: Run, harm: str) -> None:
    """The new one says what the old one said, INDEX.md too; the next sweep has nothing to do."""
    _fill(home)
    run_recall("sweep", check=True)
    here = settings(home)
    before = _state(here)
    view = Path(here.data, "INDEX.md").read_bytes()
    Path(here.data, "INDEX.md").unlink()
    index = Path(here.index)
    if harm == "missing":
        index.unlink()
    elif harm == "garbage":
        index.write_bytes(b"nothing" * 5000)
    elif harm in ("older", "newer"):
        _set_version(here, "0.1" if harm == "older" else "999.9")
    elif harm == "no output":
        Path(output_path(here.index)).unlink()
    else:
        Path(output_path(here.index)).write_bytes(b"x" * 9000)
    done = run_recall("reindex")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout.startswith("24 sessions from 24 transcripts")
    assert Path(here.data, "INDEX.md").read_bytes() == view
    sweep(here)
    assert _state(here) == before
    assert sweep(here).read == 0


@pytest.mark.parametrize(("harm", "status"), [("garbage", 5), ("newer", 5), ("no output", 5), ("older", 0)])
def test_find_says_what_is_wrong_with_the_index(home: Path, run_recall: Run, harm: str, status: int) -> None:
    """In plain words with the way out; an older one is made again by itself."""
    _fill(home, 2)
    run_recall("sweep", check=True)
    here = settings(home)
    if harm == "garbage":
        Path(here.index).write_bytes(b"nothing" * 5000)
    elif harm == "no output":
        Path(output_path(here.index)).unlink()
    else:
        _set_version(here, "0.1" if harm == "older" else "999.9")
    done = run_recall("find", "heron1")
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    assert ("reindex" in done.stderr) == (status == 5)
    if harm == "newer":
        assert "newer" in done.stderr
        assert run_recall("sweep").returncode == 5


def test_the_old_index_is_read_while_the_new_one_is_made(home: Path) -> None:
    """A reader that opened it before and one that opens it in the middle both get their answers."""
    _fill(home)
    here = settings(home)
    sweep(here)
    answers = []

    def listen(done: int, total: int, what: str) -> None:
        answers.append(search(here, "heron3"))

    assert rebuild(here, progress=listen) == 24
    assert len(answers) > 10
    assert all(sorted(one) == sorted([uid(3), uid(103)]) for one in answers)


def test_a_reindex_waits_for_its_turn(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another process sweeps it waits for some seconds, then says so."""
    here = settings(home)
    with turn(here), pytest.raises(Unavailable, match="sweep is running"), turn(here, seconds=0):
        pass
    with turn(here, seconds=0):
        pass


KILLED = """
import os, signal, sys
from recall import store as index
from recall.actions.reindex import rebuild
from recall.actions.sweep import nothing
from recall.settings import load
what, number = sys.argv[1], int(sys.argv[2])
left = number
def counting(real):
    def call(*args, **more):
        global left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **more)
    return call
if what == "step":
    for name in ("add_pieces", "put_file", "add_prints", "put_head", "settle"):
        setattr(index.Store, name, counting(getattr(index.Store, name)))
else:
    for name in ("replace", "unlink", "rename"):
        setattr(os, name, counting(getattr(os, name)))
rebuild(load(), progress=nothing)
"""


@pytest.mark.parametrize(
    ("what", "numbers"), [("step", (1, 2, 9, 33, 60, 90)), ("rename", (1, 2, 3, 4, 5, 6, 7, 8, 9, 10))]
)
def test_killed_at_any_point_the_index_works(home: Path, what: str, numbers: tuple[int, ...]) -> None:
    """Whether in the middle of reading or between the renames: find answers, and the next reindex is whole."""
    _fill(home)
    here = settings(home)
    sweep(here)
    before = _state(here)
    killed = 0
    for number in numbers:
        done = subprocess.run([sys.executable, "-c", KILLED, what, str(number)], env=environment(home), cwd=ROOT)
        killed += done.returncode == -9
        assert sorted(search(here, "heron3")) == sorted([uid(3), uid(103)]), number
        assert _state(here) == before
    assert killed >= 3
    assert rebuild(here, progress=nothing) == 24
    assert _state(here) == before
    assert not Path(here.index + NEW).exists()


def test_an_archive_that_is_not_mounted_is_no_reason_to_forget(home: Path, run_recall: Run) -> None:
    _fill(home, 2)
    run_recall("sweep", check=True)
    here = settings(home)
    shutil.move(here.archive, home / "elsewhere")
    done = run_recall("reindex")
    assert (done.returncode, "not mounted" in done.stderr) == (4, True)
    assert len(rows(here)) == 4
    assert run_recall("verify").returncode == 4


def test_an_archive_of_an_earlier_tool_is_indexed(home: Path) -> None:
    """Copies that lie directly in the root are sessions of Claude Code."""
    path = claude_session(home, "crm", uid(1), [("the old tapir", "yes")])
    here = settings(home)
    target = Path(here.archive) / path.parent.name
    target.mkdir(parents=True)
    shutil.move(path, target / path.name)
    assert sweep(here).rebuilt
    assert search(here, "tapir") == [uid(1)]
    path.parent.mkdir(exist_ok=True)
    shutil.copy(target / path.name, path)
    append(path, [user(uid(1), "and an ibex", 1)])
    sweep(here)
    assert search(here, "ibex") == [uid(1)]
    assert not list((Path(here.archive) / "claude").rglob("*.jsonl"))


@pytest.mark.parametrize(
    ("copy", "want"),
    [
        ("claude/-x/0b5f.jsonl", ("claude", "main")),
        ("claude@0123abcd/-x/0b5f.jsonl", ("claude", "main")),
        ("-home-dev-x/0b5f.jsonl", ("claude", "main")),
        (f"claude/-x/{uid(1)}/subagents/agent-1.jsonl", ("claude", "sub")),
        (f"claude/-x/{uid(1)}/tool-results/a.txt", ("claude", "companion")),
        (f"codex/rollout-2026-06-11T09-00-00-{uid(1)}.jsonl", ("codex", "main")),
        ("codex/history.jsonl", ("codex", "history")),
        ("claude/history.jsonl", ("claude", "history")),
        ("codex/x.txt", None),
    ],
)
def test_a_copy_is_known_by_its_path(copy: str, want: tuple[str, str] | None) -> None:
    found = placed(copy)
    assert (found and (found[0], found[1].kind)) == want


def test_reindex_tells_its_counts_as_json(home: Path, run_recall: Run) -> None:
    import json

    _fill(home, 2)
    run_recall("sweep", check=True)
    done = json.loads(run_recall("reindex", "--json").stdout)
    assert (done["schema"], done["sessions"], done["transcripts"], done["problems"]) == (1, 4, 4, [])
    assert os.listdir(home / ".claude" / "recall")
