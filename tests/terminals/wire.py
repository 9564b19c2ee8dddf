"""How a program that was started in some terminal tells the test what it got: through a named pipe."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

PATIENCE = 60.0
"""Seconds until something that should come is given up. Nothing waits that long unless it fails."""

_RECORDER = """\
#!/bin/sh
# Tells its arguments, its folder and its environment, each ended with NUL, all of it ended with an empty line of its own.
{ printf '%s\\0' "$#" "$@" "$PWD"; env -0; printf 'END\\0'; } >'PIPE'
"""


Found = TypeVar("Found")


class Got(NamedTuple):
    """What a program was started with."""

    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str]


class Wire:
    """A named pipe, and a program (`recorder`) that tells through it how it was started."""

    def __init__(self, folder: Path) -> None:
        self.pipe = folder / "pipe"
        os.mkfifo(self.pipe, 0o600)
        self._fd = os.open(self.pipe, os.O_RDWR | os.O_NONBLOCK)
        self._rest = b""
        self.recorder = folder / "recorder"
        self.recorder.write_text(_RECORDER.replace("PIPE", str(self.pipe)))
        self.recorder.chmod(0o700)

    def close(self) -> None:
        """Close it."""
        os.close(self._fd)

    def until(self, mark: bytes, patience: float = PATIENCE) -> bytes:
        """What comes before `mark`; TimeoutError if it does not come."""
        end = time.monotonic() + patience
        while mark not in self._rest:
            ready, _, _ = select.select([self._fd], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError(f"never came: {mark!r}; so far {self._rest[-300:]!r}")
            self._rest += os.read(self._fd, 1 << 16)
        found, _, self._rest = self._rest.partition(mark)
        return found

    def got(self, patience: float = PATIENCE) -> Got:
        """How the recorder was started."""
        fields = [os.fsdecode(field) for field in self.until(b"\0END\0", patience).split(b"\0")]
        count = int(fields[0])
        variables = dict(field.split("=", 1) for field in fields[count + 2 :] if "=" in field)
        return Got(tuple(fields[1 : count + 1]), fields[count + 1], variables)


def until(condition: Callable[[], Found]) -> Found:
    """What `condition` returns once it is true."""
    end = time.monotonic() + PATIENCE
    while True:
        found = condition()
        if found or time.monotonic() > end:
            return found
        time.sleep(0.05)
