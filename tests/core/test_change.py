"""Changes in their order give the text that stood in each file."""

from __future__ import annotations

from recall.core.change import DELETE, EDIT, MOVE, OTHER, PATCH, SEEN, WRITE, Change, replay
from recall.core.patch import Hunk


def _write(text: str, path: str = "/a") -> Change:
    return Change(path, WRITE, 0, 1.0, text=text)


def _edit(old: str, new: str, every: bool = False, base: str | None = None) -> Change:
    return Change("/a", EDIT, 0, 2.0, edits=((old, new, every),), base=base)


def _text(*changes: Change, path: str = "/a") -> str | None:
    return replay(changes)[path].text


def test_edits_follow_a_write() -> None:
    assert _text(_write("x y x"), _edit("x", "z")) == "z y x"
    assert _text(_write("x y x"), _edit("x", "z", True)) == "z y z"


def test_what_the_client_says_stood_there_is_right() -> None:
    """Somebody else changed the file between: a formatter, the person."""
    assert _text(_write("a"), _edit("b", "c", base="a b")) == "a c"


def test_a_file_that_was_read_whole_is_known() -> None:
    assert _text(Change("/a", SEEN, 0, 1.0, text="one\n"), _edit("one", "two")) == "two\n"


def test_a_file_that_was_only_read_is_not_listed() -> None:
    assert replay([Change("/a", SEEN, 0, 1.0, text="one\n")]) == {}


def test_an_edit_of_what_was_never_seen_is_kept_as_an_edit() -> None:
    state = replay([_edit("old", "new")])["/a"]
    assert (state.text, state.hunks, state.changes) == (None, (Hunk("", ("old",), ("new",)),), 1)


def test_an_edit_that_does_not_fit_makes_the_text_unknown_until_it_is_written_again() -> None:
    lost = replay([_write("a"), _edit("zzz", "b")])["/a"]
    assert (lost.text, lost.lost) == (None, 1)
    assert _text(_write("a"), _edit("zzz", "b"), _write("new")) == "new"


def test_a_deleted_file_can_come_again() -> None:
    state = replay([_write("a"), Change("/a", DELETE, 0, 2.0)])["/a"]
    assert state.deleted and state.text is None
    assert _text(_write("a"), Change("/a", DELETE, 0, 2.0), _edit("", "b")) == "b"


def test_a_moved_file_is_at_its_new_place() -> None:
    found = replay([_write("a\n"), Change("/a", MOVE, 0, 2.0, hunks=(Hunk("", ("a",), ("b",)),), to="/c")])
    assert found["/a"].deleted
    assert found["/c"].text == "b\n"


def test_a_patch_applies_to_what_is_known() -> None:
    assert _text(_write("a\nb\n"), Change("/a", PATCH, 0, 2.0, hunks=(Hunk("", ("b",), ("c",)),))) == "a\nc\n"


def test_a_change_that_cannot_be_replayed_makes_the_text_unknown() -> None:
    assert _text(_write("a"), Change("/a", OTHER, 0, 2.0)) is None
