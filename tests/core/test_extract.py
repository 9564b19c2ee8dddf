"""What code alone tells of a session."""

from __future__ import annotations

import random
import tracemalloc
from itertools import islice

import pytest

from recall.core.extract import Extractor, extract, relative
from recall.core.facts import Facts
from recall.core.model import Extract
from tests.core.sessions import Talk, export, huge
from tests.core.test_redact import TOKENS


def told(talk: Talk) -> Extract:
    return extract(talk.records, talk.facts)


def test_a_whole_session() -> None:
    one = told(export())
    assert one.ask.startswith("Export the deals of Acme Corp")
    assert one.last_answer.startswith("Done. All tests pass")
    assert one.edited == ("src/export.py", "src/deals.py")
    assert one.read == ("src/deals.py",)
    assert one.commands[0] == "pytest -q"
    assert one.failed == ("pytest -q → E ImportError: no module named crm",)
    assert one.tools[0] == ("Bash", 5) and ("Edit", 2) in one.tools
    assert one.skills == ("tdd",)
    assert one.commits == ("1a2b3c4 Export deals",)
    assert one.branches == ("feat/export",)
    assert one.prs == ("https://git.example/acme/crm/pull/12",)
    assert not one.interrupted and not one.last_failed and not one.questions and not one.todo
    assert {"CRM-128", "export_deals", "crm.example.com"} <= set(one.named)


def test_the_first_request_that_says_something_counts() -> None:
    talk = Talk().user("continue").says("With what?").user("Move the invoices to Postgres").says("Done.")
    assert told(talk).ask == "Move the invoices to Postgres"


def test_a_patch_names_its_files_also_those_with_blanks() -> None:
    talk = Talk(cwd="/home/dev/my crm").user("patch it")
    patch = "*** Begin Patch\n*** Update File: /home/dev/my crm/src/a b.py\n@@\n*** Add File: c.py\n*** End Patch"
    talk.does("apply_patch", "/home/dev/my crm/src/a b.py c.py", body=patch)
    talk.does("shell", "apply_patch << 'EOF' d.py", body="*** Begin Patch\n*** Update File: d.py\n*** End Patch")
    assert set(told(talk).edited) == {"src/a b.py", "c.py", "d.py"}


def test_files_are_ordered_by_use() -> None:
    talk = Talk().user("x")
    for name in ("a", "b", "b", "c", "c", "c"):
        talk.does("Edit", f"/home/dev/crm/{name}.py")
    assert told(talk).edited == ("c.py", "b.py", "a.py")


def test_outputs_belong_to_their_calls_in_any_order() -> None:
    talk = Talk().user("x").does("Bash", "make lint", "").does("Bash", "make types", "")
    lint, types = (record.call for record in talk.records if record.tool == "Bash")
    talk.records.append(talk.records[-1]._replace(zone=5, text="Exit code 2\nerror: types", call=types, failed=True))
    talk.records.append(talk.records[-1]._replace(text="fine", call=lint, failed=False))
    one = told(talk)
    assert one.failed == ("make types → error: types",) and not one.last_failed


@pytest.mark.parametrize(
    ("command", "output", "last_failed"),
    [
        ("make", "Exit code 2\nmake: *** [all] Error 1", True),
        ("make", "ok", False),
        ("grep -r x .", "Exit code 1", False),
        ("make", "The user doesn't want to proceed with this tool use.", False),
    ],
)
def test_the_last_command_failed(command: str, output: str, last_failed: bool) -> None:
    """A search that finds nothing and a call that the human refused are no failures."""
    talk = Talk().user("x").does("Bash", command, output, failed=output != "ok").says("Hm.")
    assert told(talk).last_failed is last_failed


def test_open_points_of_the_last_list() -> None:
    talk = Talk().user("x").does("TodoWrite", "", body="[x] a\n[~] b\n[ ] c").says("so far")
    assert told(talk).todo == ("b", "c")
    talk.user("and now?").does("update_plan", "", body="[x] a\n[x] b").says("done")
    assert told(talk).todo == ()


def test_tasks_of_newer_versions() -> None:
    talk = Talk().user("x")
    talk.does("TaskCreate", "Write export\nas CSV", "Task #1 created successfully: Write export")
    talk.does("TaskCreate", "Write docs\nshort", "Task #2 created successfully: Write docs")
    talk.does("TaskUpdate", "", "Updated task #1 status", body="#1 completed")
    assert told(talk).todo == ("Write docs",)


