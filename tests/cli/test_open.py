"""`recall open`: what it prints, what it refuses, and with which status."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders import claude_session
from tests.conftest import Run, environment
from tests.machine import uid

ID = uid(1)
TURNS = [("Move the export to the new API, please", "The export uses the new API now.")]


@pytest.fixture
def work(home: Path, run_recall: Run) -> Path:
    """The folder of a session that is swept, with a stand-in for the client on PATH that tells how it was started."""
    folder = home / "crm"
    folder.mkdir()
    programs = home / ".local/bin"
    programs.mkdir(parents=True)
    stub = '#!/bin/sh\npwd -P\nprintf "%s\\n" "$@"\nenv | grep -c "^CLAUDE"\n'
    (programs / "claude").write_text(stub)
    (programs / "claude").chmod(0o755)
    claude_session(home, str(folder), ID, TURNS)
    run_recall("sweep", "--quiet", check=True)
    return folder


def test_print_gives_the_line_of_cmd(work: Path, run_recall: Run) -> None:
    line = run_recall("cmd", ID, check=True).stdout
    assert line == f"cd '{work}' && claude --resume {ID}\n"
    done = run_recall("open", ID[:8], "--print", check=True)
    assert (done.stdout, done.stderr) == (line, "")
    asked = run_recall("open", "last", "--print", "--prompt", "-x it's", check=True).stdout
    assert asked == line[:-1] + " -- '-x it'\\''s'\n" == run_recall("cmd", "last", "--prompt", "-x it's").stdout


@pytest.mark.parametrize("how", [{"RECALL_TERMINAL": "print"}, {}])
def test_without_a_terminal_the_line_is_printed_and_it_is_said(
    work: Path, run_recall: Run, how: dict[str, str]
) -> None:
    """Status 0: the line is what can be had there."""
    args = ("open", ID) if how else ("open", ID, "--terminal", "print")
    done = run_recall(*args, **how)
    assert (done.returncode, done.stdout) == (0, f"cd '{work}' && claude --resume {ID}\n")
    assert "no terminal" in done.stderr


def test_here_becomes_the_client(work: Path, run_recall: Run) -> None:
    """In the session's folder, by its absolute path, with nothing of an agent in the environment."""
    done = run_recall("open", ID, "--here", "--fast", "--prompt", "go", CLAUDECODE="1", CLAUDE_CODE_CHILD_SESSION="1")
    assert done.stdout.splitlines() == [str(work), "--resume", ID, "--", "go", "0"]


@pytest.mark.parametrize(
    ("options", "how", "where"),
    [
        ((), {}, "window"),
        (("--tab",), {}, "tab"),
        ((), {"RECALL_TAB": "1"}, "tab"),
        (("--window",), {"RECALL_TAB": "1"}, "window"),
        ((), {"RECALL_CONFIG": "set"}, "tab"),
    ],
)
def test_a_tab_or_a_window(
    work: Path, home: Path, run_recall: Run, options: tuple[str, ...], how: dict[str, str], where: str
) -> None:
    """By option, variable or config file, where tmux is a stand-in that says which pane it made."""
    (home / ".local/bin/tmux").write_text("#!/bin/sh\ncase $1 in has-session) exit 1;; esac\necho %7\n")
    (home / ".local/bin/tmux").chmod(0o755)
    (home / "set").write_text('tab = true\nterminal = "tmux"\n')
    env = {"RECALL_TERMINAL": "tmux", "RECALL_LLM": "none", "PATH": f"{home}/.local/bin:/usr/bin:/bin", **how}
    if "RECALL_CONFIG" in how:
        del env["RECALL_TERMINAL"]
    found = json.loads(run_recall("open", ID, "--json", *options, check=True, **env).stdout)
    assert (found["opened"], found["terminal"], found["where"], found["window"]) == (True, "tmux", where, "%7")
    assert found["line"] == f"cd '{work}' && claude --resume {ID}"
    again = run_recall("open", ID, **env)
    assert again.returncode == 3 and "may still be starting" in again.stderr


