"""TAGS.md: counts are ours, every other line is somebody's."""

from __future__ import annotations

from recall.core.tags import preferred, render

INTRO = "Tags of the cards, the most used first. A line of your own, without a number, stays: its tag is preferred."
HEAD = f"# Tags\n\n{INTRO}\n\n"


def test_the_first_file() -> None:
    assert render("", {"api": 1, "export": 3}) == HEAD + "- export (3)\n- api (1)\n"
    assert render("", {}) == ""


def test_counts_are_brought_up_to_date_in_their_place() -> None:
    """Tags that nothing carries any more go; writing the same counts again changes nothing."""
    old = render("", {"api": 1, "export": 3}) + "\nAsk Ann before adding one.\n"
    new = render(old, {"export": 2, "crm": 5})
    assert new == HEAD + "- crm (5)\n- export (2)\n\nAsk Ann before adding one.\n"
    assert render(new, {"export": 2, "crm": 5}) == new


def test_a_line_of_ones_own_stays_and_is_not_said_twice() -> None:
    old = HEAD + "- billing: invoices and what belongs to them\n- export (3)\n* `deploy`\n"
    new = render(old, {"billing": 7, "export": 4})
    assert new == HEAD + "- billing: invoices and what belongs to them\n- export (4)\n* `deploy`\n"
    assert render(new, {}) == HEAD + "- billing: invoices and what belongs to them\n* `deploy`\n"


def test_preferred_are_ones_own_then_the_most_used() -> None:
    assert preferred(HEAD + "- api (1)\n- export (3)\n- Billing: invoices\n") == ["billing", "export", "api"]
    assert preferred("") == []
