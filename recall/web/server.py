"""HTTP on 127.0.0.1: requests in, answers out, and an end in good order.

Only GET and HEAD, without a body; each connection is one request. The head of a request is read by us, with a limit for
its size and a deadline for all of it, before the parser of `http.server` sees it: a byte now and then holds nothing up.
"""

from __future__ import annotations

import contextlib
import errno
import io
import socket
import socketserver
import sys
import threading
import time
import traceback
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from recall.errors import Unavailable
from recall.web.answer import HTML, Answer, Asked
from recall.web.frame import POLICY, error_page
from recall.web.gate import Gate, security_headers

HOST = "127.0.0.1"
HEAD = 16 << 10
"""Bytes of a request's head at most."""
PATIENCE = 10.0
"""Seconds in which the head must be here, and in which some of the answer must be taken."""
AT_ONCE = 48
"""Connections that are served at a time."""
LAST = 3.0
"""Seconds that requests have to end when the server does."""

Pages = Callable[[Asked], Answer]


class Idle(Exception):
    """Nobody asked for as long as was agreed."""


class Server(ThreadingHTTPServer):
    """`pages` answers what was let in, `idle` is in seconds (0: stay). Raises Unavailable where the port cannot be had."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, port: int, pages: Pages, *, idle: float = 0.0) -> None:
        try:
            super().__init__((HOST, port), Handler)
        except OSError as problem:
            hint = "leave --port out, and a free one is taken"
            if problem.errno in (errno.EADDRINUSE, errno.EACCES):
                raise Unavailable(f"port {port} cannot be had: {problem.strerror}", hint) from None
            raise Unavailable(f"cannot listen on {HOST}: {problem.strerror}", hint) from None
        self.pages = pages
        self.gate = Gate(self.server_port)
        self._idle = idle
        self._last = time.monotonic()
        self._busy = 0
        self._changed = threading.Condition()

    def server_bind(self) -> None:
        """As `http.server` does it, without asking for the name of the machine."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def run(self) -> None:
        """Serve until an exception in this thread ends it: Idle, or what a signal raises."""
        try:
            self.serve_forever(poll_interval=0.2)
        finally:
            self.server_close()
            end = time.monotonic() + LAST
            with self._changed:
                while self._busy and (left := end - time.monotonic()) > 0:
                    self._changed.wait(left)

    def service_actions(self) -> None:
        with self._changed:
            if self._idle and not self._busy and time.monotonic() - self._last > self._idle:
                raise Idle

    def seen(self) -> None:
        """Somebody who may asked for something."""
        self._last = time.monotonic()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changed:
            if self._busy >= AT_ONCE:
                self.shutdown_request(request)
                return
            self._busy += 1
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._done()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._done()

    def _done(self) -> None:
        with self._changed:
            self._busy -= 1
            self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is no news."""
        error = sys.exception() if sys.version_info >= (3, 12) else sys.exc_info()[1]
        if not isinstance(error, OSError):
            traceback.print_exc()


class Handler(BaseHTTPRequestHandler):
    """One connection, which is one request."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "recall"
    sys_version = ""

    def handle(self) -> None:
        self.close_connection = True
        head, whole = _head(self.connection)
        if not whole:
            if head:
                self._unread(431 if len(head) >= HEAD else 408)
            return
        self.connection.settimeout(PATIENCE)
        self.rfile = io.BytesIO(head)
        self.raw_requestline = self.rfile.readline(HEAD)
        if self.parse_request():
            self._answer(self._decide())
        _drain(self.connection)

    def handle_expect_100(self) -> bool:
        return True

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the parser does not like."""
        self._answer(error_page(code, "That is no request that a page makes."))

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is written down: addresses hold what was looked for."""

    def _unread(self, code: int) -> None:
        self.command, self.request_version, self.requestline = "GET", "HTTP/1.0", ""
        with contextlib.suppress(OSError):
            self._answer(error_page(code, "The request is too long." if code == 431 else "The request did not end."))
            _drain(self.connection)

    def _decide(self) -> Answer:
        gate = self.server.gate
        if not gate.is_ours(self.headers.get_all("Host", [])):
            return error_page(403, "This server answers under its own address only.")
        if self.command not in ("GET", "HEAD"):
            return error_page(405, "There is nothing here but pages to read.", (("Allow", "GET, HEAD"),))
        if not self.path.startswith("/"):
            return error_page(400, "That is no address of a page here.")
        try:
            parts = urlsplit("http://x/" + self.path.lstrip("/"))
            pairs = parse_qsl(parts.query, keep_blank_values=True, errors="replace", max_num_fields=20)
        except ValueError:
            return error_page(400, "That is no address of a page here.")
        given = dict(reversed(pairs))
        path = unquote(parts.path, errors="replace")
        if "token" in given:
            if not gate.takes(given["token"]):
                return error_page(403, "This key is not the right one.", hint=_KEY)
            rest = urlencode([(name, value) for name, value in pairs if name != "token"])
            where = "/" + quote(path.lstrip("/\\")) + (f"?{rest}" if rest else "")
            self.server.seen()
            return Answer(303, HTML, "", (("Location", where), ("Set-Cookie", gate.cookie())))
        if not gate.knows(self.headers.get_all("Cookie", []), self.headers.get("Sec-Fetch-Site")):
            return error_page(403, "A key is needed here.", hint=_KEY)
        self.server.seen()
        try:
            return self.server.pages(Asked(path, given))
        finally:
            self.server.seen()

    def _answer(self, answer: Answer) -> None:
        body = answer.body.encode("utf-8", "replace")
        if self.request_version == "HTTP/0.9":  # it would get no headers
            self.request_version = "HTTP/1.0"
        self.send_response_only(answer.status)
        for name, value in security_headers(POLICY).items():
            self.send_header(name, value)
        for name, value in answer.headers:
            self.send_header(name, value)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


_KEY = "Open the address that `recall web` printed when it was started."


def _head(connection: socket.socket) -> tuple[bytes, bool]:
    """(what came, is it a whole head) of a request, within PATIENCE and HEAD."""
    data = b""
    end = time.monotonic() + PATIENCE
    while len(data) < HEAD:
        left = end - time.monotonic()
        if left <= 0:
            return data, False
        connection.settimeout(left)
        try:
            more = connection.recv(HEAD - len(data))
        except TimeoutError:
            return data, False
        if not more:
            return b"", False
        data += more
        if b"\r\n\r\n" in data or b"\n\n" in data:
            return data, True
    return data, False


def _drain(connection: socket.socket) -> None:
    """Take what is still on its way, some of it: to close over it would take the answer back."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(0.5)
        for _ in range(16):
            if not connection.recv(1 << 16):
                return
