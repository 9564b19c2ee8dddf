"""The bridge's script in iTerm2's folder AutoLaunch: put there, renewed, taken away.

A file that is neither ours nor an earlier tool's is left alone and refused. An earlier tool's bridges are put aside; the
jobs that lie in its queue are nobody's business here: our bridge has no queue and reads none.
"""

from __future__ import annotations

import contextlib
import os
from typing import NamedTuple

from recall.actions import earlier
from recall.actions import journal as book
from recall.actions.shipped import shipped
from recall.core.bridge import socket_path
from recall.errors import Refused, Unavailable
from recall.files import make_private_dir, write_atomic
from recall.settings import Settings

MARK = b"recall: bridge between iTerm2 and the recall command."
"""By this our script is known, of whatever version."""

CLICKS = (
    "iTerm2 > Settings > General > Magic: switch on 'Enable Python API'",
    "Scripts > Manage > Install Python Runtime, if it is not there yet",
    "Scripts > AutoLaunch > recall_bridge.py (from then on iTerm2 starts it by itself)",
    "when macOS or iTerm2 asks whether the script may control iTerm2: allow it",
)
"""What nobody can do but the person."""

_PLACEHOLDER = b'SOCKET = ""  # the path, filled in by `recall iterm-install`\n'
_READ = 1 << 20


class Done(NamedTuple):
    """What came of it: where the script stands, whether it is new or another than before, and where an earlier tool's went,
    as (from, to)."""

    path: str
    changed: bool
    set_aside: tuple[tuple[str, str], ...] = ()


def place(home: str) -> str:
    """Where iTerm2 looks for what it starts by itself."""
    return os.path.join(home, "Library", "Application Support", "iTerm2", "Scripts", "AutoLaunch", earlier.OWN_BRIDGE)


def script(settings: Settings) -> bytes:
    """The script with the path of this user's socket in it."""
    line = f"SOCKET = {socket_path(settings.state, os.getuid())!a}\n".encode("ascii")
    text = shipped("iterm2", earlier.OWN_BRIDGE)
    assert text.count(_PLACEHOLDER) == 1
    return text.replace(_PLACEHOLDER, line)


def install(settings: Settings, platform: str, *, force: bool = False) -> Done:
    """Put the script in its place; twice is once. Unavailable where there is no macOS (`platform` as sys.platform), unless
    `force`; Refused where somebody else's file has its name."""
    if platform != "darwin" and not force:
        raise Unavailable(
            "iTerm2 runs on macOS only",
            "tmux, kitty and WezTerm are driven without a bridge: recall ps shows what is open",
        )
    path, wanted = place(settings.home), script(settings)
    there = _read(path)
    aside = [*earlier.bridges(settings)]
    if there is not None and MARK not in there:
        if not earlier.is_bridge(path, settings):
            raise Refused(f"{path} is another script", "move it away, then try again")
        aside.append(path)
    moved = tuple((old, _put_aside(settings, old)) for old in aside)
    changed = there != wanted or bool(moved)
    journal = book.load(settings.state)
    if changed:
        made = [] if os.path.isdir(os.path.dirname(path)) else [os.path.dirname(path)]
        write_atomic(path, wanted)
        if journal is not None:
            journal.folders += [folder for folder in made if folder not in journal.folders]
    if journal is not None:
        journal.moved += [list(pair) for pair in moved]
        journal.files = [file for file in journal.files if file.path != path]
        journal.files.append(book.File(path, "", book.digest(wanted), ours=True))
        book.save(settings.state, journal)
    return Done(path, changed, moved)


def remove(settings: Settings) -> Done:
    """Take the script away, if it is ours. `changed`: there was one."""
    path = place(settings.home)
    with contextlib.suppress(Refused):
        there = _read(path)
        if there is not None and MARK in there:
            os.unlink(path)
            journal = book.load(settings.state)
            if journal is not None:
                journal.files = [file for file in journal.files if file.path != path]
                book.save(settings.state, journal)
            return Done(path, True)
    return Done(path, False)


def ours(settings: Settings) -> str:
    """Where our script stands, whatever the journal says; '' where it does not."""
    path = place(settings.home)
    with contextlib.suppress(Refused, OSError):
        return path if MARK in (_read(path) or b"") else ""
    return ""


def _read(path: str) -> bytes | None:
    """What stands there; None for nothing. Refused for what is no ordinary file."""
    if not os.path.lexists(path):
        return None
    if os.path.islink(path) or not os.path.isfile(path):
        raise Refused(f"{path} is no ordinary file", "move it away, then try again")
    with open(path, "rb") as file:
        return file.read(_READ)


def _put_aside(settings: Settings, path: str) -> str:
    folder = os.path.join(settings.state, "iterm", "set-aside")
    make_private_dir(folder)
    name, number = os.path.join(folder, os.path.basename(path)), 0
    while os.path.lexists(name):
        number += 1
        name = os.path.join(folder, f"{os.path.basename(path)}-{number}")
    os.rename(path, name)
    return name
