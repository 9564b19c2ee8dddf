"""What the installer makes of a client's settings, and what uninstall leaves: the same bytes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall.actions import journal as book
from recall.actions import launcher
from recall.errors import Damaged, RecallError, Refused

SHAPES: dict[str, bytes] = {
    "empty object": b"{}",
    "empty object with line end": b"{}\n",
    "blank inside": b"{ }\n",
    "two lines": b"{\n}\n",
    "one line": b'{"model": "opus", "permissions": {"allow": ["Bash(ls)"]}}',
    "minified": b'{"model":"opus","permissions":{"allow":["Bash(ls)"],"deny":[]},"hooks":{}}',
    "two blanks": b'{\n  "model": "opus",\n  "permissions": {\n    "allow": [\n      "Bash(ls)"\n    ]\n  }\n}\n',
    "four blanks": b'{\n    "model": "opus",\n    "permissions": {\n        "ask": []\n    }\n}\n',
    "tabs": b'{\n\t"model": "opus",\n\t"env": {\n\t\t"A": "1"\n\t}\n}\n',
    "crlf": b'{\r\n  "model": "opus",\r\n  "hooks": {\r\n    "Stop": [ ]\r\n  }\r\n}\r\n',
    "no final newline": b'{\n  "model": "opus"\n}',
    "blank lines at the end": b'{\n  "model": "opus"\n}\n\n\n',
    "bom": b'\xef\xbb\xbf{\n  "model": "opus"\n}\n',
    "other scripts": '{\n  "note": "Köln, 项目, 😀, \\u0441, \\/"\n}\n'.encode(),
    "duplicate keys": b'{\n  "hooks": {"Stop": []},\n  "model": "a",\n  "model": "b",\n  "hooks": {\n    "Stop": []\n  }\n}\n',
    "odd spacing": b'{ "model" : "opus" ,\n\n     "permissions":{\n "allow" : [ "Bash(ls)" ,"Bash(cat *)"] } }\n',
    "foreign hooks": json.dumps(
        {
            "hooks": {
                "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
                "SessionStart": [
                    {"matcher": "startup", "hooks": [{"type": "command", "command": "~/bin/recall-the-weather.sh"}]}
                ],
                "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "prompt", "prompt": "ok?"}, {"odd": True}]}],
                "Unheard": [],
            }
        },
        indent=2,
    ).encode(),
    "what the client skips": b'{"hooks": {"Stop": [5, {}, {"hooks": {}}]}, "permissions": {"allow": [1, "x"]}}\n',
    "days already longer": b'{"cleanupPeriodDays": 99999999}\n',
    "days shorter": b'{\n  "cleanupPeriodDays": 3.0e1,\n  "model": "opus"\n}\n',
    "own status line": b'{"statusLine": {"type": "command", "command": "date"}}\n',
    "own rules": b'{"permissions": {"allow": ["Bash(recall *)"], "ask": ["Bash(recall rm *)"]}}\n',
    "hooks switched off": b'{"disableAllHooks": true}\n',
}
SHAPE = pytest.mark.parametrize("data", SHAPES.values(), ids=SHAPES)
HANDOFF = pytest.mark.parametrize("handoff", [False, True], ids=["plain", "handoff"])


def value(path: Path) -> Any:
    return json.loads(path.read_bytes().decode("utf-8-sig"))


def commands(settings: Any) -> dict[str, list[str]]:
    """event -> the commands of its hooks."""
    return {
        event: [
            hook.get("command")
            for group in groups
            if isinstance(group, dict) and isinstance(group.get("hooks"), list)
            for hook in group["hooks"]
        ]
        for event, groups in settings.get("hooks", {}).items()
    }


@SHAPE
@HANDOFF
def test_what_was_there_is_the_same_after_uninstall(place: Any, data: bytes, handoff: bool) -> None:
    """Install and uninstall give back every byte, every folder and every permission."""
    place.claude.write_bytes(data)
    place.claude.chmod(0o644)
    place.codex.write_bytes(b'{"hooks":{"Stop":[]}}')
    before = place.files()
    place.install(handoff=handoff)
    assert place.claude.read_bytes() != data
    assert place.claude.stat().st_mode & 0o777 == 0o644
    todo = place.uninstall()
    assert not todo.left
    assert place.files() == before
    assert not os.path.exists(book.place(place.settings.state))


@SHAPE
@HANDOFF
def test_the_edits_alone_give_back_the_same_bytes(place: Any, data: bytes, handoff: bool) -> None:
    """Without the backup, what was put there is taken out, and nothing else changes."""
    place.claude.write_bytes(data)
    place.install(handoff=handoff)
    for backup in Path(book.backup_folder(place.settings.state)).iterdir():
        backup.unlink()
    place.uninstall()
    assert place.claude.read_bytes() == data


@SHAPE
def test_all_is_there_once(place: Any, data: bytes) -> None:
    """Hooks, rules and days are in the file; what was in it is still there, in its order; twice is once."""
    place.claude.write_bytes(data)
    old = value(place.claude)
    place.install(handoff=True)
    first = place.claude.read_bytes()
    new = value(place.claude)
    found = commands(new)
    for event in ("SessionStart", "PreCompact", "PostCompact", "Stop", "SubagentStop", "StopFailure", "SessionEnd"):
        (command,) = [command for command in found[event] if command and "recall-hook" in command]
        assert command == f"[ ! -x '{place.launcher}' ] || exec '{place.launcher}'"
    assert new["permissions"]["allow"].count("Bash(recall *)") == 1
    assert {f"Bash(recall {verb} *)" for verb in ("remove", "forget", "rm", "uninstall")} <= set(
        new["permissions"]["ask"]
    )
    assert new["cleanupPeriodDays"] >= 999_999
    assert [key for key in new if key in old] == list(old)
    for event, groups in old.get("hooks", {}).items():
        assert new["hooks"][event][: len(groups)] == groups
    todo = place.install(handoff=True)
    assert todo.empty
    assert place.claude.read_bytes() == first


def test_the_matcher_includes_a_fork(place: Any) -> None:
    """A fork fires nothing else; the end of a session has a time limit of its own, at Codex 3 s at most."""
    place.install(handoff=True)
    for path in (place.claude, place.codex):
        hooks = value(path)["hooks"]
        (group,) = hooks["SessionStart"]
        assert {
            source
            for source in ("startup", "resume", "clear", "compact", "fork")
            if re.fullmatch(group["matcher"], source)
        } == {
            "startup",
            "resume",
            "clear",
            "compact",
            "fork",
        }
    assert value(place.claude)["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] > 1.5
    assert value(place.codex)["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] <= 3
    assert "StopFailure" not in value(place.codex)["hooks"]


def test_the_handoff_loop_is_a_choice(place: Any) -> None:
    """PreCompact and PostCompact are there only with it; SessionStart always, since names and the digest need it, and the
    hook reads whether to inject. Another choice later replaces the first, and uninstall knows the beginning."""
    place.claude.write_bytes(b'{"model":"opus"}')
    for handoff in (False, True, False):
        place.install(handoff=handoff)
        for path in (place.claude, place.codex):
            assert ("PreCompact" in value(path)["hooks"], "PostCompact" in value(path)["hooks"]) == (handoff, handoff)
            assert "SessionStart" in value(path)["hooks"]
        assert f"handoff={int(handoff)}" in Path(place.settings.state, "hook.conf").read_text().splitlines()
    place.uninstall()
    assert place.claude.read_bytes() == b'{"model":"opus"}'
    assert not place.codex.exists()


@HANDOFF
@SHAPE
def test_hooks_of_the_form_before_are_replaced_once(
    place: Any, data: bytes, handoff: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The launcher's path alone was registered at first: an install makes it the form of today, another changes nothing,
    and uninstall gives the same bytes."""
    place.claude.write_bytes(data)
    codex = b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}'
    place.codex.write_bytes(codex)
    with monkeypatch.context() as patched:
        patched.setattr(launcher, "command", launcher.quoted)
        place.install(handoff=handoff)
    assert f"'{place.launcher}'" in commands(value(place.claude))["Stop"]
    place.install(handoff=handoff)
    for path in (place.claude, place.codex):
        for found in commands(value(path)).values():
            ours = [command for command in found if command and "recall-hook" in command]
            assert ours in ([], [f"[ ! -x '{place.launcher}' ] || exec '{place.launcher}'"])
        assert any("recall-hook" in (command or "") for command in commands(value(path))["Stop"])
    assert place.install(handoff=handoff).empty
    place.uninstall()
    assert (place.claude.read_bytes(), place.codex.read_bytes()) == (data, codex)


