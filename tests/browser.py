"""A headless Chromium driven over its debugging pipe: no port, no driver program, nothing but the standard library.

Messages of the DevTools protocol are JSON, each ended by a NUL byte, on file descriptors 3 (to the browser) and 4 (from it).
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]
PATIENCE = 30.0


def program() -> str:
    """The browser on this machine, '' where there is none."""
    return next(filter(None, (shutil.which(name) for name in NAMES)), "")


class Browser:
    """One page. `requests` are the addresses that it asked for; `failures` what its console called an error."""

    def __init__(self, folder: Path, *, size: tuple[int, int] = (1100, 900)) -> None:
        self.requests: list[str] = []
        self.failures: list[str] = []
        self._number = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._rest = b""
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        words = [program(), *FLAGS, f"--user-data-dir={folder}", f"--window-size={size[0]},{size[1]}", "about:blank"]

        def wire() -> None:
            read, write = os.dup(to_read), os.dup(to_write)  # they may be 3 and 4 themselves
            os.dup2(read, 3)
            os.dup2(write, 4)

        self._process = subprocess.Popen(
            words,
            env={"HOME": str(folder), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=wire,
        )
        os.close(to_read)
        os.close(to_write)
        target = self._wait_for_page()
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def _wait_for_page(self) -> str:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for target in self._ask("Target.getTargets")["targetInfos"]:
                if target["type"] == "page":
                    return str(target["targetId"])
        raise TimeoutError("the browser opened no page")

    def go(self, address: str) -> None:
        """Load a page, and wait until it is whole."""
        self.ask("Page.navigate", url=address)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression; what it throws is a failure here."""
        done = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def until(self, script: str) -> Any:
        """The value of an expression as soon as it is true."""
        end = time.monotonic() + PATIENCE
        while True:
            found = self.run(script)
            if found:
                return found
            assert time.monotonic() < end, f"never true: {script}"

    def type(self, text: str) -> None:
        """Text into what has the focus."""
        self.ask("Input.insertText", text=text)

    def picture(self, path: Path) -> None:
        """The window as a PNG file."""
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self._ask(method, self._session, **params)

    def _ask(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while number not in self._answers:
            self._read()
        answer = self._answers.pop(number)
        assert "error" not in answer, (method, answer["error"])
        return dict(answer["result"])

    def _read(self) -> None:
        data = os.read(self._from, 1 << 20)
        assert data, "the browser has ended"
        *whole, self._rest = (self._rest + data).split(b"\0")
        for raw in whole:
            message = json.loads(raw)
            if "id" in message:
                self._answers[message["id"]] = message
            elif message["method"] == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            elif message["method"] == "Log.entryAdded" and message["params"]["entry"]["level"] == "error":
                self.failures.append(message["params"]["entry"]["text"])
            elif message["method"] == "Runtime.exceptionThrown":
                self.failures.append(json.dumps(message["params"]["exceptionDetails"]))

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._to)
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._from)
