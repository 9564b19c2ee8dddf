"""An earlier tool of the same format is recognised and replaced; its jobs are never run; nobody else's things are touched."""

from __future__ import annotations

import json
import os
import plistlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall.actions import earlier

FORMAT = "#!/bin/sh\nout=~/.claude/session-recaps\n"


def _script(path: Path, text: str = FORMAT) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


EARLIER = [
    "~/.claude/session-recall/hooks/recap-on-end.sh",
    "bash $HOME/.claude/session-recall/recap.sh --quiet",
    '/usr/bin/python3 "${HOME}/src/session-recaps/bin/session_recap.py" end',
    "sh -c '~/.claude/hooks/gone-recall.sh'",
    "~/tools/handoff.py",
]
FOREIGN = [
    "say done",
    "recall sweep",
    "~/tools/recall-weather.sh",
    "~/tools/total-recalls.sh",
    "~/.claude/hooks/notify.sh",
    "/opt/recap/bin/recap",
    "echo recall",
    "'unclosed ~/.claude/x",
]


@pytest.fixture
def scripts(place: Any) -> Any:
    """A home with the scripts that the commands above name."""
    home = place.home
    _script(home / ".claude/session-recall/hooks/recap-on-end.sh", "#!/bin/sh\n")
    _script(home / ".claude/session-recall/recap.sh", "#!/bin/sh\n")
    _script(home / "src/session-recaps/bin/session_recap.py", "")
    _script(home / "tools/handoff.py")
    _script(home / "tools/recall-weather.sh", "#!/bin/sh\ncurl weather\n")
    _script(home / "tools/total-recalls.sh")
    _script(home / ".claude/hooks/notify.sh")
    return place


@pytest.mark.parametrize(
    ("command", "is_one"), [*((command, True) for command in EARLIER), *((command, False) for command in FOREIGN)]
)
def test_what_counts_as_an_earlier_tool(scripts: Any, command: str, is_one: bool) -> None:
    """A name alone is not enough: the place, or what the script speaks of, decides."""
    assert earlier.is_earlier(command, scripts.settings, (scripts.launcher,)) is is_one


def test_our_own_hook_is_none(place: Any) -> None:
    """It is called recall-hook, wherever it stands."""
    assert not earlier.is_earlier(place.launcher, place.settings, (place.launcher,))


def test_its_hooks_are_replaced_and_come_back(scripts: Any) -> None:
    """Only its own handlers go; install says which; uninstall puts them back where they were, also after a foreign edit."""
    old = {
        "hooks": {
            "SessionEnd": [{"hooks": [{"type": "command", "command": EARLIER[0]}]}],
            "Stop": [
                {
                    "hooks": [
                        {"type": "command", "command": "say done"},
                        {"type": "command", "command": EARLIER[1], "timeout": 5},
                        {"type": "command", "command": "~/tools/recall-weather.sh"},
                    ]
                }
            ],
            "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": EARLIER[4]}]}],
        }
    }
    data = json.dumps(old, indent="\t").encode()
    scripts.claude.write_bytes(data)
    todo = scripts.install()
    said = " ".join(words for _, words in todo.lines)
    text = scripts.claude.read_text()
    for command in (EARLIER[0], EARLIER[1], EARLIER[4]):
        assert command in said
        assert command not in text
    assert "say done" in text
    assert "recall-weather" in text
    assert json.loads(text)["hooks"]["PreToolUse"] == []
    assert scripts.install().empty
    scripts.uninstall()
    assert scripts.claude.read_bytes() == data

    scripts.install()
    value = json.loads(scripts.claude.read_bytes())
    value["model"] = "opus"
    scripts.claude.write_text(json.dumps(value))
    scripts.uninstall()
    assert json.loads(scripts.claude.read_bytes()) == {**old, "model": "opus"}


