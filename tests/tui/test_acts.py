"""What keys do to a session, in a real terminal: windows open, tags, names and removals are there afterwards."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from recall.core.model import Session
from recall.settings import load
from recall.store import open_store
from tests.tui.tmux import ABOVE, Terminal

Make = Callable[..., Terminal]
PORTAL = "2547ffe8-8f39-4b2a-adcf-06484f1df137"
SHOP = "0014fc28-2880-4995-86e1-30551a3a1ce5"
CHECKOUT = "01a1d588-b648-7c1e-b1c8-447ba4748dfc"


@pytest.fixture
def clients(tmp_path: Path) -> str:
    """A PATH on which both clients stand: programs that tell their arguments and folder, and stay."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("claude", "codex"):
        program = folder / name
        program.write_text(f'#!/bin/sh\necho "{name} runs: $*"\npwd\nexec cat\n')
        program.chmod(0o700)
    return f"{folder}:{os.environ.get('PATH', os.defpath)}"


def row(home: Path, session: str) -> Session | None:
    with open_store(load({"HOME": str(home)}).index) as store:
        return next((one for one in store.sessions() if one.id == session), None)


def windows(here: Terminal) -> list[str]:
    return here.tmux("list-windows", "-F", "#{window_id}").split()


def test_enter_opens_a_window(samples: Path, terminal: Make, clients: str) -> None:
    """A new window runs the client with the session's id in the session's folder; the picker has gone, and says so."""
    here = terminal(samples, 160, 24, PATH=clients)
    here.picker()
    here.type("umlauts in Excel project:shop")
    here.keys("Enter")
    screen = here.until(lambda screen: "claude runs" in screen)
    assert screen.split("\n") == [f"claude runs: --resume {SHOP}", str(samples / "shop")]
    assert len(windows(here)) == 2
    here.tmux("select-window", "-t", windows(here)[0])
    screen = here.shows("opened 0014fc28")
    assert screen.startswith(ABOVE) and "❯" not in screen


def test_here_becomes_the_client(samples: Path, terminal: Make, clients: str) -> None:
    """^O leaves the screen first, then the client runs in the same window."""
    here = terminal(samples, 160, 24, PATH=clients)
    here.picker()
    here.shows("8 sessions")
    here.keys("Down", "Down", "C-o")
    screen = here.shows("codex runs")
    assert screen.startswith(ABOVE) and "❯" not in screen
    assert f"codex runs: resume {CHECKOUT}" in screen
    assert len(windows(here)) == 1


def test_a_key_waits_for_what_was_typed_before_it(samples: Path, terminal: Make, clients: str) -> None:
    """Words and Enter in one go open what the words mean, not what was listed before they were looked for."""
    here = terminal(samples, 160, 24, PATH=clients)
    here.picker()
    here.tmux("send-keys", "-l", "umlauts project:shop\r")
    assert SHOP in here.shows("claude runs")


