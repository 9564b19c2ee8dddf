"""What the real clients write is kept, found and resumed, with no hook installed."""

from __future__ import annotations

import json
import os
import shlex
import signal
import time
from pathlib import Path

import pytest

from tests.realclient.lab import Lab, wait_for
from tests.realclient.talk import ANSWERS, CARD, CLIENTS, TURNS, compact, id_of, summary_rules, three_turns

pytestmark = pytest.mark.client


@CLIENTS
def test_a_session_is_found_shown_and_kept(lab: Lab, client: str) -> None:
    """By words of each turn in any form; its copy is the transcript, byte for byte; nothing in it is unknown."""
    tui, path = three_turns(lab, client)
    tui.quit()
    report = json.loads(lab.recall("sweep", "--no-llm", "--json").stdout)
    assert (report["problems"], report["failing"]) == ([], 0)
    for words in (["exported", "funnel"], ["иванова", "сделки"], ["portal"], ["export.py"]):
        (row,) = lab.find(*words, "--no-refresh")
        assert (row["id"], row["client"], row["project"]) == (id_of(path), client, "crm"), words
        assert (row["cwd"], row["status"], row["hidden"]) == (str(lab.home / "crm"), "new", False)
    assert row["task"] == TURNS[0][0]
    assert lab.copy_of(path).read_bytes() == path.read_bytes()
    shown = lab.recall("show", row["short_id"], "--transcript").stdout
    places = [shown.index(text) for turn in TURNS for text in turn]
    assert places == sorted(places)
    (hit,) = lab.recall("grep", "12 open deals").stdout.splitlines()
    assert hit.startswith(row["short_id"])
    assert lab.recall("verify", check=False).returncode == 0


@CLIENTS
@pytest.mark.parametrize("where", ["crm", "shop"])
def test_the_line_of_cmd_resumes_the_session(lab: Lab, client: str, where: str) -> None:
    """Pasted into a shell in any folder: the model is sent the history, the same file grows, in the session's folder."""
    tui, path = three_turns(lab, client)
    tui.quit()
    lab.rows()
    line = lab.recall("cmd", id_of(path)).stdout.strip()
    before, files = len(lab.api.requests), lab.transcripts(client)
    size = path.stat().st_size
    lab.answer("It was March.")
    again = lab.window(client, ["sh", "-c", line], cwd=where)
    again.turn("which month was that", "It was March.")
    again.quit()
    sent = json.dumps(lab.asked(before)[-1], ensure_ascii=False)
    for text in (*(part for turn in TURNS for part in turn), "which month was that"):
        assert text in sent
    assert str(lab.home / "crm") in sent
    assert lab.transcripts(client) == files
    assert path.stat().st_size > size
    (row,) = lab.rows("month", "funnel")
    assert (row["id"], row["chain"], row["messages"]) == (id_of(path), 1, 8)


@CLIENTS
def test_open_sessions_are_marked(lab: Lab, client: str) -> None:
    """LIVE while the window is open, of both sessions of two windows; not after the end, however it came."""
    first, path = three_turns(lab, client)
    second, other = three_turns(lab, client, cwd="shop")
    assert {row["id"]: row["live"] for row in lab.rows()} == {id_of(path): True, id_of(other): True}
    assert "open now" in lab.recall("cmd", id_of(path)).stderr
    first.kill(signal.SIGKILL)
    assert {row["id"]: row["live"] for row in lab.rows()} == {id_of(path): False, id_of(other): True}
    second.quit()
    assert not lab.rows("--live")


@CLIENTS
def test_a_killed_client_loses_nothing(lab: Lab, client: str) -> None:
    """kill -9 in the middle of a turn: what it had written is found, and the session can be resumed."""
    lab.answer(ANSWERS[0], {"text": "This never comes", "delay": 600})
    tui = lab.tui(client)
    tui.turn(*TURNS[0])
    tui.submit("and now the invoices of Petrov")
    (path,) = lab.transcripts(client)
    wait_for(lambda: _recorded(path, "invoices of Petrov"), "the record of the request")
    tui.kill(signal.SIGKILL)
    (row,) = lab.rows("invoice", "petrov")
    assert (row["id"], row["messages"]) == (id_of(path), 3)
    assert lab.copy_of(path).read_bytes() == path.read_bytes()
    lab.answer("Here they are.")
    again = lab.window(client, ["sh", "-c", lab.recall("cmd", row["id"]).stdout.strip()])
    again.turn("go on please", "Here they are.")
    sent = json.dumps(lab.asked()[-1])
    assert ANSWERS[0] in sent
    assert "invoices of Petrov" in sent


