"""The record of what was typed into sessions: one JSON object a line in `iterm-audit.log` in the state folder, 0600.

Every send is there, also one that was refused or failed. A file of more than 1 MB becomes `iterm-audit.log.1`. Keys: `time` (ISO
8601, UTC), `address` as it was typed, `session`, `client`, `terminal` and `pane` ('' where it did not come to that), `bytes` of
the text, `text` (its first 80 characters, redacted, on one line), `force`, and `result`: 'arrived', 'queued', or what was wrong,
with its kind before a colon.
"""

from __future__ import annotations

import datetime
import json
import os
from typing import NamedTuple

from recall.actions.transcript import shown
from recall.core.plain import cut, one_line
from recall.files import append_private

_KEEP = 1 << 20
_SHOWN = 80


class Entry(NamedTuple):
    """One send."""

    address: str
    text: str
    result: str
    session: str = ""
    client: str = ""
    terminal: str = ""
    pane: str = ""
    force: bool = False


def path_of(state: str) -> str:
    """Where the log is; `state` is the state folder."""
    return os.path.join(state, "iterm-audit.log")


def note(state: str, entry: Entry, now: float) -> None:
    """Append a line; `now` in seconds since 1970. OSError where it cannot be written."""
    when = datetime.datetime.fromtimestamp(now, datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    line = {
        "time": when,
        "address": one_line(shown(entry.address))[:200],
        "session": entry.session,
        "client": entry.client,
        "terminal": entry.terminal,
        "pane": entry.pane,
        "bytes": len(entry.text.encode("utf-8", "surrogatepass")),
        # The whole text is redacted, then cut: half of a secret is not known as one.
        "text": cut(one_line(shown(entry.text)), _SHOWN),
        "force": entry.force,
        "result": one_line(shown(entry.result)),
    }
    data = json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    append_private(path_of(state), data, keep=_KEEP)
