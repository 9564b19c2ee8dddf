"""`recall grep` shows single messages, straight from archive and live transcripts."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.again import again
from tests.builders import claude_session, codex_session
from tests.conftest import Run

FIRST = "5a1c0b1e-93f0-4f5e-a7d4-9a4b6f6f2c01"
SECOND = "77e0d4aa-1c55-4bd0-8a57-1f0f6f0e2b02"
OTHER = "019e10aa-1111-7aaa-8bbb-0123456789ab"
KEY = "sk-ant-api03-" + "Zr7Qw2Lm9Xc4Vb6N" * 5


@pytest.fixture
def kept(home: Path, run_recall: Run) -> None:
    """Two sessions of Claude Code and a newer one of Codex, all swept."""
    claude_session(
        home,
        "crm",
        FIRST,
        [
            (
                "Why does the export fail?",
                "The port is closed: Connection Refused.",
                [("Bash", {"command": "make"}, "ok")],
            ),
            ("Для Ивановой тоже", "Straße und Übergabe sind da."),
        ],
    )
    claude_session(home, "site", SECOND, [("Build it", "Built.")], entrypoint="sdk-cli", start="2026-06-12T09:00:00Z")
    turns = [('Say "a/b"\tplease', "a/b", [("exec_command", {"cmd": "cat x"}, "12\nconnection refused\n13")])]
    codex_session(home, "api", OTHER, turns, start="2026-06-13T09:00:00+00:00")
    run_recall("sweep", "--quiet", check=True)


def test_a_hit_is_a_line_newest_session_first(kept: None, run_recall: Run) -> None:
    done = run_recall("grep", "connection REFUSED")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "019e10aa-1111 2026-06-13 api output 12 connection refused 13\n"
        "5a1c0b1e 2026-06-11 crm assistant The port is closed: Connection Refused.\n"
    )


@pytest.mark.parametrize(
    ("args", "roles"),
    [
        (("ИВАНОВОЙ",), ["user"]),
        (("strasse",), ["assistant"]),
        (("übergabe", "nowhere"), ["assistant"]),
        (('"a/b"',), ["user"]),
        (("a/b",), ["user", "assistant"]),
        (('b"\tplease',), ["user"]),
        (("refused\n13",), ["output"]),
        (("Bash make",), ["action"]),
        (("-e", "^1[23]$"), ["output"]),
        (("-e", "fail[?]", "-e", "port is"), ["user", "assistant"]),
        (("refused", "--role", "output"), ["output"]),
        (("refused", "--role", "output", "--role", "assistant"), ["output", "assistant"]),
        (("refused", "--project", "crm"), ["assistant"]),
        (("refused", "--client", "codex"), ["output"]),
        (("refused", "--since", "2026-06-12"), ["output"]),
        (("refused", "--before", "2026-06-12"), ["assistant"]),
        (("refused", "--live"), []),
        (("project:crm refused",), []),
        (("built",), []),
        (("built", "--all"), ["assistant"]),
    ],
)
def test_what_is_typed_finds_messages_of_these_roles(
    args: tuple[str, ...], roles: list[str], kept: None, run_recall: Run
) -> None:
    done = run_recall("grep", *args)
    assert [line.split()[3] for line in done.stdout.splitlines()] == roles, done
    assert done.returncode == (0 if roles else 1)


def test_nothing_found_says_what_was_searched(kept: None, run_recall: Run) -> None:
    done = run_recall("grep", "nowhere")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("recall: nothing found; searched 2 sessions, newest ")


def test_a_wrong_expression_is_wrong_usage(kept: None, run_recall: Run) -> None:
    done = run_recall("grep", "-e", "a(b")
    assert done.returncode == 2
    assert done.stderr.startswith(
        "recall: 'a(b' is no regular expression: missing ), unterminated subpattern at position 1"
    )
    assert run_recall("grep").returncode == 2


def test_sessions_only_are_index_lines(kept: None, run_recall: Run) -> None:
    done = run_recall("grep", "-l", "refused", "export")
    assert done.stdout.splitlines() == [
        '019e10aa-1111 2026-06-13T09:02 api [new] Say "a/b" please #codex',
        "5a1c0b1e 2026-06-11T09:01 crm [new] Why does the export fail?",
    ]


def test_context_shows_neighbours_indented_and_a_rule_between_hits(kept: None, run_recall: Run) -> None:
    done = run_recall("grep", "-C", "1", "refused")
    assert done.stdout.splitlines() == [
        "  action exec_command cat x",
        "019e10aa-1111 2026-06-13 api output 12 connection refused 13",
        "  assistant a/b",
        "--",
        "  output ok",
        "5a1c0b1e 2026-06-11 crm assistant The port is closed: Connection Refused.",
        "  user Для Ивановой тоже",
    ]


def test_what_exceeds_the_limit_is_counted(kept: None, run_recall: Run) -> None:
    done = run_recall("grep", "-n", "1", "refused", "export")
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == "recall: 2 more; -n 3 shows them\n"


def test_json_says_where_each_hit_is(kept: None, home: Path, run_recall: Run) -> None:
    document = json.loads(run_recall("grep", "export", "--json").stdout)
    (hit,) = document["hits"]
    offset = hit.pop("offset")
    source = next((home / ".claude" / "projects").rglob(f"{FIRST}.jsonl"))
    assert "Why does the export" in source.read_bytes()[offset:].split(b"\n")[0].decode()
    assert hit == {
        "id": FIRST,
        "short_id": "5a1c0b1e",
        "client": "claude",
        "project": "crm",
        "time": "2026-06-11T09:00:00Z",
        "role": "user",
        "tool": None,
        "snippet": "Why does the export fail?",
    }
    assert json.loads(run_recall("grep", "nowhere", "--json").stdout) == {"schema": 1, "hits": []}


def test_a_word_in_a_long_output_and_in_a_long_line_is_found(home: Path, run_recall: Run) -> None:
    noise = "lorem ipsum " * 45_000
    long = "x" * 6_000_000
    tools = [("Bash", {"command": "a"}, f"{noise} needle-in-output {noise}")]
    claude_session(
        home, "crm", FIRST, [("go", "done", tools), ("big", f"{long} needle-in-line {long}"), ("end", "last needle")]
    )
    run_recall("sweep", "--quiet", check=True)
    done = run_recall("grep", "NEEDLE")
    assert [line.split()[3] for line in done.stdout.splitlines()] == ["output", "assistant", "assistant"]
    assert all(len(line) < 250 for line in done.stdout.splitlines())


def test_the_middle_of_a_written_file_and_of_an_output_kept_apart_is_found(home: Path, run_recall: Run) -> None:
    body = "filler line\n" * 2000
    tools = [("Write", {"file_path": "/a.py", "content": f"{body}def needle_written(): ...\n{body}"}, "ok")]
    main = claude_session(home, "crm", FIRST, [("go", "done", tools)])
    apart = main.parent / FIRST / "tool-results" / "b1.txt"
    apart.parent.mkdir(parents=True)
    apart.write_text(f"{body}needle_printed {KEY}\n{body}")
    os.utime(apart, (1781168400, 1781168400))
    run_recall("sweep", "--quiet", check=True)
    line = "5a1c0b1e 2026-06-11 crm"
    assert run_recall("grep", "needle_written").stdout.startswith(
        f"{line} thinking …filler line filler line filler line def "
    )
    done = run_recall("grep", "needle_printed", "-C", "1").stdout
    assert done.startswith(f"{line} output …filler line filler line filler line needle_printed [redacted:")


def test_what_was_written_after_the_last_sweep_is_found(home: Path, run_recall: Run) -> None:
    path = claude_session(home, "crm", FIRST, [("one", "two")])
    run_recall("sweep", "--quiet", check=True)
    claude_session(home, "crm", FIRST, [("one", "two"), ("three", "freshly said")])
    claude_session(home, "crm", SECOND, [("four", "freshly begun")], start="2026-06-12T09:00:00Z")
    assert path.exists()
    done = run_recall("grep", "freshly", "--no-refresh")
    assert done.stdout == "5a1c0b1e 2026-06-11 crm assistant freshly said\n"
    wanted = [
        "77e0d4aa 2026-06-12 crm assistant freshly begun",
        "5a1c0b1e 2026-06-11 crm assistant freshly said",
    ]
    assert again(lambda: run_recall("grep", "freshly").stdout.splitlines(), lambda told: told == wanted) == wanted


def test_a_deleted_and_a_rewritten_transcript_are_still_searched_and_each_message_once(
    home: Path, run_recall: Run
) -> None:
    path = claude_session(home, "crm", FIRST, [("begin here", "yes"), ("begin again", "yes")])
    run_recall("sweep", "--quiet", check=True)
    claude_session(home, "crm", FIRST, [("begin here", "no")])
    run_recall("sweep", "--quiet", check=True)
    path.unlink()
    done = run_recall("grep", "begin")
    assert done.stdout.splitlines() == [
        "5a1c0b1e 2026-06-11 crm user begin here",
        "5a1c0b1e 2026-06-11 crm user begin again",
    ]


def test_a_secret_is_neither_shown_nor_found(home: Path, run_recall: Run) -> None:
    claude_session(home, "crm", FIRST, [(f"my key is {KEY} ok", f"\x1b[31m{KEY[:20]}\x1b[0m{KEY[20:]} seen")])
    run_recall("sweep", "--quiet", check=True)
    done = run_recall("grep", "my key", "seen")
    assert re.sub(r"redacted:[\w-]+", "redacted:x", done.stdout).splitlines() == [
        "5a1c0b1e 2026-06-11 crm user my key is [redacted:x] ok",
        "5a1c0b1e 2026-06-11 crm assistant [redacted:x] seen",
    ]
    assert run_recall("grep", KEY[10:40]).returncode == 1
    assert run_recall("grep", "[redacted:", "--role", "user").stdout.count("\n") == 1


def test_subagents_count_for_their_parent_and_removed_sessions_are_left_out(home: Path, run_recall: Run) -> None:
    main = claude_session(home, "crm", FIRST, [("ask an agent", "asked")])
    agent = claude_session(home, "crm", "agent-1", [("look for mice", "mice found")], sidechain=True)
    text = agent.read_text().replace('"sessionId": "agent-1"', f'"sessionId": "{FIRST}"')
    agent.unlink()
    place = main.parent / FIRST / "subagents" / "agent-1.jsonl"
    place.parent.mkdir(parents=True)
    place.write_text(text)
    run_recall("sweep", "--quiet", check=True)
    assert run_recall("grep", "mice").stdout.splitlines() == [
        "5a1c0b1e 2026-06-11 crm aside look for mice",
        "5a1c0b1e 2026-06-11 crm aside mice found",
    ]
    data = home / ".claude" / "session-recaps"
    data.mkdir(exist_ok=True)
    (data / ".removed").write_text(f"{FIRST}\n")
    assert run_recall("grep", "mice").returncode == 1


def test_the_session_that_asks_is_left_out(kept: None, run_recall: Run) -> None:
    assert run_recall("grep", "fail?", CLAUDE_CODE_SESSION_ID=FIRST).returncode == 1


def test_odd_bytes_stop_nothing(home: Path, run_recall: Run) -> None:
    path = claude_session(home, "crm", FIRST, [("one mouse", "two"), ("three mouse", "four")])
    lines = path.read_bytes().split(b"\n")
    lines[2:2] = [b"null", b"\xff\xfe mouse \x00", b'{"type":"user" mouse', b"[" * 5000, b'{"mouse":"\\ud800"}\r']
    path.write_bytes(b"\xef\xbb\xbf" + b"\n".join(lines)[:-3])
    run_recall("sweep", "--quiet", check=True)
    done = run_recall("grep", "mouse")
    assert [line.split()[4] for line in done.stdout.splitlines()] == ["one", "three"]
    assert done.stderr == ""


def test_a_transcript_escaped_to_ascii_hides_nothing(home: Path, run_recall: Run) -> None:
    path = claude_session(home, "crm", FIRST, [("письмо Ивановой", "<b>bold</b>")])
    records = [json.loads(line) for line in path.read_text().splitlines()]
    text = "".join(json.dumps(record).replace("<", "\\u003c") + "\n" for record in records)
    path.write_text(text)
    os.utime(path, (0, 0))
    run_recall("sweep", "--quiet", check=True)
    assert run_recall("grep", "ИВАН").stdout == "5a1c0b1e 2026-06-11 crm user письмо Ивановой\n"
    assert run_recall("grep", "<B>Bo").stdout == "5a1c0b1e 2026-06-11 crm assistant <b>bold</b>\n"


def test_the_same_words_said_twice_are_two_hits(home: Path, run_recall: Run) -> None:
    path = claude_session(home, "crm", FIRST, [("once more", "ok"), ("once more", "ok")])
    path.write_text(re.sub(r'"timestamp": "[^"]*"', '"timestamp": "2026-06-11T09:00:00Z"', path.read_text()))
    run_recall("sweep", "--quiet", check=True)
    assert run_recall("grep", "once more").stdout == "5a1c0b1e 2026-06-11 crm user once more\n" * 2