@pytest.mark.parametrize("pause", [0.0, 0.05, 0.1])
def test_words_that_reached_the_disk_are_found_once(lab: Lab, pause: float) -> None:
    """kill -9 as soon as the transcript holds the request, be it only in the note that Claude Code writes before.

    The line is sent when the turn before has just ended, which is when that note is written.
    """
    lab.answer({"text": ANSWERS[0], "delay": 1}, {"text": "This never comes", "delay": 600})
    tui = lab.tui("claude")
    tui.submit(TURNS[0][0])
    tui.type("and now the invoices of Petrov")
    wait_for(tui.idle, "the end of the first turn", every=0.002)
    time.sleep(pause)
    tui.keys("Enter")
    (path,) = lab.transcripts()
    wait_for(lambda: b"invoices of Petrov" in path.read_bytes(), "the request in the transcript", every=0.002)
    tui.kill(signal.SIGKILL)
    (row,) = lab.rows("invoice", "petrov")
    assert row["id"] == id_of(path)
    shown = lab.recall("show", row["id"], "--transcript").stdout
    assert shown.count("and now the invoices of Petrov") == 1
    again = lab.tui("claude", "--resume", id_of(path))
    lab.answer("Here they are.")
    again.turn("go on please", "Here they are.")
    (row,) = lab.rows("invoice", "petrov", "please")
    shown = lab.recall("show", row["id"], "--transcript").stdout
    assert shown.count("and now the invoices of Petrov") == 1


def _recorded(path: Path, words: str) -> bool:
    """Does a record of the user's in the transcript, whole, hold these words?"""
    for line in path.read_text().splitlines(keepends=True):
        if words in line and line.endswith("\n"):
            item = json.loads(line)
            if item["type"] in ("user", "response_item"):
                return True
    return False


def test_headless_runs_are_hidden(lab: Lab) -> None:
    """`claude -p` and `codex exec`: kept and indexed, shown with --all only."""
    lab.answer("Eleven kiwis.", "Eleven kiwis.")
    lab.run(["claude", "-p", "how many kiwis are there"])
    lab.run(["codex", "exec", "--skip-git-repo-check", "how many kiwis are there"])
    assert lab.rows("kiwis") == []
    rows = lab.rows("kiwis", "--all")
    assert sorted((row["client"], row["hidden"]) for row in rows) == [("claude", True), ("codex", True)]


def test_names_that_were_given(lab: Lab) -> None:
    """/rename in both clients: the name is shown and found, and is the session's name after the next turn too."""
    for client in ("claude", "codex"):
        tui, path = three_turns(lab, client)
        tui.submit(f"/rename quarterly zebra {client}")
        lab.answer("Fine.")
        tui.turn("thanks", "Fine.")
        tui.quit()
        rows = [row for row in lab.rows("zebra") if row["id"] == id_of(path)]
        assert [row["title"] for row in rows] == [f"quarterly zebra {client}"]


def test_clear_begins_a_session_without_the_title(lab: Lab) -> None:
    """/clear: a second row with its own id and words; the name that the client carries over is not its name."""
    tui, path = three_turns(lab, "claude")
    tui.submit("/rename quarterly zebra")
    old = tui.session()
    tui.submit("/clear")
    new = wait_for(lambda: tui.session() != old and tui.session(), "another id")
    lab.answer("The logo is blue.")
    tui.turn("paint the logo blue", "The logo is blue.")
    tui.quit()
    assert id_of(path) == old
    (row,) = lab.rows("logo")
    assert (row["id"], row["title"], row["chain"]) == (new, "", 1)
    (row,) = lab.rows("funnel")
    assert (row["id"], row["title"]) == (old, "quarterly zebra")
    (row,) = lab.rows("zebra")
    assert row["id"] == old


@pytest.mark.parametrize("way", ["--fork-session", "/branch"])
def test_forks_are_rows_of_their_own(lab: Lab, way: str) -> None:
    """Both lines go on: two rows, one of them marked and with the first request of its own tail.

    Of `--fork-session` no mark is left by the client, so the row that went on later counts as the fork.
    """
    tui, path = three_turns(lab, "claude")
    old = id_of(path)
    if way == "/branch":
        tui.submit("/branch other-way")
        new = wait_for(lambda: tui.session() != old and tui.session(), "another id")
    else:
        tui.quit()
        tui = lab.tui("claude", "--resume", old, "--fork-session")
        new = tui.session()
    lab.answer("The mail is drafted.")
    tui.turn("draft a mail to Petrov", "The mail is drafted.")
    tui.quit()
    lab.answer("The call is planned.")
    back = lab.tui("claude", "--resume", old)
    back.turn("plan a call with Sidorov", "The call is planned.")
    back.quit()
    (forked,), (kept,) = lab.rows("petrov"), lab.rows("sidorov")
    assert (forked["id"], kept["id"], len(lab.rows())) == (new, old, 2)
    assert old != new
    if way == "/branch":
        assert (forked["fork_of"], forked["task"]) == (old, "draft a mail to Petrov")
        assert (kept["fork_of"], kept["task"]) == (None, TURNS[0][0])
    else:
        assert {forked["fork_of"], kept["fork_of"]} in ({None, old}, {None, new})


