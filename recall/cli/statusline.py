"""`recall statusline`: what Claude Code shows under its prompt. Called all the time, so it loads little and never fails."""

from __future__ import annotations

import os

from recall.cli.options import build

OPTIONS = ()


def __getattr__(name: str) -> object:
    if name == "command":
        return build("statusline", OPTIONS, run)
    raise AttributeError(name)


def run() -> int:
    """Print project, address of this session and how full its context is: JSON on stdin, as Claude Code gives it.

    \b
      recall statusline < status.json     crm  s034  42%
    """
    try:
        from recall.actions.statusline import line
        from recall.hook import parse, read

        print(line(parse(read(0)), pid=os.environ.get("CLAUDE_PID", ""), parent=os.getppid()))
    except Exception:
        print(flush=False)
    return 0
