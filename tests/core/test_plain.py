"""What may reach a terminal, and how wide it is."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.core.plain import clusters, cut, one_line, pad, plain, width

ANY = st.text(st.characters(exclude_categories=()), max_size=60)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words", "plain words"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38;2;1;2;3mcolour", "colour"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;https://example.invalid\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq payload\x1b\\after", "after"),
        ("\x1b(Bset", "set"),
        ("\x9b31mC1", "C1"),
        ("cursor\x1b[2J\x1b[Hhome", "cursorhome"),
        ("bell\x07 back\x08space", "bell backspace"),
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("tab\tstays", "tab\tstays"),
        ("over\u202eride\u2066x\u2069\u061c", "overridex"),
        ("half \ud83d emoji", "half \ufffd emoji"),
        ("\x1b\x1b[31m[32mnested", "[32mnested"),
        ("torn \x1b[31", "torn "),
        ("выгрузка 数据 é", "выгрузка 数据 é"),
        ("\x1b]0;no end, \nand more", "0;no end, \nand more"),
        ("wrongly decoded \x9d and \x90 lose nothing", "wrongly decoded  and  lose nothing"),
    ],
)
def test_escapes_and_controls_are_stripped(text: str, shown: str) -> None:
    assert plain(text) == shown


@given(ANY)
def test_nothing_that_steers_a_terminal_is_left_and_a_second_call_changes_nothing(text: str) -> None:
    once = plain(text)
    assert plain(once) == once
    assert not any(unicodedata.category(char) == "Cc" and char not in "\n\t" for char in once)
    once.encode("utf-8")


@given(ANY)
def test_one_line_is_one_line(text: str) -> None:
    assert "\n" not in one_line(text) and one_line(one_line(text)) == one_line(text)


PICTURES = ["👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "❤️", "é", "각", "数", "☺", "𠮷", "ไทย", "नि"]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("abc", 3),
        ("数据库", 6),
        ("выгрузка", 8),
        ("e\u0301", 1),
        ("👩‍👩‍👧‍👦", 2),
        ("🇩🇪", 2),
        ("👍🏽", 2),
        ("❤️", 2),
        ("नी", 1),
        ("ＡＢ", 4),
        ("", 0),
    ],
)
def test_width_is_in_columns(text: str, columns: int) -> None:
    assert width(text) == columns


@given(st.lists(st.sampled_from([*PICTURES, "a", " ", "ß", "会議"]), max_size=20).map("".join), st.integers(1, 40))
def test_a_cut_fits_and_never_parts_a_picture(text: str, columns: int) -> None:
    short = cut(text, columns)
    assert width(short) <= columns
    if short != text:
        assert short.endswith("…")
        kept = short[:-1]
        assert text.startswith(kept)
        borders = [0]
        for cluster, _ in clusters(text):
            borders.append(borders[-1] + len(cluster))
        assert len(kept) in borders


@given(ANY.map(one_line), st.integers(1, 40))
def test_columns_are_aligned(text: str, columns: int) -> None:
    assert width(pad(text, columns)) == columns
    assert width(cut(text, columns)) <= columns
