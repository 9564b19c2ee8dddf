"""`recall install` and `recall uninstall` as a user types them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Run, environment

STAND_IN = """#!/bin/sh
printf '%s %s\\n' "$(basename "$0")" "$*" >>"$HOME/calls"
"""


@pytest.fixture
def path(home: Path, tmp_path: Path) -> str:
    """A PATH on which every scheduler is a stand-in that writes down how it was called."""
    folder = tmp_path / "stand-ins"
    folder.mkdir()
    for name in ("systemctl", "launchctl", "crontab"):
        (folder / name).write_text(STAND_IN)
        (folder / name).chmod(0o755)
    (home / ".claude" / "projects").mkdir(parents=True)
    (home / ".claude" / "settings.json").write_bytes(b'{\n\t"model": "opus"\n}')
    (home / ".codex" / "sessions").mkdir(parents=True)
    return f"{folder}:/usr/bin:/bin"


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "calls"
    }


def test_there_and_back(home: Path, path: str, run_recall: Run) -> None:
    """Each place is a line of output; afterwards all is as before but our own state folder; twice is once."""
    before = files(home)
    done = run_recall("install", PATH=path)
    assert (done.returncode, done.stderr) == (0, "")
    for part in (
        "~/.claude/settings.json: ",
        "~/.codex/hooks.json: ",
        "/skills/session-orchestrator: skill",
        "timer (",
    ):
        assert part in done.stdout
    first = files(home)
    again = run_recall("install", PATH=path)
    assert again.returncode == 0
    assert "settings.json: nothing to change" in again.stdout
    assert files(home) == first

    gone = run_recall("uninstall", PATH=path)
    assert (gone.returncode, gone.stderr) == (0, "")
    assert "There were no copies, cards or index to keep." in gone.stdout
    left = {name: data for name, data in files(home).items() if name != ".claude/recall/install.lock"}
    assert left == before
    (home / "backups" / "claude-transcripts").mkdir(parents=True)
    again = run_recall("uninstall", PATH=path).stdout
    assert "Nothing is installed." in again
    assert "Kept: copies in ~/backups/claude-transcripts\n" in again


@pytest.mark.parametrize("args", [(), ("--with-handoff",), ("--name", "rc"), ("--no-hooks", "--no-timer")])
def test_a_dry_run_changes_nothing(home: Path, path: str, run_recall: Run, args: tuple[str, ...]) -> None:
    """It shows a diff that holds every line to come, and asks no scheduler to do anything."""
    before = files(home)
    done = run_recall("install", "--dry-run", *args, PATH=path)
    assert (done.returncode, done.stderr) == (0, "")
    assert files(home) == before
    assert f"+++ {home}/.claude/settings.json" in done.stdout
    assert '+\t"cleanupPeriodDays": 999999,' in done.stdout
    assert ("PreCompact" in done.stdout) is ("--with-handoff" in args)
    assert (f"Bash({'rc' if 'rc' in args else 'recall'} *)") in done.stdout
    assert "Nothing was changed." in done.stdout
    calls = (home / "calls").read_text().splitlines() if (home / "calls").exists() else []
    assert set(calls) <= {"systemctl --user show-environment", "launchctl print", "crontab -l"}

    run_recall("install", PATH=path, check=True)
    installed = files(home)
    done = run_recall("uninstall", "--dry-run", PATH=path)
    assert done.returncode == 0
    assert '-\t"cleanupPeriodDays": 999999,' in done.stdout
    assert files(home) == installed


def test_a_diff_steers_no_terminal(home: Path, path: str, run_recall: Run) -> None:
    """Control characters of a file are not printed."""
    (home / ".claude" / "settings.json").write_bytes(b'{"a": "\xc2\x9b31m \xe2\x80\xae"}')
    assert not {"\x9b", "\u202e", "\x1b"} & set(run_recall("install", "--dry-run", PATH=path).stdout)


@pytest.mark.parametrize("args", [("--name", "a/b"), ("--name", "-x"), ("--name="), ("--nonsense",), ("word",)])
def test_wrong_usage(home: Path, path: str, run_recall: Run, args: tuple[str, ...] | str) -> None:
    """Exit 2, nothing changed. An empty name is the usual one."""
    before = files(home)
    done = run_recall("install", *([args] if isinstance(args, str) else args), "--dry-run", PATH=path)
    assert done.returncode == (0 if args == "--name=" else 2)
    assert files(home) == before


@pytest.mark.parametrize(("data", "status"), [(b'{"a": 1,}', 5), (b"", 5), (b'{"cleanupPeriodDays": "30"}', 5)])
@pytest.mark.parametrize("args", [(), ("--dry-run",)])
def test_a_refusal_is_one_line_and_a_hint(
    home: Path, path: str, run_recall: Run, data: bytes, status: int, args: tuple[str, ...]
) -> None:
    """Non-zero, no traceback, nothing changed."""
    (home / ".claude" / "settings.json").write_bytes(data)
    before = files(home)
    done = run_recall("install", *args, PATH=path)
    assert (done.returncode, done.stdout) == (status, "")
    told = done.stderr.splitlines()
    assert len(told) == 2
    assert str(home / ".claude" / "settings.json") in told[0]
    assert told[1].startswith("hint: ")
    assert {name: data for name, data in files(home).items() if not name.endswith("install.lock")} == before


def _at_a_terminal(home: Path, path: str, answer: bytes, *args: str) -> tuple[int, str]:
    """`recall install` with a terminal on stdin and stderr, and an answer typed into it."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "recall", "install", *args],
        env=environment(home, PATH=path),
        stdin=slave,
        stderr=slave,
        stdout=subprocess.PIPE,
        cwd=home,
    )
    os.close(slave)
    os.write(master, answer)
    assert process.stdout is not None
    out = process.stdout.read().decode()
    status = process.wait(60)
    os.close(master)
    return status, out


