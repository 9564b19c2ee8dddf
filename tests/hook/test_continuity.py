"""A compacted or resumed session is told where it stood: once, dated, quoted, and only what is worth it."""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests import builders
from tests.conftest import Run
from tests.hook.conftest import ANSWER, OTHER, SESSION, TURNS, Place, Said

STEP = "Run export.py on the whole portal"


def start(place: Place, source: str = "resume", client: str = "claude", **more: Any) -> Said:
    env = more.pop("env", {})
    return place.call(place.event("SessionStart", client, source=source, **more), env=env)


def told(place: Place, source: str = "resume", client: str = "claude", **more: Any) -> str:
    """What is told once the handoff is there. The hook waits a second for one that is being made; on a busy machine that
    is not enough, and the next start tells it."""
    said = start(place, source, client, **more)
    if said.silent:
        place.settle()
        said = start(place, source, client, **more)
    return said.told


def quoted(text: str) -> list[str]:
    """The lines of the quotation."""
    lines = text.splitlines()
    opened = next(n for n, line in enumerate(lines) if line.startswith("<recall-handoff "))
    closed = lines.index("</recall-handoff>")
    assert closed == len(lines) - 1
    return lines[opened + 1 : closed]


@pytest.mark.parametrize("client", ["claude", "codex"])
@pytest.mark.parametrize("source", ["compact", "resume", "fork"])
def test_the_next_step_is_in_the_context(place: Place, client: str, source: str) -> None:
    """Made before the compaction, or, where that was never told, from the transcript at once."""
    if source == "compact":
        place.call(place.event("PreCompact", client, trigger="auto"))
    text = told(place, source, client)
    assert any(STEP in line for line in quoted(text))
    assert all(line.startswith("> ") for line in quoted(text))
    assert "recall without a model" in text
    assert time.strftime("%Y-%m-%d", time.gmtime()) in text.splitlines()[0]
    assert "newest wins" in text
    assert len(text) <= 2000


def test_the_same_text_is_told_once(place: Place) -> None:
    """On a resume not again; a changed one is."""
    place.handoff()
    assert STEP not in start(place).told
    assert start(place).silent
    place.handoff(Next="1. Something else")
    assert "Something else" in start(place).told


def test_after_a_compaction_it_is_told_again(place: Place) -> None:
    """A compaction takes it out of the context: the model's handoff that is kept is told anew, once."""
    place.handoff()
    assert start(place).told
    place.call(place.event("PreCompact", trigger="auto"))
    place.settle()
    assert start(place, "compact").told
    assert start(place, "compact").silent
    assert start(place, "resume").silent


def test_a_compaction_that_nobody_announced(place: Place) -> None:
    """Without PreCompact the handoff is made from the transcript, and says what was said last."""
    old = place.handoff(by="extract", updated="2026-06-01T00:00:00Z")
    os.utime(old, (1, 1))
    with place.claude.open("a") as file:
        for record in builders.claude_records(
            "more", [("And now the contacts", "Next step: ask Anna.")], "/home/dev/crm"
        ):
            file.write(json.dumps(record) + "\n")
    assert "contacts" in told(place, "compact")


def test_it_comes_from_the_last_turns_not_from_the_summary(place: Place) -> None:
    """What the client wrote into the transcript as a summary is not where the session stood."""
    with place.claude.open("a") as file:
        for record in (
            {"type": "system", "subtype": "compact_boundary", "uuid": "b", "sessionId": SESSION},
            {
                "type": "user",
                "isCompactSummary": True,
                "isVisibleInTranscriptOnly": True,
                "uuid": "c",
                "sessionId": SESSION,
                "timestamp": "2026-06-11T10:00:00Z",
                "message": {"role": "user", "content": "This session is being continued. Next step: paint the fence."},
            },
        ):
            file.write(json.dumps(record) + "\n")
    text = told(place, "compact")
    assert STEP in text
    assert "fence" not in text


