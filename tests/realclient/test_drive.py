"""peek, send and wait with the real clients in a real tmux: the prompt arrives once, in that session, and nothing else does."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests.realclient.lab import Lab, Tui, wait_for
from tests.realclient.talk import CLIENTS, id_of

pytestmark = pytest.mark.client

TEXT = 'first line\n  second "line" with $(date) and \\n\n\nthird: ü 你好 🎉'


def recall(lab: Lab, *args: str, check: bool = True, **more: str) -> subprocess.CompletedProcess[str]:
    """recall as it runs in a window of this lab's tmux."""
    return lab.recall(*args, check=check, TMUX=f"{lab.root}/s,0,0", **more)


def opened(lab: Lab) -> dict[str, dict[str, Any]]:
    """What `ps` lists, by address (by id where a session has none)."""
    done = recall(lab, "ps", "--json", check=False)
    return {row["address"] or row["id"]: row for row in json.loads(done.stdout)["sessions"]}


def talking(lab: Lab, client: str, cwd: str = "crm") -> tuple[Tui, str]:
    """A session in a window after its first turn, and its address."""
    before = set(opened(lab))
    lab.answer("Ready.")
    tui = lab.tui(client, cwd=cwd)
    tui.turn("hello", "Ready.")
    (address,) = set(opened(lab)) - before
    return tui, address


def prompts(lab: Lab, since: int) -> list[str]:
    """The last thing that the user says in each request to a model since then; titles are not asked about."""
    found = []
    for body in lab.asked(since):
        said = [one for one in body.get("messages") or body.get("input") if one.get("role") == "user"]
        content = said[-1]["content"]
        found.append(content if isinstance(content, str) else content[-1]["text"])
    return found


def audit(lab: Lab) -> list[dict[str, Any]]:
    path = lab.home / ".claude/recall/iterm-audit.log"
    assert path.stat().st_mode & 0o777 == 0o600
    return [json.loads(line) for line in path.read_text().splitlines()]


def ask_first(lab: Lab) -> None:
    """Claude Code asks before it touches files by a command."""
    path = lab.home / ".claude/settings.json"
    settings = json.loads(path.read_text())
    settings["permissions"]["ask"] = ["Bash(touch:*)"]
    path.write_text(json.dumps(settings))


def test_three_lines_to_one_of_four_sessions(lab: Lab) -> None:
    """The model gets exactly one prompt, byte for byte, from that session; wait and peek show its end; the audit log has it."""
    places = [("claude", "crm"), ("codex", "crm"), ("claude", "shop"), ("codex", "shop")]
    windows = [talking(lab, client, cwd) for client, cwd in places]
    for number in (2, 1):
        client, _ = places[number]
        tui, address = windows[number]
        text = f"{TEXT}\nround {number}"
        since = len(lab.api.requests)
        lab.answer({"text": f"Answer number {number}.", "delay": 1.0})
        done = recall(lab, "send", address, text)
        assert done.stdout.startswith("arrived in ")
        assert recall(lab, "wait", address, "30").stdout == "idle\n"
        assert tui.idle()
        assert prompts(lab, since) == [text]
        row = opened(lab)[address]
        written = [path for path in lab.transcripts(client) if f"round {number}" in path.read_text()]
        assert [id_of(path) for path in written] == [row["id"]]
        assert f"Answer number {number}." in recall(lab, "peek", address, "20").stdout
        assert not any(f"round {number}" in other.screen() for other, _ in windows if other is not tui)
        last = audit(lab)[-1]
        assert (last["session"], last["bytes"], last["result"]) == (row["id"], len(text.encode()), "arrived")
    assert len(audit(lab)) == 2


