"""What the hook must know of the settings: `<state>/hook.conf`, lines `key=value`, for it cannot read TOML.

`install` writes all of it, with the folders as they are in its environment. A sweep brings it up to date where the config file
says something new; folders that only the environment of the installer knew stay.
"""

from __future__ import annotations

import os

from recall.actions.walk import homes
from recall.errors import RecallError
from recall.files import write_atomic
from recall.hook import CONF, read_conf
from recall.settings import Settings, load

_FOLDERS = ("archive", "data", "state")


def path(settings: Settings) -> str:
    """Where the file is."""
    return os.path.join(settings.state, CONF)


def write(settings: Settings, *, handoff: bool) -> None:
    """Write it for these settings; `handoff`: may the hook tell a session where it stood?"""
    _write(settings, handoff=handoff)


def refresh(settings: Settings) -> None:
    """Bring it up to date after the config file was changed; does nothing where there is none or nothing can be read."""
    before = read_conf(path(settings))
    if before is None:
        return
    try:
        bare = {"HOME": settings.home, "RECALL_CONFIG": settings.config}
        said = load(bare)
        default = load({"HOME": settings.home, "RECALL_CONFIG": "/dev/null"})
    except RecallError:
        return
    kept = {name: before[name][-1] for name in _FOLDERS if name in before}
    named = {name: getattr(said, name) for name in _FOLDERS if getattr(said, name) != getattr(default, name)}
    claude = _homes(before, "claude") or said.claude_homes
    codex = _homes(before, "codex") or said.codex_homes
    wanted = said._replace(
        **{**kept, **named, "state": settings.state},
        claude_homes=tuple(dict.fromkeys((*claude[:1], *said.claude_homes[1:], *claude[1:]))),
        codex_homes=tuple(dict.fromkeys((*codex[:1], *said.codex_homes[1:], *codex[1:]))),
    )
    _write(wanted, handoff=before.get("handoff", ["1"])[-1] != "0")


def _homes(conf: dict[str, list[str]], client: str) -> tuple[str, ...]:
    lines = (line.partition(" ") for line in conf.get("home", []))
    return tuple(folder for prefix, _, folder in lines if prefix.partition("@")[0] == client)


def _write(settings: Settings, *, handoff: bool) -> None:
    lines = ["# What recall's hook must know; written by `recall install` and `recall sweep`."]
    lines += [f"{name}={getattr(settings, name)}" for name in _FOLDERS]
    lines += [f"home={home.prefix} {home.path}" for home in homes(settings)]
    lines += [
        f"handoff={int(handoff)}",
        f"handoff_days={settings.handoff_days}",
        f"handoff_after_clear={int(settings.handoff_after_clear)}",
        f"startup_digest={int(settings.startup_digest)}",
        f"autoname={int(settings.autoname)}",
    ]
    # A folder with a line end in its name cannot be told; the hook then takes the usual one.
    data = "".join(f"{line}\n" for line in lines if "\n" not in line).encode("utf-8", "surrogateescape")
    try:
        with open(path(settings), "rb") as file:
            if file.read() == data:
                return
    except OSError:
        pass
    write_atomic(path(settings), data)