def test_a_live_session_is_refused(samples: Path, terminal: Make, clients: str) -> None:
    """It is marked; it is said where it is open and what can be done; ^F opens it all the same."""
    with open(f"/proc/{os.getpid()}/stat" if sys.platform == "linux" else os.devnull, encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    folder = samples / ".claude" / "sessions"
    folder.mkdir()
    started = f', "procStart": "{fields[19]}"' if fields else ""
    (folder / f"{os.getpid()}.json").write_text(
        f'{{"pid": {os.getpid()}, "sessionId": "{PORTAL}", "entrypoint": "cli", "cwd": "/", "kind": "interactive"{started}}}'
    )
    here = terminal(samples, 160, 24, PATH=clients)
    here.picker()
    here.shows("❯ ⚡", "⚡LIVE")
    here.keys("Enter")
    here.shows("is open", "^P looks at it", "^F opens it")
    assert len(windows(here)) == 1
    here.keys("C-f")
    here.shows(f"claude runs: --resume {PORTAL}")


def test_a_folder_that_is_gone(samples: Path, terminal: Make, clients: str) -> None:
    """The nearest folder that is left is offered, and taken by ^F."""
    os.rename(samples / "portal", samples / "elsewhere")
    here = terminal(samples, 160, 24, PATH=clients)
    here.picker()
    here.shows("8 sessions")
    here.keys("Enter")
    here.shows("is gone", "^F")
    here.keys("C-f")
    screen = here.shows("claude runs")
    assert screen.split("\n") == [f"claude runs: --resume {PORTAL}", str(samples)]


def test_no_client_is_said(samples: Path, terminal: Make) -> None:
    """Where the client is not installed, one line says so, and the picker stays."""
    here = terminal(samples, PATH="/usr/bin:/bin")
    here.picker()
    here.shows("8 sessions")
    here.keys("Down", "Down", "Enter")
    here.shows("there is no codex to open it with", "❯")


def test_a_tag_is_given(samples: Path, terminal: Make) -> None:
    """^G asks; the tags are in the card and on the screen."""
    here = terminal(samples)
    here.picker()
    here.shows("8 sessions")
    here.keys("C-g")
    here.matches("tag")
    here.type("login +safari")
    here.keys("Enter")
    here.shows("tags:", "#login", "#safari")
    found = row(samples, PORTAL)
    assert found is not None and {"login", "safari"} <= set(found.tags.split("\n"))


def test_a_name_is_given_and_taken_back(samples: Path, terminal: Make) -> None:
    """^R asks; the name stands in the list; an empty one takes it back; Esc changes nothing."""
    here = terminal(samples)
    here.picker()
    here.shows("8 sessions")
    here.keys("C-r")
    here.shows("A name for this session")
    here.type("Safari login")
    here.keys("Enter")
    here.shows("○ Safari login", "named")
    found = row(samples, PORTAL)
    assert found is not None and (found.title, found.title_by) == ("Safari login", "user")
    here.keys("C-r")
    here.shows("A name for this session")
    here.type("x")
    here.keys("Escape")
    here.until(lambda screen: "A name" not in screen)
    here.keys("C-r")
    here.shows("A name for this session")
    here.keys("C-u", "Enter")
    here.shows("the name is taken back")
    here.until(lambda screen: "Safari login" not in screen)


def test_removal_is_confirmed(samples: Path, terminal: Make) -> None:
    """^X shows the row and asks. Any key but `y` leaves it; `y` removes it, and the next session is selected."""
    here = terminal(samples)
    here.picker()
    here.shows("8 sessions")
    for key in ("Enter", "n", "Escape"):
        here.keys("C-x")
        here.matches("remove")
        here.keys(key)
        here.shows("nothing was removed", "8 sessions")
    assert row(samples, PORTAL) is not None
    here.keys("C-x")
    here.shows("Remove it")
    here.keys("y")
    here.shows("7 sessions", "removed")
    here.until(lambda screen: "❯     7d claude shop" in screen)
    assert row(samples, PORTAL) is None
    assert (samples / ".claude" / "projects").exists()


def test_the_command_is_copied(samples: Path, terminal: Make) -> None:
    """^Y: the line of `recall cmd` is in tmux's buffer."""
    here = terminal(samples)
    here.picker()
    here.shows("8 sessions")
    here.keys("C-y")
    here.shows("copied by tmux")
    assert here.tmux("show-buffer") == f"cd '{samples}/portal' && claude --resume {PORTAL}"


def test_headless_sessions_on_demand(samples: Path, terminal: Make, claude_session: Callable[..., Path]) -> None:
    """^L lists what `find --all` lists, and leaves it out again. The new session is taken in while the picker is open."""
    claude_session(
        samples,
        "robot",
        "11111111-2222-4333-8444-555555555555",
        [("Do it headless", "done")],
        entrypoint="sdk-cli",
        start="2026-11-24T22:00:00+00:00",
    )
    here = terminal(samples)
    here.picker()
    here.shows("8 sessions")
    here.keys("C-l")
    here.shows("9 sessions (all)", "Do it headless")
    here.keys("C-l")
    here.until(lambda screen: "8 sessions" in screen and "headless it" not in screen)


@pytest.mark.parametrize("signal", ["TERM", "HUP"])
def test_a_signal_leaves_the_screen(samples: Path, terminal: Make, signal: str) -> None:
    """Ended from outside, the terminal is as it was: the screen, the cursor, the keys."""
    here = terminal(samples)
    here.picker()
    here.shows("8 sessions")
    shell = int(here.tmux("display-message", "-p", "#{pane_pid}"))
    children = Path(f"/proc/{shell}/task/{shell}/children")
    if not children.exists():
        pytest.skip("the system does not list child processes")
    child = int(children.read_text().split()[0])
    os.kill(child, {"TERM": 15, "HUP": 1}[signal])
    here.until(lambda screen: screen.startswith(ABOVE) and screen.endswith("\n$"))
    here.shell("echo status $?; stty -a | grep -c -w -e -icanon -e -echo")
    here.shows(f"status {128 + {'TERM': 15, 'HUP': 1}[signal]}\n0")
