"""`recall cmd` prints the one line that resumes a session."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.again import again
from tests.builders import claude_session, codex_session
from tests.conftest import Run, environment

FIRST = "5a1c0b1e-93f0-4f5e-a7d4-9a4b6f6f2c01"
OTHER = "019e10aa-1111-7aaa-8bbb-0123456789ab"
TURNS = [("Move the export to the new API, please", "The export uses the new API now.")]


def swept(run_recall: Run) -> None:
    run_recall("sweep", "--quiet", check=True)


def test_the_line_names_folder_and_session_for_each_client(home: Path, run_recall: Run) -> None:
    work = home / "it's a $(test)"
    work.mkdir()
    claude_session(home, str(work), FIRST, TURNS)
    codex_session(home, str(work), OTHER, TURNS)
    swept(run_recall)
    shown = str(work).replace("'", "'\\''")
    done = run_recall("cmd", FIRST[:8])
    assert (done.stdout, done.stderr) == (f"cd '{shown}' && claude --resume {FIRST}\n", "")
    done = run_recall("cmd", OTHER)
    assert (done.stdout, done.stderr) == (f"cd '{shown}' && codex resume {OTHER}\n", "")


def test_flags_are_for_claude_only(home: Path, run_recall: Run) -> None:
    claude_session(home, "crm", FIRST, TURNS)
    codex_session(home, "crm", OTHER, TURNS)
    swept(run_recall)
    flags = {"RECALL_CLAUDE_FLAGS": "--model opus --allowedTools Bash(ls:*)"}
    claude = run_recall("cmd", FIRST, **flags).stdout
    assert claude == f"cd '/home/dev/crm' && claude --resume {FIRST} --model opus --allowedTools 'Bash(ls:*)'\n"
    assert run_recall("cmd", OTHER, **flags).stdout == f"cd '/home/dev/crm' && codex resume {OTHER}\n"


def test_json_has_the_same_as_values(home: Path, run_recall: Run) -> None:
    claude_session(home, "crm", FIRST, TURNS)
    swept(run_recall)
    assert json.loads(run_recall("cmd", FIRST, "--json").stdout) == {
        "schema": 1,
        "argv": ["claude", "--resume", FIRST],
        "cwd": "/home/dev/crm",
        "variables": {},
        "line": f"cd '/home/dev/crm' && claude --resume {FIRST}",
    }


def test_a_missing_folder_or_transcript_is_said_beside_the_line(home: Path, run_recall: Run) -> None:
    source = claude_session(home, "crm", FIRST, TURNS)
    swept(run_recall)
    source.unlink()
    done = run_recall("cmd", FIRST)
    assert done.returncode == 0
    assert done.stdout == f"cd '/home/dev/crm' && claude --resume {FIRST}\n"
    assert done.stderr == (
        "recall: the folder is gone: '/home/dev/crm'\n"
        "recall: claude has no transcript of it any more and will not find it; the archive has a copy\n"
    )


def test_a_session_without_a_known_folder_is_an_error(home: Path, run_recall: Run) -> None:
    source = claude_session(home, "crm", FIRST, TURNS)
    source.write_text(source.read_text().replace('"cwd": "/home/dev/crm", ', ""))
    swept(run_recall)
    done = run_recall("cmd", FIRST)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith(f"recall: no folder is known for session {FIRST}")
    assert f"claude --resume {FIRST}" in done.stderr
    assert json.loads(run_recall("cmd", FIRST, "--json").stdout)["error"]["kind"] == "unavailable"


def test_of_a_chain_the_newest_is_resumed(home: Path, run_recall: Run) -> None:
    older = claude_session(home, "crm", FIRST, TURNS)
    newer = "c0ffee00-93f0-4f5e-a7d4-9a4b6f6f2c02"
    later = claude_session(
        home, "crm", newer, [("And now the tests as well", "Written.")], start="2026-06-12T09:00:00Z"
    )
    later.write_text(older.read_text() + later.read_text())
    swept(run_recall)
    assert run_recall("cmd", FIRST).stdout == f"cd '/home/dev/crm' && claude --resume {newer}\n"


def test_the_last_session_may_be_newer_than_the_last_sweep(home: Path, run_recall: Run) -> None:
    claude_session(home, "crm", FIRST, TURNS)
    swept(run_recall)
    codex_session(home, "api", OTHER, TURNS, start="2026-06-12T09:00:00+00:00")
    wanted = f"cd '/home/dev/api' && codex resume {OTHER}\n"
    assert again(lambda: run_recall("cmd", "last").stdout, lambda told: told == wanted) == wanted


def test_the_line_runs_as_it_is(home: Path, run_recall: Run) -> None:
    work = home / "a'b\\c\n$x"
    work.mkdir()
    programs = home / "bin"
    programs.mkdir()
    (programs / "claude").write_text('#!/bin/sh\npwd -P\necho "$@"\n')
    (programs / "claude").chmod(0o755)
    claude_session(home, str(work), FIRST, TURNS)
    swept(run_recall)
    shown = run_recall("cmd", "last").stdout
    env = environment(home)
    env["PATH"] = f"{programs}:{env['PATH']}"
    done = subprocess.run(["sh", "-c", shown], env=env, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == f"{work}\n--resume {FIRST}\n"
