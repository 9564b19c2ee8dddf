"""WezTerm: at the boundary of the process, for opening and for driving."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

from recall.core.model import Pane
from recall.errors import Refused, Unavailable
from recall.terminals import wezterm
from recall.terminals.base import TAB, WINDOW
from tests.terminals import standins
from tests.terminals.contract import Place, TerminalTests, place

__all__ = ["place"]

HERE = {"WEZTERM_PANE": "3"}
PANE = Pane("wezterm", "7")
LISTING = [
    {
        "window_id": 0,
        "tab_id": 0,
        "pane_id": 7,
        "workspace": "default",
        "size": {"rows": 24, "cols": 80},
        "title": "✳ Export",
        "cwd": "file://host/srv/my%20shop%27s",
        "tty_name": "/dev/pts/4",
        "is_dead": False,
    },
    {"window_id": 0, "tab_id": 1, "pane_id": 8, "title": "old version", "cwd": ""},
    {"window_id": 0, "tab_id": 2, "pane_id": 9, "title": "", "cwd": "", "tty_name": None, "is_dead": True},
]


class TestOutside(TerminalTests):
    """The contract, where we do not run in it: a process of its own."""

    module = "wezterm"
    programs = ("wezterm",)
    inside = ("WEZTERM_PANE", "0")


class TestInside(TerminalTests):
    """The contract, where we run in it: it is asked."""

    module = "wezterm"
    programs = ("wezterm",)
    inside = ("WEZTERM_PANE", "0")
    screen = False

    @pytest.fixture
    def env(self, place: Place) -> Mapping[str, str]:
        """A window of WezTerm."""
        standins.opens(place.bin, self.programs)
        return {**place.env, **HERE}

    def test_the_commands(self, env: Mapping[str, str], place: Place) -> None:
        """A window and a tab."""
        cli = (f"{place.bin}/wezterm", "cli", "--no-auto-start", "spawn")
        assert wezterm.command(("a", "b"), "/", "t", WINDOW, env).argv == (*cli, "--new-window", "--", "a", "b")
        assert wezterm.command(("a", "b"), "/", "t", TAB, env).argv == (*cli, "--", "a", "b")


@pytest.fixture
def env(place: Place) -> Mapping[str, str]:
    """A WezTerm that lists LISTING, shows 40 lines, and keeps in files what it was asked and sent."""
    asked, sent = place.home / "asked", place.home / "sent"
    (place.home / "listing").write_text(json.dumps(LISTING))
    standins.program(
        place.bin / "wezterm",
        f"""#!/bin/sh
printf '%s\\0' "$@" >{shlex.quote(str(asked))}
case $3 in
list) cat {shlex.quote(str(place.home / "listing"))};;
get-text) i=0; while [ $i -lt 40 ]; do i=$((i + 1)); echo "line $i  "; done; echo; echo;;
send-text) cat >{shlex.quote(str(sent))};;
esac
""",
    )
    return {**place.env, **HERE}


def _asked(place: Place) -> list[str]:
    return Path(place.home / "asked").read_text().split("\0")[:-1]


def test_panes(place: Place, env: Mapping[str, str]) -> None:
    """Each pane with its device and folder, where the version tells; dead ones are none."""
    assert wezterm.panes(env) == [
        Pane("wezterm", "7", tty="pts/4", title="✳ Export", cwd="/srv/my shop's"),
        Pane("wezterm", "8", title="old version"),
    ]
    assert _asked(place) == ["cli", "--no-auto-start", "list", "--format", "json"]


def test_read(place: Place, env: Mapping[str, str]) -> None:
    """The last lines that are not empty."""
    assert wezterm.read(PANE, 3, env) == "line 38\nline 39\nline 40"
    assert _asked(place) == ["cli", "--no-auto-start", "get-text", "--pane-id", "7", "--start-line", "-3"]


def test_paste_and_enter(place: Place, env: Mapping[str, str]) -> None:
    """The text goes by stdin, between the marks of a paste; Enter is a carriage return of its own."""
    text = "one 'two' $(x)\nthree\n" + "я" * 100_000
    wezterm.paste(PANE, text, env)
    assert (place.home / "sent").read_text() == f"\x1b[200~{text}\x1b[201~"
    assert _asked(place) == ["cli", "--no-auto-start", "send-text", "--no-paste", "--pane-id", "7"]
    wezterm.enter(PANE, env)
    assert (place.home / "sent").read_bytes() == b"\r"


def test_what_acts_is_not_sent(place: Place, env: Mapping[str, str]) -> None:
    """A text that would end the paste is refused, and nothing is sent."""
    with pytest.raises(Refused):
        wezterm.paste(PANE, "a\x1b[201~\rb", env)
    assert not (place.home / "sent").exists()


@pytest.mark.parametrize("listing", ["", "{}", "[", "null"])
def test_a_list_that_is_none(place: Place, env: Mapping[str, str], listing: str) -> None:
    """What cannot be read is Unavailable."""
    (place.home / "listing").write_text(listing)
    with pytest.raises(Unavailable):
        wezterm.panes(env)


def test_no_wezterm(place: Place, env: Mapping[str, str]) -> None:
    """Where it does not run there are no panes; where we should be in it, it does not answer."""
    standins.program(place.bin / "wezterm", "#!/bin/sh\necho 'no running wezterm' >&2\nexit 1\n")
    assert wezterm.panes(place.env) == []
    with pytest.raises(Unavailable, match="no running wezterm"):
        wezterm.panes(env)
    (place.bin / "wezterm").unlink()
    assert wezterm.panes({**place.env, "PATH": str(place.bin)}) == []
    with pytest.raises(Unavailable):
        wezterm.enter(PANE, {**env, "PATH": str(place.bin)})
