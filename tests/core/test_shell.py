"""A resume line survives copy and paste into any shell, whatever the folder is called."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recall.core.model import Plan
from recall.core.shell import folder, line, quoted, word

SHELLS = ("sh", "bash", "zsh", "fish")

LINES = {
    "plain": (Plan(("claude", "--resume", "1b-2"), "/home/dev/crm", ""), "cd '/home/dev/crm' && claude --resume 1b-2"),
    "blank": (Plan(("codex", "resume", "7"), "/home/dev/a b", ""), "cd '/home/dev/a b' && codex resume 7"),
    "quote": (Plan(("claude",), "/it's", ""), r"cd '/it'\''s' && claude"),
    "backslash": (Plan(("claude",), "/a\\b", ""), r"cd '/a'\\'b' && claude"),
    "option": (Plan(("claude",), "-x", ""), "cd './-x' && claude"),
    "line end": (Plan(("claude",), "/a\nb", ""), r"""cd "$(printf '/a\012b')" && claude"""),
    "variables": (
        Plan(("claude",), "/a", "", (("CLAUDE_CONFIG_DIR", "/my homes/x"), ("CODEX_HOME", ""))),
        "cd '/a' && env -u CODEX_HOME 'CLAUDE_CONFIG_DIR=/my homes/x' claude",
    ),
    "no folder": (Plan(("claude", "--model", "a b"), "", ""), "claude --model 'a b'"),
    "flags": (
        Plan(("claude", "--resume", "1", "--model=x", "=x", "~"), "/a", ""),
        "cd '/a' && claude --resume 1 --model=x '=x' '~'",
    ),
}


@pytest.mark.parametrize(("plan", "shown"), LINES.values(), ids=LINES)
def test_a_plan_is_shown_as_this_line(plan: Plan, shown: str) -> None:
    assert line(plan) == shown


HOSTILE = (
    "dots.and-dashes",
    "two  blanks ",
    "it's",
    "'",
    "back\\slash",
    "ends in \\",
    "\\'",
    "\\\\",
    "$(touch owned) `touch owned` $HOME ${HOME}",
    "a;b&c|d>e<f",
    "*?[a]{b,c}~#",
    "!history!! !x",
    '"double"',
    "100%d %s %%",
    "-dash",
    "~",
    "=ls",
    "Проект ёлка",
    "项目",
    "👩‍💻 é",
    "line\nend",
    "ends in a line end\n",
    "tab\tand\rreturn",
    "\x1b[31mred",
    "right\u202eto left",
    "all \\'\"!%$(x)\n of it 👩‍💻",
    "\\n\n\\t",
    "no text \udcff\udce9 é\udca9",
)


def installed(shell: str) -> str:
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"{shell} is not installed")
    return path


@pytest.fixture
def clients(tmp_path: Path) -> dict[str, str]:
    """Stand-ins for the clients on PATH, which tell where they run and with what."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("claude", "codex"):
        program = folder / name
        program.write_text('#!/bin/sh\npwd -P\nprintf "<%s>" "$@"\n')
        program.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path), "LANG": "C.UTF-8"}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_line_runs_the_client_in_the_folder_whatever_its_name(
    shell: str, tmp_path: Path, clients: dict[str, str]
) -> None:
    program = installed(shell)
    for name in HOSTILE:
        place = tmp_path / "work" / name
        place.mkdir(parents=True)
        plan = Plan(("claude", "--resume", "1b-2", name.rstrip("\n")), str(place), "")
        text = line(plan)
        assert "\n" not in text
        assert "\x1b" not in text
        done = subprocess.run([program, "-c", text], env=clients, cwd=tmp_path, capture_output=True, check=False)
        wanted = f"{place}\n<--resume><1b-2><{name.rstrip(chr(10))}>"
        assert done.stdout.decode("utf-8", "surrogateescape") == wanted, (name, text, done.stderr)
    assert not list(tmp_path.rglob("owned"))


@pytest.mark.parametrize("shell", SHELLS)
def test_variables_are_set_for_the_client_alone_and_taken_away(
    shell: str, tmp_path: Path, clients: dict[str, str]
) -> None:
    (tmp_path / "bin/claude").write_text('#!/bin/sh\nprintf "<%s><%s>" "$HERE" "${GONE-none}"\n')
    for name in HOSTILE:
        name = name.rstrip("\n")
        text = line(Plan(("claude",), str(tmp_path), "", (("HERE", name), ("GONE", ""))))
        env = {**clients, "GONE": "x", "HERE": "y"}
        done = subprocess.run([installed(shell), "-c", text], env=env, capture_output=True, check=True)
        assert done.stdout.decode("utf-8", "surrogateescape") == f"<{name}><none>", (text, done.stderr)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_relative_folder_that_looks_like_an_option_is_entered(
    shell: str, tmp_path: Path, clients: dict[str, str]
) -> None:
    (tmp_path / "-P").mkdir()
    text = line(Plan(("codex",), "-P", ""))
    done = subprocess.run([installed(shell), "-c", text], env=clients, cwd=tmp_path, capture_output=True, check=False)
    assert done.stdout.decode().splitlines()[0] == str(tmp_path / "-P")


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=30)


@pytest.mark.parametrize("shell", SHELLS)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(TEXT, min_size=1, max_size=40))
def test_every_shell_reads_a_quoted_text_back_as_it_was(shell: str, texts: list[str]) -> None:
    program = installed(shell)
    command = "printf '%s\\n-\\n' " + " ".join(quoted(text) for text in texts)
    done = subprocess.run(
        [program, "-c", command], env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}, capture_output=True, check=True
    )
    # What `printf` makes loses the line ends at its end; `folder` sees to it.
    kept = [text if text.strip("\n") == text else text.rstrip("\n") for text in texts]
    assert done.stdout.decode() == "".join(f"{text}\n-\n" for text in kept)


@given(TEXT)
def test_the_line_is_one_line_without_anything_that_steers_a_terminal(text: str) -> None:
    shown = line(Plan(("claude", text), text or "/", ""))
    assert len(shown.splitlines()) == 1
    assert all(char.isprintable() or ord(char) > 0x9F for char in shown)
    assert word("") == "''"
    assert folder("/") == "'/'"