def test_json(work: Path, run_recall: Run) -> None:
    found = json.loads(run_recall("open", ID, "--print", "--json", check=True).stdout)
    assert (found["opened"], found["session"], found["terminal"]) == (False, ID, "print")
    assert (found["argv"], found["cwd"]) == (["claude", "--resume", ID], str(work))
    work.rmdir()
    done = run_recall("open", ID, "--json", "--terminal", "print")
    assert done.returncode == 3 and json.loads(done.stdout)["error"]["kind"] == "refused"


def test_a_dry_run_opens_nothing(work: Path, run_recall: Run) -> None:
    done = run_recall("open", ID, "--here", "--dry-run", check=True)
    assert done.stdout == f"would open {ID} in this terminal: cd '{work}' && claude --resume {ID}\n"


@pytest.mark.parametrize(
    ("args", "status"),
    [
        (("open", ID, "--tab", "--here"), 2),
        (("open", ID, "--terminal", "nonsense"), 2),
        (("open", "nobody"), 1),
        (("open", "../x"), 2),
        (("open", ID, "--print", "--in", "/nowhere-at-all"), 2),
        (("open", ID, "--print-context"), 1),
    ],
)
def test_bad_arguments(work: Path, run_recall: Run, args: tuple[str, ...], status: int) -> None:
    done = run_recall(*args)
    assert (done.returncode, done.stdout) == (status, "")
    assert "Traceback" not in done.stderr


def test_without_the_client_the_fix_is_said(work: Path, home: Path, run_recall: Run) -> None:
    (home / ".local/bin/claude").unlink()
    done = run_recall("open", ID, "--here", PATH="/usr/bin:/bin")
    assert done.returncode == 4 and "no claude" in done.stderr and "PATH" in done.stderr


@pytest.mark.parametrize("purge", [(), ("--purge",)])
def test_a_removed_session_is_refused(work: Path, run_recall: Run, purge: tuple[str, ...]) -> None:
    run_recall("remove", ID, "--yes", *purge, check=True)
    for options in (("--print",), ("--force", "--here")):
        done = run_recall("open", ID, *options)
        assert done.returncode == 3 and "was removed" in done.stderr


def test_the_context_is_what_the_hook_injects(work: Path, run_recall: Run) -> None:
    run_recall("handoff", ID, "--no-llm", "--quiet", check=True)
    done = run_recall("open", ID, "--print-context", check=True)
    assert done.stdout == run_recall("show", ID, "--handoff", check=True).stdout != ""


def _on_a_terminal(home: Path, typed: bytes = b"") -> tuple[int, str, str]:
    """`recall open` where a person sits who types this: its status, what it printed, and what that person sees."""
    leader, follower = pty.openpty()
    os.write(leader, typed)
    done = subprocess.run(
        [sys.executable, "-m", "recall", "open", ID, "--terminal", "print"],
        env=environment(home),
        stdin=follower,
        stderr=follower,
        stdout=subprocess.PIPE,
        cwd=home,
        timeout=120,
    )
    os.close(follower)
    seen = os.read(leader, 65536).decode()
    os.close(leader)
    return done.returncode, done.stdout.decode(), seen


def test_on_a_terminal_it_is_asked_which_folder_to_take(work: Path, home: Path) -> None:
    """The choice is a number of the list; none is taken by itself."""
    work.rmdir()
    for typed, wanted, told in ((b"1\n", 0, str(home)), (b"\n", 3, "nothing was opened")):
        status, printed, seen = _on_a_terminal(home, typed)
        assert status == wanted
        assert f"1  '{home}'" in seen
        assert told in (seen if status else printed)


def test_nothing_is_asked_of_what_cannot_be_opened_at_all(work: Path, home: Path) -> None:
    """Its transcript is gone too."""
    work.rmdir()
    next((home / ".claude/projects").glob("*/*.jsonl")).unlink()
    status, _, seen = _on_a_terminal(home)
    assert status == 3
    assert "recall restore" in seen and "In which one" not in seen
