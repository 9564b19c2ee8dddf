"""Putting an archived transcript back where its client looks for it. Only creates: nothing is ever overwritten.

Claude Code resumes the file `projects/<folder>/<id>.jsonl`, wherever its folder; a second file of one id in another
folder makes that ambiguous, so none is made. What is put back gets the time of today: by their time the client
deletes transcripts that are too old.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from recall import clients
from recall.actions.cmd import home_of, missing_base, newest_of, source_of, transcripts_in
from recall.archive.append import ready
from recall.archive.store import Copy, generations
from recall.archive.verify import damage
from recall.core.model import Session, Transcript
from recall.errors import NothingFound, Refused, Unavailable, Usage
from recall.files import make_private_dir, naming
from recall.settings import Settings
from recall.store import Store

_OLDER = re.compile(r".+\.g[1-9][0-9]*", re.DOTALL)
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.EXDEV, errno.ENOSYS}


class Item(NamedTuple):
    """One file to put back: the path of its copy and where it goes (both absolute), and its size in bytes."""

    copy: str
    to: str
    size: int


class Restoring(NamedTuple):
    """What a restore does: the session's transcript, the files that belong to it (sub-agents, results of tools, names),
    and those of them that are there already and stay as they are."""

    session: Session
    main: Item
    others: tuple[Item, ...]
    present: tuple[str, ...]
    base: str = ""  # another session that has to be restored as well, for this one builds upon it
    damage: tuple[str, ...] = ()  # what of the transcript's copy is not as it was when it was made, by its checksums

    @property
    def items(self) -> tuple[Item, ...]:
        """In the order of their writing: with the transcript, which comes last, it is complete."""
        return (*self.others, self.main)


class Survivors(NamedTuple):
    """What is left of a session whose transcript its client has not got any more: lines to read, and whether it can be
    restored; where not, `hint` says what can be done."""

    lines: tuple[str, ...]
    restorable: bool
    hint: str = ""


def prepare(
    row: Session, store: Store, settings: Settings, *, generation: int | None = None, to: str = ""
) -> Restoring:
    """What putting a session back would write; nothing is done.

    `generation`: N of an older text `g<N>`, 0 the newest, None the newest that is not empty. `to`: another folder than
    the client's own. Raises Unavailable where the archive is not mounted, NothingFound where it holds no copy, Usage for
    a generation that is not there, Refused where the client has the session.
    """
    row = newest_of(row, store)
    files = store.files(row.no)
    mounted(settings)
    file, copies = own_copies(row, files, settings)
    copy = _chosen(copies, generation, row)
    home = home_of(row, files, settings)
    if to:
        folder = os.path.abspath(to)
        if os.path.lexists(folder) and not os.path.isdir(folder):
            raise Usage(f"{folder} is no folder", "--to takes one, or the name of a new one")
        target = os.path.join(folder, os.path.basename(file.copy))
    else:
        target = place_of(file, home, row)
    _refuse_double(row, home, target, inside=not to or _is_inside(target, home))
    main = Item(os.path.join(settings.archive, copy.file), target, copy.size)
    others = list(_companions(settings.archive, file.copy, target, row)) if row.client == "claude" else []
    present = tuple(one.to for one in others if os.path.lexists(one.to))
    base = missing_base(row, main.copy, home)
    wrong = tuple(f"{one.why}, bytes {one.start}-{one.end}" for one in damage(settings.archive, copy))
    return Restoring(row, main, tuple(one for one in others if one.to not in present), present, base, wrong)


def restore(plan: Restoring, now: float) -> list[str]:
    """Write what `prepare` found; the paths that were made. Refused when another one was first.

    Files are 0600, new folders 0700, all with the time `now` (seconds).
    """
    made = []
    for item in plan.items:
        try:
            _create(item, now)
        except FileExistsError:
            if item is plan.main:
                raise Refused(f"{item.to} is there meanwhile", "nothing was overwritten") from None
            continue
        made.append(item.to)
    return made


def own_copies(row: Session, files: list[Transcript], settings: Settings) -> tuple[Transcript, list[Copy]]:
    """The session's own transcript that is kept fullest, and its copies, newest first; NothingFound where there is none."""
    best: tuple[int, Transcript, list[Copy]] | None = None
    for file in files:
        if file.kind == "main":
            copies = generations(settings.archive, file.copy)
            size = max((copy.size for copy in copies), default=0)
            if size and (best is None or size > best[0]):
                best = (size, file, copies)
    if best is None:
        raise NothingFound(
            f"the archive has no transcript of session {row.id}", f"recall show {row.id} says what is left"
        )
    return best[1], best[2]


