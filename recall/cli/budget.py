"""`--budget BYTES`: an answer that is never longer than an agent has room for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from recall.cli.app import App
from recall.core.budget import Fitted, fit, fit_document
from recall.errors import Usage

HELP = "Print at most BYTES (UTF-8); what is left out is counted."


def print_fitted(
    app: App,
    units: Sequence[str],
    budget: int,
    *,
    name: str,
    after: Callable[[int], str],
    before: Callable[[int], str] = lambda count: f"… {count} lines before",
    focus: int = 0,
    partly: bool = False,
) -> Fitted:
    """Print what fits of `units` (see `recall.core.budget.fit`), and say on stderr how many of what `name` says do not."""
    fitted = fit(units, budget, after=after, before=before, focus=focus, partly=partly)
    sys.stdout.write("".join(f"{line}\n" for line in fitted.lines))
    if fitted.left_out:
        app.say(f"{fitted.left_out} of {len(units)} {name} left out: over {budget} bytes")
    return fitted


def print_fitted_json(
    app: App,
    document: dict[str, Any],
    budget: int,
    *,
    lists: Sequence[str],
    texts: Sequence[str] = (),
    ends: Sequence[str] = (),
) -> None:
    """Print a document with as much as fits of these of its lists and texts; its `left_out` says what does not.

    Raises Usage where the rest alone is too long.
    """
    from recall.cli.output import print_json

    needed = fit_document(document, budget, _measure, lists=lists, texts=texts, ends=ends)
    if needed > budget:
        raise Usage(f"the shortest answer takes {needed} bytes", f"--budget {needed}, or without --json")
    print_json(document)
    for name, count in document.get("left_out", {}).items():
        app.say(f"{count} {'bytes of ' if isinstance(document[name], str) else ''}{name} left out: over {budget} bytes")


def _measure(document: dict[str, Any]) -> int:
    from recall.cli.output import json_text

    return len(json_text(document).encode()) + 1