def test_the_registered_command_is_quiet_without_the_launcher(place: Any) -> None:
    """Status 0 and no word, from any shell; with it, it is the launcher, stdin and all."""
    line = launcher.command(place.machine.share)
    run = {"input": b"{}", "capture_output": True, "check": False}
    for shell in filter(None, map(shutil.which, ("sh", "bash", "dash", "zsh"))):
        done = subprocess.run([shell, "-c", line], **run)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    place.install()
    Path(place.launcher).write_text("#!/bin/sh\ncat; exit 7\n")
    for shell in filter(None, map(shutil.which, ("sh", "bash", "dash", "zsh"))):
        done = subprocess.run([shell, "-c", line], **run)
        assert (done.returncode, done.stdout, done.stderr) == (7, b"{}", b"")


def test_without_hooks(place: Any) -> None:
    """--no-hooks: rules and skill, but no hook, also where there were some."""
    place.install()
    place.install(hooks=False)
    assert "hooks" not in value(place.claude)
    assert "Bash(recall *)" in value(place.claude)["permissions"]["allow"]
    assert not place.codex.exists() or not commands(value(place.codex)).get("Stop")
    place.uninstall()
    assert not place.claude.exists()


def test_another_name_is_used_everywhere(place: Any) -> None:
    """Rules, status line and skill say the name; a change of name leaves nothing of the old one."""
    place.install()
    place.install(name="rc", program=str(place.home / ".local/bin/rc"))
    text = place.claude.read_text()
    assert "Bash(rc *)" in text
    assert "Bash(recall" not in text
    assert value(place.claude)["statusLine"]["command"].endswith("/rc' statusline")
    skill = (place.home / ".claude/skills/session-orchestrator/SKILL.md").read_text()
    assert "rc find" in skill
    assert "recall find" not in skill
    assert "recall remove" not in skill