def test_without_hooks_its_hooks_stay(scripts: Any) -> None:
    """--no-hooks replaces none."""
    data = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": EARLIER[0]}]}]}}).encode()
    scripts.claude.write_bytes(data)
    scripts.install(hooks=False)
    assert EARLIER[0] in scripts.claude.read_text()


def _agent(place: Any, name: str, label: str, *argv: str) -> Path:
    path = place.home / "Library/LaunchAgents" / f"{name}.plist"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(plistlib.dumps({"Label": label, "ProgramArguments": list(argv)}))
    return Path(path)


def test_its_timer_and_bridge(make_place: Callable[..., Any]) -> None:
    """Its LaunchAgents are switched off and removed, its bridge is removed; others', damaged ones and ours stay."""
    place = make_place("launchctl", platform="darwin")
    script = _script(place.home / ".claude/session-recall/recap.sh")
    mine = [
        _agent(place, "com.me.session-recall", "com.me.session-recall", "/bin/sh", "-c", "x"),
        _agent(place, "odd", "com.me.sweep", "/bin/bash", str(script)),
    ]
    others = [_agent(place, "com.other.recaller", "com.other.recaller", "/usr/bin/true")]
    others.append(_script(place.home / "Library/LaunchAgents/broken.plist", "<plist"))
    launch = place.home / "Library/Application Support/iTerm2/Scripts/AutoLaunch"
    bridge = _script(launch / "session_recall_bridge.py")
    others += [
        _script(launch / "colours.py"),
        _script(launch / "recall_colours.py", "import iterm2\n"),
        _script(launch / earlier.OWN_BRIDGE),
    ]
    before = place.files()
    todo = place.install()
    assert not any(path.exists() for path in (*mine, bridge))
    assert all(path.exists() for path in others)
    for label in ("com.me.session-recall", "com.me.sweep"):
        assert f"launchctl bootout gui/501/{label}" in place.programs.calls
    assert not any("com.other" in call for call in place.programs.calls)
    said = {path for path, _ in todo.lines}
    assert {str(path) for path in (*mine, bridge)} <= said
    assert place.install().empty
    place.uninstall()
    assert place.files() == before


def test_queued_jobs_are_put_aside(place: Any) -> None:
    """What waits in its queue is moved, never run, and said; later queues are our own."""
    queue = place.home / ".claude/session-recaps/queue"
    _script(queue / "1.json", '{"command": "rm -rf /"}')
    todo = place.install()
    aside = place.home / ".claude/session-recaps/queue.set-aside"
    assert not queue.exists()
    assert (aside / "1.json").exists()
    assert str(queue) in {path for path, _ in todo.lines}
    _script(queue / "2.json", "{}")
    place.install()
    assert (queue / "2.json").exists()
    place.uninstall()
    assert (aside / "1.json").exists()


def test_its_skill_is_replaced(place: Any) -> None:
    """Also one that links into its checkout: the checkout is not written to, and the link comes back."""
    checkout = place.home / "src/session-recall/skill"
    _script(checkout / "SKILL.md", "find sessions with recall")
    folder = place.home / ".claude/skills/session-orchestrator"
    folder.parent.mkdir(parents=True)
    folder.symlink_to(checkout)
    other = place.home / ".agents/skills/session-orchestrator/SKILL.md"
    _script(other, "find sessions with recall")
    before = place.files()
    place.install()
    assert not folder.is_symlink()
    assert (checkout / "SKILL.md").read_text() == "find sessions with recall"
    assert "recall find" in (folder / "SKILL.md").read_text()
    assert "recall find" in other.read_text()
    assert place.install().empty
    place.uninstall()
    assert place.files() == before


def test_a_skill_file_that_is_a_link(place: Any) -> None:
    """The same for a link to the file itself."""
    target = _script(place.home / "src/skill.md", "recall")
    link = place.home / ".claude/skills/session-orchestrator/SKILL.md"
    link.parent.mkdir(parents=True)
    os.symlink(target, link)
    before = place.files()
    place.install()
    assert target.read_text() == "recall"
    place.uninstall()
    assert place.files() == before
