"""Which sessions were open when something ended them: a kill, a crash of the machine, a restart of it.

The clients leave traces behind when they are killed (`recall.live`), but tidy them up when one of them is started again. So
every sweep writes down what is open, in `<state>/open.json`, and keeps it until the session is known to have ended well:
the hook leaves word at SessionEnd (`<state>/ended/<id>`: reason and process), the session was opened again since then, or the
client went on to another one. A machine that is shut down lets the clients end in seeming good order: an end for the reason
`other`, in the last moments before a restart, counts as none.

    {"schema": 1, "boots": [{"id", "first", "last"}], "again": {id: {"time", "pid", "start"}},
     "open": [{"client", "id", "pid", "start", "background", "home", "boot", "started", "seen"}]}

Neither folder nor name is kept: the index has them, and what is purged must leave no word.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, get_type_hints

from recall import clients, live
from recall.archive.append import purged
from recall.core.model import Open
from recall.files import Lock, read_file, read_json, write_atomic
from recall.live import claude, codex, process
from recall.live.entry import Entry
from recall.live.process import Boot
from recall.settings import Settings

DAYS = 7.0
"""A session that was last seen before that is not what a person wants back."""

_KEPT = 30 * 86400.0
_MOMENT = 120.0  # seconds before the last sign of life of a machine that belong to its going down
_LEAVING = 5.0  # seconds that a client may write to its own trace after its end was told
_BOOTS = 8
_LONGEST = 4 << 20
_ID = re.compile(r"[\w.-]{1,128}")
_WELL = ("prompt_input_exit", "clear", "resume", "logout")


class Crash(NamedTuple):
    """A session that ended without an end. `last`: when it was seen the last time, in seconds since 1970; `why`: how it is
    known. Of `open` folder and name are not known; `open.background`: it had no terminal of its own."""

    open: Open
    last: float
    why: str
    home: str


class _Seen(NamedTuple):
    """A session in a process, as it was seen. `boot`: the machine's running in which that was; `trace`: the client's own mark
    of it is still there."""

    client: str
    id: str
    pid: int
    start: str
    background: bool
    home: str
    boot: str
    started: float
    seen: float
    trace: bool = False

    @property
    def key(self) -> tuple[str, str, str, int, str]:
        return (self.client, self.home, self.id, self.pid, self.start)


class _Life(NamedTuple):
    """One running of the machine: its first second, and the last in which we know it to have run."""

    id: str
    first: float
    last: float


class _End(NamedTuple):
    """A SessionEnd that the hook saw."""

    time: float
    reason: str
    pid: int


class _Again(NamedTuple):
    """A session was open again at that time, in that process (0: not known yet)."""

    time: float
    pid: int = 0
    start: str = ""


class _Book(NamedTuple):
    """What `open.json` holds."""

    boots: tuple[_Life, ...] = ()
    open: tuple[_Seen, ...] = ()
    again: Mapping[str, _Again] = MappingProxyType({})


# -- for the sweep ---------------------------------------------------------------------------------------------------


def keep_open(settings: Settings, now: float) -> None:
    """Write down what is open, beside what was before and has not ended well. Where that cannot be written, nothing is."""
    with contextlib.suppress(OSError), Lock(_path(settings) + ".lock", wait=False) as held:
        if held is not None:
            _write(settings, _book_now(settings, now))


def opened_again(settings: Settings, sessions: Iterable[str], now: float) -> None:
    """These were opened again: their crash is over."""
    with contextlib.suppress(OSError), Lock(_path(settings) + ".lock"):
        book = _read(settings)
        _write(settings, book._replace(again={**book.again, **dict.fromkeys(sessions, _Again(now))}))


def _book_now(settings: Settings, now: float) -> _Book:
    book, boot = _read(settings), process.boot()
    entries = _entries(settings)
    alive = [_seen(one, boot, now) for one in entries if one.alive and one.terminal]
    again = {id: one for id, one in book.again.items() if one.time > now - _KEPT}
    now_open = {one.id: one for one in alive}
    before = [one for one in _candidates(settings, book, entries, boot) if one.seen > now - _KEPT]
    again |= {one.id: _Again(now, new.pid, new.start) for one in before if (new := now_open.get(one.id))}
    ends = _Ends(settings, book._replace(boots=_lives(book, boot, now), again=again), boot)
    kept = [one._replace(trace=False) for one in before if not ends.well(one)]
    rows = [one for one in (*alive, *kept) if not purged(settings.state, one.id)]
    return _Book(_lives(book, boot, now), tuple(rows), again)


# -- for reopen ------------------------------------------------------------------------------------------------------


def crashed(settings: Settings, now: float, *, since: float = 0.0) -> list[Crash]:
    """Sessions that were open and ended without an end, in the order in which they were opened. `since`: none that was last
    seen before that moment (default: DAYS before `now`). What is open again is none of them, nor what never got a prompt."""
    since = since or now - DAYS * 86400
    book, boot, entries = _read(settings), process.boot(), _entries(settings)
    open_now = {one.open.session for one in entries if one.alive}
    ends = _Ends(settings, book._replace(boots=_lives(book, boot, now)), boot)
    found: dict[str, _Seen] = {}
    for one in _candidates(settings, book, entries, boot):
        if one.id in open_now or one.seen < since or ends.well(one):
            continue
        if one.id not in found or found[one.id].seen < one.seen:
            found[one.id] = one
    rows = [one for one in found.values() if transcript_of(one.client, one.home, one.id)]
    rows.sort(key=lambda one: (one.started, one.id))
    return [Crash(_open(one), one.seen, ends.why(one), one.home) for one in rows]


def transcript_of(client: str, home: str, session: str) -> str:
    """The client's own transcript of a session, '' where there is none: it never got a prompt, or its file is gone."""
    for pattern in clients.places(client).transcripts(session):
        for path in glob.iglob(os.path.join(glob.escape(home), pattern)):
            return path
    return ""


