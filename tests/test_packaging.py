"""The program starts fast and fails in one line; the wheel holds all that the program reads."""

from __future__ import annotations

import email
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

import recall
from recall import __version__
from recall.cli import ALIASES, COMMANDS
from tests.conftest import ROOT, Run, environment

# What a bare start has loaded, plus what `-m` itself needs, is known by running both.
LOADED = "import sys; print(*sorted(sys.modules), sep='\\n')"


def _loaded(code: str, home: Path) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(home), capture_output=True, text=True, check=True, cwd=home
    )
    return set(done.stdout.splitlines()[-2000:])


def test_version_loads_two_modules(home: Path) -> None:
    """`recall version` imports nothing but the package and its command line."""
    run = f"import atexit; atexit.register(lambda: exec({LOADED!r})); from recall.cli import main; main(['version'])"
    new = _loaded(run, home) - _loaded("import atexit; " + LOADED, home)
    assert new == {"recall", "recall.cli", f"recall {__version__}"}


def test_the_list_of_commands_loads_no_command(home: Path) -> None:
    """`recall help` knows names and lines from the table alone."""
    run = f"import atexit; atexit.register(lambda: exec({LOADED!r})); from recall.cli import main; main(['help'])"
    loaded = _loaded(run, home)
    commands = {module for module, _ in COMMANDS.values()} - {"recall.cli.help"}
    assert not loaded & (commands | {"sqlite3", "orjson", "Stemmer"})


@pytest.mark.parametrize("args", [["version"], ["--version"]])
def test_version(run_recall: Run, args: list[str]) -> None:
    """The version is one line."""
    done = run_recall(*args)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"recall {__version__}\n", "")


def test_help_lists_every_command(run_recall: Run) -> None:
    """`recall help` and `recall --help` print the same list, each command with its line."""
    done = run_recall("help")
    assert done.returncode == 0
    assert done.stdout == run_recall("--help").stdout
    for name, (_, line) in COMMANDS.items():
        assert any(shown.split()[:1] == [name] and shown.endswith(line) for shown in done.stdout.splitlines()), name


def test_aliases_name_real_commands() -> None:
    """An alias leads to a command and hides none."""
    assert set(ALIASES.values()) <= set(COMMANDS)
    assert not set(ALIASES) & set(COMMANDS)


@pytest.mark.parametrize(
    ("args", "line", "hint"),
    [
        (["versoin"], "there is no command 'versoin'", "`recall version`"),
        (["help", "dmeo"], "there is no command 'dmeo'", "`recall demo`"),
        (["чудо", "world"], "there is no command 'чудо'", "recall find"),
        (["completion"], "missing argument", "`recall completion --help`"),
        (["completion", "--shel"], "no such option", "`recall completion --help`"),
        (["--nonsense"], "no such option", "`recall --help`"),
    ],
)
def test_wrong_usage_is_one_line_and_a_hint(run_recall: Run, args: list[str], line: str, hint: str) -> None:
    """A usage error is told on stderr, or as JSON where that was asked for, and exits 2."""
    done = run_recall(*args)
    told = done.stderr.splitlines()
    assert (done.returncode, done.stdout, len(told)) == (2, "", 2)
    assert told[0].startswith(f"recall: {line}")
    assert told[1].startswith("hint: ")
    assert hint in told[1]

    done = run_recall(*args, "--json")
    assert (done.returncode, done.stderr) == (2, "")
    error = json.loads(done.stdout)["error"]
    assert sorted(error) == ["hint", "kind", "message"]
    assert error["kind"] == "usage"


FAILURES = [
    ("NothingFound('nothing', 'look elsewhere')", 1, "recall: nothing\nhint: look elsewhere\n"),
    ("Refused('it is live')", 3, "recall: it is live\n"),
    ("Damaged('bad \\x1b[31m bytes')", 5, "recall: bad  bytes\n"),
    ("KeyboardInterrupt()", 130, ""),
    ("BrokenPipeError()", 0, ""),
    ("OSError(28, 'No space left on device', '/x/y')", 4, "recall: /x/y: No space left on device\n"),
    ("OSError(13, 'Permission denied', b'/x/y')", 4, "recall: /x/y: Permission denied\n"),
    ("sqlite3.DatabaseError('file is not a database')", 5, "recall: the index is damaged: file is not a database\n"),
]


@pytest.mark.parametrize(("raised", "status", "told"), FAILURES, ids=[case[0] for case in FAILURES])
def test_failures(home: Path, raised: str, status: int, told: str) -> None:
    """What a user can cause has a status of its own and no traceback."""
    done = _fail(home, raised)
    assert done.returncode == status
    assert done.stderr.startswith(told)
    assert all(line.startswith("hint: ") for line in done.stderr[len(told) :].splitlines())


