"""A session -> the command that resumes it, and what a person should know before it is run.

The one place where such a command is made: what `cmd` prints, `open` runs, the picker copies and JSON shows.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from typing import NamedTuple

from recall import clients
from recall.actions.walk import homes
from recall.core.model import Plan, Session, Transcript
from recall.core.plain import one_line, plain
from recall.core.redact import redact
from recall.core.shorten import shorten
from recall.errors import Unavailable
from recall.settings import Settings
from recall.store import Store

TITLE = 80
"""Characters of a window's title."""

_FOLDER = 30
_PACKED = ".zst"


class Resume(NamedTuple):
    """`plan` resumes `session`, the newest of its chain. `no_folder`: its folder is gone; `no_transcript`: the client
    has no transcript of it any more, so that it will not find the session."""

    session: Session
    plan: Plan
    no_folder: bool
    no_transcript: bool


def resume(row: Session, store: Store, settings: Settings, *, prompt: str = "", folder: str = "") -> Resume:
    """How to resume a session; Unavailable where it is not known in which folder it ran.

    `prompt` is the first thing that it is told then, `folder` another one to run it in.
    """
    row = newest_of(row, store)
    files = store.files(row.no)
    plan = plan_of(row, files, settings, prompt=prompt)
    if folder:
        plan = plan._replace(cwd=folder)
    if not plan.cwd:
        from recall.core.shell import line

        raise Unavailable(
            f"no folder is known for session {row.id}: the client would look for it in the wrong place",
            f"cd to where it ran, then: {line(plan)}",
        )
    return Resume(row, plan, not os.path.isdir(plan.cwd), not any_source(row, files, settings))


def plan_of(row: Session, files: Sequence[Transcript], settings: Settings, *, prompt: str = "") -> Plan:
    """The command alone, whatever it may lack; `files` are the session's."""
    flags = settings.claude_flags if row.client == "claude" else ()
    plan = clients.places(row.client).resume(row.id, row.cwd, flags, prompt)
    return plan._replace(title=title_of(row), variables=_variables(row, files, settings))


def title_of(row: Session) -> str:
    """What its window is called: the name that its user gave it, or `folder · task`; one line, no secrets."""
    if row.title_by == "user" and row.title:
        return _short(row.title, TITLE)
    folder = _short(row.project, _FOLDER)
    task = _short(row.task or row.title or row.ask, TITLE)
    return shorten(" · ".join(filter(None, (folder, task))) or row.id, TITLE)


def _short(text: str, size: int) -> str:
    return shorten(one_line(redact(plain(text))), size)


def _variables(row: Session, files: Sequence[Transcript], settings: Settings) -> tuple[tuple[str, str], ...]:
    """What tells the client in which of its homes the session is, where that is not the one of a bare shell.

    The default home is never named: Claude Code then looks for its own settings in another place (2.1.332).
    """
    places = clients.places(row.client)
    home = home_of(row, files, settings)
    default = os.path.join(settings.home, places.home_default)
    if home != default:
        return ((places.home_variable, home),)
    return () if settings.homes(row.client)[0] == default else ((places.home_variable, ""),)


def home_of(row: Session, files: Sequence[Transcript], settings: Settings) -> str:
    """The home of the client that has, or had, the session: as the path of its transcript tells, else that of the copy."""
    places = clients.places(row.client)
    own = [file for file in files if file.kind == "main"] or list(files)
    known = sorted(settings.homes(row.client), key=len, reverse=True)
    for path in sorted((file.source for file in own), key=lambda path: not source_of(path)):
        for home in known:
            if path.startswith(home + os.sep):
                return home
        for name in places.folders:  # a home that is not configured any more
            head, found, _ = path.rpartition(f"{os.sep}{name}{os.sep}")
            if found and head:
                return head
    prefixes = {home.prefix: home.path for home in homes(settings) if home.client == row.client}
    return next(
        (prefixes[top] for file in own if (top := file.copy.partition("/")[0]) in prefixes),
        settings.homes(row.client)[0],
    )


def newest_of(row: Session, store: Store) -> Session:
    """The session that holds all records of this one: the last of its chain, or itself. What was made as a fork stays
    itself, also while nothing of its own was said in it."""
    if not row.chain_to or row.fork_of:
        return row
    return store.session(row.chain_to) or row


def any_source(row: Session, files: Sequence[Transcript], settings: Settings) -> str:
    """The session's own transcript as the client has it now, plain or compressed, also where the client moved it since
    it was last seen; '' when it has none."""
    for file in files:
        if file.kind == "main" and (found := source_of(file.source)):
            return found
    return next(filter(os.path.isfile, transcripts_in(home_of(row, files, settings), row)), "")


def transcripts_in(home: str, row: Session) -> list[str]:
    """All transcripts of a session that lie in a home of its client, wherever; also what only has the name of one."""
    if not row.id or glob.escape(row.id) != row.id or "/" in row.id:
        return []
    patterns = clients.places(row.client).transcripts(row.id)
    return sorted(path for pattern in patterns for path in glob.glob(os.path.join(glob.escape(home), pattern)))


def missing_base(row: Session, path: str, home: str) -> str:
    """The id of a session whose transcript is gone and that this one, which is read at `path`, builds upon; '' for none.

    A fork of Codex has its own turns only and is not to be resumed without the others. (Claude Code copies.)
    """
    from recall.clients.codex_fork import base_of

    seen = {row.id}
    while row.client == "codex" and path and not path.endswith(_PACKED):
        try:
            with open(path, "rb") as file:
                base = base_of(file.readline(1 << 20))
        except OSError:
            return ""
        if not base or base in seen:
            return ""
        seen.add(base)
        path = next(filter(os.path.isfile, transcripts_in(home, row._replace(id=base))), "")
        if not path:
            return base
    return ""


def source_of(path: str) -> str:
    """Where the transcript lies that was at `path`: there, or compressed or unpacked meanwhile; '' when it is gone."""
    bare = path.removesuffix(_PACKED)
    return next((one for one in (bare, bare + _PACKED) if path and os.path.isfile(one)), "")
