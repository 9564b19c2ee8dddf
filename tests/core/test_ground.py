"""What occurs in a transcript as a whole, and that a near miss does not."""

from __future__ import annotations

import string

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from recall.core.ground import Evidence
from recall.core.model import ASSISTANT, OUTPUT, USER, Record


def occurs(candidate: str, *texts: str) -> bool:
    evidence = Evidence([candidate])
    for text in texts:
        evidence.add(text)
    return evidence.contains(candidate)


@pytest.mark.parametrize(
    ("candidate", "text"),
    [
        ("src/a.py", "Edit src/a.py"),
        ("src/a.py", "wrote `src/a.py`, then stopped"),
        ("src/a.py", "In src/a.py."),
        ("src/a.py", "/home/dev/shop/src/a.py:12: error"),
        ("./src/a.py", "see src/a.py"),
        ("/home/dev/src/a.py", 'open("/home/dev/src/a.py")'),
        ("src/a.py", "src/a.pyを直しました"),
        ("src/core", "src/core/a.py"),
        (".env", "cp .env.example .env"),
        (".env", "config/.env"),
        ("Dockerfile", "the Dockerfile is there"),
        ("C:\\work\\a.py", "in C:\\work\\a.py there"),
        ("/home/dev/my docs/план.md", "Read /home/dev/my docs/план.md"),
        ("#12", "closes #12."),
        ("PR #12", "merged #12"),
        ("PR #12", "https://git.example/o/r/pull/12/files"),
        ("#12", "gh pr view 12"),
        ("https://x.example/a?b=1", "see (https://x.example/a?b=1)."),
        ("https://x.example/a", '"https://x.example/a"'),
        ("https://x.example/a", "https://x.example/a、それから"),
        ("Acme Corp", "for ACME\n  Corp, please"),
        ("Иванова", "ИВАНОВА просила"),
        ("Ёлка", "елка"),
        ("会議", "明日の会議は"),
        ("Docker", "Dockerを使う"),
        ("ABC-12", "fixes ABC-12: done"),
        ("parse_config", "call parse_config(x)"),
        ("Python", "a Python-based tool"),
        ("2.1.0", "version 2.1.0."),
        ("cafe\u0301/menu.md", "in caf\u00e9/menu.md"),
    ],
)
def test_what_stands_as_a_whole_occurs(candidate: str, text: str) -> None:
    assert occurs(candidate, text)


@pytest.mark.parametrize(
    ("candidate", "text"),
    [
        ("src/a.py", "src/a.pyc"),
        ("src/a.py", "xsrc/a.py"),
        ("src/a.py", "src/a.py.bak"),
        ("src/a.py", "src/a.py~"),
        ("src/a.py", "src/A.py"),
        ("src/a.py", "src/b.py and lib/a.py"),
        ("src/a", "src/a.py"),
        ("src/a", "src/a-b"),
        ("a.py", "data.py"),
        ("config.py", ".config.py"),
        ("config.py", "my.config.py"),
        ("a.py", "my-a.py"),
        ("/src/a.py", "./src/a.py"),
        ("/src/a.py", "~/src/a.py"),
        ("/src/a.py", "/home/src/a.py"),
        ("env", "environment"),
        (".env", ".env.example"),
        ("資料/a.md", "新資料/a.md"),
        ("#12", "#123"),
        ("#12", "#1"),
        ("PR #12", "PR #120, issue 12, https://git.example/o/r/pull/121"),
        ("#12", "&#12;"),
        ("https://x.example/a?b=1", "https://x.example/a?b=2"),
        ("https://x.example/a?b=1", "https://x.example/a?b=12"),
        ("https://x.example/a", "https://x.example/a?b=1"),
        ("https://x.example/a", "https://x.example/a/b"),
        ("https://x.example/a", "https://x.example/a.html"),
        ("https://x.example/a", "https://x.example/ab"),
        ("https://x.example/A", "https://x.example/a"),
        ("ABC-12", "ABC-123"),
        ("ABC-12", "XABC-12"),
        ("ABC-12", "ABC-12-b"),
        ("2.1.0", "12.1.0"),
        ("2.1.0", "2.1.0.4"),
        ("Иван", "Иванова"),
        ("cat", "concatenate"),
        ("", "anything"),
        ("   ", "anything"),
        ("[redacted:token]", "[redacted:token]"),
    ],
)
def test_a_near_miss_does_not_occur(candidate: str, text: str) -> None:
    assert not occurs(candidate, text)


