"""Cards on the shelf: never over what somebody wrote meanwhile, and found under whatever name an earlier tool gave."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recall.core.card import parse
from recall.core.model import Card
from recall.errors import Refused
from recall.shelf import TAGGED, Shelf, id_in, tagged

ID = "5a1c0b1e-93f0-4f5e-a7d4-9a4b6f6f2c01"


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(str(tmp_path / "data"), str(tmp_path / "state"))


def test_a_card_is_written_private_and_read_back(shelf: Shelf) -> None:
    card = Card(ID, task="Move the export", tags=("export",), written_by="claude-haiku-5-5")
    seen = shelf.write_card(card)
    assert shelf.card(ID) == card
    assert seen.name == f"{ID}.md"
    path = os.path.join(shelf.data, seen.name)
    assert (os.stat(path).st_mode & 0o777, os.stat(shelf.data).st_mode & 0o777) == (0o600, 0o700)
    assert os.listdir(shelf.data) == [seen.name]
    assert shelf.card_files() == {seen.name: seen}


def test_a_new_card_replaces_only_what_was_read(shelf: Shelf) -> None:
    """Neither a file that is there already, nor one that changed since."""
    seen = shelf.write_card(Card(ID, task="first"))
    with pytest.raises(Refused):
        shelf.write_card(Card(ID, task="second"))
    Path(shelf.data, seen.name).write_text("---\ntask: edited by a person\n---\n")
    with pytest.raises(Refused):
        shelf.write_card(Card(ID, task="second"), seen)
    found = shelf.card_file(ID)
    assert found is not None
    assert found[0].task == "edited by a person"
    shelf.write_card(Card(ID, task="second"), found[1])
    assert shelf.card(ID) == Card(ID, task="second")


def test_what_was_written_by_hand_stays(shelf: Shelf) -> None:
    """Unless it is asked for; a file without front matter is by hand as well."""
    for text in ("---\ntask: mine\nwritten_by: hand\n---\n", "Just a note.\n"):
        Path(shelf.data).mkdir(exist_ok=True)
        Path(shelf.data, f"{ID}.md").write_text(text)
        found = shelf.card_file(ID)
        assert found is not None
        with pytest.raises(Refused):
            shelf.write_card(Card(ID, task="a model's"), found[1])
        assert Path(shelf.data, f"{ID}.md").read_text() == text
        shelf.write_card(Card(ID, task="a model's"), found[1], over_hand=True)
        card = shelf.card(ID)
        assert card is not None and card.task == "a model's"


def test_a_new_card_keeps_what_its_user_added(shelf: Shelf) -> None:
    """Free text, unknown keys, tags given and taken away."""
    old = Card(ID, tags=("a", "b"), body="A note.", extra=(("sprint", "12"), (TAGGED, "+mine -draft")))
    seen = shelf.write_card(old)
    shelf.write_card(Card(ID, task="new", tags=("draft", "c"), written_by="claude-haiku-5-5"), seen)
    card = shelf.card(ID)
    assert card is not None
    assert (card.task, card.tags, card.body) == ("new", ("c", "mine"), "A note.")
    assert card.extra == old.extra


@pytest.mark.parametrize(
    ("changes", "tags"),
    [("", ("a", "b")), ("+c", ("a", "b", "c")), ("-a", ("b",)), ("-a +a", ("b", "a")), ("c -x", ("a", "b", "c"))],
)
def test_tags_after_changes(changes: str, tags: tuple[str, ...]) -> None:
    assert tagged(("a", "b"), changes) == tags


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (f"{ID}.md", "---\ntask: x\n---\n"),
        (f"{ID[:8]}.md", "---\ntask: x\n---\n"),
        (f"{ID[:8]}.md", f"---\nid: {ID}\ntask: x\n---\n"),
        ("2026-06-11-export.md", f"---\nid: {ID}\ntask: x\n---\n"),
        ("2026-06-11-export.md", f"---\nid: {ID[:8]}\ntask: x\n---\n"),
    ],
)
def test_a_card_of_an_earlier_tool_is_found_and_deleted_under_its_name(shelf: Shelf, name: str, text: str) -> None:
    Path(shelf.data, "handoffs").mkdir(parents=True)
    other = f"9{ID[1:]}"
    for one, content in ((name, text), (f"{other}.md", "---\ntask: y\n---\n"), ("README.md", "x"), (".x.md", text)):
        Path(shelf.data, one).write_text(content)
    for one in (ID, other):
        Path(shelf.data, "handoffs", f"{one}.md").write_text("x")
    found = shelf.card_file(ID)
    assert found is not None
    assert (found[0].id, found[0].task, found[1].name) == (ID, "x", name)
    assert shelf.drop_papers(ID) == [name, f"handoffs/{ID}.md"]
    assert shelf.card(ID) is None
    assert shelf.card(other) is not None
    assert os.listdir(os.path.join(shelf.data, "handoffs")) == [f"{other}.md"]


@pytest.mark.parametrize("id", ["", "../x", ".hidden", "a/b"])
def test_an_id_that_is_no_name_is_refused(shelf: Shelf, id: str) -> None:
    with pytest.raises(Refused):
        shelf.write_card(Card(id))


@pytest.mark.parametrize(
    ("name", "id"),
    [
        (f"{ID}.md", ID),
        ("5a1c0b1e.md", "5a1c0b1e"),
        ("019e10aa-1111.md", "019e10aa-1111"),
        ("notes.md", ""),
        ("deadline.md", ""),
    ],
)
def test_which_names_are_ids(name: str, id: str) -> None:
    assert id_in(name) == id


def test_an_unreadable_byte_does_not_hide_a_card(shelf: Shelf) -> None:
    Path(shelf.data).mkdir()
    Path(shelf.data, f"{ID}.md").write_bytes(b"---\ntask: caf\xe9 export\n---\n")
    card = shelf.card(ID)
    assert card is not None and card.task == "caf\ufffd export"


def test_no_data_folder_is_not_an_empty_one(shelf: Shelf) -> None:
    assert shelf.card_files() is None
    assert shelf.card(ID) is None
    Path(shelf.data).mkdir()
    assert shelf.card_files() == {}


def test_a_name_sticks_until_it_is_taken_back(shelf: Shelf) -> None:
    shelf.set_name(ID, "Mine")
    assert (shelf.name(ID), Shelf(shelf.data, shelf.state).name(ID)) == ("Mine", "Mine")
    shelf.drop_name(ID)
    assert shelf.name(ID) == ""


def test_tags_md_is_written_only_when_it_changes(shelf: Shelf) -> None:
    shelf.count_tags({})
    assert shelf.card_files() is None
    shelf.count_tags({"export": 2})
    path = Path(shelf.data, "TAGS.md")
    before = path.stat().st_ino
    shelf.count_tags({"export": 2})
    assert path.stat().st_ino == before
    path.write_text(path.read_text() + "- billing\n")
    shelf.count_tags({"export": 3})
    assert shelf.preferred_tags() == ["billing", "export"]
    assert parse(path.read_text()).tags == ()