def test_a_codex_fork_is_a_row_of_its_own(lab: Lab) -> None:
    """Its file holds no history; the row has its own first request, and the line of cmd brings all of the history."""
    tui, path = three_turns(lab, "codex")
    tui.quit()
    lab.answer("The mail is drafted.")
    fork = lab.tui("codex", "fork", id_of(path))
    fork.turn("draft a mail to Petrov", "The mail is drafted.")
    fork.quit()
    (row,) = lab.rows("petrov")
    assert (row["fork_of"], row["task"]) == (id_of(path), "draft a mail to Petrov")
    assert len(lab.rows()) == 2
    before = len(lab.api.requests)
    lab.answer("Sent.")
    again = lab.window("codex", ["sh", "-c", lab.recall("cmd", row["id"]).stdout.strip()])
    again.turn("send it", "Sent.")
    again.quit()
    sent = json.dumps(lab.asked(before)[-1], ensure_ascii=False)
    assert TURNS[1][0] in sent
    assert "draft a mail to Petrov" in sent


def test_resume_inside_of_a_window_mixes_nothing(lab: Lab) -> None:
    """/resume: the window changes to the other session; each row keeps its own words."""
    tui, path = three_turns(lab, "claude")
    tui.quit()
    lab.answer("The logo is blue.", "It was March.")
    tui = lab.tui("claude")
    tui.turn("paint the logo blue", "The logo is blue.")
    second = tui.session()
    tui.submit(f"/resume {id_of(path)}")
    wait_for(lambda: tui.session() == id_of(path), "the first session in the window")
    assert [row["id"] for row in lab.rows("--live")] == [id_of(path)]
    tui.turn("which month was that", "It was March.")
    tui.quit()
    assert [row["id"] for row in lab.rows("month")] == [id_of(path)]
    assert [row["id"] for row in lab.rows("logo")] == [second]


@CLIENTS
def test_a_compacted_session_stays_one(lab: Lab, client: str) -> None:
    """/compact: words from before and after are found in one row; the client's own summary is nobody's words."""
    tui, path = three_turns(lab, client)
    lab.answer("It was March.", rules=summary_rules("<summary>The walrus exported the funnel.</summary>"))
    compact(tui)
    tui.turn("which month was that", "It was March.")
    tui.quit()
    (row,) = lab.rows("month", "funnel")
    assert (row["id"], row["chain"], row["messages"]) == (id_of(path), 1, 8)
    hits = lab.recall("grep", "walrus", "--role", "user", check=False)
    assert hits.stdout == ""
    assert lab.copy_of(path).read_bytes() == path.read_bytes()


def test_tools_and_files_are_found(lab: Lab) -> None:
    """A command that really ran: its words, its file and its output are found, apart from what was spoken."""
    command = "printf 'total 4711\\n' > sums.txt && cat sums.txt"
    lab.answer(
        {"text": "I count.", "tools": [{"name": "Bash", "input": {"command": command}}]}, "The sum stands there."
    )
    tui = lab.tui("claude")
    tui.turn("add up the invoices", "The sum stands there.")
    tui.quit()
    assert (lab.home / "crm/sums.txt").read_text() == "total 4711\n"
    (row,) = lab.rows("sums.txt", "--why")
    assert row["task"] == "add up the invoices"
    (hit,) = [line for line in lab.recall("grep", "4711").stdout.splitlines() if " tool " in line or "output" in line][
        -1:
    ]
    assert hit.startswith(row["short_id"])


def test_a_card_by_the_users_own_claude(lab: Lab) -> None:
    """`recap` of both clients' sessions: a grounded card, one request, and no new transcript anywhere."""
    for client in ("claude", "codex"):
        tui, path = three_turns(lab, client)
        tui.quit()
        before = len(lab.api.requests)
        there = [*lab.transcripts("claude"), *lab.transcripts("codex")]
        lab.answer(default={"structured": {**CARD, "entities": ["Ivanova", "Rumpelstiltskin"]}})
        lab.rows()
        lab.recall("recap", id_of(path), RECALL_LLM="claude")
        written = lab.card(id_of(path))
        assert "written_by: claude-haiku-5-5" in written
        assert "Ivanova" in written
        assert "Rumpelstiltskin" not in written
        assert len(lab.asked(before, kind="")) == 1
        assert [*lab.transcripts("claude"), *lab.transcripts("codex")] == there
        (row,) = lab.rows("Ivanova", "--client", client)
        assert (row["status"], row["task"]) == ("done", CARD["task"])
    assert not [name for name in os.listdir(lab.home / ".claude/projects") if "recall" in name]
    assert shlex.split(lab.recall("cmd", row["id"]).stdout)[:1] == ["cd"]
