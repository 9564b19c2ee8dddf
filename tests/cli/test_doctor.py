"""`recall doctor`: each check in each state that can be made in a home of its own, `--json` and `--fix`."""

from __future__ import annotations

import json
import os
import pty
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.builders import claude_folder, claude_session, codex_session, write_lines
from tests.conftest import ROOT, Run, environment
from tests.machine import uid
from tests.test_cases_trouble import _ordinary

TURNS = [("Move the export to the new portal, please", "Moved it to portal.py")]
CODEX = "019e10aa-1111-7aaa-8bbb-0123456789ab"
BARE = "/usr/bin:/bin"
Checks = dict[str, dict[str, Any]]


@pytest.fixture
def doctor(run_recall: Run) -> Callable[..., Checks]:
    """`doctor()`: name -> check, from --json; `status` is the exit status that it must have."""

    def run(*args: str, status: int | None = 0, **env: str) -> Checks:
        done = run_recall("doctor", "--json", *args, **{"PATH": BARE, **env})
        assert "Traceback" not in done.stderr, done.stderr
        found = json.loads(done.stdout)
        if status is not None:
            assert done.returncode == status, [one for one in found["checks"] if one["state"] == "bad"]
        assert found["ok"] == (done.returncode == 0)
        return {check["name"]: check for check in found["checks"]} | {"fixed": found.get("fixed")}

    return run


@pytest.fixture
def swept(home: Path, run_recall: Run) -> Path:
    """A home with a session of each client, taken in."""
    claude_session(home, "crm", uid(1), TURNS, start=_ago(hours=30))
    codex_session(home, "crm", CODEX, TURNS, start=_ago(hours=31))
    run_recall("sweep", "--quiet", "--no-llm", check=True)
    return home


def _ago(**span: float) -> str:
    return (datetime.now(UTC) - timedelta(**span)).isoformat()


def _state(home: Path) -> Path:
    return home / ".claude" / "recall"


def _archive(home: Path) -> Path:
    return home / "backups" / "claude-transcripts"


def _settings(home: Path, **fields: Any) -> Path:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(fields))
    return path


# -- as a whole ------------------------------------------------------------------------------------------------


def test_an_empty_home_is_well_and_stays_empty(home: Path, doctor: Callable[..., Checks]) -> None:
    """Nothing is broken where nothing was used yet, and looking writes nothing."""
    found = doctor()
    assert {found[name]["state"] for name in ("archive", "last sweep", "index")} == {"warn"}
    assert list(home.iterdir()) == []


def test_a_swept_home_is_well(swept: Path, doctor: Callable[..., Checks]) -> None:
    found = doctor()
    names = ("archive", "last sweep", "unreadable files", "last 7 days", "newest copy", "deleted by clients", "sources")
    assert {name: found[name]["state"] for name in names} == dict.fromkeys(names, "ok")
    assert found["index"]["state"] == "ok"
    assert found["index"]["text"].startswith("2 sessions, ")
    assert found["last 7 days"]["text"] == "2 transcripts, all copied and indexed"
    assert {found[name]["state"] for name in ("python", "sqlite", "zstd", "folders", "permissions")} == {"ok"}


def test_the_document_has_a_form(swept: Path, run_recall: Run) -> None:
    """What programs may rely on: names, groups, states, and how each is mended."""
    found = json.loads(run_recall("doctor", "--json").stdout)
    assert set(found) == {"schema", "ok", "checks"}
    assert found["schema"] == 1
    for check in found["checks"]:
        assert set(check) == {"group", "name", "state", "text", "mend", "details", "fixable"}
        assert check["group"] in ("archive", "index", "clients", "model", "terminals", "machine")
        assert check["state"] in ("ok", "warn", "bad", "off")
        assert check["text"] and "\n" not in check["text"]
        assert check["state"] in ("ok", "off") or check["mend"]
    names = [check["name"] for check in found["checks"]]
    assert len(names) == len(set(names))


def test_the_page_is_grouped_and_plain_in_a_pipe(swept: Path, run_recall: Run) -> None:
    done = run_recall("doctor", PATH=BARE)
    lines = done.stdout.splitlines()
    assert [line for line in lines if line and not line.startswith(" ")][:6] == [
        "archive",
        "index",
        "clients",
        "model",
        "terminals",
        "machine",
    ]
    assert "\x1b" not in done.stdout
    assert "  ok   archive: ~/backups/claude-transcripts" in lines
    assert lines[-1].endswith("warn")


