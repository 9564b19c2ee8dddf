"""Card <-> its file: front matter and a free body. `docs/formats.md` describes the file."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from recall.core import front
from recall.core.lazy import lazy
from recall.core.model import Card
from recall.core.plain import one_line, plain

KEYS = (
    "id",
    "client",
    "project",
    "dates",
    "messages",
    "title",
    "task",
    "status",
    "method",
    "entities",
    "tags",
    "artifacts",
    "next",
    "written_by",
    "written_at",
)
_KNOWN = frozenset(KEYS)
STATUSES = ("done", "in_progress", "aborted")
_SPELLINGS = {
    "done": "complete completed finished closed resolved solved success successful succeeded merged shipped fixed ok ready"
    " готово сделано завершено закрыто fertig erledigt terminé hecho 完成 已完成 完了",
    "aborted": "abort abandoned cancelled canceled cancel dropped failed stopped rejected obsolete wontfix прервано отменено"
    " брошено abgebrochen abandonné cancelado 中止 已取消 放弃",
}
_STATUS = {word: status for status, words in _SPELLINGS.items() for word in words.split()}
_LAST = 253402300799  # of the year 9999
_MOMENT = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T ]+(\d{1,2}:\d{2}(?::\d{2})?)(?:\.\d+)?\s*(Z|[+-]\d{2}:?\d{2})?)?", re.IGNORECASE
)
_ARROW = re.compile(r"->|→|=>|–|—|\.\.+|\bto\b")
_MARKS = frozenset(("id", "client", "dates", "messages", "status", "written_by", "written_at"))
_LISTS = frozenset(("entities", "tags", "artifacts"))


def _written_line(key: str) -> str:
    if key in _LISTS:
        return rf"""{key}: ?\[([^\n\[\](){{}}"']*)\]\n"""
    rest = "[^\n#]" if key in _MARKS else "[^\n]"
    return rf"""{key}: ?((?!null\n)[^\s#"'~>|]{rest}*|)\n"""


_AS_WRITTEN = lazy("---\n" + "".join(map(_written_line, KEYS)) + r"---(?:\n|\Z)")
"""What `render` writes, without what only `front` can read: quotes, comments, brackets in lists, folded texts."""

_EXTRA = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def parse(text: str, id: str = "") -> Card:
    """The card that a file's text holds; anything at all is read. `id` is what the file's name says.

    Without front matter the text is the body: somebody wrote it by hand, and its heading and first line stand in for
    title and task. A missing `written_by` is '': an earlier tool left it out.
    """
    text = text.removeprefix("\ufeff")
    if not text.replace("\n", "").isprintable():
        text = plain(text)
    else:
        match = _AS_WRITTEN.match(text)
        if match and text.find("  ", 0, match.end()) < 0 and text.find(" \n", 0, match.end()) < 0:
            return _as_written(match, id)
    page = front.read(text, _KNOWN)
    body = _body(page.body)
    fields = page.fields
    if fields is None:
        title, task = _told(body)
        return Card(id, client_of(id), title=title, task=task, written_by="hand", body=body)

    def words(key: str) -> str:
        value = fields.get(key, "")
        return front.scalar(value) if value else ""

    def mark(key: str) -> str:
        value = fields.get(key, "")
        return front.bare(value) if value else ""

    def several(key: str) -> tuple[str, ...]:
        value = fields.get(key, "")
        return tuple(front.items(value)) if value else ()

    own = mark("id")
    if not own or id.startswith(own):
        own = id or own
    first, last = _span(mark("dates"))
    return Card(
        own,
        mark("client") or client_of(own),
        words("project"),
        first,
        last,
        _number(mark("messages")),
        words("title"),
        words("task"),
        status_of(mark("status")),
        words("method"),
        several("entities"),
        _tags(fields.get("tags", "")),
        several("artifacts"),
        words("next"),
        mark("written_by"),
        _moment(mark("written_at")),
        body,
        tuple([(key, _raw(value)) for key, value in fields.items() if key not in _KNOWN]),
    )


def _as_written(match: re.Match[str], id: str) -> Card:
    """The card of a text as `render` writes it, with nothing in it that would have to be looked at twice: most of them."""
    own, client, project, dates, messages, title, task, status, method, entities, tags, artifacts, following, by, at = (
        match.groups()
    )
    if not own or id.startswith(own):
        own = id or own
    first, last = _span(dates)
    return Card(
        own,
        client or client_of(own),
        project,
        first,
        last,
        _number(messages),
        title,
        task,
        status_of(status),
        method,
        _listed(entities),
        kebabs(_listed(tags)),
        _listed(artifacts),
        following,
        by,
        _moment(at),
        _body(match.string[match.end() :]),
        (),
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple([item for part in text.split(",") if (item := part.strip())]) if text else ()


def render(card: Card) -> str:
    """The text of a card's file; `parse` gives `normal(card)` of it."""
    card = normal(card)
    lines = [
        "---",
        f"id: {front.written(card.id)}",
        f"client: {front.written(card.client)}",
        f"project: {front.written(card.project)}",
        f"dates: {_written_span(card.first, card.last)}",
        f"messages: {card.messages}",
        f"title: {front.written(card.title)}",
        f"task: {front.written(card.task)}",
        f"status: {card.status}",
        f"method: {front.written(card.method)}",
        f"entities: {front.written_list(card.entities)}",
        f"tags: {front.written_list(card.tags)}",
        f"artifacts: {front.written_list(card.artifacts)}",
        f"next: {front.written(card.next)}",
        f"written_by: {front.written(card.written_by)}",
        f"written_at: {_stamp(card.written_at)}",
        *(f"{key}: {value}" for key, value in card.extra),
        "---",
    ]
    text = "\n".join(line.rstrip() for line in lines) + "\n"
    return f"{text}\n{card.body}\n" if card.body else text


def normal(card: Card) -> Card:
    """The card as its file holds it: texts on one line, whole seconds, tags in kebab case, a status that we know."""
    extra: dict[str, str] = {}
    for key, value in card.extra:
        if _EXTRA.fullmatch(key) and key.lower().replace("-", "_") not in _KNOWN:
            value = _line(value)
            extra.setdefault(key, "" if value in (">", "|", ">-", "|-", ">+", "|+") else value)
    own = _mark(card.id)
    return card._replace(
        id=own,
        client=_mark(card.client) or client_of(own),
        project=_line(card.project),
        first=_second(card.first),
        last=_second(card.last),
        messages=max(0, card.messages),
        title=_line(card.title),
        task=_line(card.task),
        status=status_of(card.status),
        method=_line(card.method),
        entities=tuple(filter(None, map(_line, card.entities))),
        tags=kebabs(card.tags),
        artifacts=tuple(filter(None, map(_line, card.artifacts))),
        next=_line(card.next),
        written_by=_mark(card.written_by),
        written_at=_second(card.written_at),
        body=_body(_encodable(plain(card.body))),
        extra=tuple(extra.items()),
    )


def client_of(session: str) -> str:
    """The client that makes ids like this one: Codex's are of the kind that begins with a time."""
    return "codex" if session[14:15] == "7" and session[8:9] == "-" else "claude"


def status_of(text: str) -> str:
    """One of the three, from what somebody wrote; what is not understood is still going on."""
    if text in STATUSES:
        return text
    parts = "".join(char if char.isalnum() else " " for char in unicodedata.normalize("NFC", text).casefold()).split()
    if parts[:1] in (["not"], ["un"], ["не"]):
        return "in_progress"
    found = [_STATUS.get(word, word if word in STATUSES else "") for word in parts]
    return next(filter(None, found), "in_progress")


def kebabs(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags in kebab case, each once."""
    return tuple(dict.fromkeys(filter(None, map(kebab, tags))))


@lru_cache(maxsize=4096)
def kebab(tag: str) -> str:
    """`#My Tag` -> `my-tag`; '' when there is no letter or digit in it."""
    text = unicodedata.normalize("NFC", tag).lower()
    kept = [char if char.isalnum() or unicodedata.category(char)[0] == "M" else " " for char in text]
    text = "-".join("".join(kept).split())
    return text if any(map(str.isalnum, text)) else ""


# -- values ----------------------------------------------------------------------------------------------------


def _tags(value: front.Value) -> tuple[str, ...]:
    if not value:
        return ()
    if isinstance(value, str) and value[0] not in "[\"'":
        value = value.partition(" # ")[0].replace(",", " ").split()
    return kebabs(front.items(value))


def _raw(value: front.Value) -> str:
    """A value that we do not know, on one line, as it was written."""
    if isinstance(value, list):
        return front.written_list(front.items(value))
    return value


def _number(text: str) -> int:
    if text.isdecimal():
        return int(text[:12])
    digits = re.search(r"\d{1,12}", text)
    return int(digits[0]) if digits else 0


def _span(text: str) -> tuple[float, float]:
    """First and last moment of `2026-06-11T09:00:00Z -> 2026-06-11T10:00:00Z` and what resembles it; one alone is both."""
    one, arrow, two = text.partition(" -> ")
    if not arrow:
        found = [moment for part in _MOMENT.finditer(text) if (moment := _moment(part[0]))]
        parts = _ARROW.split(text, maxsplit=1)
        if len(found) == 1 and len(parts) == 2:
            one, two = parts
        elif not found:
            return 0.0, 0.0
        else:
            return found[0], found[-1]
    return _moment(one), _moment(two)


def _moment(text: str) -> float:
    """Seconds since the epoch; a date without a time is noon, which is the same day nearly everywhere; 0.0 for none."""
    if not text:
        return 0.0
    try:
        moment = datetime.datetime.fromisoformat(text)
        if text[19:] == "Z":
            return _second(moment.timestamp())
        dated = len(text) <= 10
    except ValueError:
        match = _MOMENT.search(text)
        if match is None:
            return 0.0
        day, time, zone = match.groups()
        hours = f"T{time.zfill(len(time) + (time.index(':') == 1))}" if time else ""
        try:
            moment = datetime.datetime.fromisoformat(f"{day}{hours}{(zone or '').upper()}")
        except ValueError:
            return 0.0
        dated = not time
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return _second(moment.timestamp() + (43200 if dated else 0))


def _second(moment: float) -> float:
    return float(int(moment)) if 1 <= moment <= _LAST else 0.0


def _stamp(moment: float) -> str:
    if not moment:
        return ""
    return datetime.datetime.fromtimestamp(moment, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _written_span(first: float, last: float) -> str:
    return f"{_stamp(first) or '?'} -> {_stamp(last) or '?'}" if first or last else ""


def _line(text: str) -> str:
    return one_line(_encodable(text))


def _encodable(text: str) -> str:
    """Without lone surrogates, which no file can hold."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def _mark(text: str) -> str:
    """A text of a value that cannot hold a comment."""
    return _line(text).partition(" #")[0].rstrip()


def _body(text: str) -> str:
    return text.strip("\n").rstrip()


def _told(body: str) -> tuple[str, str]:
    """Title and task of a text that is no card: its heading, and the first line that is none."""
    title = task = ""
    for line in body.split("\n", 20)[:20]:
        words = line.strip().lstrip("#>*- ").strip()
        if not words:
            continue
        if line.lstrip().startswith("#") and not title:
            title = " ".join(words.split())
        elif not task:
            task = " ".join(words.split())
    return title, task or title
