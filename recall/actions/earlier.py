"""An earlier tool of the same format: its hooks, its timer, its bridge in iTerm2 and what lies in its queue.

What speaks for one is a name (`session-recall`, `recap`, …) together with a place in a client's home, or a script that names the
folders of the common format. Anything else that has to do with sessions is left alone.
"""

from __future__ import annotations

import os
import plistlib
import re
import shlex
from collections.abc import Iterable
from typing import NamedTuple

from recall.settings import Settings

_NAME = re.compile(
    r"(?:^|[-_.])(?:session[-_]?recaps?|session[-_]?recall|claude[-_]?recall|recall|recaps?|handoffs?)(?:[-_.]|$)", re.I
)
_FOLDER = re.compile(r"^\.?(?:session|sessions|claude)[-_]?(?:recall|recaps?)$", re.I)
_FORMAT = re.compile(rb"session-recaps|claude-transcripts")
_QUEUES = ("queue", "iterm-queue", "bridge-queue", "jobs")
OWN_BRIDGE = "recall_bridge.py"
"""The bridge that recall itself puts into AutoLaunch, should it do so."""
_READ = 1 << 18


class Agent(NamedTuple):
    """A LaunchAgent: its file and its label."""

    path: str
    label: str


def is_earlier(command: str, settings: Settings, own: Iterable[str]) -> bool:
    """Is this hook's command one of an earlier tool? `own` are the programs of ours."""
    if any(program in command for program in own):
        return False
    return any(_script(word, settings) for word in _words(command, settings.home))


def agents(settings: Settings, own: Iterable[str]) -> list[Agent]:
    """LaunchAgents of an earlier tool; `own` are labels of ours."""
    folder = os.path.join(settings.home, "Library", "LaunchAgents")
    found = []
    for path in _files(folder, ".plist"):
        try:
            with open(path, "rb") as file:
                job = plistlib.load(file)
            label = str(job.get("Label", ""))
            words = [str(word) for word in job.get("ProgramArguments", ()) or [job.get("Program", "")]]
        except (OSError, ValueError, AttributeError, TypeError, plistlib.InvalidFileException):
            continue
        except Exception:  # expat's error is no ValueError
            continue
        if label in own:
            continue
        if any(_FOLDER.match(part) for part in label.split(".")) or any(
            _script(word, settings) for text in words for word in _words(text, settings.home)
        ):
            found.append(Agent(path, label))
    return found


def bridges(settings: Settings) -> list[str]:
    """Scripts in iTerm2's AutoLaunch that serve an earlier tool."""
    folder = os.path.join(settings.home, "Library", "Application Support", "iTerm2", "Scripts", "AutoLaunch")
    paths = [path for path in _files(folder, ".py") if os.path.basename(path) != OWN_BRIDGE]
    return [path for path in paths if _NAME.search(os.path.basename(path)) and _names_format(path, settings)]


def is_bridge(path: str, settings: Settings) -> bool:
    """Does the script that stands under the name of our own bridge serve an earlier tool?"""
    return _names_format(path, settings)


def queues(settings: Settings) -> list[str]:
    """Folders with jobs that an earlier tool left behind."""
    claude = os.path.join(settings.home, ".claude")
    above = dict.fromkeys(
        (settings.data, settings.state, *(os.path.join(claude, name) for name in ("session-recaps", "session-recall")))
    )
    places = [os.path.join(folder, name) for folder in above for name in _QUEUES]
    return [place for place in places if os.path.isdir(place) and not os.path.islink(place) and os.listdir(place)]


def _words(command: str, home: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    inner = [part for word in words if " " in word for part in word.split()]  # sh -c '…'
    out = []
    for word in (*words, *inner):
        for name in ("~", "$HOME", "${HOME}"):
            if word.startswith(name + "/"):
                word = home + word[len(name) :]
        out.append(word)
    return out


def _script(word: str, settings: Settings) -> bool:
    if "/" not in word or not _NAME.search(os.path.basename(word)):
        return False
    parts = os.path.normpath(word).split("/")[:-1]
    if any(_FOLDER.match(part) for part in parts):
        return True
    return _names_format(word, settings)


def _names_format(path: str, settings: Settings) -> bool:
    """Does a script speak of the folders of the common format? One that is gone is judged by where it stood."""
    try:
        with open(path, "rb") as file:
            return bool(_FORMAT.search(file.read(_READ)))
    except OSError:
        homes = (*settings.claude_homes, *settings.codex_homes, os.path.join(settings.home, ".claude"))
        return not os.path.exists(path) and any(path.startswith(home + "/") for home in homes)


def _files(folder: str, ending: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if name.endswith(ending)]
