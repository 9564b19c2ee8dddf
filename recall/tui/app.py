"""The picker as a program: it takes the whole screen of a terminal and leaves it as it was, whatever ends it."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

from textual.app import App
from textual.screen import Screen

from recall.tui.main import Leaving, Main
from recall.tui.search import Parts


class Picker(App[Leaving], inherit_bindings=False):
    """The application: one screen, others above it; leaves the terminal as it was, whatever ends it."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { background: ansi_default; color: ansi_default; }
    Typed > .input--cursor { background: ansi_default; color: ansi_default; text-style: reverse; }
    Typed > .input--placeholder { color: ansi_default; text-style: dim; }
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self.main = Main(parts)
        self.failure: Exception | None = None

    def get_default_screen(self) -> Screen[None]:
        return self.main

    async def on_mount(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if threading.current_thread() is threading.main_thread():
                loop.add_signal_handler(number, self._signalled, number)

    def _signalled(self, number: int) -> None:
        """Leave in good order; where that hangs (a terminal that is gone), leave."""
        end = threading.Timer(2.0, os._exit, (128 + number,))
        end.daemon = True
        end.start()
        self.exit(Leaving(status=128 + number))

    def _handle_exception(self, error: Exception) -> None:
        """Textual would print the traceback with the values of all variables, and what is in them may be a secret."""
        self.failure = self.failure or error
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._return_code = 1
        self._close_messages_no_wait()


def pick(parts: Parts) -> Leaving:
    """Show the picker until it is left. What went wrong in it is raised when the screen is as it was."""
    picker = Picker(parts)
    try:
        leaving = picker.run(mouse=False)
    finally:
        picker.main.stop()
    if picker.failure is not None:
        raise picker.failure
    return leaving or Leaving()