def test_a_status_line_of_the_user_stays(place: Any) -> None:
    """Ours is added only where there is none."""
    place.claude.write_bytes(SHAPES["own status line"])
    place.install()
    assert value(place.claude)["statusLine"] == {"type": "command", "command": "date"}


def test_hooks_that_are_switched_off_are_told(place: Any) -> None:
    """disableAllHooks stays, and the user hears of it."""
    place.claude.write_bytes(SHAPES["hooks switched off"])
    assert any("disableAllHooks" in note for note in place.install().notes)


def test_codex_needs_a_review(place: Any) -> None:
    """New hooks of Codex do nothing until its user has looked at them: that is said, once."""
    assert any("Codex" in note and "review" in note for note in place.install().notes)
    assert not any("Codex" in note for note in place.install().notes)


def test_every_home_gets_its_part(make_place: Callable[..., Any], tmp_path: Path) -> None:
    """A second home of each client, named in the settings."""
    for name in ("work/projects", "codex-work/sessions"):
        (tmp_path / name).mkdir(parents=True)
    place = make_place(RECALL_CLAUDE_HOMES=str(tmp_path / "work"), RECALL_CODEX_HOMES=str(tmp_path / "codex-work"))
    place.install()
    for path in (
        place.claude,
        tmp_path / "work" / "settings.json",
        place.codex,
        tmp_path / "codex-work" / "hooks.json",
    ):
        assert "recall-hook" in path.read_text()
    assert (tmp_path / "work" / "skills" / "session-orchestrator" / "SKILL.md").exists()
    place.uninstall()
    assert sorted(os.listdir(tmp_path / "work")) == ["projects"]
    assert sorted(os.listdir(tmp_path / "codex-work")) == ["sessions"]


def test_a_home_without_clients(make_place: Callable[..., Any]) -> None:
    """Nothing of a client is made, and it is said what to do once there is one."""
    place = make_place(clients=())
    todo = place.install()
    assert any("Neither" in note for note in todo.notes)
    assert not place.claude.exists()
    assert not (place.home / ".codex").exists()
    assert not (place.home / ".agents").exists()
    assert place.install().empty  # our own folder under .claude is no client
    place.uninstall()
    assert not (place.home / ".local").exists()


