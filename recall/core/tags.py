"""`TAGS.md`: the vocabulary of tags as a markdown list that people may edit.

Lines `- tag (12)` are ours: the tag, and how many sessions carry it. Any other line is somebody's own and stays as it is;
a list item among them makes its first word a preferred tag.
"""

from __future__ import annotations

from collections.abc import Mapping

from recall.core.cardfile import kebab

_TITLE = "# Tags"
_INTRO = "Tags of the cards, the most used first. A line of your own, without a number, stays: its tag is preferred."


def render(old: str, counts: Mapping[str, int]) -> str:
    """The text of the file with these counts; `old` is what it says now. '' when there is nothing to be said."""
    lines = old.removeprefix("\ufeff").splitlines()
    own = {tag for line in lines if (tag := _tag(line)) and _count(line) < 0}
    ours = [f"- {tag} ({n})" for tag, n in sorted(counts.items(), key=_order) if tag not in own and n > 0]
    places = [at for at, line in enumerate(lines) if _count(line) >= 0]
    kept = [line for line in lines if _count(line) < 0]
    if not any(line.strip() for line in kept):
        return "\n".join([_TITLE, "", _INTRO, "", *ours]) + "\n" if ours else ""
    at = sum(1 for line in lines[: places[0]] if _count(line) < 0) if places else len(kept)
    if at and ours and kept[at - 1].strip() and not _tag(kept[at - 1]):
        ours.insert(0, "")
    return "\n".join([*kept[:at], *ours, *kept[at:]]) + "\n"


def preferred(text: str) -> list[str]:
    """The tags that a new card should use, if they fit: those that people wrote, then the most used."""
    own: dict[str, None] = {}
    used: dict[str, int] = {}
    for line in text.removeprefix("\ufeff").splitlines():
        tag, n = _tag(line), _count(line)
        if tag and n < 0:
            own[tag] = None
        elif tag:
            used[tag] = n
    return [*own, *(tag for tag, _ in sorted(used.items(), key=_order) if tag not in own)]


def _order(pair: tuple[str, int]) -> tuple[int, str]:
    return -pair[1], pair[0]


def _tag(line: str) -> str:
    """The tag that a line of the list names; '' for anything else."""
    bare = line.strip()
    if bare[:2] not in ("- ", "* ", "+ "):
        return ""
    words = bare[2:].split(maxsplit=1)
    return kebab(words[0].strip("`*:,;")) if words else ""


def _count(line: str) -> int:
    """The number in a line of ours; -1 for somebody's own line."""
    if not line.startswith("- ") or not line.endswith(")"):
        return -1
    name, blank, number = line[2:-1].rpartition(" (")
    return int(number) if blank and number.isascii() and number.isdigit() and name == kebab(name) else -1
