"""When the last sweep ended, and how: `<state>/swept.json`, for `doctor`.

The time of the file is the time of the last sweep; what it says is how that went, so that a sweep with nothing new
only touches it. `{"error": "", "failing": 0}`; `error` is one line, '' when it went well, `failing` a count of files.
"""

from __future__ import annotations

import contextlib
import os
from typing import NamedTuple

from recall.settings import Settings

_LONGEST = 65536


class Swept(NamedTuple):
    """The last sweep: seconds since the epoch, why it could not be done ('' when it was), files with a problem."""

    time: float
    error: str
    failing: int


def note(settings: Settings, *, error: str = "", failing: int = 0) -> None:
    """A sweep ends now. Where that cannot be written down, nothing is."""
    import json

    from recall.files import write_atomic

    path = _path(settings)
    text = json.dumps({"error": error[:500], "failing": failing}, ensure_ascii=False).encode("utf-8", "replace")
    with contextlib.suppress(OSError):
        if _content(path) == text:
            os.utime(path)
        else:
            write_atomic(path, text)


def last(settings: Settings) -> Swept | None:
    """The last sweep; None where there is no sign of one."""
    import json

    path = _path(settings)
    try:
        time = os.stat(path).st_mtime
        found = json.loads(_content(path) or b"")
    except OSError:
        return None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        return Swept(time, "", 0)
    error, failing = found.get("error"), found.get("failing")
    return Swept(time, error if isinstance(error, str) else "", failing if isinstance(failing, int) else 0)


def _path(settings: Settings) -> str:
    return os.path.join(settings.state, "swept.json")


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read(_LONGEST)
    except FileNotFoundError:
        return None
