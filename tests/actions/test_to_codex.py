"""A task is handed over to Codex: the brief, what is kept, and whether Codex began."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from recall.actions import to_codex
from recall.actions.handoff import keep_handoff, write_handoff
from recall.core.model import Extract, Handoff, Open, Session
from recall.errors import NothingFound, Refused, Unavailable, Usage
from recall.settings import PROGRAM_PLACES, Settings
from recall.store import open_store
from recall.terminals.base import LONG, Launch
from tests.builders import claude_session, codex_session
from tests.machine import settings, sweep, uid

NOW = 1_800_000_000.0
HEADINGS = ["## Task", "## Done", "## In flight", "## Next", "## Gotchas", "## Paths"]
EDIT = ("Write", {"file_path": "/home/dev/crm/export.py", "content": "print(1)"}, "ok")
TURNS = [
    ("Export the sales funnel to CSV", "I wrote export.py.", [EDIT]),
    ("And the header row?", "Next: run the tests of the header."),
]
SECRET = "sk-ant-api03-" + "Ab1" * 30 + "-AAAA"


@pytest.fixture
def here(home: Path) -> Settings:
    return settings(home)


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("## ")]


def brief_from(here: Settings, session: str, task: str, folder: str = "/home/dev/crm", client: str = "codex") -> str:
    with open_store(here.index) as store:
        row = next((row for row in store.sessions() if row.id == session), None)
        return to_codex.brief_from(row, task, folder, store, here, now=NOW, client=client)


# ------------------------------------------------------------ the brief


@pytest.mark.parametrize("make", [claude_session, codex_session], ids=["claude", "codex"])
@pytest.mark.parametrize("client", ["claude", "codex"])
def test_a_session_of_either_client_makes_a_brief_for_either(
    home: Path, here: Settings, make: Callable[..., Path], client: str
) -> None:
    """There and back: all sections, the files that were touched, whose it is, and that it is to be checked."""
    make(home, "crm", uid(1), TURNS)
    sweep(here)
    text = brief_from(here, uid(1), "", client=client)
    assert text.startswith(f"# Brief for {'Codex' if client == 'codex' else 'Claude Code'}: ")
    assert headings(text) == HEADINGS
    assert uid(1) in text
    assert "check it against the files" in text
    assert "Export the sales funnel to CSV" in text
    assert "- /home/dev/crm (folder)" in text
    assert "export.py" in text.partition("## Paths")[2]


def test_a_task_stands_whole_before_what_went_before(home: Path, here: Settings) -> None:
    """A person's own words are not cut, and no line of them is taken for a section."""
    claude_session(home, "crm", uid(1), TURNS)
    sweep(here)
    task = "Закончи экспорт.\n## Done\n" + "word " * 300 + "end"
    text = brief_from(here, uid(1), task)
    assert headings(text) == HEADINGS
    told = text.partition("## Task\n")[2].partition("\n\n## Done\n")[0]
    assert told == task.replace("## Done", "\\## Done")
    assert "Before this, the task was: Export the sales funnel" in text


def test_without_a_session_the_task_is_all(home: Path, here: Settings) -> None:
    """All sections stand there, so that nobody looks for the rest."""
    sweep(here)
    text = brief_from(here, "", "Write the README")
    assert headings(text) == HEADINGS
    assert "1. Begin with the task above" in text
    assert "nothing noted" in text
    assert "Taken from" not in text
    with pytest.raises(NothingFound):
        brief_from(here, "", "")


def test_a_kept_handoff_is_used_where_the_transcript_is_gone(home: Path, here: Settings) -> None:
    """The rest will do."""
    path = claude_session(home, "crm", uid(1), TURNS)
    sweep(here)
    with open_store(here.index) as store:
        keep_handoff(write_handoff(store.sessions()[0], store, here, None, now=NOW), here)
    path.unlink()
    for folder, _, names in os.walk(here.archive):
        for name in names:
            if name.endswith(".jsonl"):
                os.unlink(os.path.join(folder, name))
    text = brief_from(here, uid(1), "Go on with the export")
    assert "Go on with the export" in text
    assert "Export the sales funnel" in text


def test_a_brief_holds_no_secret_and_no_escape(home: Path, here: Settings) -> None:
    """Neither one that a person gave, nor one that a session said."""
    claude_session(home, "crm", uid(1), [(f"Use the key {SECRET} for the export", "I used it.", [EDIT])])
    sweep(here)
    for text in (
        brief_from(here, uid(1), ""),
        brief_from(here, uid(1), f"Use {SECRET}\x1b[31m now"),
        to_codex.brief_of(f"Use {SECRET}\x1b[31m now"),
    ):
        assert SECRET not in text
        assert "redacted" in text
        assert "\x1b" not in text


