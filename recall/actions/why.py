"""Why is a session found, or not? Everything that is known of one id: at the clients, in the archive, in the index."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from recall.actions.cmd import source_of
from recall.actions.doctor.case import Case
from recall.actions.reindex import Kept, transcripts
from recall.actions.sweep import Sweep
from recall.actions.walk import Found, Home, purged_ids, stem, walk
from recall.clients import NAMES, places
from recall.core.card import has_row, index_line, short_ids
from recall.core.facts import Facts
from recall.core.model import Session
from recall.errors import NothingFound, Usage
from recall.settings import Settings
from recall.shelf import Shelf, id_in
from recall.store import Store

_NAMED = 8  # candidates that are listed
_WHOLE = 36  # characters of a whole id
_SHORT = 13  # and of the longest beginning that stands for one


class Reason(NamedTuple):
    """`kind` is one word for programs: see `docs/troubleshooting.md`; `text` one line, `mend` what to do ('': nothing)."""

    kind: str
    text: str
    mend: str = ""


class Why(NamedTuple):
    """`found`: `find` shows the session as a row of its own (without --all); `line` is that row."""

    id: str
    client: str
    found: bool
    line: str
    reasons: tuple[Reason, ...]


def why(
    settings: Settings,
    shelf: Shelf,
    typed: str,
    *,
    live: Collection[str],
    resolve: Callable[[str], Session],
    name: str = "recall",
) -> Why:
    """All there is to say of the session `typed` (a unique beginning of an id, `last`, `.`).

    Raises Usage where it is no id or several sessions share it, NothingFound where nothing at all is known.
    """
    case = Case(settings, 0.0, name)
    try:
        if typed in ("last", "."):
            typed = resolve(typed).id
        if not typed or "/" in typed or typed.startswith("-") or len(typed) > 200:
            raise Usage(f"'{typed}' is no session id", f"{name} find WORDS shows ids")
        session = _the_one(case, shelf, typed, name)
        return _about(case, shelf, session, live=live, name=name)
    finally:
        case.close()


# -- which session -----------------------------------------------------------------------------------------------


def _the_one(case: Case, shelf: Shelf, typed: str, name: str) -> str:
    """The one id that begins so, of all that any part of recall or a client knows."""
    known = sorted({one for one in _ids(case, shelf, typed) if one.startswith(typed)})
    # A tombstone of an earlier tool is the beginning of an id, and so no session beside that one.
    known = [
        one for one in known if len(one) > _SHORT or not any(other != one and other.startswith(one) for other in known)
    ]
    if typed in known:
        return typed
    if len(known) > 1:
        lines = "\n".join(f"  {one}" for one in known[:_NAMED])
        more = f"\n  … {len(known) - _NAMED} more" if len(known) > _NAMED else ""
        raise Usage(f"{typed} could be {len(known)} sessions:\n{lines}{more}", "type more of the id")
    if known:
        return known[0]
    where = ", ".join(case.short(home.path) for home in case.homes) or "no client's folder"
    raise NothingFound(
        f"nothing is known of a session {typed}: no transcript in {where}, no copy, no row, no card",
        "a session gets its transcript with its first prompt; settings claude_homes and codex_homes name other folders",
    )


def _ids(case: Case, shelf: Shelf, typed: str) -> Iterator[str]:
    if case.store:
        yield from (session for _, session in case.store.ids())
    for _, found in [*case.sources, *_elsewhere(case)]:
        if found.place.kind in ("main", "sub"):
            yield found.place.session if found.place.kind == "main" else stem(found.path)
    for kept in _copies(case):
        yield kept.session if kept.kind == "main" else stem(kept.copy)
    yield from purged_ids(case.settings)
    yield from shelf.removed_like(typed)
    if len(typed) >= 8 and shelf.is_removed(typed):
        yield typed
    for card in shelf.card_files() or ():
        if len(id_in(card)) == _WHOLE:
            yield id_in(card)
    if case.settings.current_session:
        yield case.settings.current_session


def _copies(case: Case) -> list[Kept]:
    """The transcripts of the archive, also of sessions that were removed; none where they cannot be listed."""
    if not case.mounted:
        return []
    try:
        return transcripts(case.settings)
    except OSError:
        return []


def _elsewhere(case: Case) -> Iterator[tuple[Home, Found]]:
    """Transcripts in folders that look like a client's home beside the ones that are configured."""
    mine = {os.path.realpath(home.path) for home in case.homes}
    for home in _strangers(case.settings.home):
        if os.path.realpath(home.path) not in mine:
            for found in walk(home, lambda path, problem: None):
                yield home, found


