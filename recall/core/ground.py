"""Which names really occur in a transcript: what a model says it did must have been said or done there.

Candidates come first, then all texts stream by once. A candidate occurs where it stands as a whole: `src/a.py` is not
proven by `src/a.pyc` or `xsrc/a.py`, PR #12 not by #123, an address not by one with another query. Paths, addresses and
numbers must be equal to the letter; other names may differ in case and in how their words are spaced.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from recall.core.model import Record

_BLOCK = 1 << 18
"""Characters that are looked at together; blocks overlap by more than the longest candidate."""

_LONGEST = 2000

_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://", re.I)
_PULL = re.compile(r"(?:(?:PR|MR|pull request|merge request|issue|ticket)s?\s*[#!]?|[#!])\s*(\d{1,9})", re.I)
_PATH = re.compile(r"[^\s]*[/\\][^\s]*|\.?[\w-]+(?:\.[\w-]+)+|\.[\w-]+")
_SPACED_PATH = re.compile(r"(?:[~.]{0,2}[/\\]|[A-Za-z]:\\).*")
_BLANKS = re.compile(r"\s+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)

_IN_URL = frozenset("-/?=&%#~+:@$*_.,;!'()[]")  # signs that may go on an address; some of them also end a sentence
_ENDS_SENTENCE = frozenset(".,;:!?'*_~")
_CLOSES = frozenset(")]}>\"'`|…»”’，。、；：！？）】」』》")
_IN_NAME = frozenset(".-")


class _Form(NamedTuple):
    """One spelling to look for: `kind` is 'url', 'path', 'number' or 'name'."""

    text: str
    kind: str
    whole: bool  # are `.` and `-` part of such a name?


class Evidence:
    """Takes candidates, then texts (`add`) or records (`feed`); then `contains` tells which candidates occur."""

    def __init__(self, candidates: Iterable[str]) -> None:
        self._exact: list[tuple[str, _Form]] = []
        self._loose: list[tuple[str, _Form]] = []
        self._open: set[str] = set()
        self._found: set[str] = set()
        for candidate in dict.fromkeys(candidates):
            forms = _forms(candidate)
            if forms:
                self._open.add(candidate)
            for form in forms:
                (self._loose if form.kind == "name" else self._exact).append((candidate, form))
        self._overlap = 2 * max((len(form.text) for _, form in self._exact + self._loose), default=0) + 8
        self._spaced = any(" " in form.text for _, form in self._loose)

    @property
    def complete(self) -> bool:
        """Was everything found already? Then no more texts are needed."""
        return not self._open

    def feed(self, records: Iterable[Record]) -> Evidence:
        """Look through the texts of records until all is found."""
        for record in records:
            if not self._open:
                break
            self.add(record.text)
        return self

    def add(self, text: str) -> None:
        """Look through one text, of any length."""
        if not self._open:
            return
        if len(text) <= _BLOCK:
            self._look(text)
            return
        # A block is looked at with what stands beside it, so that its ends are no ends of words.
        for start in range(0, len(text), _BLOCK):
            self._look(
                text[max(start - self._overlap, 0) : start + _BLOCK + self._overlap],
                start > 0,
                start + _BLOCK < len(text),
            )

    def contains(self, text: str) -> bool:
        """Does the candidate occur? False for what was not among the candidates."""
        return text in self._found

    def _look(self, text: str, cut_before: bool = False, cut_behind: bool = False) -> None:
        if not text.isascii() and not unicodedata.is_normalized("NFC", text):
            text = unicodedata.normalize("NFC", text)
        found = {
            candidate
            for candidate, form in self._exact
            if candidate in self._open and form.text in text and _stands(form, text, cut_before, cut_behind)
        }
        if self._loose:
            loose = text.lower() if text.isascii() else _fold(text)
            if self._spaced:
                loose = " ".join(loose.split())
            found |= {
                candidate
                for candidate, form in self._loose
                if candidate in self._open and form.text in loose and _stands(form, loose, cut_before, cut_behind)
            }
        if found:
            self._found |= found
            self._open -= found
            self._exact = [pair for pair in self._exact if pair[0] not in found]
            self._loose = [pair for pair in self._loose if pair[0] not in found]


def _forms(candidate: str) -> list[_Form]:
    text = unicodedata.normalize("NFC", candidate).strip()
    if not text or len(text) > _LONGEST or "[redacted:" in text:
        return []
    if _URL.match(text):
        return [_Form(text, "url", True)]
    number = _PULL.fullmatch(text)
    if number:
        kinds = (
            "#",
            "!",
            "/pull/",
            "/issues/",
            "/merge_requests/",
            "/pull-requests/",
            "PR ",
            "MR ",
            "pr view ",
            "pr merge ",
            "pr checkout ",
        )
        return [_Form(f"{kind}{number[1]}", "number", True) for kind in kinds] + [_Form(text, "number", True)]
    text = text.removeprefix("./") or text
    if _PATH.fullmatch(text) or _SPACED_PATH.fullmatch(text):
        return [_Form(text, "path", True)]
    whole = any(char.isdigit() or char in "-._" for char in text)
    return [_Form(_BLANKS.sub(" ", _fold(text)), "name", whole)]


def _fold(text: str) -> str:
    return text.casefold().replace("ё", "е")


def _stands(form: _Form, text: str, cut_before: bool, cut_behind: bool) -> bool:
    """Does the text stand anywhere as a whole? Not where it touches an end that is only the end of a block."""
    at = text.find(form.text)
    size = len(form.text)
    while at >= 0:
        end = at + size
        if (
            not (cut_before and at < 2)
            and not (cut_behind and end > len(text) - 4)
            and _begins(form, text, at)
            and _ends(form, text, end)
        ):
            return True
        at = text.find(form.text, at + 1)
    return False


def _begins(form: _Form, text: str, at: int) -> bool:
    if at == 0:
        return True
    before, first, path = text[at - 1], form.text[0], form.kind == "path"
    if form.kind == "number" and not first.isalnum():
        return before not in (first, "&")
    if _wordy(before):
        return not (path or (_wordy(first) and _glued(before, first)))
    if path and first in "/\\":
        return before not in "/\\~.-@})"
    if path and first == ".":
        return before not in ".-@" and not (before in "/\\" and form.text.startswith(".."))
    if path and before in ".@~":
        return False
    if form.whole and before in _IN_NAME:
        return not (at > 1 and _wordy(text[at - 2]))
    return True


def _ends(form: _Form, text: str, end: int) -> bool:
    if end >= len(text):
        return True
    after, last, path = text[end], form.text[-1], form.kind == "path"
    if form.kind == "url":
        return _address_ends(text, end)
    if _wordy(after):
        if path:
            return last in "/\\" or (_UNSPACED.match(after) is not None and _UNSPACED.match(last) is None)
        return not (_wordy(last) and _glued(last, after))
    if path and after == "~":
        return False
    if form.whole and (after in _IN_NAME or (path and after == "+")):
        follows = text[end + 1 : end + 2]
        return not (follows and (_wordy(follows) or follows == "-"))
    return True


def _glued(one: str, other: str) -> bool:
    """Do two letters side by side belong to one word? In scripts without blanks nothing says so."""
    return not (_UNSPACED.match(one) or _UNSPACED.match(other))


def _address_ends(text: str, end: int) -> bool:
    """Is the address over here, or only followed by what ends a sentence or closes a bracket?"""
    while end < len(text):
        char = text[end]
        if char.isspace() or char in _CLOSES or char == "\\" or char == "<":
            return True
        if char not in _ENDS_SENTENCE:
            return not (char.isalnum() or char in _IN_URL) or bool(_UNSPACED.match(char))
        end += 1
    return True


def _wordy(char: str) -> bool:
    return char.isalnum() or char == "_"
