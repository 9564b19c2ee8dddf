"""What every test may ask for: a home of its own, recall as a program in it, and transcripts to put there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

from tests import builders

# No property depends on how busy the machine is.
hypothesis.settings.register_profile("patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("patient")

ROOT = Path(__file__).resolve().parent.parent
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def environment(home: Path, **settings: str) -> dict[str, str]:
    """An environment as `env -i` would leave it: PATH, HOME, a UTF-8 locale, and `settings`."""
    bare = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONPATH": str(ROOT),
    }
    return {**bare, **settings}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home folder of the test's own."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within the test's own process, a look at what is new is not over after a quarter of a second (for recall as a
    process of its own see tests/again.py)."""
    monkeypatch.setattr("recall.actions.refresh.SECONDS", 60.0)


@pytest.fixture
def run_recall(home: Path) -> Run:
    """`run_recall("find", "export", RECALL_X="1")`: recall as a process of its own, its environment emptied.

    Keywords `home`, `cwd` (default: the home), `input` (text on stdin, default empty), `check` and `timeout` are
    taken; every other keyword is a variable. The result has `returncode`, and `stdout` and `stderr` as text. What --json
    prints is held against its schema.
    """
    default = home

    def run(
        *args: object,
        home: Path | None = None,
        cwd: Path | None = None,
        input: str = "",
        check: bool = False,
        timeout: float = 120,
        **settings: str,
    ) -> subprocess.CompletedProcess[str]:
        from tests.schemas import wrong

        place = home or default
        done = subprocess.run(
            [sys.executable, "-m", "recall", *map(str, args)],
            env=environment(place, **settings),
            cwd=cwd or place,
            input=input,
            capture_output=True,
            encoding="utf-8",
            check=check,
            timeout=timeout,
        )
        assert not (found := wrong(args, done.stdout)), found
        return done

    return run


@pytest.fixture
def claude_session() -> Callable[..., Path]:
    """`claude_session(home, "crm", id, [(user, assistant), ...])` writes a transcript: see tests/builders.py."""
    return builders.claude_session


@pytest.fixture
def codex_session() -> Callable[..., Path]:
    """`codex_session(home, "crm", id, [(user, assistant), ...])` writes a rollout: see tests/builders.py."""
    return builders.codex_session
