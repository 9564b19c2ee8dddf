"""A machine that is not this one: a home, a data folder, and programs that only write down how they were called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from recall.actions import install, uninstall
from recall.actions.install import Wish
from recall.actions.machine import Machine, Ran
from recall.settings import Settings, load

COMMANDS = frozenset(("find", "show", "sweep", "remove", "install", "uninstall", "statusline"))


class Programs:
    """Stand-ins for what an installer runs: `calls` are the command lines, `table` is the user's crontab (None: none)."""

    def __init__(self, *there: str) -> None:
        self.there = there
        self.calls: list[str] = []
        self.table: bytes | None = None
        self.failing: dict[str, Ran] = {}

    def __call__(self, argv: list[str], given: bytes) -> Ran:
        line = " ".join(argv)
        self.calls.append(line)
        if argv[0] not in self.there:
            return Ran(127, b"", b"not found")
        for start, ran in self.failing.items():
            if line.startswith(start):
                return ran
        if line == "crontab -l":
            return Ran(1, b"", b"no crontab") if self.table is None else Ran(0, self.table)
        if line == "crontab -":
            self.table = given
        elif line == "crontab -r":
            self.table = None
        return Ran(0, b"")


class Place:
    """One user's home, and the installer run in it."""

    def __init__(self, home: Path, programs: Programs, platform: str, **variables: str) -> None:
        self.home = home
        self.programs = programs
        self.settings: Settings = load({"HOME": str(home), **variables})
        self.waited: list[float] = []
        self.machine = Machine(
            home=str(home),
            platform=platform,
            uid=501,
            path="/opt/tools/bin:/usr/bin:.:relative",
            share=str(home / ".local" / "share" / "recall"),
            config_home=str(home / ".config"),
            variables=variables,
            run=programs,
            wait=self.waited.append,
        )
        self.wish = Wish(
            name="recall",
            program=str(home / ".local" / "bin" / "recall"),
            python="/usr/bin/python3",
            package="/opt/recall package/recall",
            commands=COMMANDS,
            version="1",
        )

    @property
    def claude(self) -> Path:
        return self.home / ".claude" / "settings.json"

    @property
    def codex(self) -> Path:
        return self.home / ".codex" / "hooks.json"

    @property
    def launcher(self) -> str:
        return str(self.home / ".local" / "share" / "recall" / "recall-hook")

    def plan(self, **wish: object) -> install.Plan:
        return install.plan(self.settings, self.machine, self.wish._replace(**wish))

    def install(self, **wish: object) -> install.Plan:
        todo = self.plan(**wish)
        assert install.apply(todo, self.settings, self.machine) == []
        return todo

    def uninstall(self) -> uninstall.Plan:
        todo = uninstall.plan(self.settings, self.machine)
        uninstall.apply(todo, self.settings, self.machine)
        return todo

    def files(self) -> dict[str, tuple[str, bytes, int]]:
        """Every file, link and folder below the home but recall's own state: (kind, content, mode)."""
        found = {}
        for path in sorted(self.home.rglob("*")):
            name = str(path.relative_to(self.home))
            if name == ".claude/recall" or name.startswith(".claude/recall/"):
                continue
            if path.is_symlink():
                found[name] = ("link", str(path.readlink()).encode(), 0)
            elif path.is_file():
                found[name] = ("file", path.read_bytes(), path.stat().st_mode & 0o777)
            else:
                found[name] = ("folder", b"", path.stat().st_mode & 0o777)
        return found


@pytest.fixture
def make_place(tmp_path: Path) -> Callable[..., Place]:
    """`make_place("systemctl", clients=("claude",), platform="linux", RECALL_X="…")`."""

    def make(
        *programs: str, clients: tuple[str, ...] = ("claude", "codex"), platform: str = "linux", **variables: str
    ) -> Place:
        home = tmp_path / "мой дом"
        home.mkdir(mode=0o700, exist_ok=True)
        for client, inside in (("claude", "projects"), ("codex", "sessions")):
            if client in clients:
                (home / f".{client}" / inside).mkdir(parents=True, exist_ok=True)
        return Place(home, Programs(*programs), platform, **variables)

    return make


@pytest.fixture
def place(make_place: Callable[..., Place]) -> Place:
    """A home with both clients, on a Linux without any timer."""
    return make_place()
