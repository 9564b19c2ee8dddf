"""`recall lost`: what was typed in sessions of which no transcript is left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import builders
from tests.conftest import Run
from tests.machine import uid

KEPT, GONE, CODEX = uid(1), uid(2), uid(3)
DAY = 1_781_168_400_000  # 2026-06-11 09:00 UTC


def _claude(home: Path, *entries: dict[str, Any]) -> None:
    (home / ".claude").mkdir(exist_ok=True)
    with (home / ".claude/history.jsonl").open("a") as file:
        for entry in entries:
            file.write(json.dumps({"pastedContents": {}, "project": "/home/dev/crm", **entry}) + "\n")


def _codex(home: Path, *entries: dict[str, Any]) -> None:
    (home / ".codex").mkdir(exist_ok=True)
    with (home / ".codex/history.jsonl").open("a") as file:
        for entry in entries:
            file.write(json.dumps(entry) + "\n")


@pytest.fixture
def crm(home: Path, run_recall: Run) -> Path:
    builders.claude_session(home, "crm", KEPT, [("Write the export", "Done.")])
    _claude(
        home,
        {"display": "Write the export", "timestamp": DAY, "sessionId": KEPT},
        {"display": "Count the orders of May", "timestamp": DAY - 86_400_000, "sessionId": GONE},
        {"display": "/clear", "timestamp": DAY - 86_000_000, "sessionId": GONE},
        {"display": "/help", "timestamp": DAY - 80_000_000, "sessionId": uid(9)},
    )
    _codex(home, {"session_id": CODEX, "ts": DAY // 1000 + 60, "text": "Посчитай заказы за май"})
    run_recall("sweep", "--quiet")
    return home


def _lines(run_recall: Run, *args: str) -> list[str]:
    return run_recall("lost", *args).stdout.splitlines()


def test_sessions_without_a_transcript_are_listed_newest_first(crm: Path, run_recall: Run) -> None:
    assert _lines(run_recall) == [
        f"{CODEX[:13]} 2026-06-11T09:01 ? 1 prompt: Посчитай заказы за май #codex",
        f"{GONE[:8]} 2026-06-10T09:06 crm 2 prompts: Count the orders of May",
    ]


def test_a_session_that_is_in_the_archive_is_not_lost(crm: Path, run_recall: Run) -> None:
    for path in (crm / ".claude/projects").rglob("*.jsonl"):
        path.unlink()
    run_recall("sweep", "--quiet")
    assert not any(line.startswith(KEPT[:8]) for line in _lines(run_recall))


def test_the_list_itself_may_be_gone(crm: Path, run_recall: Run) -> None:
    """The archive keeps a copy of it."""
    (crm / ".claude/history.jsonl").unlink()
    assert any(line.startswith(GONE[:8]) for line in _lines(run_recall))


def test_all_prompts_of_one(crm: Path, run_recall: Run) -> None:
    assert run_recall("lost", GONE[:8]).stdout == (
        "## user 2026-06-10 09:00\n\nCount the orders of May\n\n## user 2026-06-10 09:06\n\n/clear\n"
    )
    assert run_recall("lost", KEPT[:8]).returncode == 1
    assert run_recall("lost", "").returncode == 1


def test_what_was_pasted_is_there(home: Path, run_recall: Run) -> None:
    pasted = {"1": {"id": 1, "type": "text", "content": "line one\nline two"}}
    _claude(home, {"display": "Fix [Pasted text #1]", "timestamp": DAY, "sessionId": GONE, "pastedContents": pasted})
    run_recall("sweep", "--quiet")
    assert "line one\nline two" in run_recall("lost", GONE).stdout


def test_prompts_that_name_no_session(home: Path, run_recall: Run) -> None:
    """Older versions of the client did not note it: where a known session of that folder ran then, it is taken for its."""
    builders.claude_session(home, "crm", KEPT, [("Write the export", "Done.")])
    _claude(
        home,
        {"display": "typed in the session that is kept", "timestamp": DAY + 5000},
        {"display": "typed long before", "timestamp": DAY - 30 * 86_400_000},
        {"display": "and a minute later", "timestamp": DAY - 30 * 86_400_000 + 60_000},
        {"display": "another day", "timestamp": DAY - 10 * 86_400_000},
    )
    run_recall("sweep", "--quiet")
    found = [line.split(" ", 3) for line in _lines(run_recall)]
    assert [(one[0], one[3]) for one in found] == [
        ("?", "1 prompt: another day"),
        ("?", "2 prompts: typed long before"),
    ]


def test_a_removed_session_is_not_listed(crm: Path, run_recall: Run) -> None:
    assert run_recall("remove", KEPT, "--yes").returncode == 0
    assert not any(line.startswith(KEPT[:8]) for line in _lines(run_recall))


def test_filters_and_json(crm: Path, run_recall: Run) -> None:
    assert len(_lines(run_recall, "--project", "CRM")) == 1
    assert len(_lines(run_recall, "--since", "2026-06-11")) == 1
    assert len(_lines(run_recall, "-n", "1")) == 1
    assert run_recall("lost", "--since", "someday").returncode == 2
    found = json.loads(run_recall("lost", "--json").stdout)
    assert [one["id"] for one in found["results"]] == [CODEX, GONE]
    assert found["results"][1]["prompts"][0] == {"time": "2026-06-10T09:00:00Z", "text": "Count the orders of May"}


def test_secrets_and_escapes_do_not_pass(home: Path, run_recall: Run) -> None:
    key = "AKIA" + "Q3EXAMPLEKEY" + "7ZXW"
    _claude(home, {"display": f"use {key} \x1b[31mnow", "timestamp": DAY, "sessionId": GONE})
    run_recall("sweep", "--quiet")
    for args in ((), ("--json",), (GONE,)):
        told = run_recall("lost", *args).stdout
        assert "use" in told and key not in told and "\x1b" not in told


def test_odd_lines_are_passed_over(crm: Path, run_recall: Run) -> None:
    with (crm / ".claude/history.jsonl").open("ab") as file:
        file.write(b'null\n3\n{"display": 3}\n\xff\xfe\n{"display":"x","timestamp":"never","sessionId":["a"]}\n{"displ')
    assert any(line.startswith(GONE[:8]) for line in _lines(run_recall))


def test_nothing_lost_is_said(home: Path, run_recall: Run) -> None:
    run_recall("sweep", "--quiet")
    done = run_recall("lost")
    assert (done.returncode, done.stdout) == (1, "")
