"""Patches are read and applied as the client that writes them does."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.core.patch import Hunk, apply, hunks, sections

PATCH = """\
*** Begin Patch
*** Add File: notes/new.md
+# New
+
+last
*** Update File: app.py
*** Move to: src/app.py
@@ def main():
-    old()
+    new()
 # end
*** Delete File: gone.txt
*** End Patch
trailing words"""


def test_each_file_of_a_patch_is_a_section() -> None:
    add, update, delete = sections(PATCH)
    assert (add.what, add.path, add.text) == ("Add", "notes/new.md", "# New\n\nlast\n")
    assert (update.path, update.to) == ("app.py", "src/app.py")
    assert update.hunks == (Hunk("def main():", ("    old()", "# end"), ("    new()", "# end")),)
    assert (delete.what, delete.path, delete.hunks) == ("Delete", "gone.txt", ())


@pytest.mark.parametrize(
    "text", ["", "no patch", "*** Begin Patch", "*** Begin Patch\n*** End Patch", "*** Begin Patch\n+x"]
)
def test_what_is_no_patch_has_no_sections(text: str) -> None:
    assert sections(text) == []


def test_a_patch_that_was_cut_off_keeps_what_it_has() -> None:
    assert [one.path for one in sections("*** Begin Patch\n*** Add File: a\n+1")] == ["a"]


CASES = {
    "replaced": ("a\nb\nc\n", [Hunk("", ("b",), ("B", "B2"))], "a\nB\nB2\nc\n"),
    "at its second place, behind the named line": (
        "one\nx\ntwo\nx\n",
        [Hunk("two", ("x",), ("y",))],
        "one\nx\ntwo\ny\n",
    ),
    "in order": ("x\nx\n", [Hunk("", ("x",), ("1",)), Hunk("", ("x",), ("2",))], "1\n2\n"),
    "only added": ("a\n", [Hunk("", (), ("b",))], "a\nb\n"),
    "added behind a line": ("a\nb\n", [Hunk("a", (), ("1",))], "a\n1\nb\n"),
    "blanks at line ends differ": ("a  \nb\n", [Hunk("", ("a", "b"), ("a", "c"))], "a  \nc\n"),
    "indentation differs": ("    a\nb\n", [Hunk("", ("a", "b"), ("a", "c"))], "    a\nc\n"),
    "an empty line at the end of the file": ("a\n", [Hunk("", ("a", ""), ("b", ""))], "b\n"),
    "all gone": ("a\n", [Hunk("", ("a",), ())], ""),
    "no line end at the end": ("a", [Hunk("", ("a",), ("b",))], "b\n"),
    "does not fit": ("a\n", [Hunk("", ("z",), ("y",))], None),
}


@pytest.mark.parametrize("case", CASES)
def test_hunks_are_applied(case: str) -> None:
    text, wanted, result = CASES[case]
    assert apply(text, wanted) == result


_LINES = st.lists(st.text(alphabet="ab \té{}", max_size=6).map(lambda text: f"|{text}"), max_size=12)


@given(_LINES, _LINES)
def test_a_unified_difference_gives_the_new_text(old: list[str], new: list[str]) -> None:
    """With so much context that each place is certain."""
    told = list(difflib.unified_diff(old, new, "a", "b", lineterm="", n=100))
    text = "".join(f"{line}\n" for line in old)
    assert apply(text, list(hunks(told))) == ("".join(f"{line}\n" for line in new) if told else text)


@given(st.text(max_size=300), st.text(max_size=300))
def test_no_text_raises(patch: str, text: str) -> None:
    for one in sections(f"*** Begin Patch\n*** Update File: a\n{patch}"):
        apply(text, one.hunks)
