"""What of a text under the user's name was typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.clients.wording import heard, strength, working_directory, wrapper

EDITOR = "# Context from my IDE setup:\n## Open tabs:\n- a"


@pytest.mark.parametrize(
    ("text", "typed", "beside"),
    [
        ("just words", "just words", ""),
        ("  padded\n", "padded", ""),
        ("", "", ""),
        ("<system-reminder>x</system-reminder>", "", ""),
        ("<system-reminder>x</system-reminder>\nwords", "words", ""),
        ("words\n<system-reminder>\nx\n</system-reminder>\nmore", "words\n\nmore", ""),
        ("<system-reminder>never closed", "<system-reminder>never closed", ""),
        ("a <b>bold</b> word", "a <b>bold</b> word", ""),
        ("<div>\n<p>pasted page</p>\n</div>", "<div>\n<p>pasted page</p>\n</div>", ""),
        ("<ide_selection>code</ide_selection>\nwhy?", "why?", "code"),
        ("<command-name>/init</command-name>", "/init", ""),
        ("<command-name>init</command-name><command-args>--all now</command-args>", "/init --all now", ""),
        ("<local-command-stdout>x</local-command-stdout>", "", ""),
        ("<bash-input>ls -la</bash-input>", "! ls -la", ""),
        ("<user-memory-input>always use tabs</user-memory-input>", "# always use tabs", ""),
        ("[Request interrupted by user for tool use]", "", ""),
        ("[Image #1] what is this?", "[Image #1] what is this?", ""),
        (f"{EDITOR}\n## My request for Codex:\nfix it", "fix it", EDITOR),
        (EDITOR, "", EDITOR),
        ("# A heading of my own", "# A heading of my own", ""),
        ("<pasted_content id=3 lines=9>\ntext\n</pasted_content>\nexplain", "text\nexplain", ""),
        ("<task-notification>x</task-notification>\nFull transcript available at: y", "", ""),
        ("<environment_context>\n<cwd>/x</cwd>\n</environment_context>", "", ""),
    ],
)  # fmt: skip
def test_words_are_told_apart(text: str, typed: str, beside: str) -> None:
    said = heard(text)
    assert (said.typed, said.beside) == (typed, beside)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Сделай выгрузку", 2),
        ("/deploy staging", 2),
        ("/deploy", 1),
        ("/clear", 0),
        ("/rename new title", 1),
        ("/home/dev/a.py is broken", 2),
        ("hi", 1),
        ("Hello!", 1),
        ("привет", 1),
        ("你好。", 1),
        ("a", 1),
        ("直す", 2),
        ("Warmup", 1),
        ("! ls", 1),
        ("", 0),
    ],
)
def test_a_bare_command_is_a_weak_answer_to_what_was_asked(text: str, expected: int) -> None:
    assert strength(text) == expected


@pytest.mark.parametrize(
    ("text", "ask"),
    [
        ('Rules first.\nUser request: "make it blue"\nMore rules.', "make it blue"),
        ('{\n  "user_request": "ls を見せて",\n  "untrusted_context": []\n}', "ls を見せて"),
        ("My user request: none", ""),
    ],
)
def test_a_labelled_request_is_the_ask(text: str, ask: str) -> None:
    said = heard(text)
    assert said.ask == ask and said.typed == text


def test_the_folder_stands_in_the_environment_block() -> None:
    assert working_directory("<environment_context>\n  <cwd>/a b</cwd>\n</environment_context>") == "/a b"
    assert working_directory("<environment_context>\nCurrent working directory: /c\n</environment_context>") == "/c"
    assert working_directory("I wrote <environment_context> <cwd>/x</cwd>") == ""


def test_one_unknown_block_alone_is_of_a_harness() -> None:
    assert wrapper("<new_thing>x</new_thing>")
    assert not wrapper("<new_thing>x</new_thing> and words")
    assert not wrapper("<div>x</div>")


@given(
    st.text()
    | st.lists(st.sampled_from(["<system-reminder>", "</system-reminder>", "\n", "<skill>", "a"])).map("".join)
)
def test_no_text_raises_and_nothing_is_invented(text: str) -> None:
    """What was typed stands in the text, letter by letter in its order."""
    said = heard(text)
    if not text.lstrip().startswith(("<command-", "<bash-input", "<user-")):
        letters = iter(text)
        assert all(letter in letters for letter in said.typed)
