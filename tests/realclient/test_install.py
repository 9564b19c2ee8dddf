"""recall installed by install.sh and taken away again, with the real clients before, between and after."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.realclient.lab import Lab, wait_for
from tests.realclient.talk import (
    ANSWERS,
    CLIENTS,
    TRUSTED,
    TURNS,
    card_rules,
    compact,
    hook_summaries,
    id_of,
    settled,
    spoken,
    summary_rules,
    three_turns,
)
from tests.realclient.test_continuity import check, next_request, told, two_turns

pytestmark = pytest.mark.client

MINE = """{
\t"theme": "dark",
\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true # mine"}]}]},
\t"permissions": {"defaultMode": "acceptEdits", "allow": ["Bash", "Write"]}
}"""
"""Settings of somebody who writes tabs and no last line end."""


def edited(lab: Lab) -> dict[Path, bytes]:
    """The files of the clients that recall edits; others the clients write themselves all the time."""
    paths = [lab.home / name for name in (".claude/settings.json", ".codex/hooks.json")]
    return {path: path.read_bytes() for path in paths if path.exists()}


@CLIENTS
def test_after_uninstall_the_client_is_as_before(lab: Lab, client: str) -> None:
    """Settings byte for byte; no hook, no skill; sessions go on, and what was kept is there."""
    (lab.home / ".claude/settings.json").write_text(MINE)
    before = edited(lab)
    lab.recall("install", "--with-handoff", "--no-timer")
    assert edited(lab) != before
    tui, path = three_turns(lab, client, *TRUSTED[client], rules=card_rules())
    wait_for(lambda: lab.copy_of(path).exists(), "a copy")
    tui.quit()
    settled(lab)
    kept = lab.copy_of(path).read_bytes()
    lab.recall("uninstall")
    assert edited(lab) == before
    assert not list(lab.home.glob(".claude/skills/*")) + list(lab.home.glob(".agents/skills/*"))
    resume = {"claude": ("--resume", id_of(path)), "codex": ("resume", id_of(path))}[client]
    tui = lab.tui(client, *resume)
    assert "hook" not in tui.screen().lower()
    assert told(next_request(lab, tui, "which month was that", "It was March.")) == []
    tui.quit()
    assert lab.copy_of(path).read_bytes() == kept
    (row,) = lab.find("month")
    assert row["id"] == id_of(path)


@CLIENTS
def test_uninstall_under_an_open_client(hooked: Lab, client: str) -> None:
    """A client that is open still calls the launcher that is gone: nobody hears of it, and the session goes on."""
    hooked.answer(*ANSWERS, rules=card_rules())
    tui = hooked.tui(client, *TRUSTED[client])
    tui.turn(*TURNS[0])
    (path,) = hooked.transcripts(client)
    wait_for(lambda: hooked.copy_of(path).exists(), "a copy, made by the hook")
    launcher = hooked.home / ".local/share/recall/recall-hook"
    assert launcher.exists()
    hooked.recall("uninstall")
    assert not launcher.exists()
    tui.turn(*TURNS[1])
    tui.turn(*TURNS[2])
    assert "hook" not in tui.screen().lower()
    if client == "claude":
        last = hook_summaries(path)[-1]
        assert "recall-hook" in json.dumps(last)  # it was called
        assert not last["hookErrors"]
    tui.quit()


@pytest.fixture
def by_script(lab: Lab) -> Lab:
    """A home in which install.sh has installed everything but the timer, which is this machine's own."""
    index = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    path = f"{Path(sys.executable).parent}:{lab.env()['PATH']}"
    done = lab.run(
        ["sh", ROOT / "install.sh", "--with-handoff", "--no-timer"], timeout=300, check=False, **index, PATH=path
    )
    if "packages could not be installed" in done.stderr:
        pytest.skip("no packages for install.sh: no network")
    assert done.returncode == 0, done.stdout + done.stderr
    return lab


def test_all_of_it_by_install_sh(by_script: Lab) -> None:
    """Turns, a compaction, the end, resume, and the skill, with the program that install.sh has installed."""
    lab = by_script
    lab.variables["RECALL_MIN_EVENTS"] = "4"
    command = lab.home / ".local/bin/recall"
    tui, path = two_turns(lab, "claude")
    wait_for(lambda: lab.copy_of(path).exists() and "Petrov" in lab.copy_of(path).read_text(), "a copy")
    assert id_of(path)[:8] in lab.run([command, "find", "VAT"]).stdout
    compact(tui)
    settled(lab)
    (note,) = told(next_request(lab, tui, "go on", "It is imported."))
    check(note, id_of(path))
    lab.answer(rules=card_rules())
    tui.quit()
    wait_for(lambda: lab.card(id_of(path)), "the card")
    settled(lab)
    assert spoken(lab.copy_of(path)) == spoken(path)
    doctor = lab.run([command, "doctor", "--json"], check=False)
    checks = {one["name"]: one["state"] for one in json.loads(doctor.stdout)["checks"]}
    assert "bad" not in checks.values(), checks


def test_the_skill_in_the_real_client(by_script: Lab) -> None:
    """Called by its name: the model reads it, runs `recall` without a question, and gets the row of the session."""
    lab = by_script
    settings = json.loads((lab.home / ".claude/settings.json").read_text())
    assert "Bash(recall *)" in settings["permissions"]["allow"]
    settings["permissions"]["allow"].remove("Bash")  # what the installer allowed must do
    settings["permissions"]["defaultMode"] = "default"
    (lab.home / ".claude/settings.json").write_text(json.dumps(settings))
    tui, path = three_turns(lab, "claude")
    tui.quit()
    settled(lab)
    call = {"name": "Bash", "input": {"command": "recall find funnel ivanova", "description": "search"}}
    lab.answer({"text": "I look for it.", "tools": [call]}, f"It was {id_of(path)[:8]}.", rules=summary_rules(""))
    before = len(lab.api.requests)
    tui = lab.tui("claude", cwd="shop")
    tui.turn("/session-orchestrator in which session was the funnel exported", f"It was {id_of(path)[:8]}.")
    first, second = lab.asked(before)[:2]
    body = (ROOT / "skills/session-orchestrator/SKILL.md").read_text().partition("\n---\n")[2]
    line = max((line for line in body.splitlines() if '"' not in line and "\\" not in line), key=len)
    assert line in json.dumps(first, ensure_ascii=False)
    assert f"{id_of(path)[:8]} " in json.dumps(second["messages"][-1])
    assert "please export the sales funnel" in json.dumps(second["messages"][-1])
    tui.quit()
