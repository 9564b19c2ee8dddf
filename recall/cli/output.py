"""How results look: plain stable lines when piped, colour and progress bars only on a terminal, JSON when asked for."""

from __future__ import annotations

import datetime
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from recall.settings import Settings


def utc(seconds: float) -> str | None:
    """ISO 8601 UTC for JSON; None when the time is not known."""
    if not seconds:
        return None
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def print_json(value: Any) -> None:
    """One JSON document on stdout; texts in it are redacted."""
    sys.stdout.write(json_text(value) + "\n")


def json_text(value: Any) -> str:
    """JSON that a terminal may show, too: what would act there (in the name of a folder, say) is spelled `\\u202e`, which
    means the same."""
    import json
    import re

    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    return re.sub(_ACTED_UPON, lambda found: f"\\u{ord(found[0]):04x}", text)


_ACTED_UPON = "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
"""What `json` does not spell itself."""


def colored(settings: Settings, stream: Any = None) -> bool:
    """May the stream be coloured? Only a terminal, and not against NO_COLOR."""
    stream = stream or sys.stdout
    return settings.color is not False and bool(stream.isatty())


def ago(seconds: float, now: float) -> str:
    """'2 minutes ago' and the like; '' when the time is not known."""
    if not seconds:
        return "never"
    away = max(0.0, now - seconds)
    for size, name in (
        (86400 * 365.25, "year"),
        (86400 * 30.44, "month"),
        (86400, "day"),
        (3600, "hour"),
        (60, "minute"),
    ):
        if away >= size:
            count = int(away // size)
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"


def terminal_columns() -> int:
    """Columns of the terminal that stdout is; 0 when it is none."""
    if not sys.stdout.isatty():
        return 0
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except OSError:
        return 80


def megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size < 1e9 else f"{size / 1e9:.2f} GB"


class Progress:
    """A bar on stderr, if that is a terminal; a listener for `progress(done, total, what)`. `amount` words a number."""

    def __init__(self, *, quiet: bool = False, amount: Callable[[int], str] = megabytes) -> None:
        self._amount = amount
        self._on = not quiet and sys.stderr.isatty()
        self._last = 0.0
        self._drawn = False

    def __call__(self, done: int, total: int, what: str) -> None:
        if not self._on or not total:
            return
        now = time.monotonic()
        if now - self._last < 0.1 and done < total:
            return
        self._last = now
        try:
            columns = os.get_terminal_size(sys.stderr.fileno()).columns
        except OSError:
            columns = 80
        share = min(1.0, done / total)
        tail = f" {share:4.0%}  {self._amount(min(done, total))} of {self._amount(total)}  {what}"
        width = max(10, min(30, columns - len(tail) - 2))
        filled = int(share * width)
        line = ("█" * filled + "░" * (width - filled) + tail)[: columns - 1]
        sys.stderr.write("\r" + line + "\x1b[K")
        sys.stderr.flush()
        self._drawn = True

    def end(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._drawn = False
