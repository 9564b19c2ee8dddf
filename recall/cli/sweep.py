"""`recall sweep`: copy and index every transcript that changed."""

from __future__ import annotations

import time

from recall.actions.crashed import keep_open
from recall.actions.idle import idle
from recall.actions.report import Report
from recall.actions.swept import note
from recall.cli.app import App
from recall.cli.options import Opt, build
from recall.cli.output import Progress, megabytes, print_json
from recall.errors import Unavailable

OPTIONS = (
    Opt(("--days",), "days", "count", "Catch up on cards of sessions of the last DAYS days.", "DAYS", 14),
    Opt(("--max-llm",), "max_llm", "number", "Model calls at most.", "N", 8),
    Opt(("--no-llm",), "no_llm", "flag", "No model calls."),
    Opt(("--quiet",), "quiet", "flag", "Say nothing but problems."),
    Opt(("--json",), "as_json", "flag", "The report as JSON."),
)


def __getattr__(name: str) -> object:
    if name == "command":
        return build("sweep", OPTIONS, run)
    raise AttributeError(name)


def run(*, days: int, max_llm: int, no_llm: bool, quiet: bool, as_json: bool) -> int:
    """Copy every transcript that changed into the archive, and index it.

    One sweep runs at a time; a second one leaves at once. It can be interrupted at any point without loss.
    What cannot be read is told once, and is no reason to stop; while there is such a thing, the exit status is 5.

    \b
      recall sweep
      recall sweep --quiet     as the timer calls it
    """
    app = App.from_environment()
    start = time.monotonic()
    keep_open(app.settings, time.time())
    report = idle(app.settings)
    try:
        if report is None:
            report = _sweep(app, quiet=quiet or as_json)
    except Exception as failure:
        note(app.settings, error=getattr(failure, "message", "") or f"{type(failure).__name__}: {failure}")
        raise
    if not report.busy and not report.unmounted:
        from recall.actions import hookconf, marks

        marks.tidy(app.settings, time.time())
        hookconf.refresh(app.settings)
    if not report.busy:
        error = f"the archive {app.settings.archive} is not mounted" if report.unmounted else ""
        note(app.settings, error=error, failing=report.failing)
    seconds = time.monotonic() - start
    caught = None
    if not (report.busy or report.unmounted or no_llm or not max_llm) and _asks(app):
        from recall.cli.caught import catch

        caught = catch(app, days, max_llm)
    if app.settings.autoname and not (report.busy or report.unmounted):
        from recall.actions.autoname import autoname

        autoname(app.settings, app.store, app.shelf, time.time())
    app.close()
    if report.unmounted:
        from recall.actions.reindex import not_mounted

        message, hint = not_mounted(app.settings)
        raise Unavailable(f"{message}: nothing was copied", hint)
    for problem in report.problems:
        app.say(problem)
    if as_json:
        from recall.cli.caught import document

        print_json({**_json(report), "llm": document(caught) if caught else None})
    elif not quiet:
        print(summary(report, seconds))
        if caught:
            from recall.cli.caught import line

            print(line(caught), end="\n" if line(caught) else "")
    return 5 if report.failing else 0


def _asks(app: App) -> bool:
    """Is there a model that may be asked?"""
    if app.settings.guarded or app.settings.llm == "none":
        return False
    from recall.llm import engine_of

    return engine_of(app.settings) != "none"


def _sweep(app: App, *, quiet: bool) -> Report:
    from recall.actions.sweep import Sweep
    from recall.actions.view import touch_view, write_view

    bar = Progress(quiet=quiet)
    try:
        report = Sweep(app.settings, progress=bar).run()
    finally:
        bar.end()
    if not report.busy and not report.unmounted:
        if report.grown and not (report.new or report.rewritten or report.cards or report.companions or report.rebuilt):
            touch_view(app.settings, app.store, app.shelf, report.touched)
        else:
            write_view(app.settings, app.store, app.shelf)
    return report


def summary(report: Report, seconds: float) -> str:
    """The report in one line."""
    if report.busy:
        return "another sweep is running"
    parts = [f"{report.changed} changed"]
    kinds = [
        f"{count} {name}"
        for count, name in ((report.new, "new"), (report.grown, "grown"), (report.rewritten, "rewritten"))
        if count
    ]
    if kinds:
        parts[0] += f" ({', '.join(kinds)})"
    if report.companions:
        parts.append(f"{report.companions} other files kept")
    if report.cards:
        parts.append(f"{report.cards} cards")
    if report.read:
        parts.append(f"{megabytes(report.read)} read")
    if report.failing:
        parts.append(f"{report.failing} with problems")
    return f"{report.sessions} sessions, {report.seen} files: {', '.join(parts)} in {seconds:.1f} s"


def _json(report: Report) -> dict[str, object]:
    return {
        "schema": 1,
        "busy": report.busy,
        "sessions": report.sessions,
        "files": report.seen,
        "changed": report.changed,
        "new": report.new,
        "grown": report.grown,
        "rewritten": report.rewritten,
        "companions": report.companions,
        "cards": report.cards,
        "bytes_read": report.read,
        "bytes_indexed": report.indexed,
        "rebuilt": report.rebuilt,
        "failing": report.failing,
        "problems": report.problems,
    }
