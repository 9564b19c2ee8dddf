"""install.sh: what it refuses, what it says, and that it installs."""

from __future__ import annotations

import json
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
    """A home with a blank and Cyrillic letters in its path; beside it stand-ins for what would start a real timer."""
    folder = tmp_path / "мой дом"
    folder.mkdir(mode=0o700)
    stand_ins = tmp_path / "stand-ins"
    stand_ins.mkdir()
    for name in ("systemctl", "launchctl", "crontab"):
        (stand_ins / name).write_text('#!/bin/sh\necho "${0##*/} $*" >>"${0%/*}/calls"\n')
        (stand_ins / name).chmod(0o755)
    return folder


def calls(home: Path) -> list[str]:
    """How the stand-ins were called."""
    path = home.parent / "stand-ins" / "calls"
    return path.read_text().splitlines() if path.exists() else []


def run(home: Path, *args: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """install.sh as `env -i HOME=… PATH=… ./install.sh`, this test's Python first on PATH."""
    path = f"{home.parent}/stand-ins:{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
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
    handoff = {"--with-handoff", "--without-handoff"}
    assert known == {"--name", "--dry-run", "--uninstall", "--help", "--no-hooks", "--no-timer", *handoff}
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


def test_a_dry_run_shows_what_the_clients_get(home: Path) -> None:
    """A diff from the checkout itself, before there is a program; nothing is changed and no timer is started."""
    claude_session(home, "crm", "5d1f0c1e-0000-4000-8000-000000000001", [("Export the deals", "Exported.")])
    before = files(home)
    done = run(home, "--dry-run", "--with-handoff", "--name", "rc")
    assert (done.returncode, done.stderr) == (0, "")
    for part in (f"+++ {home}/.claude/settings.json", "Bash(rc *)", "PreCompact", "recall/venv/bin/python"):
        assert part in done.stdout
    assert "/site-packages/recall/hook_main.py" in done.stdout
    assert files(home) == before
    assert set(calls(home)) <= {"systemctl --user show-environment"}


def test_a_dry_run_meets_what_would_be_refused(home: Path) -> None:
    """Settings that cannot be read safely are told by then, with the exit status of the refusal."""
    claude_session(home, "crm", "5d1f0c1e-0000-4000-8000-000000000001", [("Export the deals", "Exported.")])
    (home / ".claude" / "settings.json").write_text("{,}")
    done = run(home, "--dry-run")
    assert done.returncode == 5
    assert "settings.json is no JSON: line 1, column 2" in done.stderr


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
    """From nothing to a search result, hooks and timer; twice is once; --uninstall takes back all but what is kept."""
    transcript = claude_session(
        home, "crm", "5d1f0c1e-0000-4000-8000-000000000001", [("Export the deals to a spreadsheet", "Exported.")]
    )
    settings = home / ".claude" / "settings.json"
    settings.write_bytes(b'{\r\n\t"model": "opus"\r\n}')
    clients = files(home)
    done = run(home, "--with-handoff")
    if done.returncode == 4 and re.search("No matching distribution|Connection|Temporary failure", done.stderr):
        pytest.skip("the packages cannot be fetched here")
    assert done.returncode == 0, done.stderr
    assert "$ recall find -n 3 " in done.stdout
    assert "5d1f0c1e" in done.stdout
    assert "settings.json: 7 hooks" in done.stdout
    assert "systemctl --user enable --now recall-sweep.timer" in calls(home) or sys.platform == "darwin"

    command = home / ".local" / "bin" / "recall"
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    found = subprocess.run([command, "find", "deals"], env=env, capture_output=True, text=True, cwd=home)
    assert (found.returncode, found.stdout[:8]) == (0, "5d1f0c1e")
    share = home / ".local/share/recall/venv"
    assert list(share.glob("lib/python3*/site-packages/recall/share/prompts/README"))
    assert list(share.glob("lib/python3*/site-packages/recall/cli/__pycache__/group.*.pyc")), "not precompiled"
    assert (home / ".local/share/recall").stat().st_mode & 0o077 == 0

    hooks = json.loads(settings.read_bytes())["hooks"]
    hook = hooks["Stop"][0]["hooks"][0]["command"]
    second = transcript.with_name("5d1f0c1e-0000-4000-8000-000000000002.jsonl")
    second.write_bytes(transcript.read_bytes())
    event = {"hook_event_name": "Stop", "session_id": second.stem, "transcript_path": str(second), "cwd": str(home)}
    fired = subprocess.run(
        ["sh", "-c", hook], env=env, input=json.dumps(event), capture_output=True, text=True, cwd="/"
    )
    assert (fired.returncode, fired.stdout, fired.stderr) == (0, "", "")
    assert list((home / "backups").rglob(second.name))
    second.unlink()
    swept = subprocess.run([home / ".local/share/recall/recall-sweep"], env={"PATH": "/usr/bin:/bin"}, cwd="/")
    assert swept.returncode == 0
    assert (home / ".claude/recall/timer.last").read_text().split()[2] == "0"

    before = os.readlink(command)
    edited = settings.read_bytes()
    again = run(home)
    assert again.returncode == 0, again.stderr
    assert os.readlink(command) == before
    assert settings.read_bytes() == edited

    archive = home / "backups" / "claude-transcripts"
    copies = files(archive)
    for shell in ("bash", "zsh", "fish"):
        subprocess.run([command, "completion", shell, "--write"], env=env, check=True, capture_output=True)
    foreign = home / ".config/fish/completions/recall.fish"
    foreign.write_text("# written by hand\n")
    completions = [path for path in files(home) if "completions/" in path or "site-functions/" in path]
    assert len(completions) == 3
    gone = run(home, "--uninstall")
    assert gone.returncode == 0
    assert "copies in ~/backups/claude-transcripts" in gone.stdout
    assert [path for path in completions if (home / path).exists()] == [str(foreign.relative_to(home))]
    foreign.unlink()
    assert not command.is_symlink()
    assert not (home / ".local/share/recall").exists()
    assert files(archive) == copies
    assert transcript.read_bytes() in {path.read_bytes() for path in archive.rglob("*.jsonl")}
    assert {name: text for name, text in files(home).items() if name in clients} == clients
