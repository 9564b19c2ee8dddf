"""How the project writes plain files: whole or not at all, and for their owner's eyes only."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from types import TracebackType
from typing import Any


def make_private_dir(path: str) -> None:
    """Make the folder and all that are missing above it, each 0700 whatever the umask; what exists is left as it is.

    FileExistsError when a part of the path is something else than a folder.
    """
    if os.path.isdir(path):
        return
    above = os.path.dirname(path)
    if above and above != path:
        make_private_dir(above)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
        return  # another process was first
    os.chmod(path, 0o700)


@contextlib.contextmanager
def naming(path: str, temporary: str = "") -> Iterator[None]:
    """An OSError that does not say of which file it tells, as one of a write does not, says `path`; so does one of the
    `temporary` file that is to become it."""
    try:
        yield
    except OSError as problem:
        if problem.errno is not None and problem.filename in (None, temporary):
            problem.filename = path
        raise


def read_file(path: str, most: int = -1) -> bytes:
    """The first `most` bytes of an ordinary file (-1: all). OSError for what is none: a FIFO would be waited for, for ever."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(fd, "rb") as file, naming(path):
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "not an ordinary file", path)
        return file.read(most)


def read_json(path: str, most: int = -1) -> Any:
    """The JSON that the first `most` bytes of a file hold; ValueError where they hold none, or such that is nested too deep."""
    import json

    try:
        return json.loads(read_file(path, most))
    except RecursionError:
        raise ValueError("nested too deep") from None


def write_atomic(path: str, data: bytes, mode: int = 0o600) -> None:
    """Replace the content of `path` by `data`: a reader, and a crash, see the old or the new one, nothing between.

    A temporary file in the same folder is written, synced and renamed; a missing folder is made 0700. Where
    `path` is a symbolic link, the file that it points to is replaced and the link stays. OSError leaves the
    old file and no temporary one.
    """
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    make_private_dir(folder)
    temporary = os.path.join(folder, f".{os.getpid():x}.{os.urandom(6).hex()}.tmp")
    with naming(path, temporary):
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with open(fd, "wb", buffering=0) as file, naming(path):
            os.fchmod(fd, mode)
            view = memoryview(data)
            while view:
                view = view[file.write(view) :]
            os.fsync(fd)
        os.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def append_private(path: str, data: bytes, keep: int = 0) -> None:
    """Append `data` in one write, so that two writers' lines do not mix; the file is 0600, its folder made 0700.

    With `keep`, a file of more bytes is first renamed to `<path>.1`, in the place of the one before.
    """
    make_private_dir(os.path.dirname(path))
    if keep:
        with contextlib.suppress(FileNotFoundError):
            if os.stat(path).st_size > keep:
                os.replace(path, path + ".1")
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(fd, 0o600)
        with naming(path):
            os.write(fd, data)
    finally:
        os.close(fd)


def _sync_folder(path: str) -> None:
    """So that the new name survives a power cut; file systems that cannot sync a folder need not."""
    with contextlib.suppress(OSError):
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


class Lock:
    """One process at a time: `with Lock(path) as held:` holds an flock on a file of its own.

    With `wait=False`, `held` is None where another process (or another Lock of this one) has it. The kernel frees
    the lock when its holder dies, so a stale one cannot be; the file (0600) stays.
    """

    def __init__(self, path: str, wait: bool = True) -> None:
        self._path = path
        self._how = fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB
        self._fd = -1

    def __enter__(self) -> Lock | None:
        make_private_dir(os.path.dirname(self._path))
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(fd, self._how)
        except BlockingIOError:
            os.close(fd)
            return None
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
