r"""A plan as the argv that a terminal window runs: the right folder, a clean environment, and a shell when it ends.

A terminal may be a server that was started long ago, inside of an agent even, so nothing can be said of the environment
that a window of it gets. Therefore the window runs a small `sh` program, always the same text, and gets what differs as
arguments: no quoting is needed where a terminal takes an argv, and one quoting (`recall.core.shell`) where it takes a line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from recall.core import shell
from recall.core.model import Plan

_INHERITED = (
    "CLAUDECODE|CLAUDE_(PID|EFFORT|ENV_FILE|PROJECT_DIR|JOB_DIR)|CLAUDE_(CODE|PLUGIN)_[A-Za-z0-9_]*|RECALL_GUARD"
)
"""What an agent gives to the processes that it starts. A client that has `CLAUDE_CODE_CHILD_SESSION` keeps its session out
of the list of sessions to resume (platform documentation of Claude Code)."""
_NAME = re.compile(_INHERITED)

SCRIPT = f"""\
for name in $(env | sed -n -E 's/^({_INHERITED})=.*/\\1/p'); do unset "$name"; done
PATH="$2${{PATH:+:$PATH}}"
export PATH
trap : INT QUIT
if cd -- "$1"; then
  shift 2
  "$@"
  status=$?
  [ "$status" -eq 0 ] || printf '\\n[ended with status %s]\\n' "$status"
fi
exec "${{SHELL:-/bin/sh}}" -l
"""
"""Arguments: folder, PATH, then the command. A folder that is gone starts nothing. The window stays, with the user's shell."""


def inherited(name: str) -> bool:
    """Is this a variable that an agent gave us, and that a client which we start must not see?"""
    return _NAME.fullmatch(name) is not None


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without what an agent gave to us."""
    return {name: value for name, value in environment.items() if not inherited(name)}


def window(plan: Plan, path: str) -> tuple[str, ...]:
    """What a terminal runs for a plan; `path` is the PATH of who asked for it. The plan's folder is absolute."""
    return ("/bin/sh", "-c", SCRIPT, "recall", plan.cwd, path, *shell.command(plan))


def script(plan: Plan, path: str) -> str:
    """The same as a file for `/bin/sh FILE`, which removes itself first: for terminals that take a short line only."""
    words = " ".join(map(_quoted, (plan.cwd, path, *shell.command(plan))))
    return f'rm -f -- "$0"\nset -- {words}\n{SCRIPT}'


def _quoted(word: str) -> str:
    """`word` for `sh` alone, byte for byte: what `recall.core.shell` does for one line loses the line ends at the end."""
    return "'" + word.replace("'", "'\\''") + "'"
