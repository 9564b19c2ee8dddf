"""What the keys do to a session, in a thread of its own: one thing after the other, and each with an index of its own.

Everything here is a call of `recall.actions`; what they refuse goes back as the error that they raised.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from queue import SimpleQueue

from recall.core.model import Open, Session
from recall.errors import NothingFound, RecallError, Refused, Unavailable, Usage
from recall.shelf import Shelf
from recall.store import Store, open_store
from recall.tui.search import Parts

Say = Callable[[str], None]


class Hands:
    """A thread that does one thing after the other. `failed` and `bug` are called in it."""

    def __init__(
        self,
        explain: Callable[[Exception], RecallError | None],
        failed: Callable[[RecallError], None],
        bug: Callable[[Exception], None],
    ) -> None:
        self._explain, self._failed, self._bug = explain, failed, bug
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._busy = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        return self._busy.is_set()

    def do(self, job: Callable[[], None]) -> None:
        self._busy.set()
        self._jobs.put(job)

    def stop(self) -> None:
        self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception as problem:
                known = self._explain(problem)
                if known is None:
                    self._bug(problem)
                else:
                    self._failed(known)
            finally:
                self._busy.clear()


def _fresh(store: Store, row: Session) -> Session:
    """The session as it is now, the newest of its chain; it may have gone since the list was made."""
    from recall.actions.cmd import newest_of

    found = [one for one in store.sessions_like(row.id, 2) if one.id == row.id and one.client == row.client]
    if not found:
        raise NothingFound(f"session {row.id} is not in the index any more", "")
    return newest_of(found[0], store)


def other_folder(row: Session) -> str:
    """The nearest folder that is left, where the session's own is gone; '' where it is there, or nothing is left."""
    from recall.actions.folders import offers

    if not row.cwd or os.path.isdir(row.cwd):
        return ""
    return next((one.path for one in offers(row.cwd)), "")


def open_there(
    parts: Parts, row: Session, where: str, say: Say, *, force: bool = False, folder: str = "", fast: bool = False
) -> str:
    """Open a session in a window or tab; what was opened, as one line. Raises what `reopen` does."""
    from recall.actions.reopen import reopen
    from recall.terminals.choose import choose

    terminal = choose(parts.settings.terminal, parts.env)
    if terminal is None:
        raise Unavailable("no terminal to open a window in", "^O opens it here, ^Y copies the command")
    if where == "window" and parts.settings.tab:
        where = "tab"
    with open_store(parts.settings.index) as store:
        opened = reopen(
            _fresh(store, row),
            store,
            parts.settings,
            terminal,
            where,
            parts.env,
            live=lambda: _live(parts),
            clock=time.time,
            say=say,
            folder=folder,
            force=force,
            fast=fast,
        )
    return f"{opened}\nto see it: {opened.then}" if opened.then else str(opened)


def may_open(parts: Parts, row: Session, *, force: bool = False, folder: str = "") -> Session:
    """The session that is opened here; raises what speaks against it."""
    from recall.actions.reopen import prepare, program

    with open_store(parts.settings.index) as store:
        opening = prepare(_fresh(store, row), store, parts.settings, live=_live(parts), folder=folder, force=force)
    program(opening.plan.argv[0], parts.env.get("PATH", ""), parts.settings)
    return opening.session


def _live(parts: Parts) -> dict[str, Open]:
    from recall.actions.reopen import by_session
    from recall.live import open_sessions

    return by_session(open_sessions(parts.settings))


def copy(parts: Parts, row: Session) -> tuple[str, list[str]]:
    """(the line that resumes a session, names of the programs that took it to a clipboard)."""
    from recall.actions.cmd import resume
    from recall.core import shell
    from recall.tui import clipboard

    with open_store(parts.settings.index) as store:
        line = shell.line(resume(_fresh(store, row), store, parts.settings).plan)
    return line, clipboard.give(line, parts.env)


def rename(parts: Parts, row: Session, title: str) -> str:
    """Give a name, or take it back (''); a word on what was done."""
    from recall.actions.naming import rename

    shelf = Shelf(parts.settings.data, parts.settings.state)
    with open_store(parts.settings.index) as store:
        rename(parts.settings, store, shelf, _fresh(store, row), title)
    return "named" if title.strip() else "the name is taken back"


def tag(parts: Parts, row: Session, words: Sequence[str]) -> str:
    """Add and take away tags; a word on what they are now."""
    from recall.actions.naming import changes_of, tag
    from recall.core.card import tags_of

    changes = changes_of(words)
    if not changes:
        raise Usage("no tag was typed", "export adds a tag, -export takes it away")
    shelf = Shelf(parts.settings.data, parts.settings.state)
    with open_store(parts.settings.index) as store:
        row = tag(parts.settings, store, shelf, _fresh(store, row), changes, now=parts.now().timestamp())
    return "tags: " + (" ".join(f"#{one}" for one in tags_of(row)) or "none")


def refuse_removal(parts: Parts, row: Session) -> None:
    """Raises Refused for a session that is open."""
    from recall.actions.remove import family, refuse_live
    from recall.live import live_ids

    with open_store(parts.settings.index) as store:
        refuse_live(family(store, _fresh(store, row)), live_ids(parts.settings))


def remove(parts: Parts, row: Session) -> str:
    """Take a session out of recall; a word on what stays."""
    from recall.actions.remove import family, refuse_live, remove
    from recall.actions.turn import turn
    from recall.live import live_ids

    shelf = Shelf(parts.settings.data, parts.settings.state)
    with open_store(parts.settings.index) as store:
        row = _fresh(store, row)
        refuse_live(family(store, row), live_ids(parts.settings))
        with turn(parts.settings):
            done = remove(parts.settings, store, shelf, row)
    stays = f"; the client's own file stays: {tilde(done.left[0], parts.settings.home)}" if done.left else ""
    return f"removed{stays}"


def tilde(path: str, home: str) -> str:
    """The path, short where it is below the home folder."""
    return "~" + path[len(home) :] if path == home or path.startswith(home + "/") else path


def peek(parts: Parts, row: Session) -> list[str]:
    """What the terminal of a live session shows now."""
    if parts.peek is None:
        raise Refused("there is no way to look into another terminal", f"recall peek {row.id}")
    return parts.peek(row)
