"""What is read off a client's screen. The screens are drawn as Claude Code 2.1.332 and Codex 0.171.0 draw them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.core import screen

RULE = "─" * 60

CLAUDE = f"""\
 ▐▛███▛█   Claude Code v2.1.332
▝▜██████▀  Opus 5.5 · API Usage Billing

❯ hello one
  line two

● First answer.

✻ Cogitated for 0s · done 7:36 PM



{RULE}
❯ {{}}
{RULE}
  ⏵⏵ accept edits on (shift+tab to cycle)
"""

CLAUDE_ASKS = f"""\
❯ run please

● I run it
  ⎿  $ touch it

{RULE}
 Bash command
 touch it
 Do you want to proceed?
 ❯ 1. Yes
   2. No

 Esc to cancel · Tab to amend
"""

CLAUDE_OFFERS = f"""\
● First answer.

{RULE}
  Make auto mode your default permission mode?

  ❯ Yes, set auto mode as my default permission mode
    No, keep manual mode

  Not answered yet · ↑/↓ to choose · Esc to cancel
"""

CLAUDE_TRANSCRIPT = f"""\
❯ one

● answer

❯ queued text

{RULE}
  Showing detailed transcript · ctrl+o to toggle · ↑/↓ to scroll
"""

CLAUDE_MENU = f"""\
● First answer.

  ❯ /compact                    Free up context by summarizing the conversation so far
    /autocompact                Set how full the context gets before auto-summarizing
{RULE}
❯ /compact
{RULE}
  ⏵⏵ accept edits on (shift+tab to cycle)
"""

CODEX = """\
  >_ OpenAI Codex (v0.171.0)
     ~/crm

› hello one
  line two

• First answer.

  Worked for <1s • 19:38


› {}

  gpt-5.4 default · ~/crm · example
  ← for agents · ? for shortcuts                              ⚠ 2 warnings · f2 to view
"""

CODEX_ASKS = """\
› run please

• Running touch it

  Would you like to run the following command?

  $ touch it

› 1. Yes, proceed (y)
  2. Yes, and don't ask again for commands that start with `touch it` (p)
  3. No, and tell Codex what to do differently (esc)

  Press enter to confirm or esc to cancel
"""

CODEX_MENU = """\
• First answer.

  Select Model and Effort

› 1. GPT-6.2-Sol    Fast, go-to model for coding and everyday work.
  2. GPT-6.2-Astra  Our most capable model for complex coding and professional work.
  enter select · esc back
"""

CODEX_WORKS = """\
› one slow

• Working (1s • esc to interrupt)

• Messages to be submitted after next tool call (press esc to interrupt and send immediately)
  ↳ queued text
    second line

› Ask Codex to do anything

  gpt-5.4 default · ~/crm · example
