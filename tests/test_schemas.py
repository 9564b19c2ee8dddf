"""`--json` is an interface: each command's documents are described in docs/schemas, and are what is described.

The golden files in tests/golden are what the commands print on a small home. `RECALL_GOLDEN=write` writes them anew.
"""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from jsonschema import Draft202012Validator

from recall.cli import COMMANDS
from recall.cli.group import commands
from recall.core.cardfile import render
from recall.core.model import Card
from tests.builders import claude_session, codex_session
from tests.conftest import ROOT, environment
from tests.machine import uid
from tests.schemas import FOLDER, problems, validator, wrong
from tests.standins import StandIns

GOLDEN = Path(__file__).parent / "golden"
KEY = "sk-ant-api03-" + "Zr7Qw2Lm9Xc4Vb6N" * 5
ONE, TWO, THREE, LOST = uid(1), uid(2), uid(3), uid(4)


class Case(NamedTuple):
    """A line of the command line, by the name of its golden file; `status` is its exit status; `same`: what it prints is
    the same on each machine, and has a golden file."""

    name: str
    args: tuple[str, ...]
    status: int = 0
    same: bool = True

    @property
    def command(self) -> str:
        return "error" if self.name.startswith("error") else self.args[0]


CASES = (
    Case("find", ("find", "export")),
    Case("find-nothing", ("find", "zebra"), 1),
    Case("find-budget", ("find", "--budget", "1600")),
    Case("grep", ("grep", "export", "-C", "1")),
    Case("grep-budget", ("grep", "e", "--budget", "900")),
    Case("grep-nothing", ("grep", "zebra"), 1),
    Case("show", ("show", ONE)),
    Case("show-transcript", ("show", ONE, "--transcript", "--tools")),
    Case("show-budget", ("show", ONE, "--transcript", "--budget", "2200")),
    Case("show-codex", ("show", TWO)),
    Case("cmd", ("cmd", TWO)),
    Case("open-print", ("open", ONE, "--print", "--in", "{home}/export")),
    Case("restore-list", ("restore", ONE, "--list")),
    Case("who-file", ("who", "/home/dev/crm/src/export.py")),
    Case("who-nothing", ("who", "/home/dev/crm/nobody.py"), 1),
    Case("files", ("files", ONE)),
    Case("files-to", ("files", ONE, "--to", "out")),
    Case("lost", ("lost",)),
    Case("ps", ("ps",)),
    Case("stats", ("stats",)),
    Case("tag", ("tag", ONE, "+export")),
    Case("tags", ("tags",)),
    Case("rename", ("rename", ONE, "Export", "of", "deals")),
    Case("doctor", ("doctor",), -1, same=False),
    Case("doctor-id", ("doctor", ONE)),
    Case("verify", ("verify",)),
    Case("handoff", ("handoff", ONE, "--no-llm")),
    Case("handoff-price", ("handoff", "--all", "--days", "36500", "--estimate", "--no-llm")),
    Case("handoff-all", ("handoff", "--all", "--days", "36500", "--no-llm", "--yes")),
    Case("recap", ("recap", ONE, "--no-llm")),
    Case("show-card", ("show", ONE)),
    Case("next", ("next", "--days", "3650")),
    Case("backfill-price", ("backfill", "--days", "36500", "--min-events", "1", "--estimate"), same=False),
    Case("backfill", ("backfill", "--days", "36500", "--min-events", "1")),
    Case("export", ("export", ONE)),
    Case("to-codex", ("to-codex", "export", "--task", "Finish the export")),
    Case("fork", ("fork", ONE, "--at", "2"), same=False),
    Case("sweep", ("sweep", "--no-llm")),
    Case("reindex", ("reindex",)),
    Case("restore", ("restore", LOST)),
    Case("error-usage", ("find", "--nonsense"), 2),
    Case("error-not-found", ("show", "ffffffff"), 1),
    Case("error-refused", ("restore", ONE), 3),
)
"""In this order, in one home: what changes it comes late."""

NO_CASE = {
    "peek": "needs a terminal: tests/cli/test_driving.py",
    "send": "needs a terminal: tests/cli/test_driving.py",
    "wait": "needs a terminal: tests/cli/test_driving.py",
    "iterm-install": "needs macOS: tests/bridge",
}
"""Commands that are not run here; `run_recall` compares with the schema wherever they run."""


def _home(home: Path) -> None:
    edits = [
        ("Write", {"file_path": "/home/dev/crm/src/export.py", "content": "print(1)\n"}, "ok"),
        ("Bash", {"command": "make export"}, "42 rows\nno error"),
    ]
    turns = [
        ("Please export the deals to the portal", "I wrote export.py.", edits),
        (f"Use {KEY}", "The export works now."),
    ]
    claude_session(home, "crm", ONE, turns, title="Deals")
    codex_session(home, "shop", TWO, [("the basket shows a wrong total", "rounding, fixed")])
    claude_session(home, "crm", THREE, [("warm up the export", "ok")], entrypoint="sdk-cli")
    gone = claude_session(home, "crm", LOST, [("paint the heron", "painted")])
    history = {
        "display": "feed the pelican",
        "timestamp": 1781168400000,
        "project": "/home/dev/zoo",
        "sessionId": uid(5),
    }
    (home / ".claude/history.jsonl").write_text(json.dumps({**history, "pastedContents": {}}) + "\n")
    card = Card(TWO, "codex", task="Repair the basket", status="in_progress", next="Run all tests", written_by="hand")
    cards = home / ".claude/session-recaps"
    cards.mkdir(parents=True)
    (cards / f"{TWO}.md").write_text(render(card), encoding="utf-8")
    (home / "export").mkdir()
    _recall(home, "sweep", "--no-llm", "--quiet")
    gone.unlink()
    _recall(home, "sweep", "--no-llm", "--quiet")


