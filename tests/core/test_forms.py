"""Names that are written in the letters of another script."""

from __future__ import annotations

import pytest

from recall.core.forms import respelled


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("kubernetes", "кубернетес"),
        ("кубернетес", "kubernetes"),
        ("кубернетесе", "kubernetes"),
        ("докером", "docker"),
        ("docker", "докер"),
        ("вебпак", "webpack"),
        ("реакт", "react"),
        ("nginx", "нгинкс"),
        ("нгинкс", "nginx"),
        ("кафка", "kafka"),
        ("джира", "jira"),
        ("сервер", "server"),
    ],
)
def test_a_name_is_looked_for_in_the_other_script(typed: str, written: str) -> None:
    """What others wrote is among the spellings."""
    assert written in respelled(typed)


@pytest.mark.parametrize("word", ["он", "the", "v2ray", "naïve", "会议", "αλφα", "", "קוברנטיס"])
def test_what_has_no_such_spelling_has_none(word: str) -> None:
    """Short words, words with digits, letters that neither table has, other scripts."""
    assert respelled(word) == []


@pytest.mark.parametrize("word", ["вебвебвебкакакака" * 20, "kckckckc" * 100])
def test_a_long_word_has_few_spellings(word: str) -> None:
    """Each choice is made for the whole word: the number of spellings does not grow with it."""
    assert len(respelled(word)) <= 24
