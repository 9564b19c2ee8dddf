"""Sending: one text, into one session, once; and what keeps it from being sent."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.actions.send import CHARACTERS, LINES, MOST, PASTES, PAUSE, TURN, Sent, alone, fit, pieces, send
from recall.core.model import Pane
from recall.errors import NothingFound, RecallError, Refused, Unavailable, Usage
from tests.actions.driven import FakeClient
from tests.machine import uid

CLIENTS = pytest.mark.parametrize("client", ["claude", "codex"])
TEXT = 'one\n  two "quoted" $(x)\nthree ü 你好'


def refused(fake: FakeClient, kind: type[RecallError], *, force: bool = False, text: str = TEXT) -> RecallError:
    """The refusal of a send; nothing has been submitted, no question answered."""
    with pytest.raises(kind) as caught:
        send(fake.target, text, fake.world(), force=force)
    assert fake.submitted == []
    assert fake.answered == 0
    assert caught.value.hint
    return caught.value


@CLIENTS
def test_one_text_once(tmp_path: Path, client: str) -> None:
    """An idle session gets the text as it is, by one paste and one Enter after a pause; the transcript shows that it arrived."""
    fake = FakeClient(tmp_path, client)
    began = fake.time
    moments: list[float] = []
    fake.after_enter = lambda: moments.append(fake.time)
    assert send(fake.target, TEXT, fake.world()) == Sent("arrived", "its transcript", 1)
    assert (fake.pasted, fake.submitted, fake.pressed) == ([TEXT], [TEXT], 1)
    assert moments[0] - began >= PAUSE[client]


@CLIENTS
def test_a_client_that_did_not_take_enter_gets_one_more(tmp_path: Path, client: str) -> None:
    """Enter once more, the text not."""
    fake = FakeClient(tmp_path, client)
    fake.stuck = 1
    assert send(fake.target, TEXT, fake.world()).presses == 2
    assert (fake.pasted, fake.submitted) == ([TEXT], [TEXT])


@CLIENTS
def test_no_third_enter(tmp_path: Path, client: str) -> None:
    """What does not arrive after the second Enter is told as such."""
    fake = FakeClient(tmp_path, client)
    fake.stuck = 9
    refused(fake, Unavailable)
    assert (fake.pressed, fake.pasted) == (2, [TEXT])


@CLIENTS
def test_a_question_that_opens_before_the_second_enter_is_not_answered(tmp_path: Path, client: str) -> None:
    """Enter is pressed again only where the text still stands in the input line."""
    fake = FakeClient(tmp_path, client)
    fake.stuck = 9
    fake.after_enter = lambda: fake.at(1.0, fake.ask)
    refused(fake, Unavailable)
    assert fake.pressed == 1


@CLIENTS
def test_an_open_question(tmp_path: Path, client: str) -> None:
    """Nothing is typed while a question is open, unless forced; then Enter answers it."""
    fake = FakeClient(tmp_path, client)
    fake.ask()
    problem = refused(fake, Refused)
    assert (fake.pasted, fake.pressed) == ([], 0)
    assert "waits for an answer" in problem.message
    fake.after_enter = lambda: fake.write(TEXT)
    send(fake.target, TEXT, fake.world(), force=True)
    assert fake.answered == 1


@CLIENTS
def test_two_at_once_are_two_prompts(tmp_path: Path, client: str) -> None:
    """While one types, another one waits for its turn; it is refused where that takes too long."""
    fake, world = FakeClient(tmp_path, client), FakeClient(tmp_path, client).world()
    state = str(tmp_path)
    with alone(state, fake.target, world):
        began = world.clock()
        with pytest.raises(Refused, match="another recall types"), alone(state, fake.target, world):
            pytest.fail("both type")
        assert world.clock() - began >= TURN
    with alone(state, fake.target, world):
        pass


@CLIENTS
def test_a_backslash_at_the_end_does_not_make_enter_a_new_line(tmp_path: Path, client: str) -> None:
    """As it does in Claude Code."""
    fake = FakeClient(tmp_path, client)
    send(fake.target, "look at C:\\", fake.world())
    assert fake.submitted == ["look at C:\\" + (" " if client == "claude" else "")]


def test_invisible_characters_that_the_client_takes_out(tmp_path: Path) -> None:
    """Claude Code does so at the first Enter, and asks for another: it is pressed."""
    fake = FakeClient(tmp_path)
    fake.stuck = 1
    fake.after_enter = lambda: setattr(fake, "inside", fake.inside.replace("\u202e", ""))
    assert send(fake.target, "\u202eturn it round", fake.world()).presses == 2
    assert fake.submitted == ["turn it round"]


@CLIENTS
def test_a_question_that_the_screen_does_not_show_yet(tmp_path: Path, client: str) -> None:
    """The client's own word counts, whatever its screen looks like: Codex writes of a call first, and then asks."""
    fake = FakeClient(tmp_path, client)
    fake.becomes("waiting", "dialog open")
    assert "dialog open" in refused(fake, Refused).message
    assert fake.pasted == []


