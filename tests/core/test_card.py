"""Cards: a file that people and models write in many ways, read as one thing and written back plainly."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.core import cardfile
from recall.core.card import index_line, parse, render, short_ids, with_card
from recall.core.cardfile import STATUSES, kebab, normal, status_of
from recall.core.model import Card, Session

ID = "5a1c0b1e-93f0-4f5e-a7d4-9a4b6f6f2c01"
MORNING = datetime(2026, 6, 11, 9, tzinfo=UTC).timestamp()

CARD = Card(
    ID,
    "claude",
    "/home/dev/crm",
    MORNING,
    MORNING + 3600,
    42,
    "Export: second try",
    "Quarterly export of deals (#12) moved to the v3 API",
    "done",
    "Read the docs; pages of 100; `--cursor`",
    ("Acme, Inc.", "TICKET-42", "parse()"),
    ("export", "api"),
    ("src/export.py", "https://example.org/pr/7"),
    "deploy: on Monday",
    "claude-haiku-5-5",
    MORNING + 3700,
    "Free text.\n\n---\n\nMore of it.",
    (("reviewed", "yes"),),
)

TEXT = """\
---
id: 5a1c0b1e-93f0-4f5e-a7d4-9a4b6f6f2c01
client: claude
project: /home/dev/crm
dates: 2026-06-11T09:00:00Z -> 2026-06-11T10:00:00Z
messages: 42
title: Export: second try
task: Quarterly export of deals (#12) moved to the v3 API
status: done
method: Read the docs; pages of 100; `--cursor`
entities: ["Acme, Inc.", TICKET-42, parse()]
tags: [export, api]
artifacts: [src/export.py, https://example.org/pr/7]
next: deploy: on Monday
written_by: claude-haiku-5-5
written_at: 2026-06-11T10:01:40Z
reviewed: yes
---

Free text.

---

More of it.
"""


def test_the_file_is_plain() -> None:
    """Keys in their order, quotes only where they are needed, the body behind."""
    assert render(CARD) == TEXT
    assert parse(TEXT) == CARD


def read(front: str) -> Card:
    return parse(f"---\nid: {ID}\n{front}\n---\n")


@pytest.mark.parametrize(
    ("front", "field", "value"),
    [
        ("tags: [export, api]", "tags", ("export", "api")),
        ("tags:\n- export\n- api", "tags", ("export", "api")),
        ("tags:\n  - export\n  - 'api'", "tags", ("export", "api")),
        ("tags: export, api", "tags", ("export", "api")),
        ("tags: '#Export' ", "tags", ("export",)),
        ("tags: #export #api", "tags", ("export", "api")),
        ("tags: [My Tag, snake_case]", "tags", ("my-tag", "snake-case")),
        ("tags: []", "tags", ()),
        ("tags:", "tags", ()),
        ("entities: [a, \"b, c\", 'it''s', d (e, f)]", "entities", ("a", "b, c", "it's", "d (e, f)")),
        ("entities: [a,\n  b]", "entities", ("a", "b")),
        ("entities: [a, b", "entities", ("a", "b")),
        ("entities: [[redacted:github], b]", "entities", ("[redacted:github]", "b")),
        ('entities:\n- a: b\n- "c"', "entities", ("a: b", "c")),
        ("entities: one, two words", "entities", ("one", "two words")),
        ("task: fix: the parser: again", "task", "fix: the parser: again"),
        ("task: see #12 and # that", "task", "see #12 and # that"),
        ('task: "said \\"no\\""', "task", 'said "no"'),
        ('task: "no" and "yes"', "task", '"no" and "yes"'),
        ("task: 'it''s'  # a comment", "task", "it's"),
        ("task: >\n  two\n  lines", "task", "two lines"),
        ("task: |-\n  # two\n  lines", "task", "# two lines"),
        ("task: two\n  lines", "task", "two lines"),
        ("task: null", "task", ""),
        ("next:\n- first\n- second", "next", "first; second"),
        ("# task: no\ntask: yes", "task", "yes"),
        ("Task : yes", "task", "yes"),
        ("task:yes", "task", "yes"),
        ("written-by: hand", "written_by", "hand"),
        ("status: done  # at last", "status", "done"),
        ("status: In Progress", "status", "in_progress"),
        ("status: ✅ Completed", "status", "done"),
        ("status: cancelled", "status", "aborted"),
        ("status: готово", "status", "done"),
        ("status: not done", "status", "in_progress"),
        ("status: whatever", "status", "in_progress"),
        ("messages: 42 messages", "messages", 42),
        ("messages: many", "messages", 0),
        ("dates: 2026-06-11T09:00:00Z -> 2026-06-11T10:00:00Z", "last", MORNING + 3600),
        ("dates: 2026-06-11T09:00:00Z -> ?", "last", 0.0),
        ("dates: 2026-06-11 9:00 → 2026-06-11 10:00", "first", MORNING),
        ("dates: 2026-06-11T11:00:00+02:00", "last", MORNING),
        ("dates: 2026-06-11 -> 2026-06-12", "first", MORNING + 3 * 3600),
        ("dates: [2026-06-11, 2026-06-12]", "last", MORNING + 27 * 3600),
        ("dates: soon", "first", 0.0),
        ("dates: 2026-99-99", "first", 0.0),
        ("sprint: 12", "extra", (("sprint", "12"),)),
        ("people:\n- Ann\n- Bob", "extra", (("people", "[Ann, Bob]"),)),
    ],
)
def test_a_value_is_read_however_it_is_written(front: str, field: str, value: object) -> None:
    """Flow lists and block lists, quotes or none, colons, comments, odd dates, other words for a status."""
    assert getattr(read(front), field) == value


def test_line_ends_and_a_mark_at_the_beginning_change_nothing() -> None:
    assert parse("\ufeff" + TEXT.replace("\n", "\r\n")) == CARD
    assert parse("\n\n" + TEXT) == CARD


def test_without_front_matter_the_text_is_the_body() -> None:
    """Somebody wrote it by hand: it is kept from models, its first words stand for title and task."""
    card = parse("# The export\n\n- moved to v3\n", ID)
    assert card == Card(
        ID, title="The export", task="moved to v3", written_by="hand", body="# The export\n\n- moved to v3"
    )
    assert parse("", ID).body == ""


def test_a_front_matter_that_does_not_end_is_one_up_to_the_blank_line() -> None:
    card = parse(f"---\nid: {ID}\ntask: move\n\nFree text: with a colon.\n")
    assert (card.task, card.body) == ("move", "Free text: with a colon.")


@pytest.mark.parametrize(
    ("inside", "named", "id"),
    [
        (ID, "", ID),
        (ID, ID[:8], ID),
        (ID[:8], ID, ID),
        ("", ID, ID),
        (ID, "9f000000", ID),
    ],
)
def test_the_id_is_the_longer_of_two_that_agree(inside: str, named: str, id: str) -> None:
    """What stands in the file goes before its name, unless the name only says more."""
    assert parse(f"---\nid: {inside}\n---\n", named).id == id


def test_who_wrote_an_earlier_tools_card_is_not_known() -> None:
    """Neither 'hand', which nothing may overwrite, nor 'extract', which anything may."""
    assert read("task: x").written_by == ""


def test_text_of_several_lines_becomes_one() -> None:
    card = normal(CARD._replace(task="a\nb\r\n  c\u2028d", tags=("One Two", "#one-two", "--"), status="Finished!"))
    assert (card.task, card.tags, card.status) == ("a b c d", ("one-two",), "done")


# -- properties ------------------------------------------------------------------------------------------------

WORDS = "--- null ~ > |- ' \" # [a,b] a#b it's ] [ ( a,b \\ é 项目 выгрузка"
ODD = st.sampled_from(
    [
        *WORDS.split(" "),
        "[a, b]",
        "- x",
        "# c",
        '"a" b',
        "key: v",
        "a #b",
        "task: x",
        "\ud800",
        "\u2028",
        "a, b",
        "\x1b[0m",
    ]
)
TEXTS = st.one_of(st.text(), st.text(alphabet=" '\"[](){},:#-~>|\\\n\tédа0;.!"), ODD)
LISTS = st.lists(TEXTS, max_size=4).map(tuple)
CARDS = st.builds(
    Card,
    TEXTS,
    st.sampled_from(["claude", "codex", ""]) | TEXTS,
    TEXTS,
    st.floats(-1, 3e11),
    st.floats(0, 1e10),
    st.integers(-1, 10**6),
    TEXTS,
    TEXTS,
    st.sampled_from(STATUSES) | TEXTS,
    TEXTS,
    LISTS,
    LISTS,
    LISTS,
    TEXTS,
    TEXTS,
    st.floats(0, 1e10),
    TEXTS,
    st.lists(st.tuples(st.sampled_from(["sprint", "Status", "x-y", "a b"]), TEXTS), max_size=3).map(tuple),
)


@settings(max_examples=300, deadline=None)
@given(CARDS)
def test_a_card_comes_back_from_its_file(card: Card) -> None:
    """What is read is what was written, made normal; and making it normal once is enough."""
    plain = normal(card)
    assert parse(render(card)) == plain
    assert normal(plain) == plain


@settings(max_examples=200, deadline=None)
@given(
    CARDS,
    st.lists(st.tuples(st.integers(0, 400), st.sampled_from([*"\n \t:-[]#,'\"~>|(", "null", "x", ""])), max_size=3),
)
def test_the_quick_look_reads_what_the_patient_one_does(card: Card, edits: list[tuple[int, str]]) -> None:
    """Of a file as it was written, and of one that was edited anywhere by hand."""
    text = render(card)
    for at, typed in edits:
        text = text[:at] + typed + text[at + 1 :]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cardfile, "_AS_WRITTEN", re.compile(r"(?!)"))
        patiently = parse(text, card.id)
    assert parse(text, card.id) == patiently


def test_most_cards_take_the_quick_look() -> None:
    """Else it would be of no use."""
    text = render(Card("1", task="it's [fine] (so far)", tags=("a", "b"), entities=("c d",), first=1e9, last=1e9))
    assert cardfile._AS_WRITTEN.match(text)


@given(TEXTS, TEXTS)
def test_no_text_breaks_the_reader(text: str, name: str) -> None:
    for whole in (text, f"---\n{text}", f"---\nid: x\ntags:{text}\nentities: [{text}\n---\n"):
        card = parse(whole, name)
        assert parse(render(card)) == normal(card)


# -- the index line --------------------------------------------------------------------------------------------

ROW = Session(
    1,
    "claude",
    ID,
    "/home/dev/my crm",
    "my crm",
    "main",
    "Export of deals",
    "client",
    "Move the export, please",
    MORNING,
    MORNING,
    4,
    9,
)


@pytest.mark.parametrize(
    ("row", "line"),
    [
        (ROW, "my_crm [new] Move the export, please"),
        (ROW._replace(ask=""), "my_crm [new] Export of deals"),
        (ROW._replace(ask="я" * 200), f"my_crm [new] {'я' * 109}…"),
        (ROW._replace(lost=True), "my_crm [lost] Move the export, please"),
        (ROW._replace(meta=True), "my_crm [new] (meta) Move the export, please #meta"),
        (ROW._replace(client="codex"), "my_crm [new] Move the export, please #codex"),
        (ROW._replace(title="My name", title_by="user"), "my_crm [new] Move the export, please (named My name)"),
        (
            with_card(ROW, CARD),
            "my_crm [done] Quarterly export of deals (#12) moved to the v3 API #export #api"
            " {Acme, Inc., TICKET-42, parse()}",
        ),
        (with_card(ROW, Card(ID, title="Only a title")), "my_crm [in_progress] Only a title"),
    ],
)
def test_the_index_line(row: Session, line: str) -> None:
    """Id, time, project, status, task, tags, entities; without a card the first request, at most 110 characters."""
    short = short_ids([(row.client, row.id)])[row.id]
    assert index_line(row, short, UTC) == f"{short} 2026-06-11T09:00 {line}"
    assert index_line(row, short, UTC, live=True) == f"{short} 2026-06-11T09:00 {line} ⚡LIVE"


@pytest.mark.parametrize(
    ("title", "by", "card", "shown"),
    [
        ("Mine", "user", "The card's", ("Mine", "user", "")),
        ("The client's", "client", "The card's", ("The card's", "card", "The client's")),
        ("", "", "The card's", ("The card's", "card", "")),
        ("The client's", "client", "", ("The client's", "client", "")),
    ],
)
def test_the_users_title_goes_before_the_cards_and_that_before_the_clients(
    title: str, by: str, card: str, shown: tuple[str, str, str]
) -> None:
    """And without the card all is as it was."""
    row = ROW._replace(title=title, title_by=by)
    with_it = with_card(row, CARD._replace(title=card))
    assert (with_it.title, with_it.title_by, with_it.other_title) == shown
    assert with_card(with_it, CARD._replace(title=card)) == with_it
    assert with_card(with_it, None) == row


@pytest.mark.parametrize(
    ("typed", "tag"),
    [
        ("#My Tag", "my-tag"),
        ("C++", "c"),
        ("snake_case", "snake-case"),
        ("Выгрузка", "выгрузка"),
        ("--", ""),
        ("项目", "项目"),
    ],
)
def test_kebab(typed: str, tag: str) -> None:
    assert kebab(typed) == tag


def test_each_status_is_itself() -> None:
    assert [status_of(status) for status in STATUSES] == list(STATUSES)
