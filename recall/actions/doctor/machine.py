"""What recall runs on: Python, SQLite, the command on PATH, and its own folders."""

from __future__ import annotations

import os
import platform
import shutil
import stat
import sys
from collections.abc import Iterator

from recall.actions.doctor.case import Case
from recall.actions.doctor.check import BAD, OK, WARN, Check, plural
from recall.archive.unpack import decodes
from recall.files import make_private_dir
from recall.store import sqlite

_OTHERS = 0o077
_NAMED = 20  # files that are named


def python(case: Case) -> Check:
    return Check("python", OK, f"{platform.python_version()} ({sys.executable})")


def database(case: Case) -> Check:
    version, fts = sqlite()
    if fts:
        return Check("sqlite", OK, f"{version} with FTS5")
    mend = "use another Python 3.11+ (uv brings one): ./install.sh"
    return Check("sqlite", BAD, f"SQLite {version} of this Python has no FTS5: nothing can be indexed", mend)


def zstd(case: Case) -> Check:
    if decodes():
        return Check("zstd", OK, "compressed rollouts can be read")
    packed = sum(1 for _, found in case.sources if found.path.endswith(".zst"))
    mend = "install backports.zstd into recall's environment: ./install.sh does it"
    words = "no zstd decoder in this Python"
    if packed:
        return Check("zstd", BAD, f"{words}: {plural(packed, 'compressed rollout')} cannot be read", mend)
    return Check("zstd", WARN, f"{words}: a compressed rollout could not be read", mend)


def command(case: Case) -> Check:
    """Is the command that people and agents type this recall?"""
    found = shutil.which(case.name)
    if found is None:
        folder = os.path.join(case.settings.home, ".local", "bin")
        there = os.path.exists(os.path.join(folder, case.name))
        mend = f"add {case.short(folder)} to PATH" if there else "./install.sh links it"
        return Check("command", WARN, f"there is no command `{case.name}` on PATH", mend)
    if is_this(found):
        return Check("command", OK, found)
    words = f"`{case.name}` on PATH is another program: {found}"
    return Check("command", WARN, words, "move it away, or take another name: ./install.sh --name rc")


def is_this(path: str) -> bool:
    """Does the command at `path` start the recall that runs now? (It lies in this environment, or names its Python.)"""
    real = os.path.realpath(path)
    if real.startswith(os.path.realpath(sys.prefix) + os.sep):
        return True
    try:
        with open(real, "rb") as file:
            head = file.read(1024)
    except OSError:
        return False
    return os.fsencode(sys.executable) in head and b"recall" in head


def folders(case: Case) -> Check:
    """The folders of recall are there and may be written to."""
    missing, wrong = [], []
    for path in (case.settings.data, case.settings.state):
        if not os.path.lexists(path):
            missing.append(path)
        elif not os.path.isdir(path):
            wrong.append(f"{path} is no folder")
        elif not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            wrong.append(f"{path} cannot be written to")
    root = case.settings.archive
    if os.path.lexists(root) and not os.path.isdir(root):
        wrong.append(f"{root} is no folder")
    elif case.mounted and not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        wrong.append(f"{root} cannot be written to")
    if wrong:
        return Check("folders", BAD, wrong[0], "look at owner and permissions", tuple(wrong[1:]))
    if missing:

        def make() -> str:
            for path in missing:
                make_private_dir(path)
            return f"made {', '.join(missing)}"

        words = f"missing: {', '.join(map(case.short, missing))}"
        return Check("folders", WARN, words, f"{case.name} sweep makes them", fix=make)
    return Check("folders", OK, "archive, data and state can be written to")


def permissions(case: Case) -> Check:
    """Everything of ours is for its owner's eyes only, and can be read by its owner."""
    open_, foreign, locked, count = [], [], [], 0
    me = os.geteuid()
    for path, status in _ours(case):
        count += 1
        folder = stat.S_ISDIR(status.st_mode)
        if status.st_mode & _OTHERS:
            open_.append((path, status.st_mode & 0o777))
        if status.st_uid != me:
            foreign.append(path)
        elif not os.access(path, os.R_OK | (os.X_OK if folder else 0)):
            locked.append(path)
    if locked or (foreign and me):
        some = locked or foreign
        why = "cannot be read" if locked else "belong to another user"
        mend = "chmod -R u+rwX" if locked else f"sudo chown -R {me}"
        words = f"{len(some)} files or folders of recall {why}"
        return Check("permissions", BAD, words, f"{mend} FILE", _named(some))
    if open_:

        def close() -> str:
            left = [path for path, mode in open_ if not _tightened(path, mode)]
            rest = f"; {len(left)} could not be" if left else ""
            return f"made {len(open_) - len(left)} files and folders private{rest}"

        words = f"{len(open_)} files or folders of recall are open to other users"
        mend = f"{case.name} doctor --fix"
        return Check("permissions", WARN, words, mend, _named([path for path, _ in open_]), close)
    return Check("permissions", OK, f"{count} files and folders, for you alone")


def _tightened(path: str, mode: int) -> bool:
    try:
        os.chmod(path, mode & ~_OTHERS)
        return not os.lstat(path).st_mode & _OTHERS
    except OSError:
        return False


def _named(paths: list[str]) -> tuple[str, ...]:
    more = len(paths) - _NAMED
    return (*paths[:_NAMED], f"… {more} more") if more > 0 else tuple(paths)


def _ours(case: Case) -> Iterator[tuple[str, os.stat_result]]:
    """All files and folders of recall, links left out; a folder with a leading dot is somebody else's (`.git`)."""
    tops = [case.settings.data, case.settings.state, *([case.settings.archive] if case.mounted else [])]
    for top in dict.fromkeys(tops):
        stack = [top]
        while stack:
            path = stack.pop()
            try:
                status = os.lstat(path)
            except OSError:
                continue
            if stat.S_ISLNK(status.st_mode):
                continue
            yield path, status
            if stat.S_ISDIR(status.st_mode):
                try:
                    names = os.listdir(path)
                except OSError:
                    continue
                stack += [
                    os.path.join(path, name)
                    for name in names
                    if not (name.startswith(".") and os.path.isdir(os.path.join(path, name)))
                ]


CHECKS = (python, database, zstd, command, folders, permissions)
