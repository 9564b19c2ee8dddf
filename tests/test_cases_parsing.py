"""Odd transcripts through a whole sweep: what stands beside the damage is found, and time and memory stay bounded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recall.actions.sweep import nothing
from recall.actions.verify import check
from recall.shelf import Shelf
from recall.store import open_store
from tests.builders import claude_session, codex_session
from tests.conftest import ROOT, environment
from tests.machine import append, rows, search, settings, sweep, uid, user

TURNS = [("before it the anteater", "yes"), ("behind it the wombat", "yes")]

ODD = {
    "null": b"null\n",
    "number": b"3\n",
    "list": b"[]\n",
    "string": b'"x"\n',
    "empty object": b"{}\n",
    "not JSON": b"<<<<<<< HEAD\nnonsense {\n",
    "torn": b'{"type":"user","message":{"role":"user","content":"\xd0\n',
    "nul bytes": b"\0" * 4096 + b"\n",
    "blank lines": b"\n\r\n   \n",
    "bad utf-8": b'{"type":"user","message":"\xff\xfe"}\n',
    "surrogate": b'{"type":"user","message":{"role":"user","content":"\\ud83d"},"uuid":"u"}\n',
    "deep": b"[" * 3000 + b"]" * 3000 + b"\n",
    "wrong types": b'{"type":["user"],"message":7,"timestamp":{},"uuid":null,"sessionId":[1]}\n',
    "huge number": b'{"type":"user","timestamp":1e999,"uuid":123456789012345678901234567890}\n',
    "unknown type": b'{"type":"telepathy","message":{"role":"user","content":"x"}}\n',
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("client", ["claude", "codex"])
def test_what_stands_beside_an_odd_line_is_found(home: Path, client: str, name: str) -> None:
    write = claude_session if client == "claude" else codex_session
    path = write(home, "crm", uid(1), TURNS)
    lines = path.read_bytes().splitlines(keepends=True)
    half = len(lines) // 2
    path.write_bytes(b"".join(lines[:half]) + ODD[name] + b"".join(lines[half:]))
    here = settings(home)
    report = sweep(here)
    assert (report.problems, report.new) == ([], 1)
    assert search(here, "anteater", "wombat") == [uid(1)]
    assert check(here, Shelf(here.data, here.state), nothing).sound


@pytest.mark.parametrize("how", ["glued", "crlf", "bom", "no end", "reversed", "nul tail"])
def test_odd_line_ends_lose_nothing(home: Path, how: str) -> None:
    path = claude_session(home, "crm", uid(1), TURNS)
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    path.write_bytes(
        {
            "glued": b"".join(lines[:2]) + b"".join(lines[2:]).replace(b"}\n{", b"}{"),
            "crlf": data.replace(b"\n", b"\r\n"),
            "bom": b"\xef\xbb\xbf" + data,
            "no end": data.rstrip(b"\n"),
            "reversed": b"".join(reversed(lines)),
            "nul tail": data + b"\0" * 4096,
        }[how]
    )
    here = settings(home)
    sweep(here)
    assert search(here, "anteater", "wombat") == [uid(1)]
    assert rows(here)[uid(1)].messages == 4


def test_what_was_skipped_is_counted(home: Path) -> None:
    path = claude_session(home, "crm", uid(1), TURNS)
    with path.open("ab") as file:
        file.write(ODD["null"] + ODD["not JSON"] + ODD["unknown type"])
    here = settings(home)
    sweep(here)
    with open_store(here.index) as store:
        skipped = store.skipped(json.loads)["claude"]
    assert sum(count for why, count in skipped.items() if not why.startswith("type ")) == 3
    assert skipped["type telepathy"] == 1


MEASURED = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-m", "recall", "sweep"], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""Its own child is measured by a small process: a child of a large one is said to be as large."""


def test_a_huge_line_costs_no_huge_memory(home: Path) -> None:
    """12 MB of base64 on one line, and a line beyond the limit: the neighbours are found within 200 MB."""
    path = claude_session(home, "crm", uid(1), [("before it the anteater", "yes")])
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD" * 3_000_000}}
    record = user(uid(1), "", 1)
    record["message"]["content"] = [image, {"type": "text", "text": "with the picture of a gnu"}]
    append(path, [record])
    with path.open("ab") as file:
        file.write(b'{"type":"user","message":{"role":"user","content":"' + b"x " * 10_000_000 + b'"}}\n')
    append(path, [user(uid(1), "behind it the wombat", 3)])
    env = environment(home, RECALL_MAX_LINE=str(16 << 20))
    done = subprocess.run([sys.executable, "-c", MEASURED], env=env, cwd=ROOT, check=True, capture_output=True)
    assert int(done.stdout.split()[-1]) < 200 * 1024 * (1024 if sys.platform == "darwin" else 1)
    here = settings(home)
    assert search(here, "anteater", "wombat", "gnu") == [uid(1)]
    with open_store(here.index) as store:
        assert store.skipped(json.loads)["claude"]["line too long"] == 1
    copy = next((home / "backups").rglob(f"{uid(1)}.jsonl"))
    assert copy.stat().st_size == path.stat().st_size


def test_worktrees_are_grouped_under_their_project(home: Path) -> None:
    """Also after the worktree is gone; the cwd itself stays as it was."""
    cwd = "/home/dev/shop.worktrees/feat/a"
    claude_session(home, cwd, uid(1), TURNS)
    here = settings(home)
    sweep(here)
    row = rows(here)[uid(1)]
    assert (row.project, row.cwd) == ("shop", cwd)


def _manifest() -> list[dict[str, str]]:
    folder = os.environ.get("RECALL_TEST_ODD", "")
    if not folder:
        return []
    lines = Path(folder, "MANIFEST.tsv").read_text(encoding="utf-8").splitlines()
    return [dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]]


NO_ROW = frozenset(("empty", "only-newline", "only-metadata"))


@pytest.mark.skipif(not os.environ.get("RECALL_TEST_ODD"), reason="RECALL_TEST_ODD names no folder with a MANIFEST.tsv")
def test_a_corpus_of_damaged_files_is_read_as_far_as_it_can_be(tmp_path: Path) -> None:
    """Each damaged file alone in a home: a session with messages, but for those that hold none."""
    import shutil

    folder = Path(os.environ["RECALL_TEST_ODD"])
    source = folder / "home" if (folder / "home").is_dir() else folder
    for case in _manifest():
        home = tmp_path / case["case"]
        target = home / case["path"]
        target.parent.mkdir(parents=True)
        shutil.copy(source / case["path"], target)
        here = settings(home)
        report = sweep(here)
        assert report.problems == [], case
        found = rows(here)
        assert set(found) == (set() if case["case"] in NO_ROW else {case["id"]}), case
        assert all(row.messages > 0 for row in found.values()), case
        assert check(here, Shelf(here.data, here.state), nothing).sound, case
