"""What is said where there is no session to be listed."""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip

from recall.errors import RecallError
from recall.tui import styles
from recall.tui.search import Answer
from recall.tui.text import safe, wrapped


def nothing(program: str, answer: Answer | None, problem: RecallError | None, columns: int) -> list[Strip]:
    """Why, and what can be done, in so many columns. `program` is how recall is called; `answer` the one without a row and
    `problem` what stands in its place; without both nothing is known yet."""
    told: list[tuple[str, str]] = []
    if problem is not None:
        told = [(problem.message, problem.hint)]
        if "nothing is indexed" in problem.message:
            told = _empty(program)
    elif answer is not None:
        found = answer.found
        if not found.sessions:
            told = _empty(program)
        else:
            told = [(f"Nothing found in {found.sessions:,} sessions.", _hint(program, answer))]
    out: list[Strip] = [Strip([])]
    for text, hint in told:
        for line, style in ((text, styles.BOLD), (hint, styles.PLAIN)):
            out += [Strip([Segment("   " + part, style)]) for part in wrapped(safe(line), columns - 6) if line]
        out.append(Strip([]))
    return out


def _empty(program: str) -> list[tuple[str, str]]:
    return [
        ("Nothing is indexed yet.", ""),
        (f"{program} sweep", "takes in every session of Claude Code and Codex that is on this machine"),
        (f"{program} demo", "shows what it does, on samples in a throw-away folder"),
    ]


def _hint(program: str, answer: Answer) -> str:
    found, query = answer.found, answer.query
    if found.hidden:
        return f"{found.hidden} headless ones would answer: ^L lists them."
    if query.filters or query.since or query.before:
        return "Leave out a filter."
    return f"Fewer or other words; {program} grep TEXT searches every message as it is."