def test_a_client_that_was_never_started(make_place: Callable[..., Any], tmp_path: Path) -> None:
    """Its program is on PATH and its home is not there yet: the home is made, and goes again."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    place = make_place(clients=())
    place.machine = place.machine._replace(path=str(program.parent))
    place.install()
    assert "recall-hook" in place.claude.read_text()
    assert not (place.home / ".codex").exists()
    place.uninstall()
    assert not place.claude.exists()
    assert not (place.home / ".claude" / "skills").exists()


def test_a_link_stays_a_link(place: Any) -> None:
    """Settings that a link leads to are edited where they are."""
    dotfiles = place.home / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "claude.json").write_bytes(SHAPES["tabs"])
    place.claude.symlink_to("../dotfiles/claude.json")
    before = place.files()
    place.install()
    assert place.claude.is_symlink()
    assert b"recall-hook" in (dotfiles / "claude.json").read_bytes()
    place.uninstall()
    assert place.files() == before


def _directory(path: Path) -> None:
    path.mkdir()


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere/settings.json")


def _read_only(path: Path) -> None:
    path.write_bytes(b"{}")
    path.chmod(0o444)


def _to_read_only(path: Path) -> None:
    target = path.with_name("store.json")
    _read_only(target)
    path.symlink_to(target)


REFUSED: dict[str, tuple[bytes | Callable[[Path], None], type[RecallError], str]] = {
    "comment": (b'{\n  // mine\n  "model": "opus"\n}', Damaged, "line 2, column 3: a comment"),
    "block comment": (b'{"a": 1} /* b */', Damaged, "a comment"),
    "trailing comma": (b'{\n  "model": "opus",\n}\n', Damaged, "line 2, column 18: a comma"),
    "0 bytes": (b"", Damaged, "the file is empty"),
    "blank": (b"\n\n", Damaged, "the file is empty"),
    "cut": (b'{"model": "op', Damaged, "line 1"),
    "a list": (b"[]", Damaged, "no JSON object"),
    "not utf-8": (b'{"a": "\xff"}', Damaged, "not UTF-8"),
    "utf-16": ('{"a": 1}'.encode("utf-16"), Damaged, "not UTF-8"),
    "huge": (b'{"a": "' + b"x" * (1 << 20) + b'"}', Refused, "too large"),
    "deep": (b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}", Damaged, "nested deeper"),
    "days as text": (b'{"cleanupPeriodDays": "30"}', Damaged, 'cleanupPeriodDays is "30"'),
    "days 0": (b'{"cleanupPeriodDays": 0}', Damaged, "cleanupPeriodDays is 0"),
    "days true": (b'{"cleanupPeriodDays": true}', Damaged, "cleanupPeriodDays is true"),
    "days of a part": (b'{"cleanupPeriodDays": 30.5}', Damaged, "cleanupPeriodDays is 30.5"),
    "days without end": (b'{"cleanupPeriodDays": 1e999}', Damaged, "cleanupPeriodDays"),
    "permissions null": (b'{"permissions": null}', Damaged, "permissions is null"),
    "allow as text": (b'{"permissions": {"allow": "Bash(ls)"}}', Damaged, "permissions.allow"),
    "status line as text": (b'{"statusLine": "date"}', Damaged, "statusLine"),
    "status line of another type": (b'{"statusLine": {"type": "x", "command": "date"}}', Damaged, "statusLine"),
    "hooks as list": (b'{"hooks": []}', Damaged, "hooks is []"),
    "event as object": (b'{"hooks": {"Stop": {}}}', Damaged, "hooks.Stop is {}"),
    "model 5": (b'{"model": 5}', Damaged, "model is 5"),
    "all hooks": (b'{"disableAllHooks": "no"}', Damaged, "disableAllHooks"),
    "folder": (_directory, Refused, "no plain file"),
    "fifo": (_fifo, Refused, "no plain file"),
    "dangling link": (_dangling, Refused, "a link to a file that is not there"),
    "read-only": (_read_only, Refused, "read-only"),
    "link to read-only": (_to_read_only, Refused, "read-only"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_changed_safely_is_refused(place: Any, case: Any) -> None:
    """One clear line with a hint, and nothing at all is changed: no file, no folder, no timer."""
    content, kind, words = case
    if callable(content):
        content(place.claude)
    else:
        place.claude.write_bytes(content)
    fifo = place.claude.is_fifo()
    before = {} if fifo else place.files()
    with pytest.raises(kind, match=re.escape(words)) as caught:
        place.plan()
    assert str(place.claude) in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.hint
    assert fifo or place.files() == before
    assert not os.path.exists(place.settings.state)


def test_a_bad_hooks_json_of_codex_refuses_all(place: Any) -> None:
    """Half an install would be hard to see: the other client's file is not touched either."""
    place.codex.write_bytes(b'{"hooks": {"Stop": [],}}')
    with pytest.raises(Damaged, match="hooks\\.json"):
        place.plan()
    assert not place.claude.exists()


def test_a_file_that_changes_meanwhile_is_not_overwritten(place: Any) -> None:
    """Between looking and writing the client itself may have written."""
    from recall.actions import install

    place.claude.write_bytes(b'{"model": "opus"}')
    todo = place.plan()
    place.claude.write_bytes(b'{"model": "haiku"}')
    with pytest.raises(Refused, match="changed by somebody else"):
        install.apply(todo, place.settings, place.machine)
    assert place.claude.read_bytes() == b'{"model": "haiku"}'
    place.uninstall()
    assert place.claude.read_bytes() == b'{"model": "haiku"}'


def test_an_install_that_was_cut_off_is_taken_back(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal is written before each edit: whatever was done by then goes, and a second try completes it."""
    from recall.actions import install

    place.claude.write_bytes(SHAPES["tabs"])
    before = place.files()
    real = install.write
    for good in range(6):
        left = good

        def failing(*args: Any) -> None:
            nonlocal left
            if left == 0:
                raise OSError(28, "No space left on device")
            left -= 1
            real(*args)

        monkeypatch.setattr(install, "write", failing)
        with contextlib.suppress(OSError):
            install.apply(place.plan(), place.settings, place.machine)
        monkeypatch.setattr(install, "write", real)
        if good % 2:
            place.install()
            assert place.install().empty
        place.uninstall()
        assert place.files() == before
