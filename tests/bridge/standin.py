"""A stand-in for iTerm2: it speaks the real protocol of its API (protobuf in a websocket on a Unix socket).

Made after `iterm2/api_pb2.pyi` and `iterm2/connection.py` of the package `iterm2`, whose client side the bridge uses. What it
is told to `hold` waits, so that a test can let something happen between two steps of the bridge.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from iterm2 import api_pb2
from websockets.asyncio.server import ServerConnection, unix_serve
from websockets.exceptions import ConnectionClosed

T = TypeVar("T")
COOKIE = "a-cookie"


@dataclass
class Screen:
    """One session. `lines` are (text, whether the line ends here: False where the terminal wrapped it)."""

    id: str
    tty: str = ""
    pid: int = 0
    job: int = 0
    title: str = ""
    cwd: str = ""
    lines: list[tuple[str, bool]] = field(default_factory=list)
    height: int = 24
    overflow: int = 0
    received: list[str] = field(default_factory=list)

    def shown(self) -> list[tuple[str, bool]]:
        """All lines, those that have scrolled away first."""
        return self.lines

    def receive(self, text: str) -> None:
        """Text that somebody types."""
        self.received.append(text)


class Held:
    """Requests of one kind that wait."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.gate = asyncio.Event()
        self.here = threading.Event()

    def arrived(self) -> None:
        """Wait until the bridge has asked."""
        assert self.here.wait(20), "the bridge never asked"

    def release(self) -> None:
        self._loop.call_soon_threadsafe(self.gate.set)


class StandIn:
    """`sent` are the requests to send text: (session, text, suppress_broadcast). Where broadcasting is on, a text that is not
    kept from it reaches every session. `buried` sessions have no window; `closing` ones are gone when text comes for them."""

    def __init__(self, home: Path, *screens: Screen) -> None:
        self.screens = {screen.id: screen for screen in screens}
        self.path = home / "Library/Application Support/iTerm2/private/socket"
        self.buried: set[str] = set()
        self.sent: list[tuple[str, str, bool]] = []
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.broadcasting = False
        self.closing: set[str] = set()
        self._held: dict[tuple[str, str], Held] = {}
        self._callers: set[ServerConnection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def start(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._thread.start()
        self._server = self._do(self._serve())

    def stop(self) -> None:
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def hold(self, kind: str, session: str = "") -> Held:
        """From now on requests of this kind ('list_sessions', 'get_buffer', ...; of this session only) wait."""
        held = self._held[kind, session] = self._do(self._hold())
        return held

    def hang_up(self) -> None:
        """As iTerm2 does when it quits."""
        self._do(self._drop())

    def _do(self, what: Awaitable[T]) -> T:
        async def run() -> T:
            return await what

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(20)

    async def _hold(self) -> Held:
        return Held(self._loop)

    async def _serve(self) -> Any:
        return await unix_serve(self._attend, str(self.path), subprotocols=["api.iterm2.com"], max_size=None)  # type: ignore[list-item]

    async def _drop(self) -> None:
        for caller in list(self._callers):
            await caller.close()

    async def _end(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._server.close()
        await self._server.wait_closed()

    async def _attend(self, caller: ServerConnection) -> None:
        assert caller.request is not None
        self.headers.append({name.lower(): value for name, value in caller.request.headers.raw_items()})
        self._callers.add(caller)
        try:
            async for data in caller:
                request = api_pb2.ClientOriginatedMessage()
                request.ParseFromString(data)
                task = self._loop.create_task(self._answer(caller, request))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        except ConnectionClosed:
            pass  # a bridge that was killed
        finally:
            self._callers.discard(caller)

    async def _answer(self, caller: ServerConnection, request: Any) -> None:
        kind = request.WhichOneof("submessage").removesuffix("_request")
        self.asked.append(kind)
        inner = getattr(request, f"{kind}_request")
        session = getattr(inner, "session", "") or getattr(inner, "session_id", "")
        held = self._held.get((kind, session)) or self._held.get((kind, ""))
        if held is not None:
            held.here.set()
            await held.gate.wait()
        reply = api_pb2.ServerOriginatedMessage()
        reply.id = request.id
        answer: Callable[[Any, Any], None] | None = getattr(self, f"_{kind}", None)
        if answer is None:
            reply.error = f"the stand-in knows no {kind}"
        else:
            field = getattr(reply, f"{kind}_response")
            field.SetInParent()
            answer(inner, field)
        with contextlib.suppress(Exception):
            await caller.send(reply.SerializeToString())

    # ------------------------------------------------------------ answers

    def _list_sessions(self, request: Any, reply: Any) -> None:
        for screen in list(self.screens.values()):
            if screen.id in self.buried:
                self._summary(reply.buried_sessions.add(), screen)
                continue
            window = reply.windows.add()
            window.window_id, window.number = f"window-{screen.id}", 0
            window.frame.origin.x = window.frame.origin.y = 0
            window.frame.size.width = window.frame.size.height = 100
            tab = window.tabs.add()
            tab.tab_id = f"tab-{screen.id}"
            tab.root.vertical = True
            self._summary(tab.root.links.add().session, screen)

    def _summary(self, summary: Any, screen: Screen) -> None:
        summary.unique_identifier, summary.title = screen.id, screen.title
        summary.grid_size.width, summary.grid_size.height = 80, screen.height

    def _notification(self, request: Any, reply: Any) -> None:
        reply.status = 0

    def _focus(self, request: Any, reply: Any) -> None:
        pass

    def _get_broadcast_domains(self, request: Any, reply: Any) -> None:
        if self.broadcasting:
            reply.broadcast_domains.add().session_ids.extend(self.screens)

    def _variable(self, request: Any, reply: Any) -> None:
        screen = self.screens.get(request.session_id)
        if screen is None:
            reply.status = api_pb2.VariableResponse.SESSION_NOT_FOUND
            return
        known = {"tty": screen.tty, "pid": screen.pid, "jobPid": screen.job, "path": screen.cwd}
        reply.status = 0
        reply.values.extend(json.dumps(known.get(name)) for name in request.get)

    def _get_property(self, request: Any, reply: Any) -> None:
        screen = self.screens[request.session_id]
        assert request.name == "number_of_lines"
        count = len(screen.shown())
        grid = min(screen.height, count)
        history = count - grid
        reply.status = 0
        value = {"grid": grid, "history": history, "overflow": screen.overflow, "first_visible": history}
        reply.json_value = json.dumps(value)

    def _get_buffer(self, request: Any, reply: Any) -> None:
        screen = self.screens[request.session]
        span = request.line_range.windowed_coord_range.coord_range
        first, end = span.start.y - screen.overflow, span.end.y - screen.overflow
        reply.status = 0
        for text, ends in screen.shown()[max(0, first) : end]:
            line = reply.contents.add()
            line.text = text
            line.continuation = (
                api_pb2.LineContents.CONTINUATION_HARD_EOL if ends else api_pb2.LineContents.CONTINUATION_SOFT_EOL
            )

    def _send_text(self, request: Any, reply: Any) -> None:
        self.sent.append((request.session, request.text, request.suppress_broadcast))
        if request.session == "all":
            targets = list(self.screens.values())
        elif request.session not in self.screens or request.session in self.closing:
            reply.status = api_pb2.SendTextResponse.SESSION_NOT_FOUND
            return
        elif self.broadcasting and not request.suppress_broadcast:
            targets = list(self.screens.values())
        else:
            targets = [self.screens[request.session]]
        reply.status = 0
        for screen in targets:
            screen.receive(request.text)
