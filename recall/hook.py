"""What the clients call at their events: a program of its own, in somebody else's turn.

It reads the event (JSON on stdin), appends the new bytes of the transcript to the archive and marks the session as
changed, or prints a handoff that exists already. Whatever takes longer is a detached process. It never opens the
index, parses no transcript, asks no model; it prints nothing but an injection, and always exits 0. An event, field or
value that it does not know is nothing to do.

Its imports are what it costs, so they are few: `os`, `fcntl`, the C scanner of `json`, the hot path of the archive. What only
some events need is in `recall.hookloop`. Neither annotations from the future nor `typing`: both are files to be loaded.
"""

import _signal  # type: ignore[import-not-found]  # `signal` without its enums
import os
import time

from recall.archive import append as archive

LONGEST = 16 << 20  # bytes on stdin; a longer event is none
SECONDS = 4.0  # for the whole of it; what is not copied by then comes with the next event

FOLLOW = 1.0  # for the end of a turn that is written after its event

LOG = "hook.log"
CONF = "hook.conf"
_LOG_KEEP = 256 << 10
_MODEL = "/model"  # in the state folder: where model calls of our own run

_S_IFMT, _S_IFDIR, _S_IFREG = 0o170000, 0o040000, 0o100000


class Setup:
    """Where things are and what is switched on: from the environment, then `hook.conf`, then defaults.

    `homes` are (client, folder, what stands before the paths of its copies).
    """

    def __init__(self, env: "os._Environ[str] | dict[str, str]", conf: "dict[str, list[str]]") -> None:
        home = env.get("HOME", "")
        home = home if home.startswith("/") else ""

        def absolute(text: str) -> str:
            if text == "~" or text.startswith("~/"):
                text = home + text[1:]
            return os.path.normpath(os.path.join(home, text))

        def path(key: str, default: str) -> str:
            got = env.get("RECALL_" + key.upper(), "")
            return absolute(got) if got else conf.get(key, [home and home + default])[-1]

        def value(key: str, default: str) -> str:
            return env.get("RECALL_" + key.upper(), "") or conf.get(key, [default])[-1]

        self.state = path("state", "/.claude/recall")
        self.archive = path("archive", "/backups/claude-transcripts")
        self.data = path("data", "/.claude/session-recaps")
        self.homes: list[tuple[str, str, str]] = []
        for line in conf.get("home", []):
            prefix, _, folder = line.partition(" ")
            self._add(prefix.partition("@")[0], folder, prefix)
        for client, variable in (("claude", "CLAUDE_CONFIG_DIR"), ("codex", "CODEX_HOME")):
            first = env.get(variable, "")
            if first:
                self._add(client, absolute(first), client)
            elif home and "home" not in conf:
                self._add(client, f"{home}/.{client}", client)
            for more in env.get(f"RECALL_{client.upper()}_HOMES", "").split(os.pathsep):
                if more:
                    from binascii import crc32

                    more = absolute(more)
                    self._add(client, more, f"{client}@{crc32(os.fsencode(more)):08x}")
        self.handoff = _on(value("handoff", "1"))
        self.after_clear = _on(value("handoff_after_clear", "0"))
        self.digest = _on(value("startup_digest", "0"))
        self.autoname = _on(value("autoname", "0"))
        days = value("handoff_days", "30")
        self.days = float(days) if days.isascii() and days.isdigit() else 30.0

    def _add(self, client: str, folder: str, prefix: str) -> None:
        folder = folder.rstrip("/")
        if folder.startswith("/") and all(folder != known for _, known, _ in self.homes):
            self.homes.append((client, folder, prefix))

    @property
    def complete(self) -> bool:
        return self.state.startswith("/") and self.archive.startswith("/") and self.data.startswith("/")


def _on(text: str) -> bool:
    return text.strip().lower() not in ("", "0", "no", "off", "false")


class Source:
    """A transcript that is there: where it lies, whose it is, where its copy goes, and when it was written to."""

    def __init__(self, path: str, client: str, copy: str, session: str, mtime: float) -> None:
        self.path = path
        self.client = client
        self.copy = copy
        self.session = session  # '' for a sub-agent beside the sessions
        self.mtime = mtime


