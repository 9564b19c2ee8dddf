"""Scripts for `osascript -`: given by stdin, ASCII only, since in which encoding it reads stdin depends on the system."""

from __future__ import annotations

from collections.abc import Mapping

from recall.errors import Unavailable
from recall.terminals.base import Launch
from recall.terminals.run import ask


def string(text: str) -> str:
    """`text`, ASCII without control characters, as an AppleScript string."""
    if not (text.isascii() and text.isprintable()):
        raise ValueError("only printable ASCII is safe here")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def run(script: str) -> Launch:
    """Run a script."""
    return Launch(("osascript", "-"), stdin=script)


def running(application: str, env: Mapping[str, str]) -> bool:
    """Does an application of macOS run? Asking does not start it."""
    try:
        told = ask(("osascript", "-"), env, stdin=f"application {string(application)} is running\n", name="osascript")
    except Unavailable:
        return False
    return told.strip() == "true"
