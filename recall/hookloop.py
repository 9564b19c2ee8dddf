"""The events that come seldom: a compaction, the beginning and the end of a session. Part of the hook, see there.

What takes longer is done by detached processes (`recall.cli.detached`), one of a kind for a session at a time.
"""

import fcntl
import os
import sys
import time

from recall.archive import append as archive
from recall.hook import (
    SECONDS,
    LateError,
    Setup,
    Source,
    create,
    id_of,
    keep,
    limit,
    locate,
    reason,
    rotate,
    small,
    source,
    tell,
)

END_SECONDS = 0.8  # for the copy when a session ends: the client leaves within a second or so
WAIT = 1.0  # for a handoff that is being written
STALE = 60  # seconds of a transcript after its handoff that make another one worth while
COMPACTION = 900  # seconds that a compaction may take after its handoff was begun

CHILD_LOG = "children.log"
LIMITS = {"handoff": 60, "recap": 300, "summary": 30}
"""Seconds that a detached process of each kind may take."""

_SUMMARY = 60_000  # bytes of a client's summary: what a pipe takes while nobody reads yet
_CARD = 16 << 10
_INDEX = 1 << 20
_BOOT = "import sys;sys.path.insert(0,sys.argv[1]);from recall.cli.detached import main;main(sys.argv[2:])"
_OF_SESSION = ("CLAUDECODE", "CLAUDE_PID", "CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE", "CLAUDE_EFFORT")
_OF_SESSION_TOO = ("CLAUDE_CODE_SESSION_", "CLAUDE_CODE_CHILD_", "CLAUDE_CODE_MESSAGING_", "CLAUDE_CODE_ENTRYPOINT")


def _pre_compact(setup: Setup, event: "dict[str, object]", env: "os._Environ[str] | dict[str, str]") -> None:
    one = source(setup, event)
    if one is None:
        return
    if setup.handoff:
        _spawn(setup, event, "handoff", one.session, [one.path])
    keep(setup, event, one)


def _post_compact(setup: Setup, event: "dict[str, object]", env: "os._Environ[str] | dict[str, str]") -> None:
    one = source(setup, event)
    if one is None:
        return
    words = event.get("compact_summary")
    if setup.handoff and isinstance(words, str) and words.strip():
        # A secret may be in it, and we could not tell: so it goes through a pipe to a process that can.
        _spawn(
            setup, event, "summary", one.session, [one.session], words[:_SUMMARY].encode("utf-8", "replace")[:_SUMMARY]
        )
    keep(setup, event, one)


def _session_end(setup: Setup, event: "dict[str, object]", env: "os._Environ[str] | dict[str, str]") -> None:
    one = source(setup, event)
    if one is None:
        return  # among others, a session that never got a prompt
    _ended(setup, event, env)
    try:
        limit(END_SECONDS)
        keep(setup, event, one)
    except LateError:
        tell(setup, event, "the copy was not complete in time")
    except OSError as problem:
        tell(setup, event, reason(problem))
    limit(SECONDS)
    if not env.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk"):  # headless sessions get no card
        _spawn(setup, event, "recap", one.session, [one.path, "--worth", "--quiet"])


