"""The real `claude` and `codex` in a home of their own, in a tmux server of their own, with a fake of the model API.

The environment of all that runs here is built from nothing (`Lab.env`), so no key, proxy or setting of this
machine is seen; the only address that the clients are given is the fake server on 127.0.0.1. `Lab.close` ends what was
started here by its number, and nothing else. What the clients do was observed with claude 2.1.332 and codex 0.171.0.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tests import fake_model_api

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = float(os.environ.get("RECALL_TEST_PATIENCE", "40"))
"""Seconds that a client may take for anything. Nothing waits that long unless it fails."""

READY = {"claude": "❯", "codex": "Ask Codex"}
Found = TypeVar("Found")


def wait_for(condition: Callable[[], Found], what: str, *, seconds: float = PATIENCE, every: float = 0.1) -> Found:
    """What `condition` returns as soon as it is true, looked at `every` so many seconds; `what` says in a failure what never came."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise TimeoutError(f"never came: {what}")
        time.sleep(every)


class Lab:
    """One home with both clients set up: no onboarding, key or trust question, every tool allowed."""

    def __init__(self, clients: Path, *, projects: Iterable[str] = ("crm", "shop")) -> None:
        self.clients = clients
        self.root = Path(tempfile.mkdtemp(prefix="rc", dir="/tmp"))  # short: paths of sockets are limited
        self.home = self.root / "h"
        self.temporary = self.root / "t"
        for folder in (self.home, self.temporary):
            folder.mkdir(mode=0o700)
        self.api = fake_model_api.start({})
        self.address = f"http://127.0.0.1:{self.api.server_address[1]}"
        self.variables: dict[str, str] = {}
        self.projects = tuple(projects)
        self._windows = 0
        self._tmux_runs = False
        for name in self.projects:
            (self.home / name).mkdir()
        self._set_up_claude()
        self.set_up_codex()

    # ------------------------------------------------------------ set up

    def _set_up_claude(self) -> None:
        trusted = {
            "hasTrustDialogAccepted": True,
            "hasCompletedProjectOnboarding": True,
            "projectOnboardingSeenCount": 4,
        }
        state = {
            "hasCompletedOnboarding": True,
            "lastOnboardingVersion": "99.0.0",
            "theme": "dark",
            "numStartups": 5,
            "customApiKeyResponses": {"approved": ["test-key"], "rejected": []},
            "projects": {str(self.home / name): trusted for name in self.projects},
        }
        (self.home / ".claude.json").write_text(json.dumps(state))
        (self.home / ".claude").mkdir(mode=0o700)
        settings = {
            "theme": "dark",
            "permissions": {"defaultMode": "acceptEdits", "allow": ["Bash", "Write", "Edit", "Read", "Agent", "Skill"]},
        }
        (self.home / ".claude/settings.json").write_text(json.dumps(settings, indent=2) + "\n")

    def set_up_codex(self, *, server: bool = False) -> None:
        """`server`: with its background server, which copies the whole client (420 MB) and outlives the window."""
        quoted = json.dumps  # a JSON string is a TOML string
        lines = [
            'model = "gpt-5.4"',
            'model_provider = "fake"',
            'approval_policy = "never"',
            'sandbox_mode = "danger-full-access"',
            "check_for_update_on_startup = false",
            "[analytics]",
            "enabled = false",
            "[feedback]",
            "enabled = false",
            "[notice]",
            "hide_full_access_warning = true",
            "[model_providers.fake]",
            'name = "fake"',
            f'base_url = "{self.address}/v1"',
            'wire_api = "responses"',
            'env_key = "FAKE_API_KEY"',
            "request_max_retries = 1",
            "stream_max_retries = 1",
            "supports_websockets = false",
            "[features]",
            f"daemon_auto_start = {str(server).lower()}",
        ]
        for name in self.projects:
            lines += [f"[projects.{quoted(str(self.home / name))}]", 'trust_level = "trusted"']
        (self.home / ".codex").mkdir(mode=0o700, exist_ok=True)
        (self.home / ".codex/config.toml").write_text("\n".join(lines) + "\n")

    def env(self, **more: str) -> dict[str, str]:
        """All that a client or recall gets to see of an environment."""
        return {
            "PATH": f"{self.home}/.local/bin:{self.clients}/node_modules/.bin:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "SHELL": "/bin/sh",
            "TMPDIR": str(self.temporary),
            "CLAUDE_CODE_TMPDIR": str(self.temporary),
            "ANTHROPIC_API_KEY": "test-key",
            "ANTHROPIC_BASE_URL": self.address,
            "FAKE_API_KEY": "test-key",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            **self.variables,
            **more,
        }

    # ------------------------------------------------------------ running

    def run(
        self, argv: Sequence[object], *, cwd: str = "crm", check: bool = True, timeout: float = 120, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Any program in this home; stdin is empty, output is text."""
        done = subprocess.run(
            [str(word) for word in argv],
            cwd=self.home / cwd,
            env=self.env(**more),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=timeout,
        )
        assert done.returncode == 0 or not check, (argv, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
        return done

    def recall(self, *args: object, check: bool = True, **more: str) -> subprocess.CompletedProcess[str]:
        """recall of this checkout."""
        return self.run([sys.executable, "-m", "recall", *args], check=check, PYTHONPATH=str(ROOT), **more)

    def find(self, *words: object) -> list[dict[str, Any]]:
        """Rows of `recall find --json`, best first; none is no failure."""
        done = self.recall("find", "--json", *words, check=False)
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)["results"] if done.stdout else []

    def rows(self, *words: object) -> list[dict[str, Any]]:
        """The same after a whole sweep."""
        self.recall("sweep", "--no-llm", "--quiet")
        return self.find("--no-refresh", *words)

    def answer(self, *texts: str | dict[str, Any], **more: Any) -> None:
        """What the model says from now on: one text (or whole reply) a turn. Session titles are answered apart."""
        turns = [{"text": text} if isinstance(text, str) else text for text in texts]
        rules = [*more.pop("rules", []), {"when": {"api": "openai", "kind": "side", "structured": True}, "reply": {}}]
        self.api.script.load({"turns": turns, "rules": rules, **more})

    def asked(self, since: int = 0, *, kind: str = "main") -> list[dict[str, Any]]:
        """Bodies of the requests that reached the model, oldest first; `kind` '' for all."""
        found = [one for one in list(self.api.requests)[since:] if one["body"] and one["method"] == "POST"]
        return [one["body"] for one in found if not kind or one["kind"] == kind]

    def tui(self, client: str, *args: str, cwd: str = "crm", ready: str = "", **more: str) -> Tui:
        """A client in a window of its own, as soon as it shows its prompt."""
        return self.window(client, [str(self.program(client)), *args], cwd=cwd, ready=ready, **more)

    def window(self, client: str, argv: Sequence[str], *, cwd: str = "crm", ready: str = "", **more: str) -> Tui:
        """The same for any command line that ends in a client."""
        self._windows += 1
        tui = Tui(self, client, f"w{self._windows}", argv, self.home / cwd, self.env(**more))
        tui.wait(ready or READY[client])
        return tui

    def program(self, client: str) -> Path:
        return self.clients / "node_modules/.bin" / client

    def tmux(self, *args: str, check: bool = True) -> str:
        """One tmux command for this lab's own server; what it prints."""
        self._tmux_runs = True
        env = {key: value for key, value in self.env().items() if key in ("PATH", "HOME", "TERM", "LANG", "SHELL")}
        done = subprocess.run(
            ["tmux", "-S", str(self.root / "s"), "-f", "/dev/null", *args],
            env=env,
            capture_output=True,
            encoding="utf-8",
        )
        assert done.returncode == 0 or not check, (args, done.stderr)
        return done.stdout

    # ------------------------------------------------------------ looking

    def transcripts(self, client: str = "claude") -> list[Path]:
        """The client's own files of sessions, oldest first; not those of sub-agents."""
        if client == "claude":
            found = list(self.home.glob(".claude/projects/*/*.jsonl"))
        else:
            found = list(self.home.glob(".codex/sessions/*/*/*/rollout-*.jsonl"))
        return sorted(found, key=lambda path: path.stat().st_mtime_ns)

    def copy_of(self, transcript: Path) -> Path:
        """Where the archive keeps it."""
        archive = self.home / "backups/claude-transcripts"
        if ".codex" in transcript.parts:
            (found,) = list(archive.glob(f"codex/**/{transcript.name}")) or [archive / "codex" / transcript.name]
            return found
        return archive / "claude" / transcript.parent.name / transcript.name

    def card(self, session: str) -> str:
        """The card of a session, '' where there is none."""
        path = self.home / f".claude/session-recaps/{session}.md"
        return path.read_text() if path.exists() else ""

    def end_codex_server(self) -> None:
        """End the background server that a codex of this home has started, and what keeps it up to date."""
        for name in ("daemon-updater.pid", "daemon.pid"):
            note = self.home / ".codex/app-server-daemon" / name
            with contextlib.suppress(OSError, ValueError, KeyError):
                os.kill(int(json.loads(note.read_text())["pid"]), signal.SIGTERM)

    # ------------------------------------------------------------ the end

    def close(self) -> None:
        """End everything that runs from this home, and remove the home."""
        if self._tmux_runs:
            self.tmux("kill-server", check=False)
        with contextlib.suppress(TimeoutError):
            wait_for(lambda: not self._end(signal.SIGTERM), "the end of what was started", seconds=8)
        self._end(signal.SIGKILL)
        self.api.shutdown()
        self.api.server_close()
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.rmtree(self.root, ignore_errors=True)  # what was still being written the first time

    def _end(self, number: int) -> int:
        """Signal every process whose HOME is this one; how many there were."""
        mine = b"HOME=" + os.fsencode(self.home)
        count = 0
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            with contextlib.suppress(OSError):
                if mine in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), number)
                    count += 1
        return count