@pytest.mark.parametrize(("answer", "on"), [(b"y\n", True), (b"\n", False), (b"n\n", False), ("да\n".encode(), True)])
def test_the_handoff_loop_is_asked_for_on_a_terminal(home: Path, path: str, answer: bytes, on: bool) -> None:
    """Only a yes switches it on; the answer holds for the next install as well."""
    status, _ = _at_a_terminal(home, path, answer)
    assert status == 0
    settings = home / ".claude" / "settings.json"
    assert ("PreCompact" in settings.read_text()) is on
    status, _ = _at_a_terminal(home, path, b"")
    assert status == 0
    assert ("PreCompact" in settings.read_text()) is on


def test_without_a_terminal_nothing_is_asked(home: Path, path: str, run_recall: Run) -> None:
    """And the loop stays off; --with-handoff switches it on."""
    assert "Switch it on?" not in run_recall("install", PATH=path).stderr
    settings = home / ".claude" / "settings.json"
    assert "PreCompact" not in settings.read_text()
    run_recall("install", "--with-handoff", PATH=path, check=True)
    assert "PreCompact" in settings.read_text()
    run_recall("install", "--without-handoff", PATH=path, check=True)
    assert "PreCompact" not in settings.read_text()


def test_the_registered_hook_runs(home: Path, path: str, run_recall: Run) -> None:
    """As the client would: `sh -c <command>` with an event on stdin; silent, status 0; the transcript is in the archive."""
    run_recall("install", PATH=path, check=True)
    hooks = json.loads((home / ".claude" / "settings.json").read_bytes())["hooks"]
    session = "5d1f0c1e-0000-4000-8000-000000000001"
    transcript = home / ".claude" / "projects" / "-x" / f"{session}.jsonl"
    transcript.parent.mkdir()
    transcript.write_text('{"type":"user"}\n')
    event = {"session_id": session, "transcript_path": str(transcript), "cwd": str(home), "hook_event_name": "Stop"}
    done = subprocess.run(
        ["/bin/sh", "-c", hooks["Stop"][0]["hooks"][0]["command"]],
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        input=json.dumps(event).encode(),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    copies = list((home / "backups").rglob(f"{session}.jsonl"))
    assert [copy.read_bytes() for copy in copies] == [transcript.read_bytes()]