def test_marks_and_colours_are_for_a_terminal(swept: Path) -> None:
    """And not against NO_COLOR."""
    for env, marked in (({}, True), ({"NO_COLOR": "1"}, False)):
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "recall", "doctor"]
        process = subprocess.Popen(command, env=environment(swept, **env), cwd=ROOT, stdout=theirs, stdin=theirs)
        os.close(theirs)
        out = b""
        try:
            while data := os.read(ours, 65536):
                out += data
        except OSError:
            pass  # the other end was closed
        process.wait()
        os.close(ours)
        assert ("✓".encode() in out) == marked
        assert (b"\x1b[32m" in out) == marked


# -- the archive -----------------------------------------------------------------------------------------------


def test_an_archive_that_is_not_mounted_is_bad(swept: Path, doctor: Callable[..., Checks], run_recall: Run) -> None:
    """Once it was seen, a root without its marker is not there; the sweep that met it says so too."""
    (_archive(swept) / ".recall-archive").unlink()
    assert doctor(status=5)["archive"]["state"] == "bad"
    assert run_recall("sweep", "--no-llm").returncode == 4
    last = doctor(status=5)["last sweep"]
    assert last["state"] == "bad"
    assert "not mounted" in last["text"]


def test_a_sweep_long_ago_is_told(swept: Path, doctor: Callable[..., Checks]) -> None:
    old = time.time() - 3 * 86400
    os.utime(_state(swept) / "swept.json", (old, old))
    assert doctor()["last sweep"]["state"] == "warn"
    assert doctor()["last sweep"]["text"].startswith("3 days ago")


def test_a_sweep_with_nothing_to_do_is_one(swept: Path, doctor: Callable[..., Checks], run_recall: Run) -> None:
    old = time.time() - 3 * 86400
    os.utime(_state(swept) / "swept.json", (old, old))
    run_recall("sweep", "--quiet", "--no-llm", check=True)
    assert doctor()["last sweep"]["text"] == "just now"


def test_a_file_that_cannot_be_taken_in_is_named(home: Path, doctor: Callable[..., Checks], run_recall: Run) -> None:
    """By client, with its path and reason."""
    path = codex_session(home, "crm", CODEX, TURNS)
    broken = path.with_suffix(".jsonl.zst")
    path.unlink()
    broken.write_bytes(b"no frame at all")
    assert run_recall("sweep", "--no-llm", "--quiet").returncode == 5
    check = doctor(status=5)["unreadable files"]
    assert (check["state"], check["text"]) == ("bad", "codex 1")
    assert broken.name in check["details"][0]


@pytest.mark.parametrize(("hours", "state"), [(0.2, "ok"), (3, "warn"), (24 * 8, "ok")])
def test_what_changed_and_was_not_copied_is_told(
    swept: Path, doctor: Callable[..., Checks], hours: float, state: str
) -> None:
    """After an hour, and for a week."""
    claude_session(swept, "shop", uid(2), TURNS, start=_ago(hours=hours))
    check = doctor()["last 7 days"]
    assert check["state"] == state
    assert ("1 not copied" in check["text"]) == (state == "warn")


def test_what_the_client_deleted_is_counted(swept: Path, doctor: Callable[..., Checks]) -> None:
    """It is kept, so nothing is wrong; unless the copy is gone as well."""
    claude_session(swept, "crm", uid(3), TURNS, start=_ago(hours=30))
    source = next((swept / ".claude" / "projects").rglob(f"{uid(1)}.jsonl"))
    source.unlink()
    check = doctor()["deleted by clients"]
    assert (check["state"], check["text"]) == ("ok", "1 transcript, all kept here")
    next(_archive(swept).rglob(f"{uid(1)}.jsonl")).unlink()
    assert doctor(status=5)["deleted by clients"]["state"] == "bad"


def test_a_folder_without_its_transcript_was_lost_before(swept: Path, doctor: Callable[..., Checks]) -> None:
    """The mark of a client's cleanup that came before the first copy."""
    folder = swept / ".claude" / "projects" / claude_folder("/home/dev/crm") / uid(9)
    (folder / "tool-results").mkdir(parents=True)
    check = doctor()["deleted by clients"]
    assert check["state"] == "warn"
    assert uid(9) in check["details"][0]
    others = [folder.with_name(uid(number)) for number in range(20, 31)]
    for other in others:
        other.mkdir()
    assert doctor()["deleted by clients"]["details"][-1] == "… 2 more"
    old = time.time() - 30 * 86400
    for one in (folder, *others):
        os.utime(one, (old, old))
    assert doctor()["deleted by clients"]["state"] == "ok"


