"""`recall web` as a process of its own, and requests to it as they are on the wire."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from tests.conftest import environment


class Reply(NamedTuple):
    """An answer: names of headers in small letters; several of one name are joined."""

    status: int
    headers: dict[str, str]
    body: str

    @property
    def document(self) -> Any:
        return json.loads(self.body)


class Serving:
    """A server that runs. `address` is what it printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        self.address = process.stdout.readline().strip()
        self.port = urlsplit(self.address).port or 0
        self.cookie = ""

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def raw(self, data: bytes) -> Reply:
        """What comes back for these bytes; status 0: nothing."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as line:
            line.sendall(data)
            line.shutdown(socket.SHUT_WR)
            got = b""
            while more := line.recv(1 << 16):
                got += more
        return reply(got)

    def ask(self, target: str, *lines: str, method: str = "GET") -> Reply:
        """A request with our Host, and these further lines."""
        head = [f"{method} {target} HTTP/1.1", f"Host: {self.host}", *lines, "", ""]
        return self.raw("\r\n".join(head).encode("latin-1"))

    def get(self, path: str, **parameters: object) -> Reply:
        """A request as one who was let in sends it."""
        if not self.cookie:
            first = self.ask(self.address.removeprefix(f"http://{self.host}"))
            self.cookie = first.headers["set-cookie"].partition(";")[0]
        return self.ask(path + (f"?{urlencode(parameters)}" if parameters else ""), f"Cookie: {self.cookie}")

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """(exit status, what it said on stderr)."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


def reply(got: bytes) -> Reply:
    if not got:
        return Reply(0, {}, "")
    head, _, body = got.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        headers[name.lower()] = ", ".join(filter(None, (headers.get(name.lower()), value)))
    return Reply(int(first.split()[1]), headers, body.decode())


@contextmanager
def serving(home: Path, *options: str, **settings: str) -> Iterator[Serving]:
    """A server over the index of this home; it is ended with the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "recall", "web", "--no-open", *options],
        env=environment(home, **settings),
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Serving(process)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