def test_an_open_question_of_claude_code(lab: Lab) -> None:
    """Nothing is typed into a session that waits for a permission: status 3, no request, the question still open."""
    ask_first(lab)
    tui, address = talking(lab, "claude")
    lab.answer(
        {"text": "I run it", "tools": [{"name": "Bash", "input": {"command": "touch made", "description": "t"}}]}
    )
    recall(lab, "send", address, "run it")
    assert recall(lab, "wait", address, "30", "--for", "permission").stdout == "waiting\n"
    since = len(lab.api.requests)
    done = recall(lab, "send", address, "go on", check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "hint:" in done.stderr
    refused = recall(lab, "send", address, "go on", "--json", check=False)
    assert (refused.returncode, json.loads(refused.stdout)["error"]["kind"]) == (3, "refused")
    assert recall(lab, "wait", address, "0.5", check=False).returncode == 4
    assert (len(lab.api.requests), tui.entry()["status"]) == (since, "waiting")
    assert not (lab.home / "crm/made").exists()
    assert [line["result"].split(":")[0] for line in audit(lab)] == ["arrived", "refused", "refused"]
    lab.answer("It is made.")
    recall(lab, "send", address, "go on", "--force", check=False)
    wait_for((lab.home / "crm/made").exists, "what a forced Enter allows")


def test_an_open_question_of_codex(lab: Lab) -> None:
    """The same where only the screen tells of the question."""
    config = lab.home / ".codex/config.toml"
    text = config.read_text().replace('approval_policy = "never"', 'approval_policy = "on-request"')
    config.write_text(text.replace("danger-full-access", "workspace-write"))
    tui, address = talking(lab, "codex")
    run = {"cmd": "touch made", "sandbox_permissions": "require_escalated", "justification": "may I?"}
    lab.answer({"text": "I run it", "tools": [{"name": "exec_command", "input": run}]})
    recall(lab, "send", address, "run it")
    assert recall(lab, "wait", address, "30", "--for", "permission").stdout == "waiting\n"
    tui.wait("Would you like")
    since = len(lab.api.requests)
    assert recall(lab, "send", address, "go on", check=False).returncode == 3
    assert len(lab.api.requests) == since
    assert "Would you like" in tui.screen()
    assert not (lab.home / "crm/made").exists()


@CLIENTS
def test_a_session_at_work(lab: Lab, client: str) -> None:
    """A text is queued, which is said; wait returns when both turns are over."""
    _, address = talking(lab, client)
    lab.answer({"text": "The first is done.", "delay": 6.0}, {"text": "The second is done.", "delay": 1.0})
    since = len(lab.api.requests)
    recall(lab, "send", address, "work for long")
    done = json.loads(recall(lab, "send", address, "and\nthen this", "--json").stdout)
    assert done["result"] == "queued"
    assert recall(lab, "wait", address, "60", "--for", "text=second is done").returncode == 0
    assert recall(lab, "wait", address, "30").stdout == "idle\n"
    assert prompts(lab, since) == ["work for long", "and\nthen this"]
    assert len(audit(lab)) == 2


@CLIENTS
def test_slash_commands_and_long_texts(lab: Lab, client: str) -> None:
    """/compact is run, not said; 12 kB arrive whole."""
    _, address = talking(lab, client)
    long = "\n".join(f"line {number} of a long text" for number in range(450))
    assert len(long) > 9000
    since = len(lab.api.requests)
    recall(lab, "send", address, long)
    recall(lab, "wait", address, "30")
    (got,) = prompts(lab, since)
    assert got == (long if client == "codex" else got)
    assert long in got
    recall(lab, "send", address, "/compact")
    recall(lab, "wait", address, "60", "--for", "text=compacted")
    recall(lab, "wait", address, "30")
    assert not any(said.strip() == "/compact" for said in prompts(lab, since))


@CLIENTS
def test_a_draft_and_another_view(lab: Lab, client: str) -> None:
    """What a person is typing is not sent, and nothing is typed where no input line is."""
    tui, address = talking(lab, client)
    since = len(lab.api.requests)
    tui.type("my own draft")
    assert recall(lab, "send", address, "hello again", check=False).returncode == 3
    tui.keys("C-c")  # clears it
    wait_for(lambda: "my own draft" not in tui.screen(), "an empty input line")
    if client == "claude":
        tui.keys("C-o")
        tui.wait("detailed transcript")
    else:
        tui.type("/model")
        tui.keys("Enter")
        tui.wait("esc back")
    assert recall(lab, "send", address, "hello again", check=False).returncode == 3
    assert len(lab.api.requests) == since


@CLIENTS
def test_a_client_that_ends(lab: Lab, client: str) -> None:
    """Killed, its window is no place to type into, and nobody waits for it."""
    tui, address = talking(lab, client)
    row = opened(lab)[address]
    tui.kill()
    for args in (("send", address, "hello"), ("peek", row["id"]), ("wait", address)):
        assert recall(lab, *args, check=False, timeout=5).returncode == 1
    talking(lab, client)
    again, other = talking(lab, client)
    recall(lab, "send", other, "/exit" if client == "claude" else "/quit")
    again.gone()


def test_two_windows_of_one_session(lab: Lab) -> None:
    """An id that two clients have open is no address: both are told, and either can be named by its terminal."""
    tui, address = talking(lab, "claude")
    session = tui.session()
    second = lab.tui("claude", "--resume", session)
    wait_for(lambda: second.entry().get("sessionId") == session, "the second client")
    done = recall(lab, "send", session, "hello", check=False)
    assert done.returncode == 2
    assert address in done.stderr


def test_a_session_in_the_background(lab: Lab) -> None:
    """`claude --bg`: send says how to attach, peek shows its transcript."""
    lab.answer("Done in the background.")
    lab.run([lab.program("claude"), "--bg", "do it there"])
    (row,) = wait_for(lambda: list(opened(lab).values()), "the session")
    assert recall(lab, "wait", row["id"], "30", "--for", "text=in the background").returncode == 0
    done = recall(lab, "send", row["id"], "hello", check=False)
    assert done.returncode == 4
    assert f"claude attach {row['id'][:8]}" in done.stderr
    assert "assistant: Done in the background." in recall(lab, "peek", row["id"], "5").stdout


def test_a_session_of_codex_background_server(lab: Lab) -> None:
    """It gets the text through `codex queue`, with its window and without."""
    lab.set_up_codex(server=True)
    try:
        tui, address = talking(lab, "codex")
        row = opened(lab)[address]
        assert (row["background"], row["terminal"]) == (True, None)
        since = len(lab.api.requests)
        lab.answer({"text": "Answer one.", "delay": 3.0}, "Answer two.", "Answer three.")
        assert json.loads(recall(lab, "send", address, TEXT, "--json").stdout)["result"] == "arrived"
        assert json.loads(recall(lab, "send", address, "--json", "--", "-and more").stdout)["result"] == "queued"
        recall(lab, "wait", address, "60", "--for", "text=Answer two.")
        assert recall(lab, "wait", address, "30").stdout == "idle\n"
        tui.close_window()
        recall(lab, "send", address, "are you there?")
        recall(lab, "wait", address, "60", "--for", "text=Answer three.")
        assert prompts(lab, since) == [TEXT, "-and more", "are you there?"]
    finally:
        lab.end_codex_server()
