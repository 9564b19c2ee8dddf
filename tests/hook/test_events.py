"""What each event of each client does: the files that are there afterwards, and what is printed."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from recall import hook
from tests.again import again
from tests.hook.conftest import OTHER, SESSION, Place

COPIES = "backups/claude-transcripts/"
CLAUDE = f"{COPIES}claude/-home-dev-crm/{SESSION}.jsonl"
AGENT = f"{COPIES}claude/-home-dev-crm/{SESSION}/subagents/agent-a1.jsonl"
CODEX = f"{COPIES}codex/rollout-2026-06-11T09-00-00-{OTHER}.jsonl"
STATE = ".claude/recall/"
ROOT = {f"{COPIES}.recall-archive", f"{STATE}archive-seen"}
HANDOFFS = ".claude/session-recaps/handoffs/"
LOG = f"{STATE}children.log"


def child(session: str, *kinds: str) -> set[str]:
    return {f"{STATE}children/{session}.{kind}" for kind in kinds} | {LOG}


KEPT = {"claude": {CLAUDE, f"{STATE}changed/{SESSION}"} | ROOT, "codex": {CODEX, f"{STATE}changed/{OTHER}"} | ROOT}
HANDOFF = {
    client: child(session, "handoff") | {f"{HANDOFFS}{session}.md"}
    for client, session in (("claude", SESSION), ("codex", OTHER))
}

CASES: list[tuple[str, str, dict[str, Any], set[str]]] = [
    ("claude", "Stop", {"stop_hook_active": False, "last_assistant_message": "done"}, KEPT["claude"]),
    ("claude", "Stop", {"stop_hook_active": True}, set()),
    ("claude", "StopFailure", {"error": "unknown"}, KEPT["claude"]),
    ("claude", "SubagentStop", {"agent_id": "a1", "agent_transcript_path": "AGENT"}, KEPT["claude"] | {AGENT}),
    ("claude", "SubagentStop", {"agent_type": "", "agent_transcript_path": "/gone/agent-a2.jsonl"}, KEPT["claude"]),
    ("claude", "PreCompact", {"trigger": "auto", "custom_instructions": ""}, KEPT["claude"] | HANDOFF["claude"]),
    (
        "claude",
        "PostCompact",
        {"trigger": "auto", "compact_summary": "We export deals."},
        KEPT["claude"] | child(SESSION, "summary") | {f"{HANDOFFS}{SESSION}.summary.md"},
    ),
    ("claude", "PostCompact", {"trigger": "manual"}, KEPT["claude"]),
    ("claude", "SessionStart", {"source": "startup"}, set()),
    ("claude", "SessionStart", {"source": "clear"}, set()),
    ("claude", "SessionStart", {"source": "teleport"}, set()),
    ("claude", "UserPromptSubmit", {"prompt": "hello"}, set()),
    ("claude", "PostToolUse", {"tool_name": "Bash"}, set()),
    ("claude", "Notification", {"message": "hello"}, set()),
    ("claude", "Setup", {}, set()),
    ("codex", "Stop", {"stop_hook_active": False, "turn_id": "t", "model": "gpt-5.4"}, KEPT["codex"]),
    ("codex", "SubagentStop", {"agent_id": "a", "agent_transcript_path": None}, KEPT["codex"]),
    ("codex", "PreCompact", {"trigger": "manual"}, KEPT["codex"] | HANDOFF["codex"]),
    ("codex", "PostCompact", {"trigger": "manual"}, KEPT["codex"]),
    ("codex", "SessionStart", {"source": "startup"}, set()),
    ("codex", "Stop", {"transcript_path": None}, set()),
    ("codex", "Interrupt", {}, set()),
]


@pytest.mark.parametrize(("client", "name", "fields", "wanted"), CASES)
def test_what_an_event_leaves(place: Place, client: str, name: str, fields: dict[str, Any], wanted: set[str]) -> None:
    """Copies, a mark, a detached process; nothing for what is not known; never a word."""
    fields = {key: str(place.agent) if value == "AGENT" else value for key, value in fields.items()}
    assert place.call(place.event(name, client, **fields)).silent
    place.settle()
    assert place.files() == wanted
    assert {path.stat().st_mode & 0o777 for path in place.state.rglob("*") if path.is_file()} <= {0o600}
    for source in (place.claude, place.codex, place.agent):
        copy = place.copy(source)
        assert not copy.exists() or copy.read_bytes() == source.read_bytes()
    log = place.home / LOG
    assert not log.exists() or log.read_text() == ""


@pytest.mark.parametrize(("client", "session"), [("claude", SESSION), ("codex", OTHER)])
def test_the_end_of_a_session(place: Place, client: str, session: str) -> None:
    """Its copy first, then its card by a process of its own: of one that was worth it."""
    said = place.call(place.event("SessionEnd", client, reason="other"), env={"RECALL_LLM": "none"})
    assert said.silent
    copy = place.copy(place.claude if client == "claude" else place.codex)
    assert copy.stat().st_size
    place.settle()
    assert (place.data / f"{session}.md").exists()
    assert (place.home / LOG).read_text() == ""


def test_the_end_of_a_session_without_a_transcript(place: Place) -> None:
    """Nothing is done for an id that never got a prompt, or whose file is gone."""
    place.claude.unlink()
    assert place.call(place.event("SessionEnd", reason="other")).silent
    assert place.files() == set()


@pytest.mark.parametrize(
    ("fields", "env", "word"),
    [
        ({"reason": "other"}, {"CLAUDE_PID": "4711"}, "other 4711"),
        ({"reason": "prompt_input_exit"}, {}, "prompt_input_exit"),
        ({"reason": 7}, {"CLAUDE_PID": "x y"}, ""),
        ({"reason": "other"}, {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, None),
    ],
)
def test_word_is_left_of_an_end_in_good_order(
    place: Place, fields: dict[str, Any], env: dict[str, str], word: str | None
) -> None:
    """Reason and process, the last ones; what ended without such a word may have crashed. A headless run leaves none."""
    left = place.state / "ended" / SESSION
    place.call(
        place.event("SessionEnd", reason="clear"), env={"RECALL_LLM": "none", "CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}
    )
    assert not left.exists()
    place.call(place.event("SessionEnd", **fields), env={"RECALL_LLM": "none", **env})
    place.settle()
    assert (left.read_text() if left.exists() else None) == word


def test_headless_sessions_get_no_card(place: Place) -> None:
    """The copy is made; what `claude -p` did is worth no process."""
    place.call(place.event("SessionEnd", reason="other"), env={"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"})
    assert place.files() == KEPT["claude"]


def test_a_second_event_appends(place: Place) -> None:
    """Only what is new is written; the copy stays a beginning of the source."""
    place.call(place.event("Stop"))
    first = os.stat(place.copy(place.claude)).st_ino
    with place.claude.open("a") as file:
        file.write('{"type":"user"}\n')
    place.call(place.event("Stop"))
    copy = place.copy(place.claude)
    assert (copy.stat().st_ino, copy.read_bytes()) == (first, place.claude.read_bytes())


def test_a_sweep_and_a_search_take_the_marks_away(place: Place, run_recall: Any) -> None:
    """A mark stays until its session was taken in."""
    for command in (("sweep", "--no-llm", "--quiet"), ("find", "deals")):
        with place.claude.open("a") as file:
            file.write('{"type":"mode"}\n')
        place.call(place.event("Stop"))
        assert os.listdir(place.state / "changed") == [SESSION]

        def left(command: tuple[str, ...] = command) -> list[str]:
            run_recall(*command, check=True)
            return os.listdir(place.state / "changed")

        assert again(left, lambda marks: not marks) == []


@pytest.mark.parametrize("how", ["guard", "folder"])
def test_model_calls_of_our_own_fire_nothing(place: Place, how: str) -> None:
    """The guard in the environment, or the folder that such calls run in, ends the hook at once."""
    folder = str(place.state / "model")
    for name in ("Stop", "SessionEnd", "PreCompact", "SessionStart"):
        event = place.event(name, source="resume", **({"cwd": folder} if how == "folder" else {}))
        assert place.call(event, env={"RECALL_GUARD": "1"} if how == "guard" else {}).silent
    assert place.files() == set()


def test_what_was_purged_is_not_copied_again(place: Place) -> None:
    """By the session's id, also where its sub-agents are named; and nothing is started for it."""
    (place.state / "purged").mkdir(parents=True)
    (place.state / "purged" / SESSION).touch()
    place.handoff()
    for name in ("Stop", "SubagentStop", "PreCompact", "SessionEnd"):
        assert place.call(place.event(name, agent_transcript_path=str(place.agent))).silent
    assert place.call(place.event("SessionStart", source="compact")).silent
    assert not place.archive.exists()
    assert not (place.state / "children").exists()