class LateError(Exception):
    """The time is up."""


def main(argv: "list[str]", more: "dict[str, str] | None" = None) -> None:
    """Read the event from stdin, do what is to be done, and end the process with status 0.

    `argv[1]` is the path of `hook.conf`; `more` stands in for variables that are not set.
    """
    try:
        _signal.signal(_signal.SIGTERM, _leave)
        limit(SECONDS)
        os.umask(0o077)
        data = read(0)
        if data and not os.environ.get("RECALL_GUARD"):
            env = {**more, **os.environ} if more else os.environ
            out = run(data, env, argv[1] if len(argv) > 1 else "")
            while out:
                out = out[os.write(1, out) :]
    except BaseException:
        pass  # nothing may reach the session: neither words nor a status
    os._exit(0)  # faster than an orderly end, and nothing is left to be put in order


def _leave(*_: object) -> None:
    os._exit(0)


def _late(*_: object) -> None:
    raise LateError


def limit(seconds: float) -> None:
    """From now on: LateError is raised after so many seconds, whatever we wait for."""
    _signal.signal(_signal.SIGALRM, _late)
    _signal.setitimer(_signal.ITIMER_REAL, seconds)


def read(fd: int) -> bytes:
    """All that is on `fd`; nothing when it is closed or there is more than an event can have."""
    parts = []
    size = 0
    try:
        while part := os.read(fd, 1 << 20 if size else 1 << 16):
            parts.append(part)
            size += len(part)
            if size > LONGEST:
                return b""
    except OSError:
        return b""
    return b"".join(parts)


def run(data: bytes, env: "os._Environ[str] | dict[str, str]", conf: str = "") -> bytes:
    """Do what an event asks for; what is to be printed. `conf` is the path of a `hook.conf`, '' for the usual one."""
    setup = None
    event: dict[str, object] = {}
    try:
        event = parse(data)
        name = event.get("hook_event_name")
        action = _ACTIONS.get(name, "") if isinstance(name, str) else ""
        if not action or (name == "Stop" and event.get("stop_hook_active") is True):
            return b""
        setup = set_up(env, conf)
        cwd = event.get("cwd")
        if not setup.complete or cwd == setup.state + _MODEL or cwd == os.path.realpath(setup.state) + _MODEL:
            return b""
        if action == "stop":
            _stop(setup, event)
            return b""
        from recall import hookloop

        return hookloop.ACTIONS[action](setup, event, env) or b""
    except LateError:
        tell(setup, event, "the time was up")
    except Exception as problem:
        tell(setup, event, reason(problem))
    return b""


_ACTIONS = {
    "Stop": "stop",
    "StopFailure": "stop",
    "SubagentStop": "stop",
    "PreCompact": "pre_compact",
    "PostCompact": "post_compact",
    "SessionStart": "session_start",
    "SessionEnd": "session_end",
}


def set_up(env: "os._Environ[str] | dict[str, str]", conf: str = "") -> Setup:
    """The settings: `hook.conf` of the state folder that the environment names, else the file `conf`, else the usual one."""
    own = env.get("RECALL_STATE", "")
    found = read_conf(os.path.join(own, CONF)) if own.startswith("/") else None
    if found is None and conf:
        found = read_conf(conf)
    if found is None and env.get("HOME"):
        found = read_conf(f"{env['HOME']}/.claude/recall/{CONF}")
    return Setup(env, found or {})


def read_conf(path: str) -> "dict[str, list[str]] | None":
    """Lines `key=value`; a key may stand several times. None where the file cannot be read."""
    try:
        raw = small(path, 1 << 16)
    except OSError:
        return None
    out: dict[str, list[str]] = {}
    for line in raw.decode("utf-8", "surrogateescape").split("\n"):
        key, equals, value = line.partition("=")
        if equals and value and key[:1] != "#":
            out.setdefault(key, []).append(value)
    return out


