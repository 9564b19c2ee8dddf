"""The parts of the picker that need no screen: text on a grid, rows, completion, keys, the clipboard."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from recall.core.model import Glance, Hit, Session
from recall.core.plain import width
from recall.core.spots import AROUND, excerpt, spans
from recall.tui import clipboard
from recall.tui.completion import apply, complete, settled, values
from recall.tui.keys import KEYS
from recall.tui.rows import age, draw
from recall.tui.text import block, safe, steady, wrapped

PICTURES = "👨‍👩‍👧👍🏽🇩🇪🇫❤️1️⃣\u200d\ufe0fé\u0301ก็हिन्दी家族한국\u00ad\u202e\x1b[31m\t\n"
TEXTS = st.text(st.one_of(st.sampled_from(PICTURES), st.characters()), max_size=40)


# -- text -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("👨‍👩‍👧 family", "👨 family"),
        ("🇩🇪 flag", "DE flag"),
        ("👍🏽", "👍"),
        ("❤️", "❤"),
        ("1️⃣", "1"),
        ("e\u0301", "é"),
        ("ที่", "ที่"),
        ("a\u200bb\ufeffc", "abc"),
    ],
)
def test_pictures_become_what_all_terminals_draw_alike(text: str, shown: str) -> None:
    """Of a sequence that terminals draw differently, its first sign stays."""
    assert steady(text) == shown


@given(TEXTS)
def test_one_width_for_all(text: str) -> None:
    """What may be shown has the same width for recall and for the library that draws it, and no line end or escape."""
    shown = safe(text)
    assert width(shown) == cell_len(shown)
    assert "\n" not in shown and "\x1b" not in shown
    assert all(width(line) == cell_len(line) for line in block(text))


@given(TEXTS, st.integers(2, 30))
def test_wrapped_lines_fit_and_lose_nothing(text: str, columns: int) -> None:
    """No line is wider than asked for; put together they hold every letter in order."""
    shown = safe(text)
    lines = list(wrapped(shown, columns))
    assert all(width(line) <= columns for line in lines)
    assert "".join("".join(lines).split()) == "".join(shown.split())


def test_secrets_and_escapes_are_not_shown() -> None:
    """Text of a transcript is redacted and cannot steer the terminal."""
    key = "sk-ant-api03-" + "Zr7Qw2Lm9Xc4Vb6N" * 5
    assert "Zr7Qw2" not in safe(f"use {key} \x1b]0;title\x07now")
    assert block(f"a\n\x1b[2J{key}")[0] == "a"
    assert "Zr7Qw2" not in "".join(block(f"a\n{key[:20]}\x1b[0m{key[20:]}"))


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("Umlaute in Köln", {"umlaute", "koln"}, ["Umlaute", "Köln"]),
        ("выгрузку и выгрузки", {"выгрузку", "выгрузки"}, ["выгрузку", "выгрузки"]),
        ("parseConfig runs", {"config"}, ["Config"]),
        ("parse_config", {"parse", "config"}, ["parse", "config"]),
        ("写真を整理する", {"整理"}, ["整理"]),
        ("会議会議録", {"会議"}, ["会議会議"]),
        ("Ёлка", {"елка"}, ["Ёлка"]),
        ("substring", {"string"}, []),
        ("nothing", set(), []),
    ],
)
def test_found_words_are_marked(text: str, words: set[str], found: list[str]) -> None:
    """Words of the index are found in the text as it is written."""
    assert [text[start:end] for start, end in spans(text, words)] == found


@given(TEXTS, st.sets(st.sampled_from(["a", "家族", "한국", "é", "1", "हिन्दी"])))
def test_marks_are_in_order_and_inside(text: str, words: set[str]) -> None:
    """Whatever the text, the places are within it, in order, and do not overlap."""
    at = 0
    for start, end in spans(text, words):
        assert at <= start < end <= len(text)
        at = end


@given(TEXTS, st.integers(0, 30), st.sampled_from(["word", "家族", "nothing"]))
def test_an_excerpt_holds_a_found_word(text: str, times: int, word: str) -> None:
    """A long text is cut to a few lines, and a word that was found is in what is left."""
    whole = f"{text * times} word 家族 {text * times}"
    found = spans(whole, {word})
    cut = excerpt(whole, found)
    assert len(cut) <= 2 * AROUND + 2
    assert word in cut or not found
    assert cut.strip("…") in whole


# -- rows -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-5, "now"),
        (59, "now"),
        (60, "1m"),
        (3599, "59m"),
        (7200, "2h"),
        (86400, "1d"),
        (13 * 86400, "13d"),
        (20 * 86400, "2w"),
        (100 * 86400, "3mo"),
        (400 * 86400, "1y"),
        (1e12, "99y"),
    ],
)
def test_ages(seconds: float, shown: str) -> None:
    """An age is one number and one unit, in four columns at most."""
    assert age(seconds) == shown


@given(TEXTS, TEXTS, st.integers(30, 200), st.booleans(), st.booleans())
def test_a_row_is_exactly_as_wide_as_asked(title: str, project: str, columns: int, live: bool, selected: bool) -> None:
    """Whatever a session is called, its row has the columns of the list."""
    row = Session(1, "claude", "x" * 36, project=project, ask=title, updated=5.0, messages=1, tags="one\ntwo", chain=3)
    strip = draw(Hit(row, "all-terms", 1.0), {"家族"}, live, 100.0, columns, selected=selected)
    assert strip.cell_length == columns == width(strip.text)


# -- completion -----------------------------------------------------------------------------------------------------

KNOWN = {"project": ("crm", "shop", "my app"), "tag": ("export", "excel"), "branch": ("main",)}


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("pro", ["project:"]),
        ("s", ["status:", "since:"]),
        ("word cl", ["client:"]),
        ("project:", ["project:crm", "project:shop", 'project:"my app"']),
        ("project:m", ['project:"my app"', "project:crm"]),
        ("PROJECT:SH", ["project:shop"]),
        ("tag:ex", ["tag:export", "tag:excel"]),
        ("a #ex", ["#export", "#excel"]),
        ("status:do", ["status:done"]),
        ("client:", ["client:claude", "client:codex"]),
        ("is:li", ["is:live"]),
        ("branch:m", ["branch:main"]),
        ("nosuch:", []),
        ("zzz", []),
    ],
)
def test_completion(text: str, choices: list[str]) -> None:
    """What fits at the end of what was typed, what begins so first."""
    assert list(complete(text, len(text), KNOWN).choices) == choices


def test_all_filters_are_told_where_nothing_is_typed() -> None:
    """At a blank every filter is offered."""
    assert len(complete("word ", 5, KNOWN).choices) == 9


@pytest.mark.parametrize(
    ("text", "cursor", "choice", "after", "end"),
    [
        ("pro", 3, "project:", "project:", 8),
        ("a tag:e", 7, "tag:export", "a tag:export ", 13),
        ("sta word", 3, "status:", "status: word", 7),
        ("tag:e word", 5, "tag:export", "tag:export word", 10),
    ],
)
def test_a_choice_is_put_in(text: str, cursor: int, choice: str, after: str, end: int) -> None:
    """It stands in place of what was typed; the rest stays, and the cursor is behind it."""
    assert apply(text, complete(text, cursor, KNOWN), choice) == (after, end)


@pytest.mark.parametrize(
    ("text", "searched"),
    [
        ("word project:", "word "),
        ("word status:do", "word "),
        ("word status:done", "word status:done"),
        ("tag:exp", ""),
        ("tag:export", "tag:export"),
        ("tag:none", "tag:none"),
        ("project:c", "project:c"),
        ("http://x", "http://x"),
        ("word", "word"),
    ],
)
def test_a_filter_that_is_being_typed_waits(text: str, searched: str) -> None:
    """Until its value is one, or can be none any more, it empties no list."""
    assert settled(text, KNOWN) == searched


def glance(no: int, project: str, tags: str = "", hidden: bool = False) -> Glance:
    return Glance(no, str(no), "claude", "/x", project, "main", 1.0, 2, hidden, False, False, 0, 1, 1, "done", tags)


def test_values_come_most_frequent_first() -> None:
    """Projects, tags and branches of what is listed; headless sessions give none."""
    rows = [glance(1, "b", "x"), glance(2, "a", "y\nx"), glance(3, "b"), glance(4, "robot", "z", hidden=True)]
    assert values(rows) == {"project": ("b", "a"), "tag": ("x", "y"), "branch": ("main",)}


# -- keys and clipboard ---------------------------------------------------------------------------------------------


def test_no_key_stands_for_two_things() -> None:
    """Each key has one action, and none is one that a terminal cannot tell from another or a multiplexer takes."""
    names = [name for key in KEYS for name in key.keys.split(",")]
    assert len(names) == len(set(names))
    assert not {"ctrl+a", "ctrl+b", "ctrl+h", "ctrl+i", "ctrl+j", "ctrl+m"} & set(names)


def program(folder: Path, name: str, into: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f'#!/bin/sh\ncat > "{into}"\n')
    (folder / name).chmod(0o700)


@pytest.mark.parametrize(
    ("variables", "took"),
    [
        ({}, ["pbcopy"]),
        ({"SSH_TTY": "/dev/pts/1"}, []),
        ({"SSH_CONNECTION": "a b", "DISPLAY": ":1"}, []),
        ({"TMUX": "x", "SSH_TTY": "/dev/pts/1"}, ["tmux"]),
        ({"TMUX": "x"}, ["tmux", "pbcopy"]),
    ],
)
def test_the_clipboard_that_is_there(tmp_path: Path, variables: Mapping[str, str], took: list[str]) -> None:
    """The desktop's program where we are on the desktop, tmux inside of tmux; over ssh only the terminal itself."""
    for name in ("pbcopy", "tmux", "xclip"):
        program(tmp_path / "bin", name, tmp_path / f"{name}.txt")
    env = {"PATH": f"{tmp_path / 'bin'}:{os.environ.get('PATH', os.defpath)}", **variables}
    assert clipboard.give("cd 'x' && claude", env) == took
    assert {name for name in ("pbcopy", "tmux", "xclip") if (tmp_path / f"{name}.txt").exists()} == set(took)
    for name in took:
        assert (tmp_path / f"{name}.txt").read_text() == "cd 'x' && claude"