class Tui:
    """One client in one window."""

    def __init__(self, lab: Lab, client: str, name: str, argv: Sequence[str], cwd: Path, env: dict[str, str]) -> None:
        self.lab, self.client, self.name = lab, client, name
        words = ["env", "-i", *(f"{key}={value}" for key, value in env.items()), *argv]
        size = ("-x", "150", "-y", "50")
        lab.tmux("new-session", "-d", "-s", name, *size, "-c", str(cwd), "exec " + shlex.join(words))
        lab.tmux("set-option", "-t", name, "remain-on-exit", "on", check=False)
        self.pid = int(lab.tmux("display-message", "-p", "-t", name, "#{pane_pid}"))

    def screen(self) -> str:
        return self.lab.tmux("capture-pane", "-p", "-J", "-t", self.name, check=False)

    def keys(self, *keys: str) -> None:
        self.lab.tmux("send-keys", "-t", self.name, *keys)

    def wait(self, pattern: str, seconds: float = PATIENCE) -> str:
        """The screen, as soon as it shows the pattern."""
        try:
            return wait_for(lambda: self._shows(pattern), pattern, seconds=seconds)
        except TimeoutError:
            raise TimeoutError(f"the screen never showed {pattern!r}; last:\n{self.screen()}") from None

    def _shows(self, pattern: str) -> str:
        text = self.screen()
        return text if re.search(pattern, text) else ""

    def type(self, text: str) -> None:
        """Text into the input line, there for sure: a client draws its prompt before it listens."""
        for _ in range(20):
            self.lab.tmux("send-keys", "-t", self.name, "-l", "--", text)
            with contextlib.suppress(TimeoutError):
                wait_for(lambda: text[-30:] in self._input(), text, seconds=2)
                return
            self.keys("C-u")
        raise TimeoutError(f"{text!r} was never drawn; last:\n{self.screen()}")

    def _input(self) -> str:
        """What stands in the input line: from the last prompt sign to the rule below it, or to an empty line."""
        sign, end = ("❯", "\n─") if self.client == "claude" else ("›", "\n\n")
        lines = "\n".join(line.rstrip() for line in self.screen().rpartition(sign)[2].splitlines())
        return lines.partition(end)[0]

    def submit(self, text: str) -> None:
        """A line, sent: it has left the input line."""
        self.type(text)
        for _ in range(10):
            self.keys("Enter")
            with contextlib.suppress(TimeoutError):
                wait_for(lambda: text[-30:] not in self._input() or not self.alive(), text, seconds=2)
                return
        raise TimeoutError(f"{text!r} was never sent; last:\n{self.screen()}")

    def turn(self, text: str, answer: str) -> None:
        """A line, and the whole turn that it starts: the answer is on the screen and the client idle."""
        self.submit(text)
        self.wait(re.escape(answer))
        wait_for(self.idle, f"the end of the turn of {text!r}")

    def idle(self) -> bool:
        """Has the client nothing to do?"""
        if self.client == "claude":
            return self.entry().get("status") == "idle"
        return "esc to interrupt" not in self.screen()

    def entry(self) -> dict[str, Any]:
        """What Claude Code says of itself in `sessions/<pid>.json`: sessionId, status, ..."""
        for pid in (self.pid, *_children(self.pid)):
            with contextlib.suppress(OSError, ValueError):
                return dict(json.loads((self.lab.home / f".claude/sessions/{pid}.json").read_text()))
        return {}

    def session(self) -> str:
        """The id of the session that Claude Code has open in this window."""
        return str(wait_for(lambda: self.entry().get("sessionId"), "the session's id"))

    def alive(self) -> bool:
        try:
            return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    def gone(self) -> None:
        """Wait for the end of the client."""
        wait_for(lambda: not self.alive(), f"the end of {self.client}; last:\n{self.screen()}")

    def quit(self) -> None:
        """As a user leaves."""
        self.submit("/exit" if self.client == "claude" else "/quit")
        self.gone()

    def kill(self, number: int = signal.SIGKILL) -> None:
        """A signal to the client itself (that of npm's launcher is passed on by it, but not the last one)."""
        for pid in [*_children(self.pid), self.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        self.gone()

    def close_window(self) -> None:
        """What closing a terminal's window does."""
        self.lab.tmux("kill-session", "-t", self.name, check=False)
        self.gone()


def _children(pid: int) -> list[int]:
    try:
        found = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return [*(deep for child in found for deep in _children(child)), *found]
