"""What the real clients tell of open sessions: ids, terminals, states; and what is left of them when they are killed."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import pytest

from recall.core.address import address_of
from tests.realclient.lab import Lab, Tui, wait_for
from tests.realclient.talk import id_of
from tests.realclient.test_hooks import trusting

PERMISSION = {
    "claude": {"tools": [{"name": "Bash", "input": {"command": "rm -f x.txt", "description": "clean up"}}]},
    "codex": {
        "tools": [
            {
                "name": "exec_command",
                "input": {"cmd": "touch x.txt", "sandbox_permissions": "require_escalated", "justification": "needed"},
            }
        ]
    },
}
"""What the model asks for, and a person is asked about."""


def careful(lab: Lab) -> None:
    """Both clients ask before they run a command."""
    path = lab.home / ".claude/settings.json"
    found = json.loads(path.read_text())
    found["permissions"] = {"defaultMode": "default", "ask": ["Bash"]}
    path.write_text(json.dumps(found))
    config = lab.home / ".codex/config.toml"
    text = config.read_text().replace('approval_policy = "never"', 'approval_policy = "on-request"')
    config.write_text(text.replace('sandbox_mode = "danger-full-access"', 'sandbox_mode = "read-only"'))


def ps(lab: Lab) -> dict[str, dict[str, Any]]:
    """`recall ps --json`, by session. The lab's tmux has a socket of its own, which is named as in a window of it."""
    done = lab.recall("ps", "--json", check=False, TMUX=f"{lab.root}/s,1,0")
    assert done.returncode in (0, 1), done.stderr
    return {row["id"]: row for row in json.loads(done.stdout)["sessions"]}


def place(tui: Tui) -> tuple[str, str]:
    """tty and pane of a window, as tmux tells."""
    told = tui.lab.tmux("display-message", "-p", "-t", tui.name, "#{pane_tty} #{pane_id}").split()
    return told[0].removeprefix("/dev/"), told[1]


def become(lab: Lab, session: str, state: str) -> dict[str, Any]:
    """The session's row, as soon as it has this state."""
    found: dict[str, Any] = {}

    def look() -> bool:
        found.clear()
        found.update(ps(lab).get(session, {}))
        return found.get("state") == state

    wait_for(look, f"{state}: {found}", every=0.2)
    return found


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_a_session_is_listed_with_id_terminal_and_state(lab: Lab, client: str) -> None:
    """Idle after a turn; busy in one; waiting while a person is asked; idle again."""
    careful(lab)
    lab.answer("First answer.", {"text": "Second answer.", "delay": 4}, PERMISSION[client], "Third answer.")
    tui = lab.tui(client)
    tui.turn("hello there", "First answer.")
    session = id_of(lab.transcripts(client)[-1])
    row = become(lab, session, "idle")
    tty, pane = place(tui)
    assert (row["client"], row["tty"], row["address"], row["background"]) == (client, tty, address_of(tty), False)
    assert row["terminal"] == {"name": "tmux", "pane": pane}
    assert row["cwd"] == str(lab.home / "crm")
    tui.submit("go on slowly")
    become(lab, session, "busy")
    tui.wait("Second answer.")
    become(lab, session, "idle")
    tui.submit("clean up")
    row = become(lab, session, "waiting")
    assert "permission" in row["waiting_for"]
    tui.wait("Do you want to proceed|Would you like to run")
    for _ in range(20):  # it is drawn before keys are listened to
        tui.keys("Enter")
        with contextlib.suppress(TimeoutError):
            tui.wait("Third answer.", seconds=2)
            break
    become(lab, session, "idle")
    tui.quit()
    assert session not in ps(lab)


def test_one_codex_after_new_is_two_sessions_and_only_one_of_them_has_an_address(lab: Lab) -> None:
    """The one that it shows, also after /resume went back to the first."""
    lab.answer(default={"text": "ok."})
    tui = lab.tui("codex")
    tui.turn("the first thread", "ok.")
    (first,) = ps(lab)
    tui.submit("/new")
    tui.turn("the second thread", "ok.")
    rows = ps(lab)
    (second,) = set(rows) - {first}
    tty, pane = place(tui)
    assert (rows[second]["address"], rows[second]["terminal"]["pane"]) == (address_of(tty), pane)
    assert (rows[first]["address"], rows[first]["terminal"]) == ("", None)
    tui.submit("/resume")
    tui.wait("esc exit")
    tui.lab.tmux("send-keys", "-t", tui.name, "-l", "--", "first")
    tui.wait("1 / 1")
    tui.keys("Enter")
    tui.wait("the first thread")
    wait_for(lambda: ps(lab)[first]["address"] == address_of(tty), "the address of the first")
    assert ps(lab)[second]["address"] == ""


def test_background_sessions_of_claude_are_shown_as_such(lab: Lab) -> None:
    """With the command that brings them before one's eyes; `claude -p` is not shown at all."""
    lab.answer({"text": "In the background.", "delay": 1}, default={"text": "ok."})
    done = lab.run([lab.program("claude"), "--bg", "look at the export"])
    rows = wait_for(lambda: ps(lab), "the background session")
    (row,) = rows.values()
    assert row["background"]
    assert (row["address"], row["terminal"], row["tty"]) == ("", None, "")
    assert row["reach"] == f"claude attach {row['id'][:8]}"
    assert row["reach"] in done.stdout
    lab.run([lab.program("claude"), "stop", row["id"][:8]], check=False)