def test_a_slow_child_is_not_waited_for_long(place: Place) -> None:
    """A handoff that is still being written after a second is not told now; an older one is."""
    place.handoff()
    lock = place.state / "children" / f"{SESSION}.handoff"
    lock.parent.mkdir(parents=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        begun = time.monotonic()
        assert start(place, "compact").told
        assert time.monotonic() - begun > 0.9


def test_too_old_is_not_told(place: Place) -> None:
    """The days are a setting; none at all switches it off. A card without a date is as old as its file."""
    month = time.time() - 31 * 86400
    path = place.handoff(OTHER, updated=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(month)))
    event = place.event("SessionStart", "codex", source="resume", transcript_path=None)
    assert place.call(event).silent
    assert place.call(event, env={"RECALL_HANDOFF_DAYS": "40"}).told
    path.write_text(path.read_text().replace(" | ", " "))
    os.utime(path, (month, month))
    assert place.call(event).silent
    os.utime(path)
    assert place.call(event).told
    place.handoff(OTHER)
    assert place.call(event, env={"RECALL_HANDOFF_DAYS": "0"}).silent


@pytest.mark.parametrize("text", ["", "nothing here", "# title only\n", "## Next\n", "\0" * 100, "## \n## \n"])
def test_a_card_that_says_nothing(place: Place, text: str) -> None:
    """It is not told."""
    path = place.handoff(OTHER)
    path.write_text(text)
    assert place.call(place.event("SessionStart", "codex", source="resume", transcript_path=None)).silent


def test_switches(place: Place) -> None:
    """After /clear only if asked for; not at all if switched off."""
    place.handoff()
    assert start(place, "clear").silent
    assert start(place, "startup").silent
    assert start(place, "resume", env={"RECALL_HANDOFF": "0"}).silent
    assert start(place, "clear", env={"RECALL_HANDOFF_AFTER_CLEAR": "1"}).told


def test_a_fork_is_told_of_its_origin(place: Place) -> None:
    """A rollout that holds no history of its own names where it comes from."""
    fork = "0198a3c0-3333-4000-8000-0000000000cc"
    path = builders.codex_session(place.home, "crm", fork, [], fork_of=OTHER)
    place.handoff(OTHER)
    event = place.event("SessionStart", "codex", source="fork", session_id=fork, transcript_path=str(path))
    assert "Run export.py on all deals" in place.call(event).told


def test_a_models_handoff_stays_while_it_is_right(place: Place) -> None:
    """What code can tell replaces it only when the session went on since."""
    card = place.handoff()
    place.call(place.event("PreCompact", trigger="auto"))
    place.settle()
    assert "claude-haiku-5-5" in card.read_text()
    place.handoff(updated="2026-06-11T08:00:00Z")
    place.call(place.event("PreCompact", trigger="auto"))
    place.settle()
    assert STEP in card.read_text()


def test_a_removed_session_is_not_told_of(place: Place, run_recall: Run) -> None:
    """What its user removed comes back neither as a card nor as a handoff."""
    run_recall("sweep", "--no-llm", "--quiet", check=True)
    run_recall("remove", SESSION, "--yes", check=True)
    for name in ("PreCompact", "PostCompact", "SessionEnd"):
        place.call(place.event(name, compact_summary="words", reason="other"), env={"RECALL_LLM": "none"})
        place.settle()
    assert start(place, "compact").silent
    assert not list((place.data / "handoffs").glob(f"{SESSION}*"))
    assert not (place.data / f"{SESSION}.md").exists()


def test_secrets_do_not_get_into_the_summary(place: Place) -> None:
    """What PostCompact tells passes through a process that redacts, and is in no other file."""
    key = "AKIA" + "IOSFODNN7QWERTYU"
    summary = f"We export deals with {key}. " + "и ещё " * 30_000
    place.call(place.event("PostCompact", trigger="auto", compact_summary=summary))
    place.settle()
    kept = (place.data / "handoffs" / f"{SESSION}.summary.md").read_text()
    assert kept.startswith("We export deals with [redacted:")
    for path in place.home.rglob("*"):
        assert not path.is_file() or key.encode() not in path.read_bytes()


