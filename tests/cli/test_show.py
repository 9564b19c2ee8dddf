"""`recall show` tells what a session was, and reads its conversation out."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.again import again
from tests.builders import claude_session, codex_session
from tests.conftest import Run, environment

FIRST = "5a1c0b1e-93f0-4f5e-a7d4-9a4b6f6f2c01"
OTHER = "019e10aa-1111-7aaa-8bbb-0123456789ab"
KEY = "sk-ant-api03-" + "Zr7Qw2Lm9Xc4Vb6N" * 5

TURNS = [
    (
        "Why does the export fail?\nIt did not yesterday.",
        "The port was \x1b[31mclosed\x1b[0m.",
        [
            ("Bash", {"command": "make export"}, "no route\nto host"),
            ("Read", {"file_path": "/home/dev/crm/a.py"}, "x = 1"),
        ],
    ),
    (
        f"Use {KEY} then",
        "Done: it works.",
        [
            ("Edit", {"file_path": "/home/dev/crm/src/a b.py", "old_string": "x", "new_string": "y"}, "ok"),
            ("Write", {"file_path": "/tmp/out.txt", "content": "hello"}, "ok"),
            ("Edit", {"file_path": "/home/dev/crm/src/a b.py", "old_string": "y", "new_string": "z"}, "ok"),
        ],
    ),
]


@pytest.fixture
def source(home: Path, run_recall: Run) -> Path:
    path = claude_session(home, "crm", FIRST, TURNS, title="Export repaired")
    run_recall("sweep", "--quiet", check=True)
    return path


def masked(text: str) -> str:
    """Without the kind of a secret, which is another table's matter."""
    head, mark, rest = text.partition("[redacted:")
    return f"{head}[secret]{rest.partition(']')[2]}" if mark else text


def test_the_page_says_what_it_was_and_how_to_go_on(source: Path, home: Path, run_recall: Run) -> None:
    copy = next((home / "backups").rglob(f"{FIRST}.jsonl"))
    done = run_recall("show", "5a1c")
    assert (done.returncode, done.stderr) == (0, "")
    assert masked(done.stdout) == (
        "5a1c0b1e 2026-06-11T09:04 crm [new] Why does the export fail? It did not yesterday. (named Export repaired)\n"
        "\n"
        f"id        {FIRST}\n"
        "title     Export repaired\n"
        "folder    /home/dev/crm  (gone)\n"
        "branch    main\n"
        "client    Claude Code 2.1.332\n"
        "when      2026-06-11 09:00 -> 09:04\n"
        "size      9 messages, 14 events, 1 command\n"
        f"source    {source}\n"
        f"copy      {copy}  ({-(-copy.stat().st_size // 1000)} KB)\n"
        f"resume    cd '/home/dev/crm' && claude --resume {FIRST}\n"
        "\n"
        "first request\n"
        "  Why does the export fail?\n"
        "  It did not yesterday.\n"
        "\n"
        "last request\n"
        "  Use [secret] then\n"
        "\n"
        "last answer\n"
        "  Done: it works.\n"
        "\n"
        "files edited\n"
        "  Edit src/a b.py\n"
        "  Write /tmp/out.txt\n"
    )


CONVERSATION = """\
## user 2026-06-11 09:00

Why does the export fail?
It did not yesterday.

## assistant 2026-06-11 09:00

· Bash make export
· Read /home/dev/crm/a.py

The port was closed.

## user 2026-06-11 09:02

Use [secret] then

## assistant 2026-06-11 09:02

· Edit /home/dev/crm/src/a b.py
· Write /tmp/out.txt
· Edit /home/dev/crm/src/a b.py

Done: it works.
"""


def test_the_conversation_is_readable_and_plain_when_piped(source: Path, run_recall: Run) -> None:
    assert masked(run_recall("show", FIRST, "--transcript").stdout) == CONVERSATION


def test_tool_output_is_shown_when_asked_for(source: Path, run_recall: Run) -> None:
    shown = run_recall("show", FIRST, "--tools").stdout
    assert "· Bash make export\n  | no route\n  | to host\n· Read" in shown