def test_sessions_of_codex_background_server(lab: Lab) -> None:
    """The server has them open, whoever looks: no terminal, and still there after the window was left."""
    lab.set_up_codex(server=True)
    lab.answer(default={"text": "ok."})
    tui = lab.tui("codex")
    try:
        tui.turn("hello server", "ok.")
        session = id_of(lab.transcripts("codex")[-1])
        for _ in range(2):
            row = ps(lab)[session]
            assert (row["background"], row["address"], row["terminal"]) == (True, "", None)
            assert row["reach"] == f"codex resume {session}"
            assert row["state"] == "idle"
            if tui.alive():
                tui.quit()
    finally:
        lab.end_codex_server()


@pytest.mark.parametrize("tidied", [False, True])
def test_three_are_killed_and_just_those_are_reopened(hooked: Lab, tidied: bool) -> None:
    """kill -9 of two Claude Codes and a Codex; what was left with /exit, and what goes on, is not touched. `tidied`: a sweep
    saw them open, and a client that was started since took their traces away."""
    lab = hooked
    lab.answer(default={"text": "ok."})
    stays, left = lab.tui("claude", cwd="shop"), lab.tui("claude", cwd="shop")
    killed = [lab.tui("claude"), lab.tui("claude", cwd="shop"), trusting(lab)]
    for tui in (stays, left, *killed):
        tui.turn("please work on it", "ok.")
    (thread,) = [id_of(path) for path in lab.transcripts("codex")]
    wanted = [killed[0].session(), killed[1].session(), thread]
    gone = left.session()
    if tidied:
        lab.recall("sweep", "--no-llm", "--quiet")
    left.quit()
    for tui in killed:
        tui.kill()
    if tidied:
        for path in (lab.home / ".claude/sessions").glob("*.json"):
            if json.loads(path.read_text())["sessionId"] in wanted:
                path.unlink()
        for path in (lab.home / ".codex/thread-writer-locks").glob("[0-9a-f]*.lock"):
            path.unlink()
    done = lab.recall("reopen", "--crashed", "--print")
    lines = done.stdout.splitlines()
    assert sorted(lines) == sorted(
        [
            f"cd '{lab.home}/crm' && claude --resume {wanted[0]}",
            f"cd '{lab.home}/shop' && claude --resume {wanted[1]}",
            f"cd '{lab.home}/crm' && codex resume {thread}",
        ]
    )
    assert (lab.home / f".claude/recall/ended/{gone}").read_text().startswith("prompt_input_exit ")
    again = lab.window(
        "claude", ["sh", "-c", lines[next(n for n, line in enumerate(lines) if wanted[0] in line)]], cwd="shop"
    )
    again.wait("please work on it")
    wait_for(lambda: wanted[0] in ps(lab), "the reopened session")
    assert wanted[0] not in lab.recall("reopen", "--crashed", "--print").stdout


def test_what_was_killed_is_reopened_in_windows(lab: Lab) -> None:
    """Each in a window of its own with its history, and not a second time."""
    lab.answer(default={"text": "ok."})
    stays = lab.tui("claude", cwd="shop")
    killed = [lab.tui("claude"), lab.tui("codex")]
    for tui in killed:
        tui.turn("please work on it", "ok.")
    wanted = {id_of(lab.transcripts(client)[-1]) for client in ("claude", "codex")}
    for tui in killed:
        tui.kill()
    inside = {"TMUX": f"{lab.root}/s,1,0"}
    done = lab.recall("reopen", "--crashed", "--terminal", "tmux", **inside)
    assert len(done.stdout.splitlines()) == len(wanted)
    assert lab.recall("reopen", "--crashed", "--print", check=False, **inside).returncode == 1
    wait_for(lambda: {row for row, told in ps(lab).items() if told["terminal"]} >= wanted, "both sessions in windows")
    for row, told in ps(lab).items():
        if row in wanted:
            screen = lab.tmux("capture-pane", "-p", "-t", told["terminal"]["pane"])
            assert "please work on it" in screen
    assert lab.recall("reopen", "--crashed", "--print", check=False, **inside).returncode == 1
    assert stays.alive()


def test_sigterm_leaves_word(hooked: Lab) -> None:
    """As a machine that goes down sends it: reason `other`, the client's own number, and no trace."""
    lab = hooked
    lab.answer(default={"text": "ok."})
    tui = lab.tui("claude")
    tui.turn("please work on it", "ok.")
    session, pid = tui.session(), tui.entry()["pid"]
    before = time.time()
    tui.kill(15)
    word = lab.home / f".claude/recall/ended/{session}"
    wait_for(word.exists, "the hook's word")
    assert word.read_text() == f"other {pid}"
    assert word.stat().st_mtime >= before - 1
    assert not (lab.home / f".claude/sessions/{pid}.json").exists()
