"""A session in so many bytes."""

from __future__ import annotations

import tracemalloc
from itertools import islice, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.core.digest import Digest
from recall.core.facts import Facts
from recall.core.model import Record
from tests.core.sessions import Talk, export, huge


def digest_of(records: list[Record]) -> Digest:
    digest = Digest()
    for record in records:
        digest.add(record)
    return digest


def size(text: str) -> int:
    return len(text.encode("utf-8"))


def test_a_short_session_is_whole() -> None:
    text = digest_of(export().records).text(facts=Facts(cwd="/home/dev/crm"))
    assert text.splitlines() == [
        "## Requests of the user, first to last",
        "- [1/1] Export the deals of Acme Corp to CSV for CRM-128, with `export_deals` and the host crm.example.com",
        "",
        "## Last answers of the assistant, the last one at the end",
        "- Done. All tests pass, the pull request is open: https://git.example/acme/crm/pull/12",
        "",
        "## Commands that failed",
        "- pytest -q → E ImportError: no module named crm",
        "",
        "## Commits, branches, pull requests",
        "- 1a2b3c4 Export deals",
        "- feat/export",
        "- https://git.example/acme/crm/pull/12",
        "",
        "## Files edited, with counts",
        "- src/export.py ×2",
        "- src/deals.py ×1",
        "",
        "## Commands",
        "- pytest -q",
        "- git checkout -b feat/export && git push -u origin feat/export",
        '- git commit -m "Export deals"',
        "- gh pr create --fill",
        "",
        "## Skills and tools",
        "- tdd",
        "- Bash ×5",
        "- Edit ×2",
        "- Read ×1",
        "- Skill ×1",
        "- Write ×1",
    ]


def test_plans_summaries_and_how_it_ended() -> None:
    talk = Talk().user("plan it").shown("ExitPlanMode", "# Plan\n1. Copy").compacted("The plan was approved.")
    talk.user("go").does("TodoWrite", "", body="[~] Copy\n[ ] Switch").does(
        "Bash", "cp a b", "Exit code 1", failed=True
    )
    digest = digest_of(talk.records)
    text = digest.text()
    assert "## Plans\n- # Plan 1. Copy" in text and "- The plan was approved." in text
    assert "- Copy\n- Switch" in text and "no answer; the last command failed" in text
    assert digest.summary == "The plan was approved."


def test_of_many_requests_the_first_the_last_and_an_even_choice_between() -> None:
    talk = Talk()
    for n in range(1, 3001):
        talk.user(f"request number {n} " + "with many words " * 20)
    text = digest_of(talk.records).text(20_000)
    numbers = [int(line.split("/")[0][3:]) for line in text.splitlines() if line.startswith("- [")]
    assert numbers[0] == 1 and numbers[-1] == 3000 and numbers == sorted(numbers) and len(numbers) > 20
    between = [number for number in numbers if number < 2900]
    gaps = [b - a for a, b in pairwise(between)]
    assert max(gaps) <= 4 * 3000 / len(between)


def test_a_session_of_200_mb_in_bounded_memory_and_bytes() -> None:
    records = huge(2000)
    digest = Digest()
    tracemalloc.start()
    kept = []
    for _ in range(2):
        for record in islice(records, 5000):
            digest.add(record)
        kept.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert kept[1] < 6_000_000 and kept[1] < kept[0] * 1.5
    text = digest.text()
    assert 20_000 < size(text) <= 60_000 and text == digest.text()
    assert "[1/2000] request 0" in text and "[2000/2000] request 1999" in text


TEXT = st.text(max_size=400) | st.sampled_from(
    ["слово " * 300, "日本語" * 200, "👩‍👩‍👧" * 60, "x" * 9000, "## Plans\n- x"]
)


@settings(max_examples=60, deadline=None)
@given(
    turns=st.lists(st.tuples(TEXT, TEXT), max_size=30),
    budget=st.sampled_from([0, 1, 50, 300, 1000, 5000, 60_000]),
)
def test_never_over_the_budget(turns: list[tuple[str, str]], budget: int) -> None:
    talk = Talk()
    for user, answer in turns:
        talk.user(user).does("Edit", f"/p/{user[:20]}").does("Bash", user[:300], answer, failed=True).says(answer)
        talk.compacted(answer)
    text = digest_of(talk.records).text(budget)
    assert size(text) <= budget


@pytest.mark.parametrize("budget", [2000, 8000])
def test_room_that_one_part_does_not_need_goes_to_others(budget: int) -> None:
    talk = Talk().user("short").says("answer " * 5000)
    assert size(digest_of(talk.records).text(budget)) > budget // 2 or budget > 4200