def test_an_archive_that_is_not_mounted(place: Place) -> None:
    """A root that was seen and has lost its marker gets nothing, not even a folder."""
    place.call(place.event("Stop"))
    import shutil

    shutil.rmtree(place.archive)
    assert place.call(place.event("Stop")).silent
    assert not place.archive.exists()


def test_a_copy_of_an_earlier_tool_is_gone_on_with(place: Place) -> None:
    """One that lies directly in the root grows where it is."""
    older = place.archive / "-home-dev-crm" / f"{SESSION}.jsonl"
    older.parent.mkdir(parents=True)
    older.write_bytes(place.claude.read_bytes()[:5000])
    place.call(place.event("Stop"))
    assert older.read_bytes() == place.claude.read_bytes()
    assert not place.copy(place.claude).exists()


def test_the_lists_of_prompts_are_left_to_the_sweep(place: Place) -> None:
    """They may hold lines of purged sessions, which the hook cannot tell."""
    for path in (place.home / ".claude/history.jsonl", place.home / ".codex/session_index.jsonl"):
        path.write_text("{}\n")
        assert place.call(place.event("Stop", transcript_path=str(path))).silent
    assert place.files() == set()


def test_settings_come_from_variables_and_from_the_plain_file(place: Place, tmp_path: Path) -> None:
    """`hook.conf` says where things are, a variable goes before it; further homes have copies of their own."""
    further = tmp_path / "further"
    path = further / "projects/-x" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"{}\n")
    conf = place.state / "hook.conf"
    conf.parent.mkdir(parents=True)
    conf.write_text(
        f"# ours\nstate={place.state}\ndata={place.data}\narchive={tmp_path}/kept\nhome=claude {place.home}/.claude\nhome=claude@1a2b3c4d {further}\n"
    )
    place.call(place.event("Stop", transcript_path=str(path)))
    assert (tmp_path / f"kept/claude@1a2b3c4d/-x/{SESSION}.jsonl").exists()
    place.call(place.event("Stop"), env={"RECALL_ARCHIVE": str(tmp_path / "other")})
    assert (tmp_path / f"other/claude/-home-dev-crm/{SESSION}.jsonl").exists()
    place.call(place.event("Stop"), env={"HOME": ""})
    assert (tmp_path / f"kept/claude/-home-dev-crm/{SESSION}.jsonl").exists()