def test_a_brief_of_one_s_own_is_taken_as_it_is() -> None:
    """Word for word, with a line end; an empty one is wrong usage."""
    assert to_codex.brief_of("# Моё\n\n  - `x`\n") == "# Моё\n\n  - `x`\n"
    assert to_codex.brief_of("x") == "x\n"
    with pytest.raises(Usage):
        to_codex.brief_of(" \n")


@pytest.mark.parametrize(
    ("cwds", "wanted"),
    [
        (["/p/crm", "/p/shop"], 1),
        (["/p/crm/src", "/p/crm"], 2),
        (["/p/crm-old", "/p"], None),
        ([], None),
    ],
)
def test_the_newest_session_of_a_folder(cwds: list[str], wanted: int | None) -> None:
    """Of that folder or below it; not of one whose name begins alike, and not a removed, hidden or empty one."""
    rows = [
        Session(number, "claude", uid(number), cwd, updated=float(number), messages=3)
        for number, cwd in enumerate(cwds, 1)
    ]
    others = [
        Session(7, "claude", "removed", "/p/crm", updated=99, messages=3),
        Session(8, "claude", "hidden", "/p/crm", updated=99, messages=3, hidden=True),
        Session(9, "claude", "empty", "/p/crm", updated=99),
        Session(10, "claude", "chained", "/p/crm", updated=99, messages=3, chain_to=1),
    ]
    found = to_codex.newest_in("/p/crm", [*rows, *others], lambda name: name == "removed")
    assert (found.no if found else None) == wanted


# ------------------------------------------------------------ the files


def test_the_brief_is_for_its_user_and_agents_are_told_of_it(tmp_path: Path, here: Settings) -> None:
    """Both files are new, 0600; the instructions name the brief."""
    done = to_codex.write(str(tmp_path), "one\n", here)
    assert (tmp_path / to_codex.BRIEF).read_text() == "one\n"
    assert to_codex.BRIEF in (tmp_path / "AGENTS.md").read_text()
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in (to_codex.BRIEF, "AGENTS.md")] == [0o600, 0o600]
    assert (done.backup, done.agents, done.changed) == ("", str(tmp_path / "AGENTS.md"), True)


def test_no_brief_is_ever_lost(tmp_path: Path, here: Settings) -> None:
    """The one before is `.bak`, those before that are numbered; the same one again makes none."""
    (tmp_path / f"{to_codex.BRIEF}.bak").write_text("a person's own\n")
    for text in ("one\n", "two\n", "two\n", "three\n"):
        to_codex.write(str(tmp_path), text, here)
    found = {path.name: path.read_text() for path in tmp_path.glob(f"{to_codex.BRIEF}*")}
    name = to_codex.BRIEF
    assert found == {
        name: "three\n",
        f"{name}.bak": "two\n",
        f"{name}.bak1": "a person's own\n",
        f"{name}.bak2": "one\n",
    }


@pytest.mark.parametrize("kind", ["file", "empty", "dangling"])
def test_instructions_that_are_there_stay(tmp_path: Path, here: Settings, kind: str) -> None:
    """Whatever they say; also a link to nowhere."""
    agents = tmp_path / "AGENTS.md"
    if kind == "dangling":
        agents.symlink_to(tmp_path / "nowhere.md")
    else:
        agents.write_text("mine\n" if kind == "file" else "")
    assert to_codex.write(str(tmp_path), "one\n", here).agents == ""
    assert not (tmp_path / "nowhere.md").exists()
    assert kind == "dangling" or agents.read_text() == ("mine\n" if kind == "file" else "")


@pytest.mark.parametrize("kind", ["link", "dangling", "folder"])
def test_a_brief_s_name_that_leads_elsewhere_is_refused(tmp_path: Path, here: Settings, kind: str) -> None:
    """A checkout may hold a link to any file of the user's."""
    folder, other = tmp_path / "p", tmp_path / "profile"
    folder.mkdir()
    if kind == "link":
        other.write_text("mine\n")
    if kind == "folder":
        (folder / to_codex.BRIEF).mkdir()
    else:
        (folder / to_codex.BRIEF).symlink_to(other)
    with pytest.raises(Refused):
        to_codex.write(str(folder), "one\n", here)
    assert not other.exists() or other.read_text() == "mine\n"
    assert [path.name for path in folder.iterdir()] == [to_codex.BRIEF]


# ------------------------------------------------------------ the window


class Terminal:
    """A terminal that opens nothing; `opened` are the argvs that it was given."""

    name, aliases, tabs, limit, needs = "Somewhere", (), False, LONG, ""

    def __init__(self) -> None:
        self.opened: list[tuple[tuple[str, ...], str]] = []

    def inside(self, env: Mapping[str, str]) -> bool:
        return True

    def available(self, env: Mapping[str, str]) -> bool:
        return True

    def command(self, argv: tuple[str, ...], cwd: str, title: str, where: str, env: Mapping[str, str]) -> Launch:
        self.opened.append((argv, cwd))
        return Launch(("/bin/echo", "window-7"))