def _strangers(top: str) -> Iterator[Home]:
    config = os.path.join(top, ".config")
    for folder, beginnings in ((top, (".claude", ".codex")), (config, ("claude", "codex"))):
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        for item in names:
            for client, beginning in zip(NAMES, beginnings, strict=True):
                path = os.path.join(folder, item)
                if item.startswith(beginning) and any(
                    os.path.isdir(os.path.join(path, one)) for one in places(client).folders
                ):
                    yield Home(client, path, client)


# -- what there is to say ---------------------------------------------------------------------------------------


class _Known(NamedTuple):
    """All that was found of one session: its own transcripts at the clients (with their home), the same in homes that are
    not configured, copies, its row."""

    sources: list[tuple[Home, Found]]
    elsewhere: list[tuple[Home, Found]]
    copies: list[Kept]
    row: Session | None


def _about(case: Case, shelf: Shelf, session: str, *, live: Collection[str], name: str) -> Why:
    known = _known(case, session)
    row, store = known.row, case.store
    reasons = list(_reasons(case, shelf, session, known, name))
    hiding = {one.kind for one in reasons} & _HIDING
    line = ""
    if row is not None and store is not None:
        line = index_line(row, short_ids(store.ids())[row.id], None, live=row.id in live)
    found = row is not None and not hiding
    if found:
        reasons.insert(0, Reason("shown", f"it is a row of the index; {name} find answers with it when words match"))
    client = row.client if row else next((home.client for home, _ in known.sources + known.elsewhere), "")
    client = client or next((kept.client for kept in known.copies), "")
    return Why(session, client, found, line, tuple(reasons))


_HIDING = frozenset(
    (
        "removed",
        "purged",
        "unswept",
        "unindexed",
        "headless",
        "chain",
        "empty",
        "sub-agent",
        "own",
        "current",
        "elsewhere",
    )
)


def _known(case: Case, session: str) -> _Known:
    def mine(found: Found) -> bool:
        place = found.place
        if place.kind == "main":
            return place.session == session
        return place.kind == "sub" and stem(found.path) == session

    row = None
    if case.store is not None:
        row = next((one for one in case.store.sessions_like(session, 2) if one.id == session), None)
    return _Known(
        [(home, found) for home, found in case.sources if mine(found)],
        [(home, found) for home, found in _elsewhere(case) if mine(found)],
        [kept for kept in _copies(case) if session == (kept.session if kept.kind == "main" else stem(kept.copy))],
        row,
    )


def _reasons(case: Case, shelf: Shelf, session: str, known: _Known, name: str) -> Iterator[Reason]:
    """The most telling first."""
    row, store = known.row, case.store
    gone = session in purged_ids(case.settings)
    if gone:
        yield Reason(
            "purged", "it was removed with --purge: neither copied nor indexed again", f"{name} recap {session} --force"
        )
    elif shelf.is_removed(session):
        yield Reason("removed", "it was removed from recall", f"{name} recap {session} --force brings it back")
    if session == case.settings.current_session:
        yield Reason("current", "it is the session that asks: find leaves it out")
    yield from _unreadable(case, shelf, known)
    if store is None:
        yield Reason("unindexed", case.store_problem[0], f"{name} doctor")
        return
    hidden = gone or shelf.is_removed(session)
    if row is None and not hidden:
        yield from _without_row(case, session, known, name)
    elif row is not None:
        yield from _of_row(store, row, name)
    yield from _behind(case, known, name)
    if row is not None and not known.sources and not hidden:
        yield from _archived(store, row)
    if known.sources:
        home, found = known.sources[0]
        yield Reason("source", f"{case.short(found.path)} ({found.size} bytes)")
        if home.prefix != home.client:
            yield Reason("other-home", f"it is of a further home, {case.short(home.path)}: {_how(home)}")
    for home, found in known.elsewhere:
        words = f"{case.short(found.path)}: {case.short(home.path)} is not among the homes that recall looks at"
        yield Reason(
            "elsewhere" if row is None else "other-home",
            words,
            f"add it to {home.client}_homes in {case.short(case.settings.config)}",
        )
    for kept in known.copies:
        yield Reason("copy", f"{case.short(os.path.join(case.settings.archive, kept.copy))} ({kept.size} bytes)")


