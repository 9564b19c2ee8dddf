"""A screen that nobody looks at (Xvfb), and what belongs to a desktop, for terminals that need them."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.terminals.wire import PATIENCE, until


@contextmanager
def screen() -> Iterator[str]:
    """The name of a screen (`:5`) that is there as long as this lasts. The test is skipped where there is no Xvfb."""
    if not shutil.which("Xvfb"):
        pytest.skip("no Xvfb here")
    ours, its = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(its), "-screen", "0", "1024x768x24", "-nolisten", "tcp", "-noreset"],
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


@contextmanager
def desktop(folder: Path) -> Iterator[dict[str, str]]:
    """The environment of a desktop session that an agent started: a screen, and a message bus that starts services.
    `folder` is for what they keep. The test is skipped where there is no such bus."""
    if not shutil.which("dbus-daemon"):
        pytest.skip("no dbus-daemon here")
    with screen() as display:
        runtime = folder / "runtime"
        runtime.mkdir(mode=0o700)
        env = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "SHELL": "/bin/true",
            "DISPLAY": display,
            "XDG_RUNTIME_DIR": str(runtime),
            "LIBGL_ALWAYS_SOFTWARE": "1",
            "NO_AT_BRIDGE": "1",
        }
        bus = subprocess.Popen(
            ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1"],
            env={**env, "CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CODE_CHILD_SESSION": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert bus.stdout is not None
        try:
            address = bus.stdout.readline().strip()
            if not address:
                pytest.skip("dbus-daemon does not start here")
            yield {**env, "DBUS_SESSION_BUS_ADDRESS": address}
        finally:
            bus.terminate()
            bus.wait(timeout=PATIENCE)
            bus.stdout.close()


@contextmanager
def temporary() -> Iterator[Path]:
    """A folder with a short path (those of sockets are limited). What the services of a desktop still write there as they
    end goes too."""
    folder = tempfile.mkdtemp(prefix="rd", dir="/tmp")
    try:
        yield Path(folder)
    finally:
        until(lambda: shutil.rmtree(folder, ignore_errors=True) or not os.path.exists(folder))
