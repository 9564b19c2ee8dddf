"""Real clients in windows of iTerm2 (a stand-in that speaks its protocol): listed, read and sent to through the bridge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recall.actions import iterm_install
from recall.settings import load
from tests.realclient.lab import Lab, Tui, wait_for
from tests.realclient.talk import CLIENTS, id_of
from tests.realclient.test_ps import PERMISSION, careful

pytest.importorskip("iterm2", reason="the package iterm2 (extra `dev`) is not installed")

from tests.bridge.standin import COOKIE, Screen, StandIn

pytestmark = pytest.mark.client

THREE_LINES = "first line\nвторая 'строка' $(id) `id`\n  third line;"


class Window(Screen):
    """A session of iTerm2. What it shows, and what is typed into it, is that of a client's window; recall is not told of the
    tmux that the window is in."""

    def __init__(self, tui: Tui) -> None:
        self._tui = tui
        told = tui.lab.tmux("display-message", "-p", "-t", tui.name, "#{pane_tty} #{pane_pid} #{pane_height}").split()
        super().__init__(f"GUID-{tui.name}", told[0], int(told[1]), int(told[1]), tui.client, "", height=int(told[2]))

    def shown(self) -> list[tuple[str, bool]]:
        text = self._tui.lab.tmux("capture-pane", "-p", "-J", "-S", "-500", "-t", self._tui.name)
        return [(line, True) for line in text.removesuffix("\n").split("\n")]

    def receive(self, text: str) -> None:
        super().receive(text)
        self._tui.lab.tmux("send-keys", "-t", self._tui.name, "-l", "--", text)


@pytest.fixture
def iterm(lab: Lab) -> Iterator[StandIn]:
    """iTerm2 in the lab's home, with the installed bridge in it, and broadcasting switched on."""
    stand_in = StandIn(lab.home)
    stand_in.broadcasting = True
    stand_in.start()
    settings = load(lab.env())
    iterm_install.install(settings, "darwin")
    bridge = subprocess.Popen(
        [sys.executable, iterm_install.place(settings.home)],
        env=lab.env(ITERM2_COOKIE=COOKIE, ITERM2_KEY="a-key"),
        stdout=subprocess.DEVNULL,
    )
    listening = Path(settings.state) / "iterm/bridge.sock"
    wait_for(listening.exists, "the bridge")
    yield stand_in
    bridge.kill()
    bridge.wait(10)
    stand_in.stop()


def said(lab: Lab, *args: str, status: int = 0) -> str:
    """recall outside of tmux; what it prints, of a failure what it says."""
    done = lab.recall(*args, check=False, TMUX_TMPDIR=str(lab.temporary))
    assert done.returncode == status, (done.stdout, done.stderr)
    return done.stderr if status else done.stdout


def listed(lab: Lab) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in json.loads(said(lab, "ps", "--json"))["sessions"]}


def prompts(lab: Lab, since: int) -> list[str]:
    """What a person said last, in each request since."""
    out = []
    for body in lab.asked(since):
        spoken = [one for one in body.get("messages") or body.get("input") or [] if one.get("role") == "user"]
        parts = spoken[-1]["content"]
        out.append(parts if isinstance(parts, str) else "\n".join(part.get("text", "") for part in parts))
    return out


@CLIENTS
def test_three_lines_reach_one_of_several_sessions(lab: Lab, iterm: StandIn, client: str) -> None:
    """As one prompt, byte for byte, though iTerm2 broadcasts; `ps` knows the window, `peek` shows the answer, and the audit
    log has a line. A session that asks its person something gets nothing."""
    careful(lab)
    lab.answer("Hello.", "Hello.", "Hello.", "The answer.", PERMISSION[client])
    ids, windows = [], []
    for name in ("claude", "codex", client):
        before = set(lab.transcripts(name))
        tui = lab.tui(name)
        tui.turn("hello there", "Hello.")
        (path,) = set(lab.transcripts(name)) - before
        ids.append(id_of(path))
        windows.append((tui, Window(tui)))
        iterm.screens[windows[-1][1].id] = windows[-1][1]
    tui, window = windows[-1]
    row = listed(lab)[ids[-1]]
    assert row["terminal"] == {"name": "iterm2", "pane": window.id}

    since = len(lab.api.requests)
    assert "arrived in" in said(lab, "send", row["address"], THREE_LINES)
    tui.wait("The answer.")
    told = prompts(lab, since)
    assert len(told) == 1
    assert THREE_LINES in told[0]
    assert [(one.id, len(one.received)) for _, one in windows] == [
        (one.id, 2 if one is window else 0) for _, one in windows
    ]
    assert all(suppressed for _, _, suppressed in iterm.sent)
    wait_for(tui.idle, "the end of the turn")
    assert "The answer." in said(lab, "peek", row["address"])
    assert ids[-1] in (lab.home / ".claude/recall/iterm-audit.log").read_text()

    tui.submit("clean up")
    wait_for(lambda: listed(lab)[ids[-1]]["state"] == "waiting", "the question", every=0.3)
    tui.wait("Do you want|Would you like")
    since, typed = len(lab.api.requests), len(iterm.sent)
    said(lab, "send", row["address"], "yes please", status=3)
    assert (len(lab.api.requests), len(iterm.sent)) == (since, typed)
    for each, _ in windows:
        each.close_window()


def test_a_bridge_that_is_gone_is_told(lab: Lab, iterm: StandIn) -> None:
    """Status 4 with the clicks, and nothing is sent."""
    lab.answer("Hello.")
    tui = lab.tui("claude")
    tui.turn("hello there", "Hello.")
    window = Window(tui)
    iterm.screens[window.id] = window
    row = listed(lab)[tui.session()]
    os.unlink(lab.home / ".claude/recall/iterm/bridge.sock")
    told = lab.recall("send", row["address"], "x", check=False, TMUX_TMPDIR=str(lab.temporary))
    assert told.returncode == 4
    assert "bridge not responding" in told.stderr
    assert "recall iterm-install" in told.stderr
    assert iterm.sent == []
    tui.close_window()