def test_sources_that_vanish_all_at_once_are_a_warning(
    swept: Path, doctor: Callable[..., Checks], run_recall: Run
) -> None:
    """And no row, card or copy goes for it, also after a sweep."""
    shutil.rmtree(swept / ".claude" / "projects")
    for _ in range(2):
        check = doctor()["sources"]
        assert check["state"] == "warn"
        assert "~/.claude: 1 transcript" in check["text"]
        run_recall("sweep", "--quiet", "--no-llm")
    assert uid(1) in run_recall("find", "export", "--ids").stdout


def test_failures_of_hooks_are_told(swept: Path, doctor: Callable[..., Checks]) -> None:
    assert doctor()["hook log"]["state"] == "ok"
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    (_state(swept) / "hook.log").write_text(f"2020-01-01T00:00:00Z Stop - old\n{moment} Stop - No space left\n")
    (_state(swept) / "hook.log").chmod(0o600)
    check = doctor()["hook log"]
    assert (check["state"], check["text"]) == ("warn", "1 failure in 7 days")
    assert check["details"] == [f"{moment} Stop - No space left"]


# -- the index -------------------------------------------------------------------------------------------------


def _garbage(path: Path) -> None:
    path.write_bytes(b"no database" * 1000)


def _shorten(path: Path) -> None:
    for tail in ("-wal", "-shm"):
        path.with_name(path.name + tail).unlink(missing_ok=True)
    os.truncate(path, path.stat().st_size // 3)


@pytest.mark.parametrize("damage", [Path.unlink, _garbage, _shorten], ids=["missing", "garbage", "short"])
def test_a_damaged_index_is_made_again(
    swept: Path, doctor: Callable[..., Checks], run_recall: Run, damage: Callable[[Path], None]
) -> None:
    damage(_state(swept) / "index.db")
    check = doctor(status=5)["index"]
    assert (check["state"], check["fixable"], check["mend"]) == ("bad", True, "recall reindex")
    found = doctor("--fix")
    assert found["index"]["state"] == "ok"
    assert {"name": "index", "text": "made the index again from the archive: 2 sessions", "done": True} in found[
        "fixed"
    ]
    assert uid(1) in run_recall("find", "export", "--ids", "--no-refresh").stdout


def test_an_index_of_a_newer_recall_is_not_touched(swept: Path, doctor: Callable[..., Checks]) -> None:
    path = _state(swept) / "index.db"
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value = '99.1' WHERE key = 'schema'")
    db.close()
    before = path.read_bytes()
    check = doctor("--fix", status=5)["index"]
    assert (check["state"], check["fixable"]) == ("bad", False)
    assert path.read_bytes() == before


def test_unknown_records_are_counted_by_client(home: Path, doctor: Callable[..., Checks], run_recall: Run) -> None:
    """Lines that hold none as well, but those are no reason to worry."""
    path = claude_session(home, "crm", uid(1), TURNS)
    with path.open("a") as file:
        file.write("[]\n")
    run_recall("sweep", "--quiet", "--no-llm")
    check = doctor()["records"]
    assert (check["state"], check["text"]) == ("ok", "all known; 1 damaged line passed over")
    with path.open("a") as file:
        file.write('{"type":"hologram","sessionId":"x"}\n')
    run_recall("sweep", "--quiet", "--no-llm")
    check = doctor()["records"]
    assert (check["state"], check["text"]) == ("warn", "1 record of unknown types")
    assert "claude: type hologram: 1" in check["details"]


# -- the clients' own files ------------------------------------------------------------------------------------


def _command(home: Path) -> None:
    """The command, where the install script puts it."""
    path = home / ".local" / "bin" / "recall"
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)


def _hooks(*events: str, command: str = "recall hook", matcher: str = "") -> dict[str, Any]:
    group = {"hooks": [{"type": "command", "command": command}]}
    return {event: [{**group, "matcher": matcher} if event == "SessionStart" else group] for event in events}


KEEP = ("Stop", "SubagentStop", "SessionEnd")
LOOP = ("PreCompact", "PostCompact", "SessionStart")