def test_show_prints_what_is_injected(place: Place, run_recall: Run) -> None:
    """To the letter; and says so where there is nothing."""
    run_recall("sweep", "--no-llm", "--quiet", check=True)
    done = run_recall("show", SESSION, "--handoff")
    assert (done.returncode, done.stdout) == (1, "")
    told = start(place, "compact").told
    assert run_recall("show", SESSION, "--handoff").stdout == told


def test_the_digest_of_a_folder(place: Place, run_recall: Run) -> None:
    """Off unless asked for; at most three lines of what was done there."""
    place.data.mkdir(parents=True)
    rows = ["crm done", "api done", "crm in_progress", "crm new", "crm in_progress", "crm in_progress", "crm done"]
    lines = []
    for n, (folder, status) in enumerate(row.split() for row in rows):
        lines.append(f"0198a3c{n} 2026-06-1{n}T09:00 {folder} [{status}] Task number {n} #export")
    (place.data / "INDEX.md").write_text("\n".join(lines) + "\n")
    assert start(place, "startup").silent
    told = start(place, "startup", env={"RECALL_STARTUP_DIGEST": "1"}).told
    assert [line[-9:-8] for line in told.splitlines()[1:]] == ["0", "2", "4"]
    assert start(place, "startup", cwd="/home/dev/elsewhere", env={"RECALL_STARTUP_DIGEST": "1"}).silent


def test_what_the_session_had_is_not_inherited(place: Place, tmp_path: Path) -> None:
    """A detached process knows nothing of the session around the hook, and holds none of its files open."""
    probe = tmp_path / "lib/recall"
    for name in ("__init__.py", "hook.py", "hookloop.py", "hook_main.py"):
        (probe / name).parent.mkdir(parents=True, exist_ok=True)
        (probe / name).write_bytes((Path(builders.__file__).parent.parent / "recall" / name).read_bytes())
    for name in ("archive/__init__.py", "archive/append.py"):
        (probe / name).parent.mkdir(exist_ok=True)
        (probe / name).write_bytes((Path(builders.__file__).parent.parent / "recall" / name).read_bytes())
    (probe / "cli").mkdir()
    (probe / "cli/__init__.py").touch()
    (probe / "cli/detached.py").write_text(
        "import json, os\n"
        "def main(args):\n"
        "    about = {'env': dict(os.environ), 'sid': os.getsid(0), 'pid': os.getpid(), 'args': args}\n"
        f"    open({str(tmp_path / 'about.json')!r}, 'w').write(json.dumps(about))\n"
    )
    place.install(package=str(probe))
    env = {"CLAUDE_CODE_MESSAGING_TOKEN": "secret", "CLAUDE_PID": "1", "CLAUDECODE": "1", "RECALL_MODEL": "m"}
    place.call(place.event("SessionEnd", reason="other"), env=env)
    place.settle()
    about = json.loads((tmp_path / "about.json").read_text())
    assert about["sid"] == about["pid"]
    assert about["args"][1:] == ["recap", str(place.claude), "--worth", "--quiet"]
    assert not set(about["env"]) & {"CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_PID", "CLAUDECODE", "RECALL_GUARD"}
    assert about["env"]["RECALL_MODEL"] == "m"
    assert about["env"]["RECALL_STATE"] == str(place.state)


def test_one_detached_process_at_a_time(place: Place) -> None:
    """While one is at a session, no other of its kind is started."""
    lock = place.state / "children" / f"{SESSION}.recap"
    lock.parent.mkdir(parents=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        place.call(place.event("SessionEnd", reason="other"), env={"RECALL_LLM": "none"})
    assert not (place.state / "children.log").exists()
    assert not (place.data / f"{SESSION}.md").exists()


def test_the_answer_that_all_this_is_about() -> None:
    """The sessions of these tests name their next step as people's sessions do."""
    assert STEP in ANSWER
    assert all(turn[1] == ANSWER for turn in TURNS)
