"""What the pages say: rows, facets, activity, sessions; and that they say no secret."""

from __future__ import annotations

import datetime
import html
import re
from pathlib import Path

import pytest

from recall.core.model import Glance
from recall.web import typed
from recall.web.activity import chart, weeks
from recall.web.marks import marked
from recall.web.reading import PARTS, Readings
from tests import builders
from tests.conftest import Run
from tests.machine import settings, uid
from tests.web.conftest import CRM, KEY, WEBSITE
from tests.web.serving import Serving, serving

NOW = datetime.datetime(2026, 7, 1, 12).astimezone()


def sessions(body: str) -> list[str]:
    """Ids of the rows, in order."""
    return re.findall(r'class="task" href="/session/([^?"]+)', body)


def test_the_rows_are_those_of_find_in_its_order(server: Serving, run_recall: Run) -> None:
    for query in (
        "export",
        "deals manager",
        "",
        "project:crm",
        "client:codex export",
        '"12 pictures"',
        "-pictures export",
    ):
        ids = run_recall("find", query, "--ids", "--no-refresh").stdout.split()
        assert sessions(server.get("/", q=query).body) == ids
        assert sessions(server.get("/api/find", q=query).document["results"]) == ids


def test_words_are_marked_in_any_writing(server: Serving) -> None:
    assert "<mark>山田</mark>" in server.get("/", q="山田").body
    assert "<mark>deals</mark>" in server.get("/", q="DEAL").body
    assert marked('a <b> & "deal"', ("b", "deal")) == "a &lt;<mark>b</mark>&gt; &amp; &quot;<mark>deal</mark>&quot;"


def test_a_facet_leads_to_as_many_sessions_as_it_says(server: Serving) -> None:
    page = server.get("/", q="export").body
    found = re.findall(
        r'<a class="value" href="([^"]+)"><span class="name">([^<]+)</span><span class="count">(\d+)', page
    )
    assert {name for _, name, _ in found} >= {"crm", "website", "claude", "codex", "new", "2026-06"}
    for to, name, count in found:
        behind = server.ask(html.unescape(to), f"Cookie: {server.cookie}").body
        assert len(sessions(behind)) == int(count), name
        assert re.search(
            rf'<a class="value on" aria-current="true" href="/\?q=export"><span class="name">{name}<', behind
        )


@pytest.mark.parametrize(
    ("text", "filters", "result"),
    [
        ("", (("project", "crm"),), "project:crm"),
        ("a  b", (("project", "my app"),), 'a b project:"my app"'),
        (
            '"x y" since:3d',
            (("since", "2026-06-01"), ("before", "2026-07-01")),
            '"x y" since:2026-06-01 before:2026-07-01',
        ),
    ],
)
def test_a_filter_is_typed_behind_the_query_and_taken_out_again(text: str, filters: typed.Filters, result: str) -> None:
    assert typed.beside(text, filters) == result
    assert typed.holds(result, filters) and not typed.holds(text, filters)
    assert typed.without(result, filters) == " ".join(text.replace("since:3d", "").split())


def test_tags_that_are_typed_in_another_way_are_known() -> None:
    assert typed.holds("#export x", (("tag", "export"),))
    assert typed.without("#export x", (("tag", "export"),)) == "x"


def test_pages_of_rows_hold_each_session_once(home: Path, run_recall: Run) -> None:
    for n in range(60):
        builders.claude_session(home, "crm", uid(n), [(f"Look at the invoices {n}", "Looked.")])
    run_recall("sweep", "--quiet", check=True)
    with serving(home) as server:
        pages = [sessions(server.get("/", q="invoices", page=n).body) for n in range(4)]
    assert [len(page) for page in pages] == [25, 25, 10, 0]
    assert {session for page in pages for session in page} == {uid(n) for n in range(60)}


def test_hidden_sessions_are_shown_when_asked_for(home: Path, run_recall: Run) -> None:
    builders.claude_session(home, "crm", CRM, [("Count the deals", "12")], entrypoint="sdk-cli")
    builders.claude_session(home, "crm", WEBSITE, [("Count the pictures", "13")])
    run_recall("sweep", "--quiet", check=True)
    with serving(home) as server:
        assert sessions(server.get("/", q="count").body) == [WEBSITE]
        assert set(sessions(server.get("/", q="count", all=1).body)) == {CRM, WEBSITE}
        assert "1 headless ones too" in server.get("/", q="deals").body