@CLIENTS
def test_a_question_that_is_told_of_after_the_paste(tmp_path: Path, client: str) -> None:
    """Enter is not pressed."""
    fake = FakeClient(tmp_path, client)
    fake.after_paste = lambda: fake.becomes("waiting", "dialog open")
    assert "meanwhile; the text was not submitted" in refused(fake, Refused).message
    assert (len(fake.pasted), fake.pressed) == (len(pieces(client, TEXT)), 0)


def test_a_question_that_only_the_screen_shows(tmp_path: Path) -> None:
    """The registry may be late."""
    fake = FakeClient(tmp_path)
    fake.asking = True
    refused(fake, Refused)
    assert fake.pasted == []


@CLIENTS
def test_a_question_that_opens_between_paste_and_enter(tmp_path: Path, client: str) -> None:
    """Enter is not pressed, and it is said that the text was not submitted."""
    fake = FakeClient(tmp_path, client)
    fake.after_paste = fake.ask
    assert "not submitted" in refused(fake, Refused).message
    assert fake.pressed == 0


@CLIENTS
def test_another_view(tmp_path: Path, client: str) -> None:
    """Where no input line is drawn, nothing is typed."""
    fake = FakeClient(tmp_path, client)
    fake.view = "a transcript, a pager, a shell\n$"
    refused(fake, Refused)
    assert fake.pasted == []


@CLIENTS
def test_a_view_that_opens_between_paste_and_enter(tmp_path: Path, client: str) -> None:
    """A menu that we do not know could take Enter as well."""
    fake = FakeClient(tmp_path, client)
    fake.after_paste = lambda: setattr(fake, "view", "a menu that is not known\n")
    refused(fake, Refused)
    assert fake.pressed == 0


@CLIENTS
def test_a_draft_of_somebody_else_is_not_submitted(tmp_path: Path, client: str) -> None:
    """What a person was typing is not sent with the text behind it."""
    fake = FakeClient(tmp_path, client)
    fake.inside = "my own draft"
    assert "somebody is typing" in refused(fake, Refused).message
    assert fake.pressed == 0


@CLIENTS
def test_a_client_that_does_not_take_the_text(tmp_path: Path, client: str) -> None:
    """A paste that is never seen is followed by no Enter: it would submit whatever stands there."""
    fake = FakeClient(tmp_path, client)
    fake.deaf = True
    refused(fake, Unavailable)
    assert (fake.pressed, fake.pasted) == (0, [TEXT])


@CLIENTS
def test_a_client_that_is_slow_to_take_the_text(tmp_path: Path, client: str) -> None:
    """A client that has just started draws its prompt before it listens."""
    fake = FakeClient(tmp_path, client)
    fake.deaf = True
    fake.after_paste = lambda: fake.at(1.5, lambda: setattr(fake, "inside", TEXT))
    assert send(fake.target, TEXT, fake.world()).result == "arrived"
    assert fake.submitted == [TEXT]


@CLIENTS
@pytest.mark.parametrize("why", ["is stopped", "has ended", "is in the background of its terminal"])
def test_a_client_that_does_not_get_the_keys(tmp_path: Path, client: str, why: str) -> None:
    """A shell in front of the client would run the text."""
    fake = FakeClient(tmp_path, client)
    fake.behind = why
    assert why in refused(fake, Refused, force=True).message
    assert fake.pasted == []


@CLIENTS
def test_a_client_that_is_stopped_between_paste_and_enter(tmp_path: Path, client: str) -> None:
    """The same, a moment later."""
    fake = FakeClient(tmp_path, client)
    fake.after_paste = lambda: setattr(fake, "behind", "is stopped")
    refused(fake, Refused, force=True)
    assert fake.pressed == 0


def test_a_client_that_moved_to_another_terminal(tmp_path: Path) -> None:
    """The pane that it was in may have another program now."""
    fake = FakeClient(tmp_path)
    fake.open[0] = fake.open[0]._replace(tty="pts/9")
    refused(fake, Refused)
    assert fake.pasted == []


@pytest.mark.parametrize(
    "changed",
    [
        {"session": uid(9)},  # /clear, /resume
        {"started": 900.0},  # another process of the same number
        {"pid": 5000},
    ],
)
def test_a_session_that_is_not_the_one_that_was_found(tmp_path: Path, changed: dict[str, object]) -> None:
    """The registry is read once more, directly before anything is typed."""
    fake = FakeClient(tmp_path)
    fake.open[0] = fake.open[0]._replace(**changed)  # type: ignore[arg-type]
    refused(fake, NothingFound)
    assert fake.pasted == []


