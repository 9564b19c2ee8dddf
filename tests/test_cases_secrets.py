"""Secrets in transcripts are in none of our files but the archive, and in nothing that is printed."""

from __future__ import annotations

import json
import random
import sqlite3
from importlib.util import find_spec
from pathlib import Path

import pytest

from recall.actions.reindex import rebuild
from recall.actions.sweep import nothing
from recall.actions.view import write_view
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import open_store, output_path
from tests.builders import claude_records, claude_session, codex_records, codex_session, write_lines
from tests.conftest import Run
from tests.core.test_redact import TOKENS
from tests.machine import append, search, settings, sweep, uid, user

PART = 8
MARKS = 6


def _parts(text: str) -> set[str]:
    folded = text.casefold()
    return {folded[at : at + PART] for at in range(len(folded) - PART + 1)}


def _secrets() -> tuple[dict[str, str], set[str]]:
    """A secret of each kind, and all parts of them that are not the same in every secret of that kind."""
    rng, other = random.Random(1), random.Random(2)
    secrets, parts = {}, set()
    for name, make in TOKENS.items():
        secrets[name] = make(rng)
        parts |= _parts(secrets[name]) - _parts(make(other))
    return secrets, {part for part in parts if "\n" not in part}


SECRETS, PARTS = _secrets()


def _leaks(data: bytes | str) -> set[str]:
    """Parts of secrets that are in the data."""
    text = (data.decode("utf-8", "replace") if isinstance(data, bytes) else data).casefold()
    return PARTS & _parts(text)


def _plant(home: Path) -> None:
    """Every kind of secret in every kind of place, in both clients; half of it after the first sweep."""
    names = list(SECRETS)
    half = len(names) // 2
    here = settings(home)
    for number, some in enumerate((names[:half], names[half:])):
        turns = []
        for name in some:
            secret = SECRETS[name]
            tools = [("Bash", {"command": f"curl -H 'X: {secret}' https://x"}, f"heron said {secret}\nand went on")]
            turns.append((f"use {secret} for the heron", f"stored {secret} as asked", tools))
        title = f"title {SECRETS[some[0]]}"
        if number == 0:
            path = claude_session(home, "crm", uid(1), turns, title=title, branch=f"fix/{SECRETS[some[1]]}")
            rollout = codex_session(home, "api", uid(2), turns, name=title)
            notes = path.with_suffix("")
            write_lines(notes / "subagents" / "agent-a.jsonl", [user(uid(1), turns[2][0], 900, isSidechain=True)])
            (notes / "custom-title.json").write_text(json.dumps({"customTitle": title, "by": "user"}))
            summary = {"type": "summary", "summary": f"sum {SECRETS[some[3]]}", "leafUuid": "0-0"}
            append(path, [summary, {"type": "queue-operation", "operation": "enqueue", "content": turns[4][0]}])
            append(home / ".claude" / "history.jsonl", [{"display": turns[0][0], "sessionId": uid(1)}])
            claude_session(home, "crm", uid(3), [(SECRETS[name], "") for name in some[5:6]])
            sweep(here)
        else:
            append(path, claude_records(uid(1), turns, "/home/dev/crm", start="2026-06-13T09:00:00+00:00"))
            append(rollout, codex_records(uid(2), turns, "/home/dev/api", start="2026-06-13T09:00:00+00:00"))
            append(home / ".codex" / "session_index.jsonl", [{"id": uid(2), "thread_name": title}])
            append(path, [{"type": "custom-title", "customTitle": title, "sessionId": uid(1)}])
            long = "x " * 524_270 + SECRETS["github"] + " y" * 600_000
            tools = [("Bash", {"command": "cat"}, long)]
            append(path, claude_records(uid(4), [("", "", tools)], "/home/dev/crm"))
            sweep(here)
    shelf = Shelf(here.data, here.state)
    with open_store(here.index) as store:
        write_view(here, store, shelf)


def _check_files(here: Settings) -> None:
    looked = 0
    for folder in (here.state, here.data):
        for path in Path(folder).rglob("*"):
            if path.is_file():
                assert not _leaks(path.read_bytes()), path
                looked += 1
    assert looked >= 4


def _check_words(here: Settings) -> None:
    """The words of the index, which stand in its files shortened to what differs from the word before."""
    db = sqlite3.connect(here.index)
    db.execute("ATTACH ? AS out", (output_path(here.index),))
    words = []
    for table in ("conv_words", "head_words", "out.outp_words"):
        words += [row[0] for row in db.execute(f"SELECT term FROM {table}")]
    db.close()
    assert {"heron", "redacted"} <= set(words)
    assert not _leaks("\n".join(words))


def test_no_part_of_a_secret_is_in_our_files(home: Path) -> None:
    """After sweeps that took it in by halves, and after a reindex; the session itself is found."""
    _plant(home)
    here = settings(home)
    assert search(here, "heron")
    _check_files(here)
    _check_words(here)
    rebuild(here, progress=nothing)
    _check_files(here)
    _check_words(here)
    with open_store(here.index) as store:
        assert store.check() == []


COMMANDS = {
    "find": ("find", "heron", "--json", "--all"),
    "find why": ("find", "heron", "--why", "--all"),
    "find nothing": ("find", "--all"),
    "grep": ("grep", "heron"),
    "grep context": ("grep", "-C", "3", "for the"),
    "grep json": ("grep", "heron", "--json"),
    "grep regex": ("grep", "-e", "use.*heron"),
    "show": ("show", uid(1)),
    "show transcript": ("show", uid(1), "--transcript", "--tools"),
    "show codex": ("show", uid(2), "--transcript", "--tools"),
    "show json": ("show", uid(1), "--json"),
    "cmd": ("cmd", uid(1)),
    "sweep": ("sweep",),
    "reindex": ("reindex", "--json"),
    "verify": ("verify", "--json"),
    "remove": ("remove", uid(1), "--yes"),
}


def test_no_part_of_a_secret_is_printed(home: Path, run_recall: Run) -> None:
    """By no command, in no form."""
    _plant(home)
    tried = 0
    for name, args in COMMANDS.items():
        if find_spec(f"recall.cli.{args[0]}") is None:
            continue  # that command comes with a later change
        done = run_recall(*args)
        assert done.returncode == 0, (name, done.stderr)
        assert not _leaks(done.stdout + done.stderr), name
        tried += 1
    assert tried >= MARKS


@pytest.mark.parametrize(
    "text",
    [
        "/home/dev/project/src/components/AccountSettings/PasswordField.tsx",
        "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "4f1c2d3e-1111-4222-8333-944455556666",
    ],
)
def test_paths_and_hashes_are_found_as_they_were_written(home: Path, text: str) -> None:
    claude_session(home, "crm", uid(1), [(f"look at {text} please", "yes")])
    here = settings(home)
    sweep(here)
    assert search(here, text.split("/")[-1].split()[-1]) == [uid(1)]
