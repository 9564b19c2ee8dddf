"""Opening a session in a terminal: when it may be, what it needs first, and that only one window opens.

`prepare` looks and refuses; `reopen` does all of it. A client has no protection of its own against two windows on one
session (Claude Code) or refuses the second one (Codex), so what is open is never opened again unless forced.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from recall.actions.cmd import any_source, home_of, missing_base, newest_of, resume
from recall.actions.folders import offers
from recall.clients import places
from recall.core import shell
from recall.core.address import address_of
from recall.core.model import Open, Plan, Session
from recall.core.plain import one_line
from recall.core.window import script, window
from recall.errors import RecallError, Refused, Unavailable, Usage
from recall.files import Lock, make_private_dir, naming, read_file, write_atomic
from recall.settings import PROGRAM_PLACES, Settings
from recall.store import Store
from recall.terminals.base import TAB, WINDOW, Terminal, size
from recall.terminals.run import Unanswered, launch

STARTING = 8.0
"""Seconds that a client may take until it tells that a session is open in it."""

BIG_FILE = 50 << 20
BIG_CONTEXT = 150_000
"""Bytes of a transcript and tokens of its context from which a person is warned: it is slow to load, and its first
request alone costs as much as a working day of short ones."""

_TAIL = 4 << 20  # bytes from the end of a transcript in which the note of its last request is looked for

Live = Callable[[], Mapping[str, Open]]
"""What is open now, by session id."""


class Opening(NamedTuple):
    """A session that may be opened: the plan as `cmd` prints it, the client's transcript, and what a person should know
    first."""

    session: Session
    plan: Plan
    transcript: str
    warnings: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """To paste into a shell."""
        return shell.line(self.plan)


class Opened(NamedTuple):
    """What was opened: in which terminal, `where` a window or tab, and the terminal's own name for it, '' for none.
    `then`: what has to be typed to see it, '' where it shows itself."""

    session: Session
    terminal: str
    where: str
    id: str
    line: str
    then: str = ""

    def __str__(self) -> str:
        inside = ", ".join(filter(None, (self.where, self.id)))
        return f"opened {self.session.id} in {self.terminal} ({inside}): {self.line}"


def reopen(
    row: Session,
    store: Store,
    settings: Settings,
    terminal: Terminal,
    where: str,
    env: Mapping[str, str],
    *,
    live: Live,
    clock: Callable[[], float],
    say: Callable[[str], None],
    prompt: str = "",
    folder: str = "",
    force: bool = False,
    fast: bool = False,
) -> Opened:
    """Open a session in a new window or tab. `live` is asked again right before; `say` is told what is waited for.

    Raises Refused for a session that is open (unless `force`), that another recall opens just now, whose folder or
    transcript is gone; Unavailable where folder, client or terminal cannot be had.
    """
    row = newest_of(row, store)
    with turn_to_open(settings, row.id, clock) as turn:
        opening = prepare(row, store, settings, live=live(), prompt=prompt, folder=folder, force=force)
        if not force:
            refuse_starting(opening, turn.before, clock())
        for warning in opening.warnings:
            say(warning)
        program(opening.plan.argv[0], env.get("PATH", ""), settings)
        if not fast and handoff_first(opening.session, store, settings, clock, say) and not force:
            refuse_open(row, live())
        with turn.opening():
            return run(opening, terminal, where, env, settings)


def prepare(
    row: Session,
    store: Store,
    settings: Settings,
    *,
    live: Mapping[str, Open],
    prompt: str = "",
    folder: str = "",
    force: bool = False,
) -> Opening:
    """Whether and how a session can be opened; nothing is done. `live`: what is open now. See `reopen` for what it raises."""
    row = newest_of(row, store)
    warnings = []
    if row.id in live:
        if not force:
            refuse_open(row, live)
        warnings.append(f"{_where(live[row.id])}; two clients on one session lose turns")
    if folder:
        folder = os.path.abspath(folder)
        if not os.path.isdir(folder):
            raise Usage(f"there is no folder {folder}", "--in takes one that exists")
    found = resume(row, store, settings, prompt=prompt, folder=folder)
    if found.no_transcript:
        raise _no_transcript(row, store, settings)
    if found.no_folder:
        raise _no_folder(row)
    files = store.files(row.no)
    transcript = any_source(row, files, settings)
    base = missing_base(row, transcript, home_of(row, files, settings))
    if base:
        raise Refused(
            f"session {row.id} is a fork and builds upon session {base}, of which {row.client} has no transcript any more",
            f"recall restore {base}",
        )
    if os.sep + "archived_sessions" + os.sep in transcript:
        warnings.append("codex has it in its own archive, and asks whether to take it back")
    warnings.append(weight(row, transcript))
    return Opening(row, found.plan, transcript, tuple(filter(None, warnings)))


# -- refusals --------------------------------------------------------------------------------------------------------


def by_session(found: Iterable[Open]) -> dict[str, Open]:
    """What is open, by session; of two clients on one session the one that has a terminal."""
    out: dict[str, Open] = {}
    for one in found:
        if one.session not in out or (out[one.session].background and not one.background):
            out[one.session] = one
    return out


def refuse_open(row: Session, live: Mapping[str, Open]) -> None:
    """Raises Refused when the session is open."""
    found = live.get(row.id)
    if found is None:
        return
    if found.background and row.client == "claude":
        hint = f"claude attach {row.id[:8]} shows it"
    elif found.background:
        hint = f"codex resume {row.id} connects to it; recall send types into it"
    else:
        hint = f"go there, or: recall peek {row.id[:13]}; --force opens it twice, which loses turns"
    raise Refused(f"session {row.id} is {_where(found)}", hint)


def _where(found: Open) -> str:
    """`open in s034 (pid 4711, idle)`"""
    place = "in the background" if found.background else f"in {address_of(found.tty)}" if found.tty else "now"
    facts = [f"pid {found.pid}" if found.pid else "", found.state]
    told = ", ".join(filter(None, facts))
    return f"open {place}" + (f" ({told})" if told else "")


def _no_folder(row: Session) -> Refused:
    left = offers(row.cwd)
    lines = [f"the folder of session {row.id} is gone: {shell.folder(row.cwd)}"]
    lines += [f"  {shell.folder(one.path)}  {one.what}" for one in left]
    chosen = shell.folder(left[0].path) if left else "DIR"
    return Refused("\n".join(lines), f"recall open {row.id} --in {chosen}")


def _no_transcript(row: Session, store: Store, settings: Settings) -> Refused:
    """What is left of a session that its client would not find."""
    from recall.actions.cards import card_of
    from recall.actions.restore import survivors

    left = survivors(row, store, settings)
    lines = [f"{row.client} has no transcript of session {row.id} any more and would not find it"]
    lines += [f"  {line}" for line in left.lines]
    card = card_of(store, row)
    if card is not None and card.artifacts:
        lines.append("  artifacts: " + ", ".join(_short(name) for name in card.artifacts))
    if left.restorable:
        return Refused("\n".join(lines), f"recall restore {row.id}  puts it back, then it can be opened")
    return Refused("\n".join(lines), left.hint or f"recall show {row.id} tells what is known of it")


def _short(text: str) -> str:
    from recall.core.clean import clean
    from recall.core.shorten import shorten

    return shorten(one_line(clean(text)), 200)


# -- what comes first ------------------------------------------------------------------------------------------------


def weight(row: Session, path: str) -> str:
    """A warning where the session is very large; '' where it is not. `path` is its transcript."""
    from recall.clients.usage import context_tokens

    try:
        with open(path, "rb") as file:
            length = os.fstat(file.fileno()).st_size
            file.seek(max(0, length - _TAIL))
            lines = file.read(_TAIL).split(b"\n")
    except OSError:
        return ""
    tokens = context_tokens(reversed(lines), row.client)
    told = []
    if length > BIG_FILE:
        told.append(f"a transcript of {length >> 20} MB")
    if tokens > BIG_CONTEXT:
        told.append(f"a context of about {tokens // 1000},000 tokens, which the first request sends again")
    return f"session {row.id} has {' and '.join(told)}" if told else ""


def handoff_first(
    row: Session, store: Store, settings: Settings, clock: Callable[[], float], say: Callable[[str], None]
) -> bool:
    """Write a handoff of a session that has none as new as its last event; was one asked for?

    By the model where one is set up and the session is worth it, else by code. Whatever goes wrong is told and
    stops nothing: the session opens without.
    """
    from recall.actions.asking import Asking
    from recall.actions.handoff import expired, keep_handoff, kept, write_handoff

    now = clock()
    have = kept(settings, row.id)
    if have is not None and have.updated >= row.updated and not expired(have, settings, now):
        return False
    try:
        asking: Asking | None = Asking(settings, clock, patient=True, retries=0, timeout=_PATIENCE)
        if asking is not None and (row.events < settings.min_events or asking.barred(row.id)):
            asking = None
        if asking is not None:
            say(f"asking {settings.model} where it stood, up to {_PATIENCE:.0f} seconds (--fast leaves that out)")
        made = write_handoff(row, store, settings, asking, now=now)
        keep_handoff(made, settings)
        if asking is not None and made.asked and not made.by_model:
            say(f"the model gave no handoff ({made.why}); opening it with what code can tell")
    except (RecallError, OSError) as problem:
        say(f"no handoff: {problem}")
    return True


_PATIENCE = 60.0
"""Seconds that a person waits for a model before a window opens."""


# -- one window ------------------------------------------------------------------------------------------------------


class Turn(NamedTuple):
    """The right to open one session: when it was opened last (0.0: not known); inside of `opening` it is opened now.

    That is noted first: who is interrupted there cannot know whether a window opens. It is taken back where it is sure
    that none does.
    """

    before: float
    opening: Callable[[], contextlib.AbstractContextManager[None]]


@contextlib.contextmanager
def turn_to_open(settings: Settings, session: str, clock: Callable[[], float]) -> Iterator[Turn]:
    """One recall opens a session at a time; Refused while another one is at it."""
    folder = os.path.join(settings.state, "opening")
    make_private_dir(folder)
    path = os.path.join(folder, session)
    with Lock(path, wait=False) as held:
        if held is None:
            raise Refused(f"another recall is opening session {session}", "wait for it")

        before = _noted(path)

        @contextlib.contextmanager
        def opening() -> Iterator[None]:
            _note(path, clock())
            try:
                yield
            except Unanswered:
                raise
            except (RecallError, OSError):
                _note(path, before)
                raise

        yield Turn(before, opening)


def refuse_starting(opening: Opening, before: float, now: float) -> None:
    """Raises Refused where the session was opened a moment ago and its client has not come so far as to tell that it is
    open. One that has written to its transcript since then had told, and was closed again."""
    since = now - before
    if not 0 <= since < STARTING:
        return
    with contextlib.suppress(OSError):
        if os.stat(opening.transcript).st_mtime > before:
            return
    raise Refused(
        f"session {opening.session.id} was opened {since:.0f} seconds ago and may still be starting",
        f"look for its window, or try again in {STARTING - since:.0f} seconds; --force opens it once more",
    )


def _note(path: str, moment: float) -> None:
    with naming(path), open(path, "w", encoding="ascii") as file:
        file.write(f"{moment:.3f}\n")


def _noted(path: str) -> float:
    try:
        return float(read_file(path, 64))
    except (OSError, ValueError):
        return 0.0


# -- the window ------------------------------------------------------------------------------------------------------


def run(opening: Opening, terminal: Terminal, where: str, env: Mapping[str, str], settings: Settings) -> Opened:
    """Open the window, without any further look. Unavailable where the client or the terminal is not to be had."""
    path = env.get("PATH", "")
    plan = whole_plan(opening, path, settings)
    argv = window(plan, path)
    kept = ""
    if size(argv) > terminal.limit:
        kept = _script(plan, path, settings)
        argv = ("/bin/sh", kept)
    where = TAB if where == TAB and terminal.tabs else WINDOW
    try:
        what = terminal.command(argv, plan.cwd, plan.title, where, env)
        told = launch(what, env, name=terminal.name, hint=terminal.needs)
    except BaseException:
        if kept:
            with contextlib.suppress(OSError):
                os.unlink(kept)
        raise
    return Opened(opening.session, terminal.name, where, one_line(told)[:80], opening.line, what.then)


def whole_plan(opening: Opening, path: str, settings: Settings) -> Plan:
    """The plan as a window needs it, which knows nothing of our environment: the program by its absolute path, and the
    client's default home made sure of."""
    plan = opening.plan
    variables = plan.variables or ((places(opening.session.client).home_variable, ""),)
    return plan._replace(argv=(program(plan.argv[0], path, settings), *plan.argv[1:]), variables=variables)


