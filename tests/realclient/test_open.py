"""Sessions are opened, put back and forked in a real tmux, and the real clients go on with exactly their history."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.realclient.lab import READY, Lab, Tui, wait_for
from tests.realclient.talk import ANSWERS, CLIENTS, TRUSTED, TURNS, id_of, settled, three_turns

pytestmark = pytest.mark.client

AGENT = {
    "CLAUDECODE": "1",
    "CLAUDE_CODE_CHILD_SESSION": "1",
    "CLAUDE_CODE_ENTRYPOINT": "cli",
    "CLAUDE_CODE_SSE_PORT": "1",
}
"""What a tmux server has in its environment that was started inside of an agent."""


class Window(Tui):
    """A client in a window that recall has opened: the shell in it stays when the client ends."""

    def __init__(self, lab: Lab, client: str, pane: str) -> None:
        self.lab, self.client, self.name = lab, client, pane
        self.pid = int(lab.tmux("display-message", "-p", "-t", pane, "#{pane_pid}"))

    def running(self) -> int:
        """The number of the client's own process, 0: there is none."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        return next((int(word) for word in children.read_text().split()), 0) if children.exists() else 0

    def alive(self) -> bool:
        return bool(self.running())

    def folder(self) -> str:
        return os.readlink(f"/proc/{self.running()}/cwd")

    def environment(self) -> dict[str, str]:
        raw = Path(f"/proc/{self.running()}/environ").read_bytes()
        return dict(word.split("=", 1) for word in raw.decode().split("\0") if "=" in word)


def prepare_tmux(lab: Lab, **more: str) -> None:
    """recall passes nothing on to a window but PATH: what the clients need here stands in the server's environment."""
    for name, value in {**lab.env(), **more}.items():
        if name not in ("PATH", "TERM"):
            lab.tmux("set-environment", "-g", name, value)


def recall(lab: Lab, *args: object, status: int = 0) -> str:
    """recall as it is run inside of this tmux; what it prints, of a failure what it says."""
    done = lab.recall(*args, check=False, TMUX=f"{lab.root}/s,1,0", RECALL_LLM="none", **AGENT)
    assert done.returncode == status, (done.stdout, done.stderr)
    return done.stderr if status else done.stdout


def opened(lab: Lab, client: str, *args: object, ready: str = "") -> Window:
    """The window that `recall open` says that it has opened, as soon as the client is there."""
    told = recall(lab, "open", *args)
    pane = re.search(r"%\d+", told)
    assert told.startswith("opened ") and pane, told
    window = Window(lab, client, pane[0])
    window.wait(ready or READY[client])
    return window


def pin(tui: Tui) -> None:
    """A session's name means whichever of its windows was used last, and recall opens one."""
    tui.name = tui.lab.tmux("display-message", "-p", "-t", tui.name, "#{pane_id}").strip()


def windows(lab: Lab) -> int:
    return len(lab.tmux("list-panes", "-a").splitlines())


def texts_of(body: dict[str, Any]) -> list[str]:
    """What user and assistant say in a request, without what the client adds of its own."""
    out = []
    for message in body.get("messages") or body.get("input") or []:
        if message.get("role") not in ("user", "assistant"):
            continue
        content = message.get("content") or []
        parts = [{"text": content}] if isinstance(content, str) else content
        out += [part["text"] for part in parts if part.get("text") and not re.match(r"\s*<", part["text"])]
    return out


SAID = [text for turn in TURNS for text in turn]


@CLIENTS
def test_an_ended_session_is_opened_in_a_new_window(hooked: Lab, client: str) -> None:
    """In its folder, with its history and its handoff in the model's request, in the same file; the client sees nothing of
    the agent that tmux was started in, so that its session stays in its list."""
    tui, path = three_turns(hooked, client, *TRUSTED[client])
    tui.quit()
    settled(hooked)
    prepare_tmux(hooked, **AGENT)
    before, files = windows(hooked), hooked.transcripts(client)
    review = "Hooks need review" if client == "codex" else ""
    window = opened(hooked, client, id_of(path), ready=review)
    if review:
        window.keys("2", "Enter")
        window.wait(READY[client])
    assert windows(hooked) == before + 1
    assert window.folder() == str(hooked.home / "crm")
    requests = len(hooked.asked())
    hooked.answer("It was March.")
    window.turn("which month was that", "It was March.")
    body = hooked.asked()[requests]
    told = texts_of(body)
    assert [text for text in told if text in SAID] == SAID
    assert told[-1] == "which month was that"
    assert "<recall-handoff" in json.dumps(body) and id_of(path)[:8] in json.dumps(body)
    assert not [name for name in window.environment() if name in AGENT or name.startswith("CLAUDE_CODE_SSE")]
    assert hooked.transcripts(client) == files
    window.quit()
    wait_for(lambda: "$" in window.screen() or "#" in window.screen(), "the shell that stays")
    settled(hooked)
    lister = hooked.tui(client, "--resume" if client == "claude" else "resume", ready="Resume")
    lister.wait("which month was that" if client == "claude" else "ago")
    lister.close_window()


@CLIENTS
def test_an_open_session_is_not_opened_again(lab: Lab, client: str) -> None:
    """Nothing is opened; it is said where it is. An ended one in the same folder opens."""
    ended, other = three_turns(lab, client)
    ended.quit()
    tui, path = three_turns(lab, client)
    pin(tui)
    prepare_tmux(lab)
    before = windows(lab)
    lab.rows()
    told = recall(lab, "open", id_of(path), status=3)
    assert "is open in s" in told
    assert windows(lab) == before
    window = opened(lab, client, id_of(other), "--fast")
    told = recall(lab, "open", id_of(other), "--fast", status=3)
    assert "is open" in told
    assert windows(lab) == before + 1
    window.quit()
    tui.quit()


