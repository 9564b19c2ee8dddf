"""What was typed -> a `Query`: words with their spellings, phrases, exclusions, filters.

Nothing that can be typed is an error: what is no filter is a word, and what holds no word is left out. A word with
marks inside (`a/b`, `ADR-016`, `foo's`, `parse_config`) stands for its parts side by side; one in camel case for itself and
for its parts; Chinese, Japanese and Korean for pairs of characters side by side.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from recall.core.text import fold_plain, humps, is_unspaced, tokens
from recall.core.words import FUNCTION_WORDS
from recall.errors import Usage

LONGEST = 24
"""Parts of one typed word that are looked for side by side; what is longer is cut."""

LONG = 5
"""A query of more words than this is a question: function words weigh nothing, single turns more."""

FILTERS = ("project", "client", "status", "tag", "file", "branch", "since", "before", "is")
_OPEN = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "『": "』"}


class Term(NamedTuple):
    """One thing looked for. `typed` is as it was typed; `options` are spellings of it, the exact one first: each a
    run of index words that must stand side by side. `widen`: other forms of the word count as well. `phrase`: it
    was quoted. `weak`: a function word."""

    typed: str
    options: tuple[tuple[str, ...], ...]
    widen: bool = True
    phrase: bool = False
    weak: bool = False

    @property
    def word(self) -> str:
        """The index word, where it is a single one; else ''."""
        return self.options[0][0] if len(self.options[0]) == 1 else ""


class Query(NamedTuple):
    """`terms` are looked for, `without` must not be there; the rest are filters ('' or empty: any). `unread` is what
    looks like a filter, has a value that none can have, and was taken for words."""

    text: str
    terms: tuple[Term, ...] = ()
    without: tuple[Term, ...] = ()
    filters: Mapping[str, tuple[str, ...]] = {}
    since: float = 0.0
    before: float = 0.0
    unread: tuple[str, ...] = ()

    @property
    def long(self) -> bool:
        return len(self.terms) > LONG


def parse(
    words: str | Sequence[str], now: datetime.datetime, options: Mapping[str, Sequence[str]] | None = None
) -> Query:
    """A query from the words of a command line; `options` are filters that came as flags (a wrong date there raises
    Usage; inside the text it is a word). `now` is an aware local time. A single argument with blanks is not a phrase."""
    text = words if isinstance(words, str) else " ".join(words)
    terms: list[Term] = []
    without: list[Term] = []
    unread: list[str] = []
    filters: dict[str, tuple[str, ...]] = {}
    for name, values in (options or {}).items():
        if values:
            filters[name] = tuple(values)
    since, before = 0.0, 0.0
    for value in filters.pop("since", ())[:1]:
        since = _date_flag("since", value, now)
    for value in filters.pop("before", ())[:1]:
        before = _date_flag("before", value, now)
    for piece in _split(text):
        body, quoted, minus = piece
        if not quoted and not minus:
            key, colon, value = body.partition(":")
            key = key.lower()
            if colon and key in FILTERS and value and not value.startswith("//"):
                value = value.strip('"')
                if key == "is" and value.lower() not in ("live", "idle"):
                    unread.append(body)
                elif key in ("since", "before"):
                    moment = when(value, now)
                    if moment is not None:
                        since, before = (moment, before) if key == "since" else (since, moment)
                        continue
                    unread.append(body)
                elif value:
                    filters[key] = (*filters.get(key, ()), value)
                    continue
            elif (
                body.startswith("#")
                and len(body) > 1
                and not body[1:].isdigit()
                and body[1:].replace("-", "").isalnum()
            ):
                filters["tag"] = (*filters.get("tag", ()), body[1:])
                continue
        found = phrase(body) if quoted else _terms(body)
        (without if minus else terms).extend(found)
    return Query(text, _settle(terms), tuple(without), filters, since, before, tuple(unread))


def _split(text: str) -> list[tuple[str, bool, bool]]:
    """(text, was it quoted, is it excluded) for each piece between blanks."""
    out: list[tuple[str, bool, bool]] = []
    at, size = 0, len(text)
    while at < size:
        if text[at].isspace():
            at += 1
            continue
        # `-word` excludes; `-s` and `-rf` are more likely to be flags of a command that is remembered.
        minus = text[at] == "-" and (
            text[at + 1 : at + 2] in _OPEN
            or (
                len(text[at + 1 : at + 4].strip()) == 3
                and text[at + 1] != "-"
                and not any(map(str.isspace, text[at + 1 : at + 4]))
            )
        )
        start = at + 1 if minus else at
        close = _OPEN.get(text[start]) if start < size else None
        if close:
            end = text.find(close, start + 1)
            if end > start + 1:
                out.append((text[start + 1 : end], True, minus))
                at = end + 1
                continue
        end = start
        while end < size and not text[end].isspace():
            if text[end] == '"' and end > start and text[end - 1] == ":":
                close_at = text.find('"', end + 1)
                if close_at > 0:
                    end = close_at
            end += 1
        out.append((text[start:end], False, minus))
        at = end
    return out


def phrase(body: str) -> list[Term]:
    """The term of a quoted text; none when there is no word in it."""
    parts = tuple(tokens(fold_plain(body)))[:LONGEST]
    return [Term(body, (parts,), widen=False, phrase=True)] if parts else []


def _terms(body: str) -> list[Term]:
    """The terms of what stands between two blanks; several where scripts meet."""
    if len(body) > 400:
        body = body[:400]
    if is_unspaced(body):
        out = []
        for part in _script_runs().findall(body):
            out.extend(_unspaced(part) if is_unspaced(part) else _plain(part))
        return out
    return _plain(body)


_HIRAGANA = "\u3041-\u309f"


@cache
def _script_runs() -> re.Pattern[str]:
    """Runs of one script: hiragana, katakana, Han, Hangul, Thai, anything else."""
    kana = "\u30a0-\u30ff\u31f0-\u31ff\uff66-\uff9f"
    han = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3005-\u3007\U00020000-\U0003ffff"
    hangul = "\uac00-\ud7ff\u1100-\u11ff\u3130-\u318f"
    thai = "\u0e00-\u0e7f"
    scripts = (_HIRAGANA, kana, han, hangul, thai)
    return re.compile("|".join([*(f"[{one}]+" for one in scripts), f"[^{''.join(scripts)}]+"]))


def _unspaced(part: str) -> list[Term]:
    parts = tokens(fold_plain(part))
    if not parts:
        return []
    kana = all("\u3041" <= char <= "\u309f" for char in part)
    if len(parts) <= 3:
        options = [tuple(parts)]
        if "\uac00" <= part[0] <= "\ud7ff" and len(parts) > 1:
            options.append(tuple(parts[:-1]))  # Korean: the last syllable is often a particle
        return [Term(part, tuple(options), widen=len(parts) == 1 and len(part) == 1, weak=kana and len(part) < 4)]
    return [Term(pair, ((pair,),), widen=False, weak=kana) for pair in dict.fromkeys(parts)]


def _plain(part: str) -> list[Term]:
    parts = tuple(tokens(fold_plain(part)))[:LONGEST]
    if not parts:
        return []
    options = [parts]
    bare = part.strip("\"'`()[]{}<>.,;:!?")
    if len(parts) == 1:
        bumps = tuple(humps(bare))[:LONGEST]
        glued = re.fullmatch(r"([^\W\d_]{2,})(\d+)", parts[0]) if parts[0][-1].isdigit() else None
        if len(bumps) > 1:
            options.append(bumps)
        elif glued:  # PAY4711, which may be written PAY-4711
            options.append((glued[1], glued[2]))
        elif bare[:2].isupper() and re.fullmatch(r"[A-Z]{2}[a-z]{2,}", bare):  # OBrien
            options.append((parts[0][0], parts[0][1:]))
        weak = parts[0] in FUNCTION_WORDS
        return [Term(part, tuple(options), widen=not weak, weak=weak)]
    if len(parts) == 2 and len(parts[1]) <= 2 and "'" in part.replace("’", "'"):  # it's, foo's, don't
        return [
            Term(
                part,
                (parts, (parts[0],)),
                widen=False,
                weak=parts[0] in FUNCTION_WORDS or part.lower() in FUNCTION_WORDS,
            )
        ]
    if all(char.isalnum() or char in "_-" for char in part):
        options.append(("".join(parts),))
    elif re.fullmatch(r"v\d+", parts[0]):  # v2.4.0
        options.append((parts[0][1:], *parts[1:]))
    line = re.search(r"\.\w+((?::\d+)+):?$", bare)
    if line and len(parts) > line[1].count(":"):  # a path with the number of a line
        options.append(parts[: -line[1].count(":")])
    return [Term(part, tuple(options), widen=False)]


def _settle(terms: list[Term]) -> tuple[Term, ...]:
    """Each term once; in a question without its function words, unless nothing else is there."""
    once = list({(term.options, term.phrase): term for term in terms}.values())
    strong = [term for term in once if not term.weak]
    if strong and len(once) > 3:
        return tuple(strong)
    return tuple(once)


def _date_flag(name: str, value: str, now: datetime.datetime) -> float:
    moment = when(value, now)
    if moment is None:
        raise Usage(f"--{name}: '{value}' is no date", "2026-06-11, 2026-06, 3d, 2w, yesterday, today, monday")
    return moment


_AGO = r"(\d{1,5})\s*(h|d|w|m|mo|y|hours?|days?|weeks?|months?|years?)$"
_DATE = r"(\d{4})-(\d{1,2})(?:-(\d{1,2})(?:[t ](\d{1,2}):(\d{2})(?::(\d{2}))?(z)?)?)?$"
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_LENGTH = {"h": 1 / 24, "d": 1, "w": 7, "m": 30.44, "y": 365.25}


def when(text: str, now: datetime.datetime) -> float | None:
    """The moment (seconds since the epoch) that a date or a word for one means, counted from `now`, in local time; None: it is none."""
    text = text.strip().lower()
    day = datetime.timedelta(days=1)
    now = now.replace(tzinfo=None)  # local time: an offset of today would be wrong beyond a clock change
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if text == "now":
        return now.timestamp()
    if text == "today":
        return midnight.timestamp()
    if text == "yesterday":
        return (midnight - day).timestamp()
    if text in ("week", "this-week", "thisweek"):
        return (midnight - day * now.weekday()).timestamp()
    if text in ("last-week", "lastweek", "last week"):
        return (midnight - day * (now.weekday() + 7)).timestamp()
    if text in ("month", "this-month", "thismonth"):
        return midnight.replace(day=1).timestamp()
    if text in _DAYS:
        back = (now.weekday() - _DAYS.index(text)) % 7 or 7
        return (midnight - day * back).timestamp()
    if len(text) == 4 and text.isdecimal() and "1970" < text < "2100":
        return datetime.datetime(int(text), 1, 1).timestamp()
    ago = re.match(_AGO, text)
    if ago:
        days = int(ago[1]) * _LENGTH[ago[2][0]]
        return max(0.0, now.timestamp() - days * 86400)
    date = re.match(_DATE, text)
    if date:
        year, month, of_month, hour, minute, second, zulu = date.groups()
        zone = datetime.UTC if zulu else None
        try:
            moment = datetime.datetime(
                int(year),
                int(month),
                int(of_month or 1),
                int(hour or 0),
                int(minute or 0),
                int(second or 0),
                tzinfo=zone,
            )
            return moment.timestamp()
        except (ValueError, OverflowError):
            return None
    return None
