"""`recall export`: one file with the whole session, that runs nothing and asks nothing of the network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import builders
from tests.browser import Browser, program
from tests.conftest import Run
from tests.machine import uid

CWD = "/home/dev/crm"
SESSION = uid(1)
KEY = "AKIA" + "Q3EXAMPLEKEY" + "7ZXW"
HOSTILE = (
    "</script><script>document.title='owned'</script> <img src=x onerror=\"document.title='owned'\"> "
    "<a href='javascript:alert(1)'>x</a> ![x](https://tracker.invalid/x.png) <style>*{display:none}</style> "
    "<iframe src='data:text/html,<script>top.document.title=1</script>'></iframe> <!-- --> ]]> &lt; \u202e \x1b[31m "
    "<svg/onload=document.title='owned'> <meta http-equiv=refresh content='0;url=https://tracker.invalid'>"
)
EDIT = ("Edit", {"file_path": f"{CWD}/a.py", "old_string": "one\ntwo", "new_string": "one\nthree"}, "edited")
TURNS: list[Any] = [
    (
        f"Please {HOSTILE}",
        f"Done {HOSTILE}\n```html\n{HOSTILE}\n```",
        [("Bash", {"command": f"echo {HOSTILE}"}, HOSTILE)],
    ),
    ("Change **two** to `three`", f"Changed, with {KEY}", [EDIT]),
]


@pytest.fixture
def crm(home: Path, run_recall: Run) -> Path:
    builders.claude_session(home, "crm", SESSION, TURNS, title="</title><script>document.title='owned'</script>")
    run_recall("sweep", "--quiet")
    return home


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    if not program():
        pytest.skip("no chromium on this machine")
    made = Browser(tmp_path / "browser")
    yield made
    made.close()


def test_a_hostile_transcript_is_only_text_in_the_page(
    crm: Path, run_recall: Run, browser: Browser, tmp_path: Path
) -> None:
    run_recall("export", SESSION, "-o", tmp_path / "page.html")
    browser.go(f"file://{tmp_path}/page.html")
    assert "owned" not in browser.run("document.title").partition("</title>")[0]
    assert (
        browser.run(
            "document.querySelectorAll('main script, main img, main iframe, main svg, main style, main meta').length"
        )
        == 0
    )
    assert browser.run("[...document.querySelectorAll('a')].filter((one) => !one.hash).length") == 0
    assert "<img src=x" in browser.run("document.querySelector('main').textContent")
    assert browser.run("getComputedStyle(document.querySelector('h1')).display") == "block"
    assert browser.requests == [f"file://{tmp_path}/page.html"]
    assert browser.failures == []


def test_the_page_can_be_searched_and_folded(crm: Path, run_recall: Run, browser: Browser, tmp_path: Path) -> None:
    run_recall("export", SESSION, "-o", tmp_path / "page.html")
    browser.go(f"file://{tmp_path}/page.html")
    browser.run("document.getElementById('search').focus()")
    browser.type("three")
    assert browser.until("document.getElementById('found').textContent") == "1 of 2 turns"
    assert browser.run("document.querySelectorAll('.turn:not(.off)').length") == 1
    assert browser.run("[...document.querySelectorAll('mark')].map((one) => one.textContent).join()") == "three,three"
    assert browser.run("document.querySelector('mark').closest('.turn') !== null")
    browser.run(
        "document.getElementById('search').value = ''; document.getElementById('search').dispatchEvent(new Event('input'))"
    )
    browser.until("document.querySelectorAll('mark').length === 0")
    browser.run("document.getElementById('fold').click()")
    assert browser.run("[...document.querySelectorAll('.turn details')].every((one) => !one.open)")
    light = browser.run("getComputedStyle(document.body).backgroundColor")
    browser.run("document.getElementById('theme').click()")
    assert browser.run("getComputedStyle(document.body).backgroundColor") != light


def test_a_session_of_ten_thousand_turns_is_a_page_that_works(
    home: Path, run_recall: Run, browser: Browser, tmp_path: Path
) -> None:
    builders.claude_session(home, "crm", SESSION, [(f"Question {n}", f"Answer {n}") for n in range(10_000)])
    run_recall("sweep", "--quiet")
    run_recall("export", SESSION, "-o", tmp_path / "page.html")
    browser.go(f"file://{tmp_path}/page.html")
    assert browser.run("document.querySelectorAll('.turn').length") == 10_000
    browser.run("document.getElementById('search').focus()")
    browser.type("answer 9999")
    assert browser.until("document.getElementById('found').textContent") == "1 of 10000 turns"


@pytest.mark.parametrize("form", ["html", "md", "json"])
def test_no_secret_and_no_escape_is_in_it(crm: Path, run_recall: Run, form: str) -> None:
    told = run_recall("export", SESSION, f"--{form}").stdout
    assert "Changed, with" in told
    assert KEY not in told and "\x1b" not in told


def test_the_policy_lets_nothing_load(crm: Path, run_recall: Run) -> None:
    told = run_recall("export", SESSION).stdout
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', told)
    assert policy and policy[1].startswith("default-src 'none';")
    assert told.count("<script") == 1
    assert "http://" not in told.split("<main>")[0] and "https://" not in told.split("<main>")[0]


def test_edits_are_differences(crm: Path, run_recall: Run) -> None:
    assert '<span class="minus">-two</span><span class="plus">+three</span>' in run_recall("export", SESSION).stdout
    assert "```diff\n one\n-two\n+three\n```" in run_recall("export", SESSION, "--md").stdout
    messages = json.loads(run_recall("export", SESSION, "--json").stdout)["messages"]
    assert [one["diff"] for one in messages if one["tool"] == "Edit"] == [[" one", "-two", "+three"]]


def test_fences_of_a_text_do_not_end_the_fence_round_it(home: Path, run_recall: Run) -> None:
    shown = ("Bash", {"command": "cat README.md"}, "```sh\nmake\n```\n````")
    builders.claude_session(home, "crm", SESSION, [("Show it", "Shown.", [shown])])
    run_recall("sweep", "--quiet")
    assert "`````\n```sh\nmake\n```\n````\n`````\n" in run_recall("export", SESSION, "--md").stdout


def test_a_file_is_private_and_never_written_over(crm: Path, run_recall: Run, tmp_path: Path) -> None:
    target = tmp_path / "talk.md"
    assert run_recall("export", SESSION, "-o", target).returncode == 0
    assert target.read_text().startswith("# ")  # by its ending
    assert target.stat().st_mode & 0o777 == 0o600
    target.write_text("mine")
    assert run_recall("export", SESSION, "-o", target).returncode == 3
    assert target.read_text() == "mine"
    assert run_recall("export", SESSION, "-o", target, "--force").returncode == 0
    assert run_recall("export", SESSION, "-o", tmp_path).returncode == 2
    assert run_recall("export", SESSION, "-o", tmp_path / "none/x.html").returncode == 2
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []


def test_codex_sessions_too(home: Path, run_recall: Run) -> None:
    builders.codex_session(
        home, "crm", SESSION, [("Count the orders", "There are 12.", [("exec_command", {"cmd": "ls"}, "a b")])]
    )
    run_recall("sweep", "--quiet")
    told = run_recall("export", SESSION).stdout
    assert "There are 12." in told and "a b" in told


def test_code_and_emphasis_in_a_text_are_marked_up(home: Path, run_recall: Run) -> None:
    builders.claude_session(
        home, "crm", SESSION, [("Run `make <all>` **now** & then", "Ran it: 2 ** 3 ** 4, ``, `a\nb`")]
    )
    run_recall("sweep", "--quiet")
    told = run_recall("export", SESSION).stdout
    assert "Run <code>make &lt;all&gt;</code> <strong>now</strong> &amp; then" in told
    assert "``, `a\nb`" in told
