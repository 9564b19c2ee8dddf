"""What an open session shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.actions.peek import peek
from recall.errors import NothingFound, Unavailable
from tests.actions.driven import FakeClient

CLIENTS = pytest.mark.parametrize("client", ["claude", "codex"])
TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


@CLIENTS
def test_the_end_of_the_screen(tmp_path: Path, client: str) -> None:
    """So many lines of it, without escapes and secrets, and the state."""
    fake = FakeClient(tmp_path, client)
    fake.view = f"far above\n\x1b]0;title\x07one\n\x1b[31mexport TOKEN={TOKEN}\x1b[0m\nlast   \n\n\n"
    got = peek(fake.target, 3, fake.world())
    lines = got.text.split("\n")
    assert (len(lines), lines[0], lines[-1]) == (3, "one", "last")
    assert TOKEN not in got.text
    assert "[redacted" in got.text
    assert "\x1b" not in got.text
    assert (got.of, got.why) == ("screen", "")


@CLIENTS
def test_the_state_is_told(tmp_path: Path, client: str) -> None:
    """As the client tells it, or as its screen does."""
    fake = FakeClient(tmp_path, client, state="busy")
    assert peek(fake.target, 5, fake.world()).state == "busy"
    fake.ask()
    assert peek(fake.target, 5, fake.world()).state == "waiting"


@CLIENTS
def test_a_session_without_a_terminal(tmp_path: Path, client: str) -> None:
    """The end of its transcript, and why."""
    fake = FakeClient(tmp_path, client)
    fake.open[0] = fake.open[0]._replace(background=True, tty="")
    target = fake.target._replace(open=fake.open[0], pane=None, address="")
    with pytest.raises(Unavailable):
        peek(target, 3, fake.world())
    fake.write("first thing")
    fake.write(f"it is {TOKEN}\nand \x1b[1mbold", "assistant")
    got = peek(target, 2, fake.world())
    assert got.of == "transcript"
    assert "no terminal" in got.why
    assert TOKEN not in got.text
    assert got.text.split("\n")[-1] == "and bold"
    assert "user: first thing" in peek(target, 9, fake.world()).text


def test_what_cannot_be_seen(tmp_path: Path) -> None:
    """A session that ended, a pane that is gone."""
    fake = FakeClient(tmp_path)
    fake.gone = True
    with pytest.raises(Unavailable):
        peek(fake.target, 3, fake.world())
    del fake.open[0]
    with pytest.raises(NothingFound):
        peek(fake.target, 3, fake.world())