def test_what_only_looks_open_is_opened(lab: Lab) -> None:
    """The registry's file of a killed client, also when its number is another process's now; an id that /clear left."""
    tui, path = three_turns(lab, "claude")
    tui.submit("/clear")
    wait_for(lambda: tui.entry().get("sessionId") not in ("", id_of(path)), "the new session's id")
    prepare_tmux(lab)
    lab.rows()
    window = opened(lab, "claude", id_of(path), "--fast")
    window.wait(re.escape(ANSWERS[-1]))
    note = lab.home / f".claude/sessions/{window.running()}.json"
    kept = json.loads(wait_for(note.read_text, "the client's note"))
    assert kept["sessionId"] == id_of(path)
    os.kill(window.running(), signal.SIGKILL)
    wait_for(lambda: not window.alive(), "the end of the client")
    assert note.exists()
    window = opened(lab, "claude", id_of(path), "--fast", "--force")  # opened a moment ago, and never closed in order
    window.quit()
    note.write_text(json.dumps({**kept, "pid": os.getpid()}))
    note.rename(note.with_name(f"{os.getpid()}.json"))
    opened(lab, "claude", id_of(path), "--fast").quit()


def test_a_session_in_the_background_is_attached_to_instead(lab: Lab) -> None:
    """`claude --bg`: no second client, and the right way to it."""
    tui, _ = three_turns(lab, "claude", cwd="shop")
    prepare_tmux(lab)
    lab.answer("The kiwis were counted.")
    lab.run(["claude", "--bg", "please count the kiwis"])
    entries = lambda: [json.loads(path.read_text()) for path in (lab.home / ".claude/sessions").glob("*.json")]  # noqa: E731
    found = wait_for(lambda: [one for one in entries() if one.get("kind") == "bg"], "the background session")
    session = found[0]["sessionId"]
    wait_for(lambda: [one for one in lab.rows("kiwis", "--all") if one["id"] == session], "its row")
    before = windows(lab)
    told = recall(lab, "open", session, status=3)
    assert f"claude attach {session[:8]}" in told
    assert windows(lab) == before
    lab.run(["claude", "stop", session[:8]], check=False)
    tui.quit()


@CLIENTS
def test_a_deleted_transcript_is_told_restored_and_goes_on(lab: Lab, client: str) -> None:
    """Refused with what survived; put back byte for byte; then opened with its whole history. Codex finds it also when its
    own database knows nothing of it."""
    tui, path = three_turns(lab, client)
    tui.quit()
    lab.rows()
    prepare_tmux(lab)
    whole = path.read_bytes()
    path.unlink()
    for database in (lab.home / ".codex").glob("*.sqlite*"):
        database.unlink()
    before = windows(lab)
    told = recall(lab, "open", id_of(path), status=3)
    assert "copy: " in told and f"recall restore {id_of(path)}" in told
    assert windows(lab) == before
    assert str(path) in recall(lab, "restore", id_of(path))
    assert path.read_bytes() == whole
    assert "nothing is overwritten" in recall(lab, "restore", id_of(path), status=3)
    window = opened(lab, client, id_of(path), "--fast")
    lab.answer("It was March.")
    requests = len(lab.asked())
    window.turn("which month was that", "It was March.")
    assert [text for text in texts_of(lab.asked()[requests]) if text in SAID] == SAID
    window.quit()
    assert path.read_bytes().startswith(whole)


@CLIENTS
@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_fork_goes_on_behind_its_message(lab: Lab, client: str, count: int) -> None:
    """The model is sent the messages up to the cut and none behind it; the old session is left as it was, the new one is a
    session of its own."""
    tui, path = three_turns(lab, client)
    tui.quit()
    lab.rows()
    prepare_tmux(lab)
    whole = path.read_bytes()
    made = json.loads(recall(lab, "fork", id_of(path), "--at", count, "--json"))
    window = opened(lab, client, made["id"], "--fast")
    lab.answer("Another way.")
    requests = len(lab.asked())
    window.turn("try another way", "Another way.")
    told = texts_of(lab.asked()[requests])
    assert [text for text in told if text in SAID] == SAID[:count]
    assert told[-1] == "try another way"
    window.quit()
    assert path.read_bytes() == whole
    rows = {row["id"]: row for row in lab.rows()}
    assert set(rows) == {id_of(path), made["id"]}
    assert rows[made["id"]]["fork_of"] == id_of(path)


@CLIENTS
def test_here_and_a_first_prompt_that_looks_like_an_option(lab: Lab, client: str) -> None:
    """`--here` becomes the client, and `--prompt` is the first thing that the model is asked, to the letter."""
    tui, path = three_turns(lab, client)
    tui.quit()
    lab.rows()
    prompt = "--help me with `this`, it's $HOME\nand this"
    lab.answer("Helped.")
    requests = len(lab.asked())
    here = [sys.executable, "-m", "recall", "open", id_of(path), "--here", "--fast", "--prompt", prompt]
    window = lab.window(client, here, cwd="shop", PYTHONPATH=str(Path(__file__).resolve().parents[2]), **AGENT)
    window.wait("Helped")
    assert texts_of(lab.asked()[requests])[-1] == prompt
    assert os.readlink(f"/proc/{window.pid}/cwd") == str(lab.home / "crm")
    window.close_window()
