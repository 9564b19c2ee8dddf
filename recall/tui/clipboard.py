"""The clipboard of whoever sits at the terminal: by the terminal itself, and by the desktop's programs where we are on it.

OSC 52 is the only way over ssh; terminals may ignore it, and say nothing. tmux takes it from programs only where it is
told to, but has a command that does the same.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping

SECONDS = 2.0


def commands(env: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Programs that take the text on stdin, by what the environment tells of where we are."""
    out: list[tuple[str, ...]] = []
    if env.get("TMUX"):
        out.append(("tmux", "load-buffer", "-w", "-"))
    if not (env.get("SSH_CONNECTION") or env.get("SSH_TTY")):
        out.append(("pbcopy",))
        if env.get("WAYLAND_DISPLAY"):
            out.append(("wl-copy",))
        if env.get("DISPLAY"):
            out += [("xclip", "-selection", "clipboard"), ("xsel", "--clipboard", "--input")]
    path = env.get("PATH", "")
    return [argv for argv in out if shutil.which(argv[0], path=path)]


def give(text: str, env: Mapping[str, str]) -> list[str]:
    """Hand `text` to the first desktop program and to tmux; names of those that took it."""
    took: list[str] = []
    for argv in commands(env):
        if any(name != "tmux" for name in took):
            break
        try:
            # Not captured: xclip stays behind to serve the text, and would hold a pipe open.
            done = subprocess.run(
                argv,
                input=text.encode("utf-8", "replace"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS,
                env=dict(env),
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if not done.returncode:
            took.append(argv[0])
    return took
