"""A screen that nobody looks at: Xvfb, for terminals that need one."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.terminals.wire import PATIENCE


@contextmanager
def screen() -> Iterator[str]:
    """The name of a screen (`:5`) that is there as long as this lasts. The test is skipped where there is no Xvfb."""
    if not shutil.which("Xvfb"):
        pytest.skip("no Xvfb here")
    ours, its = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(its), "-screen", "0", "1024x768x24", "-nolisten", "tcp"],
        pass_fds=[its],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin"},
    )
    os.close(its)
    try:
        told = b""
        while not told.endswith(b"\n"):
            ready, _, _ = select.select([ours], [], [], PATIENCE)
            some = os.read(ours, 16) if ready else b""
            if not some:
                pytest.skip("Xvfb does not start")
            told += some
        yield f":{told.decode().strip()}"
    finally:
        os.close(ours)
        server.terminate()
        server.wait(timeout=PATIENCE)