def test_the_last_messages_come_from_the_end(source: Path, run_recall: Run) -> None:
    assert (
        masked(run_recall("show", FIRST, "--tail", "2").stdout)
        == CONVERSATION[CONVERSATION.index("## user 2026-06-11 09:02") :]
    )
    assert run_recall("show", FIRST, "--tail", "1").stdout == "## assistant 2026-06-11 09:04\n\nDone: it works.\n"
    assert masked(run_recall("show", FIRST, "--tail", "99").stdout) == CONVERSATION


def test_the_messages_round_a_text_are_shown(home: Path, run_recall: Run) -> None:
    turns = [(f"question {n}", f"answer {n}", [("Bash", {"command": f"run {n}"}, f"printed {n}")]) for n in range(30)]
    claude_session(home, "crm", FIRST, turns)
    run_recall("sweep", "--quiet", check=True)
    lines = run_recall("show", FIRST, "--around", "QUESTION 15").stdout.splitlines()
    said = [line for line in lines if line.startswith(("question", "answer"))]
    assert said == [f"{kind} {n}" for n in range(12, 19) for kind in ("question", "answer")][1:-2]
    assert "printed 15" in run_recall("show", FIRST, "--around", "printed 15").stdout
    done = run_recall("show", FIRST, "--around", "nowhere")
    assert (done.returncode, done.stdout) == (1, "")


def test_json_has_all_of_it_as_values(source: Path, run_recall: Run) -> None:
    page = json.loads(run_recall("show", FIRST, "--json").stdout)
    assert {
        name: page[name] for name in ("schema", "id", "short_id", "client", "messages", "archived_only", "title")
    } == {
        "schema": 1,
        "id": FIRST,
        "short_id": "5a1c0b1e",
        "client": "claude",
        "messages": 9,
        "archived_only": False,
        "title": "Export repaired",
    }
    assert page["first_request"] == "Why does the export fail?\nIt did not yesterday."
    assert page["last_answer"] == "Done: it works."
    assert page["files"][0] == {"tool": "Edit", "path": "/home/dev/crm/src/a b.py"}
    assert page["resume"]["line"] == f"cd '/home/dev/crm' && claude --resume {FIRST}"
    assert [copy["generation"] for copy in page["generations"][0]["copies"]] == [0]
    talk = json.loads(run_recall("show", FIRST, "--json", "--transcript").stdout)
    assert talk["message_count"] == 9
    assert talk["messages"][0] == {
        "role": "user",
        "time": "2026-06-11T09:00:00Z",
        "text": "Why does the export fail?\nIt did not yesterday.",
        "tool": None,
    }
    assert [message["role"] for message in talk["messages"]].count("action") == 5
    assert KEY not in json.dumps(talk)
    assert "\x1b" not in talk["messages"][3]["text"]


def test_raw_gives_the_bytes_of_the_copy(source: Path, home: Path, run_recall: Run) -> None:
    raw = source.read_bytes()
    env = environment(home)
    done = subprocess.run(
        [sys.executable, "-m", "recall", "show", FIRST, "--raw"], env=env, cwd=home, capture_output=True, check=True
    )
    assert done.stdout == raw
    assert KEY.encode() in raw


def test_a_deleted_transcript_is_archived_only(source: Path, run_recall: Run) -> None:
    source.unlink()
    shown = run_recall("show", FIRST).stdout
    assert f"source    archived only; the client had it at {source}\n" in shown
    assert "          but claude has no transcript of it any more, and will not find it\n" in shown
    assert "Done: it works." in shown
    assert json.loads(run_recall("show", FIRST, "--json").stdout)["archived_only"] is True
    assert masked(run_recall("show", FIRST, "--transcript").stdout) == CONVERSATION


def test_older_generations_are_named(source: Path, home: Path, run_recall: Run) -> None:
    claude_session(home, "crm", FIRST, [("Something else", "Yes.")])
    run_recall("sweep", "--quiet", check=True)
    shown = run_recall("show", FIRST).stdout
    assert "older g1 " in shown
    assert f"{FIRST}.jsonl.g1  (" in shown
    assert "Something else" in shown


