"""Cards in the index: seen as soon as their file changes, and hiding nothing of the transcript."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from pathlib import Path

import pytest

from recall.actions.cards import take_cards
from recall.actions.reindex import rebuild
from recall.actions.sweep import nothing
from recall.actions.view import render as render_view
from recall.actions.view import shown, write_view
from recall.core.card import render, short_ids
from recall.core.model import Card
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import open_store
from tests.again import again
from tests.builders import claude_session, codex_session
from tests.conftest import Run
from tests.machine import all_bytes, append, rows, search, settings, sweep, uid, user

TURNS = [("please move the quarterly export", "done, it uses a giraffe now")]
CODEX = "019e10aa-1111-7aaa-8bbb-0123456789ab"


def put(home: Path, card: Card, name: str = "") -> Path:
    """A card file as somebody's editor leaves it."""
    path = home / ".claude" / "session-recaps" / (name or f"{card.id}.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render(card))
    return path


def card(number: int, **fields: object) -> Card:
    base = Card(uid(number), task="Zebra export of the quarter", tags=("export", "crm"), entities=("TICKET-42",))
    return base._replace(**{"status": "done", "written_by": "claude-haiku-5-5", **fields})


def test_cards_of_unknown_sessions_are_taken_in_as_each_alone_would_be(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many at a time, and one by one: the same rows. Among them names, two files of one session, one that was removed,
    short ids, ids that begin like others, other scripts, files without front matter."""
    here = settings(home)
    shelf = Shelf(here.data, here.state)
    claude_session(home, "crm", uid(900), TURNS)
    sweep(here)
    for number in range(1, 30):
        put(home, card(number, title=f"parseConfig {number}", body="ёлка Größe 数据库迁移" * (number % 3)))
    put(home, card(31, written_by="extract", project="/home/dev/crm.worktrees/x", first=1e9, last=0.0, tags=("meta",)))
    put(home, card(32, title="", task="", entities=("a, b", "#12", "e\u0301", "Straße"), messages=7))
    put(home, card(33), name="another.md")
    put(home, card(33, task="The other one"))
    put(home, card(900, task="Of a session that is there"))
    put(home, card(34)._replace(id="short"))
    put(home, card(35)._replace(id=f"{uid(1)}-longer"))
    put(home, card(36)._replace(id=uid(37)[:13]))
    put(home, card(37))
    put(home, card(38))
    put(home, Card(CODEX, "codex", task="for Codex"))
    (home / ".claude/session-recaps/notes.md").write_text("# Notes\n\nfeed the wombat\n")
    shelf.set_name(uid(2), "My own parseName")
    shelf.bury(uid(38))

    def taken(alone: bool) -> dict[str, list[tuple[object, ...]]]:
        with monkeypatch.context() as patched:
            if alone:
                patched.setattr("recall.actions.cards._Fresh.take", lambda *_: False)
            rebuild(here, progress=nothing)
        with sqlite3.connect(here.index) as db:
            return {name: sorted(db.execute(f"SELECT * FROM {name}")) for name in ("session", "card", "head", "file")}

    one_by_one, together = taken(True), taken(False)
    assert together == one_by_one
    assert len(together["card"]) > 30


def take(here: Settings) -> int:
    with open_store(here.index) as store:
        return take_cards(store, Shelf(here.data, here.state))[0]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"task": "a wombat"}, "wombat"),
        ({"title": "a wombat"}, "wombat"),
        ({"tags": ("my-wombat",)}, "wombat"),
        ({"entities": ("Wombat GmbH",)}, "wombat"),
        ({"method": "with wombats"}, "wombat"),
        ({"next": "feed the wombat"}, "wombat"),
        ({"artifacts": ("src/wombat.py",)}, "src/wombat.py"),
        ({"body": "see the wombat"}, "wombat"),
    ],
)
def test_each_field_of_a_card_is_found_and_hides_no_word_of_the_transcript(
    home: Path, fields: dict[str, object], words: str
) -> None:
    claude_session(home, "crm", uid(1), TURNS)
    claude_session(home, "crm", uid(2), [("something else", "yes")])
    put(home, card(1, **fields))
    here = settings(home)
    sweep(here)
    assert search(here, words) == [uid(1)]
    assert search(here, "giraffe") == [uid(1)]
    assert search(here, "giraffe", words) == [uid(1)]


def test_the_task_of_a_card_goes_before_the_words_of_a_transcript(home: Path) -> None:
    claude_session(home, "crm", uid(1), [("please look at the wombat", "the wombat looks well")])
    claude_session(home, "crm", uid(2), TURNS)
    put(home, card(2, task="Wombat"))
    here = settings(home)
    sweep(here)
    assert search(here, "wombat") == [uid(2), uid(1)]


def test_a_card_that_was_edited_is_seen_and_no_other_is_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claude_session(home, "crm", uid(1), TURNS)
    path = put(home, card(1))
    put(home, card(2))
    here = settings(home)
    assert sweep(here).cards == 2
    read: list[str] = []
    whole = Shelf.card_text
    monkeypatch.setattr(Shelf, "card_text", lambda self, name: read.append(name) or whole(self, name))
    assert sweep(here).cards == 0
    path.write_text(path.read_text().replace("Zebra", "Wombat!"))
    assert take(here) == 1
    assert read == [path.name]
    assert search(here, "wombat") == [uid(1)]
    assert search(here, "zebra") == [uid(2)]
    path.unlink()
    assert take(here) == 1
    assert search(here, "wombat") == []
    assert rows(here)[uid(1)].status == ""


def test_a_missing_data_folder_takes_no_card_away(home: Path) -> None:
    """A disk that is not mounted is no deletion."""
    claude_session(home, "crm", uid(1), TURNS)
    put(home, card(1))
    here = settings(home)
    sweep(here)
    os.rename(here.data, here.data + ".away")
    assert take(here) == 0
    assert rows(here)[uid(1)].status == "done"


@pytest.mark.parametrize("id", [uid(7), uid(7)[:8]])
def test_a_card_without_a_transcript_is_a_row_until_there_is_one(home: Path, id: str) -> None:
    """Its row says what the card says; the transcript that comes takes the card over."""
    put(home, card(7, id=id, project="/home/dev/zoo", first=1781168400.0, last=1781172000.0, messages=9))
    here = settings(home)
    sweep(here)
    with open_store(here.index) as store:
        (row,) = store.sessions()
        assert store.count() == 1
    assert (row.id, row.project, row.updated, row.messages, row.status) == (id, "zoo", 1781172000.0, 9, "done")
    assert search(here, "zebra") == [id]
    claude_session(home, "crm", uid(7), TURNS)
    sweep(here)
    with open_store(here.index) as store:
        (row,) = store.sessions()
    assert (row.id, row.project, row.messages, row.status) == (uid(7), "crm", 2, "done")


def test_a_row_of_a_card_goes_with_the_card(home: Path) -> None:
    path = put(home, card(7))
    here = settings(home)
    sweep(here)
    path.unlink()
    take(here)
    with open_store(here.index) as store:
        assert store.sessions() == []


@pytest.mark.parametrize("name", [f"{uid(1)[:8]}.md", "2026-06-11-zebra.md", f"{uid(1)}.md"])
def test_cards_of_an_earlier_tool_are_used_under_their_names(home: Path, name: str) -> None:
    claude_session(home, "crm", uid(1), TURNS)
    put(home, card(1), name)
    for other, text in (("README.md", "zebra"), ("notes.md", "zebra"), (".hidden.md", "zebra")):
        (home / ".claude" / "session-recaps" / other).write_text(text)
    here = settings(home)
    sweep(here)
    assert list(rows(here)) == [uid(1)]
    assert search(here, "zebra") == [uid(1)]


def test_of_two_cards_the_one_that_is_named_after_the_session_counts(home: Path) -> None:
    claude_session(home, "crm", uid(1), TURNS)
    put(home, card(1, task="first"))
    put(home, card(1, task="second"), "2026-06-11-other.md")
    here = settings(home)
    sweep(here)
    assert rows(here)[uid(1)].task == "first"
    (home / ".claude" / "session-recaps" / f"{uid(1)}.md").unlink()
    sweep(here)
    assert rows(here)[uid(1)].task == "second"


def test_removed_sessions_have_no_card(home: Path) -> None:
    data = home / ".claude" / "session-recaps"
    put(home, card(1))
    put(home, card(2))
    (data / ".removed").write_text(f"{uid(1)[:8]}\n{uid(2)}\n")
    here = settings(home)
    sweep(here)
    assert search(here, "zebra") == []


def test_a_secret_in_a_card_is_not_indexed(home: Path) -> None:
    key = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    put(home, card(1, method=f"curl with {key}", entities=(key,)))
    here = settings(home)
    sweep(here)
    with open_store(here.index) as store:
        (row,) = store.sessions()
    assert row.entities.startswith("[redacted:")
    assert key.encode() not in all_bytes(here.state)


def test_a_session_that_grows_and_a_reindex_keep_what_the_card_says(home: Path) -> None:
    path = claude_session(home, "crm", uid(1), TURNS)
    codex_session(home, "crm", CODEX, TURNS)
    put(home, card(1, title="The card's title"))
    put(home, Card(CODEX, "codex", task="Wombat", status="aborted"))
    here = settings(home)
    sweep(here)
    append(path, [user(uid(1), "and one more thing", 1)])
    sweep(here)
    before = rows(here)
    assert before[uid(1)].messages == 3
    assert (before[uid(1)].status, before[uid(1)].tags, before[uid(1)].title) == (
        "done",
        "export\ncrm",
        "The card's title",
    )
    assert before[CODEX].status == "aborted"
    rebuild(here, progress=nothing)
    assert {id: row._replace(no=0) for id, row in rows(here).items()} == {
        id: row._replace(no=0) for id, row in before.items()
    }
    assert search(here, "zebra") == [uid(1)]


def test_the_card_of_an_earlier_part_speaks_for_its_chain(home: Path) -> None:
    """Until the newest transcript has a card of its own."""
    first = claude_session(home, "crm", uid(1), TURNS)
    lines = [json.loads(line) for line in first.read_text().splitlines()]
    second = first.with_name(f"{uid(2)}.jsonl")
    more = user(uid(2), "and one more thing", 1)
    second.write_text("".join(json.dumps({**line, "sessionId": uid(2)}) + "\n" for line in [*lines, more]))
    put(home, card(1))
    here = settings(home)
    sweep(here)
    found = rows(here)
    assert list(found) == [uid(2)]
    assert (found[uid(2)].chain, found[uid(2)].task) == (2, "Zebra export of the quarter")
    assert search(here, "zebra") == [uid(2)]
    put(home, card(2, task="Wombat"))
    sweep(here)
    assert rows(here)[uid(2)].task == "Wombat"


def test_index_md_is_a_view_of_all_rows(home: Path) -> None:
    """Written again where cards alone changed, and not where nothing did."""
    claude_session(home, "crm", uid(1), TURNS)
    put(home, card(1))
    put(home, card(7, id=uid(7)))
    here = settings(home)
    sweep(here)
    view = home / ".claude" / "session-recaps" / "INDEX.md"
    with open_store(here.index) as store:
        shelf = Shelf(here.data, here.state)
        write_view(here, store, shelf)
        text = render_view(shown(store.sessions(), shelf), short_ids(store.ids()))
        assert view.read_text() == text
        assert len(text.splitlines()) == 2
        before = view.stat()
        write_view(here, store, shelf)
        assert view.stat().st_ino == before.st_ino
        put(home, card(1, task="Wombat"))
        take_cards(store, shelf)
        write_view(here, store, shelf)
    assert "[done] Wombat #export #crm {TICKET-42}" in view.read_text()


# -- through the program ---------------------------------------------------------------------------------------


def _find(run_recall: Run, word: str) -> subprocess.CompletedProcess[str]:
    """The first find that had the time to take in what is new; one that had not says so on stderr."""
    return again(lambda: run_recall("find", word), lambda done: not done.stderr)


def test_a_hand_edit_is_seen_by_the_next_find(home: Path, run_recall: Run) -> None:
    claude_session(home, "crm", uid(1), TURNS)
    run_recall("sweep", "--quiet", "--no-llm", check=True)
    path = put(home, card(1, written_by="hand"))
    done = _find(run_recall, "zebra")
    short = uid(1)[:8]
    line = f"{short} 2026-06-11T09:00 crm [done] Zebra export of the quarter #export #crm {{TICKET-42}}\n"
    assert (done.stdout, done.stderr) == (line, "")
    path.write_text(path.read_text().replace("Zebra", "Wombat"))
    assert "Wombat export" in _find(run_recall, "wombat").stdout
    assert run_recall("find", "--no-refresh", "wombat").returncode == 0
    run_recall("sweep", "--quiet", "--no-llm", check=True)
    assert "Wombat export" in (home / ".claude" / "session-recaps" / "INDEX.md").read_text()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--status", "done"], [1]),
        (["status:done"], [1]),
        (["--status", "in-progress"], [2]),
        (["status:new"], [3]),
        (["--status", "new", "--status", "done"], [3, 1]),
        (["--tag", "export"], [2, 1]),
        (["tag:crm"], [1]),
        (["#crm"], [1]),
        (["#crm", "giraffe"], [1]),
        (["#nothing"], []),
    ],
)
def test_filters_look_at_cards(home: Path, run_recall: Run, words: list[str], found: list[int]) -> None:
    for number in (1, 2, 3):
        claude_session(home, "crm", uid(number), TURNS, start=f"2026-06-1{number}T09:00:00+00:00")
    put(home, card(1))
    put(home, card(2, tags=("export",), status="in_progress"))
    run_recall("sweep", "--quiet", "--no-llm", check=True)
    done = run_recall("find", "--ids", *words)
    assert sorted(done.stdout.split()) == sorted(uid(number) for number in found)


def test_json_says_what_the_card_says(home: Path, run_recall: Run) -> None:
    source = claude_session(home, "crm", uid(1), TURNS)
    put(home, card(1, title="The card's title"))
    run_recall("sweep", "--quiet", "--no-llm", check=True)
    source.unlink()
    (found,) = json.loads(run_recall("find", "--json", "zebra").stdout)["results"]
    expected = {
        "status": "done",
        "title": "The card's title",
        "task": "Zebra export of the quarter",
        "tags": ["export", "crm"],
        "entities": ["TICKET-42"],
        "archived_only": True,
    }
    assert {key: found[key] for key in expected} == expected
    page = json.loads(run_recall("show", uid(1), "--json").stdout)
    assert page["card"]["task"] == "Zebra export of the quarter"
    assert page["status"] == "done"


def test_show_begins_with_the_card(home: Path, run_recall: Run) -> None:
    """Also where the card is all that is left."""
    claude_session(home, "crm", uid(1), TURNS)
    put(home, card(1, method="by hand", next="rest", body="A note.", written_by="hand"))
    put(home, card(7))
    run_recall("sweep", "--quiet", "--no-llm", check=True)
    lines = run_recall("show", uid(1)).stdout.splitlines()
    assert lines[2:12] == [
        "task      Zebra export of the quarter",
        "status    done",
        "method    by hand",
        "next      rest",
        "entities  TICKET-42",
        "tags      #export #crm",
        "card by   hand",
        "",
        "notes",
        "  A note.",
    ]
    done = run_recall("show", uid(7))
    assert (done.returncode, done.stderr) == (0, "")
    assert "source    gone: its card is all that is left" in done.stdout


def test_purge_leaves_no_word_of_a_card(home: Path, run_recall: Run) -> None:
    """Nor its tags in TAGS.md, whatever its file is called."""
    claude_session(home, "crm", uid(1), TURNS)
    claude_session(home, "crm", uid(2), TURNS)
    put(home, card(1, task="kookaburra", tags=("kookaburra",)), "2026-06-11-kookaburra.md")
    run_recall("sweep", "--quiet", "--no-llm", check=True)
    assert "kookaburra" in (home / ".claude" / "session-recaps" / "TAGS.md").read_text()
    done = run_recall("remove", uid(1), "--purge", "--yes")
    assert done.returncode == 0, done.stderr
    for folder, _, files in os.walk(home / ".claude"):
        for name in files:
            assert "kookaburra" not in name
            assert b"kookaburra" not in Path(folder, name).read_bytes(), name
    assert run_recall("find", "kookaburra").returncode == 1
