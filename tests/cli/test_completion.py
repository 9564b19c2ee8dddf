"""Completion in real shells: commands and options from the script, ids, projects and filters from the index."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import builders
from tests.conftest import ROOT, Run, environment
from tests.machine import uid

SHELLS = ("bash", "zsh", "fish")
START = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}


@pytest.fixture
def crm(home: Path, run_recall: Run) -> Path:
    builders.claude_session(home, "crm", uid(1), [("Write the export", "Done.")])
    builders.claude_session(
        home, "it's $(odd)", uid(2), [("Say `hello` $(date)", "Hello.")], cwd="/home/dev/it's $(odd)"
    )
    run_recall("sweep", "--quiet")
    program = home / "bin/recall"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {sys.executable} -m recall "$@"\n')
    program.chmod(0o700)
    for shell in SHELLS:
        (home / f"c.{shell}").write_text(run_recall("completion", shell).stdout.replace("__main__.py", "recall"))
    return home


class Screen:
    """A shell in a tmux server of its own."""

    def __init__(self, home: Path, shell: str) -> None:
        self._socket = str(home / "tmux")
        self._env = environment(home, PATH=f"{home}/bin:{os.environ['PATH']}", TERM="xterm-256color", PS1="$ ")
        self._tmux(
            "new-session",
            "-d",
            "-x",
            "150",
            "-y",
            "40",
            "-c",
            str(home),
            shlex.join(["env", "-i", *self._words(), *START[shell]]),
        )
        self.shell = shell

    def _words(self) -> list[str]:
        return [f"{key}={value}" for key, value in self._env.items()]

    def _tmux(self, *args: str) -> str:
        words = ["tmux", "-S", self._socket, "-f", "/dev/null", *args]
        return subprocess.run(words, env=self._env, capture_output=True, text=True, check=False).stdout

    def keys(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def text(self) -> str:
        return self._tmux("capture-pane", "-p", "-J")

    def until(self, shows: Callable[[str], bool]) -> str:
        end = time.monotonic() + 30
        while not shows(self.text()):
            assert time.monotonic() < end, self.text()
        return self.text()

    def close(self) -> None:
        self._tmux("kill-server")


@pytest.fixture(params=SHELLS)
def screen(crm: Path, request: pytest.FixtureRequest) -> Iterator[Screen]:
    shell = request.param
    if not shutil.which(shell) or not shutil.which("tmux"):
        pytest.skip(f"no {shell} or no tmux on this machine")
    made = Screen(crm, shell)
    source = f"source {crm}/c.{shell}; echo rea''dy"
    made.keys("-l", f"autoload -U compinit; compinit -u; {source}" if shell == "zsh" else source)
    made.keys("Enter")
    made.until(lambda text: "ready" in text.replace("rea''dy", ""))
    made.keys("C-l")
    yield made
    made.close()


def _tab(screen: Screen, typed: str, wanted: str) -> str:
    screen.keys("C-u")
    screen.keys("-l", typed)
    screen.until(lambda text: typed.split()[-1] in text)
    screen.keys("Tab")
    return screen.until(lambda text: wanted in text)


def test_what_is_certain_is_filled_in(screen: Screen) -> None:
    _tab(screen, "recall expo", "recall export")
    _tab(screen, f"recall show {uid(1)[:4]}", f"recall show {uid(1)[:8]}")
    _tab(screen, "recall find --sta", "recall find --status")
    _tab(screen, "recall find --project cr", "--project crm")
    _tab(screen, "recall find export project:cr", "project:crm")
    _tab(screen, "recall find --client cod", "--client codex")


def test_ids_come_with_what_they_are_about(screen: Screen) -> None:
    screen.keys("C-u")
    screen.keys("-l", "recall show ")
    screen.keys("Tab", "Tab")
    text = screen.until(lambda text: "Write the export" in text)
    assert uid(1)[:8] in text


def test_nothing_of_a_title_is_ever_run(screen: Screen) -> None:
    screen.keys("C-u")
    screen.keys("-l", f"recall show {uid(2)[:5]}")
    screen.keys("Tab")
    screen.until(lambda text: uid(2)[:8] in text)


@pytest.mark.parametrize("key", ["menu-complete", "insert-completions"])
def test_a_key_that_puts_candidates_into_the_line_puts_no_title_there(home: Path, run_recall: Run, key: str) -> None:
    """bash does not quote what it puts there."""
    for number in range(30, 50):
        builders.claude_session(home, "crm", f"abcdef{number}{uid(1)[8:]}", [("Say $(touch ran);touch ran", "No.")])
    run_recall("sweep", "--quiet")
    program = home / "bin/recall"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {sys.executable} -m recall "$@"\n')
    program.chmod(0o700)
    (home / "c.bash").write_text(run_recall("completion", "bash").stdout.replace("__main__.py", "recall"))
    (home / ".inputrc").write_text(f'"\\C-t": {key}\n')
    shell = Screen(home, "bash")
    try:
        shell.keys("-l", f"bind -f {home}/.inputrc; . {home}/c.bash; echo rea''dy")
        shell.keys("Enter")
        shell.until(lambda text: "ready" in text.replace("rea''dy", ""))
        shell.keys("C-l")
        shell.keys("-l", "recall show abcdef")
        shell.keys("C-t")
        shell.until(lambda text: "abcdef3" in text)
        assert "touch" not in shell.text()
        shell.keys("Enter")
        shell.keys("-l", "echo do''ne")
        shell.keys("Enter")
        shell.until(lambda text: "done" in text)
        assert not (home / "ran").exists()
    finally:
        shell.close()


def test_no_candidate_is_more_than_a_word(home: Path, run_recall: Run) -> None:
    """In bash, that is: it stands in the line as it is."""
    names = [
        "x;touch${IFS}ran",
        "x|sh",
        "x&y",
        "x>y",
        "x<y",
        "x(y",
        "x*",
        "x!y",
        "x{a,b}",
        "~root",
        "#x",
        "feature/export",
    ]
    for number, name in enumerate(names):
        builders.claude_session(home, "crm", uid(number), [("Say hello", "Hello.")], branch=name)
    run_recall("sweep", "--quiet")
    for kind, word in (("branch", ""), ("word", "branch:")):
        told = run_recall("completion", "--candidates", kind, word).stdout
        assert [line.partition("\t")[0].removeprefix(word) for line in told.splitlines()] == ["feature/export"]


WORDS = ["", "x", "'", "$(", "a\tb", "\x1b", "project:", "project:'", "nonsense:x", "-", "é", "x" * 5000]


def test_no_word_raises_and_no_line_is_broken(
    crm: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from recall.cli.candidates import run

    monkeypatch.setattr(os, "environ", environment(crm))
    for kind in ("id", "address", "project", "tag", "word", "branch", "nonsense", ""):
        for word in WORDS:
            assert run([kind, word]) == 0
            told = capsys.readouterr()
            assert told.err == ""
            for line in told.out.splitlines():
                assert line.count("\t") <= 1 and line.replace("\t", " ").isprintable(), (kind, word, line)


def test_without_an_index_it_is_silent(home: Path, run_recall: Run) -> None:
    done = run_recall("completion", "--candidates", "id", "")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (home / ".claude").exists()


def test_click_is_not_loaded_for_it(crm: Path) -> None:
    code = """
import sys
sys.argv = ["recall", "completion", "--candidates", "id", ""]
from recall.cli import main
try:
    main()
except SystemExit:
    pass
assert "click" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], env=environment(crm), check=True, cwd=crm, capture_output=True)


def test_it_is_written_where_the_shell_looks(home: Path, run_recall: Run) -> None:
    for shell in SHELLS:
        done = run_recall("completion", shell, "--write")
        path = Path(done.stdout.strip())
        assert path.is_relative_to(home)
        assert path.read_text() == run_recall("completion", shell).stdout
