"""One session on one line of the list."""

from __future__ import annotations

from collections.abc import Collection

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from recall.core.card import status_of, tags_of, task_of
from recall.core.model import Hit, Session
from recall.core.plain import cut, pad, width
from recall.core.spots import spans
from recall.tui import styles
from recall.tui.text import safe

_MINUTE, _HOUR, _DAY, _WEEK, _MONTH, _YEAR = 60.0, 3600.0, 86400.0, 7 * 86400.0, 30.44 * 86400, 365.25 * 86400
NARROW = 72
"""Columns under which the client's name is cut to two letters."""


def age(seconds: float) -> str:
    """How long ago, in four columns at most: `now`, `5m`, `2h`, `3d`, `6w`, `8mo`, `2y`."""
    for size, name in ((_YEAR, "y"), (_MONTH * 3, "mo"), (_WEEK * 2, "w"), (_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m")):
        if seconds >= size:
            unit = {"mo": _MONTH, "w": _WEEK}.get(name, size)
            return f"{min(int(seconds // unit), 99)}{name}"
    return "now"


def headline(row: Session) -> str:
    """What a session is called in one line: the user's name for it, else what it was about."""
    if row.title_by == "user" and row.title:
        return row.title
    return task_of(row) or row.title or "(nothing was said)"


def draw(hit: Hit, words: Collection[str], live: bool, now: float, columns: int, *, selected: bool) -> Strip:
    """The line of a session, exactly `columns` wide. `words` of the index are marked where they stand."""
    row = hit.session
    narrow = columns < NARROW
    client = row.client[:2] if narrow else pad(row.client, 6)
    project = max(8, min(18, columns // 6))
    sign, tint = styles.STATUS.get(status_of(row), ("?", styles.DIM))
    parts = [
        ("❯" if selected else " ", styles.PLAIN),
        ("~" if hit.tier in ("some-terms", "typo") else " ", styles.DIM),
        ("⚡" if live else "  ", styles.LIVE),
        (f"{age(now - row.updated) if row.updated else '-':>4} ", styles.DIM),
        (client + " ", styles.CLIENTS.get(row.client, styles.PLAIN)),
    ]
    segments = [Segment(text, styles.SELECTED if selected else style) for text, style in parts]
    name = pad(safe(row.project) or "-", project)
    segments += marked(name, words, styles.PROJECT, selected=selected)
    segments.append(Segment(f" {sign} ", styles.SELECTED if selected else tint))
    room = columns - sum(width(segment.text) for segment in segments)
    segments += _told(row, words, room, selected=selected)
    return Strip(segments).adjust_cell_length(columns, styles.SELECTED if selected else None)


def _told(row: Session, words: Collection[str], room: int, *, selected: bool) -> list[Segment]:
    """What it was about, then marks and tags as far as there is room."""
    text = cut(safe(headline(row)), room)
    out = marked(text, words, styles.PLAIN, selected=selected)
    room -= width(text)
    marks = [("(meta)", row.meta), (f"×{row.chain}", row.chain > 1), ("(fork)", bool(row.fork_of))]
    tail = [(mark, styles.DIM) for mark, on in marks if on]
    tail += [(f"#{tag}", styles.TAG) for tag in tags_of(row) if tag not in ("codex", "meta")]
    for mark, style in tail:
        mark = safe(mark)
        if width(mark) + 1 > room:
            break
        out += marked(" " + mark, words, style, selected=selected)
        room -= width(mark) + 1
    return out


def marked(text: str, words: Collection[str], style: Style, *, selected: bool = False) -> list[Segment]:
    """`text` with the words that were found standing out."""
    base = styles.SELECTED if selected else style
    found = styles.SELECTED_FOUND if selected else styles.FOUND
    out, at = [], 0
    for start, end in spans(text, words):
        if start > at:
            out.append(Segment(text[at:start], base))
        out.append(Segment(text[start:end], found))
        at = end
    if at < len(text):
        out.append(Segment(text[at:], base))
    return out
