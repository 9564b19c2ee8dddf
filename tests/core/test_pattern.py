"""What a pattern finds, and that its sieve lets through every line where it may be found."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.core.pattern import Sieve, compiled
from recall.errors import Usage

FOUND = {
    "as it is": ("refused", "connection refused", "refused"),
    "case": ("REFUSED", "Connection Refused.", "Refused"),
    "cyrillic": ("ивановой", "Для ИВАНОВОЙ", "ИВАНОВОЙ"),
    "sharp s": ("strasse", "Die Straße dort", "Straße"),
    "sharp s typed": ("Straße", "DIE STRASSE DORT", "STRASSE"),
    "umlaut": ("ÜBER", "über", "über"),
    "greek end": ("ΟΔΟΣ", "οδος", "οδος"),
    "longer when folded": ("x", "ß ß İx", "x"),
    "signs": ("a.*b", "see a.*b here", "a.*b"),
    "cjk": ("会議", "明日の会議は", "会議"),
    "emoji": ("🎉", "done 🎉", "🎉"),
}


@pytest.mark.parametrize(("typed", "text", "match"), FOUND.values(), ids=FOUND)
def test_a_text_is_found_whatever_its_case(typed: str, text: str, match: str) -> None:
    place = compiled([typed]).find(text)
    assert place
    assert text[place[0] : place[1]] == match


def test_the_first_of_several_patterns_counts() -> None:
    pattern = compiled(["two", "one"], ["t[a-z]ree"])
    assert pattern.find("three two one") == (0, 5)
    assert pattern.find("four") is None


def test_an_expression_is_blind_to_case_and_its_anchors_mean_lines() -> None:
    assert compiled([], ["^error: x+$"]).find("a\nError: XX\nb") == (2, 11)
    assert compiled([], ["z*"]).find("abc") is None


@pytest.mark.parametrize(("typed", "said"), [("(a", "position 0"), ("a**", "position 2"), ("[z-a]", "position 1")])
def test_what_is_no_expression_is_refused_with_the_place(typed: str, said: str) -> None:
    with pytest.raises(Usage, match=said):
        compiled([], [typed])


def test_nothing_to_look_for_is_refused() -> None:
    with pytest.raises(Usage):
        compiled([""], [])


WRITERS: tuple[Callable[[str], bytes], ...] = (
    lambda text: json.dumps({"text": text}).encode(),
    lambda text: json.dumps({"text": text}, ensure_ascii=False).encode("utf-8", "replace"),
    lambda text: json.dumps({"text": text}, ensure_ascii=False).replace("/", "\\/").encode("utf-8", "replace"),
    lambda text: orjson.dumps({"text": orjson.dumps(text).decode()}),
)


def let_through(pattern: Sieve, line: bytes) -> bool:
    before, after = b'{"other":1}\n', b'\n{"last":2}'
    block = before + line + after
    return any(block[start:end] == line for start, end in pattern.lines(block))


ALPHABET = "aBsSzßẞéÉиИςΣσüÜ 项🎉\"\\/\n\t'#<&.-_İ"


@given(
    st.text(ALPHABET, max_size=30), st.integers(0, 29), st.integers(1, 6), st.sampled_from((str, str.upper, str.lower))
)
def test_the_sieve_lets_through_every_line_that_matches(
    text: str, start: int, size: int, typed: Callable[[str], str]
) -> None:
    part = typed(text[start : start + size])
    if not part or "ẞ" in text:
        return
    pattern = compiled([part])
    if pattern.find(text):
        assert all(let_through(Sieve(pattern), write(text)) for write in WRITERS)


PARTS = r"""
    a bc и ß . x* b? c+ z+? [ab] []a]x [\]a]b \. \d \n ^ $ (a|b) (?:bc)? a{2} b{0,1} a{ \x61 \141 é \b \/ " s |
""".split()  # noqa: SIM905 - a list of words
EXPRESSIONS = st.lists(st.sampled_from([*PARTS, " "]), min_size=1, max_size=6).map("".join)


@given(EXPRESSIONS, st.text('abcxzиИßéÉs.1/" \n{]', max_size=25))
def test_the_sieve_lets_through_what_an_expression_matches(expression: str, text: str) -> None:
    try:
        pattern = compiled([], [expression])
    except Usage:
        return
    if pattern.find(text):
        assert all(let_through(Sieve(pattern), write(text)) for write in WRITERS)


@given(st.lists(st.text(max_size=6), min_size=1, max_size=3).filter(any), st.text(max_size=60))
def test_the_place_of_a_match_is_in_the_text(typed: list[str], text: str) -> None:
    place = compiled(typed).find(text)
    if place:
        start, end = place
        assert 0 <= start < end <= len(text)
        assert any(one.casefold() in text[start:end].casefold() for one in typed if one)


def test_lines_that_cannot_match_are_passed_over() -> None:
    block = b"".join(b'{"text":"line %d"}\n' % number for number in range(1000))
    sieve = Sieve(compiled(["LINE 77"]))
    assert [block[start:end] for start, end in sieve.lines(block)] == [
        line for line in block.splitlines() if re.search(rb"line|77", line) and b"77" in line
    ]