@pytest.mark.parametrize(
    ("settings", "hooks", "loop"),
    [
        ({}, "off", "off"),
        ({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}, "off", "off"),
        ({"hooks": _hooks("Stop")}, "warn", "off"),
        ({"hooks": _hooks(*KEEP)}, "ok", "off"),
        ({"hooks": _hooks(*KEEP), "disableAllHooks": True}, "warn", "off"),
        ({"hooks": _hooks(*KEEP, "PreCompact")}, "ok", "warn"),
        ({"hooks": _hooks(*KEEP, *LOOP)}, "ok", "ok"),
        ({"hooks": _hooks(*KEEP, "SessionStart")}, "ok", "off"),
        ({"hooks": _hooks(*KEEP, *LOOP, matcher="startup|resume|clear|compact|fork")}, "ok", "ok"),
        ({"hooks": _hooks(*KEEP, *LOOP, matcher="startup|resume|compact")}, "ok", "warn"),
        ({"hooks": _hooks(*KEEP, command="/nowhere/recall-hook")}, "bad", "off"),
        ({"enabledPlugins": {"recall@market": True}}, "ok", "off"),
        ({"hooks": ["odd"]}, "off", "off"),
        ({"hooks": {"Stop": {"odd": 1}, "SessionEnd": [3, {"hooks": 7}, {"hooks": [{"command": 5}]}]}}, "off", "off"),
    ],
)
def test_hooks_of_claude(
    home: Path, doctor: Callable[..., Checks], settings: dict[str, Any], hooks: str, loop: str
) -> None:
    """Whatever else stands in the file."""
    _settings(home, **settings)
    found = doctor(status=None)
    assert (found["claude hooks"]["state"], found["claude handoff loop"]["state"]) == (hooks, loop)


@pytest.mark.parametrize("text", ["{,}", "[]", "", '{"hooks": {}} // note'])
def test_settings_that_the_client_cannot_read_are_bad(home: Path, doctor: Callable[..., Checks], text: str) -> None:
    """They switch off all that stands in them."""
    _settings(home).write_text(text)
    assert doctor(status=5)["claude settings"]["state"] == "bad"


ASK = [f"Bash(recall {verb} *)" for verb in ("remove", "forget", "rm", "uninstall")]


@pytest.mark.parametrize(
    ("permissions", "state"),
    [
        (None, "off"),
        ({"allow": ["Bash(ls *)"]}, "off"),
        ({"allow": ["Bash(recall *)"]}, "warn"),
        ({"allow": ["Bash(recall:*)"], "ask": ASK[:3]}, "warn"),
        ({"allow": ["Bash(recall *)"], "ask": ASK}, "ok"),
        ({"allow": ["Bash(recall *)"], "ask": ASK, "deny": ["Bash(recall *)"]}, "warn"),
        ("odd", "off"),
    ],
)
def test_permission_rules(home: Path, doctor: Callable[..., Checks], permissions: Any, state: str) -> None:
    _settings(home, **({} if permissions is None else {"permissions": permissions}))
    assert doctor()["claude permissions"]["state"] == state


@pytest.mark.parametrize(
    ("days", "state"), [(None, "warn"), (30, "warn"), (999999, "ok"), (0, "bad"), ("30", "bad"), (True, "bad")]
)
def test_how_long_the_client_keeps(home: Path, doctor: Callable[..., Checks], days: Any, state: str) -> None:
    _settings(home, **({} if days is None else {"cleanupPeriodDays": days}))
    assert doctor(status=None)["claude cleanup"]["state"] == state


@pytest.mark.parametrize(
    ("line", "state"),
    [
        (None, "off"),
        ({"type": "command", "command": "recall statusline"}, "ok"),
        ({"type": "command", "command": "/nowhere/recall statusline"}, "bad"),
        ({"type": "command", "command": "my-own statusline"}, "off"),
        ("odd", "off"),
    ],
)
def test_the_status_line(home: Path, doctor: Callable[..., Checks], line: Any, state: str) -> None:
    _settings(home, **({} if line is None else {"statusLine": line}))
    assert doctor(status=None)["claude status line"]["state"] == state


def test_the_skill(home: Path, doctor: Callable[..., Checks]) -> None:
    """As shipped, another text of that name, or none."""
    _settings(home)
    (home / ".codex" / "sessions").mkdir(parents=True)
    assert {doctor()[name]["state"] for name in ("claude skill", "codex skill")} == {"off"}
    for client, top in (("claude", home / ".claude"), ("codex", home / ".agents")):
        shutil.copytree(ROOT / "skills", top / "skills")
        assert doctor()[f"{client} skill"]["state"] == "ok"
        (top / "skills" / "session-orchestrator" / "SKILL.md").write_text("older")
        assert doctor()[f"{client} skill"]["state"] == "warn"


