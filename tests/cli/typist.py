"""A stand-in for Claude Code in a window: its input line, its registry, its transcript, and nothing of a model.

    python typist.py HOME SESSION

`sessions/<pid>.json` is written last: then it listens. Signals of a window that is closed do not end it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import tty
from pathlib import Path

BEGIN, END = "\x1b[200~", "\x1b[201~"
RULE = "─" * 60


def main(home: str, session: str) -> None:
    """Read until the terminal is gone, then stay."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    tty.setraw(0)
    os.write(1, b"\x1b[?2004h")
    draw("")
    register(Path(home), session)
    inside, pasting, raw = "", False, b""
    while True:
        try:
            raw += os.read(0, 65536)
            text = raw.decode()
        except UnicodeDecodeError:
            continue
        except OSError:
            time.sleep(3600)
            return
        raw = b""
        for piece in text.replace(BEGIN, "\0B").replace(END, "\0E").split("\0"):
            pasting = piece.startswith("B") or (pasting and not piece.startswith("E"))
            body = piece[1:] if piece[:1] in ("B", "E") else piece
            if body == "\r" and not pasting:
                submit(Path(home), session, inside)
                inside = ""
            else:
                inside += body.replace("\r", "\n")
        draw(inside)


def draw(inside: str) -> None:
    """The whole screen."""
    lines = ["said before", "", RULE, "❯ " + inside.replace("\n", "\n  "), RULE, "  ⏵⏵ accept edits on"]
    os.write(1, ("\x1b[2J\x1b[H" + "\n".join(lines).replace("\n", "\r\n")).encode())


def submit(home: Path, session: str, text: str) -> None:
    """A prompt, into the transcript."""
    path = home / f".claude/projects/-crm/{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"type": "user", "message": {"role": "user", "content": text}, "sessionId": session}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")


def register(home: Path, session: str) -> None:
    """The registry's file of this process."""
    started = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    entry = {
        "pid": os.getpid(),
        "sessionId": session,
        "cwd": "/home/dev/crm",
        "startedAt": int(time.time() * 1000),
        "procStart": started,
        "kind": "interactive",
        "entrypoint": "cli",
        "status": "idle",
    }
    folder = home / ".claude/sessions"
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f"{os.getpid()}.new"
    temporary.write_text(json.dumps(entry))
    temporary.rename(folder / f"{os.getpid()}.json")


if __name__ == "__main__":
    main(*sys.argv[1:])
