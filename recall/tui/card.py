"""What is shown of the selected session: its card, and the turns that were found."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterator

from rich.segment import Segment
from textual.strip import Strip

from recall.actions.preview import Preview
from recall.core.card import client_name, status_of, tags_of
from recall.core.model import Session
from recall.core.plain import cut
from recall.tui import styles
from recall.tui.acts import tilde
from recall.tui.rows import headline, marked
from recall.tui.text import safe, wrapped

LABEL = 8
_STATUS = {"in_progress": "in progress", "new": "no card yet", "lost": "only parts of it are left"}


def page(
    seen: Preview,
    short: str,
    home: str,
    zone: datetime.tzinfo | None,
    words: Collection[str],
    live: bool,
    columns: int,
) -> list[Strip]:
    """The lines of a preview in so many columns; `home` is shown as `~`, times are of `zone`."""
    row = seen.session
    out: list[list[Segment]] = []
    head = headline(row)
    for line in wrapped(safe(head), columns):
        out.append([Segment(one.text, one.style or styles.BOLD) for one in marked(line, words, styles.BOLD)])
    out += _where(row, short, home, zone, live, columns)
    for name, value in _fields(seen, head):
        out += _field(name, value, words, columns)
    # What stands above already is not told again, unless nothing else is.
    for turn in [turn for turn in seen.turns if safe(turn.text) != safe(head)] or seen.turns:
        who, style = styles.ROLES.get(turn.role, ("", styles.DIM))
        moment = _moment(turn.time, zone, row.started)
        out.append([])
        out.append([Segment(who or row.client, style), Segment(f" {moment}" if moment else "", styles.DIM)])
        text = styles.DIM if turn.role in ("action", "aside") else styles.PLAIN
        out += [marked(line, words, text) for line in wrapped(safe(turn.text), columns)]
    if seen.found > len(seen.turns) > 0:
        out += [[], [Segment(f"… found in {seen.found - len(seen.turns)} more places", styles.DIM)]]
    if seen.note:
        out += [[], *([Segment(line, styles.TROUBLE)] for line in wrapped(safe(seen.note), columns))]
    return [Strip(line).adjust_cell_length(columns) for line in out]


def _where(
    row: Session, short: str, home: str, zone: datetime.tzinfo | None, live: bool, columns: int
) -> Iterator[list[Segment]]:
    """Which session it is, on one line or two."""
    folder = tilde(row.cwd, home)
    branch = f" ({row.branch})" if row.branch else ""
    head = [Segment(short, styles.DIM), Segment("  ", styles.DIM)]
    if live:
        head.append(Segment("⚡LIVE  ", styles.LIVE))
    head.append(Segment(client_name(row.client), styles.CLIENTS.get(row.client, styles.PLAIN)))
    rest = cut(safe(f"  {_span(row, zone)}, {row.messages} messages"), columns - Strip(head).cell_length)
    yield [*head, Segment("  " + rest if rest else "", styles.DIM)]
    yield [Segment(cut(safe(f"{folder}{branch}"), columns), styles.PROJECT)]


def _span(row: Session, zone: datetime.tzinfo | None) -> str:
    """From when to when: the day once where it is one."""
    first, last = _full(row.started, zone), _full(row.updated, zone)
    if not first or first == last:
        return last
    return f"{first} – {last[11:] if first[:10] == last[:10] else last}"


def _full(seconds: float, zone: datetime.tzinfo | None) -> str:
    return datetime.datetime.fromtimestamp(seconds, zone).strftime("%Y-%m-%d %H:%M") if seconds else ""


def _moment(seconds: float, zone: datetime.tzinfo | None, begun: float) -> str:
    """The time of a turn; its day only where the session did not begin on it."""
    full = _full(seconds, zone)
    return full[11:] if full[:10] == _full(begun, zone)[:10] else full


def _fields(seen: Preview, head: str) -> Iterator[tuple[str, str]]:
    """What the card says, line by line; what is empty or stands above is left out."""
    row, card = seen.session, seen.card
    task = card.task if card else row.task or row.ask
    if task and safe(task)[:60] != safe(head)[:60]:
        yield "task", task
    status = status_of(row)
    yield "status", _STATUS.get(status, status)
    if card:
        yield "method", card.method
        yield "next", card.next
    tags = " ".join(f"#{tag}" for tag in tags_of(row) if tag not in ("codex", "meta"))
    yield "tags", tags
    if card:
        yield "names", ", ".join(card.entities)
        yield "made", ", ".join(card.artifacts)


def _field(name: str, value: str, words: Collection[str], columns: int) -> Iterator[list[Segment]]:
    if not value:
        return
    style = styles.TAG if name == "tags" else styles.PLAIN
    for n, line in enumerate(wrapped(safe(value), columns - LABEL)):
        label = name if n == 0 else ""
        yield [Segment(f"{label:<{LABEL}}", styles.LABEL), *marked(line, words, style)]