def survivors(row: Session, store: Store, settings: Settings) -> Survivors:
    """What is left of a session, for whoever wanted to open it."""
    files = store.files(row.no)
    try:
        mounted(settings)
        _, copies = own_copies(row, files, settings)
    except Unavailable as problem:
        return Survivors((problem.message,), False, problem.hint)
    except NothingFound:
        copies = []
    lines = [describe(copy) for copy in copies]
    agents = sum(
        1 for file in files if file.kind == "sub" and os.path.exists(os.path.join(settings.archive, file.copy))
    )
    if agents:
        lines.append(f"sub-agents: {agents} in the archive")
    return Survivors(tuple(lines) or ("nothing is in the archive",), bool(copies))


def describe(copy: Copy) -> str:
    """A copy in one line: `copy: 2026-06-11 09:00, 14 KB`; an older text of the transcript says which."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(copy.mtime_ns / 1e9))
    size = f"{copy.size / 1e6:.1f} MB" if copy.size >= 1_000_000 else f"{-(-copy.size // 1000)} KB"
    name = f"older copy, --generation {copy.generation}" if copy.generation else "copy"
    return f"{name}: {when}, {size}"


def mounted(settings: Settings) -> None:
    """Raises Unavailable where the archive's disk is missing."""
    from recall.actions.reindex import not_mounted

    if not ready(settings.archive, settings.state):
        message, hint = not_mounted(settings)
        raise Unavailable(message, hint)


def _chosen(copies: list[Copy], generation: int | None, row: Session) -> Copy:
    for copy in copies:
        if copy.size and generation in (None, copy.generation):
            return copy
    known = ", ".join(str(copy.generation) for copy in copies if copy.size)
    raise Usage(
        f"session {row.id} has no generation {generation}", f"there are: {known} (recall restore {row.id} --list)"
    )


def place_of(file: Transcript, home: str, row: Session) -> str:
    """Where the client had it: known from the last sweep that saw it, else told by the copy's path."""
    if file.source:
        return file.source.removesuffix(".zst")
    top, _, rest = file.copy.partition("/")
    ours = top == row.client or top.startswith(f"{row.client}@")
    original = clients.places(row.client).original(rest if ours else file.copy)  # an earlier tool had no top folder
    if not original:
        raise Unavailable(f"it is not known where {row.client} had session {row.id}", "--to DIR writes it elsewhere")
    return os.path.join(home, original)


def _refuse_double(row: Session, home: str, target: str, *, inside: bool) -> None:
    """Raises Refused where the file, or the session in any folder of that home, is there."""
    there = source_of(target) or (target if os.path.lexists(target) else "")
    if not there and inside:
        there = next(iter(transcripts_in(home, row)), "")
    if there:
        hint = "it can be opened" if inside else "choose another folder"
        if not os.path.isfile(there):
            hint = "it is no transcript: move it away"
        raise Refused(f"{there} is there, and nothing is overwritten", f"{hint}; --to DIR writes a copy elsewhere")


def _is_inside(path: str, home: str) -> bool:
    """Is the path in the home, also by another name of a folder of it?"""
    real = os.path.realpath(home)
    return os.path.realpath(path).startswith(real + os.sep)


def _companions(archive: str, copy: str, target: str, row: Session) -> Iterator[Item]:
    """What Claude Code keeps beside the transcript in a folder of its name."""
    top = os.path.join(archive, copy.removesuffix(".jsonl"))
    beside = os.path.join(os.path.dirname(target), row.id)
    for folder, _, names in os.walk(top):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.path.islink(path) or (_OLDER.fullmatch(name) and os.path.exists(path.rpartition(".g")[0])):
                continue
            yield Item(path, os.path.join(beside, os.path.relpath(path, top)), os.path.getsize(path))


def _create(item: Item, now: float) -> None:
    """Write one file whole under a name that no client looks at, then give it its own; FileExistsError when that is taken."""

    def fill(fd: int) -> None:
        with open(item.copy, "rb") as source, open(fd, "wb", closefd=False) as file:
            shutil.copyfileobj(source, file, 1 << 20)

    create(item.to, fill, now)


def create(path: str, fill: Callable[[int], None], now: float) -> None:
    """Make a file that must not be there yet: `fill` writes into an open descriptor. It appears whole, 0600, with the
    time `now`. FileExistsError when the name is taken."""
    folder = os.path.dirname(path)
    try:
        make_private_dir(folder)
    except FileExistsError as problem:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), problem.filename) from None
    temporary = os.path.join(folder, f".recall-{os.urandom(6).hex()}.tmp")
    with naming(path, temporary):
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            with naming(path):
                fill(fd)
                os.fchmod(fd, 0o600)
                os.utime(fd, (now, now))
                os.fsync(fd)
        finally:
            os.close(fd)
        give_name(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def give_name(temporary: str, path: str) -> None:
    """Give a file its name, unless that is taken."""
    try:
        os.link(temporary, path)
        return
    except OSError as problem:
        if problem.errno not in _NO_LINKS:
            raise
    # No hard links there: the name is claimed by an empty file, which the whole one then replaces.
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
    os.rename(temporary, path)