class Machine:
    """Codex as `live` tells of it: what is open at each look, and a clock that each pause moves on."""

    def __init__(self, *looks: list[Open]) -> None:
        self.looks = list(looks)
        self.now = 0.0

    def live(self) -> list[Open]:
        return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]

    def pause(self, seconds: float) -> None:
        self.now += seconds


def spawn(folder: Path, here: Settings, machine: Machine, terminal: Terminal) -> to_codex.Spawned:
    programs = folder.parent / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "codex").write_text("#!/bin/sh\n")
    (programs / "codex").chmod(0o755)
    env = {"HOME": here.home, "PATH": str(programs)}
    return to_codex.spawn(
        str(folder),
        terminal,
        "window",
        env,
        here,
        live=machine.live,
        clock=lambda: machine.now,
        pause=machine.pause,
        patience=10,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "it's a $(project)"
    made.mkdir()
    return made


def test_codex_begins_with_the_brief(folder: Path, here: Settings) -> None:
    """One window, in that folder, with a first prompt that names the brief; and the session that is new there is told."""
    old, other = Open("old", "codex", cwd=str(folder)), Open("new", "codex", cwd="/elsewhere")
    starting, began = Open("mine", "codex"), Open("mine", "codex", cwd=str(folder))
    claude = Open("not-codex", "claude", cwd=str(folder))
    machine = Machine([old], [old, claude], [old, other, claude], [old, starting, other], [old, began, other])
    terminal = Terminal()
    spawned = spawn(folder, here, machine, terminal)
    assert (spawned.session, spawned.opened.id) == ("mine", "window-7")
    ((argv, cwd),) = terminal.opened
    assert cwd == str(folder)
    assert argv[-2].endswith("/codex")
    assert to_codex.BRIEF in argv[-1]


def test_a_window_in_which_nothing_begins_is_told(folder: Path, here: Settings) -> None:
    """Status 4 with the folder, after the time that was given and not before."""
    machine = Machine([Open("old", "codex", cwd=str(folder))])
    with pytest.raises(Unavailable, match="no Codex session began") as caught:
        spawn(folder, here, machine, Terminal())
    assert machine.now == pytest.approx(10, abs=0.5)
    assert "trusts the folder" in caught.value.hint


def test_a_session_that_begins_elsewhere_is_not_taken_for_it(folder: Path, here: Settings) -> None:
    """But it is named."""
    with pytest.raises(Unavailable, match="one began in /elsewhere"):
        spawn(folder, here, Machine([], [Open("new", "codex", cwd="/elsewhere")]), Terminal())


def test_without_codex_no_window_is_opened(folder: Path, here: Settings, tmp_path: Path) -> None:
    """It is looked for first."""
    if any(shutil.which("codex", path=place) for place in PROGRAM_PLACES):
        pytest.skip("Codex is installed for the whole machine")
    terminal = Terminal()
    here = here._replace(home=str(tmp_path / "nobody"))
    with pytest.raises(Unavailable):
        to_codex.spawn(
            str(folder),
            terminal,
            "window",
            {"PATH": str(tmp_path / "empty")},
            here,
            live=list,
            clock=lambda: 0.0,
            pause=lambda seconds: None,
            patience=1,
        )
    assert terminal.opened == []


@pytest.mark.parametrize(("codex_home", "expected"), [("", ()), ("/other/codex", (("CODEX_HOME", "/other/codex"),))])
def test_the_client_s_home_is_part_of_the_plan(home: Path, codex_home: str, expected: Any) -> None:
    """A window knows nothing of our environment."""
    here = settings(home, **({"CODEX_HOME": codex_home} if codex_home else {}))
    plan = to_codex.plan("/p/crm", here)
    assert plan.variables == expected
    assert (plan.argv[0], plan.cwd) == ("codex", "/p/crm")
    assert "crm" in plan.title


def test_the_model_of_a_brief_is_the_handoff() -> None:
    """Every field of a handoff that holds points has its section."""
    from recall.core.handoff import brief

    whole = Handoff("id", "title", "/p", 0.0, "extract", "task", ("done1",), ("flight1",), ("next1",), ("gotcha1",))
    text = brief(whole, Extract(edited=("a.py",)), "codex", complete=True)
    for heading, point in zip(
        HEADINGS, ["task", "- done1", "- flight1", "1. next1", "- gotcha1", "- a.py"], strict=True
    ):
        assert point in text.partition(heading)[2].partition("##")[0]
