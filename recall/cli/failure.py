"""What a failure looks like: one line and a hint on stderr, JSON on stdout where that was asked for, a status."""

from __future__ import annotations

import errno
import os
import sys

from recall.errors import Damaged, RecallError, Unavailable, Usage

_STORAGE = {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS}
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

    What no user can cause keeps its traceback.
    """
    known = explain(error)
    if known is None:
        from recall.cli import BUG

        sys.excepthook(type(error), error, error.__traceback__)
        return BUG
    if "--json" in _options(args):
        import json

        body = {"kind": known.kind, "message": known.message, "hint": known.hint}
        print(json.dumps({"error": body}, ensure_ascii=False))
    else:
        print(f"recall: {_plain(known.message)}", file=sys.stderr)
        if known.hint:
            print(f"hint: {_plain(known.hint)}", file=sys.stderr)
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


def _storage(error: OSError) -> RecallError | None:
    if error.errno not in _STORAGE:
        return None
    name = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else "standard output"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = "make room on that disk, then try again"
    else:
        hint = "look at the permissions of the file and its folder"
    return Unavailable(f"{name}: {os.strerror(error.errno)}", hint)


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