def test_what_was_said_after_the_last_sweep_is_shown(source: Path, home: Path, run_recall: Run) -> None:
    path = claude_session(home, "crm", FIRST, [*TURNS, ("And now?", "Now nothing.")])
    assert path == source
    wanted = "last answer\n  Now nothing.\n"
    assert wanted in again(lambda: run_recall("show", FIRST).stdout, lambda told: wanted in told)
    assert run_recall("show", FIRST, "--tail", "1").stdout.endswith("\n\nNow nothing.\n")


def test_an_older_member_of_a_chain_shows_the_newest(source: Path, home: Path, run_recall: Run) -> None:
    newer = "c0ffee00-93f0-4f5e-a7d4-9a4b6f6f2c02"
    later = claude_session(home, "crm", newer, [("And the tests?", "Green.")], start="2026-06-12T09:00:00+00:00")
    later.write_text(source.read_text() + later.read_text())
    run_recall("sweep", "--quiet", check=True)
    shown = run_recall("show", FIRST).stdout
    assert shown.startswith("c0ffee00 2026-06-12T09:00 crm ")
    assert "chain     newest of 2 transcripts, with all of 5a1c0b1e; 5a1c0b1e is an earlier one\n" in shown


def test_a_codex_session_is_shown_in_the_same_way(home: Path, run_recall: Run) -> None:
    patch = "*** Begin Patch\n*** Update File: src/x.py\n@@\n-a\n+b\n*** End Patch"
    turns = [
        ("Repair it", "Repaired.", [("exec_command", {"cmd": "ls"}, "x"), ("apply_patch", {"input": patch}, "ok")])
    ]
    codex_session(home, "api", OTHER, turns)
    run_recall("sweep", "--quiet", check=True)
    shown = run_recall("show", "last").stdout
    assert "files edited\n  apply_patch src/x.py\n" in shown
    assert f"resume    cd '/home/dev/api' && codex resume {OTHER}\n" in shown
    assert run_recall("show", OTHER, "-t").stdout == (
        "## user 2026-06-11 09:01\n\nRepair it\n\n## assistant 2026-06-11 09:01\n\n"
        "· exec_command ls\n· apply_patch src/x.py\n\nRepaired.\n"
    )


def test_there_is_no_handoff_yet(source: Path, run_recall: Run) -> None:
    done = run_recall("show", FIRST, "--handoff")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("recall: no handoff of session")


def test_a_terminal_gets_a_pager(source: Path, home: Path) -> None:
    here, there = pty.openpty()
    env = {**environment(home), "PAGER": "sed s/^/paged:/", "TERM": "xterm"}
    done = subprocess.Popen(
        [sys.executable, "-m", "recall", "show", FIRST, "-t"], env=env, cwd=home, stdin=there, stdout=there
    )
    os.close(there)
    shown = b""
    try:
        while some := os.read(here, 65536):
            shown += some
    except OSError:  # how the end of a terminal is told
        pass
    assert done.wait(60) == 0
    assert b"paged:" in shown
    assert b"Done: it works." in shown


def test_with_tools_an_edit_is_a_difference(home: Path, run_recall: Run) -> None:
    """What changed in the file, then what the tool printed; a call that failed says so."""
    edit = ("Edit", {"file_path": "/home/dev/crm/a.py", "old_string": "one\ntwo", "new_string": "one\nthree"}, "edited")
    claude_session(home, "crm", FIRST, [("Change it", "Changed.", [edit])])
    run_recall("sweep", "--quiet", "--no-llm")
    told = run_recall("show", FIRST, "--tools").stdout
    assert "· Edit /home/dev/crm/a.py\n    one\n  - two\n  + three\n  | edited\n\nChanged.\n" in told
    assert "[1] Change it" in run_recall("show", FIRST, "--tools", "--numbers").stdout
    assert "  + three\n" in run_recall("show", FIRST, "--tools", "--tail", "2").stdout
