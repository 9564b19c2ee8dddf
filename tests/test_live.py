"""Which sessions are open."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from recall.live import live_ids
from tests.machine import settings


def test_a_client_that_ended_is_not_open_even_while_nobody_has_asked_for_its_end(home: Path) -> None:
    """A killed client stays in the process table until its parent looks: it is a row there and nothing more."""
    client = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        started = Path(f"/proc/{client.pid}/stat").read_text().rpartition(")")[2].split()[19]
        (home / ".claude/sessions").mkdir(parents=True)
        entry = {"pid": client.pid, "sessionId": "aaaa", "procStart": started, "entrypoint": "cli"}
        (home / f".claude/sessions/{client.pid}.json").write_text(json.dumps(entry))
        assert live_ids(settings(home)) == {"aaaa"}
        client.kill()
        os.waitid(os.P_PID, client.pid, os.WEXITED | os.WNOWAIT)
        assert live_ids(settings(home)) == set()
    finally:
        client.kill()
        client.wait()