def test_what_was_not_asked_for_is_not_proven() -> None:
    evidence = Evidence(["a.py"])
    evidence.add("a.py b.py")
    assert evidence.contains("a.py") and not evidence.contains("b.py") and evidence.complete


def test_all_zones_count_and_reading_stops_when_all_is_found() -> None:
    seen = []

    def records() -> object:
        for n, (zone, text) in enumerate([(USER, "x"), (OUTPUT, "b.py"), (ASSISTANT, "a.py"), (USER, "more")]):
            seen.append(n)
            yield Record(zone, text, n, 0.0)

    evidence = Evidence(["a.py", "b.py"]).feed(records())  # type: ignore[arg-type]
    assert evidence.complete and seen[-1] == 3


_PART = st.text(string.ascii_lowercase + string.digits + "é中", min_size=1, max_size=6)
_PATHS = st.builds(
    lambda parts, ending: "/".join(parts) + "." + ending,
    st.lists(_PART, min_size=1, max_size=4),
    st.sampled_from(["py", "ts", "md"]),
)


@settings(max_examples=400, deadline=None)
@given(path=_PATHS, at=st.integers(0, 40), char=st.sampled_from("abcxyz019_-"), data=st.data())
def test_one_character_makes_another_path(path: str, at: int, char: str, data: st.DataObject) -> None:
    """Of a path that occurs, one with a letter added, changed or taken away does not."""
    text = f"before {path} and `{path}`, ({path}) behind"
    assert occurs(path, text)
    at %= len(path)
    change = data.draw(st.sampled_from(["add", "change", "drop"]))
    middle = {"add": char + path[at], "change": char, "drop": ""}[change]
    other = path[:at] + middle + path[at + 1 :]
    assume(other != path and other.strip("/.-") and "//" not in other and not path.endswith("/" + other))
    assume(not (set(path[: at + 1]) & set("/.") and change == "drop" and other in path))
    assert not occurs(other, text)


@settings(max_examples=200, deadline=None)
@given(number=st.integers(1, 99999), other=st.integers(1, 99999))
def test_a_number_is_proven_by_itself_only(number: int, other: int) -> None:
    assert occurs(f"PR #{number}", f"opened #{number}.")
    assert occurs(f"PR #{number}", f"opened #{other}, /pull/{other} and PR {other}") == (number == other)


@settings(max_examples=200, deadline=None)
@given(query=st.text(string.ascii_letters + string.digits + "=&", max_size=8), other=st.text("ab1=&", max_size=8))
def test_an_address_is_proven_with_its_own_query_only(query: str, other: str) -> None:
    base = "https://x.example/page?q=1"
    assert occurs(base + query, f"<{base + query}>")
    assert occurs(base + query, f"<{base + other}> ") == (query == other)


@settings(max_examples=150, deadline=None)
@given(
    before=st.integers(0, 600_000), word=st.sampled_from(["src/a.py", "ABC-12", "https://x.example/a?b=1", "Иванова"])
)
def test_the_place_in_a_long_text_does_not_matter(before: int, word: str) -> None:
    """Texts are looked at in blocks; a name on the seam is found, and one glued to a letter there is not."""
    filler = "word " * (before // 5) + "." * (before % 5)
    tail = " tail" * 1000
    assert occurs(word, f"{filler} {word}{tail}")
    assert not occurs(word, f"{filler} q{word}{tail}") and not occurs(word, f"{filler} {word}q{tail}")
