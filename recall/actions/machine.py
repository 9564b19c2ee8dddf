"""The machine around recall as an installer sees it: folders by their standards, and programs that are run for it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from typing import NamedTuple

from recall.settings import PROGRAM_PLACES

_USUAL = (*PROGRAM_PLACES, "/bin", "/usr/sbin", "/sbin")

_PASSED_ON = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "LANG", "LC_ALL")
_OF_RECALL = (
    "ARCHIVE",
    "DATA",
    "STATE",
    "CONFIG",
    "CLAUDE_HOMES",
    "CODEX_HOMES",
    "CLAUDE_BIN",
    "LLM",
    "MODEL",
    "MAX_LLM_PER_DAY",
)
"""Variables that change what a sweep does: the timer gets them as they are now."""


class Ran(NamedTuple):
    """How a program ended: its status (127 where there is none of that name) and what it printed."""

    status: int
    out: bytes
    said: bytes = b""


Run = Callable[[list[str], bytes], Ran]
"""Runs a program with an input."""


class Machine(NamedTuple):
    """`platform` as sys.platform; `path` PATH as it is; `variables` what the timer must be told; `share` our own
    folder in the user's data folder; `config_home` for systemd's units."""

    home: str
    platform: str
    uid: int
    path: str
    share: str
    config_home: str
    variables: Mapping[str, str]
    run: Run
    wait: Callable[[float], None]

    @property
    def bin(self) -> str:
        return os.path.join(self.home, ".local", "bin")

    @property
    def full_path(self) -> str:
        """PATH for a program that no shell has prepared: the user's own, then the usual places."""
        usual = (self.home + place[1:] if place.startswith("~") else place for place in _USUAL)
        found = [place for place in self.path.split(":") if os.path.isabs(place) and ":" not in place]
        return ":".join(dict.fromkeys([*found, *usual]))

    def has(self, program: str) -> bool:
        """Is there a program of this name on the user's PATH?"""
        places = (os.path.join(folder, program) for folder in self.path.split(":") if os.path.isabs(folder))
        return any(os.path.isfile(place) and os.access(place, os.X_OK) for place in places)


def of(env: Mapping[str, str], home: str, platform: str) -> Machine:
    """The machine that an environment describes."""
    import time

    def folder(variable: str, default: str) -> str:
        named = env.get(variable, "")
        return named if os.path.isabs(named) else os.path.join(home, default)

    wanted = (*_PASSED_ON, *("RECALL_" + name for name in _OF_RECALL))
    return Machine(
        home=home,
        platform=platform,
        uid=os.getuid(),
        path=env.get("PATH", os.defpath),
        share=os.path.join(folder("XDG_DATA_HOME", ".local/share"), "recall"),
        config_home=folder("XDG_CONFIG_HOME", ".config"),
        variables={name: env[name] for name in wanted if env.get(name)},
        run=run,
        wait=time.sleep,
    )


def run(argv: list[str], given: bytes = b"") -> Ran:
    """Run a program to its end, for a minute at most. Never raises for what the program does."""
    try:
        done = subprocess.run(argv, input=given, capture_output=True, timeout=60, check=False)
    except FileNotFoundError:
        return Ran(127, b"", b"not found")
    except (OSError, subprocess.TimeoutExpired) as problem:
        return Ran(126, b"", str(problem).encode())
    return Ran(done.returncode, done.stdout, done.stderr)