@pytest.mark.parametrize("raised", ["ZeroDivisionError()", "OSError('odd')", "sqlite3.ProgrammingError('closed')"])
def test_a_bug_shows_its_traceback(home: Path, raised: str) -> None:
    """A bug is not dressed up, and its status is not the one of 'nothing found'."""
    done = _fail(home, raised)
    assert done.returncode == 70
    assert "Traceback" in done.stderr


def _fail(home: Path, raised: str) -> subprocess.CompletedProcess[str]:
    code = f"""
import sqlite3
import click
import recall.cli.version
from recall.cli import main
from recall.errors import *

@click.command()
@click.option("-x", is_flag=True)
def command(x):
    raise {raised}

recall.cli.version.command = command
main(["version", "-x"])
"""
    return subprocess.run(
        [sys.executable, "-c", code], env=environment(home), capture_output=True, text=True, cwd=home, check=False
    )


def test_a_reader_that_leaves_is_no_failure(home: Path) -> None:
    """Output into a pipe that nobody reads any more: quiet, status 0."""
    process = subprocess.Popen(
        [sys.executable, "-m", "recall", "help"],
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=home,
    )
    assert process.stdout and process.stderr
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 0


def test_a_full_disk_behind_stdout_is_one_line(home: Path) -> None:
    """`recall version > /dev/full` says so and exits 4."""
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with full.open("w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "recall", "version"],
            env=environment(home),
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            cwd=home,
            check=False,
        )
    assert done.returncode == 4
    assert done.stderr.startswith("recall: standard output: No space left on device\nhint: ")


