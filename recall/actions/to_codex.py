"""A task handed over to Codex: a brief in the task's folder, and a window with Codex that has read it.

The brief is a file, since Codex reads files and knows nothing of sessions that are not its own. An earlier brief is kept;
instructions for agents are written only where there are none.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from recall.actions.gist import read_gist
from recall.actions.handoff import kept, write_handoff
from recall.actions.reopen import Opened, Opening, program, run
from recall.actions.show import own_file
from recall.clients import places
from recall.core import shell
from recall.core.clean import clean
from recall.core.handoff import brief
from recall.core.model import Extract, Handoff, Open, Pane, Plan, Session
from recall.core.plain import one_line
from recall.core.session import project_of
from recall.core.shorten import shorten
from recall.errors import NothingFound, RecallError, Refused, Unavailable, Usage
from recall.files import Lock, write_atomic
from recall.settings import Settings
from recall.store import Store
from recall.terminals import DRIVEN, driver
from recall.terminals.base import Terminal

BRIEF = "CODEX_HANDOFF.md"
AGENTS = "AGENTS.md"
"""What Codex reads by itself at the start of a session."""

INSTRUCTIONS = f"""\
# Notes for agents

If there is a `{BRIEF}` in this folder, read it first: it says what is to be done and where the work stood. Check it
against the files before you go on.
"""

PROMPT = f"Read {BRIEF} in this folder, check what it says against the files, and go on with the first step under Next."

LARGEST = 1 << 20
"""Bytes of a brief that somebody wrote."""

_EVERY = 0.25  # seconds between two looks for the new session
_SCREEN = 12  # lines of a window that are told when nothing began in it


class Written(NamedTuple):
    """The files that were written: `backup` holds the brief that was there ('' for none), `agents` is '' where there were
    instructions already. `changed`: the brief is another one than before."""

    brief: str
    backup: str
    agents: str
    changed: bool


class Spawned(NamedTuple):
    """Codex in a window, and the session that began in it."""

    opened: Opened
    session: str


# -- the brief -------------------------------------------------------------------------------------------------------


def newest_in(folder: str, rows: Iterable[Session], removed: Callable[[str], bool]) -> Session | None:
    """The session that was last at work in the folder or below it; None for none. `removed`: is the id out of recall?"""
    names = {os.path.abspath(folder), os.path.realpath(folder)}
    found = [
        row
        for row in rows
        if not row.chain_to
        and not row.hidden
        and row.messages
        and any(row.cwd == name or row.cwd.startswith(name.rstrip("/") + "/") for name in names)
        and not removed(row.id)
    ]
    return max(found, key=lambda row: row.updated, default=None)


def brief_from(
    row: Session | None,
    task: str,
    folder: str,
    store: Store | None,
    settings: Settings,
    *,
    now: float,
    client: str = "codex",
) -> str:
    """The brief of a task (a person's own words, '' for the session's) in a folder, with what the session knows (None: there
    is none, and then no `store` is needed). By code alone where no model has written a handoff. Redacted.

    Raises NothingFound where there is neither a task nor anything that the session could hand on.
    """
    handoff, extract = None, Extract()
    if row is not None and store is not None:
        handoff = kept(settings, row.id)
        with contextlib.suppress(NothingFound, OSError):  # the transcript is gone, or cannot be read: the rest will do
            handoff = write_handoff(row, store, settings, None, now=now).handoff or handoff
            path, file = own_file(row, store, settings)
            extract = read_gist(row, path, file.client, settings).extract
    if handoff is None and not task.strip():
        raise NothingFound("there is nothing to hand on", "--task TEXT or --brief FILE says what is to be done")
    handoff = handoff or Handoff(row.id if row else "", "", folder, row.updated if row else 0.0, "", "")
    return clean(brief(handoff._replace(project=folder), extract, client, task=clean(task), complete=True))


def brief_of(text: str) -> str:
    """A brief that somebody wrote, word for word but for secrets and terminal escapes. Usage for an empty one."""
    if not text.strip():
        raise Usage("the brief is empty", "it says task, done, in flight, next, gotchas and paths")
    text = clean(text)
    return text if text.endswith("\n") else text + "\n"


# -- the files -------------------------------------------------------------------------------------------------------


def write(folder: str, text: str, settings: Settings) -> Written:
    """Write the brief into the folder, for its user only (it tells of private sessions), and instructions for agents where
    there are none. Refused where something else than a file has the brief's name."""
    path, agents = os.path.join(folder, BRIEF), os.path.join(folder, AGENTS)
    data = text.encode("utf-8", "replace")
    with Lock(os.path.join(settings.state, "to-codex.lock")):
        if os.path.lexists(path) and (os.path.islink(path) or not os.path.isfile(path)):
            raise Refused(f"{path} is no ordinary file: it could be anywhere", "move it away, then try again")
        before = _read(path)
        backup = ""
        if before is not None and before != data:
            backup = _keep(path, before)
        if before != data:
            write_atomic(path, data)
        made = _create(agents, INSTRUCTIONS.encode("utf-8"))
    return Written(path, backup, agents if made else "", before != data)


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _keep(path: str, data: bytes) -> str:
    """Keep the brief that is there as `.bak`; one of that name goes to the first of `.bak1`, `.bak2`, ... that is free."""
    backup = path + ".bak"
    if os.path.lexists(backup):
        number = 1
        while os.path.lexists(f"{backup}{number}"):
            number += 1
        os.rename(backup, f"{backup}{number}")
    if not _create(backup, data):
        raise Refused(f"somebody else writes {backup} just now", "try again")
    return backup


