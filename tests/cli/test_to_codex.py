"""`recall to-codex` through the program: what is written, and a window in a real tmux with a stand-in for Codex."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.settings import PROGRAM_PLACES
from tests.again import again
from tests.builders import claude_session, codex_session
from tests.conftest import Run, environment
from tests.machine import uid

BRIEF = "CODEX_HANDOFF.md"
TURNS = [("Export the sales funnel to CSV", "I wrote export.py."), ("And the header row?", "Next: test the header.")]


@pytest.fixture
def project(home: Path) -> Path:
    folder = home / "проект it's"
    folder.mkdir()
    return folder


def test_a_task_with_what_the_newest_session_knows(home: Path, project: Path, run_recall: Run) -> None:
    """Of that folder, also one that no sweep has seen yet; told as text and as JSON, with the line that opens Codex."""
    assert "holds the task only" in run_recall("to-codex", project, "--task", "Finish", check=True).stderr
    run_recall("sweep", "--quiet")
    claude_session(home, str(project), uid(1), TURNS)
    codex_session(home, str(project), uid(2), [("Older work", "Done.")], start="2026-06-01T09:00:00+00:00")

    def brief() -> subprocess.CompletedProcess[str]:
        for path in project.glob(f"{BRIEF}*"):
            path.unlink()
        return run_recall("to-codex", project, "--task", "Finish the export", check=True)

    done = again(brief, lambda done: uid(1) in done.stdout)
    assert f"from session {uid(1)}" in done.stdout
    assert "codex 'Read CODEX_HANDOFF.md" in done.stdout
    text = (project / BRIEF).read_text()
    assert "Finish the export" in text
    assert "Export the sales funnel" in text
    assert (project / "AGENTS.md").exists()
    told = json.loads(run_recall("to-codex", ".", "--session", uid(2), "--json", cwd=project).stdout)
    assert told["from"] == uid(2)
    assert (told["brief"], told["backup"]) == (str(project / BRIEF), str(project / f"{BRIEF}.bak"))
    assert (told["changed"], told["agents"], told["spawned"]) == (True, None, None)
    assert "Finish the export" in (project / f"{BRIEF}.bak").read_text()


@pytest.mark.parametrize("dash", [True, False])
def test_a_brief_of_one_s_own(home: Path, project: Path, run_recall: Run, dash: bool) -> None:
    """From a file or from standard input."""
    (home / "brief.md").write_text("# Моё\n## Task\nx\n")
    done = run_recall("to-codex", project, "--brief", "-" if dash else "brief.md", input="# Моё\n## Task\nx\n")
    assert done.returncode == 0, done.stderr
    assert (project / BRIEF).read_text() == "# Моё\n## Task\nx\n"


WRONG = [
    (["nowhere", "--task", "x"], 2, "there is no folder"),
    (["."], 2, "what is to be handed over"),
    ([".", "--task", " "], 2, "--task is empty"),
    ([".", "--task", "x", "--brief", "f"], 2, "--brief is the whole brief"),
    ([".", "--brief", "gone.md"], 2, "cannot read gone.md"),
    ([".", "--brief", "."], 2, "cannot read ."),
    ([".", "--brief", "-"], 2, "the brief is empty"),
    ([".", "--session", "0123abcd"], 4, "nothing is indexed yet"),
    ([".", "--task", "x", "--spawn", "--terminal", "vt100"], 2, "no terminal is called"),
    ([".", "--task", "x", "--spawn", "--terminal", "print"], 4, "there is no codex"),
]


@pytest.mark.parametrize(("args", "status", "words"), WRONG, ids=[words for _, _, words in WRONG])
def test_what_is_wrong_writes_nothing(
    project: Path, run_recall: Run, tmp_path: Path, args: list[str], status: int, words: str
) -> None:
    """One line and a status, and the folder is as it was."""
    if words == "there is no codex" and any(shutil.which("codex", path=place) for place in PROGRAM_PLACES):
        pytest.skip("Codex is installed for the whole machine")
    done = run_recall("to-codex", *args, cwd=project, PATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (status, "")
    assert words in done.stderr
    assert list(project.iterdir()) == []


def test_the_way_back(home: Path, project: Path, run_recall: Run) -> None:
    """What Codex did is a brief for Claude Code, and the other way round."""
    codex_session(home, str(project), uid(2), TURNS)
    claude_session(home, str(project), uid(1), TURNS)
    run_recall("sweep", "--quiet")
    for session, client, name in ((uid(2), "claude", "Claude Code"), (uid(1), "codex", "Codex")):
        done = run_recall("handoff", session, "--for", client, "--no-llm")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"# Brief for {name}")
        assert session in done.stdout
        assert "## Task\nExport the sales funnel to CSV" in done.stdout


# ------------------------------------------------------------ a window


CODEX = """\
#!{python}
import fcntl, json, os, sys, time
home = os.path.expanduser("~/.codex")
name = "019e10aa-1111-7aaa-8bbb-0123456789ab"
if sys.argv[1:] and os.path.exists(os.path.expanduser("~/begins")):
    os.makedirs(home + "/sessions/2026/11/29", exist_ok=True)
    os.makedirs(home + "/thread-writer-locks", exist_ok=True)
    lock = open(home + "/thread-writer-locks/" + name + ".lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    path = home + "/sessions/2026/11/29/rollout-2026-11-29T10-00-00-" + name + ".jsonl"
    with open(path, "w") as file:
        meta = dict(id=name, cwd=os.getcwd(), source="cli", prompt=sys.argv[1])
        print(json.dumps(dict(type="session_meta", payload=meta)), file=file)
print("Do you trust this folder?", flush=True)
time.sleep(600)
"""


@pytest.fixture
def tmux(home: Path) -> Iterator[dict[str, str]]:
    """What a process inside of a tmux of its own has in its environment, with a stand-in for Codex on PATH."""
    if not shutil.which("tmux"):
        pytest.skip("no tmux")
    root = Path(tempfile.mkdtemp(prefix="rt", dir="/tmp"))  # short: paths of sockets are limited
    programs = home / ".local/bin"
    programs.mkdir(parents=True)
    (programs / "codex").write_text(CODEX.format(python=sys.executable))
    (programs / "codex").chmod(0o755)
    base = ["tmux", "-S", str(root / "s"), "-f", "/dev/null"]
    env = {**environment(home), "SHELL": "/bin/sh", "TERM": "xterm-256color"}
    subprocess.run([*base, "new-session", "-d", "-s", "first", "-x", "120", "-y", "40", "cat"], env=env, check=True)
    yield {"TMUX": f"{root}/s,1,0", "PATH": f"{programs}:{os.environ['PATH']}"}
    subprocess.run([*base, "kill-server"], env=env, check=False)
    shutil.rmtree(root, ignore_errors=True)


def test_codex_is_opened_and_seen_to_begin(home: Path, project: Path, run_recall: Run, tmux: dict[str, str]) -> None:
    """In that folder, with a prompt that names the brief; the session's id is told."""
    (home / "begins").touch()
    done = run_recall("to-codex", project, "--task", "x", "--spawn", "--json", **tmux)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)["spawned"]
    assert (told["session"], told["terminal"]) == ("019e10aa-1111-7aaa-8bbb-0123456789ab", "tmux")
    (rollout,) = home.glob(".codex/sessions/*/*/*/*.jsonl")
    meta = json.loads(rollout.read_text())["payload"]
    assert meta["cwd"] == str(project)
    assert BRIEF in meta["prompt"]


def test_codex_that_does_not_begin_is_told_with_its_screen(
    home: Path, project: Path, run_recall: Run, tmux: dict[str, str]
) -> None:
    """Status 4; the brief is there."""
    done = run_recall("to-codex", project, "--task", "x", "--spawn", "--wait", "3", **tmux)
    assert done.returncode == 4
    assert "no Codex session began" in done.stderr
    assert "Do you trust this folder?" in done.stderr
    assert (project / BRIEF).exists()


def test_without_a_terminal_the_line_is_told(home: Path, project: Path, run_recall: Run, tmux: dict[str, str]) -> None:
    """Status 4 where one was wanted, 0 where the line was."""
    env = {"PATH": tmux["PATH"]}
    done = run_recall("to-codex", project, "--task", "x", "--spawn", "--terminal", "print", **env)
    assert done.returncode == 0, done.stderr
    assert "codex 'Read CODEX_HANDOFF.md" in done.stdout
