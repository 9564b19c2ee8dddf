"""The hook as the clients call it: through its launcher, with nothing in the environment but HOME and PATH."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from recall.actions import launcher
from tests import builders
from tests.conftest import ROOT

SESSION = "0198a3c0-1111-4000-8000-0000000000aa"
OTHER = "0198a3c0-2222-4000-8000-0000000000bb"
ANSWER = "The export reads all deals now.\n\nNext steps:\n1. Run export.py on the whole portal\n2. Look at the two deals without a stage"
TURNS = [
    (
        f"Please export the deals of region {n} to the portal",
        ANSWER,
        [("Write", {"file_path": "export.py", "content": f"print({n})"}, "ok")],
    )
    for n in range(6)
]


class Said(NamedTuple):
    """How the hook ended, and what it printed."""

    status: int
    out: str
    err: str

    @property
    def silent(self) -> bool:
        return self == (0, "", "")

    @property
    def told(self) -> str:
        """What it put into the context; '' for nothing."""
        return str(self.fields.get("additionalContext", ""))

    @property
    def fields(self) -> dict[str, Any]:
        if not self.out:
            return {}
        document = json.loads(self.out)
        assert set(document) == {"hookSpecificOutput"}
        inner: dict[str, Any] = document["hookSpecificOutput"]
        assert inner.pop("hookEventName") == "SessionStart"
        return inner


class Place:
    """A home with one session of each client in it, and the hook installed."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.state = home / ".claude/recall"
        self.archive = home / "backups/claude-transcripts"
        self.data = home / ".claude/session-recaps"
        self.share = home / ".local/share/recall"
        self.claude = builders.claude_session(home, "crm", SESSION, TURNS)
        self.codex = builders.codex_session(home, "crm", OTHER, TURNS)
        self.agent = builders.claude_session(home, "crm", "x", TURNS[:1], sidechain=True)
        folder = self.claude.with_suffix("") / "subagents"
        folder.mkdir(parents=True)
        self.agent = self.agent.rename(folder / "agent-a1.jsonl")
        self.launcher = self.share / "recall-hook"
        self.install()

    def install(self, python: str = sys.executable, package: str = str(ROOT / "recall")) -> None:
        """Write the launcher as the installer does."""
        self.share.mkdir(parents=True, exist_ok=True)
        self.launcher.write_bytes(launcher.text(python, package, str(self.state / "hook.conf")))
        self.launcher.chmod(0o700)

    def event(self, name: str, client: str = "claude", **fields: Any) -> dict[str, Any]:
        """A payload as the client gives it."""
        path, session = (self.claude, SESSION) if client == "claude" else (self.codex, OTHER)
        common = {"session_id": session, "transcript_path": str(path), "cwd": "/home/dev/crm", "hook_event_name": name}
        return {**common, **fields}

    def call(self, event: object, *, env: dict[str, str] | None = None, **more: Any) -> Said:
        """Call the launcher as a client does; bytes are given as they are, anything else as JSON."""
        data = event if isinstance(event, bytes) else json.dumps(event, ensure_ascii=False).encode()
        variables = {"HOME": str(self.home), "PATH": os.environ.get("PATH", os.defpath), **(env or {})}
        done = subprocess.run(
            ["/bin/sh", "-c", launcher.command(str(self.share))],
            input=data,
            capture_output=True,
            env={name: value for name, value in variables.items() if value},
            cwd=self.home,
            timeout=60,
            check=False,
            **more,
        )
        return Said(done.returncode, done.stdout.decode(), done.stderr.decode())

    def copy(self, path: Path) -> Path:
        """Where the copy of a transcript goes."""
        if path.is_relative_to(self.home / ".codex"):
            return self.archive / "codex" / path.name
        return self.archive / "claude" / path.relative_to(self.home / ".claude/projects")

    def settle(self) -> None:
        """Wait until all that the hook has started is done."""
        for path in (self.state / "children").glob("*"):
            with path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)

    def files(self) -> set[str]:
        """All files of ours, without the index and locks."""
        found = set()
        for top in (self.archive, self.state, self.data):
            found |= {str(path.relative_to(self.home)) for path in top.rglob("*") if path.is_file()}
        return found

    def handoff(
        self, session: str = SESSION, *, by: str = "claude-haiku-5-5", updated: str = "", **fields: str
    ) -> Path:
        """A handoff card that is kept; its file is as old as it says."""
        moment = updated or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        body = {"Task now": "Export deals to the portal", "Next": "1. Run export.py on all deals", **fields}
        text = f"# crm · export\n{session} | /home/dev/crm | {moment} | {by}\n"
        text += "".join(f"## {key}\n{value}\n" for key, value in body.items())
        path = self.data / "handoffs" / f"{session}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


@pytest.fixture
def place(home: Path) -> Place:
    return Place(home)


Call = Callable[..., Said]