def test_output_that_the_terminal_cannot_show(run_recall: Run) -> None:
    """A locale without the letters typed is no reason to fail."""
    done = run_recall("项目", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(run_recall: Run, shell: str) -> None:
    """Each script knows every command, and asks recall for what changes."""
    done = run_recall("completion", shell)
    assert done.returncode == 0
    assert "completion --candidates" in done.stdout
    assert [name for name in COMMANDS if name not in done.stdout] == []


def test_the_shared_folders_are_named_in_the_wheel() -> None:
    """Prompts, hooks, timers and the skill stand beside the package and go to recall/share."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    include = table["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert include == {name: f"recall/share/{name}" for name in ("prompts", "hooks", "launchagents", "skills")}
    assert all((ROOT / name).is_dir() for name in include)


def test_the_version_stands_in_one_place() -> None:
    """The package's `__version__` is the version: the build reads it, and the plugin's manifest says the same."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in table["project"]["dynamic"]
    assert "version" not in table["project"]
    assert (ROOT / table["tool"]["hatch"]["version"]["path"]).samefile(recall.__file__)
    plugin = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
    assert plugin["version"] == __version__


class Built(NamedTuple):
    """What the build backend made of this checkout."""

    wheel: Path
    sdist: Path
    from_sdist: Path
    """The wheel that the unpacked source distribution builds."""


OFFLINE = "No matching distribution|Connection|Temporary failure|No module named|error sending request|dns error"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A wheel and a source distribution, built by hatchling; skips where hatchling cannot be had."""
    place = tmp_path_factory.mktemp("built")
    tools = _hatchling(place / "tools")
    made, again = place / "dist", place / "again"
    _build(tools, ROOT, made)
    (sdist,) = made.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(place / "source", filter="data")
    (source,) = (place / "source").iterdir()
    _build(tools, source, again, "-t", "wheel")
    (wheel,) = made.glob("*.whl")
    (from_sdist,) = again.glob("*.whl")
    return Built(wheel, sdist, from_sdist)


def _hatchling(folder: Path) -> Path:
    """The build backend, installed into a folder of its own."""
    wanted = ["install", "--quiet", "--target", str(folder), "hatchling>=1.25"]
    installers = [[sys.executable, "-m", "pip"]]
    if uv := shutil.which("uv"):
        installers.append([uv, "pip"])
    for installer in installers:
        python = ["--python", sys.executable] if installer[-2:] == [uv, "pip"] else []
        done = subprocess.run([*installer, *wanted, *python], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return folder
    if re.search(OFFLINE, done.stderr):
        pytest.skip("the build backend cannot be fetched here")
    raise AssertionError(done.stderr)


def _build(tools: Path, source: Path, made: Path, *options: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(made), *options],
        cwd=source,
        env={**os.environ, "PYTHONPATH": str(tools), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def _files(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.slow
def test_the_wheel_holds_what_recall_reads(built: Built) -> None:
    """A built wheel has every module and data file of the package, the shared folders, and nothing else."""
    names = set(_files(built.wheel))
    package = {path.relative_to(ROOT).as_posix() for path in (ROOT / "recall").rglob("*") if path.is_file()}
    package = {name for name in package if "__pycache__" not in name}
    assert package <= names
    for folder in ("prompts", "hooks", "launchagents", "skills"):
        assert f"recall/share/{folder}/README" in names
    assert not [name for name in names if not re.match(r"recall/|recall_sessions-[^/]+\.dist-info/", name)]
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


@pytest.mark.slow
def test_the_source_distribution_builds_the_same_wheel(built: Built) -> None:
    """Whoever builds from the source distribution gets the same files, byte for byte."""
    direct, again = _files(built.wheel), _files(built.from_sdist)
    assert set(direct) == set(again)
    assert [name for name in direct if direct[name] != again[name]] == []


@pytest.mark.slow
def test_the_source_distribution_has_no_stray_files(built: Built) -> None:
    """It holds what is needed to build, read and test: no caches, no environment, nothing large."""
    with tarfile.open(built.sdist) as archive:
        sizes = {name.name.split("/", 1)[1]: name.size for name in archive if name.isfile()}
    tops = {name.split("/", 1)[0] for name in sizes}
    folders = {"bench", "changelog", "docs", "hooks", "launchagents", "prompts", "recall", "skills", "tests"}
    files = {"CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "PKG-INFO", "README.md"}
    assert tops == {*folders, *files, ".claude-plugin", ".gitignore", "install.sh", "pyproject.toml"}
    assert not [name for name in sizes if re.search(r"__pycache__|\.pyc$|\.egg-info|_cache/|\.venv|\.db$", name)]
    assert not [(name, size) for name, size in sizes.items() if size > 300_000]


@pytest.mark.slow
def test_the_metadata_is_complete(built: Built) -> None:
    """The wheel says its name, version, licence with its text, Python, and shows the README."""
    files = _files(built.wheel)
    info = f"recall_sessions-{__version__}.dist-info"
    told = email.message_from_string(files[f"{info}/METADATA"].decode("utf-8"))
    assert (told["Name"], told["Version"], told["License-Expression"]) == ("recall-sessions", __version__, "MIT")
    assert (told["Requires-Python"], told["Description-Content-Type"]) == (">=3.11", "text/markdown")
    assert f"{info}/licenses/LICENSE" in files
    assert str(told.get_payload()).strip() == (ROOT / "README.md").read_text(encoding="utf-8").strip()
    assert files[f"{info}/entry_points.txt"].decode() == "[console_scripts]\nrecall = recall.cli:main\n"


@pytest.mark.slow
def test_the_installed_package_works_without_the_checkout(built: Built, tmp_path: Path, home: Path) -> None:
    """From the wheel alone: the demo finds, a page is exported, hooks are installed and called, prompts are there."""
    site = tmp_path / "site"
    with zipfile.ZipFile(built.wheel) as archive:
        archive.extractall(site)

    def run(*args: str, input: str = "") -> str:
        done = subprocess.run(
            args,
            env=environment(home, PYTHONPATH=str(site)),
            cwd=home,
            input=input,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, f"{args}\n{done.stdout[-1000:]}\n{done.stderr}"
        return done.stdout

    program = (sys.executable, "-m", "recall")
    shown = run(sys.executable, "-c", "import recall; print(recall.__file__)")
    assert Path(shown.strip()).is_relative_to(site)
    assert run(*program, "version") == f"recall {__version__}\n"
    assert "$ recall find" in run(*program, "demo")

    shutil.copytree(site / "recall" / "share" / "samples" / "home", home, dirs_exist_ok=True)
    run(*program, "sweep", "--no-llm", "--quiet")
    assert "0014fc28" in run(*program, "find", "umlauts", "excel")
    run(*program, "export", "0014fc28", "--html", "-o", str(home / "page.html"))
    assert "<style" in (home / "page.html").read_text(encoding="utf-8")

    assert "recall-hook" in run(*program, "install", "--dry-run", "--no-timer")
    run(*program, "install", "--without-handoff", "--no-timer")
    assert (home / ".claude/skills/session-orchestrator/SKILL.md").is_file()
    launcher = home / ".local/share/recall/recall-hook"
    assert str(site) in launcher.read_text(encoding="utf-8")
    run("sh", str(launcher), input='{"hook_event_name": "Stop"}')
    prompts = "from recall.actions.prompts import prompt; print(prompt('recap') and prompt('handoff') and 1)"
    assert run(sys.executable, "-c", prompts) == "1\n"
    assert (site / "recall/share/iterm2/recall_bridge.py").is_file()
