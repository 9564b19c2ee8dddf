"""One reading of a session's transcript, and what is made of it: prompts, and cards and handoffs from the replies.

The transcript streams by in bounded memory; its secrets are replaced on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from recall import clients
from recall.actions.prompts import prompt
from recall.actions.reading import Reading
from recall.core.clean import clean
from recall.core.facts import Facts
from recall.core.ground import Evidence
from recall.core.handoff import extracted_handoff, handoff_from_reply
from recall.core.model import EVERYTHING, Card, Extract, Handoff, Record, Reply, Session
from recall.core.recap import (
    HANDOFF_SCHEMA,
    RECAP_SCHEMA,
    Digest,
    card_from_reply,
    claims,
    extracted_card,
    recap_prompt,
)
from recall.core.recap import handoff_prompt as build_handoff_prompt
from recall.settings import Settings


class Gist(NamedTuple):
    """What one reading told. `digest` is redacted and fits a model's prompt; `summary` is the client's own of its last
    compaction, '' for none; `path` is what was read; `tags` are those to prefer."""

    row: Session
    path: str
    client: str
    facts: Facts
    extract: Extract
    digest: str
    summary: str
    tags: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.extract.ask or self.extract.last_answer)

    def extracted(self, now: float) -> Card:
        """The card that code alone can write."""
        return self.whole(
            extracted_card(self.extract, self.facts, id=self.row.id, client=self.row.client, now=now, tags=self.tags)
        )

    def whole(self, card: Card) -> Card:
        """The card with what the row knows from all files of the session; one reading knows of one."""
        row = self.row
        return card._replace(
            project=clean(row.cwd or card.project),
            first=row.started or card.first,
            last=row.updated or card.last,
            messages=max(row.messages, card.messages),
        )


def read_gist(row: Session, path: str, client: str, settings: Settings, tags: tuple[str, ...] = ()) -> Gist:
    """Read a transcript through. OSError when it cannot be read."""
    facts = Facts()
    digest = Digest()
    for record in _records(path, client, settings, facts):
        digest.add(record)
    if row.title_by == "user":
        facts.title, facts.title_by = row.title, "user"
    elif facts.title_by == "user":  # the client carried it over from another session, as its note beside the file says
        facts.title, facts.title_by = "", ""
    return Gist(
        row, path, client, facts, digest.extractor.result(facts), digest.text(facts=facts), digest.summary, tags
    )


def _records(path: str, client: str, settings: Settings, facts: Facts) -> Iterator[Record]:
    return clients.get(client).parse(Reading(path, 0, facts, settings.max_line).lines(), facts, EVERYTHING)


# -- cards -----------------------------------------------------------------------------------------------------


def card_prompt(gist: Gist) -> tuple[str, str, dict[str, Any]]:
    """(fixed part, question, schema of the reply) for a card."""
    return *recap_prompt(prompt("recap"), gist.digest, gist.tags), RECAP_SCHEMA


def grounded(gist: Gist, reply: Reply, settings: Settings, now: float) -> tuple[Card, int]:
    """The card of a reply, and how many names in it do not occur in the transcript, which is read again for that.

    ValueError when the reply says nothing that can be used, OSError when the transcript cannot be read.
    """
    evidence = Evidence(claims(reply.value)).feed(_records(gist.path, gist.client, settings, Facts()))
    card, dropped = card_from_reply(
        reply.value,
        gist.extract,
        gist.facts,
        id=gist.row.id,
        client=gist.row.client,
        model=reply.model,
        now=now,
        contains=evidence.contains,
        tags=gist.tags,
    )
    return gist.whole(card), dropped


# -- handoffs --------------------------------------------------------------------------------------------------


def handoff_prompt(gist: Gist, before: str) -> tuple[str, str, dict[str, Any]]:
    """(fixed part, question, schema of the reply) for a handoff; `before` is the text of the one that is kept."""
    return *build_handoff_prompt(prompt("handoff"), gist.digest, before), HANDOFF_SCHEMA


def handoff_from(gist: Gist, reply: Reply, now: float) -> Handoff:
    """The handoff of a reply; ValueError when there is no task in it."""
    made = handoff_from_reply(reply.value, gist.extract, gist.facts, id=gist.row.id, model=reply.model, now=now)
    return _cleaned(made._replace(project=gist.row.cwd or made.project))


def handoff_by_code(gist: Gist, now: float) -> Handoff:
    """The handoff that code alone can write."""
    made = extracted_handoff(gist.extract, gist.facts, id=gist.row.id, now=now)
    return _cleaned(made._replace(project=gist.row.cwd or made.project))


def _cleaned(handoff: Handoff) -> Handoff:
    """A title that the user gave, or a folder, may hold what a transcript may not."""
    return handoff._replace(title=clean(handoff.title), project=clean(handoff.project))
