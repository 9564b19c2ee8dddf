"""What somebody else changed after the install stays; ours goes all the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall.actions import journal as book

START = b'{\n\t"model": "opus",\n\t"cleanupPeriodDays": 30,\n\t"permissions": {"allow": ["Bash(ls)"]}\n}\n'


def _edit(change: Callable[[dict[str, Any]], None], **layout: Any) -> Callable[[bytes], bytes]:
    def edited(data: bytes) -> bytes:
        value = json.loads(data)
        change(value)
        return json.dumps(value, **{"indent": 2, **layout}).encode()

    return edited


def _more_hooks(value: dict[str, Any]) -> None:
    value["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "say done"}]})
    value["hooks"]["PreToolUse"] = [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check"}]}]


def _beside_ours(value: dict[str, Any]) -> None:
    value["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "say done"})


def _ours_slower(value: dict[str, Any]) -> None:
    value["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] = 60


def _ours_moved(value: dict[str, Any]) -> None:
    value["hooks"]["Notification"] = value["hooks"].pop("Stop")


def _more_rules(value: dict[str, Any]) -> None:
    value["permissions"]["allow"].insert(0, "Bash(git *)")
    value["permissions"]["deny"] = ["Bash(rm *)"]


def _days_of_their_own(value: dict[str, Any]) -> None:
    value["cleanupPeriodDays"] = 90


def _line_of_their_own(value: dict[str, Any]) -> None:
    value["statusLine"] = {"type": "command", "command": "date"}


def _ours_gone(value: dict[str, Any]) -> None:
    value.pop("hooks")
    value.pop("permissions")


def _all_gone(value: dict[str, Any]) -> None:
    value.clear()


def _sorted(value: dict[str, Any]) -> None:
    for key in sorted(value):
        value[key] = value.pop(key)


BASE = {"model": "opus", "cleanupPeriodDays": 30, "permissions": {"allow": ["Bash(ls)"]}}
SAY = {"hooks": [{"type": "command", "command": "say done"}]}

CASES: dict[str, tuple[Callable[[dict[str, Any]], None], dict[str, Any]]] = {
    "more hooks": (
        _more_hooks,
        BASE
        | {
            "hooks": {
                "Stop": [SAY],
                "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check"}]}],
            }
        },
    ),
    "beside ours": (_beside_ours, BASE | {"hooks": {"Stop": [SAY]}}),
    "ours changed": (_ours_slower, BASE),
    "ours moved": (_ours_moved, BASE),
    "more rules": (_more_rules, BASE | {"permissions": {"allow": ["Bash(git *)", "Bash(ls)"], "deny": ["Bash(rm *)"]}}),
    "days": (_days_of_their_own, BASE | {"cleanupPeriodDays": 90}),
    "status line": (_line_of_their_own, BASE | {"statusLine": {"type": "command", "command": "date"}}),
    "ours taken out": (_ours_gone, {"model": "opus", "cleanupPeriodDays": 30}),
    "all taken out": (_all_gone, {}),
    "sorted": (_sorted, BASE),
}


@pytest.mark.parametrize("layout", [{}, {"indent": "\t"}, {"indent": None}], ids=["blanks", "tabs", "one line"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_only_ours_is_taken_out(place: Any, case: Any, layout: dict[str, Any]) -> None:
    """Whatever was added, changed, moved or laid out anew."""
    change, left = case
    place.claude.write_bytes(START)
    place.install()
    place.claude.write_bytes(_edit(change, **layout)(place.claude.read_bytes()))
    todo = place.uninstall()
    assert not todo.left
    found = json.loads(place.claude.read_bytes())
    hooks = {event: groups for event, groups in found.pop("hooks", {}).items() if groups}
    assert found | ({"hooks": hooks} if hooks else {}) == left
    assert not Path(book.place(place.settings.state)).exists()


def test_a_foreign_line_in_between_keeps_every_other_byte(place: Any) -> None:
    """One line added by hand is all that differs from the first file."""
    place.claude.write_bytes(START)
    place.install()
    place.claude.write_bytes(place.claude.read_bytes().replace(b"{\n\t", b'{\n\t"language":   "de",\n\t', 1))
    place.uninstall()
    assert place.claude.read_bytes() == START.replace(b"{\n\t", b'{\n\t"language":   "de",\n\t', 1)


def test_an_install_after_a_foreign_edit(place: Any) -> None:
    """What somebody added between two installs stays through the second and through uninstall."""
    place.claude.write_bytes(START)
    place.install()
    place.claude.write_bytes(_edit(_more_hooks)(place.claude.read_bytes()))
    assert place.install().empty
    place.install(handoff=True)
    place.uninstall()
    assert json.loads(place.claude.read_bytes())["hooks"]["Stop"] == [SAY]
    assert json.loads(place.claude.read_bytes())["cleanupPeriodDays"] == 30


def test_hooks_that_somebody_took_out_come_back(place: Any) -> None:
    """A second install mends the first."""
    place.claude.write_bytes(START)
    place.install()
    installed = json.loads(place.claude.read_bytes())
    place.claude.write_bytes(_edit(lambda value: value["hooks"].pop("Stop"))(place.claude.read_bytes()))
    assert not place.install().empty
    assert json.loads(place.claude.read_bytes()) == installed


def test_a_file_of_ours_alone_goes_where_it_is_empty_again(place: Any) -> None:
    """There was no file before; with a foreign value in it, it stays."""
    place.install()
    place.claude.write_bytes(_edit(lambda value: None)(place.claude.read_bytes()))
    place.codex.write_bytes(_edit(lambda value: value.update(mine=1))(place.codex.read_bytes()))
    place.uninstall()
    assert not place.claude.exists()
    assert json.loads(place.codex.read_bytes()) == {"mine": 1}


def test_a_file_that_was_broken_meanwhile_stays(place: Any) -> None:
    """The rest is taken back, it is told, and a second uninstall does what is left."""
    place.claude.write_bytes(START)
    place.install()
    good = place.claude.read_bytes()
    place.claude.write_bytes(good[:-3])
    todo = place.uninstall()
    assert [path for path, _ in todo.left] == [str(place.claude)]
    assert place.claude.read_bytes() == good[:-3]
    assert not place.codex.exists()
    place.claude.write_bytes(good)
    assert not place.uninstall().left
    assert place.claude.read_bytes() == START


def test_without_a_journal_the_hooks_are_found(place: Any) -> None:
    """They would call what is gone; what the file held besides them is told to stay."""
    place.claude.write_bytes(START)
    place.install()
    Path(book.place(place.settings.state)).unlink()
    todo = place.uninstall()
    assert b"recall-hook" not in place.claude.read_bytes()
    assert json.loads(place.claude.read_bytes())["model"] == "opus"
    assert any(str(place.claude) in words for words in todo.stays)
    assert place.install().journal.file(str(place.claude)) is not None


def test_an_install_that_the_journal_does_not_know(make_place: Callable[..., Any]) -> None:
    """After the journal was lost, install and uninstall leave no launcher, timer or hook of the first one."""
    place = make_place("systemctl")
    place.install()
    Path(book.place(place.settings.state)).unlink()
    place.install(python="/usr/bin/python3.99", hooks=False)
    place.uninstall()
    assert "recall-hook" not in place.claude.read_text()
    assert not (place.home / ".local").exists() or not list((place.home / ".local").rglob("recall-*"))
    assert not list((place.home / ".config").rglob("recall-sweep.timer"))


def test_a_skill_that_somebody_changed_stays(place: Any) -> None:
    """It is neither overwritten by an upgrade nor removed."""
    place.install()
    skill = place.home / ".claude/skills/session-orchestrator/SKILL.md"
    skill.write_text("my own recall skill")
    assert any(str(skill) in note for note in place.install().notes)
    todo = place.uninstall()
    assert skill.read_text() == "my own recall skill"
    assert any(str(skill) in words for words in todo.stays)
    assert not (place.home / ".agents").exists()


def test_another_skill_of_that_name_is_left(place: Any) -> None:
    """One that does not speak of recall is somebody else's."""
    skill = place.home / ".claude/skills/session-orchestrator/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("conducts an orchestra")
    assert any(str(skill.parent) in note for note in place.install().notes)
    place.uninstall()
    assert skill.read_text() == "conducts an orchestra"


def test_a_damaged_journal_is_told(place: Any) -> None:
    """It is no reason to guess."""
    from recall.errors import Damaged

    place.install()
    Path(book.place(place.settings.state)).write_text("{}")
    for action in (place.plan, place.uninstall):
        with pytest.raises(Damaged, match="install journal"):
            action()


def test_nothing_installed_is_nothing_to_do(place: Any) -> None:
    """Uninstall in a home that never saw an install."""
    place.claude.write_bytes(START)
    before = place.files()
    assert place.uninstall().empty
    assert place.files() == before


def test_the_journal_is_private(place: Any) -> None:
    """It and the backups hold what the settings hold: 0600 in 0700."""
    place.claude.write_bytes(START)
    place.install()
    for path in Path(place.settings.state).rglob("*"):
        assert path.stat().st_mode & 0o077 == 0