def test_a_session_that_changes_between_paste_and_enter(tmp_path: Path) -> None:
    """/clear, typed by the person just then: the text was meant for the session before."""
    fake = FakeClient(tmp_path)
    fake.after_paste = lambda: fake.open.__setitem__(0, fake.open[0]._replace(session=uid(9)))
    refused(fake, NothingFound)
    assert fake.pressed == 0


def test_a_registry_that_is_just_being_written(tmp_path: Path) -> None:
    """A file that cannot be read for a moment is looked at again, not taken for the end of its session."""
    fake = FakeClient(tmp_path)
    entry = fake.open.pop(0)
    fake.at(0.1, lambda: fake.open.insert(0, entry))
    assert send(fake.target, TEXT, fake.world()).result == "arrived"


def test_a_registry_that_stays_half_written(tmp_path: Path) -> None:
    """Nobody waits long for it."""
    fake = FakeClient(tmp_path)
    began = fake.time
    del fake.open[0]
    refused(fake, NothingFound)
    assert fake.time - began < 1


@CLIENTS
def test_a_pane_that_is_gone(tmp_path: Path, client: str) -> None:
    """The terminal says so, before and after the paste."""
    fake = FakeClient(tmp_path, client)
    fake.gone = True
    refused(fake, Unavailable)
    fake.gone = False
    fake.after_paste = lambda: setattr(fake, "gone", True)
    refused(fake, Unavailable)
    assert fake.pressed == 0


@CLIENTS
@pytest.mark.parametrize(
    "text", ["!rm -rf build", " \n!ls", "!", "\ufeff!ls", "\u3000！ls", "\u200b!ls", "\U000e0041\ufe0f!ls"]
)
def test_a_command_for_the_shell_is_not_slipped_in(tmp_path: Path, client: str, text: str) -> None:
    """In both clients a leading ! runs it at once, with no permission question."""
    fake = FakeClient(tmp_path, client)
    refused(fake, Refused, text=text)
    assert fake.pasted == []


def test_a_client_in_shell_mode(tmp_path: Path) -> None:
    """What is typed there is run by the shell, with no permission question."""
    fake = FakeClient(tmp_path)
    fake.sign = "!"
    refused(fake, Refused)
    assert fake.pasted == []
    fake.sign = "❯"
    fake.after_paste = lambda: setattr(fake, "sign", "!")
    refused(fake, Refused)
    assert fake.pressed == 0


@CLIENTS
@pytest.mark.parametrize("draft", ["!", "/", "! "])
def test_a_sign_that_stands_there_already_does_not_make_a_command_of_the_text(
    tmp_path: Path, client: str, draft: str
) -> None:
    fake = FakeClient(tmp_path, client)
    fake.inside = draft
    refused(fake, Refused)
    assert fake.pressed == 0


def test_the_session_that_runs_us(tmp_path: Path) -> None:
    """By its id, or because its client is above us; not to be forced. A server is above all of its sessions, and is no sign."""
    fake = FakeClient(tmp_path)
    for own in ({"own": uid(1)}, {"above": (1, 4242)}):
        with pytest.raises(Refused):
            send(fake.target, TEXT, fake.world(), force=True, **own)  # type: ignore[arg-type]
    assert fake.pasted == []
    server = FakeClient(tmp_path, "codex")
    server.open[0] = server.open[0]._replace(background=True, tty="")
    server.after_enter = lambda: server.write(TEXT)
    target = server.target._replace(open=server.open[0], pane=None, address="")
    assert send(target, TEXT, server.world(), above=(1, 4242)).result == "arrived"


@CLIENTS
def test_a_client_at_work_queues_the_text(tmp_path: Path, client: str) -> None:
    """Claude Code notes that it waits; Codex shows it only."""
    fake = FakeClient(tmp_path, client, state="busy")
    fake.writes = False
    if client == "claude":
        fake.after_enter = lambda: fake.write(TEXT, "queue-operation")
    sent = send(fake.target, TEXT, fake.world())
    assert (sent.result, sent.presses) == ("queued", 1)
    assert fake.submitted == [TEXT]


def test_what_was_said_before_is_no_sign(tmp_path: Path) -> None:
    """The same text in the transcript, from an earlier send or by somebody else's answer, proves nothing."""
    fake = FakeClient(tmp_path)
    fake.write(TEXT)
    fake.stuck = 9
    fake.after_enter = lambda: fake.write(TEXT, "assistant")
    refused(fake, Unavailable)


@CLIENTS
def test_a_slash_command_that_leaves_the_session(tmp_path: Path, client: str) -> None:
    """After /exit or /clear the session is not there any more, which shows that the command arrived."""
    fake = FakeClient(tmp_path, client)
    fake.writes = False

    def leave() -> None:
        fake.gone = True
        fake.open.clear()

    fake.after_enter = leave
    assert send(fake.target, "/exit", fake.world()).result == "arrived"