def _create(path: str, data: bytes) -> bool:
    """Make a new file; False where there is one, also a link to nowhere."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return False
    with open(fd, "wb") as file:
        os.fchmod(fd, 0o600)
        file.write(data)
        file.flush()
        os.fsync(fd)
    return True


# -- the window ------------------------------------------------------------------------------------------------------


def plan(folder: str, settings: Settings) -> Plan:
    """Codex in the folder, with the brief as its first prompt."""
    home = settings.codex_homes[0]
    default = os.path.join(settings.home, ".codex")
    variables = ((places("codex").home_variable, home),) if home != default else ()
    return Plan(("codex", PROMPT), folder, shorten(f"codex · {project_of(folder)}", 60), variables)


def line(folder: str, settings: Settings) -> str:
    """The same to paste into a shell."""
    return shell.line(plan(folder, settings))


def spawn(
    folder: str,
    terminal: Terminal,
    where: str,
    env: Mapping[str, str],
    settings: Settings,
    *,
    live: Callable[[], Iterable[Open]],
    clock: Callable[[], float],
    pause: Callable[[float], None],
    patience: float,
) -> Spawned:
    """Open Codex in a new window, and see that a session begins in that folder within `patience` seconds.

    A Codex session begins with its first prompt, so one that began has it. `live` tells what is open now, `clock` (seconds)
    and `pause` are time. Raises Unavailable where Codex or the terminal is not to be had, or nothing began: with what the
    window shows, where the terminal lets itself be read.
    """
    program("codex", env.get("PATH", ""), settings)
    known = {one.session for one in live()}
    panes = _panes(terminal, env)
    opened = run(Opening(Session(0, "codex", ""), plan(folder, settings), ""), terminal, where, env, settings)
    ends = clock() + patience
    while True:
        found = [one for one in live() if one.client == "codex" and one.session not in known]
        for one in found:
            if one.cwd and os.path.realpath(one.cwd) == os.path.realpath(folder):
                return Spawned(opened, one.session)
        if clock() >= ends:
            raise _not_begun(folder, opened, found, _shown(terminal, panes, env), patience)
        pause(_EVERY)


def _not_begun(folder: str, opened: Opened, found: list[Open], shown: str, patience: float) -> Unavailable:
    message = (
        f"a window was opened in {opened.terminal}, but no Codex session began in {folder} within {patience:g} seconds"
    )
    if found:
        message += f"; one began in {found[0].cwd or 'a folder that is not known'}"
    if shown:
        message += "; the window shows:\n" + "\n".join(f"  {text}" for text in shown.splitlines())
    to_see = f"{opened.then} shows it; " if opened.then else ""
    return Unavailable(
        message,
        f"look at the window: Codex may ask for a login, a review of hooks, or whether it trusts the folder; {to_see}the brief stays",
    )


def _module(terminal: Terminal) -> str:
    """The back-end's name as one that can be read; '' for one that cannot."""
    name = getattr(terminal, "__name__", "").rpartition(".")[2]
    return name if name in DRIVEN else ""


def _panes(terminal: Terminal, env: Mapping[str, str]) -> dict[str, Pane]:
    module = _module(terminal)
    if module:
        with contextlib.suppress(RecallError, OSError):
            return {pane.id: pane for pane in driver(module).panes(env)}
    return {}


def _shown(terminal: Terminal, before: Mapping[str, Pane], env: Mapping[str, str]) -> str:
    """The last lines of the one new window; '' where that is not known."""
    new = [pane for name, pane in _panes(terminal, env).items() if name not in before]
    if len(new) != 1:
        return ""
    with contextlib.suppress(RecallError, OSError):
        text = clean(driver(_module(terminal)).read(new[0], 200, env))
        lines = [shorten(one_line(row), 160) for row in text.splitlines() if row.strip()]
        return "\n".join(lines[-_SCREEN:])
    return ""
