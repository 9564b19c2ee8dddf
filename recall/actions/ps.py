"""The sessions that are open now, and where: what a person calls them by, and how each can be reached.

What the clients tell (`recall.live`) is joined with what the terminals tell (`recall.terminals`) by the terminal device, and
where a terminal does not know it, by the process that it started. Never by a title or a program's name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from recall.core.address import address_of
from recall.core.card import has_row, project_name, short_ids, task_of
from recall.core.clean import clean
from recall.core.model import Open, Pane, Session
from recall.core.plain import one_line
from recall.core.session import project_of
from recall.errors import NothingFound, Unavailable, Usage
from recall.live import claude, open_sessions, process
from recall.settings import Settings
from recall.store import Store
from recall.terminals import DRIVEN, driver
from recall.terminals.base import DEADLINE, Driver

SHORTEST = 4
"""Characters of a session id that name it here: what is typed goes into one, so a guess is not enough."""

_S = re.compile(r"s([0-9]{1,9})")


class Listed(NamedTuple):
    """An open session. `address`: of its terminal, '' where it has none that is its own; `pane`: that terminal, where it can be
    driven; `short`: its id as shown; `title` and `project` for the eye, redacted and plain, on one line; `reach`: what brings it
    before a person's eyes, '' where it is there already."""

    open: Open
    address: str
    pane: Pane | None
    short: str
    project: str
    title: str
    reach: str = ""


def _silent(_: str) -> None:
    return


def listed(
    settings: Settings,
    store: Store | None,
    env: Mapping[str, str],
    *,
    drivers: Sequence[Driver] | None = None,
    removed: Callable[[str], bool] = lambda _: False,
    trouble: Callable[[str], None] = _silent,
) -> list[Listed]:
    """All open sessions: those with a terminal first, then those in the background, oldest first.

    `env` is what programs of terminals and of the client are started with. What does not answer (a terminal, a client whose
    registry cannot be read) is told to `trouble` and left out; all together it takes a terminal's deadline.
    """
    drivers = [driver(name) for name in DRIVEN] if drivers is None else drivers
    with ThreadPoolExecutor(max_workers=len(drivers) + 1) as pool:
        asked = [pool.submit(_panes, one, env) for one in drivers]
        hidden = [home for home in settings.claude_homes if claude.unreadable(home)]
        told = [pool.submit(_by_agents, settings, home, env) for home in hidden]
        opens = list(open_sessions(settings))
        panes: list[Pane] = []
        for job in asked:
            found, problem = job.result()
            panes += found
            if problem:
                trouble(problem)
        for more in told:
            sessions, problem = more.result()
            opens += sessions
            if problem:
                trouble(problem)
    return _joined(opens, panes, store, removed)


def _panes(one: Driver, env: Mapping[str, str]) -> tuple[list[Pane], str]:
    try:
        return one.panes(env), ""
    except Unavailable as problem:
        return [], problem.message