def _ended(setup: Setup, event: "dict[str, object]", env: "os._Environ[str] | dict[str, str]") -> None:
    """Leave word that the session ended in good order, why, and in which process: what ended without is looked for by
    `recall.actions.crashed`."""
    session = id_of(event.get("session_id"))
    if not session or env.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk"):
        return
    words = (event.get("reason"), env.get("CLAUDE_PID"))
    line = " ".join(id_of(word) for word in words).strip()
    try:
        fd = create(os.path.join(setup.state, "ended", session), os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(fd, line.encode("ascii", "replace"))
            os.utime(fd)  # a second end for the same reason counts anew
        finally:
            os.close(fd)
    except OSError as problem:
        tell(setup, event, reason(problem))


def _session_start(setup: Setup, event: "dict[str, object]", env: "os._Environ[str] | dict[str, str]") -> bytes:
    kind = event.get("source")
    session = id_of(event.get("session_id"))
    if not session or archive.purged(setup.state, session):
        return b""
    text = title = ""
    if setup.handoff and (kind in ("compact", "resume", "fork") or (kind == "clear" and setup.after_clear)):
        text = _handoff(setup, session, source(setup, event), event)
    elif setup.digest and kind == "startup":
        text = _digest(setup, event)
    if setup.autoname and kind in ("startup", "resume", "fork") and not event.get("session_title"):
        title = _title(setup, session, event)
    parts = [f'"additionalContext":{_quoted(text)}'] if text else []
    parts += [f'"sessionTitle":{_quoted(title)}'] if title else []
    if not parts:
        return b""
    return f'{{"hookSpecificOutput":{{"hookEventName":"SessionStart",{",".join(parts)}}}}}\n'.encode("ascii")


ACTIONS = {
    "pre_compact": _pre_compact,
    "post_compact": _post_compact,
    "session_end": _session_end,
    "session_start": _session_start,
}


# -- detached processes ----------------------------------------------------------------------------------------


def lock_path(setup: Setup, kind: str, session: str) -> str:
    """The file that is locked while a process of this kind is at a session; its time is when the last one was begun."""
    return os.path.join(setup.state, "children", f"{session}.{kind}")


def _spawn(
    setup: Setup, event: "dict[str, object]", kind: str, session: str, args: "list[str]", data: bytes = b""
) -> None:
    """Start a detached process; where that cannot be done the log says so, and the rest of the event is gone on with."""
    try:
        if id_of(session):
            _start(setup, kind, session, args, data)
    except OSError as problem:
        tell(setup, event, f"{kind} not started: {reason(problem)}")


def _start(setup: Setup, kind: str, session: str, args: "list[str]", data: bytes) -> None:
    """Start a detached process, unless one of its kind is at this session.

    The lock is taken here and handed on: the kernel frees it when nobody has it any more. The process is in a session of its
    own and nobody's child once we have left: it outlives the client, and leaves no zombie.
    """
    lock = create(lock_path(setup, kind, session), os.O_RDWR)
    ends: tuple[int, ...] = ()
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        os.utime(lock)
        os.set_inheritable(lock, True)
        log = os.path.join(setup.state, CHILD_LOG)
        rotate(log)
        here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        argv = [sys.executable, "-I", "-c", _BOOT, here, str(LIMITS[kind]), kind, *args]
        actions: list[tuple[int, int, int] | tuple[int, int, str, int, int]] = []
        if data:
            ends = os.pipe()
            actions.append((os.POSIX_SPAWN_DUP2, ends[0], 0))
        else:
            actions.append((os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0))
        actions.append((os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        actions.append((os.POSIX_SPAWN_DUP2, 1, 2))
        env = _environment(setup)
        try:
            os.posix_spawn(argv[0], argv, env, file_actions=actions, setsid=True)
        except NotImplementedError:
            os.posix_spawn(argv[0], argv, env, file_actions=actions, setpgroup=0)
        if data:
            os.set_blocking(ends[1], False)
            os.write(ends[1], data)
    finally:
        os.close(lock)
        for end in ends:
            os.close(end)


def _environment(setup: Setup) -> "dict[str, str]":
    """Ours, without what belongs to the session around us, and with the folders that we use.

    RECALL_GUARD is not set here, since a recap may ask the model. It is set for the client that is asked then: hooks in there
    end at once.
    """
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in _OF_SESSION and not name.startswith(_OF_SESSION_TOO)
    }
    env["RECALL_STATE"], env["RECALL_ARCHIVE"], env["RECALL_DATA"] = setup.state, setup.archive, setup.data
    for client, variable in (("claude", "CLAUDE_CONFIG_DIR"), ("codex", "CODEX_HOME")):
        first = next((home for name, home, prefix in setup.homes if prefix == name == client), "")
        if first and variable not in env and first != f"{env.get('HOME', '')}/.{client}":
            env[variable] = first
    return env


def _await(setup: Setup, session: str) -> None:
    """Wait for a handoff that is being written, but not for long."""
    try:
        lock = os.open(lock_path(setup, "handoff", session), os.O_RDONLY)
    except OSError:
        return
    try:
        limit(WAIT)
        fcntl.flock(lock, fcntl.LOCK_SH)
    except (LateError, OSError):
        pass
    finally:
        limit(SECONDS)
        os.close(lock)


# -- what is injected ------------------------------------------------------------------------------------------


def _handoff(setup: Setup, session: str, one: "Source | None", event: "dict[str, object]") -> str:
    path = _card(setup, session)
    compacted = event.get("source") == "compact"
    if one is not None and one.session == session:
        if not _is_fresh(setup, session, path, one, compacted):
            _spawn(setup, event, "handoff", session, [one.path])
        _await(setup, session)
    status = _stat(path)
    if status is None and one is not None and event.get("source") == "fork":
        parent = origin(one.path)
        if parent and not archive.purged(setup.state, parent):
            path = _card(setup, parent)
            status = _stat(path)
    if status is None:
        return ""
    text = context(path, setup.days, time.time())
    return "" if not text or _was_told(setup, session, status, compacted) else text


def _card(setup: Setup, session: str) -> str:
    return os.path.join(setup.data, "handoffs", f"{session}.md")


def context(path: str, days: float, now: float) -> str:
    """Exactly what is injected for the handoff at `path`; '' for none, one that says nothing, or one that is too old."""
    from recall.core.injection import injection

    try:
        raw = small(path, _CARD)
        written = os.stat(path).st_mtime
    except OSError:
        return ""
    return injection(raw.decode("utf-8", "replace"), now=now, days=days, written=written)


def _is_fresh(setup: Setup, session: str, path: str, one: Source, compacted: bool) -> bool:
    """Is the handoff newer than what was said? After a compaction: was it begun before that?"""
    status = _stat(path)
    if status is None:
        return False
    if status.st_mtime >= one.mtime - STALE:
        return True
    begun = _stat(lock_path(setup, "handoff", session))
    return compacted and begun is not None and begun.st_mtime > time.time() - COMPACTION


def _was_told(setup: Setup, session: str, status: os.stat_result, compacted: bool) -> bool:
    """Was this very text given to the session before? If not, it is noted as given.

    A compaction takes it out of the context: then it is told again, unless that was a moment ago.
    """
    stamp = os.path.join(setup.state, "injected", session)
    line = f"{status.st_mtime_ns} {status.st_size} {status.st_ino}".encode()
    told = _stat(stamp)
    if told is not None and small(stamp, 256) == line:
        begun = _stat(lock_path(setup, "handoff", session))
        since = begun is not None and begun.st_mtime > told.st_mtime
        if not (compacted and (since or told.st_mtime < time.time() - STALE)):
            return True
    fd = create(stamp, os.O_WRONLY | os.O_TRUNC)
    try:
        os.write(fd, line)
    finally:
        os.close(fd)
    return False


def origin(path: str) -> str:
    """The session that a transcript says it was forked from, by its first records; '' for none."""
    try:
        head = small(path, 256 << 10)
    except OSError:
        return ""
    for key, inner in ((b'"forked_from_id"', b""), (b'"forkedFrom"', b'"sessionId"')):
        at = head.find(key)
        if at < 0:
            continue
        rest = head[at + len(key) : at + 400]
        if inner:
            rest = rest.partition(inner)[2]
        return id_of(rest[:80].lstrip(b' :"').partition(b'"')[0].decode("ascii", "replace"))
    return ""


def _title(setup: Setup, session: str, event: "dict[str, object]") -> str:
    """The name that was made for a session of Claude Code, where nobody gave it one; '' for none."""
    path = event.get("transcript_path")
    if not isinstance(path, str) or "\0" in path:
        return ""
    if locate(path, [home for home in setup.homes if home[0] == "claude"]) is None:
        return ""
    if os.path.exists(os.path.join(path[: -len(".jsonl")], "custom-title.json")):
        return ""
    try:
        return small(os.path.join(setup.state, "titles", session), 1024).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _digest(setup: Setup, event: "dict[str, object]") -> str:
    from recall.core.injection import digest

    cwd = event.get("cwd")
    if not isinstance(cwd, str):
        return ""
    try:
        index = small(os.path.join(setup.data, "INDEX.md"), _INDEX)
    except OSError:
        return ""
    return digest(index.decode("utf-8", "replace"), os.path.basename(cwd.rstrip("/")))


def _quoted(text: str) -> str:
    """A JSON string in ASCII."""
    try:
        from _json import encode_basestring_ascii
    except ImportError:
        from json.encoder import encode_basestring_ascii
    return str(encode_basestring_ascii(text))


def _stat(path: str) -> "os.stat_result | None":
    try:
        return os.stat(path)
    except OSError:
        return None
