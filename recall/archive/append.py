"""The hot path of the archive: bring one copy up to date, inside somebody else's turn.

Used by hook and sweep alike, so it imports nothing that a bare interpreter has not got already, but
`fcntl`. A copy only ever grows: new bytes are written at the source's own offset under `flock`, so that
two writers of the same tail write the same bytes and the copy's length is all the state there is. A copy
is never truncated, overwritten or unlinked: when the source turns out to hold something else, the copy
is renamed to `<name>.g<N>` and a new one is begun under the plain name.

A copy that holds all of its source has the source's modification time.
"""

import fcntl
import os
import sys

BLOCK = 1 << 20  # bytes read and written at a time
TAIL = 4096  # bytes at the end of a copy that must agree with the source before anything is appended

MARKER = ".recall-archive"
SEEN = "archive-seen"
PURGED = "purged"

_S_IFMT, _S_IFREG = 0o170000, 0o100000  # as in `stat`, which a hook has no need of
_LIMIT = 1 << 30  # bytes of one pwrite; Darwin refuses 2 GB and more
_NOFOLLOW = os.O_NOFOLLOW if sys.platform != "win32" else 0


def append(source: str, copy: str, distrust: int = 0, last: "list[bytes] | None" = None) -> tuple[str, int, int, int]:
    """Bring the file `copy` up to date with the file `source`; both are paths.

    Gives what happened, the bytes read from the source, the bytes written, and the length of the copy:

    - `same`: equal lengths (nothing is opened), or an empty source, which says nothing
    - `new`: there was no copy
    - `grown`: the source begins with the copy, as far as the last 4 KB tell
    - `generation`: the source is shorter or differs; the old copy is now `<copy>.g<N>`

    `distrust` is the inode of a copy that a closer look found to differ: that one is set aside whatever its
    length. `last` gets the last block that was written, if any.
    OSError for a source that is missing or no regular file (a symbolic link to one is), and for
    whatever stops the writing; the copy is then shorter than it should be, but right so far.
    """
    here = os.stat(source)
    _must_be_regular(here, source)
    kind = "grown"
    try:
        there = os.stat(copy)
    except FileNotFoundError:
        kind = "new"
    else:
        if not here.st_size or (here.st_size == there.st_size and there.st_ino != distrust):
            return "same", 0, 0, there.st_size
    while True:
        old = _open_source(source)  # before the copy: what cannot be read must leave no empty copy behind
        try:
            new = hold(copy)
            try:
                here = os.fstat(old)
                if not _still_at(source, here, gone=True):
                    continue  # replaced while we waited for the lock
                there = os.fstat(new)
                if not here.st_size:
                    return ("new" if kind == "new" else "same"), 0, 0, there.st_size
                if there.st_ino == distrust or here.st_size < there.st_size or not _same_tail(old, new, there.st_size):
                    set_aside(copy)
                    kind = "generation"
                    continue
                read = min(TAIL, there.st_size)
                end = _copy(old, new, there.st_size, here.st_size, last)
                if end == here.st_size:
                    set_time(new, here)
                written = end - there.st_size
                return kind, read + written, written, end
            finally:
                os.close(new)
        finally:
            os.close(old)


def hold(copy: str) -> int:
    """A descriptor of the file `copy`, made if need be, locked for us alone until it is closed.

    The folder is made too, but only inside a root that holds the marker. Waits for the lock; where the file
    system has none, equal bytes at equal offsets and exclusively claimed names still protect the copies.
    """
    while True:
        try:
            fd = os.open(copy, os.O_RDWR | os.O_CREAT | _NOFOLLOW, 0o600)
        except FileNotFoundError:
            _make_folder(os.path.dirname(copy))
            continue
        try:
            try:  # noqa: SIM105 - contextlib is not for the hot path
                fcntl.flock(fd, fcntl.LOCK_EX)
            except OSError:
                pass
            status = os.fstat(fd)
            if _still_at(copy, status, gone=False):
                if status.st_mode & 0o777 != 0o600:
                    _chmod(fd, 0o600)
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)  # set aside by another process while we waited


