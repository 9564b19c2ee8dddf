"""Where a session stood, for the one that goes on: by the model, or by code alone.

Kept as `handoffs/<session id>.md` in the data folder, with the client's own summary of its last compaction beside it
(`<session id>.summary.md`). One that says nothing is refused, and the last good one stays.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from recall.actions.asking import Asking, NotAsked
from recall.actions.gist import handoff_by_code, handoff_from, handoff_prompt, read_gist
from recall.actions.log import log
from recall.actions.show import own_file
from recall.actions.worth import NEW_EVENTS, Carded
from recall.core.handoff import brief, parse, refusal, render
from recall.core.model import Handoff, Session
from recall.files import write_atomic
from recall.llm.failure import ModelFailure
from recall.settings import Settings
from recall.store import Store

MAX_TOKENS = 2000
"""Of a handoff's answer."""


class Written(NamedTuple):
    """What came of it: the handoff to keep (None: what is there stays) and the client's summary; `why` it is not the
    model's, as for cards, or 'refused'."""

    row: Session
    handoff: Handoff | None
    summary: str
    why: str = ""
    cost: float = 0.0
    asked: bool = False

    @property
    def by_model(self) -> bool:
        return self.handoff is not None and not self.why


def path_of(settings: Settings, session: str) -> str:
    """Where the handoff of a session is kept."""
    return os.path.join(settings.data, "handoffs", f"{session}.md")


def summary_path(settings: Settings, session: str) -> str:
    """Where the client's own summary is kept."""
    return os.path.join(settings.data, "handoffs", f"{session}.summary.md")


def kept(settings: Settings, session: str) -> Handoff | None:
    """The handoff that is kept of a session; None when there is none that can be read."""
    try:
        with open(path_of(settings, session), encoding="utf-8", errors="replace") as file:
            return parse(file.read(1 << 16), session)
    except OSError:
        return None


def expired(handoff: Handoff, settings: Settings, now: float) -> bool:
    """Is it too old to be used?"""
    return handoff.updated < now - settings.handoff_days * 86400


def lacks_handoff(row: Session, settings: Settings, written: Mapping[str, int]) -> bool:
    """Would a model's handoff say more than what is kept? `written`: see `Carded.events`."""
    have = kept(settings, row.id)
    if have is None or have.by == "extract":
        return True
    if row.id in written:
        return row.events - written[row.id] >= NEW_EVENTS
    return have.updated < row.updated


def write_handoff(
    row: Session, store: Store, settings: Settings, asking: Asking | None, *, now: float, force: bool = True
) -> Written:
    """Make a session's handoff, by the model if it may be asked (None: by code). Touches nothing of ours.

    Raises NothingFound when no transcript can be read. A current one by a model stays unless `force`.
    """
    if not force and not lacks_handoff(row, settings, Carded(settings.state).events("handoff")):
        return Written(row, None, "", "fresh")
    path, file = own_file(row, store, settings)
    gist = read_gist(row, path, file.client, settings)
    have = kept(settings, row.id)
    why, asked, cost = "none", False, 0.0
    if asking is not None:
        try:
            before = render(have) if have is not None and have.by != "extract" else ""
            system, prompt, schema = handoff_prompt(gist, before)

            def wanted() -> bool:
                return kept(settings, row.id) == have

            reply = asking.ask(row.id, "handoff", system, prompt, schema, max_tokens=MAX_TOKENS, wanted=wanted)
            asked, cost = True, reply.usage.cost
            made = handoff_from(gist, reply, now)
            wrong = refusal(made)
            if not wrong:
                return Written(row, made, gist.summary, "", cost, True)
            log(settings, now, f"handoff of {row.id} refused: {wrong}")
            why = "refused"
        except ModelFailure as failure:
            log(settings, now, f"handoff of {row.id}: {failure.kind}: {failure.message}")
            why, asked = failure.kind, True
        except ValueError as problem:  # of the reply: there is no task in it
            log(settings, now, f"handoff of {row.id} refused: {problem}")
            asking.reject(row.id)
            why = "refused"
        except NotAsked as reason:
            why = reason.why
            if why == "busy":  # one by code would replace the other's
                return Written(row, None, gist.summary, why)
    if have is not None and have.by != "extract" and not expired(have, settings, now):
        return Written(row, None, gist.summary, why, cost, asked)  # the last good one
    made = handoff_by_code(gist, now)
    wrong = refusal(made)
    if wrong:
        log(settings, now, f"handoff of {row.id} refused: {wrong}")
        return Written(row, None, gist.summary, why if asked else "refused", cost, asked)
    return Written(row, made, gist.summary, why, cost, asked)


def keep_handoff(made: Written, settings: Settings) -> None:
    """Write what was made into the data folder."""
    if made.handoff is not None:
        write_atomic(path_of(settings, made.row.id), render(made.handoff).encode("utf-8", "replace"))
        if made.by_model:
            Carded(settings.state).note("handoff", made.row.id, made.row.events)
    if made.summary:
        write_atomic(summary_path(settings, made.row.id), made.summary.encode("utf-8", "replace"))


def brief_for(row: Session, handoff: Handoff, client: str, store: Store, settings: Settings) -> str:
    """The handoff as another client's session is given it, with the files that were touched."""
    path, file = own_file(row, store, settings)
    return brief(handoff, read_gist(row, path, file.client, settings).extract, client)
