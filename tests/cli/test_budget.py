"""`--budget`: the text commands never print more bytes than asked for, and say what they left out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.builders import claude_session
from tests.conftest import Run
from tests.machine import settings, sweep, uid

COUNT = 12


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve sessions about one thing, the first one long and in letters of several bytes."""
    home = tmp_path_factory.mktemp("home")
    long = [(f"выгрузка воронки, шаг {n}", "готово: " + "портал отвечает " * 20) for n in range(60)]
    claude_session(home, "crm", uid(0), [*long, ("и последний вопрос", "LAST-ANSWER: всё готово")])
    for n in range(1, COUNT):
        claude_session(home, "crm", uid(n), [(f"выгрузка воронки номер {n} " + "подробно " * 9, "сделано")])
    sweep(settings(home))
    return home


@pytest.fixture
def home(many: Path) -> Path:
    """Where `run_recall` runs."""
    return many


def _timeless(text: str) -> str:
    return re.sub(r"T[0-9:]+Z", "", text)


@pytest.mark.parametrize("budget", [200, 333, 1000, 5000])
@pytest.mark.parametrize(
    "args",
    [
        ("find", "выгрузка"),
        ("find", "выгрузка", "--why"),
        ("find", "выгрузка", "--ids"),
        ("grep", "выгрузка", "-C", "1"),
        ("grep", "выгрузка", "-l"),
        ("show", uid(0)),
        ("show", uid(0), "--transcript"),
        ("show", uid(0), "--tail", "20"),
        ("show", uid(0), "--around", "шаг 30"),
        ("handoff", uid(0), "--no-llm"),
    ],
    ids=" ".join,
)
def test_no_byte_more(many: Path, run_recall: Run, args: tuple[str, ...], budget: int) -> None:
    """Whole lines, and a word on stdout and stderr where something is missing; with room enough nothing is."""
    whole = run_recall(*args).stdout
    done = run_recall(*args, "--budget", budget)
    assert done.returncode == 0, done.stderr
    assert 0 < len(done.stdout.encode()) <= budget
    assert done.stdout.endswith("\n")
    if len(whole.encode()) <= budget:
        assert _timeless(done.stdout) == _timeless(whole)
    else:
        assert "…" in done.stdout
        assert f" left out: over {budget} bytes" in done.stderr


@pytest.mark.parametrize("budget", [2000, 5000])
@pytest.mark.parametrize(
    ("args", "name"),
    [
        (("find", "выгрузка"), "results"),
        (("grep", "выгрузка"), "hits"),
        (("show", uid(0), "--transcript"), "messages"),
    ],
)
def test_json_stays_json(many: Path, run_recall: Run, args: tuple[str, ...], name: str, budget: int) -> None:
    """Entries are taken from the end, and counted in `left_out`."""
    whole = json.loads(run_recall(*args, "--json").stdout)
    done = run_recall(*args, "--json", "--budget", budget)
    assert len(done.stdout.encode()) <= budget
    document = json.loads(done.stdout)
    kept = document[name]
    assert [one.get("id") for one in kept] == [one.get("id") for one in whole[name][: len(kept)]]
    assert document["left_out"][name] == len(whole[name]) - len(kept) > 0


def test_the_end_of_a_conversation_is_what_tail_keeps(many: Path, run_recall: Run) -> None:
    done = run_recall("show", uid(0), "--tail", "20", "--budget", "600")
    assert done.stdout.startswith("… ")
    assert done.stdout.endswith("LAST-ANSWER: всё готово\n")
    document = json.loads(run_recall("show", uid(0), "--tail", "20", "--json", "--budget", "4000").stdout)
    assert document["messages"][-1]["text"] == "LAST-ANSWER: всё готово"
    assert "шаг 30" in run_recall("show", uid(0), "--around", "шаг 30", "--budget", "400").stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("find", "x", "--budget", "199"), "199"),
        (("find", "x", "--budget", "few"), "few"),
        (("show", "last", "--raw", "--budget", "500"), "--raw gives whole files"),
        (("handoff", "last", "--json", "--budget", "500"), "the text of one handoff"),
        (("show", uid(0), "--json", "--budget", "200"), "the shortest answer takes"),
    ],
)
def test_what_cannot_be_is_said(many: Path, run_recall: Run, args: tuple[str, ...], message: str) -> None:
    done = run_recall(*args)
    assert done.returncode == 2
    assert message in done.stdout + done.stderr