class _Loose:
    """What the C scanner wants to know. An int of any length is read, as a float."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = float
    parse_constant = float


def parse(data: bytes) -> "dict[str, object]":
    """The event; {} for what is no JSON object."""
    text = data.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if not text.startswith("{"):
        return {}
    try:
        from _json import make_scanner

        scan = make_scanner(_Loose)  # type: ignore[arg-type]
    except ImportError:
        from json import JSONDecoder

        scan = JSONDecoder(strict=False).raw_decode  # type: ignore[assignment]
    try:
        found = scan(text, 0)[0]
    except (StopIteration, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


# -- copies ----------------------------------------------------------------------------------------------------


def _stop(setup: Setup, event: "dict[str, object]") -> None:
    answered = "agent_transcript_path" if "agent_transcript_path" in event else "transcript_path"
    for field in ("transcript_path", "agent_transcript_path"):
        one = source(setup, event, field)
        if one is not None:
            last: list[bytes] = []
            keep(setup, event, one, last)
            if field == answered and is_late(event, last):
                _follow(setup, event, one)


def is_late(event: "dict[str, object]", last: "list[bytes]") -> bool:
    """Does the answer that the event tells of miss in what was copied?

    Claude Code 2.1.332 writes its transcript beside its hooks: in one turn of four, the record of the answer came up to
    150 ms after the call. (Codex 0.171.0: never.)
    """
    words = event.get("last_assistant_message")
    if not isinstance(words, str):
        return False
    # Of the last line what JSON writes as it stands.
    piece = words.rstrip().rpartition("\n")[2].replace("\\", '"').replace("\t", '"').rpartition('"')[2][-80:]
    return piece != "" and all(data.find(piece.encode("utf-8", "replace")) < 0 for data in last)


def _follow(setup: Setup, event: "dict[str, object]", one: Source) -> None:
    """Copy the rest of the turn as soon as it is written, in a process of its own: nobody waits for it."""
    if os.fork():
        return
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        limit(FOLLOW)
        last: list[bytes] = []
        while is_late(event, last):
            time.sleep(0.02)
            keep(setup, event, one, last)
    except BaseException:
        pass
    os._exit(0)


def source(setup: Setup, event: "dict[str, object]", field: str = "transcript_path") -> "Source | None":
    """The transcript that a field names, if it is one of ours, there, and not purged."""
    path = event.get(field)
    if not isinstance(path, str) or not path.startswith("/") or "\0" in path:
        return None
    found = locate(path, setup.homes)
    if found is None:
        path = os.path.realpath(path)
        found = locate(path, [(client, os.path.realpath(home), prefix) for client, home, prefix in setup.homes])
        if found is None:
            return None
    client, top, copy, session = found
    try:
        # Neither link nor device, and nothing that lies elsewhere: the top folder may be a link, what is in it not.
        folder = os.path.dirname(path)
        while len(folder) > len(top):
            if os.lstat(folder).st_mode & _S_IFMT != _S_IFDIR:
                return None
            folder = os.path.dirname(folder)
        status = os.lstat(path)
    except OSError:
        return None
    if status.st_mode & _S_IFMT != _S_IFREG or not status.st_size:
        return None
    for name in (session, os.path.basename(path)[:-6], id_of(event.get("session_id"))):
        if archive.purged(setup.state, name):
            return None
    return Source(path, client, copy, session, status.st_mtime)


def locate(path: str, homes: "list[tuple[str, str, str]]") -> "tuple[str, str, str, str] | None":
    """(client, top folder, path of the copy, session) of a transcript's path; None when it is not ours.

    As the clients' own `place`, but for transcripts only; rollouts that are packed are the sweep's.
    """
    for client, home, prefix in homes:
        if not path.startswith(home + "/"):
            continue
        parts = path[len(home) + 1 :].split("/")
        if "" in parts or "." in parts or ".." in parts:
            return None
        found = _claude(parts) if client == "claude" else _codex(parts)
        if found is not None:
            return client, f"{home}/{parts[0]}", f"{prefix}/{found[0]}", found[1]
    return None


def _claude(parts: "list[str]") -> "tuple[str, str] | None":
    if len(parts) < 3 or parts[0] != "projects" or not parts[-1].endswith(".jsonl"):
        return None
    stem = parts[-1][:-6]
    if not _named(stem):
        return None
    if len(parts) == 3:
        return "/".join(parts[1:]), "" if stem.startswith("agent-") else stem
    if len(parts) > 4 and parts[3] == "subagents" and stem.startswith("agent-") and _named(parts[2]):
        return "/".join(parts[1:]), parts[2]
    return None


def _codex(parts: "list[str]") -> "tuple[str, str] | None":
    last = parts[-1]
    if len(parts) < 2 or parts[0] not in ("sessions", "archived_sessions"):
        return None
    stem = last[:-6]
    if not last.startswith("rollout-") or not last.endswith(".jsonl") or len(stem) < 9 or not _named(stem):
        return None
    number = stem[-36:]
    return last, number if _is_uuid(number) else stem


def _named(stem: str) -> bool:
    return stem[:1] != "." and stem != "" and all(char.isalnum() or char in "_-." for char in stem)


def _is_uuid(text: str) -> bool:
    digits = text[0:8] + text[9:13] + text[14:18] + text[19:23] + text[24:36]
    dashes = text[8:9] + text[13:14] + text[18:19] + text[23:24]
    return len(digits) == 32 and dashes == "----" and all(char in "0123456789abcdef" for char in digits)


def id_of(value: object) -> str:
    """A session id that may be the name of a file; '' for anything else."""
    return value if isinstance(value, str) and len(value) <= 128 and value.isascii() and _named(value) else ""


def keep(setup: Setup, event: "dict[str, object]", one: Source, last: "list[bytes] | None" = None) -> None:
    """Bring the copy up to date, and mark the session; `last` gets the end of what was new. OSError when the copy cannot be
    written."""
    if not archive.ready(setup.archive, setup.state):
        return  # not mounted: `doctor` says so
    copy = archive.locate(setup.archive, one.copy)
    kind = archive.append(one.path, os.path.join(setup.archive, copy), 0, last)[0]
    session = id_of(one.session or event.get("session_id"))
    if kind != "same" and session:
        os.close(create(os.path.join(setup.state, "changed", session), os.O_WRONLY))


# -- small files -----------------------------------------------------------------------------------------------


def create(path: str, flags: int) -> int:
    """A descriptor of a file of ours (0600), made if need be, and its folder (0700) as well."""
    try:
        return os.open(path, flags | os.O_CREAT, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        return os.open(path, flags | os.O_CREAT, 0o600)


def small(path: str, most: int) -> bytes:
    """The first `most` bytes of a regular file; a pipe in its place does not block. OSError as `open`."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        if os.fstat(fd).st_mode & _S_IFMT != _S_IFREG:
            raise OSError(22, "not a regular file", path)
        return os.read(fd, most)
    finally:
        os.close(fd)


def rotate(log: str) -> None:
    """Begin a new log when this one is long; one old one is kept."""
    try:
        if os.stat(log).st_size > _LOG_KEEP:
            os.replace(log, log + ".1")
    except OSError:
        return


def reason(problem: Exception) -> str:
    """What went wrong, without a word of a transcript."""
    if isinstance(problem, OSError) and problem.strerror:
        return f"{problem.filename or ''}: {problem.strerror}"
    return type(problem).__name__


def tell(setup: "Setup | None", event: "dict[str, object]", what: str) -> None:
    """A line in the log: time, event, session, what went wrong. Where it cannot be written, it is not."""
    if setup is None or not setup.complete or not os.path.isdir(setup.state):
        return
    log = os.path.join(setup.state, LOG)
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    session = id_of(event.get("session_id")) or "-"
    line = " ".join(f"{moment} {event.get('hook_event_name')} {session} {what}".split())[:400] + "\n"
    try:
        rotate(log)
        fd = create(log, os.O_WRONLY | os.O_APPEND)
        os.write(fd, line.encode("utf-8", "replace"))
        os.close(fd)
    except OSError:
        return
