"""Records of made-up sessions, by hand: what the tests of cards, digests and handoffs are fed with."""

from __future__ import annotations

from collections.abc import Iterator

from recall.core.facts import Facts
from recall.core.model import ACTION, ASIDE, ASSISTANT, OUTPUT, THINKING, USER, Record


class Talk:
    """Writes down a session turn by turn: `records` and `facts` are what a client would make of it."""

    def __init__(self, cwd: str = "/home/dev/crm", title: str = "") -> None:
        self.records: list[Record] = []
        self.facts = Facts(session="s", cwd=cwd, title=title, started=1_781_168_400.0, updated=1_781_172_000.0)
        self._calls = 0

    def user(self, text: str) -> Talk:
        self._add(USER, text)
        self.facts.users += 1
        self.facts.first_ask = self.facts.first_ask or text[:2000]
        self.facts.last_ask = text[:2000]
        self.facts.interrupted = False
        return self

    def says(self, text: str) -> Talk:
        self._add(ASSISTANT, text)
        self.facts.answers += 1
        self.facts.interrupted = False
        return self

    def does(self, tool: str, arguments: str, output: str = "ok", *, body: str = "", failed: bool = False) -> Talk:
        self._calls += 1
        call = f"call{self._calls}"
        self._add(ACTION, f"{tool} {arguments}".strip(), tool, call)
        if body:
            self._add(THINKING, body, tool, call)
        if output:
            self._add(OUTPUT, output, tool, call, failed)
        self.facts.calls += 1
        return self

    def shown(self, tool: str, text: str, output: str = "") -> Talk:
        self._calls += 1
        call = f"call{self._calls}"
        self._add(ACTION, tool, tool, call)
        self._add(ASSISTANT, text, "", call)
        if output:
            self._add(OUTPUT, output, tool, call)
        return self

    def compacted(self, summary: str) -> Talk:
        self._add(ASIDE, summary, "summary")
        return self

    def stopped(self) -> Talk:
        self.facts.interrupted = True
        return self

    def _add(self, zone: int, text: str, tool: str = "", call: str = "", failed: bool = False) -> None:
        self.records.append(Record(zone, text, len(self.records) * 100, 0.0, tool, call, failed))


def export() -> Talk:
    """An English session that came to an end, with all that an extract knows."""
    talk = Talk()
    talk.user("Export the deals of Acme Corp to CSV for CRM-128, with `export_deals` and the host crm.example.com")
    talk.says("I look at the code first.")
    talk.does("Read", "/home/dev/crm/src/deals.py")
    talk.does("Skill", "tdd write the test first")
    talk.does("Write", "/home/dev/crm/src/export.py", body="def export_deals(): ...")
    talk.does("Edit", "/home/dev/crm/src/export.py").does("Edit", "/home/dev/crm/src/deals.py")
    talk.does("Bash", "pytest -q\nRun tests", "Exit code 1\nE   ImportError: no module named crm", failed=True)
    talk.does("Bash", "cd /home/dev/crm && pytest -q", "3 passed")
    talk.does("Bash", "git checkout -b feat/export && git push -u origin feat/export")
    talk.does("Bash", 'git commit -m "Export deals"', "[feat/export 1a2b3c4] Export deals\n 2 files changed")
    talk.does("Bash", "gh pr create --fill", "https://git.example/acme/crm/pull/12\n")
    return talk.says("Done. All tests pass, the pull request is open: https://git.example/acme/crm/pull/12")


def huge(requests: int, size: int = 100_000) -> Iterator[Record]:
    """A session of `requests` turns with `size` characters of output each."""
    noise = "line of output\n" * (size // 15)
    at = 0
    for n in range(requests):
        for record in (
            Record(USER, f"request {n}: change module_{n} and tell why", at, 0.0),
            Record(ACTION, f"Edit /p/src/module_{n}.py", at, 0.0, "Edit", f"e{n}"),
            Record(ACTION, f"Bash make check-{n}", at, 0.0, "Bash", f"b{n}"),
            Record(OUTPUT, noise, at, 0.0, "Bash", f"b{n}", n % 7 == 0),
            Record(ASSISTANT, f"answer {n} https://e.example/{n} " + "words " * 400, at, 0.0),
        ):
            at += 1
            yield record