def test_recall_hook_is_the_same_by_hand(place: Place, run_recall: Any) -> None:
    """With the settings that every command has."""
    done = run_recall("hook", input=json.dumps(place.event("Stop")))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert place.copy(place.claude).read_bytes() == place.claude.read_bytes()
    place.handoff()
    done = run_recall("hook", input=json.dumps(place.event("SessionStart", source="resume")))
    assert "Run export.py on all deals" in done.stdout


def test_an_answer_that_is_written_after_the_event_is_kept_too(place: Place) -> None:
    """The client does not wait for its own transcript: what it told of the turn comes to it a moment later."""
    place.call(place.event("Stop", last_assistant_message='Ready.\n\nIt is in "deals.csv" \\o/ Иванова'))
    late = json.dumps({"type": "assistant", "text": 'Ready.\n\nIt is in "deals.csv" \\o/ Иванова'}, ensure_ascii=False)
    with place.claude.open("a") as file:
        file.write(late + "\n")
    copy = place.copy(place.claude)
    end = time.monotonic() + 60
    while copy.read_bytes() != place.claude.read_bytes() and time.monotonic() < end:
        time.sleep(0.01)
    assert copy.read_bytes() == place.claude.read_bytes()


@pytest.mark.parametrize(
    ("words", "data", "late"),
    [
        ("Done.", b'{"text":"Done."}\n', False),
        ("Done.", b'{"text":"Working"}\n', True),
        ('Line\nsaid "so"', b'{"text":"Line\\nsaid \\"so\\""}\n', False),
        ("Line\n\tfolder C:\\x", b"folder C:\\\\x", False),
        ("Готово", '"Готово"'.encode(), False),
        ("", b"", False),
        (None, b"", False),
        ("\ud800", b"", True),
    ],
)
def test_whether_the_answer_is_in_what_was_copied(words: object, data: bytes, late: bool) -> None:
    """By the end of its last line, as far as JSON writes it as it stands."""
    assert hook.is_late({"last_assistant_message": words}, [data]) is late
