"""`recall who`: the session that changed a file or made a commit, with the request that asked for it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests import builders
from tests.conftest import Run
from tests.machine import uid

CWD = "/home/dev/crm"
WRITE = ("Write", {"file_path": f"{CWD}/src/export.py", "content": "one\n"}, "done")
COMMIT = ("Bash", {"command": "git commit -m Export"}, "[main 1a2b3c4] Export of orders\n 1 file changed")
LOG = ("Bash", {"command": "git log --oneline -1"}, "1a2b3c4 Export of orders")


@pytest.fixture
def crm(home: Path, run_recall: Run) -> Path:
    first = [
        ("Say hello", "Hello."),
        ("Write the export, please", "Done.", [WRITE]),
        ("Now commit it", "Done.", [COMMIT]),
    ]
    builders.claude_session(home, "crm", uid(1), first)
    builders.claude_session(home, "crm", uid(2), [("What was done in src/export.py?", "See.", [LOG])])
    other = ("Write", {"file_path": "/home/dev/shop/src/export.py", "content": "two\n"}, "done")
    builders.claude_session(home, "shop", uid(3), [("An export for the shop", "Done.", [other])])
    assert run_recall("sweep", "--quiet").returncode == 0
    return home


def _ids(run_recall: Run, *args: str) -> list[str]:
    return [one["id"] for one in json.loads(run_recall("who", *args, "--json").stdout)["results"]]


def test_the_session_that_changed_a_file_and_what_was_asked(crm: Path, run_recall: Run) -> None:
    done = run_recall("who", f"{CWD}/src/export.py")
    assert done.returncode == 0
    line, changed, asked = done.stdout.splitlines()
    assert line.startswith(uid(1)[:8])
    assert (changed, asked) == ("    1 change, the last 2026-06-11 09:01", "    asked: Write the export, please")


def test_a_tail_of_a_path_means_every_file_that_ends_so(crm: Path, run_recall: Run) -> None:
    assert set(_ids(run_recall, "src/export.py")) == {uid(1), uid(3)}
    assert _ids(run_recall, "/home/dev/shop/src/export.py") == [uid(3)]
    assert run_recall("who", "rt.py").returncode == 1


def test_the_session_that_made_a_commit_not_the_one_that_saw_it(crm: Path, run_recall: Run) -> None:
    assert _ids(run_recall, "1a2b3c4") == [uid(1)]
    assert _ids(run_recall, "1A2B3C4" + "0" * 33) == [uid(1)]
    assert "asked: Now commit it" in run_recall("who", "1a2b3c4").stdout


def test_a_name_of_git_is_a_commit(crm: Path, run_recall: Run, tmp_path: Path) -> None:
    def git(*args: str) -> str:
        env = {"HOME": str(tmp_path), "PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1"}
        name = ["-c", "user.name=dev", "-c", "user.email=dev@example.org"]
        return subprocess.run(
            ["git", *name, *args], cwd=tmp_path, env=env, check=True, capture_output=True, text=True
        ).stdout

    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "Empty")
    number = git("rev-parse", "HEAD").strip()
    told = ("Bash", {"command": "git commit"}, f"[main (root-commit) {number[:7]}] Empty")
    builders.claude_session(crm, "crm", uid(4), [("Commit nothing", "Done.", [told])])
    assert run_recall("sweep", "--quiet").returncode == 0
    done = run_recall("who", "HEAD", cwd=tmp_path)
    assert done.stdout.startswith(uid(4)[:8])


def test_a_repository_of_somebody_else_runs_nothing(crm: Path, run_recall: Run, tmp_path: Path) -> None:
    """Its settings say that what is not here is to be fetched, and by which program."""
    folder, ran = tmp_path / "repo", tmp_path / "ran"

    def git(*args: str) -> None:
        env = {"HOME": str(crm), "PATH": os.environ["PATH"]}
        subprocess.run(["git", *args], cwd=folder, env=env, check=True, capture_output=True)

    folder.mkdir()
    git("init", "-q", "-b", "main")
    for name, value in (
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", str(folder)),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", f"touch {ran}; git-upload-pack"),
        ("core.fsmonitor", f"touch {ran}"),
        ("core.sshCommand", f"touch {ran}"),
    ):
        git("config", name, value)
    (folder / ".git/refs/heads/main").write_text("1" * 40 + "\n")
    for what in ("HEAD", "main~1", "HEAD:file", ":/export"):
        assert run_recall("who", what, cwd=folder).returncode in (0, 1)
    assert not ran.exists()


def test_where_nobody_changed_it_those_that_name_it_are_marked(home: Path, run_recall: Run) -> None:
    look = ("Bash", {"command": "cat src/other.py"}, "text")
    builders.claude_session(home, "crm", uid(5), [("Look at it", "Seen.", [look])])
    run_recall("sweep", "--quiet")
    assert run_recall("who", "src/other.py").stdout.splitlines()[1] == "    only names it"


def test_nothing_is_one_line_and_a_hint(crm: Path, run_recall: Run) -> None:
    for what in ("nothing.py", "ffffff0", "-x", "no such\nname", "??"):
        done = run_recall("who", "--", what)
        assert (done.returncode, done.stdout) == (1, ""), what
        assert "hint:" in done.stderr
    assert [run_recall("who", what).returncode for what in ("", "/", "..")] == [2, 2, 2]


def test_a_request_is_printed_without_secrets(home: Path, run_recall: Run) -> None:
    key = "AKIA" + "Q3EXAMPLEKEY" + "7ZXW"
    builders.claude_session(home, "crm", uid(6), [(f"Use {key}", "Done.", [WRITE])])
    run_recall("sweep", "--quiet")
    for args in (("src/export.py",), ("src/export.py", "--json")):
        done = run_recall("who", *args)
        assert "Use" in done.stdout and key not in done.stdout
