"""install.sh: what it refuses, what it says, and that it installs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders import claude_session
from tests.conftest import ROOT

SCRIPT = ROOT / "install.sh"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a blank and Cyrillic letters in its path."""
    folder = tmp_path / "мой дом"
    folder.mkdir(mode=0o700)
    return folder


def run(home: Path, *args: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """install.sh as `env -i HOME=… PATH=… ./install.sh`, this test's Python first on PATH."""
    path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    index = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    return subprocess.run(
        ["sh", str(SCRIPT), *args],
        env={"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", **index, **variables},
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def files(folder: Path) -> dict[str, bytes]:
    """Every file and link below `folder`, with what it holds or where it points."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_symlink():
            found[str(path.relative_to(folder))] = os.fsencode(path.readlink())
        elif path.is_file():
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def test_help(home: Path) -> None:
    """--help names every option and does nothing."""
    done = run(home, "--help")
    assert done.returncode == 0
    known = set(re.findall(r"^ +(--[a-z-]+)\b", done.stdout, re.MULTILINE))
    assert known == {"--name", "--dry-run", "--uninstall", "--help"}
    assert not files(home)


@pytest.mark.parametrize("args", [["--nonsense"], ["--name"], ["--name", "a/b"], ["--name="], ["--name", "-x"]])
def test_wrong_options_are_refused(home: Path, args: list[str]) -> None:
    """Wrong usage exits 2 with a hint, before anything is made."""
    done = run(home, *args)
    assert done.returncode == 2
    assert "hint: " in done.stderr
    assert not list(home.iterdir())


@pytest.mark.parametrize("args", [["--dry-run"], ["--uninstall"], ["--uninstall", "--dry-run"]])
def test_nothing_is_changed_where_nothing_is_to_do(home: Path, args: list[str]) -> None:
    """A dry run, and the removal of what is not there, leave an empty home empty."""
    done = run(home, *args)
    assert (done.returncode, done.stderr) == (0, "")
    assert not list(home.iterdir())


def test_a_dry_run_says_what_would_happen(home: Path) -> None:
    """Environment, link, archive and the missing PATH entry are all named."""
    said = run(home, "--dry-run", "--name", "rc").stdout
    for part in (".local/share/recall/venv", ".local/bin/rc", "backups/claude-transcripts", "is not on your PATH"):
        assert part in said


@pytest.mark.parametrize("kind", ["file", "link", "dangling"])
@pytest.mark.parametrize("args", [[], ["--dry-run"]])
def test_a_foreign_recall_is_not_replaced(home: Path, kind: str, args: list[str]) -> None:
    """A command of that name that we did not make stops the install, which names the way out."""
    link = home / ".local" / "bin" / "recall"
    link.parent.mkdir(parents=True)
    if kind == "file":
        link.write_text("#!/bin/sh\n")
    else:
        link.symlink_to("/bin/sh" if kind == "link" else home / "gone")
    before = files(home)
    done = run(home, *args)
    assert done.returncode == 3
    assert "--name" in done.stderr
    assert files(home) == before


def test_another_recall_earlier_on_path_is_noticed(home: Path, tmp_path: Path) -> None:
    """One that would be run instead of ours is named; one later on PATH is not."""
    other = tmp_path / "other" / "recall"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    ours = home / ".local" / "bin"
    base = "/usr/bin:/bin"
    first = run(home, "--dry-run", PATH=f"{other.parent}:{ours}:{Path(sys.executable).parent}:{base}")
    last = run(home, "--dry-run", PATH=f"{ours}:{other.parent}:{Path(sys.executable).parent}:{base}")
    assert str(other) in first.stdout
    assert str(other) not in last.stdout
    assert "not on your PATH" not in first.stdout + last.stdout


def test_without_a_new_python_the_fix_is_named(home: Path, tmp_path: Path) -> None:
    """Only an old Python on PATH: exit 4 and what to install."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "uname", "dirname", "cat"):
        (tools / name).symlink_to(f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}")
    if any(Path(folder, "python3").exists() for folder in ("/opt/homebrew/bin", "/usr/local/bin")):
        pytest.skip("a Python stands in one of the folders that are tried in any case")
    done = subprocess.run(
        [str(tools / "sh"), str(SCRIPT)], env={"HOME": str(home), "PATH": str(tools)}, capture_output=True, text=True
    )
    assert done.returncode == 4
    assert "Python 3.11" in done.stderr
    assert not list(home.iterdir())


@pytest.mark.slow
def test_install_search_again_uninstall(home: Path) -> None:
    """From nothing to a search result; twice is once; after --uninstall copies and clients' files are still there."""
    transcript = claude_session(
        home, "crm", "5d1f0c1e-0000-4000-8000-000000000001", [("Export the deals to a spreadsheet", "Exported.")]
    )
    clients = files(home)
    done = run(home)
    if done.returncode == 4 and re.search("No matching distribution|Connection|Temporary failure", done.stderr):
        pytest.skip("the packages cannot be fetched here")
    assert done.returncode == 0, done.stderr
    assert "$ recall find -n 3 " in done.stdout
    assert "5d1f0c1e" in done.stdout

    command = home / ".local" / "bin" / "recall"
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    found = subprocess.run([command, "find", "deals"], env=env, capture_output=True, text=True, cwd=home)
    assert (found.returncode, found.stdout[:8]) == (0, "5d1f0c1e")
    share = home / ".local/share/recall/venv"
    assert list(share.glob("lib/python3*/site-packages/recall/share/prompts/README"))
    assert list(share.glob("lib/python3*/site-packages/recall/cli/__pycache__/group.*.pyc")), "not precompiled"
    assert (home / ".local/share/recall").stat().st_mode & 0o077 == 0

    before = os.readlink(command)
    again = run(home)
    assert again.returncode == 0, again.stderr
    assert os.readlink(command) == before

    archive = home / "backups" / "claude-transcripts"
    copies = files(archive)
    gone = run(home, "--uninstall")
    assert gone.returncode == 0
    assert str(archive) in gone.stdout
    assert not command.is_symlink()
    assert not (home / ".local/share/recall").exists()
    assert files(archive) == copies
    assert transcript.read_bytes() in {path.read_bytes() for path in archive.rglob("*.jsonl")}
    assert {name: text for name, text in files(home).items() if name in clients} == clients