def _entries(settings: Settings) -> list[Entry]:
    out = [one for home in settings.claude_homes for one in claude.entries(home)]
    return out + [one for home in settings.codex_homes for one in codex.entries(home)]


def _candidates(settings: Settings, book: _Book, entries: list[Entry], boot: Boot) -> list[_Seen]:
    """What is not open any more: traces that are left on disk, and what was written down."""
    out: dict[tuple[str, str, str, int, str], _Seen] = {}
    for one in entries:
        if not one.alive and one.terminal:
            left = _seen(one, boot, one.at)._replace(trace=True, boot="")
            out[left.key] = left
    homes = {*settings.claude_homes, *settings.codex_homes}
    for old in book.open:
        if old.home not in homes:
            continue
        if old.pid and old.boot == boot.id and live.runs_since(old.pid, old.start or None):
            continue  # it has the session open still, or has gone on with another one
        key = old.key
        if old.client == "codex":  # a lock that was left behind does not say who held it
            key = next((left.key for left in out.values() if left.trace and left.id == old.id), key)
        left = out.get(key, old)
        out[key] = old._replace(trace=left.trace, seen=max(old.seen, left.seen))
    return list(out.values())


def _seen(one: Entry, boot: Boot, at: float) -> _Seen:
    about = one.open
    facts = (about.client, about.session, about.pid, one.start, about.background, one.home)
    return _Seen(*facts, boot=boot.id, started=about.started, seen=at)


def _open(one: _Seen) -> Open:
    return Open(
        session=one.id,
        client=one.client,
        pid=one.pid,
        background=one.background,
        started=one.started,
        updated=one.seen,
    )


# -- was it an end? --------------------------------------------------------------------------------------------------


