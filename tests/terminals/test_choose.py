"""Which terminal is taken, for what was asked and where we run."""

from __future__ import annotations

import itertools

import pytest

from recall import terminals
from recall.errors import Unavailable, Usage
from recall.terminals import choose
from tests.terminals import standins
from tests.terminals.contract import Place, place

__all__ = ["place"]

ALL = ("tmux", "kitty", "wezterm", "ghostty", "gnome-terminal", "konsole", "xterm")
SCREEN = {"DISPLAY": ":0"}


@pytest.mark.parametrize(
    ("asked", "env", "programs", "taken"),
    [
        # asked for
        ("kitty", SCREEN, ALL, "kitty"),
        ("gnome", SCREEN, ALL, "GNOME Terminal"),
        ("KONSOLE", SCREEN, ALL, "Konsole"),
        (" wezterm ", SCREEN, ALL, "WezTerm"),
        ("print", {**SCREEN, "TMUX": "/x,1,0", "RECALL_TERMINAL": "kitty"}, ALL, None),
        ("kitty", {**SCREEN, "RECALL_TERMINAL": "konsole", "TMUX": "/x,1,0"}, ALL, "kitty"),
        # the variable
        ("", {**SCREEN, "RECALL_TERMINAL": "konsole", "TMUX": "/x,1,0"}, ALL, "Konsole"),
        ("", {**SCREEN, "RECALL_TERMINAL": "print"}, ALL, None),
        ("", {**SCREEN, "RECALL_TERMINAL": " "}, ALL, "kitty"),
        # where we run
        ("", {**SCREEN, "TMUX": "/x,1,0", "KITTY_WINDOW_ID": "1"}, ALL, "tmux"),
        ("", {**SCREEN, "KONSOLE_VERSION": "221203"}, ALL, "Konsole"),
        ("", {**SCREEN, "WEZTERM_PANE": "0"}, ALL, "WezTerm"),
        ("", {**SCREEN, "TERM_PROGRAM": "ghostty"}, ALL, "Ghostty"),
        ("", {**SCREEN, "GNOME_TERMINAL_SCREEN": "/1"}, ALL, "GNOME Terminal"),
        ("", {**SCREEN, "XTERM_VERSION": "XTerm(379)"}, ALL, "x-terminal-emulator"),
        ("", {**SCREEN, "TMUX": "/x,1,0", "KONSOLE_VERSION": "1"}, ("konsole",), "Konsole"),  # tmux is not there
        # what is there
        ("", SCREEN, ("tmux", "konsole"), "Konsole"),
        ("", SCREEN, ("tmux",), "tmux"),
        ("", {}, ALL, "tmux"),  # no screen: over ssh
        ("", {}, ("kitty", "konsole"), None),
        ("", SCREEN, (), None),
        # a Mac
        ("", {}, ("mac",), "Terminal.app"),
        ("", {}, ("mac", "iterm-installed"), "Terminal.app"),
        ("", {}, ("mac", "iterm-runs"), "iTerm2"),
        ("", {"TERM_PROGRAM": "Apple_Terminal"}, ("mac", "iterm-runs"), "Terminal.app"),
        ("", {"TERM_PROGRAM": "iTerm.app"}, ("mac",), "iTerm2"),
        ("iTerm", {}, ("mac", "iterm-installed"), "iTerm2"),
        ("", {"RECALL_TERMINAL": "iTerm"}, ("mac", "iterm-installed"), "iTerm2"),
        ("", {"RECALL_TERMINAL": "Terminal", "TERM_PROGRAM": "iTerm.app"}, ("mac", "iterm-runs"), "Terminal.app"),
        ("", {"LC_TERMINAL": "iTerm2"}, ("tmux",), "tmux"),  # ssh from a Mac
    ],
)
def test_the_one_that_is_taken(
    place: Place, asked: str, env: dict[str, str], programs: tuple[str, ...], taken: str | None
) -> None:
    """Asked for, else the variable, else where we run, else what is there, else it is printed."""
    standins.opens(place.bin, (name for name in programs if name in ALL))
    if "mac" in programs:
        standins.osascript(place.bin, running="iterm-runs" in programs)
    if {"iterm-installed", "iterm-runs"} & set(programs):
        (place.home / "Applications" / "iTerm.app").mkdir(parents=True)
    chosen = choose.choose(asked, {"PATH": str(place.bin), "HOME": str(place.home), **env})
    assert (chosen and chosen.name) == taken


@pytest.mark.parametrize("source", ["--terminal", "RECALL_TERMINAL"])
def test_a_name_that_is_none(place: Place, source: str) -> None:
    """It is refused with the names that there are, and where the name came from."""
    asked, env = ("hyper", {}) if source == "--terminal" else ("", {"RECALL_TERMINAL": "hyper"})
    with pytest.raises(Usage) as caught:
        choose.choose(asked, {**place.env, **env})
    assert source in caught.value.message
    for name in ("tmux", "iTerm2", "Terminal.app", "kitty", "print"):
        assert name in caught.value.hint


@pytest.mark.parametrize("module", terminals.NAMES)
def test_one_that_is_not_there(place: Place, module: str) -> None:
    """It is said to be unavailable, and what can be done."""
    with pytest.raises(Unavailable) as caught:
        choose.choose(module, {"PATH": str(place.bin), "HOME": str(place.home)})
    assert terminals.get(module).name in caught.value.message
    assert terminals.get(module).needs in caught.value.hint
    assert "--print" in caught.value.hint


def test_no_name_is_taken_twice() -> None:
    """Every way to call a terminal means one of them."""
    every = [{module, *terminals.get(module).aliases} for module in terminals.NAMES]
    for first, second in itertools.combinations(every, 2):
        assert not first & second


def test_an_osascript_that_hangs_or_fails(place: Place) -> None:
    """A Mac that does not answer whether iTerm2 runs has Terminal.app."""
    standins.program(place.bin / "osascript", "#!/bin/sh\nexit 1\n")
    (place.home / "Applications" / "iTerm.app").mkdir(parents=True)
    chosen = choose.choose("", {**place.env, "PATH": str(place.bin)})
    assert chosen is not None
    assert chosen.name == "Terminal.app"
