"""What holds for every terminal. A back-end's test module makes a class of TerminalTests, which names it and its samples."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from recall import terminals
from recall.core.model import Plan
from recall.core.window import script, window
from recall.errors import Unavailable
from recall.terminals import choose
from recall.terminals.base import TAB, WINDOW, Terminal, size
from recall.terminals.run import launch
from tests.terminals import standins
from tests.terminals.hostile import NAMES, SINGLE, WORST
from tests.terminals.wire import PATIENCE, Got, Wire

PLAN_PATH = "/opt/recall-test/bin"
"""A PATH of who asks, to be found again in the window's."""


class Place:
    """A folder of a test's own with stand-ins, a pipe, and the environment that recall runs in."""

    def __init__(self, root: Path) -> None:
        self.bin = root / "bin"
        self.work = root / "work"
        self.home = root / "home"
        for folder in (self.bin, self.work, self.home):
            folder.mkdir()
        self.wire = Wire(root)
        self.env = {
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "SHELL": "/bin/true",  # which every window ends in
            "TMUX_TMPDIR": str(self.home),  # never a person's own server; too long for a socket
        }

    def unharmed(self) -> bool:
        """Nothing that a name holds was run."""
        return not [path for path in self.home.parent.rglob("pwned*") if path.parent.parent != self.work]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A place; what it runs starts in a folder in which a `touch pwned` would be seen."""
    made = Place(tmp_path)
    before = Path.cwd()
    os.chdir(made.home)
    yield made
    os.chdir(before)
    made.wire.close()


class TerminalTests:
    """The contract. `module` is the back-end's module, `programs` what stands in for it."""

    module: ClassVar[str]
    programs: ClassVar[tuple[str, ...]] = ()
    inside: ClassVar[tuple[str, str]]  # a variable that its windows have in their environment
    screen: ClassVar[bool] = True  # does it need one?
    samples: ClassVar[tuple[str, ...]] = NAMES
    files: ClassVar[tuple[str, ...]] = WORST

    @property
    def terminal(self) -> Terminal:
        """The back-end."""
        return terminals.get(self.module)

    @pytest.fixture
    def env(self, place: Place) -> Mapping[str, str]:
        """The environment of a place where the terminal can be opened."""
        standins.opens(place.bin, self.programs)
        return {**place.env, "DISPLAY": ":99"}

    def opened(
        self, argv: tuple[str, ...], cwd: str, title: str, where: str, env: Mapping[str, str], wire: Wire
    ) -> Got:
        """Open a window that runs `argv`, and tell what its recorder was started with."""
        what = self.terminal.command(argv, cwd, title, where, env)
        launch(what, env, name=self.terminal.name)
        return wire.got()

    # -- what is opened

    def test_hostile_folders_and_titles(self, place: Place, env: Mapping[str, str]) -> None:
        """A window starts in exactly the folder and with exactly the arguments of the plan, whatever these and the title hold."""
        for number, name in enumerate(self.samples):
            folder = place.work / str(number) / name
            try:
                folder.mkdir(parents=True)
            except OSError:
                continue  # a name that this system has no folders of
            words = (name, "", SINGLE[number % len(SINGLE)])
            plan = Plan((str(place.wire.recorder), *words), str(folder), name)
            where = TAB if number % 3 == 0 else WINDOW
            got = self.opened(window(plan, PLAN_PATH), plan.cwd, plan.title, where, env, place.wire)
            assert got.argv == words, f"sample {number}: {name!r}"
            assert got.cwd == plan.cwd, f"sample {number}: {name!r}"
            assert PLAN_PATH in got.env["PATH"].split(":")
        assert place.unharmed()

    def test_a_file_instead_of_a_long_command(self, place: Place, env: Mapping[str, str]) -> None:
        """What is longer than the terminal takes arrives as well when it is left in a file, which is gone then."""
        for number, name in enumerate(self.files):
            folder = place.work / str(number) / name
            folder.mkdir(parents=True)
            plan = Plan((str(place.wire.recorder), name, "a long prompt; " * 4000), str(folder), name)
            file = place.home / "launch.sh"
            file.write_bytes(os.fsencode(script(plan, PLAN_PATH)))
            argv = ("/bin/sh", str(file))
            assert size(window(plan, PLAN_PATH)) > 8000
            got = self.opened(argv, plan.cwd, plan.title, WINDOW, env, place.wire)
            assert got.argv == plan.argv[1:]
            assert got.cwd == plan.cwd
            assert not file.exists()

    def test_as_long_as_it_says(self, place: Place, env: Mapping[str, str]) -> None:
        """A command of `limit` bytes arrives whole, though it be all quotes."""
        argv = ("/bin/sh", str(place.wire.recorder))
        left = self.terminal.limit - size(argv) - 1
        argv = (*argv, "'" * left) if left > 0 else argv
        assert self.opened(argv, "/", "t", WINDOW, env, place.wire).argv == argv[2:]

    def test_nothing_of_an_agent(self, place: Place, env: Mapping[str, str]) -> None:
        """A client in the window sees no variable that an agent gave to recall, and what else there is stays."""
        inherited = {
            "CLAUDECODE": "1",
            "CLAUDE_CODE_ENTRYPOINT": "cli",
            "CLAUDE_CODE_CHILD_SESSION": "x\ny",
            "CLAUDE_PID": "1",
        }
        plan = Plan((str(place.wire.recorder),), str(place.home), "t", (("CLAUDE_CONFIG_DIR", "/c d"),))
        argv = window(plan, PLAN_PATH)
        got = self.opened(argv, plan.cwd, plan.title, WINDOW, {**env, **inherited}, place.wire)
        assert not set(inherited) & set(got.env)
        assert got.env["CLAUDE_CONFIG_DIR"] == "/c d"

    def test_a_program_that_is_not_there_or_fails(self, place: Place, env: Mapping[str, str]) -> None:
        """Where the terminal's program fails or is gone, that is Unavailable, not a traceback."""
        what = self.terminal.command(("/bin/sh", "x"), "/", "t", WINDOW, env)
        standins.program(place.bin / "failing", "#!/bin/sh\necho 'no such window' >&2\nexit 3\n")
        for program in ("failing", "is-not-there"):
            with pytest.raises(Unavailable):
                launch(what._replace(argv=(str(place.bin / program), *what.argv[1:])), env, name=self.terminal.name)

    # -- what is known of it

    def test_its_names(self) -> None:
        """It is found by its name, its aliases and its module's name in any case, and no other has one of these."""
        for name in (self.terminal.name, *self.terminal.aliases, self.module):
            assert choose.named(name) == choose.named(name.upper()) == self.module
        assert all(alias == alias.lower() for alias in self.terminal.aliases)
        assert self.terminal.needs

    def test_inside(self, place: Place) -> None:
        """It is known by what its windows have in their environment, and by nothing less."""
        assert self.terminal.inside(dict([self.inside]))
        assert not self.terminal.inside(place.env)

    def test_available(self, place: Place, env: Mapping[str, str]) -> None:
        """It is there with its program and a screen; not with nothing on PATH."""
        assert self.terminal.available(env)
        assert not self.terminal.available({**env, "PATH": str(place.home)})
        bare = {name: value for name, value in env.items() if name != "DISPLAY"}
        assert self.terminal.available(bare) is not self.screen
        assert self.terminal.available({**bare, "WAYLAND_DISPLAY": "wayland-0"})

    def test_dry(self, place: Place, env: Mapping[str, str]) -> None:
        """To say what would be run runs no window."""
        what = self.terminal.command((str(place.wire.recorder), "x"), "/", "t", WINDOW, env)
        assert what.argv
        with pytest.raises(TimeoutError):
            place.wire.got(patience=0)


def run_in(env: Mapping[str, str], *argv: str, stdin: str = "") -> str:
    """What a program prints, in this environment alone."""
    done = subprocess.run(
        argv, env=dict(env), input=stdin, capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    return done.stdout
