"""The pages say what the program does: generated ones are fresh, each command is documented."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import click
import pytest

from recall.cli import COMMANDS
from recall.cli.group import commands
from recall.cli.reference import reference
from tests.conftest import ROOT


def _command(name: str) -> click.Command:
    command = commands.get_command(None, name)
    assert command is not None
    return command


def test_the_reference_is_fresh() -> None:
    """docs/commands.md is what `make docs` would write now."""
    page = ROOT / "docs" / "commands.md"
    assert page.read_text(encoding="utf-8") == reference(), "stale: run `make docs`"


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help_with_an_example(name: str) -> None:
    """A command's help says what it does and shows a line that can be typed."""
    command = _command(name)
    text = f"{command.help or ''}\n{command.epilog or ''}"
    assert text.strip(), f"recall {name} has no help"
    assert re.search(rf"^.*\brecall {name}\b", text, re.MULTILINE), f"the help of recall {name} shows no example"


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_is_explained(name: str) -> None:
    """No option stands in a help page without a word about it."""
    bare = [p.opts for p in _command(name).params if isinstance(p, click.Option) and not p.hidden and not p.help]
    assert not bare


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_list_is_short(name: str) -> None:
    """The list of commands fits 80 columns, one line each."""
    line = COMMANDS[name][1]
    assert len(line) <= 66
    assert line.endswith(".")


def test_the_screen_in_the_readme_is_current() -> None:
    """README.md shows what `recall demo` prints for its first search."""
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "screen.py", "--check"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"stale: run `make docs`\n{done.stderr}"


def test_the_readme_begins_with_two_commands() -> None:
    """Whoever opens the README sees at once how to install and how to test."""
    top = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:10]
    assert any(line.startswith("./install.sh") for line in top)
    assert any(line.startswith("make test") for line in top)


def test_the_readme_shows_only_real_commands() -> None:
    """Each line `recall NAME` of an example in the README is a command that exists."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    examples = "\n".join(re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    used = set(re.findall(r"^recall ([a-z-]+)", examples, re.MULTILINE))
    assert used
    assert used <= set(COMMANDS)


def test_links_between_pages_lead_somewhere() -> None:
    """A relative link in README, CONTRIBUTING or docs names a file that exists."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    broken = []
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.name}: {target}")
    assert not broken


@pytest.mark.parametrize("option", ["--check", "--unreleased"])
def test_the_changelog_can_be_collected(option: str) -> None:
    """CHANGELOG.md is what the released folders say, and every unreleased entry begins with its kind."""
    done = subprocess.run(
        [sys.executable, ROOT / "changelog" / "collect.py", option], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, f"run `python changelog/collect.py`\n{done.stderr}"
