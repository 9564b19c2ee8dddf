"""What a failure looks like: one line and a hint on stderr, JSON on stdout where that was asked for, a status."""

from __future__ import annotations

import errno
import os
import sys

from recall.errors import Damaged, RecallError, Unavailable, Usage

_ROOM = "make room on that disk, then try again"
_RIGHTS = "look at the permissions of the file and its folder"
_HINTS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), _ROOM),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), _RIGHTS),
    **dict.fromkeys((errno.EMFILE, errno.ENFILE, errno.ENOMEM), "end other programs, then try again"),
}
_STORAGE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.EBADF}
"""Of an error that names no file: what writing to standard output can end with."""
_REINDEX = "make it again, nothing is lost: `recall reindex`"
_INDEX_TROUBLE: dict[str, tuple[type[RecallError], str, str]] = {
    "SQLITE_BUSY": (Unavailable, "the index is in use by another recall", "try again in a moment"),
    "SQLITE_LOCKED": (Unavailable, "the index is in use by another recall", "try again in a moment"),
    "SQLITE_FULL": (Unavailable, "no space left for the index", "make room on that disk, then try again"),
    "SQLITE_READONLY": (Unavailable, "the index cannot be written", "look at the permissions of its folder"),
    "SQLITE_CANTOPEN": (Unavailable, "the index cannot be opened", "look at the permissions of its folder"),
    "SQLITE_PERM": (Unavailable, "the index cannot be opened", "look at the permissions of its folder"),
    "SQLITE_CORRUPT": (Damaged, "the index is damaged", _REINDEX),
    "SQLITE_NOTADB": (Damaged, "the index is damaged", _REINDEX),
    "SQLITE_IOERR_WRITE": (Unavailable, "the index cannot be written", "look at the disk and its free space"),
    "SQLITE_IOERR_SHM": (Unavailable, "the index cannot be written", "look at the disk and its free space"),
    "SQLITE_IOERR_FSYNC": (Unavailable, "the index cannot be written", "look at the disk and its free space"),
    "SQLITE_IOERR": (Damaged, "the index cannot be read", _REINDEX),
    "SQLITE_SCHEMA": (Damaged, "the index is damaged", _REINDEX),
}


def report(error: Exception, args: list[str]) -> int:
    """Print `error` for the person or program that typed `args`; the exit status.

    What no user can cause keeps its traceback. A message may repeat a name, a folder or what was typed: it is redacted.
    """
    from recall.core.clean import clean

    known = explain(error)
    if known is None:
        from recall.cli import BUG

        sys.excepthook(type(error), error, error.__traceback__)
        return BUG
    message, hint = _plain(clean(known.message)), _plain(clean(known.hint))
    if "--json" in _options(args) and not _of_output(error):
        from recall.cli.output import print_json

        print_json({"error": {"kind": known.kind, "message": message, "hint": hint}})
    else:
        print(f"recall: {message}", file=sys.stderr)
        if hint:
            print(f"hint: {hint}", file=sys.stderr)
    return known.exit_code


def explain(error: Exception) -> RecallError | None:
    """`error` as one that a user can understand; None: it is a bug."""
    if isinstance(error, RecallError):
        return error
    if isinstance(error, OSError):
        return _storage(error)
    bases = {f"{base.__module__}.{base.__name__}" for base in type(error).__mro__}
    if "sqlite3.DatabaseError" in bases:  # by name: most commands never load sqlite3
        return _index(error)
    if "click.exceptions.ClickException" in bases:
        return _usage(error)
    return None


def _of_output(error: Exception) -> bool:
    """Is it that standard output cannot be written? Then nothing can be told there."""
    return isinstance(error, OSError) and error.filename is None


def _storage(error: OSError) -> RecallError | None:
    """What a file or its disk does not allow; None where nothing says that it was a file of the user's."""
    if isinstance(error.filename, (str, bytes)):
        name = os.fsdecode(error.filename)
    elif error.errno in _STORAGE:
        name = "standard output"
    elif error.errno == errno.ENOENT and _lost():
        return Unavailable("the folder that this runs in is gone", "cd to one that is there, then try again")
    else:
        return None
    told = os.strerror(error.errno) if error.errno else str(error)
    return Unavailable(
        f"{name}: {told}", _HINTS.get(error.errno or 0, "what is there? look at the file and its folder")
    )


def _lost() -> bool:
    """Has somebody deleted the folder that we run in?"""
    try:
        os.getcwd()
    except OSError:
        return True
    return False


def _index(error: Exception) -> RecallError | None:
    if type(error).__name__ in ("ProgrammingError", "InterfaceError", "NotSupportedError"):
        return None  # how we called it was wrong
    code = getattr(error, "sqlite_errorname", "SQLITE_CORRUPT")
    for name, (kind, message, hint) in _INDEX_TROUBLE.items():
        if code.startswith(name):
            return kind(f"{message}: {error}", hint)
    if "no such table" in str(error):
        return Damaged(f"the index is damaged: {error}", _REINDEX)
    return None


def _usage(error: Exception) -> RecallError:
    message = error.format_message()  # type: ignore[attr-defined]
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx is not None else "recall"
    hint = f"`{path} --help` shows what can be given"
    near = getattr(error, "possibilities", None)
    if near:
        message = f"no such option {error.option_name}"  # type: ignore[attr-defined]
        hint = f"did you mean {' or '.join(near)}? {hint}"
    message = " ".join(message.split()).rstrip(".")
    return Usage(message[:1].lower() + message[1:], hint)


def _options(args: list[str]) -> list[str]:
    return args[: args.index("--")] if "--" in args else args


def _plain(text: str) -> str:
    """`text` without what could steer a terminal."""
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text)
