"""Killed, crowded: the index is sound, nothing is lost, nobody is told that something is locked."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recall.actions.sweep import nothing
from recall.actions.verify import check
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import open_store
from tests.builders import claude_session, codex_session
from tests.conftest import ROOT, Run, environment
from tests.machine import append, rows, search, settings, sweep, uid, user

SWEEP = """
import os, signal, sqlite3, sys
from recall import store as index
from recall.actions.sweep import Sweep
from recall.archive import append as hot
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
if what == "copy":
    os.pwrite = counting(os.pwrite)
elif what == "index":
    for name in ("put_file", "add_pieces", "put_session", "put_head", "set_source", "add_prints"):
        setattr(index.Store, name, counting(getattr(index.Store, name)))
else:
    class Connection(sqlite3.Connection):
        def execute(self, sql, *rest):
            global left
            if sql.startswith(("BEGIN", "COMMIT", "CREATE", "PRAGMA", "ATTACH")):
                left -= 1
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)
            return super().execute(sql, *rest)
    real = sqlite3.connect
    index.sqlite3.connect = lambda *args, **more: real(*args, factory=Connection, **more)
Sweep(load()).run()
"""

POINTS = {
    "copy": (1, 2, 13, 40, 59, 61, 75),
    "index": (1, 2, 3, 5, 8, 40, 90, 150, 151, 200, 255, 300, 350, 400),
    "step": (1, 2, 4, 6, 9, 14, 20, 27, 31, 33, 35, 37),
}
"""Where the sweep is killed: before the n-th write to a copy, to the index, or step of a transaction."""
WORDS = ("heron7", "ibis12", "export", "выгрузку", "printed21", "crm", "sub5", "answer3", "name4", "nowhere")


def _fill(home: Path) -> None:
    for number in range(30):
        tools = [("Bash", {"command": f"make target{number}"}, f"printed{number} " * 40)]
        path = claude_session(
            home, "crm", uid(number), [(f"export heron{number} сделай выгрузку", f"answer{number}", tools)] * 3
        )
        if number % 5 == 0:
            folder = path.with_suffix("") / "subagents"
            folder.mkdir(parents=True)
            (folder / "agent-a.jsonl").touch()
            append(folder / "agent-a.jsonl", [user(uid(number), f"sub{number}", 1, isSidechain=True)])
        start = f"2026-06-{number % 28 + 1:02}T09:00:00+00:00"
        codex_session(
            home, "api", uid(100 + number), [(f"look at ibis{number}", "yes")] * 2, start=start, name=f"name{number}"
        )


def _answers(here: Settings) -> list[object]:
    said: list[object] = [sorted(search(here, word)) for word in WORDS]
    return [*said, sorted((row.id, row.messages, row.title, row.words, row.pieces) for row in rows(here).values())]


def _is_sound(here: Settings) -> bool:
    verdict = check(here, Shelf(here.data, here.state), nothing)
    assert (verdict.damage, verdict.index, verdict.behind) == ([], [], [])
    return True


@pytest.mark.parametrize("what", POINTS)
def test_a_first_sweep_that_is_killed_goes_on_where_it_was(tmp_path: Path, what: str) -> None:
    """At each of these points: what is in the index then is sound, and the next sweep ends as if nothing had been."""
    calm = tmp_path / "calm"
    _fill(calm)
    sweep(settings(calm))
    want = _answers(settings(calm))
    assert [len(found) for found in want[:3]] == [1, 1, 30]  # type: ignore[arg-type]
    home = tmp_path / "home"
    _fill(home)
    here = settings(home)
    killed = 0
    for number in POINTS[what]:
        for folder in ("backups", ".claude/recall"):
            _erase(home / folder)
        done = subprocess.run([sys.executable, "-c", SWEEP, what, str(number)], env=environment(home), cwd=ROOT)
        killed += done.returncode == -9
        if Path(here.index).exists():
            with open_store(here.index) as store:
                assert store.check() == [], (what, number)
        assert sweep(here).problems == [], (what, number)
        assert _answers(here) == want, (what, number)
        assert _is_sound(here), (what, number)
    assert killed >= len(POINTS[what]) - 2


def _erase(folder: Path) -> None:
    import shutil

    if folder.exists():
        shutil.rmtree(folder)


def test_a_sweep_that_is_killed_over_and_over_gets_through(home: Path) -> None:
    """Each run is killed a little later than the one before; nothing is counted twice."""
    _fill(home)
    here = settings(home)
    sweep(here)
    want = _answers(here)
    for folder in ("backups", ".claude/recall"):
        _erase(home / folder)
    for number in (5, 60, 120, 180, 240, 300):
        subprocess.run([sys.executable, "-c", SWEEP, "index", str(number)], env=environment(home), cwd=ROOT)
    sweep(here)
    assert _answers(here) == want
    assert _is_sound(here)


def test_eight_first_sweeps_at_once(home: Path, run_recall: Run) -> None:
    """One does the work, the others leave; none fails, and a `find` in between is not told of locks."""
    _fill(home)
    here = settings(home)
    with ThreadPoolExecutor(10) as pool:
        sweeps = [pool.submit(run_recall, "sweep") for _ in range(8)]
        finds = [pool.submit(run_recall, "find", "heron7") for _ in range(2)]
        done = [one.result() for one in sweeps]
        found = [one.result() for one in finds]
    assert [(one.returncode, one.stderr) for one in done] == [(0, "")] * 8
    assert all(one.returncode in (0, 1, 4) and "lock" not in one.stderr for one in found), found
    assert all("Traceback" not in one.stderr for one in found)
    sweep(here)
    assert len(rows(here)) == 60
    assert _is_sound(here)


@pytest.mark.slow
def test_hook_sweep_find_and_reindex_at_once(home: Path, run_recall: Run) -> None:
    """For some rounds: transcripts grow while everything runs; no lock is seen, no turn is lost, nothing is doubled."""
    paths = [claude_session(home, "crm", uid(number), [(f"heron{number}", "yes")]) for number in range(6)]
    here = settings(home)
    run_recall("sweep", check=True)
    copies = [next((home / "backups").rglob(path.name)) for path in paths]
    from recall.archive.append import append as hook

    def grow(number: int) -> None:
        for path, copy in zip(paths, copies, strict=True):
            append(path, [user(path.stem, f"turn{number}x of {path.stem}", number)])
            hook(str(path), str(copy))

    with ThreadPoolExecutor(4) as pool:
        for number in range(6):
            jobs = [
                pool.submit(run_recall, "find", "heron3", "--ids"),
                pool.submit(run_recall, "sweep"),
                pool.submit(run_recall, "reindex"),
                pool.submit(run_recall, "find", "heron3", "--ids"),
            ]
            grow(number)
            for job in jobs:
                done = job.result()
                assert "lock" not in done.stderr.lower(), done.stderr
                assert "Traceback" not in done.stderr, done.stderr
                assert done.returncode == 0, (done.args, done.stderr)
    sweep(here)
    for number in range(6):
        assert sorted(search(here, f"turn{number}x")) == sorted(path.stem for path in paths)
    assert {row.messages for row in rows(here).values()} == {2 + 6}
    with open_store(here.index) as store:
        turns = store.phrase(["turn3x"])
    assert len(turns) == len(paths)
    assert _is_sound(here)
    assert os.listdir(here.state)
