"""Prompts whose transcript is gone: both clients keep a list of what was typed for much longer than the transcripts.

Formats (observed): Claude Code `history.jsonl` {display, pastedContents, project, timestamp in ms, sessionId; older ones name no
session}; Codex `history.jsonl` {session_id, text, ts in s}.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from recall import clients
from recall.actions.walk import homes
from recall.archive.store import generations
from recall.clients.jsonl import Object, mapping, objects, string
from recall.clients.stamp import seconds
from recall.settings import Settings
from recall.store import Store

_GAP = 6 * 3600.0
"""Seconds between prompts that name no session, in the same folder, after which another session is supposed."""
_AROUND = 3600.0
"""Seconds round a known session of that folder in which a prompt that names none is taken for its."""


class Typed(NamedTuple):
    """One prompt: `session` is '' where the client did not note it; `text` is as it was typed, with what was pasted."""

    client: str
    session: str
    folder: str
    time: float
    text: str


class Lost(NamedTuple):
    """A session of which only the prompts are left, in their order."""

    client: str
    session: str
    folder: str
    prompts: list[Typed]

    @property
    def updated(self) -> float:
        return self.prompts[-1].time


def lost(store: Store, settings: Settings, *, removed: Callable[[str], bool]) -> list[Lost]:
    """Sessions that somebody typed prompts in and of which neither the client nor the archive has a transcript, the newest
    first. Sessions of nothing but commands never had one."""
    known = {session for _, session in store.ids()}
    spans = [
        (row.client, row.cwd, row.started - _AROUND, row.updated + _AROUND) for row in store.sessions() if row.started
    ]
    groups: dict[tuple[str, str], list[Typed]] = {}
    nameless: dict[tuple[str, str], list[Typed]] = {}
    for one in typed(settings):
        if one.session in known or (one.session and removed(one.session)):
            continue
        if one.session:
            groups.setdefault((one.client, one.session), []).append(one)
        elif not any(
            client == one.client and cwd == one.folder and begin <= one.time <= end for client, cwd, begin, end in spans
        ):
            nameless.setdefault((one.client, one.folder), []).append(one)
    found = [Lost(client, session, prompts[0].folder, prompts) for (client, session), prompts in groups.items()]
    for (client, folder), prompts in nameless.items():
        found += [Lost(client, "", folder, part) for part in _parts(prompts)]
    found = [
        one for one in found if any(_is_prompt(prompt.text) for prompt in one.prompts) and not _there(one, settings)
    ]
    return sorted(found, key=lambda one: (-one.updated, one.session))


def typed(settings: Settings) -> list[Typed]:
    """All prompts that the clients' lists hold, or held when they were copied: each once, by time."""
    found: dict[tuple[str, str, float, str], Typed] = {}
    for home in homes(settings):
        copies = generations(settings.archive, os.path.join(home.prefix, "history.jsonl"))
        paths = [os.path.join(settings.archive, copy.file) for copy in copies]
        for path in [*paths, os.path.join(home.path, "history.jsonl")]:
            for one in _read(path, home.client):
                found.setdefault((one.client, one.session, one.time, one.text), one)
    return sorted(found.values(), key=lambda one: one.time)


def _read(path: str, client: str) -> Iterator[Typed]:
    try:
        with open(path, "rb") as file:
            for raw in file:
                for item in objects(raw.rstrip(b"\n"))[0]:
                    one = _typed(item, client)
                    if one is not None:
                        yield one
    except OSError:
        return


def _typed(item: Object, client: str) -> Typed | None:
    if client == "codex":
        text, session, folder, time = item.get("text"), item.get("session_id"), "", seconds(item.get("ts"))
    else:
        text, session, folder, time = (
            item.get("display"),
            item.get("sessionId"),
            string(item.get("project")),
            seconds(item.get("timestamp")),
        )
    if not isinstance(text, str) or not text.strip():
        return None
    pasted = [string(mapping(one).get("content")) for one in mapping(item.get("pastedContents")).values()]
    return Typed(client, string(session), folder, time, "\n".join([text.strip(), *filter(None, pasted)]))


def _parts(prompts: Iterable[Typed]) -> Iterator[list[Typed]]:
    part: list[Typed] = []
    for one in prompts:
        if part and one.time - part[-1].time > _GAP:
            yield part
            part = []
        part.append(one)
    if part:
        yield part


def _is_prompt(text: str) -> bool:
    """Not only a command of the client: `/clear`, `!ls`."""
    return not (text.startswith(("/", "!")) and "\n" not in text and "/" not in text[1:].split(" ", 1)[0])


def _there(one: Lost, settings: Settings) -> bool:
    """Has a client the transcript after all, one that no sweep has taken in yet?"""
    if not one.session:
        return False
    import glob

    if glob.escape(one.session) != one.session or "/" in one.session:
        return False
    patterns = clients.places(one.client).transcripts(one.session)
    return any(
        glob.glob(os.path.join(glob.escape(home), pattern))
        for home in settings.homes(one.client)
        for pattern in patterns
    )
