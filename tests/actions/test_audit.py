"""The record of sends."""

from __future__ import annotations

import json
import os
from pathlib import Path

from recall.actions.audit import Entry, note, path_of
from tests.machine import uid

TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def test_a_line_for_each_send(tmp_path: Path) -> None:
    """One JSON object, for its owner's eyes only, whatever the umask; no secret, no line end, no escape in it."""
    state = str(tmp_path / "state")
    before = os.umask(0)
    try:
        entry = Entry(
            "s003", f"use {TOKEN}\n\x1b[31mé " + "and more " * 99, "arrived", uid(1), "claude", "tmux", "%3", True
        )
        note(state, entry, 1_800_000_000.25)
        note(state, Entry("zz\n", "\udce9", "usage: no\nway"), 1_800_000_001.0)
    finally:
        os.umask(before)
    path = Path(path_of(state))
    assert path.name == "iterm-audit.log"
    assert path.stat().st_mode & 0o777 == 0o600
    raw = path.read_bytes()
    assert TOKEN.encode() not in raw
    assert b"\x1b" not in raw
    first, second = [json.loads(line) for line in raw.splitlines()]
    assert first["time"] == "2027-01-15T08:00:00.250Z"
    assert first["bytes"] == len(entry.text.encode())
    assert len(first["text"]) <= 80
    assert first["text"].startswith("use [redacted")
    assert (first["session"], first["terminal"], first["pane"], first["result"]) == (uid(1), "tmux", "%3", "arrived")
    assert first["force"] is True
    assert (second["address"], second["result"]) == ("zz", "usage: no way")


def test_it_does_not_grow_for_ever(tmp_path: Path) -> None:
    """More than 1 MB is set aside, in the place of what was set aside before."""
    path = Path(path_of(str(tmp_path)))
    path.write_bytes(b"x" * (1 << 20) + b"\n")
    Path(f"{path}.1").write_bytes(b"older")
    note(str(tmp_path), Entry("s003", "text", "arrived"), 1.0)
    assert len(path.read_bytes().splitlines()) == 1
    assert Path(f"{path}.1").stat().st_size == (1 << 20) + 1