def test_hooks_of_codex_wait_for_trust(home: Path, doctor: Callable[..., Checks]) -> None:
    """Codex runs none before its user looked at them: one entry of config.toml a hook."""
    folder = home / ".codex"
    folder.mkdir()
    assert doctor()["codex hooks"]["state"] == "off"
    other = {"hooks": [{"type": "command", "command": "say done"}]}
    hooks = _hooks(*KEEP)
    hooks["SubagentStop"].insert(0, other)
    (folder / "hooks.json").write_text(json.dumps({"hooks": hooks}))
    check = doctor()["codex hooks"]
    assert (check["state"], check["details"]) == ("warn", ["Stop", "SubagentStop", "SessionEnd"])
    keys = ("stop:0:0", "subagent_stop:1:0", "session_end:0:0")
    lines = [f'[hooks.state."{folder}/hooks.json:{key}"]\ntrusted_hash = "sha256:00"\n' for key in keys]
    (folder / "config.toml").write_text("".join(lines[:2]))
    assert doctor()["codex hooks"]["details"] == ["SessionEnd"]
    (folder / "config.toml").write_text("".join(lines))
    assert doctor()["codex hooks"]["text"].endswith("; trusted")
    (folder / "config.toml").write_text("".join(lines) + "[features]\nhooks = false\n")
    assert doctor()["codex hooks"]["state"] == "warn"
    (folder / "config.toml").write_text("[hooks")
    assert doctor(status=5)["codex hooks"]["state"] == "bad"
    (folder / "hooks.json").write_text("{")
    assert doctor(status=5)["codex hooks"]["state"] == "bad"


def test_each_home_has_its_checks(home: Path, doctor: Callable[..., Checks]) -> None:
    """Further homes are named by their path."""
    _settings(home)
    (home / "work").mkdir()
    (home / "work" / "settings.json").write_text(json.dumps({"cleanupPeriodDays": 999999}))
    found = doctor(RECALL_CLAUDE_HOMES=str(home / "work"))
    assert (found["claude cleanup"]["state"], found["claude cleanup (~/work)"]["state"]) == ("warn", "ok")


def test_an_install_that_was_damaged_is_run_again(swept: Path, doctor: Callable[..., Checks], run_recall: Run) -> None:
    """Only where the journal says that it was installed, and as it was chosen then."""
    _settings(swept)
    _command(swept)
    assert not doctor()["claude hooks"]["fixable"]
    run_recall("install", "--no-timer", "--with-handoff", check=True)
    names = (
        "claude hooks",
        "claude handoff loop",
        "claude permissions",
        "claude cleanup",
        "claude skill",
        "codex skill",
    )
    assert {name: doctor()[name]["state"] for name in names} == dict.fromkeys(names, "ok")
    (swept / ".local" / "share" / "recall" / "recall-hook").unlink()
    shutil.rmtree(swept / ".agents")
    found = doctor(status=5)
    assert (found["claude hooks"]["state"], found["codex skill"]["state"]) == ("bad", "off")
    found = doctor("--fix")
    assert {name: found[name]["state"] for name in names} == dict.fromkeys(names, "ok")
    assert [one["done"] for one in found["fixed"]] == [True]
    assert doctor("--fix")["fixed"] == []


def test_a_launcher_whose_python_is_gone_is_bad(swept: Path, doctor: Callable[..., Checks], run_recall: Run) -> None:
    """It does nothing then, and says nothing."""
    _settings(swept)
    run_recall("install", "--no-timer", "--without-handoff", check=True)
    launcher = swept / ".local" / "share" / "recall" / "recall-hook"
    launcher.write_text(launcher.read_text().replace(sys.executable, "/nowhere/bin/python"))
    check = doctor(status=5)["claude hooks"]
    assert check["state"] == "bad"
    assert "/nowhere/bin/python" in check["text"]


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_the_clients_are_found_by_their_path(swept: Path, doctor: Callable[..., Checks], client: str) -> None:
    assert doctor()[f"{client} program"]["state"] == "warn"
    path = swept / ".local" / "bin" / client
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    check = doctor()[f"{client} program"]
    assert (check["state"], check["text"]) == ("ok", str(path))


