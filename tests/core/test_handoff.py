"""Handoffs as text and back, how they are made, and which are refused."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.core.extract import extract
from recall.core.handoff import (
    CHARACTERS,
    LINES,
    brief,
    extracted_handoff,
    handoff_from_reply,
    parse,
    refusal,
    render,
)
from recall.core.model import Handoff
from tests.core.sessions import Talk, export
from tests.core.test_redact import TOKENS

NOW = 1_781_200_000.0
WHOLE = Handoff(
    "0a1b2c3d-0000-4000-8000-000000000001",
    "crm · deals export",
    "/home/dev/crm",
    NOW,
    "claude-haiku-5-5",
    "Export the deals of Acme Corp to CSV, for CRM-128.",
    ("export_deals written (1a2b3c4)",),
    ("header row: half of test_header passes",),
    ("Run `pytest tests/test_header.py`", "Push feat/export"),
    ("dates are in local time",),
)
TEXT = """\
# crm · deals export
0a1b2c3d-0000-4000-8000-000000000001 | /home/dev/crm | 2026-06-11T17:46:40Z | claude-haiku-5-5
## Task now
Export the deals of Acme Corp to CSV, for CRM-128.
## Done
- export_deals written (1a2b3c4)
## In flight
- header row: half of test_header passes
## Next
1. Run `pytest tests/test_header.py`
2. Push feat/export
## Gotchas
- dates are in local time
"""


def by_code(talk: Talk) -> Handoff:
    return extracted_handoff(extract(talk.records, talk.facts), talk.facts, id="s", now=NOW)


def by_model(value: object, talk: Talk | None = None) -> Handoff:
    talk = talk or export()
    return handoff_from_reply(value, extract(talk.records, talk.facts), talk.facts, id="s", model="m", now=NOW)


def test_the_text() -> None:
    assert render(WHOLE) == TEXT and parse(TEXT) == WHOLE


def test_a_file_that_somebody_edited_is_understood() -> None:
    text = TEXT.replace("## Next", "\n### next steps:\n").replace("1. Run", "* Run").replace("2. Push", "3) Push")
    text = (
        "\ufeff" + text.replace("## Done", "## Сделано").replace("\n", "\r\n") + "\n## Client's summary\n- not ours\n"
    )
    assert parse(text) == WHOLE


@pytest.mark.parametrize("text", ["", "words", "# only a title", "## Next\n1. x", "a | b | c | d", "\0\x1b[31m"])
def test_anything_can_be_read(text: str) -> None:
    assert parse(text, "the-id").id in ("the-id", "a")


LINE = st.text(max_size=500) | st.sampled_from(["слово " * 90, "任务" * 200, "# x", "## Next", "a | b | c | d", "1. x"])


@settings(max_examples=200, deadline=None)
@given(
    texts=st.lists(LINE, min_size=4, max_size=4),
    points=st.lists(st.lists(LINE, max_size=20), min_size=4, max_size=4),
    updated=st.floats(0, 4e9),
)
def test_never_too_long_and_stable(texts: list[str], points: list[list[str]], updated: float) -> None:
    """At most 25 lines and 2,000 characters; what was read back is written the same."""
    handoff = Handoff("id", texts[0], texts[1], updated, texts[2], texts[3], *map(tuple, points))  # type: ignore[arg-type]
    text = render(handoff)
    assert text.count("\n") <= LINES and len(text) <= CHARACTERS
    again = render(parse(text, "id"))
    assert render(parse(again, "id")) == again
    if any(point.strip() and point.isprintable() for point in points[2]) and texts[3].isprintable():
        assert "## Next" in text


def test_next_steps_are_kept_longest() -> None:
    many = tuple(f"point {n} " + "with words " * 20 for n in range(8))
    text = render(WHOLE._replace(done=many, in_flight=many, next=many[:5], gotchas=many))
    assert parse(text).next and len(parse(text).next) >= 4 > len(parse(text).done)


REFUSED = [
    (WHOLE._replace(task=""), "no task"),
    (WHOLE._replace(task="The user asked to continue"), "boilerplate"),
    (WHOLE._replace(task="This session is being continued from a previous conversation that ran out"), "boilerplate"),
    (WHOLE._replace(task="Пользователь попросил продолжить работу"), "boilerplate"),
    (WHOLE._replace(task="继续之前的任务"), "boilerplate"),
    (WHOLE._replace(task="前回の続きをする"), "boilerplate"),
    (WHOLE._replace(task="<one sentence: what is being done>"), "boilerplate"),
    (WHOLE._replace(next=()), "no next step"),
    *(
        (WHOLE._replace(next=(step,)), "says nothing")
        for step in ("continue", "n/a", "Keep going.", "продолжить", "继续", "続ける", "weiter machen", "None", "...")
    ),
    (WHOLE._replace(next=("Export deals of Acme Corp to the CSV for CRM-128",)), "repeats the task"),
    (WHOLE._replace(by="extract", next=(), done=(), in_flight=()), "no next step"),
]


@pytest.mark.parametrize(("handoff", "reason"), REFUSED)
def test_a_handoff_that_says_nothing_is_refused(handoff: Handoff, reason: str) -> None:
    assert reason in refusal(handoff)


@pytest.mark.parametrize(
    "handoff",
    [
        WHOLE,
        WHOLE._replace(next=("Запустить тесты выгрузки",)),
        WHOLE._replace(next=("部署到测试环境",)),
        WHOLE._replace(next=("continue", "Push feat/export")),
        WHOLE._replace(by="extract", next=()),
    ],
)
def test_a_good_one_is_taken(handoff: Handoff) -> None:
    assert refusal(handoff) == ""


def test_by_code_from_the_middle_of_work() -> None:
    talk = Talk().user("Export the deals to CSV").says("Wrote it.").user("Now the header row")
    talk.does("TodoWrite", "", body="[x] export\n[~] header row\n[ ] docs").does("Edit", "/home/dev/crm/export.py")
    talk.does("Bash", "pytest -q", "Exit code 1\nE  assert header", failed=True)
    one = by_code(talk)
    assert one.task == "Export the deals to CSV → Now the header row"
    assert one.in_flight == ("Now the header row",) and one.next == ("header row", "docs")
    assert one.done == ("export.py",) and one.gotchas == ("pytest -q → E assert header",)
    assert (one.title, one.by, refusal(one)) == ("crm · Export the deals to CSV", "extract", "")


def test_by_code_from_the_end() -> None:
    one = by_code(export())
    assert one.done[0] == "1a2b3c4 Export deals" and one.done[-1].startswith("Done. All tests pass")
    assert not one.in_flight and not one.next and refusal(one) == ""


def test_an_answer_that_does_not_say_done_is_in_flight() -> None:
    one = by_code(Talk().user("Fix the login").says("Try `./run.sh` again, the cache was stale."))
    assert one.in_flight == ("Try `./run.sh` again, the cache was stale.",) and not one.done


def test_by_a_model() -> None:
    value = {
        "title": "Deals",
        "task": "Export\nthe deals",
        "done": "one\ntwo",
        "in_flight": [3, "x"],
        "next": ["continue", "Push"],
    }
    one = by_model(value)
    assert (one.title, one.task, one.done, one.in_flight) == ("Deals", "Export the deals", ("one", "two"), ("x",))
    assert (one.next, one.gotchas, one.by) == (("Push",), (), "m")
    for bad in (None, [], {"task": ""}, {"task": 3}):
        with pytest.raises(ValueError, match="reply"):
            by_model(bad)


@pytest.mark.parametrize("kind", sorted(TOKENS))
def test_no_secret_is_in_a_handoff(kind: str) -> None:
    secret = TOKENS[kind](random.Random(kind))
    talk = (
        Talk(title=f"t {secret}").user(f"use {secret}").does("Bash", f"deploy {secret}", f"error {secret}", failed=True)
    )
    talk.says(f"Next: rotate {secret}")
    assert secret not in render(by_code(talk))
    value = {key: [f"x {secret}"] for key in ("done", "in_flight", "next", "gotchas")} | {
        "task": secret,
        "title": secret,
    }
    made = by_model(value, talk)
    assert secret not in repr(made) and secret not in brief(made, extract(talk.records, talk.facts), "codex")


def test_a_brief_for_the_other_client() -> None:
    talk = export()
    assert brief(WHOLE, extract(talk.records, talk.facts), "codex").splitlines() == [
        "# Brief for Codex: crm · deals export",
        "",
        "Taken from session 0a1b2c3d-0000-4000-8000-000000000001, 2026-06-11T17:46:40Z. "
        "It tells where the work stood: check it against the files before you go on.",
        "",
        "## Task",
        "Export the deals of Acme Corp to CSV, for CRM-128.",
        "",
        "## Done",
        "- export_deals written (1a2b3c4)",
        "",
        "## In flight",
        "- header row: half of test_header passes",
        "",
        "## Next",
        "1. Run `pytest tests/test_header.py`",
        "2. Push feat/export",
        "",
        "## Gotchas",
        "- dates are in local time",
        "",
        "## Paths",
        "- /home/dev/crm (folder)",
        "- src/export.py",
        "- src/deals.py",
        "- https://git.example/acme/crm/pull/12",
    ]
