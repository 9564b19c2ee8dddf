"""What the terminals share: the armour, text to paste, labels, terminal devices."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.errors import Refused
from recall.terminals.applescript import string
from recall.terminals.armour import PROGRAM, armoured
from recall.terminals.base import label, size
from recall.terminals.pasting import bracketed, pasteable
from recall.terminals.ttys import ttys
from tests.terminals.fake_osascript import string as read_string
from tests.terminals.fake_osascript import words
from tests.terminals.hostile import SINGLE

WORDS = st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=20), max_size=5)
ECHO = ("/bin/sh", "-c", "printf '%s\\0' \"$@\"", "echo")


@settings(max_examples=40, deadline=None)
@given(WORDS)
def test_the_armour_holds(typed: list[str]) -> None:
    """Whatever the words are, `sh` gets them back."""
    done = subprocess.run(armoured((*ECHO, *typed)), capture_output=True, check=True)
    assert done.stdout == b"".join(word.encode() + b"\0" for word in typed) or (not typed and done.stdout == b"\0")


@pytest.mark.parametrize("shell", [("bash", "--posix"), ("zsh", "--emulate", "sh"), ("busybox", "sh"), ("mksh",)])
def test_the_armour_in_other_kinds_of_sh(shell: tuple[str, ...]) -> None:
    """`/bin/sh` is not the same program everywhere."""
    if not shutil.which(shell[0]):
        pytest.skip(f"no {shell[0]} here")
    done = subprocess.run((*shell, *armoured((*ECHO, *SINGLE))[1:]), capture_output=True, check=True)
    assert done.stdout == b"".join(os.fsencode(word) + b"\0" for word in SINGLE)


def test_the_armour_needs_no_quoting_of_its_own() -> None:
    """It holds nothing that AppleScript, iTerm2, a shell or a tmux format acts upon inside of quotes."""
    assert not set(PROGRAM) & set("'\"\\`!#")
    assert "$$" not in PROGRAM
    assert not re.search(r"\$\w+([ /]|$)", PROGRAM)  # to Konsole such a name is a variable's
    for name in SINGLE:
        assert re.fullmatch(r"[A-Za-z0-9_./:,+=@-]+", armoured(("x", name))[-1])


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_an_applescript_string(text: str) -> None:
    """What is written as a string is read as the same text."""
    assert read_string(string(text)) == text


@pytest.mark.parametrize("text", ["я", "a\nb", "\x1b"])
def test_no_applescript_string(text: str) -> None:
    """What may not arrive as it is, is not written at all."""
    with pytest.raises(ValueError, match="ASCII"):
        string(text)


def test_the_stand_in_cuts_words_as_iterm2_does() -> None:
    """The cases are those that iTerm2's own tests have."""
    assert words(r"foo\ bar baz") == ["foo bar", "baz"]
    assert words(r"foo\n bar") == ["foo\n", "bar"]
    assert words(r'"foo\ bar"') == [r"foo\ bar"]
    assert words('foo" "bar') == ["foo bar"]
    assert words("'a b'") == ["a b"]
    assert words("'a b'", single=False) == ["'a", "b'"]


@pytest.mark.parametrize(
    ("text", "put"),
    [
        ("one\ntwo", "one\ntwo"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("\ttab", "\ttab"),
        ("Привет 👩‍💻", "Привет 👩‍💻"),
        ("", ""),
    ],
)
def test_text_to_paste(text: str, put: str) -> None:
    """Text is pasted as it is, its line ends as LF."""
    assert pasteable(text) == put
    assert bracketed(text) == f"\x1b[200~{put}\x1b[201~"


@pytest.mark.parametrize("text", ["a\x1b[201~\rrm -rf x\r", "a\rb", "\0", "\x7f", "\x9b201~", "\x03", "\udcff"])
def test_what_acts_is_not_pasted(text: str) -> None:
    """A character that could end the paste or act in the terminal is refused, and said so."""
    with pytest.raises(Refused, match="control character"):
        pasteable(text)


@pytest.mark.parametrize("title", SINGLE)
def test_a_label(title: str) -> None:
    """It is one short line of visible characters that is no option."""
    seen = label(title)
    assert seen.isprintable()
    assert len(seen) <= 80
    assert not seen.startswith(("-", " "))


def test_size() -> None:
    """Bytes, not characters, and what ends each word."""
    assert size(("a", "я", "\udcff", "")) == 2 + 3 + 2 + 1


def test_the_tty_of_a_process() -> None:
    """It is found by the process's number; a process without one, or none at all, has none."""
    master, slave = pty.openpty()
    name = os.ttyname(slave).removeprefix("/dev/")
    command = ("/bin/sh", "-c", "exec 3<>/dev/tty; echo on; read x")
    child = subprocess.Popen(
        ("setsid", "-c", *command) if shutil.which("setsid") else command,
        stdin=slave,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"on\n"
    found = ttys((child.pid, 0, -1, 1 << 22), os.environ)
    child.kill()
    child.communicate()
    os.close(master)
    os.close(slave)
    assert found == {child.pid: name}