def test_the_page_of_a_session_has_what_is_needed_to_go_on(server: Serving, run_recall: Run) -> None:
    page = html.unescape(server.get(f"/session/{CRM[:8]}", q="deals").body)
    assert run_recall("cmd", CRM).stdout.strip() in page
    assert f"recall open {CRM[:8]}" in page
    assert "Where the words stand" in page and "Conversation" in page
    assert '<span class="minus">-two</span><span class="plus">+three</span>' in page


def test_no_secret_is_on_any_page(server: Serving) -> None:
    pages = [
        server.get("/", q="exported"),
        server.get(f"/session/{CRM}", q="exported"),
        server.get("/api/turns", id=CRM),
    ]
    pages += [server.get("/api/find", q="exported"), server.get(f"/session/{CRM}", find=KEY)]
    assert all(page.status == 200 for page in pages)
    assert "[redacted:" in pages[1].body and "[redacted:" in pages[2].body
    assert KEY not in "".join(page.body for page in pages[:-1])
    assert "Not found." in pages[-1].body  # nobody can ask letter by letter either


def test_only_the_card_is_left(server: Serving, filled: Path) -> None:
    here = settings(filled)
    for folder in (here.archive, *here.claude_homes):
        for path in Path(folder).rglob(f"{CRM}*.jsonl*"):
            path.unlink()
    told = server.get(f"/session/{CRM}")
    assert told.status == 200 and "is left" in told.body


def test_a_long_conversation_comes_in_portions_without_gaps(home: Path) -> None:
    """Each part once and in order, however it is read on: from where one stopped, or from anywhere."""
    path = builders.claude_session(home, "crm", CRM, [(f"Question {n}", f"Answer {n}") for n in range(400)])
    readings = Readings(settings(home))
    texts, start, count = [], 0, 0
    while True:
        portion = readings.portion(str(path), "claude", start)
        assert [at for at, _ in portion.parts] == list(range(start, start + len(portion.parts)))
        texts += [one.part.text for _, one in portion.parts]
        count += 1
        if not portion.next:
            break
        start = portion.next
    assert texts == [f"{word} {n}" for n in range(400) for word in ("Question", "Answer")]
    assert count == 800 // PARTS + 1
    again = readings.portion(str(path), "claude", 500)
    assert again.parts[0][1].part.text == "Question 250"
    assert [one.part.text for _, one in readings.end(str(path), "claude").parts] == texts[-PARTS:]
    found = readings.portion(str(path), "claude", 0, "ANSWER 39")
    assert [at for at, _ in found.parts] == [79, *range(781, 801, 2)]
    assert readings.portion(str(path), "claude", 5000).parts == []


def test_more_is_there_without_a_script(home: Path, run_recall: Run) -> None:
    builders.claude_session(home, "crm", CRM, [(f"Question {n}", f"Answer {n}") for n in range(100)])
    run_recall("sweep", "--quiet", check=True)
    with serving(home) as server:
        page = server.get(f"/session/{CRM}").body
        to = re.search(r'id="more"><a href="([^"]+)"', page)
        assert to and "Question 75<" not in page
        behind = server.ask(html.unescape(to[1]), f"Cookie: {server.cookie}").body
        assert "Question 75<" in behind and "Answer 99<" in behind and "Earlier" in behind and 'id="more"' not in behind


def glance(day: str, client: str) -> Glance:
    moment = datetime.datetime.fromisoformat(f"{day}T12:00").timestamp()
    return Glance(1, "x", client, "", "", "", moment, 1, False, False, False, 0, 1, 1, "", "")


def test_weeks_are_without_gaps_and_up_to_now() -> None:
    rows = [glance("2026-06-01", "claude"), glance("2026-06-07", "codex"), glance("2026-06-15", "claude")]
    shown = weeks(rows, NOW, 26)
    assert [(str(week.monday), week.counts) for week in shown] == [
        ("2026-06-01", {"claude": 1, "codex": 1}),
        ("2026-06-08", {}),
        ("2026-06-15", {"claude": 1}),
        ("2026-06-22", {}),
        ("2026-06-29", {}),
    ]
    assert weeks([glance("2020-06-01", "claude")], NOW, 26) == [] and chart([]) == ""


def test_the_chart_says_the_same_as_its_table() -> None:
    drawn = chart(weeks([glance("2026-06-01", "claude"), glance("2026-06-02", "codex")], NOW, 26))
    assert "Week of 2026-06-01: 2 sessions (claude 1, codex 1)" in drawn
    assert (
        '<a href="/?q=since%3A2026-06-01+before%3A2026-06-08">2026-06-01</a></th><td>1</td><td>1</td><td>2</td>'
        in drawn
    )
