"""The Claude Code plugin of the same files: valid, the same events, and never twice."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from recall import __version__
from recall.actions.install import SKILL, SOURCES, events, group
from tests.conftest import ROOT

HOOK = ROOT / "hooks" / "plugin-hook"


def test_the_manifests() -> None:
    """Names, this version, and a source that is this checkout."""
    plugin = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_bytes())
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_bytes())
    assert (plugin["name"], plugin["version"]) == ("recall", __version__)
    assert [(entry["name"], entry["source"]) for entry in market["plugins"]] == [("recall", "./")]
    assert (ROOT / "skills" / SKILL / "SKILL.md").is_file()


def test_its_hooks_are_the_installers() -> None:
    """The same events and matchers; the command is found by the client's own variable."""
    hooks = json.loads((ROOT / "hooks" / "hooks.json").read_bytes())["hooks"]
    command = '"${CLAUDE_PLUGIN_ROOT}/hooks/plugin-hook"'
    assert hooks == {event: [group(command, **fields)] for event, fields in events("claude", handoff=True)}
    assert hooks["SessionStart"][0]["matcher"] == SOURCES
    assert os.access(HOOK, os.X_OK)


@pytest.fixture
def launched(place: Any) -> Any:
    """A home whose launcher is a stand-in that writes down that it ran."""
    launcher = Path(place.launcher)
    launcher.parent.mkdir(parents=True)
    launcher.write_text('#!/bin/sh\ncat >"$HOME/ran"\n')
    launcher.chmod(0o755)
    return place


def _fire(place: Any, **variables: str) -> bool:
    """Call the plugin's hook; did the launcher run? It must say nothing and end with 0."""
    ran = place.home / "ran"
    ran.unlink(missing_ok=True)
    env = {"HOME": str(place.home), "PATH": "/usr/bin:/bin", **variables}
    done = subprocess.run(["sh", "-c", f"'{HOOK}'"], env=env, input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return bool(ran.exists() and ran.read_bytes() == b"{}")


def test_it_calls_the_installed_launcher(launched: Any) -> None:
    """With the event on stdin; without settings, and with settings that have other hooks."""
    assert _fire(launched)
    launched.claude.write_text('{"hooks": {}}')
    assert _fire(launched)


def test_never_twice(launched: Any, tmp_path: Path) -> None:
    """Where the client's settings call the launcher already the plugin's copy is quiet: in that home, and only there."""
    stand_in = Path(launched.launcher).read_bytes()
    launched.install()
    Path(launched.launcher).write_bytes(stand_in)
    assert not _fire(launched)
    assert _fire(launched, CLAUDE_CONFIG_DIR=str(tmp_path / "other"))
    launched.install(hooks=False)
    Path(launched.launcher).write_bytes(stand_in)
    assert _fire(launched)


def test_without_the_program_it_does_nothing(place: Any) -> None:
    """A plugin that was installed alone is quiet."""
    assert not _fire(place)
    assert not _fire(place, HOME="")