def _recall(home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = environment(home, RECALL_LLM="none")
    command = [sys.executable, "-m", "recall", *args]
    return subprocess.run(command, env=env, cwd=home, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """Exit status and standard output of each case."""
    if not os.path.isdir("/proc/self"):
        pytest.skip("the stand-in for an open client needs /proc")
    home = tmp_path_factory.mktemp("machine") / "home"
    home.mkdir(mode=0o700)
    _home(home)
    out = {}
    clients = StandIns(home)
    clients.claude(uid(6))
    try:
        for case in CASES:
            done = _recall(home, *(arg.replace("{home}", str(home)) for arg in case.args), "--json")
            out[case.name] = (done.returncode, done.stdout.replace(str(home), "/home/dev"))
    finally:
        clients.end()
    return out


def _with_json() -> list[str]:
    """Names of all commands that have --json."""
    found = []
    for name in COMMANDS:
        command = commands.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        if any("--json" in param.opts for param in command.params if isinstance(param, click.Option)):
            found.append(name)
    return found


def test_each_command_with_json_has_a_schema_and_each_schema_a_command() -> None:
    assert {path.name.removesuffix(".schema.json") for path in FOLDER.iterdir()} == {*_with_json(), "error"}


def test_each_command_with_json_is_run_here() -> None:
    """Or there is a reason why not."""
    assert {case.command for case in CASES} | set(NO_CASE) == {*_with_json(), "error"}


@pytest.mark.parametrize("name", sorted(path.name.removesuffix(".schema.json") for path in FOLDER.iterdir()))
def test_a_schema_is_one_and_lets_nothing_unknown_pass(name: str) -> None:
    """JSON Schema 2020-12; each object either names all its keys or is a map of one kind of value."""
    schema = validator(name).schema
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)
    for part in _objects(schema):
        assert "additionalProperties" in part
        assert set(part.get("required", ())) <= set(part.get("properties", ()))


def _objects(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [one for part in schema for one in _objects(part)]
    if not isinstance(schema, dict):
        return []
    inner = [one for part in schema.values() for one in _objects(part)]
    return [schema, *inner] if schema.get("type") == "object" else inner


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_printed_is_as_described(case: Case, printed: dict[str, tuple[int, str]]) -> None:
    """By the schema, and as the golden file has it: a change of an interface is seen."""
    status, text = printed[case.name]
    assert status == case.status or case.status < 0, text
    document = json.loads(text)
    assert problems(case.command, document) == []
    if not case.same:
        return
    path = GOLDEN / f"{case.name}.json"
    if os.environ.get("RECALL_GOLDEN") == "write":
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(json.dumps(_masked(document), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    assert _masked(document) == json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_the_golden_files_are_as_described(path: Path) -> None:
    """They belong to a case, are valid, and tell no secret and nothing of a machine."""
    case = next(case for case in CASES if case.name == path.stem and case.same)
    text = path.read_text(encoding="utf-8")
    assert problems(case.command, json.loads(text)) == []
    assert KEY[:24] not in text
    assert "/tmp" not in text
    assert str(ROOT) not in text


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_a_key_more_or_less_is_seen(path: Path) -> None:
    """The schemas would fail where they should."""
    case = next(case for case in CASES if case.name == path.stem)
    document = json.loads(path.read_text(encoding="utf-8"))
    assert problems(case.command, {**document, "surprise": 1})
    for key in document:
        less = copy.deepcopy(document)
        del less[key]
        assert problems(case.command, less) or key in ("left_out", "fixed"), key


def test_the_check_of_a_command_line() -> None:
    """What `run_recall` asks of each line with --json."""
    assert wrong(("tags", "--json"), '{"schema": 1, "tags": []}') == []
    assert wrong(("tags", "--json"), '{"schema": 2, "tags": []}')
    assert wrong(("tags", "--json"), '{"error": {"kind": "usage", "message": "x"}}')
    assert wrong(("tags",), "nothing") == wrong(("grep", "--", "--json"), "{") == wrong((), "") == []


_MOMENT = re.compile(r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
_CHANGING = ("modified", "written_at", "seconds")


def _masked(value: Any, key: str = "") -> Any:
    """`value` without what differs from run to run: times of our own files, of what was made now, and the numbers of processes."""
    if isinstance(value, dict):
        return {name: _masked(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_masked(inner) for inner in value]
    if key == "pid":
        return 4242
    if isinstance(value, str) and _MOMENT.match(value) and (key in _CHANGING or not value.startswith("2026-06-1")):
        return "2026-07-01T00:00:00Z"
    return value