class _Ends:
    """Decides whether a session that is gone has ended well."""

    def __init__(self, settings: Settings, book: _Book, boot: Boot) -> None:
        self._settings = settings
        self._book = book
        self._boot = boot
        self._ends = _ended(settings)
        self._told: dict[tuple[str, str], bool] = {}

    def well(self, one: _Seen) -> bool:
        """Did it end as its user wanted, or was it opened again since?"""
        again = self._book.again.get(one.id)
        if again is not None and again.time >= one.seen and (not again.pid or again[1:] != (one.pid, one.start)):
            return True
        end = self._ends.get(one.id)
        if end is not None and end.time >= one.seen - (_LEAVING if end.pid == one.pid else 0.0):
            return end.reason in _WELL or not self._at_shutdown(end.time)
        if one.trace:
            return False
        # Its trace is gone, but a client that was started since may have tidied it up.
        if self._tells(one):
            return False
        return not self._was_cut(one)

    def why(self, one: _Seen) -> str:
        """In a few words, how it ended."""
        if one.started < self._boot.time or (one.boot and one.boot != self._boot.id):
            return "the machine was restarted"
        return "it was killed" if one.client == "claude" else "it was killed, or its window closed"

    def _tells(self, one: _Seen) -> bool:
        """Do we hear of an end in good order: are the hooks there, and, for Codex, trusted?"""
        key = (one.client, one.home)
        if key not in self._told:
            self._told[key] = os.path.exists(os.path.join(self._settings.state, "hook.conf")) and (
                one.client == "claude" or _trusted(one.home)
            )
        return self._told[key]

    def _was_cut(self, one: _Seen) -> bool:
        """Was it still open when we looked the last time before the machine went down?"""
        life = next((life for life in self._book.boots if life.id == one.boot), None)
        return life is not None and bool(one.boot) and life.id != self._boot.id and one.seen >= life.last - 1

    def _at_shutdown(self, moment: float) -> bool:
        """Was that in the last moments before the machine was started anew?"""
        if not self._boot.time or moment >= self._boot.time:
            return False
        lives = sorted(life.first for life in self._book.boots)
        begin = max((first for first in lives if first <= moment), default=0.0)
        until = min((first for first in lives if first > moment), default=self._boot.time)
        signs = [life.last for life in self._book.boots] + [end.time for end in self._ends.values()]
        return moment >= max(sign for sign in [moment, *signs] if begin <= sign < until) - _MOMENT


def _trusted(home: str) -> bool:
    """Does Codex run our hooks: was the one for the end of a session looked at? (`[hooks.state."...hooks.json:session_end:..."]`
    of its settings.)"""
    try:
        with open(os.path.join(home, "config.toml"), "rb") as file:
            return b"hooks.json:session_end:" in file.read(_LONGEST)
    except OSError:
        return False


def _ended(settings: Settings) -> dict[str, _End]:
    """What the hook left word of, by session."""
    out = {}
    try:
        entries = list(os.scandir(os.path.join(settings.state, "ended")))
    except OSError:
        return {}
    for entry in entries:
        try:
            time = entry.stat().st_mtime
            reason, _, pid = read_file(entry.path, 256).decode("ascii", "replace").strip().partition(" ")
        except OSError:
            continue
        out[entry.name] = _End(time, reason, int(pid) if pid.isdigit() else 0)
    return out


# -- the file --------------------------------------------------------------------------------------------------------


def _path(settings: Settings) -> str:
    return os.path.join(settings.state, "open.json")


def _lives(book: _Book, boot: Boot, now: float) -> tuple[_Life, ...]:
    """The runnings of the machine that we know, this one last, and seen now."""
    first = next((life.first for life in book.boots if life.id == boot.id), boot.time)
    return (*[life for life in book.boots if life.id != boot.id][-_BOOTS:], _Life(boot.id, first, now))


def _write(settings: Settings, book: _Book) -> None:
    rows = [{name: value for name, value in one._asdict().items() if name != "trace"} for one in book.open]
    boots = [life._asdict() for life in book.boots]
    value = {"schema": 1, "boots": boots, "again": {id: one._asdict() for id, one in book.again.items()}, "open": rows}
    write_atomic(_path(settings), json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _read(settings: Settings) -> _Book:
    """What was written down; nothing where the file is not there or is not ours."""
    try:
        found = read_json(_path(settings), _LONGEST)
    except (OSError, ValueError):
        return _Book()
    if not isinstance(found, dict):
        return _Book()
    again = found.get("again")
    pairs = again.items() if isinstance(again, dict) else ()
    return _Book(
        boots=tuple(one for data in _dicts(found, "boots") if (one := _made(_Life, data)) is not None),
        open=tuple(
            one
            for data in _dicts(found, "open")
            if (one := _made(_Seen, data)) is not None and one.client in clients.NAMES and _ID.fullmatch(one.id)
        ),
        again={id: one for id, data in pairs if isinstance(data, dict) and (one := _made(_Again, data)) is not None},
    )


def _dicts(found: dict[str, Any], key: str) -> list[dict[str, Any]]:
    value = found.get(key)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _made(kind: Any, data: dict[str, Any]) -> Any:
    """A value of a NamedTuple from JSON; None where a field is missing or of another type."""
    out = {}
    for name, wanted in get_type_hints(kind).items():
        value = data.get(name, kind._field_defaults.get(name))
        if wanted is float and type(value) is int:
            value = float(value)
        if type(value) is not wanted:
            return None
        out[name] = value
    return kind(**out)
