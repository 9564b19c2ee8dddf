"""What the hook costs in a turn, through its launcher, against a bare interpreter: `python -I -S -c pass`.

The payload has 9 KB, mostly Cyrillic, with a path that is written with escapes. The transcript has 200 MB and grows by 40 KB
before each turn. Once more where 10,000 sessions are known; then the beginning of a session that gets a handoff.
"""

from __future__ import annotations

import compileall
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator

from bench.figure import Figure
from bench.process import ROOT, Ratio, Took, against
from recall.actions import launcher

SESSION = "0198a3c0-1111-4000-8000-0000000000aa"
SAID = "Выгрузил сделки в портал: 120 из 121, одна без этапа."
LENGTH = 200 << 20  # bytes of the transcript
TAIL = 40_000  # bytes that come with a turn
MANY = 10_000  # sessions
STOP = 1.3
START = 2.5
TURNS = 4  # times the runs of other figures: what is measured takes some ms


def figures(place: str, runs: int) -> Iterator[Figure]:
    """Measure in a home of its own under `place`."""
    compileall.compile_dir(os.path.join(ROOT, "recall"), quiet=2)
    home = os.path.join(place, "hook home")
    bench = _Bench(home)
    yield _figure("Stop hook, 200 MB transcript, 40 KB new", STOP, bench.ratio(bench.stop, runs))
    yield bench.bytes_read()
    bench.know_many()
    yield _figure("Stop hook, 10,000 sessions known", STOP, bench.ratio(bench.stop, runs))
    yield _figure("SessionStart hook, handoff injected", START, bench.ratio(bench.start, runs))


def _figure(name: str, bound: float, got: Ratio) -> Figure:
    return Figure(name, got.wall, bound, note=f"{got.seconds * 1000:.1f} ms; CPU {got.cpu:.2f}x")


class _Bench:
    def __init__(self, home: str) -> None:
        self.env = {"HOME": home, "PATH": os.environ.get("PATH", os.defpath)}
        self.state = os.path.join(home, ".claude/recall")
        self.folder = os.path.join(home, ".claude/projects/-home-dev-мой-проект")
        self.path = os.path.join(self.folder, f"{SESSION}.jsonl")
        self.copy = os.path.join(
            home, "backups/claude-transcripts/claude", os.path.basename(self.folder), f"{SESSION}.jsonl"
        )
        self.handoff = os.path.join(home, ".claude/session-recaps/handoffs", f"{SESSION}.md")
        self.launcher = os.path.join(home, "recall-hook")
        for folder in (self.state, self.folder, os.path.dirname(self.copy), os.path.dirname(self.handoff)):
            os.makedirs(folder, mode=0o700)
        with open(self.launcher, "wb") as file:
            file.write(
                launcher.text(sys.executable, os.path.join(ROOT, "recall"), os.path.join(self.state, "hook.conf"))
            )
        os.chmod(self.launcher, 0o700)
        for path in (self.path, self.copy):
            with open(path, "wb") as file:
                file.truncate(LENGTH)
        with open(os.path.join(home, "backups/claude-transcripts/.recall-archive"), "wb"):
            pass
        self.on_stop = self._event("Stop", stop_hook_active=False, last_assistant_message=f"{SAID}\n" * 90)
        self.on_start = self._event("SessionStart", source="resume")
        self.turn = 0

    def _event(self, name: str, **fields: object) -> str:
        event = {"session_id": SESSION, "transcript_path": self.path, "cwd": "/home/dev/мой проект"}
        path = os.path.join(self.env["HOME"], f"{name}.json")
        text = json.dumps({**event, "hook_event_name": name, **fields}, ensure_ascii=False)
        text = text.replace("мой-проект", json.dumps("мой-проект")[1:-1]).replace("/home/dev/", "\\/home\\/dev\\/")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def ratio(self, command: object, runs: int) -> Ratio:
        bare = [sys.executable, "-I", "-S", "-c", "pass"]
        return against(lambda: self._run(bare, os.devnull), command, runs * TURNS)  # type: ignore[arg-type]

    def _run(self, argv: list[str], stdin: str) -> Took:
        with open(stdin, "rb") as given:
            start = time.perf_counter()
            child = subprocess.Popen(argv, env=self.env, stdin=given, stdout=subprocess.PIPE)
            assert child.stdout is not None
            text = child.stdout.read().decode()
            _, status, used = os.wait4(child.pid, 0)
            wall = time.perf_counter() - start
            child.returncode = os.waitstatus_to_exitcode(status)
            child.stdout.close()
        return Took(wall, used.ru_utime + used.ru_stime, child.returncode, text)

    def grow(self) -> None:
        with open(self.path, "ab") as file:
            said = json.dumps({"text": SAID}, ensure_ascii=False).encode() + b"\n"
            file.write(b"x" * (TAIL - len(said)) + said)

    def stop(self) -> Took:
        self.grow()
        took = self._run([self.launcher], self.on_stop)
        if os.path.getsize(self.copy) != os.path.getsize(self.path) or took.out:
            sys.exit("bench: the hook did not copy what was new")
        return took

    def start(self) -> Took:
        self.turn += 1
        points = "".join(f"- point {n} of turn {self.turn}: the portal wants its times in UTC\n" for n in range(8))
        with open(self.handoff, "w", encoding="utf-8") as file:
            moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            file.write(f"# crm\n{SESSION} | /home/dev/crm | {moment} | extract\n## Task now\nExport deals\n")
            file.write(f"## Done\n{points}## Next\n1. Run it\n## Gotchas\n{points}")
        took = self._run([self.launcher], self.on_start)
        if "additionalContext" not in took.out:
            sys.exit("bench: the hook did not inject the handoff")
        return took

    def know_many(self) -> None:
        """As many sessions beside it, in all folders that the hook knows."""
        folders = (self.folder, os.path.dirname(self.copy), os.path.dirname(self.handoff))
        marks = [os.path.join(self.state, name) for name in ("changed", "children", "injected", "purged")]
        for folder in (*folders, *marks):
            os.makedirs(folder, exist_ok=True)
            for n in range(MANY):
                with open(os.path.join(folder, f"{n:08x}-0000-4000-8000-000000000000.jsonl"), "wb"):
                    pass

    def bytes_read(self) -> Figure:
        """Of the transcript and its copy, by the kernel's word."""
        name = "Stop hook, bytes read of transcript and copy"
        strace = shutil.which("strace")
        if not strace:
            return Figure(name, None, note="strace is not installed")
        self.grow()
        log = os.path.join(self.env["HOME"], "strace")
        argv = [strace, "-f", "-y", "-o", log, "-e", "trace=read,pread64,readv,preadv", self.launcher]
        took = self._run(argv, self.on_stop)
        if took.status:
            return Figure(name, None, note="tracing is not permitted here")
        read = 0
        with open(log, encoding="utf-8", errors="replace") as file:
            for line in file:
                if f"{SESSION}.jsonl>" in line:
                    read += int(line.rpartition("= ")[2])
        return Figure(name, read / (TAIL + 8192), 1, note=f"{read:,}; new {TAIL:,}, to be compared 8,192 at most")