def _how(home: Home) -> str:
    variable = "CLAUDE_CONFIG_DIR" if home.client == "claude" else "CODEX_HOME"
    return f"the client finds it with {variable} set to that"


def _unreadable(case: Case, shelf: Shelf, known: _Known) -> Iterator[Reason]:
    troubles = {**shelf.troubles(), **case.walk_problems}
    for _, found in known.sources:
        if found.path in troubles:
            yield Reason(
                "unreadable", f"{case.short(found.path)}: {troubles[found.path]}", "mend its permissions, then sweep"
            )
        elif not os.access(found.path, os.R_OK):
            yield Reason("unreadable", f"{case.short(found.path)} cannot be read", "mend its permissions, then sweep")


def _without_row(case: Case, session: str, known: _Known, name: str) -> Iterator[Reason]:
    """Why a session has no row."""
    subs = [found.place for _, found in known.sources if found.place.kind == "sub"]
    owners = [place.session for place in subs if place.session] + [
        kept.session for kept in known.copies if kept.kind == "sub"
    ]
    owner = next((one for one in owners if one and one != session), "")
    copy = next(iter(known.copies), None)
    if subs or owner or (copy is not None and copy.kind == "sub"):
        words = (
            f"it is a sub-agent of {owner}: its words are found there"
            if owner
            else "it is a sub-agent of another session"
        )
        yield Reason("sub-agent", words)
        return
    if copy is not None and copy.size:
        facts = _facts(case, copy)
        if facts is not None and facts.sub and facts.parent:
            yield Reason("sub-agent", f"it is a sub-agent of {facts.parent}: its words are found there")
        elif facts is not None and facts.cwd and _same_folder(facts.cwd, case.settings.model_folder):
            yield Reason("own", "a model call of recall itself left it: kept, never indexed")
        else:
            yield Reason("unindexed", "there is a copy, and no row of it", f"{name} sweep; else {name} reindex")
        return
    if known.sources:
        if all(found.size == 0 for _, found in known.sources):
            yield Reason("empty", "its transcript is empty")
        elif not any(one.kind == "unreadable" for one in _unreadable(case, case.shelf, known)):
            yield Reason("unswept", "recall has not taken it in yet", f"{name} sweep")
        return
    if session == case.settings.current_session and not known.elsewhere:
        yield Reason("unswept", "it has no transcript yet: the client makes one at the first prompt")
    elif not known.elsewhere:
        yield Reason("empty", "there is a card of it, and no transcript", "")


def _same_folder(one: str, other: str) -> bool:
    return one == other or os.path.realpath(one) == os.path.realpath(other)


def _facts(case: Case, kept: Kept) -> Facts | None:
    try:
        return Sweep(case.settings).facts_of_copy(kept.client, kept.copy)
    except OSError:
        return None


def _of_row(store: Store, row: Session, name: str) -> Iterator[Reason]:
    """What a row says of itself."""
    if row.chain_to:
        other = store.session(row.chain_to)
        words = f"all of its records are in {other.id if other else 'another session'}, which is shown in its place"
        yield Reason("chain", words, f"{name} show {other.id}" if other else "")
        return
    if not has_row(row):
        yield Reason("empty", "no conversation in it: only bookkeeping records")
    elif row.hidden:
        yield Reason("headless", "nobody sat at it (claude -p, codex exec)", f"{name} find --all shows it")
    if row.meta:
        yield Reason("meta", "it only searched for other sessions: it stands below the others")
    if row.lost:
        yield Reason("lost", "its own transcript is nowhere: only parts of it (sub-agents) are left")
    if row.fork_of:
        yield Reason("fork", f"a fork of {row.fork_of}: what it took over from there is found there")


def _behind(case: Case, known: _Known, name: str) -> Iterator[Reason]:
    """Is the copy as long as the source, and the index as far as the copy?"""
    row = known.row
    if row is None or case.store is None:
        return
    for _, found in known.sources:
        seen = case.known.get(found.path)
        if seen is not None and seen[:3] == (found.size, found.mtime, found.ino):
            continue
        yield Reason("behind", "it changed since the last sweep: what is newest is not found", f"{name} sweep")
        break


def _archived(store: Store, row: Session) -> Iterator[Reason]:
    files = [file for file in store.files(row.no) if file.kind == "main"]
    if files and not any(source_of(file.source) for file in files):
        yield Reason(
            "archived", "the client has deleted its transcript: only the copy is left, and it cannot be resumed"
        )
    elif not files and not row.lost:
        yield Reason("archived", "there is a card of it, and no transcript")
