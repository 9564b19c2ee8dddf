"""`recall recap`: the card of one session, by a model."""

from __future__ import annotations

import time

import click

from recall.cli.app import App
from recall.cli.output import print_json, utc
from recall.errors import NothingFound, Refused

WHY = {
    "none": "no model is set up",
    "day": "the calls of this day are used up (RECALL_MAX_LLM_PER_DAY)",
    "limit": "the calls of this run are used up",
    "busy": "another process asks the model about it, or just has",
    "pause": "the model failed on it a while ago",
    "rate": "the model answered: too many requests",
    "overloaded": "the model is overloaded",
    "server": "the model failed",
    "timeout": "the model did not answer in time",
    "bad_reply": "the model's answer could not be used",
    "refusal": "the model refused",
    "too_long": "prompt or answer were too long for the model",
    "auth": "the model needs a login or a key",
    "missing": "the engine that was chosen is not installed",
    "ledger": "the ledger of model calls cannot be read or written",
    "refused": "there is no next step to tell",
    "changed": "the card was changed meanwhile",
    "removed": "the session was removed meanwhile",
}
"""What stands behind a reason, in words."""

QUIET_REASONS = frozenset(("none", "limit", "pause"))
"""Reasons for a card without a model that are no failure."""


@click.command("recap")
@click.argument("target", metavar="ID|FILE")
@click.option("--force", is_flag=True, help="Also when the card is up to date; brings a removed session back.")
@click.option("--no-llm", is_flag=True, help="No model: what code alone can tell.")
@click.option("--worth", is_flag=True, help="Only when the session is worth a card, as a sweep would see it.")
@click.option("--quiet", is_flag=True, help="Print nothing.")
@click.option("--json", "as_json", is_flag=True, help="The card as JSON.")
def command(target: str, force: bool, no_llm: bool, worth: bool, quiet: bool, as_json: bool) -> int:
    """Write the card of a session: task, status, method, next step, names and artifacts.

    A model is asked once, if one is set up; without one the card is made from the transcript by code alone. A card
    written by hand is never replaced.

    \b
      recall recap 1b2c3d4e
      recall recap last --force
    """
    from recall.actions.asking import Asking
    from recall.actions.recap import keep, work_on, write_card
    from recall.actions.view import write_view
    from recall.actions.worth import worthy
    from recall.cli.target import session_of

    app = App.from_environment()
    row = session_of(app, target, force=force)
    settings = app.settings._replace(llm="none") if no_llm else app.settings
    if worth and not worthy([row], settings, app.shelf, since=0, least=settings.min_events):
        app.close()
        return 0
    asking = Asking(settings, time.time, patient=worth)
    work = work_on(row, app.store, app.shelf, settings)
    tags = tuple(app.shelf.preferred_tags())
    made = write_card(work, settings, asking, now=time.time(), tags=tags, force=force)
    made = keep(made, settings, app.shelf, app.store)
    if made.card is not None:
        write_view(app.settings, app.store, app.shelf)
    app.close()
    if made.why == "hand" and not worth:
        raise Refused(f"the card of {row.id} was written by hand", "edit it, or delete the file to have one made")
    if made.why in ("empty", "unreadable") and not worth:
        raise NothingFound(f"nothing can be told of session {row.id}: its transcript is {made.why}", "")
    card = made.card or work.card
    if made.why in WHY and made.why not in QUIET_REASONS and not quiet:
        kept = "the card stays as it was" if made.card is None else "the card is made without it"
        app.say(f"{WHY[made.why]}: {kept}")
    if as_json and card is not None:
        fields = card._asdict()
        fields.pop("extra")
        for name in ("first", "last", "written_at"):
            fields[name] = utc(fields[name])
        print_json(
            {
                "schema": 1,
                "card": fields,
                "written": made.card is not None,
                "why": made.why,
                "dropped": made.dropped,
                "cost": round(made.cost, 6),
            }
        )
    elif card is not None and not quiet:
        _print(app, row.id, made.why, f"{card.status}: {card.task}", card.written_by, made.dropped, made.cost)
    return 4 if made.asked and made.why else 0


def _print(app: App, session: str, why: str, line: str, by: str, dropped: int, cost: float) -> None:
    print(f"{session} {line}")
    if why == "fresh":
        app.say("the card is up to date; --force asks again")
        return
    told = f"by {by}" if by != "extract" else "made without a model"
    told += f", ${cost:.4f}" if cost else ""
    told += f", {dropped} names dropped that do not occur" if dropped else ""
    print(told)
