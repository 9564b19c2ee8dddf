"""What `find` says beside its rows about filters that it could not use, and how rows fit a terminal."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from recall.cli.find import _fitted
from tests.builders import claude_session

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize(
    ("typed", "status", "said"),
    [
        (["deals", "since:whenever"], 0, "since:whenever is no filter, and was looked for as words; since: takes 3d,"),
        (["deals", "is:open"], 0, "is:open is no filter, and was looked for as words; is: takes live, idle"),
        (["deals", "client:gpt"], 1, "hint: client: takes claude, codex"),
        (["deals", "status:finished"], 1, "hint: status: takes done, in_progress, aborted, new, lost"),
        (["deals", "project:nowhere"], 1, "hint: leave out a filter"),
        (["deals", "since:2020-01"], 0, ""),
        (["deals", "https://example.com", "a:b"], 0, ""),
    ],
)
def test_a_filter_that_cannot_be_used_is_told(
    home: Path, run_recall: Run, typed: list[str], status: int, said: str
) -> None:
    """It is no error: the words are searched all the same, and the values that it takes are named."""
    claude_session(
        home, "crm", "5d1f0c1e-0000-4000-8000-000000000001", [("Export the deals, open a view", "Exported.")]
    )
    run_recall("sweep", "--quiet", "--no-llm", check=True)
    done = run_recall("find", *typed)
    assert done.returncode == status
    assert said in done.stderr
    if not said:
        assert "filter" not in done.stderr


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (200, "3f2a9c01 2026-11-18T09:15 warehouse [new] Export the deals of the third quarter as a spreadsheet #crm"),
        (80, "3f2a9c01 2026-11-18T09:15 warehouse [new] Export the deals of the third qu… #crm"),
        (40, "3f2a9c01 2026-11-18T09:15 warehouse [new] Export the deals of the third qu… #crm"),
        (30, "3f2a9c01 2026-11-18T09:15 warehouse [new] Export the d… #crm"),
    ],
)
def test_a_row_fits_its_terminal(columns: int, shown: str) -> None:
    """One line of it, or two where it is narrow: the task is never cut away altogether."""
    task = "Export the deals of the third quarter as a spreadsheet"
    assert _fitted(f"3f2a9c01 2026-11-18T09:15 warehouse [new] {task} #crm", task, columns) == shown
