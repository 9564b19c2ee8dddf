"""A session -> the command that resumes it, and what a person should know before it is run."""

from __future__ import annotations

import os
from typing import NamedTuple

from recall import clients
from recall.core.model import Plan, Session
from recall.errors import Unavailable
from recall.settings import Settings
from recall.store import Store

_PACKED = ".zst"


class Resume(NamedTuple):
    """`plan` resumes `session`, the newest of its chain. `no_folder`: its folder is gone; `no_transcript`: the client
    has no transcript of it any more, so that it will not find the session."""

    session: Session
    plan: Plan
    no_folder: bool
    no_transcript: bool


def resume(row: Session, store: Store, settings: Settings) -> Resume:
    """How to resume a session; Unavailable where it is not known in which folder it ran."""
    row = newest_of(row, store)
    if not row.cwd:
        raise Unavailable(
            f"no folder is known for session {row.id}: the client would look for it in the wrong place",
            f"cd to where it ran, then: {' '.join(_plan(row, settings).argv)}",
        )
    return Resume(row, _plan(row, settings), not os.path.isdir(row.cwd), not kept_by_client(row, store))


def newest_of(row: Session, store: Store) -> Session:
    """The session that holds all records of this one: the last of its chain, or itself."""
    return (store.session(row.chain_to) or row) if row.chain_to else row


def kept_by_client(row: Session, store: Store) -> bool:
    """Has the client still the session's own transcript, plain or compressed?"""
    return any(file.kind == "main" and source_of(file.source) for file in store.files(row.no))


def source_of(path: str) -> str:
    """Where the transcript lies that was at `path`: there, or compressed or unpacked meanwhile; '' when it is gone."""
    plain = path.removesuffix(_PACKED)
    return next((one for one in (plain, plain + _PACKED) if path and os.path.isfile(one)), "")


def _plan(row: Session, settings: Settings) -> Plan:
    flags = settings.claude_flags if row.client == "claude" else ()
    return clients.get(row.client).resume(row.id, row.cwd, flags)
