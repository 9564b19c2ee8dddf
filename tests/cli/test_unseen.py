"""Secrets, and characters that steer a terminal, in what people do not think of as text: folders, branches, file names,
tools, what was typed on the command line. Nothing of it is printed as it was, but a folder where it is needed."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from tests import builders
from tests.conftest import Run
from tests.core.test_redact import TOKENS
from tests.machine import append, uid

STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
HOSTILE = "\x1b]0;x\x07\x9b31m\u202eabc\u2066d\u061c"
PLACES = ("folder", "branch", "file", "tool", "typed", "name", "title", "lost")
SECRET = {place: TOKENS["github"](random.Random(place)) for place in PLACES}


@pytest.fixture
def odd(home: Path, run_recall: Run) -> Path:
    cwd = home / f"work-{SECRET['folder']}-{HOSTILE}"
    cwd.mkdir()
    tools = [
        ("Write", {"file_path": f"{cwd}/{SECRET['file']}{HOSTILE}.py", "content": "heron\n"}, "done"),
        (f"mcp__{SECRET['tool']}__ask", {"what": "heron"}, "done"),
        ("Bash", {"command": "git commit -m x"}, "[main 1a2b3c4] heron\n 1 file changed"),
    ]
    turns = [(f"the heron {HOSTILE}", "stored", tools)]
    branch = f"fix-{SECRET['branch']}{HOSTILE}"
    builders.claude_session(home, str(cwd), uid(1), turns, title=f"x {SECRET['title']} {HOSTILE}", branch=branch)
    gone = {"display": "heron", "sessionId": uid(9), "project": f"/w/{SECRET['lost']}{HOSTILE}", "timestamp": 1.76e12}
    append(home / ".claude/history.jsonl", [gone])
    run_recall("sweep", "--quiet", check=True)
    return home


COMMANDS = [
    ("find", "heron"),
    ("find", "heron", "--json"),
    ("grep", "heron"),
    ("grep", "heron", "--json"),
    ("show", uid(1)),
    ("show", uid(1), "--json"),
    ("show", uid(1), "--transcript", "--tools"),
    ("show", uid(1), "--transcript", "--tools", "--json"),
    ("files", uid(1)),
    ("files", uid(1), "--json"),
    ("files", uid(1), "nothing"),
    ("who", "1a2b3c4"),
    ("who", "1a2b3c4", "--json"),
    ("who", SECRET["typed"] + HOSTILE.replace("\x00", "")),
    ("who", SECRET["typed"] + HOSTILE, "--json"),
    ("lost",),
    ("lost", "--json"),
    ("lost", uid(9)),
    ("next",),
    ("stats",),
    ("stats", "--json"),
    ("export", uid(1)),
    ("export", uid(1), "--md"),
    ("export", uid(1), "--json"),
    ("fork", uid(1), "--at", SECRET["typed"]),
    ("show", SECRET["typed"] + HOSTILE),
    ("show", SECRET["typed"] + HOSTILE, "--json"),
    ("find", "--since", SECRET["typed"]),
    ("send", SECRET["typed"], "hello"),
    ("peek", SECRET["typed"] + HOSTILE),
    ("rename", uid(1), SECRET["name"]),
    ("doctor", uid(1)),
    ("handoff", uid(1)),
    ("cmd", uid(1)),
    ("cmd", uid(1), "--json"),
    ("open", uid(1), "--print"),
    ("completion", "--candidates", "id", ""),
    ("completion", "--candidates", "project", ""),
    ("completion", "--candidates", "branch", ""),
]
PLACE_NEEDED = {"cmd", "open"}  # to go there


def test_nothing_odd_is_printed(odd: Path, run_recall: Run) -> None:
    for args in COMMANDS:
        done = run_recall(*args, RECALL_LLM="none")
        told = done.stdout + done.stderr
        assert (told or args[0] == "completion") and "Traceback" not in told, args
        assert not STEERS.search(told), (args, STEERS.search(told))
        for place, secret in SECRET.items():
            if place == "folder" and args[0] in PLACE_NEEDED:
                continue
            if place == "folder" and args[0] != "export":
                told = _without_the_way_there(told, args)
            assert secret not in told, (args, place)


def _without_the_way_there(told: str, args: tuple[str, ...]) -> str:
    """What is printed, without the lines and keys that say how to get to the session's folder."""
    if told.startswith("{"):
        document = json.loads(told)
        for one in [document, *document.get("results", [])]:
            one.pop("cwd", None)
            one.pop("resume", None)
            for key in ("sources", "copies", "source", "copy", "generations", "own"):
                one.pop(key, None)
        return json.dumps(document)
    lines = told.split("\n")
    return "\n".join(line for line in lines if not line.startswith(("resume ", "source ", "copy ")))


def test_nothing_odd_is_kept(odd: Path, run_recall: Run) -> None:
    """Cards, handoffs, lists, names, logs."""
    for args in (("recap", uid(1)), ("handoff", uid(1)), *COMMANDS):
        run_recall(*args, RECALL_LLM="none")
    looked = 0
    for folder in (odd / ".claude/recall", odd / ".claude/session-recaps"):
        for path in folder.rglob("*"):
            if path.is_file() and path.suffix != ".db":
                text = path.read_text(encoding="utf-8", errors="replace")
                assert not STEERS.search(text.replace("\x00", "")), path
                assert not [place for place, secret in SECRET.items() if secret in text], path
                looked += 1
    assert looked > 5
