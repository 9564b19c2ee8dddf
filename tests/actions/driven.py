"""A client in a pane, as far as driving sees one: it draws an input line, takes a paste and Enter, keeps a registry and a
transcript, and lets a test change something at any moment. Time passes only when somebody sleeps."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from recall.actions.driving import Target, World
from recall.core.model import Open, Pane
from recall.errors import Unavailable
from tests.machine import uid

RULE = "─" * 60
ASKING = {
    "claude": " Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend",
    "codex": "  Would you like to?\n\n› 1. Yes (y)\n  2. No (esc)\n\n  Press enter to confirm or esc to cancel",
}


class FakeClient:
    """`client` is what it plays. `at(seconds, act)` plans something; `after_paste` and `after_enter` are done then."""

    name = "tmux"

    def __init__(self, folder: Path, client: str = "claude", *, state: str = "idle") -> None:
        self.client = client
        self.time = 1000.0
        self.inside = ""
        self.sign = "❯"  # of Claude Code's input line; `!` in shell mode
        self.asking = False
        self.view = ""  # something else in the place of the input line
        self.deaf = False  # takes no paste
        self.stuck = 0  # presses of Enter that it does not take
        self.writes = True  # a transcript
        self.gone = False  # the pane
        self.behind = ""
        self.pressed = 0
        self.pasted: list[str] = []
        self.submitted: list[str] = []
        self.answered = 0  # questions, by Enter
        self.ran: list[tuple[tuple[str, ...], Mapping[str, str]]] = []
        self.after_paste: Callable[[], None] = lambda: None
        self.after_enter: Callable[[], None] = lambda: None
        self._plans: list[tuple[float, Callable[[], None]]] = []
        self.transcript = folder / "sessions" / "rollout.jsonl"
        self.transcript.parent.mkdir(exist_ok=True)
        self.open: list[Open] = [
            Open(uid(1), client, 4242, "/home/dev/crm", state=state, tty="pts/3", started=500.0),
            Open(uid(2), client, 4343, "/home/dev/crm", state="idle", tty="pts/4", started=600.0),
        ]
        self.pane = Pane("tmux", "%3", "pts/3", 4200)
        self.target = Target(self.open[0], self.pane, "s003")

    # what recall sees of it

    def world(self) -> World:
        return World(
            sessions=lambda: [one._replace() for one in self.open],
            driver=lambda pane: self,
            transcript=lambda one: str(self.transcript) if self.transcript.exists() else "",
            env={},
            clock=lambda: self.time,
            sleep=self._sleep,
            behind=lambda pid: self.behind,
            run=self._run,
        )

    def panes(self, env: Mapping[str, str]) -> list[Pane]:
        return [self.pane]

    def read(self, pane: Pane, lines: int, env: Mapping[str, str]) -> str:
        self._alive(pane)
        if self.asking:
            return f"said before\n\n{ASKING[self.client]}\n"
        if self.view:
            return self.view
        inside = self.inside.replace("\n", "\n  ")
        if self.client == "claude":
            return f"said before\n\n{RULE}\n{self.sign} {inside}\n{RULE}\n  ⏵⏵ accept edits on\n"
        work = "◦ Working (0s • esc to interrupt)\n\n" if self.state == "busy" else ""
        return f"said before\n\n{work}› {inside or 'Ask Codex to do anything'}\n\n  gpt-5.4 default · ~/crm\n"

    def paste(self, pane: Pane, text: str, env: Mapping[str, str]) -> None:
        self._alive(pane)
        self.pasted.append(text)
        if not self.deaf and not self.asking and not self.view:
            self.inside += text
        self.after_paste()

    def enter(self, pane: Pane, env: Mapping[str, str]) -> None:
        self._alive(pane)
        self.pressed += 1
        if self.asking:
            self.answered += 1
            self.asking = False
        elif self.stuck:
            self.stuck -= 1
        elif self.inside:
            text, self.inside = self.inside, ""
            self.submitted.append(text)
            if self.writes:
                self.write(text)
        self.after_enter()

    def _alive(self, pane: Pane) -> None:
        assert pane == self.pane
        if self.gone:
            raise Unavailable("tmux: pane %3 is gone", "`recall ps` shows what is open now")

    def _run(self, argv: tuple[str, ...], more: Mapping[str, str]) -> str:
        self.ran.append((argv, more))
        self.after_enter()
        return ""

    # what happens to it

    @property
    def state(self) -> str:
        return self.open[0].state

    def becomes(self, state: str, waiting_for: str = "") -> None:
        self.open[0] = self.open[0]._replace(state=state, waiting_for=waiting_for)

    def ask(self) -> None:
        """A permission question opens; Claude Code's registry tells, Codex's does not."""
        self.asking = True
        if self.client == "claude":
            self.becomes("waiting", "permission prompt")

    def write(self, text: str, kind: str = "user") -> None:
        """A record of the transcript."""
        if self.client == "claude":
            record: dict[str, object] = {"type": kind, "content": text}
            if kind in ("user", "assistant"):
                record = {"type": kind, "message": {"role": kind, "content": text}}
        else:
            item = {"type": "message", "role": kind, "content": [{"type": "input_text", "text": text}]}
            record = {"type": "response_item", "payload": item}
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")

    def at(self, seconds: float, act: Callable[[], None]) -> None:
        """Do something when that much time has passed."""
        self._plans.append((self.time + seconds, act))

    def _sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.time += seconds
        due = [plan for plan in self._plans if plan[0] <= self.time]
        self._plans = [plan for plan in self._plans if plan[0] > self.time]
        for _, act in due:
            act()
