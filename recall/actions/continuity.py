"""What a compacted or resumed session is told: its handoff made from the transcript alone, and the text that is injected.

Nothing here needs the index: it may be locked, damaged or not made yet, and a session still learns where it stood.
"""

from __future__ import annotations

import os

from recall.actions.gist import handoff_by_code, read_gist
from recall.actions.handoff import expired, kept, path_of, summary_path
from recall.actions.log import log
from recall.actions.walk import homes, look, purged_ids, stem
from recall.actions.worth import NEW_EVENTS, Carded
from recall.core.clean import clean
from recall.core.facts import Facts
from recall.core.handoff import refusal, render
from recall.core.model import Handoff, Session
from recall.files import write_atomic
from recall.hookloop import context as injected
from recall.settings import Settings
from recall.shelf import Shelf

GAP = 60.0
"""Seconds of a transcript behind a handoff that it need not tell."""


def context(settings: Settings, session: str, now: float) -> str:
    """Exactly what the hook would put into the session's context; '' for nothing."""
    return injected(path_of(settings, session), settings.handoff_days, now)


def write(settings: Settings, path: str, *, now: float) -> bool:
    """Make the handoff of a transcript by code; was one written?

    A model's one stays while it is not out of date; one that says nothing is refused, with the reason in the log. OSError
    when the transcript cannot be read.
    """
    found = next(filter(None, (look(home, path) for home in homes(settings))), None)
    if found is None or found.place.kind != "main":
        return False
    session = found.place.session or stem(path)
    if session in purged_ids(settings) or Shelf(settings.data, settings.state).is_removed(session):
        return False
    gist = read_gist(Session(0, found.client, session), path, found.client, settings)
    if gist.facts.sub or gist.is_empty:
        return False
    have = kept(settings, session)
    if have is not None and have.by != "extract" and not _is_old(have, gist.facts, settings, now):
        return False
    made = handoff_by_code(gist, now)
    wrong = refusal(made)
    if wrong:
        log(settings, now, f"handoff of {session} refused: {wrong}")
        return False
    if gist.summary and not os.path.exists(summary_path(settings, session)):
        write_atomic(summary_path(settings, session), gist.summary.encode("utf-8", "replace"))
    write_atomic(path_of(settings, session), render(made).encode("utf-8", "replace"))
    return True


def _is_old(have: Handoff, facts: Facts, settings: Settings, now: float) -> bool:
    """Did so much happen since a model wrote it that what code can tell is worth more?"""
    if expired(have, settings, now):
        return True
    told = Carded(settings.state).events("handoff").get(have.id)
    if told is not None:
        return facts.events - told >= NEW_EVENTS
    return have.updated < facts.updated - GAP


def keep_summary(settings: Settings, session: str, text: str) -> None:
    """Keep the client's own summary of a compaction, its secrets replaced."""
    if session in purged_ids(settings) or Shelf(settings.data, settings.state).is_removed(session):
        return
    words = clean(text).strip()
    if words:
        write_atomic(summary_path(settings, session), f"{words}\n".encode("utf-8", "replace"))