def test_a_timer_whose_files_are_gone_is_bad(swept: Path, doctor: Callable[..., Checks]) -> None:
    check = doctor()["timer"]
    assert (check["state"], check["text"]) == ("off", "none is installed")
    assert check["mend"] in (
        "recall install",
        "there is no launchd, systemd or cron for this user: run recall sweep by hand",
    )
    journal = {"schema": 1, "name": "recall", "timer": "launchd", "files": [], "folders": [], "moved": []}
    (_state(swept) / "install.json").write_text(json.dumps(journal))
    (_state(swept) / "install.json").chmod(0o600)
    check = doctor(status=5)["timer"]
    assert check["state"] == "bad"
    assert "is gone" in check["text"]


# -- the model -------------------------------------------------------------------------------------------------


def test_the_engine(swept: Path, doctor: Callable[..., Checks]) -> None:
    """None by setting, none for want of one, one that is not there, one that is, one that pauses."""
    assert doctor()["engine"]["state"] == "off"
    assert doctor(RECALL_LLM="none")["engine"]["text"].startswith("none, by setting")
    assert doctor(RECALL_LLM="claude")["engine"]["state"] == "warn"
    path = swept / "claude"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    check = doctor(RECALL_CLAUDE_BIN=str(path))["engine"]
    assert (check["state"], check["text"]) == ("ok", "claude, claude-haiku-5-5")
    pause = {"": {"fails": 1, "until": time.time() + 1000, "kind": "server"}}
    (_state(swept) / "backoff.json").write_text(json.dumps(pause))
    assert doctor(RECALL_CLAUDE_BIN=str(path))["engine"]["state"] == "warn"


def test_calls_cost_and_budget(swept: Path, doctor: Callable[..., Checks]) -> None:
    """Of the last 30 days, and what is left of the day; failures in a row are a warning."""
    ledger = _state(swept) / "ledger.jsonl"

    def calls(count: int, **fields: Any) -> str:
        line = {"time": _ago(hours=1), "session": "x", "what": "card", "model": "m", "engine": "claude", "cost": 0.01}
        return (json.dumps({**line, "ok": True, "error": "", **fields}) + "\n") * count

    ledger.write_text(calls(1, time=_ago(days=40)) + calls(4) + calls(1, ok=False, error="rate"))
    found = doctor(RECALL_MAX_LLM_PER_DAY="8")
    assert found["model calls"]["text"].startswith("5 calls in 30 days, 1 failed, $0.0500")
    assert (found["budget"]["state"], found["budget"]["text"][:6]) == ("ok", "3 of 8")
    ledger.write_text(calls(5, ok=False, error="auth"))
    found = doctor(RECALL_MAX_LLM_PER_DAY="5")
    assert (found["model calls"]["state"], found["budget"]["state"]) == ("warn", "warn")
    assert found["model calls"]["mend"] == "log in: start claude once"


# -- the machine -----------------------------------------------------------------------------------------------


def test_another_recall_on_path_is_noticed(home: Path, doctor: Callable[..., Checks]) -> None:
    folder = home / "bin"
    folder.mkdir()
    path = f"{folder}:{BARE}"
    assert doctor(PATH=path)["command"]["state"] == "warn"
    command = folder / "recall"
    command.write_text("#!/bin/sh\necho something else\n")
    command.chmod(0o755)
    check = doctor(PATH=path)["command"]
    assert check["state"] == "warn"
    assert str(command) in check["text"]
    command.write_text(f"#!{sys.executable}\nfrom recall.cli import main\nmain()\n")
    assert doctor(PATH=path)["command"]["state"] == "ok"