@CLIENTS
def test_a_slash_command_that_opens_a_view(tmp_path: Path, client: str) -> None:
    """/cost, /model and others write nothing, and take the place of the input line."""
    fake = FakeClient(tmp_path, client)
    fake.writes = False
    fake.after_enter = lambda: setattr(fake, "view", "Settings\n  Esc to close\n")
    assert send(fake.target, "/cost", fake.world()).sign == "it opened a view"
    assert fake.pressed == 1


def test_no_terminal(tmp_path: Path) -> None:
    """A session in the background is told with the way to it; one in a terminal that cannot be driven with those that can."""
    fake = FakeClient(tmp_path)
    background = fake.open[0]._replace(background=True, tty="")
    for target, way in (
        (fake.target._replace(open=background, pane=None, reach="claude attach 1234abcd"), "claude attach 1234abcd"),
        (fake.target._replace(pane=None), "tmux"),
        (fake.target._replace(pane=None, reach="/resume in s003"), "/resume in s003"),
    ):
        with pytest.raises(Unavailable) as caught:
            send(target, TEXT, fake.world())
        assert way in caught.value.hint


def test_a_session_of_codex_background_server(tmp_path: Path) -> None:
    """Its own command takes the text, with the home that the session is in; nothing is typed."""
    fake = FakeClient(tmp_path, "codex", state="busy")
    fake.open[0] = fake.open[0]._replace(background=True, tty="")
    fake.transcript.write_text("")
    target = fake.target._replace(open=fake.open[0], pane=None, address="")
    assert send(target, "-v and more", fake.world()).result == "queued"
    ((argv, more),) = fake.ran
    assert argv == ("codex", "queue", "--thread", uid(1), "--message=-v and more", "--resume")
    assert more == {"CODEX_HOME": str(tmp_path)}
    assert fake.pasted == []
    fake.becomes("idle")
    with pytest.raises(Unavailable) as caught:  # taken, but nobody began with it
        send(target, TEXT, fake.world())
    assert "not given a second time" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("one", "one"),
        ("one\r\ntwo\rthree\n\n", "one\ntwo\nthree"),
        ("  indented\n\tby a tab", "  indented\n\tby a tab"),
        ("🎉 e\u0301 \u200d", "🎉 e\u0301 \u200d"),
        ("", None),
        (" \n\t\n", None),
        ("\x1b[201~rm -rf .\r", None),
        ("a\x03b", None),
        ("a\x00b", None),
        ("a\x7fb", None),
        ("a\x9b31mb", None),
        ("a\udce9b", None),
        ("x" * (MOST + 1), None),
        ("é" * (MOST // 2 + 1), None),
    ],
)
def test_fit(text: str, sent: str | None) -> None:
    """Text goes as it is, line ends aside; what steers a terminal, is empty or too long is refused with a hint."""
    if sent is not None:
        assert fit(text) == sent
        return
    with pytest.raises(Usage) as caught:
        fit(text)
    assert caught.value.hint


@given(st.text())
def test_what_is_sent_cannot_end_the_paste(text: str) -> None:
    """Whatever is typed: only printable characters, tabs and line ends are left, or it is refused."""
    try:
        kept = fit(text)
    except Usage:
        return
    assert not any((ord(char) < 32 and char not in "\n\t") or 127 <= ord(char) < 160 for char in kept)
    kept.encode()


LONG = st.lists(st.text(alphabet="ab é/", max_size=20) | st.just("x" * 2000)).map("\n".join)


@given(LONG)
def test_pieces(text: str) -> None:
    """Put together they are the text; for Claude Code each is small enough not to be taken for something copied."""
    assert pieces("codex", text) == [text]
    found = pieces("claude", text)
    assert "".join(found) == text
    if len(found) > 1:
        assert len(found) <= PASTES
        assert all(len(one) <= CHARACTERS and one.count("\n") < LINES for one in found)


def test_a_request_of_several_lines_is_no_pasted_document(tmp_path: Path) -> None:
    """Claude Code gets it in several pastes and one Enter; what is very long goes in one."""
    fake = FakeClient(tmp_path)
    text = "\n".join(f"step {number}" for number in range(30))
    assert send(fake.target, text, fake.world()).result == "arrived"
    assert len(fake.pasted) == 15
    assert (fake.submitted, fake.pressed) == ([text], 1)
    assert pieces("claude", "\n".join("x" * 500)) == ["\n".join("x" * 500)]


def test_a_pane_of_a_terminal_that_does_not_know_its_device(tmp_path: Path) -> None:
    """kitty and others tell no tty: then the process decides alone."""
    fake = FakeClient(tmp_path)
    fake.pane = Pane("tmux", "%3")
    assert send(fake.target._replace(pane=fake.pane), TEXT, fake.world()).result == "arrived"
