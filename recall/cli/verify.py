"""`recall verify`: the archive against its checksums, the index against the archive."""

from __future__ import annotations

import click

from recall.actions.verify import Verdict, check
from recall.archive.verify import Problem
from recall.cli.app import App
from recall.cli.output import Progress, megabytes, print_json

_DAMAGED = 5


@click.command("verify")
@click.option("--json", "as_json", is_flag=True, help="What was found as JSON.")
def command(as_json: bool) -> int:
    """Check the archive against its checksums, and the index against the archive.

    Each damaged copy is named with its 1 MB block and its bytes. A damaged index is no loss: `recall reindex`
    makes it again. Exit status 5 where something is damaged.

    \b
      recall verify
    """
    app = App.from_environment()
    bar = Progress(quiet=as_json)
    try:
        verdict = check(app.settings, app.shelf, bar)
    finally:
        bar.end()
    if as_json:
        print_json(_document(verdict))
    else:
        _print(app, verdict)
    return 0 if verdict.sound else _DAMAGED


def _print(app: App, verdict: Verdict) -> None:
    for problem in verdict.damage:
        print(damage_line(problem))
    for line in verdict.index:
        print(f"index    {line}")
    if verdict.behind:
        count = len(verdict.behind)
        app.say(f"{count} {'copy has' if count == 1 else 'copies have'} more than is indexed: recall sweep takes it in")
    if verdict.index:
        app.say("the index can be made again: recall reindex")
    parts = [f"{verdict.files} copies ({megabytes(verdict.bytes)}, {verdict.blocks} blocks)"]
    if verdict.unsummed:
        parts.append(f"{verdict.unsummed} blocks without a checksum yet")
    parts.append(f"{verdict.sessions} sessions")
    bad = len({problem.file for problem in verdict.damage})
    parts.append("all sound" if verdict.sound else f"{bad} copies damaged, {len(verdict.index)} problems of the index")
    print(", ".join(parts))


def damage_line(problem: Problem) -> str:
    """`damaged  FILE: block N, bytes A-B`; the bytes are those from A up to, not with, B."""
    line = f"{problem.why:<8} {problem.file}: block {problem.block}, bytes {problem.start}-{problem.end}"
    return f"{line} ({problem.detail})" if problem.detail else line


def _document(verdict: Verdict) -> dict[str, object]:
    return {
        "schema": 1,
        "ok": verdict.sound,
        "files": verdict.files,
        "bytes": verdict.bytes,
        "blocks": verdict.blocks,
        "unsummed": verdict.unsummed,
        "sessions": verdict.sessions,
        "damaged": [problem._asdict() for problem in verdict.damage],
        "index": verdict.index,
        "behind": verdict.behind,
    }
