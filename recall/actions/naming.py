"""Names and tags that people give sessions. Both stick: sweep, reindex and a new card of the model leave them."""

from __future__ import annotations

from collections.abc import Sequence

from recall.actions.cards import take_cards
from recall.actions.sweep import Sweep
from recall.actions.turn import turn
from recall.actions.view import write_view
from recall.core.card import task_of
from recall.core.cardfile import kebab
from recall.core.clean import clean
from recall.core.model import Card, Session
from recall.core.plain import one_line
from recall.errors import NothingFound, Usage
from recall.settings import Settings
from recall.shelf import TAGGED, Shelf, tagged
from recall.store import Store

LONGEST = 200
"""Characters of a name."""


def rename(settings: Settings, store: Store, shelf: Shelf, row: Session, title: str) -> Session:
    """Give a session a name, or take it back (''); gives its new row. Usage when the name is too long."""
    title = one_line(clean(title))
    if len(title) > LONGEST:
        raise Usage(f"a name has at most {LONGEST} characters; this one has {len(title)}")
    with turn(settings):
        if title:
            shelf.set_name(row.id, title)
        else:
            shelf.drop_name(row.id)
        with store.writing():
            Sweep(settings).retitle(store, row.no)
        write_view(settings, store, shelf)
    return store.session(row.no) or row


def changes_of(words: Sequence[str]) -> dict[str, bool]:
    """Tag -> is it added (`+export`, `export`) or taken away (`-draft`)? Usage for a word that is no tag."""
    out: dict[str, bool] = {}
    for word in words:
        tag = kebab(word.removeprefix("+").removeprefix("-"))
        if not tag:
            raise Usage(f"'{word}' is no tag", "+export adds a tag, -export takes it away")
        out[tag] = not word.startswith("-")
    return out


def tag(
    settings: Settings, store: Store, shelf: Shelf, row: Session, changes: dict[str, bool], *, now: float
) -> Session:
    """Change the tags in a session's card; gives its new row. Where there is no card, one is made without a model."""
    with turn(settings):
        found = shelf.card_file(row.id)
        card, seen = found or (_extracted(row, store, settings, now), None)
        before = dict(card.extra).get(TAGGED, "")
        kept = {word[1:]: word[0] == "+" for word in before.split() if word[0] in "+-"}
        for one, added in changes.items():
            kept.pop(one, None)
            kept[one] = added
        words = " ".join(f"{'+' if added else '-'}{one}" for one, added in kept.items())
        extra = (*((key, value) for key, value in card.extra if key != TAGGED), (TAGGED, words))
        shelf.write_card(card._replace(tags=tagged(card.tags, words), extra=extra), seen, over_hand=True)
        take_cards(store, shelf)
        write_view(settings, store, shelf)
    return store.session(row.no) or row


def _extracted(row: Session, store: Store, settings: Settings, now: float) -> Card:
    """What code can tell of the session; only what its row says where no transcript can be read."""
    from recall.actions.gist import read_gist
    from recall.actions.show import own_file

    try:
        path, file = own_file(row, store, settings)
        return read_gist(row, path, file.client, settings).extracted(now)
    except (NothingFound, OSError):
        return Card(
            row.id,
            row.client,
            clean(row.cwd),
            row.started,
            row.updated,
            row.messages,
            task=task_of(row),
            written_by="extract",
            written_at=now,
        )
