"""`recall backfill`: cards by a model for the sessions of many days."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

import click

from recall.actions.estimate import Estimate
from recall.actions.recap import Made, Work, keep, many, work_on, write_card
from recall.cli.app import App
from recall.cli.output import Progress, print_json, utc
from recall.cli.recap import WHY
from recall.core.model import Session
from recall.errors import Unavailable

NO_MODEL = "install Claude Code and log in, or set RECALL_LLM=api with the extra `api` of this package"


@click.command("backfill")
@click.option(
    "--days",
    metavar="DAYS",
    default=180,
    show_default=True,
    type=click.IntRange(1),
    help="Sessions of the last DAYS days.",
)
@click.option(
    "--min-events", metavar="N", default=25, show_default=True, type=click.IntRange(1), help="With N events at least."
)
@click.option(
    "--jobs", metavar="N", default=4, show_default=True, type=click.IntRange(1, 16), help="Model calls at a time."
)
@click.option("--estimate", "only_estimate", is_flag=True, help="Say what it would cost, and ask nothing.")
@click.option("--batch", is_flag=True, help="Hand all in at half the price; the same command collects the answers.")
@click.option("--json", "as_json", is_flag=True, help="Counts as JSON.")
def command(days: int, min_events: int, jobs: int, only_estimate: bool, batch: bool, as_json: bool) -> int:
    """Write cards for sessions that have none, or whose card is out of date, newest first.

    It can be interrupted: what is written stays, and the next run goes on. The calls of a day are limited
    (RECALL_MAX_LLM_PER_DAY). --batch needs RECALL_LLM=api. Where no model is set up, or with RECALL_LLM=none, the cards
    are made by code alone, at no price; a model may write better ones later.

    \b
      recall backfill --estimate
      recall backfill --days 30
      recall backfill --batch
    """
    from recall.actions.cards import card_of
    from recall.actions.worth import Carded, is_stale, worthy
    from recall.cli.fresh import freshen

    app = App.from_environment()
    freshen(app)
    since = time.time() - days * 86400
    carded = Carded(app.settings.state).events("card")
    rows = [
        row
        for row in worthy(app.store.sessions(), app.settings, app.shelf, since=since, least=min_events)
        if row.written_by != "hand" and is_stale(row, card_of(app.store, row) if row.status else None, carded)
    ]
    if not rows and not as_json:
        app.say(
            f"no session of the last {days} days with {min_events} events or more lacks a card;"
            " --days and --min-events look at more"
        )
    if only_estimate:
        return _estimate(app, rows, as_json)
    if batch:
        return _batch(app, rows, as_json)
    return _now(app, rows, jobs, as_json)


def _estimate(app: App, rows: list[Session], as_json: bool) -> int:
    from recall.actions.estimate import estimate
    from recall.llm import prices

    found = estimate(rows)
    models = list(dict.fromkeys([app.settings.model, *prices.TARIFFS]))
    table = [(model, found.price(model), found.price(model, batch=True)) for model in models]
    app.close()
    if as_json:
        print_json(
            {
                "schema": 1,
                "sessions": found.sessions,
                "input_tokens": found.input,
                "output_tokens": found.output,
                "prices_of": prices.DATE,
                "models": [{"model": model, "dollars": now, "batch": later} for model, now, later in table],
            }
        )
        return 0
    print(f"{found.sessions} sessions, {_span(*found.input)} tokens in, {_span(*found.output)} tokens out")
    for model, now, later in table:
        chosen = " (chosen)" if model == app.settings.model else ""
        print(
            f"{model}{chosen}: " + (f"{money(now)}, as a batch {money(later)}" if now and later else "price not known")
        )
    print(f"prices of {prices.DATE}; through a plan's login they come out of the plan instead")
    return 0


def money(span: tuple[float, float]) -> str:
    return f"${span[0]:.2f} to ${span[1]:.2f}"


def say_price(app: App, found: Estimate, what: str) -> None:
    """What is about to be spent, before it is."""
    price = found.price(app.settings.model)
    told = money(price) if price else "at a price that is not known"
    app.say(f"{found.sessions} {what} by {app.settings.model}, about {told}")


def _span(low: int, high: int) -> str:
    return f"{low:,} to {high:,}"


def _now(app: App, rows: list[Session], jobs: int, as_json: bool) -> int:
    from recall.actions.asking import Asking
    from recall.actions.estimate import estimate
    from recall.actions.view import write_view
    from recall.llm.claude_cli import stop as stop_claude

    asking = Asking(app.settings, time.time)
    alone = asking.engine == "none"  # by code, without a model
    if alone and app.settings.llm not in ("auto", "none"):
        raise Unavailable(f"the model engine {app.settings.llm} is not there", NO_MODEL)
    tags = tuple(app.shelf.preferred_tags())
    if alone:
        rows = [row for row in rows if row.written_by != "extract" or row.written_at < row.updated]
        app.say("no model is set up: cards are made by code alone")
    elif rows:
        say_price(app, estimate(rows), "cards")

    def works() -> Iterator[Work]:
        for work in _works(app, rows):
            if asking.barred() and not alone:
                return
            yield work

    def write(work: Work) -> Made:
        return write_card(work, app.settings, asking, now=time.time(), tags=tags, unasked=alone)

    def stop() -> None:
        asking.stopped = "interrupted"
        stop_claude()

    bar = Progress(quiet=as_json, amount=str)
    written, count = 0, 0
    why: Counter[str] = Counter()
    bar(0, len(rows), "cards")
    try:
        for made in many(works(), write, jobs=jobs, stop=stop):
            made = keep(made, app.settings, app.shelf, app.store)
            count += 1
            wrote = made.card is not None and made.why in ("", "none" if alone else "")
            written += wrote
            why[made.why] += not wrote
            bar(count, len(rows), "cards")
    finally:
        bar.end()
        if count:
            write_view(app.settings, app.store, app.shelf)
    stopped = "" if alone else asking.barred()
    app.close()
    _tell(app, written, len(rows), why, stopped, asking.cost, as_json)
    return 4 if stopped or any(why[kind] for kind in why if kind in WHY) else 0


def _works(app: App, rows: list[Session]) -> Iterator[Work]:
    from recall.errors import RecallError

    for row in rows:
        try:
            yield work_on(row, app.store, app.shelf, app.settings)
        except (RecallError, OSError) as problem:
            app.say(f"{row.id}: {problem}")


def _tell(app: App, written: int, wanted: int, why: Counter[str], stopped: str, cost: float, as_json: bool) -> None:
    reasons = {kind: n for kind, n in why.items() if n and kind}
    if as_json:
        print_json(
            {
                "schema": 1,
                "wanted": wanted,
                "written": written,
                "not_written": reasons,
                "stopped": stopped,
                "cost": round(cost, 6),
            }
        )
        return
    print(f"{written} of {wanted} cards written, ${cost:.4f}")
    for kind, n in reasons.items():
        app.say(f"{n} not: {WHY.get(kind, kind)}")
    if stopped and stopped not in reasons:
        app.say(f"stopped: {WHY.get(stopped, stopped)}; the same command goes on later")


# -- batches ---------------------------------------------------------------------------------------------------


def _batch(app: App, rows: list[Session], as_json: bool) -> int:
    from recall import llm
    from recall.actions.batch import collect, hand_in, pending, waiting
    from recall.actions.estimate import estimate
    from recall.actions.view import write_view
    from recall.llm.ledger import Ledger

    if llm.engine_of(app.settings) != "api":
        raise Unavailable("a batch goes through the model API", "set RECALL_LLM=api")
    written, cost = 0, 0.0
    why: Counter[str] = Counter()
    try:
        for made in collect(app.settings, app.store, app.shelf, now=time.time()):
            made = keep(made, app.settings, app.shelf, app.store)
            cost += made.cost
            written += made.card is not None
            why[made.why] += bool(made.why)
    finally:
        if written:
            write_view(app.settings, app.store, app.shelf)
    expected = waiting(app.settings)
    left = app.settings.max_llm_per_day - Ledger(app.settings.state).last_day(time.time()) - len(expected)
    # Right behind a collection, what failed in it is not handed in again at once.
    todo = [] if written or why or expected else rows[: max(0, left)]
    handed: list[str] = []
    if todo:
        price = estimate(todo).price(app.settings.model, batch=True)
        app.say(f"{len(todo)} cards as a batch, about {money(price) if price else 'at a price that is not known'}")
        handed = hand_in(_works(app, todo), app.settings, now=time.time(), tags=tuple(app.shelf.preferred_tags()))
    open_ones = pending(app.settings)
    app.close()
    if as_json:
        print_json(
            {
                "schema": 1,
                "written": written,
                "not_written": {kind: n for kind, n in why.items() if n},
                "cost": round(cost, 6),
                "handed_in": handed,
                "pending": {
                    key: {"sessions": len(entry.get("sessions", {})), "since": utc(float(entry.get("time", 0)))}
                    for key, entry in open_ones.items()
                },
            }
        )
        return 0
    if written or why:
        print(f"{written} cards written from batches, ${cost:.4f}")
    for kind, n in why.items():
        if n:
            app.say(f"{n} not: {WHY.get(kind, kind)}")
    for key, entry in open_ones.items():
        state = "handed in" if key in handed else "not ready yet"
        print(f"batch {key}: {len(entry.get('sessions', {}))} sessions, {state}; recall backfill --batch collects")
    if not (written or why or open_ones):
        print("nothing to do")
    return 0
