"""The Claude Code plugin of this checkout in the real client: valid, its hooks run, its skill is listed, never twice."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.realclient.lab import Lab, wait_for
from tests.realclient.talk import ANSWERS, TURNS, card_rules, hook_summaries, id_of, settled, spoken

pytestmark = pytest.mark.client

SKILL = "session-orchestrator"


@pytest.fixture
def checkout(lab: Lab) -> Path:
    """What of a checkout makes the plugin."""
    folder = lab.home / "checkout"
    for name in (".claude-plugin", "hooks", "skills"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


@pytest.fixture
def runs(lab: Lab) -> Path:
    """A file with a line for each time that the installed launcher is run, made by `counted`."""
    return lab.home / "runs"


def counted(lab: Lab, runs: Path) -> None:
    """Put a counter before the launcher that was installed."""
    launcher = lab.home / ".local/share/recall/recall-hook"
    real = launcher.with_name("counted")
    launcher.rename(real)
    launcher.write_text(f"#!/bin/sh\necho run >>'{runs}'\nexec '{real}'\n")
    launcher.chmod(0o700)


def ran(runs: Path) -> int:
    return len(runs.read_text().splitlines()) if runs.exists() else 0


def test_the_client_finds_the_plugin_valid(lab: Lab, checkout: Path) -> None:
    """The plugin's manifest, its skill and hooks, and the marketplace's."""
    done = lab.run(["claude", "plugin", "validate", "--strict", checkout], check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("how", ["--plugin-dir", "installed"])
def test_hooks_and_skill_of_the_plugin(lab: Lab, checkout: Path, runs: Path, how: str) -> None:
    """Without hooks and skill of the installer: a copy after a turn, a card at the end, the skill offered to the model."""
    lab.recall("install", "--no-hooks", "--no-timer")
    shutil.rmtree(lab.home / ".claude/skills" / SKILL)
    lab.variables["RECALL_MIN_EVENTS"] = "2"
    args: tuple[str, ...] = ("--plugin-dir", str(checkout))
    if how == "installed":
        args = ()
        lab.run(["claude", "plugin", "marketplace", "add", checkout])
        lab.run(["claude", "plugin", "install", "recall@recall"])
        checks = json.loads(lab.recall("doctor", "--json", check=False).stdout)["checks"]
        (hooks,) = [one for one in checks if one["name"] == "claude hooks"]
        assert (hooks["state"], hooks["text"]) == ("ok", "by the plugin")
    counted(lab, runs)
    lab.answer(*ANSWERS, rules=card_rules())
    tui = lab.tui("claude", *args)
    tui.turn(*TURNS[0])
    (path,) = lab.transcripts()
    wait_for(lambda: lab.copy_of(path).exists(), "a copy, made by the plugin's hook")
    tui.turn(*TURNS[1])
    assert f"recall:{SKILL}" in json.dumps(lab.asked()[-1])
    wait_for(lambda: ran(runs) == 3, "a start and two turns")
    tui.quit()
    wait_for(lambda: lab.card(id_of(path)), "the card")
    settled(lab)
    assert spoken(lab.copy_of(path)) == spoken(path)
    assert ran(runs) == 4
    assert not any(note["hookErrors"] for note in hook_summaries(path))


def test_plugin_and_settings_together_fire_once(hooked: Lab, checkout: Path, runs: Path) -> None:
    """Both are called at each event, and the plugin's gives way."""
    counted(hooked, runs)
    hooked.answer(*ANSWERS, rules=card_rules())
    tui = hooked.tui("claude", "--plugin-dir", str(checkout))
    for turn in TURNS[:2]:
        tui.turn(*turn)
    (path,) = hooked.transcripts()
    tui.quit()
    settled(hooked)
    called = json.dumps(hook_summaries(path)[-1])
    assert "plugin-hook" in called
    assert "recall-hook" in called
    assert ran(runs) == 4  # a start, two turns, an end
    assert hooked.card(id_of(path))