def _by_agents(settings: Settings, home: str, env: Mapping[str, str]) -> tuple[list[Open], str]:
    """What the client itself tells of a home whose registry we cannot read."""
    import subprocess

    from recall.core.window import scrubbed
    from recall.llm.claude_cli import program

    found = program(settings)
    if not found:
        return [], f"{home}/sessions cannot be read, and there is no claude to ask"
    around = dict(scrubbed(env))
    if home != os.path.join(settings.home, ".claude"):
        around["CLAUDE_CONFIG_DIR"] = home
    try:
        done = subprocess.run(
            [found, "agents", "--json"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=around,
            timeout=DEADLINE,
            check=True,
        )
        return claude.of_agents(done.stdout.decode("utf-8", "replace")), ""
    except (OSError, ValueError, RecursionError, subprocess.SubprocessError):
        return [], f"{home}/sessions cannot be read, and `claude agents --json` does not tell what is open"


# -- joining ---------------------------------------------------------------------------------------------------------


def _joined(
    opens: Sequence[Open],
    panes: Sequence[Pane],
    store: Store | None,
    removed: Callable[[str], bool],
) -> list[Listed]:
    front = _in_front(opens)
    known = store.ids() if store else []
    shorts = short_ids({*known, *((one.client, one.session) for one in opens)})
    out = []
    for one, shown in zip(opens, front, strict=True):
        row = None if store is None or removed(one.session) else _row(store, one)
        own = shown and not one.background
        out.append(
            Listed(
                open=one,
                address=address_of(one.tty) if own else "",
                pane=_pane_of(one, panes) if own else None,
                short=shorts[one.session],
                project=_project(one, row),
                title=_title(one, row),
                reach=_reach(one, own),
            )
        )
    out.sort(key=lambda row: (row.open.background, not row.address, row.open.started, row.open.session))
    return out


def _in_front(opens: Sequence[Open]) -> list[bool]:
    """Whether each is what its terminal shows. A Codex that went on with /new or /clear has its earlier sessions open still:
    only what it opened last can be typed into."""
    newest: dict[int, float] = {}
    for one in opens:
        if one.client == "codex" and one.pid:
            newest[one.pid] = max(newest.get(one.pid, 0.0), one.started)
    return [one.client != "codex" or not one.pid or one.started >= newest[one.pid] for one in opens]


def _pane_of(one: Open, panes: Sequence[Pane]) -> Pane | None:
    if not one.tty and not one.pid:
        return None
    by_tty = [pane for pane in panes if one.tty and pane.tty.removeprefix("/dev/") == one.tty]
    if by_tty:
        return by_tty[0]
    unknown = [pane for pane in panes if not pane.tty and pane.pid > 0]
    if not unknown or one.pid <= 0:
        return None
    above = process.ancestors(one.pid)  # the nearest wins: a terminal may run inside of another one's pane
    return next((pane for pid in above for pane in unknown if pane.pid == pid), None)


def _row(store: Store, one: Open) -> Session | None:
    return next(
        (row for row in store.sessions_like(one.session, 2) if (row.id, row.client) == (one.session, one.client)), None
    )


def _project(one: Open, row: Session | None) -> str:
    if row is not None and row.project:
        return project_name(row)
    return "_".join(clean(project_of(one.cwd)).split()) or "-"


def _title(one: Open, row: Session | None) -> str:
    """The name that the user gave, else the client's, else what the session is about."""
    title = one.name
    if row is not None:
        given = row.title if row.title_by == "user" else ""
        title = given or one.name or row.title or (task_of(row) if has_row(row) else "")
    return one_line(clean(title))


def _reach(one: Open, own: bool) -> str:
    if own:
        return ""
    if one.client == "claude":
        return f"claude attach {one.session[:8]}"
    if not one.background:
        return f"/resume in {address_of(one.tty) or 'its window'}"
    return f"codex resume {one.session}" if not one.pid or "app-server" in process.argv(one.pid) else ""


# -- addresses -------------------------------------------------------------------------------------------------------


def find_target(address: str, rows: Collection[Listed]) -> Listed:
    """The one open session that an address means: of its terminal (`s034`, `pts/34`), a tmux pane (`%3`), or at least four
    characters from the beginning of its id. Raises NothingFound, or Usage where it means several or cannot mean one."""
    typed = address.strip()
    if typed in ("last", ".", ""):
        raise Usage(f"'{typed}' names no open session for sure", "recall ps shows addresses and ids")
    found = [row for row in rows if row.address and row.address == _canonical(typed)]
    found = found or [row for row in rows if row.pane and row.pane.terminal == "tmux" and row.pane.id == typed]
    if not found:
        found = [row for row in rows if row.open.session.startswith(typed)]
        if found and len(typed) < SHORTEST and all(row.open.session != typed for row in found):
            raise Usage(f"'{typed}' is too short to name a session", f"type {SHORTEST} characters of its id at least")
    if not found:
        raise NothingFound(f"no open session is called {one_line(clean(typed))[:80]}", "recall ps shows what is open")
    if len(found) > 1:
        lines = "\n".join(f"  {line(row)}" for row in found)
        raise Usage(f"{typed} could be {len(found)} sessions:\n{lines}", "use another address, or more of the id")
    return found[0]


def _canonical(typed: str) -> str:
    match = _S.fullmatch(typed)
    return f"s{int(match[1]):03}" if match else address_of(typed)


def state_of(row: Listed) -> str:
    """`busy`, `waiting: permission prompt`, `?`."""
    if row.open.waiting_for:
        return f"{row.open.state or 'waiting'}: {one_line(clean(row.open.waiting_for))[:60]}"
    return row.open.state or "?"


def line(row: Listed) -> str:
    """`<address> <client> <id8> <project> [<state>] <title>`, and how to reach what has no terminal of its own."""
    parts = [row.address or "-", row.open.client, row.short, row.project, f"[{state_of(row)}]", row.title]
    if row.open.background or row.reach:
        told = "background" if row.open.background else "behind"
        parts.append(f"({told}: {row.reach})" if row.reach else f"({told})")
    return " ".join(part for part in parts if part)