"""


@pytest.mark.parametrize(
    ("client", "shown", "inside"),
    [
        ("claude", CLAUDE.format(""), ""),
        ("claude", CLAUDE.format("one\n  two\n\n  three"), "one\ntwo\n\nthree"),
        ("claude", CLAUDE.format("Press up to edit queued messages"), ""),
        ("claude", CLAUDE.replace("❯ {}", "! echo hi"), "echo hi"),
        ("claude", CLAUDE.format(f"above\n  {RULE}\n  below"), f"above\n{RULE}\nbelow"),
        ("claude", CLAUDE_MENU, "/compact"),
        ("claude", CLAUDE_ASKS, None),
        ("claude", CLAUDE_OFFERS, None),
        ("claude", CLAUDE_TRANSCRIPT, None),
        ("claude", "$ ls\n❯ fish has this prompt too", None),
        ("claude", "", None),
        ("codex", CODEX.format("Ask Codex to do anything"), ""),
        ("codex", CODEX.format("one\n  two\n\n  three"), "one\ntwo\n\nthree"),
        ("codex", CODEX.format("1. do this\n  2. press enter to confirm or esc to cancel"), "1. do this\n2. press enter to confirm or esc to cancel"),
        ("codex", CODEX_WORKS, ""),
        ("codex", CODEX_ASKS, None),
        ("codex", CODEX_MENU, None),
        ("codex", CODEX_MENU.replace("  enter select · esc back\n", ""), None),
        ("codex", "› said before\n\n• answered\n\n  no input line", None),
        ("codex", "", None),
    ],
)  # fmt: skip
def test_input_line(client: str, shown: str, inside: str | None) -> None:
    """What stands in the input line; None where none is drawn, whatever was said above it."""
    assert screen.input_line(client, shown) == inside


@pytest.mark.parametrize(
    ("client", "shown", "shell"),
    [
        ("claude", CLAUDE.replace("❯ {}", "! "), True),
        ("claude", CLAUDE.replace("❯ {}", "! echo hi"), True),
        ("claude", CLAUDE.format("! echo"), True),
        ("claude", CLAUDE.format("echo !"), False),
        ("claude", CLAUDE.format(""), False),
        ("claude", CLAUDE_ASKS, False),
        ("codex", CODEX.format("!"), True),
        ("codex", CODEX.format("!ls"), True),
        ("codex", CODEX.format("ls!"), False),
    ],
)
def test_for_shell(client: str, shown: str, shell: bool) -> None:
    assert screen.for_shell(client, shown) is shell


def test_a_long_draft_is_still_an_input_line() -> None:
    """A draft of many paragraphs is taller than what a client draws below its input line."""
    draft = "\n\n".join(f"  paragraph {number}" for number in range(20)).strip()
    for client, shown in (("claude", CLAUDE), ("codex", CODEX)):
        assert "paragraph 19" in (screen.input_line(client, shown.format(draft)) or "")


@pytest.mark.parametrize(
    ("client", "shown", "open_"),
    [
        ("claude", CLAUDE_ASKS, True),
        ("claude", CLAUDE_OFFERS, True),
        ("claude", CLAUDE.format(""), False),
        ("claude", CLAUDE_MENU, False),
        ("claude", CLAUDE_TRANSCRIPT, False),
        ("claude", CLAUDE.format("❯ 1. Yes\n  Esc to cancel"), False),
        ("codex", CODEX_ASKS, True),
        ("codex", CODEX_MENU, True),
        ("codex", CODEX_WORKS, False),
        ("codex", CODEX.format("press enter to confirm or esc to cancel"), False),
        ("codex", "", False),
    ],
)
def test_asks(client: str, shown: str, open_: bool) -> None:
    """A question is open; that somebody wrote about one is none."""
    assert screen.asks(client, shown) is open_


def test_works() -> None:
    """A client that says at the bottom that it can be interrupted works; one that was told so long ago does not."""
    assert screen.works(CODEX_WORKS)
    assert not screen.works(CODEX.format("Ask Codex to do anything"))
    assert not screen.works("• Working (1s • esc to interrupt)\n" + "said\n" * 40)


@pytest.mark.parametrize(
    ("inside", "text", "held"),
    [
        ("one\ntwo\nthree", "one\ntwo\nthree", True),
        ("a long line that was bro\nken by the frame", "a long line that was broken by the frame", True),
        ("[Pasted text #1 +599 lines]", "x\n" * 600, True),
        ("[Pasted Content 12599 chars]", "x\n" * 600, True),
        ("the end of a text that is longer than the input line", "much before " * 9 + "the end of a text that is longer than the input line", True),
        ("my draftand pasted\ntext", "and pasted\ntext", True),
        ("?!", "?!", True),
        ("", "one", False),
        ("something else", "one two three", False),
    ],
)  # fmt: skip
def test_holds(inside: str, text: str, held: bool) -> None:
    """A text is known again though it is shown in part, wrapped, or as a placeholder."""
    assert screen.holds(inside, text) is held


@pytest.mark.parametrize(
    ("before", "inside", "text", "more"),
    [
        ("", "text", "text", False),
        ("my draft", "my drafttext", "text", True),
        ("my draft", "my texdraft", "tex", True),
        ("my draft", "my draft[Pasted text #1 +599 lines]", "x\n" * 600, True),
        ("[Pasted text #1 +9 lines]", "[Pasted text #1 +9 lines][Pasted text #2 +5 lines]", "y\n" * 6, True),
        ('Try "fix the tests"', "text", "text", False),
        ("text", "text and more", "text and more", False),
        ("r", "rrun", "run", True),
    ],
)
def test_mixed(before: str, inside: str, text: str, more: bool) -> None:
    """A draft that a person has left is told from a suggestion of the client, which a paste replaces."""
    assert screen.mixed(before, inside, text) is more


def test_shows() -> None:
    """Case and the places where lines are broken do not matter."""
    assert screen.shows("● All tests have\n  Passed.", "tests have passed")
    assert not screen.shows("● All tests have failed", "passed")


def test_last_leaves_out_what_a_tall_window_leaves_empty() -> None:
    """N lines are N lines of something; escapes are none of it."""
    assert screen.last("one\n\n\n\n\x1b[31mtwo\x1b[0m   \nthree\n\n\n", 3) == "\ntwo\nthree"
    assert screen.last("", 5) == ""


@given(st.text(), st.text(), st.sampled_from(["claude", "codex"]))
def test_nothing_on_a_screen_breaks_it(shown: str, text: str, client: str) -> None:
    """A screen can hold anything."""
    found = screen.input_line(client, shown)
    screen.asks(client, shown)
    screen.works(shown)
    screen.last(shown, 5)
    screen.holds(found or "", text)
    screen.mixed(text, shown, text)
