"""What recall and its bridge in iTerm2 say to each other: one line of JSON each way, over a Unix socket.

A request is `{"v", "op", "until", "within", ...}`, an answer `{"v", "ok": true, ...}` or `{"v", "ok": false, "kind", "error"}`.
`v` is the version of this protocol on both sides. `until` is when the caller gives up, in seconds since 1970, and `within`
how many seconds from its arrival a request is good for: both must hold when text is sent, so that neither a bridge that
was asleep nor a clock that was set carries out what nobody waits for any more.

The bridge (`share/iterm2/recall_bridge.py`) runs in iTerm2's own Python and cannot import this module; what it repeats of it
is compared by a test.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from recall.errors import Refused, Unavailable

VERSION = 1

HELLO, PANES, READ, PASTE, ENTER, RETIRE = "hello", "panes", "read", "paste", "enter", "retire"
OPS = (HELLO, PANES, READ, PASTE, ENTER, RETIRE)
"""`hello`: who answers. `panes`: all sessions of iTerm2. `read`: the last lines of one. `paste`: text into one, bracketed.
`enter`: the Enter key in one. `retire`: make room for a newer bridge."""

LARGEST_REQUEST = 1 << 20
LARGEST_ANSWER = 4 << 20
"""Bytes of a line, its end included."""
MOST_LINES = 5000
"""That `read` gives."""
LONGEST = 60.0
"""Seconds that a request may be good for."""

SOCKET = "bridge.sock"
LONGEST_PATH = 100
"""Bytes; the kernel takes 104 with the closing NUL on macOS, 108 on Linux."""

FIX = (
    "recall iterm-install sets the bridge up; in iTerm2: Settings > General > Magic > Enable Python API, then "
    "Scripts > AutoLaunch > recall_bridge.py, and allow it when macOS asks"
)
RENEW = "recall iterm-install, then in iTerm2: Scripts > AutoLaunch > recall_bridge.py"


class Told(NamedTuple):
    """One session of iTerm2 as the bridge tells of it. `tty` as `/dev/ttys003`, '' for none; `pid` of the program that was
    started there, `job` of the one in the foreground, 0: not known."""

    id: str
    tty: str = ""
    pid: int = 0
    job: int = 0
    title: str = ""
    cwd: str = ""


def socket_path(state: str, user: int) -> str:
    """Where the bridge of this state folder listens: `<state>/iterm/bridge.sock`, or, where that is too long for the kernel,
    `/tmp/recall-<user>-<digest of the state folder>/bridge.sock`. The folder is 0700 in both places."""
    path = f"{state}/iterm/{SOCKET}"
    if len(path.encode("utf-8", "surrogateescape")) <= LONGEST_PATH:
        return path
    digest = hashlib.sha256(state.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return f"/tmp/recall-{user}-{digest}/{SOCKET}"


def request(op: str, now: float, within: float, **what: Any) -> bytes:
    """A request as it goes over the wire; `now` is the caller's clock, `within` the seconds that it will wait. Refused where it
    is too large."""
    line = json.dumps({"v": VERSION, "op": op, "until": now + within, "within": within, **what}, ensure_ascii=True)
    data = line.encode("ascii") + b"\n"
    if len(data) > LARGEST_REQUEST:
        raise Refused(
            f"the text is too long for one message: {len(data)} bytes", "put it into a file, and send its path"
        )
    return data


def answer(line: bytes) -> dict[str, Any]:
    """What an answer says. Raises Unavailable for one of another version or that makes no sense, and for what the bridge could
    not do (the session is gone, say); Refused for what it would not do."""
    try:
        found = json.loads(line)
        version, done = found["v"], found["ok"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Unavailable("the bridge in iTerm2 answers what cannot be understood", RENEW) from None
    if version != VERSION:
        raise Unavailable(f"the bridge in iTerm2 is of another version ({version!s:.20}, not {VERSION})", RENEW)
    if done is True:
        return dict(found)
    words = " ".join(str(found.get("error") or "it does not say why").split())[:300]
    kind = found.get("kind")
    if kind == "gone":
        raise Unavailable(f"iTerm2: {words}", "recall ps shows what is open")
    if kind == "refused":
        raise Refused(f"iTerm2: {words}")
    raise Unavailable(f"the bridge in iTerm2: {words}", FIX if kind == "iterm2" else RENEW)


def panes(found: dict[str, Any]) -> list[Told]:
    """The sessions in an answer to `panes`; what is no session is left out."""
    listed = found.get("panes")
    out = []
    for one in listed if isinstance(listed, list) else []:
        if not isinstance(one, dict) or not _text(one.get("id")):
            continue
        out.append(
            Told(
                _text(one["id"]),
                _text(one.get("tty")),
                _number(one.get("pid")),
                _number(one.get("job")),
                _text(one.get("title")),
                _text(one.get("cwd")),
            )
        )
    return out


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