def program(name: str, path: str, settings: Settings) -> str:
    """The absolute path of a client: of Claude Code where it is configured, else on PATH or in the usual places."""
    if name == "claude" and settings.claude_bin and _runs(settings.claude_bin):
        return settings.claude_bin
    folders = [folder for folder in path.split(os.pathsep) if os.path.isabs(folder)]
    folders += [settings.home + folder[1:] if folder.startswith("~") else folder for folder in PROGRAM_PLACES]
    for folder in folders:
        if _runs(found := os.path.join(folder, name)):
            return found
    hint = "install it, or put its folder on PATH"
    raise Unavailable(f"there is no {name} to open it with", f"{hint}, or set claude_bin" if name == "claude" else hint)


def _runs(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _script(plan: Plan, path: str, settings: Settings) -> str:
    """The window's program as a file that removes itself: its path. What was never run, since one of the two was killed,
    goes after a day: it may hold a prompt."""
    folder = os.path.join(settings.state, "scripts")
    with contextlib.suppress(OSError):
        for left in os.scandir(folder):
            if left.stat(follow_symlinks=False).st_mtime < time.time() - 86400:
                os.unlink(left.path)
    name = os.path.join(folder, f"{os.urandom(8).hex()}.sh")
    write_atomic(name, os.fsencode(script(plan, path)), mode=0o700)
    return name
