"""`recall handoff`: where a session stood, for the one that goes on."""

from __future__ import annotations

import sys
import time

import click

from recall.cli.app import App
from recall.cli.budget import HELP, print_fitted
from recall.cli.options import LEAST
from recall.cli.output import Progress, print_json, utc
from recall.cli.recap import QUIET_REASONS, WHY
from recall.core.model import Session
from recall.errors import NothingFound, Refused, Unavailable, Usage


@click.command("handoff")
@click.argument("target", metavar="[ID|FILE]", required=False)
@click.option("--all", "everything", is_flag=True, help="For all sessions of the last days that lack one.")
@click.option(
    "--days",
    metavar="DAYS",
    default=14,
    show_default=True,
    type=click.IntRange(1),
    help="With --all: of the last DAYS days.",
)
@click.option("--for", "client", type=click.Choice(["claude", "codex"]), help="Print it as a brief for this client.")
@click.option("--force", is_flag=True, help="Also when the handoff is up to date.")
@click.option("--no-llm", is_flag=True, help="No model: what code alone can tell.")
@click.option("--estimate", is_flag=True, help="With --all: say what it would cost, and write nothing.")
@click.option("--yes", is_flag=True, help="With --all: do not ask.")
@click.option("--quiet", is_flag=True, help="Print nothing.")
@click.option("--budget", type=click.IntRange(LEAST), metavar="BYTES", help=HELP)
@click.option("--json", "as_json", is_flag=True, help="The handoff as JSON.")
def command(
    target: str | None,
    everything: bool,
    days: int,
    client: str | None,
    force: bool,
    no_llm: bool,
    estimate: bool,
    yes: bool,
    quiet: bool,
    budget: int | None,
    as_json: bool,
) -> int:
    """Write and print the handoff of a session: task now, done, in flight, next steps, gotchas.

    \b
      recall handoff last
      recall handoff 1b2c3d4e --for codex
      recall handoff --all --days 7     says the price first
    """
    if everything == bool(target):
        raise Usage("one session, or --all", "recall handoff last")
    if estimate and not everything:
        raise Usage("--estimate is for --all", "one handoff is one model call")
    if budget is not None and (everything or as_json):
        raise Usage("--budget is for the text of one handoff", "leave out --json and --all")
    app = App.from_environment()
    if no_llm:
        app.settings = app.settings._replace(llm="none")
    if everything:
        return _all(app, days, yes, as_json, only_price=estimate)
    assert target is not None
    return _one(app, target, client or "", force, quiet, as_json, budget)


def _one(app: App, target: str, client: str, force: bool, quiet: bool, as_json: bool, budget: int | None) -> int:
    from recall.actions.asking import Asking
    from recall.actions.handoff import brief_for, keep_handoff, kept, path_of, write_handoff
    from recall.cli.target import session_of
    from recall.core.handoff import render

    row = session_of(app, target)
    asking = Asking(app.settings, time.time)
    made = write_handoff(row, app.store, app.settings, asking, now=time.time(), force=force)
    keep_handoff(made, app.settings)
    handoff = made.handoff or kept(app.settings, row.id)
    told = ""
    if handoff is not None:
        told = brief_for(row, handoff, client, app.store, app.settings) if client else render(handoff)
    app.close()
    if made.why in WHY and made.why not in QUIET_REASONS and not quiet:
        app.say(WHY[made.why])
    if handoff is None:
        raise NothingFound(f"session {row.id} has nothing to hand on", "recall show tells what it was")
    if as_json:
        fields = handoff._asdict()
        fields["updated"] = utc(handoff.updated)
        path = path_of(app.settings, row.id)
        print_json({"schema": 1, "handoff": fields, "path": path, "why": made.why, "cost": round(made.cost, 6)})
    elif not quiet and budget is not None:
        after = f"… {{}} more lines; the whole is in {path_of(app.settings, row.id)}".format
        print_fitted(app, told.splitlines(), budget, name="lines", after=after, partly=True)
    elif not quiet:
        print(told, end="")
    return 4 if made.asked and made.why not in ("", "refused") else 0


def _all(app: App, days: int, yes: bool, as_json: bool, *, only_price: bool) -> int:
    from recall.actions.asking import Asking
    from recall.actions.estimate import estimate
    from recall.actions.handoff import keep_handoff, lacks_handoff, write_handoff
    from recall.actions.worth import Carded, worthy
    from recall.cli.backfill import NO_MODEL, say_price
    from recall.cli.fresh import freshen
    from recall.errors import RecallError

    freshen(app)
    asking = Asking(app.settings, time.time)
    if asking.engine == "none" and app.settings.llm != "none":
        raise Unavailable("no model is set up", f"--no-llm makes them by code alone, or: {NO_MODEL}")
    since = time.time() - days * 86400
    known = Carded(app.settings.state).events("handoff")
    rows = [
        row
        for row in worthy(app.store.sessions(), app.settings, app.shelf, since=since, least=app.settings.min_events)
        if lacks_handoff(row, app.settings, known)
    ]
    if only_price:
        app.close()
        return _price(app, rows, as_json, free=asking.engine == "none")
    if rows and asking.engine != "none":
        say_price(app, estimate(rows), "handoffs")
        if sys.stdin.isatty() and not yes and not click.confirm("Write them?", default=True, err=True):
            raise Refused("nothing was written", "")
    bar = Progress(quiet=as_json, amount=str)
    by_model = by_code = 0
    try:
        for n, row in enumerate(rows):
            bar(n, len(rows), "handoffs")
            if asking.engine != "none" and asking.barred():
                break
            try:
                made = write_handoff(row, app.store, app.settings, asking, now=time.time())
            except (RecallError, OSError) as problem:
                app.say(f"{row.id}: {problem}")
                continue
            keep_handoff(made, app.settings)
            by_model += made.by_model
            by_code += made.handoff is not None and not made.by_model
    finally:
        bar.end()
        app.close()
    stopped = asking.barred() if asking.engine != "none" else ""
    if as_json:
        print_json(
            {
                "schema": 1,
                "wanted": len(rows),
                "by_model": by_model,
                "by_code": by_code,
                "stopped": stopped,
                "cost": round(asking.cost, 6),
            }
        )
    else:
        written = by_model + by_code
        print(f"{written} of {len(rows)} handoffs written, {by_code} of them without a model, ${asking.cost:.4f}")
    if stopped:
        app.say(f"stopped: {WHY.get(stopped, stopped)}; the same command goes on later")
    return 4 if stopped else 0


def _price(app: App, rows: list[Session], as_json: bool, *, free: bool) -> int:
    """How many handoffs are wanted, and about what they cost."""
    from recall.actions.estimate import estimate
    from recall.cli.backfill import money

    span = (0.0, 0.0) if free else estimate(rows).price(app.settings.model)
    model = "" if free else app.settings.model
    if as_json:
        print_json({"schema": 1, "wanted": len(rows), "model": model, "dollars": span})
        return 0
    told = "made by code alone, at no price" if free else f"by {model}, "
    if not free:
        told += f"about {money(span)}" if span else "at a price that is not known"
    print(f"{len(rows)} handoffs {told}")
    return 0
