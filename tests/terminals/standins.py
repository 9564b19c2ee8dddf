"""Programs that stand in for terminals: they take the options of the real ones and run what a window would run."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

_OPENS = """\
#!/bin/sh
# Options end at the first `--` or `-e`, as in the real program; what follows is run as it is.
while [ $# -gt 0 ]; do
  case $1 in
  --|-e) shift; exec "$@";;
  esac
  shift
done
"""


def opens(folder: Path, names: Iterable[str]) -> None:
    """Terminals of these names that take an argv."""
    for name in names:
        program(folder / name, _OPENS)


def osascript(folder: Path, *, shell: tuple[str, ...] = ("/bin/sh", "-c"), running: bool = True) -> Path:
    """An `osascript` that runs what iTerm2 or Terminal.app would run; `shell` is the person's. The file that scripts go to,
    each ended with NUL."""
    log = folder / "scripts"
    words = (
        sys.executable,
        "-ISE",
        str(Path(__file__).with_name("fake_osascript.py")),
        str(log),
        str(running).lower(),
        *shell,
    )
    program(folder / "osascript", f"#!/bin/sh\nexec {shlex.join(words)}\n")
    return log


def program(path: Path, text: str) -> None:
    """A program."""
    path.write_text(text)
    path.chmod(0o700)