def set_aside(copy: str) -> str:
    """Rename the copy that the caller holds to its next generation; gives the new path.

    The name is claimed by creating it exclusively, so nothing is ever overwritten, even without locks. (A crash
    right here leaves an empty `.g<N>`, which is no generation: an empty copy is never set aside.)
    """
    folder, name = os.path.split(copy)
    head = name + ".g"
    number = 0
    for other in os.listdir(folder or "."):
        if other.startswith(head) and other[len(head) :].isdigit():
            number = max(number, int(other[len(head) :]))
    while True:
        number += 1
        older = f"{copy}.g{number}"
        try:
            os.close(os.open(older, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            continue
        try:
            os.rename(copy, older)
        except FileNotFoundError:  # only without locks: another process was first
            os.unlink(older)
        return older


def set_time(fd: int, source: os.stat_result) -> None:
    """Mark the open copy as complete: it holds all that its source held at this modification time."""
    try:  # noqa: SIM105
        os.utime(fd, ns=(source.st_atime_ns, source.st_mtime_ns))
    except OSError:
        pass  # not our file, or a file system without times: only costs a comparison later


def ready(root: str, state: str) -> bool:
    """Whether the archive at `root` may be written to; made (0700, with its marker) if it never was.

    A root that was seen with its marker once (`<state>/archive-seen` lists those) and has none now is not
    mounted: False, and nothing is created. OSError where a folder cannot be made.
    """
    marker = os.path.join(root, MARKER)
    line = os.fsencode(root).replace(b"\n", b"\\n") + b"\n"
    stamp = os.path.join(state, SEEN)
    try:
        with open(stamp, "rb", buffering=0) as file:
            seen = (b"\n" + file.read()).find(b"\n" + line) >= 0
    except FileNotFoundError:
        seen = False
    if not os.path.exists(marker):
        if seen:
            return False
        _make_private(root)
        _private_bytes(marker, b"")
    if not seen:
        _make_private(state)
        _private_bytes(stamp, line)
    return True


def purged(state: str, session: str) -> bool:
    """Whether the session was purged: such an id is never copied again."""
    return bool(session) and os.path.exists(os.path.join(state, PURGED, session))


def locate(root: str, archive: str, adopted: "frozenset[str] | None" = None) -> str:
    """Where the copy called `archive` (`claude/<folder>/...`, relative to the root) really is.

    An earlier tool kept `<folder>/...` directly in the root: such a copy is gone on with where it is. `adopted` names
    the folders of that kind, where the caller knows them, and saves the look.
    """
    if archive.startswith("claude/"):
        older = archive[len("claude/") :]
        folder, slash, _ = older.partition("/")
        if (
            slash
            and (adopted is None or folder in adopted)
            and not os.path.exists(os.path.join(root, archive))
            and os.path.isfile(os.path.join(root, older))
        ):
            return older
    return archive


def _must_be_regular(status: os.stat_result, path: str) -> None:
    if status.st_mode & _S_IFMT != _S_IFREG:
        raise OSError(22, "not a regular file", path)  # EINVAL


def _open_source(path: str) -> int:
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)  # a pipe in its place must not block us
    try:
        _must_be_regular(os.fstat(fd), path)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _still_at(path: str, status: os.stat_result, gone: bool) -> bool:
    """Whether the open file still bears its name; `gone` is the answer when nothing does."""
    try:
        now = os.stat(path)
    except FileNotFoundError:
        return gone
    return now.st_ino == status.st_ino and now.st_dev == status.st_dev


def _same_tail(old: int, new: int, length: int) -> bool:
    start = max(0, length - TAIL)
    return os.pread(old, length - start, start) == os.pread(new, length - start, start)


def write_at(fd: int, data: "bytes | memoryview", at: int) -> int:
    """Write all of `data` at the offset `at`, however often it takes; gives the offset behind it."""
    view = memoryview(data)
    while view:
        done = os.pwrite(fd, view[:_LIMIT], at)
        view = view[done:]
        at += done
    return at


def _copy(old: int, new: int, at: int, end: int, last: "list[bytes] | None" = None) -> int:
    """Copy the bytes from `at` to `end`; gives where it stopped, which is earlier if the source shrank meanwhile."""
    while at < end:
        data = os.pread(old, min(BLOCK, end - at), at)
        if not data:
            break
        at = write_at(new, data, at)
        if last is not None:
            last[:] = [data]
    return at


def _chmod(fd: int, mode: int) -> None:
    try:  # noqa: SIM105
        os.fchmod(fd, mode)
    except OSError:
        pass  # somebody else's file in our archive: still better kept than not


def _make_folder(path: str) -> None:
    """Make a folder of the archive: never above or outside of a root that is there with its marker."""
    top = path
    while not os.path.exists(os.path.join(top, MARKER)):
        above = os.path.dirname(top)
        if above == top or not above:
            raise FileNotFoundError(2, "no archive here (not mounted?)", path)
        top = above
    _make_private(path)


def _make_private(path: str) -> None:
    """Make the folder and those above that are missing, 0700 whatever the umask."""
    if os.path.isdir(path):
        return
    above = os.path.dirname(path)
    if above and above != path:
        _make_private(above)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
        return  # another process was first
    os.chmod(path, 0o700)


def _private_bytes(path: str, data: bytes) -> None:
    """Append bytes to a small file of ours, made 0600."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        if os.fstat(fd).st_mode & 0o777 != 0o600:
            _chmod(fd, 0o600)
        os.write(fd, data)
    finally:
        os.close(fd)
