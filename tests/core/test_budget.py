"""What fits into a budget: never a byte more, no character cut, nothing left out unsaid."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.core.budget import fit, fit_document, head, size, tail, upto

TEXT = st.text(st.characters(exclude_characters="\n"), max_size=400)
UNITS = st.lists(st.one_of(TEXT, st.lists(TEXT, max_size=3).map("\n".join)), max_size=12)


def after(count: int) -> str:
    return f"… {count} more; recall show ID --tail 20"


def printed(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


@given(UNITS, st.integers(0, 2000), st.integers(-1, 12), st.booleans())
def test_it_is_never_longer(units: list[str], budget: int, focus: int, partly: bool) -> None:
    """For all texts, lone surrogates included, all budgets and every focus."""
    fitted = fit(units, budget, after=after, focus=focus, partly=partly)
    assert len(printed(fitted.lines)) <= budget or (not units and not fitted.lines)
    printed(fitted.lines).decode()


@given(UNITS, st.integers(0, 2000), st.booleans())
def test_what_is_left_out_is_counted(units: list[str], budget: int, partly: bool) -> None:
    """All units that stand there whole and those that were counted are all; all that fits is printed as it is."""
    fitted = fit(units, budget, after=after, partly=partly)
    if len(printed(units)) <= budget:
        assert (fitted.lines, fitted.left_out) == (units, 0)
    else:
        whole = len(units) - fitted.after
        assert fitted.left_out == fitted.after > 0
        assert fitted.lines[:whole] == units[:whole]


@given(st.lists(TEXT, min_size=1, max_size=12), st.integers(200, 1500))
def test_the_last_is_kept_where_the_end_is_wanted(units: list[str], budget: int) -> None:
    fitted = fit(units, budget, after=after, focus=len(units) - 1)
    assert fitted.after == 0 or size(units[-1]) + 60 > budget
    whole = len(units) - fitted.before
    if whole and not fitted.after:
        assert fitted.lines[len(fitted.lines) - whole :] == units[fitted.before :]


@given(TEXT, st.integers(0, 500))
def test_both_ends_of_a_text_fit(text: str, budget: int) -> None:
    for part in (head(text, budget), tail(text, budget)):
        assert size(part) <= budget
        assert part == text or "…" in part or budget < 3


@pytest.mark.parametrize(
    ("text", "budget", "beginning", "end"),
    [
        ("abcdefgh", 8, "abcdefgh", "abcdefgh"),
        ("abcdefghi", 8, "abcde…", "…efghi"),
        ("выгрузка", 9, "выг…", "…зка"),
        ("выгрузка", 10, "выг…", "…зка"),
        ("one two", 7, "one two", "one two"),
        ("one two three", 7, "one…", "…hree"),
        ("cafe\u0301 noir", 8, "caf…", "…noir"),
        ("ab👩\u200d💻cdefghij", 11, "ab…", "…cdefghij"),
        ("导出销售", 6, "导…", "…售"),
        ("abc", 2, "", ""),
    ],
)
def test_no_character_is_cut(text: str, budget: int, beginning: str, end: str) -> None:
    """Not in its bytes, and not from what is combined with it."""
    assert (head(text, budget), tail(text, budget)) == (beginning, end)


def test_whole_rows_and_a_note() -> None:
    rows = [f"row {n} " + "x" * 50 for n in range(10)]
    fitted = fit(rows, 250, after=after)
    assert fitted.lines == [*rows[:3], "… 7 more; recall show ID --tail 20"]


def test_round_a_line() -> None:
    """Both notes, and the line in the middle of what is between them."""
    rows = [f"row {n:02} " + "x" * 30 for n in range(40)]
    fitted = fit(rows, 300, after="… {} behind".format, before="… {} before".format, focus=20)
    assert fitted.lines[0] == f"… {fitted.before} before"
    assert fitted.lines[-1] == f"… {fitted.after} behind"
    assert rows[20] in fitted.lines
    assert fitted.before + fitted.after + len(fitted.lines) - 2 == 40


def test_of_a_long_line_a_part_is_shown() -> None:
    """At its border, and it counts as left out."""
    fitted = fit(["short", "y" * 500, "end"], 300, after=after, partly=True)
    assert fitted.lines[1].startswith("yyyy")
    assert fitted.lines[1].endswith("…")
    assert fitted.lines[2] == "… 2 more; recall show ID --tail 20"
    fitted = fit(["begin", "y" * 500, "end"], 300, after=after, focus=2, partly=True)
    assert [line[:5] for line in fitted.lines] == ["… 2 b", "…yyyy", "end"]


@given(st.lists(TEXT, max_size=12), st.integers(0, 300))
def test_what_is_far_behind_need_not_be_held(units: list[str], budget: int) -> None:
    """What fits is the same."""
    short = fit(list(upto(units, budget)), budget, after=after, partly=True)
    assert short == fit(units, budget, after=after, partly=True)


@given(st.lists(st.integers(0, 10**9), max_size=30), TEXT, st.integers(60, 900), st.booleans())
def test_a_document_fits(rows: list[int], text: str, budget: int, end: bool) -> None:
    """Or it says how many bytes it takes; what was taken is counted."""

    def measure(document: dict[str, object]) -> int:
        return len(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"))

    document = {"rows": list(rows), "text": text}
    needed = fit_document(document, budget, measure, lists=("rows",), texts=("text",), ends=("rows",) if end else ())
    assert needed == measure(document)
    left = document.get("left_out", {})
    assert isinstance(left, dict)
    kept = len(rows) - left.get("rows", 0)
    assert document["rows"] == (rows[len(rows) - kept :] if end else rows[:kept])
    if measure({"rows": rows, "text": text}) <= budget:
        assert not left
    elif needed > budget:
        assert not document["rows"]
        assert size(str(document["text"])) <= 3
