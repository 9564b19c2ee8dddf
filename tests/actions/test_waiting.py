"""Waiting for an open session."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.actions.waiting import IDLE, PERMISSION, SETTLED, STILL, TEXT, wait
from recall.errors import NothingFound, Unavailable
from tests.actions.driven import FakeClient
from tests.machine import uid

CLIENTS = pytest.mark.parametrize("client", ["claude", "codex"])


@CLIENTS
def test_idle(tmp_path: Path, client: str) -> None:
    """It returns within a second of the end of the work."""
    fake = FakeClient(tmp_path, client, state="busy")
    fake.at(30, lambda: fake.becomes("idle"))
    got = wait(fake.target, IDLE, fake.world(), seconds=600)
    assert got.state == "idle"
    assert 30 <= got.seconds < 31


def test_idle_for_a_moment_only(tmp_path: Path) -> None:
    """Between two prompts of a queue, and right after one was sent, a client is idle for a moment, which is no end."""
    fake = FakeClient(tmp_path)
    fake.at(SETTLED / 2, lambda: fake.becomes("busy"))
    fake.at(5, lambda: fake.becomes("idle"))
    fake.at(5 + SETTLED / 2, lambda: fake.becomes("busy"))
    fake.at(9, lambda: fake.becomes("idle"))
    assert wait(fake.target, IDLE, fake.world(), seconds=600).seconds >= 9


@CLIENTS
def test_no_time_to_wait(tmp_path: Path, client: str) -> None:
    """0 seconds are one look."""
    fake = FakeClient(tmp_path, client)
    assert wait(fake.target, IDLE, fake.world(), seconds=0).seconds == 0
    fake.becomes("busy")
    with pytest.raises(Unavailable):
        wait(fake.target, IDLE, fake.world(), seconds=0)


@CLIENTS
def test_time_is_over(tmp_path: Path, client: str) -> None:
    """It is told in which state the session is then."""
    fake = FakeClient(tmp_path, client, state="busy")
    began = fake.time
    with pytest.raises(Unavailable) as caught:
        wait(fake.target, IDLE, fake.world(), seconds=7)
    assert "busy" in caught.value.message
    assert fake.time - began == pytest.approx(7)


@CLIENTS
def test_permission(tmp_path: Path, client: str) -> None:
    """A question is seen at once, be it told or only drawn; idle is none."""
    fake = FakeClient(tmp_path, client)
    fake.at(3, lambda: fake.becomes("busy"))
    fake.at(10, fake.ask)
    got = wait(fake.target, PERMISSION, fake.world(), seconds=600)
    assert got.state == "waiting"
    assert 10 <= got.seconds < 11


@CLIENTS
def test_a_question_while_idle_is_waited_for(tmp_path: Path, client: str) -> None:
    """It is said once that an answer is awaited, and waiting goes on: a person may give it."""
    fake = FakeClient(tmp_path, client, state="busy")
    said: list[str] = []

    def answered() -> None:
        fake.asking = False
        fake.becomes("idle")

    fake.at(2, fake.ask)
    fake.at(60, answered)
    assert wait(fake.target, IDLE, fake.world(), seconds=600, say=said.append).seconds >= 60
    assert len(said) == 1
    assert "waits for an answer" in said[0]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (None, "not open any more"),
        (uid(9), uid(9)[:8]),
    ],
)
def test_the_end_of_the_session(tmp_path: Path, entry: str | None, told: str) -> None:
    """A session that ends, or whose window goes on with another one, will never be idle."""
    fake = FakeClient(tmp_path, state="busy")

    def end() -> None:
        if entry is None:
            del fake.open[0]
        else:
            fake.open[0] = fake.open[0]._replace(session=entry)

    fake.at(5, end)
    with pytest.raises(NothingFound) as caught:
        wait(fake.target, IDLE, fake.world(), seconds=600)
    assert told in caught.value.message


def test_a_window_that_is_closed(tmp_path: Path) -> None:
    """The terminal knows it before the client's lock is gone; it is the end of the session all the same."""
    fake = FakeClient(tmp_path, "codex", state="busy")

    def close() -> None:
        fake.gone = True
        fake.at(0.1, fake.open.clear)

    fake.at(5, close)
    with pytest.raises(NothingFound):
        wait(fake.target, IDLE, fake.world(), seconds=600)


def test_a_terminal_that_does_not_answer(tmp_path: Path) -> None:
    """That is no end of the session."""
    fake = FakeClient(tmp_path, "codex", state="busy")
    fake.gone = True
    with pytest.raises(Unavailable):
        wait(fake.target, IDLE, fake.world(), seconds=600)


@CLIENTS
def test_text_on_the_screen(tmp_path: Path, client: str) -> None:
    """It may be there already, in another case, and broken into lines."""
    fake = FakeClient(tmp_path, client, state="busy")
    fake.at(4, lambda: setattr(fake, "inside", "all tests\nHAVE passed"))
    got = wait(fake.target, TEXT, fake.world(), seconds=600, text="tests have  passed")
    assert 4 <= got.seconds < 5
    assert got.state == "busy"
    assert wait(fake.target, TEXT, fake.world(), seconds=600, text="tests have passed").seconds == 0


@CLIENTS
def test_text_of_a_session_without_a_terminal(tmp_path: Path, client: str) -> None:
    """Its transcript is read: its last words, and what comes."""
    fake = FakeClient(tmp_path, client, state="busy")
    fake.write("long ago: ready", "assistant")
    for number in range(9):
        fake.write(f"step {number}", "assistant")
    target = fake.target._replace(pane=None)
    assert wait(target, TEXT, fake.world(), seconds=600, text="step 8").seconds == 0
    fake.at(6, lambda: fake.write("now\nit is ready", "assistant"))
    assert 6 <= wait(target, TEXT, fake.world(), seconds=600, text="IS READY").seconds < 7
    with pytest.raises(Unavailable):
        wait(target, TEXT, fake.world(), seconds=5, text="long ago")


def test_a_state_that_is_not_known(tmp_path: Path) -> None:
    """A screen that stands still, and tells nothing that is known, is that of an idle client."""
    fake = FakeClient(tmp_path, "codex", state="")
    fake.view = "something else 1"
    for second in range(1, 6):
        fake.at(second, lambda second=second: setattr(fake, "view", f"something else {second}"))  # type: ignore[misc]
    got = wait(fake.target, IDLE, fake.world(), seconds=600)
    assert 5 + STILL <= got.seconds < 5 + STILL + 1


def test_a_registry_is_enough_for_claude_code(tmp_path: Path) -> None:
    """Its terminal is not asked at all."""
    fake = FakeClient(tmp_path, state="busy")
    fake.gone = True
    fake.at(3, lambda: fake.becomes("idle"))
    assert wait(fake.target, IDLE, fake.world(), seconds=600).state == "idle"
