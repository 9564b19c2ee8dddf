"""The line under a session's prompt: what is known, fast, and never an error."""

from __future__ import annotations

import json
import os
import pty
from typing import Any

import pytest

from recall.core.address import address_of
from tests.conftest import Run


@pytest.mark.parametrize(
    ("status", "line"),
    [
        ({"cwd": "/home/dev/crm"}, "crm"),
        ({"cwd": "/a", "workspace": {"project_dir": "/home/dev/мой crm", "current_dir": "/b"}}, "мой crm"),
        ({"workspace": {"current_dir": "/b/c/"}, "context_window": {"used_percentage": 41.6}}, "c  42%"),
        ({"cwd": "/a", "context_window": {"used_percentage": 0}}, "a  0%"),
        ({"cwd": "/a", "context_window": {"used_percentage": None}}, "a"),
        (
            {
                "cwd": "/a",
                "context_window": {
                    "context_window_size": 200000,
                    "current_usage": {"input_tokens": 1000, "cache_read_input_tokens": 99000, "output_tokens": 5},
                },
            },
            "a  50%",
        ),
        ({"cwd": 7, "workspace": [], "context_window": "x"}, ""),
        ({"cwd": "/\x1b[31mred"}, "red"),
        ({"cwd": "/a", "context_window": {"used_percentage": True, "context_window_size": 0}}, "a"),
    ],
)
def test_what_is_shown(run_recall: Run, status: dict[str, Any], line: str) -> None:
    """Project and percent by the fields that the client gives; what is not known is left out."""
    done = run_recall("statusline", input=json.dumps(status), CLAUDE_PID="1")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{line}\n", "")


@pytest.mark.parametrize("text", ["", "x", "[]", "null", "{", '{"cwd":'])
def test_anything_on_stdin(run_recall: Run, text: str) -> None:
    done = run_recall("statusline", input=text, CLAUDE_PID="none")
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")


@pytest.mark.parametrize(
    ("tty", "address"),
    [
        ("ttys034", "s034"),
        ("/dev/ttys1024", "s1024"),
        ("pts/3", "s003"),
        ("/dev/pts/34\n", "s034"),
        ("??", ""),
        ("", ""),
        ("tty1", "tty1"),
    ],
)
def test_addresses(tty: str, address: str) -> None:
    assert address_of(tty) == address


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="terminals are read from /proc")
def test_the_address_is_that_of_the_clients_terminal(run_recall: Run) -> None:
    """By the client's process number; the status line's own process has no terminal."""
    pid, terminal = pty.fork()
    if pid == 0:  # the client: it only has to be there
        os.write(1, b"!")
        os.read(0, 1)
        os._exit(0)
    try:
        assert os.read(terminal, 1) == b"!"
        name = os.readlink(f"/proc/{pid}/fd/0")
        done = run_recall("statusline", input='{"cwd":"/a"}', CLAUDE_PID=str(pid))
        assert done.stdout == f"a  s{int(name.rpartition('/')[2]):03}\n"
    finally:
        os.write(terminal, b"\n")
        os.waitpid(pid, 0)
        os.close(terminal)
