"""`tags` and `stats`: what there is, in numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recall.actions.stats import series
from recall.core.card import render
from recall.core.model import Card
from tests.builders import claude_session, codex_session
from tests.conftest import Run
from tests.machine import uid

CODEX = "019e10aa-1111-7aaa-8bbb-0123456789ab"
TURNS = [("Move the export, please", "Moved.")]


@pytest.fixture
def swept(home: Path, run_recall: Run) -> Path:
    claude_session(home, "crm", uid(1), TURNS, start="2026-06-01T09:00:00+00:00")
    claude_session(home, "shop", uid(2), TURNS * 2, start="2026-06-16T09:00:00+00:00")
    codex_session(home, "crm", CODEX, TURNS, start="2026-06-17T09:00:00+00:00")
    data = home / ".claude" / "session-recaps"
    data.mkdir(parents=True)
    (data / f"{uid(1)}.md").write_text(render(Card(uid(1), tags=("export", "api"), written_by="claude-haiku-5-5")))
    (data / f"{uid(2)}.md").write_text(render(Card(uid(2), tags=("export",), written_by="hand")))
    run_recall("sweep", "--quiet", "--no-llm", check=True)
    return data


def test_tags_are_listed_with_counts(swept: Path, run_recall: Run) -> None:
    """Those that TAGS.md names and nothing carries too."""
    with (swept / "TAGS.md").open("a") as file:
        file.write("- billing: invoices\n")
    assert run_recall("tags").stdout == "export 2\napi 1\nbilling 0\n"
    assert json.loads(run_recall("tags", "--json").stdout) == {
        "schema": 1,
        "tags": [
            {"tag": "export", "sessions": 2, "preferred": True},
            {"tag": "api", "sessions": 1, "preferred": True},
            {"tag": "billing", "sessions": 0, "preferred": True},
        ],
    }


def test_no_tags_are_nothing_found(home: Path, run_recall: Run) -> None:
    claude_session(home, "crm", uid(1), TURNS)
    run_recall("sweep", "--quiet", "--no-llm", check=True)
    done = run_recall("tags")
    assert (done.returncode, done.stdout) == (1, "")


def test_stats_is_a_page(swept: Path, home: Path, run_recall: Run) -> None:
    sizes = [path.stat().st_size for path in (home / "backups").rglob("*.jsonl") if path.name != "session_index.jsonl"]
    done = run_recall("stats")
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        done.stdout
        == f"""\
3 sessions, 8 messages, {sum(sizes) / 1e6:.1f} MB of transcripts
2026-06-01 to 2026-06-17
2 cards: 1 by claude-haiku-5-5, 1 by hand

client  sessions  messages       size
claude         2         6     0.0 MB
codex          1         2     0.0 MB

project  sessions  messages       size
crm             2         4     0.0 MB
shop            1         4     0.0 MB

month    sessions  messages       size
2026-06         3         8     0.0 MB

sessions by week
2026-06-01  #################### 1
2026-06-08  0
2026-06-15  ######################################## 2
"""
    )


def test_stats_counts_model_calls(swept: Path, home: Path, run_recall: Run) -> None:
    """As the ledger has them; lines that are none are passed over."""
    call = {"session": uid(1), "what": "card", "engine": "api", "input": 1000, "output": 50, "cost": 0.00125}
    calls = [
        {**call, "time": "2026-06-11T09:00:00+00:00", "model": "claude-haiku-5-5", "ok": True},
        {**call, "time": "2026-06-12T09:00:00+00:00", "model": "claude-haiku-5-5", "ok": False, "cost": 0},
        {**call, "time": "2026-06-13T09:00:00+00:00", "model": "claude-opus-5-5", "ok": True},
    ]
    ledger = home / ".claude" / "recall" / "ledger.jsonl"
    ledger.write_text("".join(json.dumps(one) + "\n" for one in calls) + "torn {\n")
    assert "model calls: 3 (1 failed), 3000 tokens in, 150 out, $0.0025\n" in run_recall("stats").stdout
    lines = run_recall("stats").stdout.splitlines()
    assert "sessions by week, and what model calls cost" in lines
    assert next(line for line in lines if line.startswith("2026-06-08")).split() == ["2026-06-08", "0", "$0.0025"]
    found = json.loads(run_recall("stats", "--json").stdout)
    assert found["model"]["weeks"]["2026-06-08"]["calls"] == 3
    assert found["model"]["models"]["claude-opus-5-5"]["calls"] == 1
    assert (found["sessions"], found["messages"], found["clients"]["codex"]["sessions"]) == (3, 8, 1)
    assert found["cards"] == {"claude-haiku-5-5": 1, "hand": 1}
    assert sorted(found["weeks"]) == ["2026-06-01", "2026-06-15"]


def test_projects_are_cut_and_that_is_said(swept: Path, run_recall: Run) -> None:
    assert "… 1 more; -n 2 shows them" in run_recall("stats", "-n", "1").stdout


@pytest.mark.parametrize(
    ("weeks", "found"),
    [
        ([], []),
        (["2026-06-01"], ["2026-06-01"]),
        (["2026-06-15", "2026-06-01"], ["2026-06-01", "2026-06-08", "2026-06-15"]),
    ],
)
def test_a_chart_has_no_gaps(weeks: list[str], found: list[str]) -> None:
    assert series(weeks) == found


def test_a_chart_is_of_half_a_year() -> None:
    found = series(["2019-12-30", "2026-06-15"])
    assert (len(found), found[0], found[-1]) == (26, "2025-12-22", "2026-06-15")


def test_months_are_cut_and_that_is_said(home: Path, run_recall: Run) -> None:
    """The newest twelve; the first line has the time of all that is counted."""
    for month in range(14):
        start = f"{2025 + month // 12}-{month % 12 + 1:02}-15T09:00:00+00:00"
        claude_session(home, "crm", uid(month + 1), TURNS, start=start)
    run_recall("sweep", "--quiet", "--no-llm", check=True)
    lines = run_recall("stats").stdout.splitlines()
    assert lines[1] == "2025-01-15 to 2026-02-15"
    at = next(number for number, line in enumerate(lines) if line.startswith("month"))
    assert [line[:7] for line in lines[at + 1 : at + 13]] == [
        *("2026-02", "2026-01"),
        *(f"2025-{n:02}" for n in range(12, 2, -1)),
    ]
    assert lines[at + 13] == "… 2 earlier; --json has them"


def test_a_card_by_code_alone_is_called_so(home: Path, run_recall: Run) -> None:
    claude_session(home, "crm", uid(1), TURNS)
    run_recall("sweep", "--quiet", "--no-llm", check=True)
    run_recall("recap", uid(1), "--no-llm", check=True)
    assert "1 card: 1 by code alone" in run_recall("stats").stdout.splitlines()
