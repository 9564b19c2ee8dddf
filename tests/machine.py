"""recall in this process, for tests of what it does: settings of a test's own home, a sweep, a search."""

from __future__ import annotations

import datetime
import json
import os
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from recall import settings as configuration
from recall.actions.find import find
from recall.actions.report import Report
from recall.actions.sweep import Sweep
from recall.core.model import Session
from recall.core.query import parse
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import open_store

NOW = datetime.datetime(2026, 7, 1, 12, tzinfo=datetime.UTC)


def uid(number: int) -> str:
    """The id of test session `number`."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"session {number}"))


def settings(home: Path, **env: str) -> Settings:
    """The settings that recall has in this home."""
    return configuration.load({"HOME": str(home), **env})


def sweep(here: Settings) -> Report:
    """One whole sweep."""
    return Sweep(here).run()


def search(here: Settings, *words: str, everything: bool = True) -> list[str]:
    """Ids of the sessions that hold all these words, best first."""
    shelf = Shelf(here.data, here.state)
    with open_store(here.index) as store:
        query = parse(list(words), NOW, {})
        got = find(query, store, now=NOW.timestamp(), limit=1000, everything=everything, removed=shelf.is_removed)
        return [hit.session.id for hit in got.hits if hit.tier in ("all-terms", "")]


def rows(here: Settings) -> dict[str, Session]:
    """The sessions of the index that have a row of their own, by id."""
    with open_store(here.index) as store:
        found = store.sessions()
    return {row.id: row for row in found if not row.chain_to and (row.messages or row.lost or row.pieces)}


def append(path: Path, records: Iterable[object]) -> int:
    """Append records to a transcript; the bytes that came."""
    data = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()
    with path.open("ab") as file:
        file.write(data)
    return len(data)


def user(session: str, text: str, number: int, cwd: str = "/home/dev/crm", **more: Any) -> dict[str, Any]:
    """One Claude Code record of what the user typed."""
    return {
        "parentUuid": None,
        "isSidechain": False,
        "type": "user",
        "message": {"role": "user", "content": text},
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{session} typed {number}")),
        "timestamp": f"2026-06-12T10:{number // 60:02}:{number % 60:02}.000Z",
        "userType": "external",
        "entrypoint": "cli",
        "cwd": cwd,
        "sessionId": session,
        "version": "2.1.332",
        "gitBranch": "main",
        **more,
    }


def all_bytes(*folders: str) -> bytes:
    """Everything that lies in these folders, names of files and folders included."""
    out = []
    for top in folders:
        for folder, names, files in os.walk(top):
            out += [os.fsencode(name) for name in names + files]
            out += [Path(folder, name).read_bytes() for name in files]
    return b"\0".join(out)
