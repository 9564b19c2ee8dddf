"""The list of commands."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

from recall.cli import COMMANDS
from recall.cli.group import SECTIONS

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_each_command_is_in_one_section() -> None:
    assert sorted(name for names in SECTIONS.values() for name in names) == sorted(COMMANDS)


def test_the_list_has_each_command_with_its_line(run_recall: Run) -> None:
    """Under its section's head, all descriptions in one column, no line beyond 80."""
    lines = run_recall("--help").stdout.splitlines()
    assert all(len(line) <= 80 for line in lines)
    for title in SECTIONS:
        assert f"{title}:" in lines
    starts = set()
    for name, (_, text) in COMMANDS.items():
        line = next(line for line in lines if line.split()[:1] == [name])
        first = text.split()[0]
        starts.add(line.index(first, 2 + len(name)))
    assert len(starts) == 1