def test_an_old_list_is_history() -> None:
    talk = Talk().user("x").does("TodoWrite", "", body="[ ] a").says("y")
    for n in range(4):
        talk.user(f"something else, number {n}").says("Done.")
    assert told(talk).todo == ()


@pytest.mark.parametrize(
    ("talk", "interrupted"),
    [
        (Talk().user("x").says("Done."), False),
        (Talk().user("x"), True),
        (Talk().user("x").says("I look.").does("Bash", "make"), True),
        (Talk().user("x").says("Done.").user("and y?"), True),
        (Talk().user("x").says("I begin.").stopped(), True),
        (Talk(), False),
    ],
)
def test_interrupted(talk: Talk, interrupted: bool) -> None:
    assert told(talk).interrupted is interrupted


@pytest.mark.parametrize(
    ("answer", "questions"),
    [
        ("Both work. Which one shall I take, A or B?", ["Which one shall I take, A or B?"]),
        ("Готово.\n\nЗакоммитить?", ["Закоммитить?"]),
        ("实现完成。要我提交吗？", ["要我提交吗？"]),
        ("実装しました。コミットしますか。", ["コミットしますか。"]),
        ("Done. Anything else I can help with?", []),
        ("Why did it fail? Because of the path. Fixed.\n\n" + "More text. " * 40, []),
        ("```\nwhat?\n```", []),
    ],
)
def test_questions_left_open(answer: str, questions: list[str]) -> None:
    assert list(told(Talk().user("x").says(answer)).questions) == questions
    assert told(Talk().user("x").says(answer).user("yes")).questions == ()


def test_a_question_of_a_form_is_open_until_it_is_answered() -> None:
    open_one = Talk().user("x").shown("AskUserQuestion", "Postgres or MySQL?")
    assert told(open_one).questions == ("Postgres or MySQL?",)
    assert told(Talk().user("x").shown("AskUserQuestion", "Postgres or MySQL?", "Postgres")).questions == ()


def test_pull_requests_with_and_without_an_address() -> None:
    talk = Talk().user("Look at PR #7 and https://git.example/o/r/pull/8, please").does("Bash", "gh pr view 9")
    talk.does("pr-link", "#7 https://git.example/o/r/pull/7", "")
    assert told(talk).prs == ("https://git.example/o/r/pull/7", "https://git.example/o/r/pull/8", "PR #9")


def test_addresses_end_where_the_sentence_goes_on() -> None:
    talk = Talk().user("See https://e.example/a?b=1, (https://e.example/b). И https://e.example/путь、それから")
    assert told(talk).urls == ("https://e.example/a?b=1", "https://e.example/b", "https://e.example/путь")


@pytest.mark.parametrize(
    ("path", "cwd", "shown"),
    [
        ("/home/dev/crm/a.py", "/home/dev/crm", "a.py"),
        ("/home/dev/crm2/a.py", "/home/dev/crm", "/home/dev/crm2/a.py"),
        ("C:\\w\\crm\\a.py", "C:\\w\\crm", "a.py"),
        ("./a.py", "", "a.py"),
        ("/a.py", "/", "/a.py"),
    ],
)
def test_paths_are_told_from_the_folder(path: str, cwd: str, shown: str) -> None:
    assert relative(path, cwd) == shown


@pytest.mark.parametrize("kind", sorted(TOKENS))
def test_no_secret_is_in_an_extract(kind: str) -> None:
    """Wherever one stands, and where a text is cut just there."""
    secret = TOKENS[kind](random.Random(kind))
    for padding in (0, 180, 990):
        text = "x " * (padding // 2) + secret
        talk = Talk().user(f"use {text}").does("Bash", f"deploy {text}", f"error: {text}", failed=True)
        talk.does("TodoWrite", "", body=f"[ ] rotate {text}").says(f"Next: rotate {text}\n\nShall I use {text}?")
        assert secret not in repr(told(talk)), padding


def test_memory_does_not_grow_with_the_session() -> None:
    """200 MB of records pass; what is kept is little, and the same at the half as at the end."""
    records = huge(2000)
    extractor = Extractor()
    tracemalloc.start()
    kept = []
    for _ in range(2):
        for record in islice(records, 5000):
            extractor.add(record)
        kept.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert kept[1] < 3_000_000 and kept[1] < kept[0] * 1.5
    assert extractor.result(Facts(cwd="/p")).edited[0].startswith("src/module_")
