"""`recall hook`: the entry for all client hooks, for use by hand; what is installed calls the same code by its launcher."""

from __future__ import annotations

import os
import sys

from recall.cli.options import build

OPTIONS = ()


def __getattr__(name: str) -> object:
    if name == "command":
        return build("hook", OPTIONS, run)
    raise AttributeError(name)


def run() -> int:
    """Do what an event of a client asks for: JSON on stdin, as Claude Code and Codex give it to their hooks.

    Copies what was added to the transcript into the archive, and prints nothing but the note that a compacted or resumed
    session is given. Always exits 0; what went wrong is in hook.log.

    \b
      recall hook < event.json
    """
    from recall.errors import RecallError
    from recall.hook import main
    from recall.settings import load

    if sys.stdin is not None and sys.stdin.isatty():
        print("recall: reads an event as JSON from stdin: recall hook < event.json", file=sys.stderr)
        return 0
    try:
        settings = load()
    except RecallError:
        return 0
    usual = {
        "RECALL_STATE": settings.state,
        "RECALL_ARCHIVE": settings.archive,
        "RECALL_DATA": settings.data,
        "CLAUDE_CONFIG_DIR": settings.claude_homes[0],
        "CODEX_HOME": settings.codex_homes[0],
        "RECALL_CLAUDE_HOMES": os.pathsep.join(settings.claude_homes[1:]),
        "RECALL_CODEX_HOMES": os.pathsep.join(settings.codex_homes[1:]),
        "RECALL_HANDOFF_DAYS": str(settings.handoff_days),
        "RECALL_HANDOFF_AFTER_CLEAR": str(int(settings.handoff_after_clear)),
        "RECALL_STARTUP_DIGEST": str(int(settings.startup_digest)),
        "RECALL_AUTONAME": str(int(settings.autoname)),
    }
    main(["hook"], usual)
    return 0