def test_what_others_can_read_is_closed(swept: Path, doctor: Callable[..., Checks]) -> None:
    """Only what is ours: neither links, nor a repository that somebody keeps the cards in."""
    data = swept / ".claude" / "session-recaps"
    (data / ".git").mkdir()
    (data / ".git" / "config").write_text("x")
    (data / ".git" / "config").chmod(0o644)
    outside = swept / "outside"
    outside.write_text("x")
    outside.chmod(0o644)
    (data / "note.md").symlink_to(outside)
    copy = next(_archive(swept).rglob("*.jsonl"))
    copy.chmod(0o644)
    copy.parent.chmod(0o755)
    assert doctor()["permissions"]["text"] == "2 files or folders of recall are open to other users"
    found = doctor("--fix")
    assert found["permissions"]["state"] == "ok"
    assert found["fixed"][0]["text"] == "made 2 files and folders private"
    assert (copy.stat().st_mode & 0o777, copy.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert {path.stat().st_mode & 0o777 for path in (data / ".git" / "config", outside)} == {0o644}


def test_what_its_owner_cannot_read_is_named(swept: Path) -> None:
    """No permission stops root, so that is given up first."""
    copy = next(_archive(swept).rglob("*.jsonl"))
    copy.chmod(0)
    done = subprocess.run(
        [sys.executable, "-m", "recall", "doctor"],
        env=environment(swept),
        cwd=ROOT,
        capture_output=True,
        text=True,
        preexec_fn=_ordinary(),
    )
    if done.returncode == 99:
        pytest.skip("root cannot give up its powers here")
    assert done.returncode == 5
    assert f"       {copy}\n" in done.stdout
    assert "bad  permissions: 1 files or folders of recall cannot be read" in done.stdout


def test_missing_folders_are_made(home: Path, doctor: Callable[..., Checks]) -> None:
    assert doctor()["folders"]["state"] == "warn"
    assert doctor("--fix")["folders"]["state"] == "ok"
    assert {(home / ".claude" / name).stat().st_mode & 0o777 for name in ("recall", "session-recaps")} == {0o700}


def test_a_file_in_place_of_a_folder_is_bad(home: Path, doctor: Callable[..., Checks]) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "session-recaps").write_text("x")
    assert doctor(status=5)["folders"]["state"] == "bad"


def test_nothing_to_fix_is_said(swept: Path, run_recall: Run) -> None:
    assert run_recall("doctor", "--fix").stdout.startswith("nothing to fix\n")


def test_fix_is_not_for_a_session(swept: Path, run_recall: Run) -> None:
    assert run_recall("doctor", "--fix", uid(1)).returncode == 2


def test_a_rollout_without_a_decoder_is_counted(home: Path, doctor: Callable[..., Checks]) -> None:
    """Where this Python lacks one (made so by a module that cannot be imported)."""
    (home / "lib" / "backports" / "zstd").mkdir(parents=True)
    (home / "lib" / "backports" / "__init__.py").write_text("")
    (home / "lib" / "backports" / "zstd" / "__init__.py").write_text("raise ImportError('no decoder')")
    paths = f"{home / 'lib'}:{ROOT}"
    if sys.version_info >= (3, 14):
        pytest.skip("this Python has a decoder of its own")
    assert doctor(PYTHONPATH=paths)["zstd"]["state"] == "warn"
    write_lines(home / ".codex" / "sessions" / f"rollout-2026-06-11T09-00-00-{CODEX}.jsonl.zst", [{}])
    check = doctor(PYTHONPATH=paths, status=5)["zstd"]
    assert (check["state"], "1 compressed rollout" in check["text"]) == ("bad", True)


def test_where_sessions_are_opened_is_told(home: Path, doctor: Callable[..., Checks], tmp_path: Path) -> None:
    """By what is on PATH; a name that is none, or cannot be used from here, says how that is mended."""
    nothing = {"PATH": str(tmp_path)}
    assert doctor(**nothing)["terminal"]["state"] == "off"
    program = tmp_path / "tmux"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    assert doctor(**nothing)["terminal"]["text"].startswith("tmux; its sessions can be read")
    wrong = doctor(**nothing, RECALL_TERMINAL="no-such")["terminal"]
    assert (wrong["state"], "tmux" in wrong["mend"]) == ("warn", True)
    missing = doctor(**nothing, RECALL_TERMINAL="kitty")["terminal"]
    assert (missing["state"], bool(missing["mend"])) == ("warn", True)


def test_the_bridge_in_iterm2(home: Path, doctor: Callable[..., Checks], run_recall: Run) -> None:
    """Off where iTerm2 is not; missing in it; there and silent."""
    assert doctor()["iterm2"]["state"] == "off"
    inside = {"TERM_PROGRAM": "iTerm.app"}
    missing = doctor(**inside)["iterm2"]
    assert (missing["state"], missing["mend"].endswith("iterm-install")) == ("warn", True)
    assert run_recall("iterm-install", "--force").returncode == 0
    silent = doctor(**inside)["iterm2"]
    assert (silent["state"], bool(silent["mend"])) == ("warn", True)
