"""A session is opened once, in its own folder, with a clean environment, and never where that could lose something."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from recall.actions import handoff, reopen
from recall.actions.folders import offers
from recall.actions.reopen import Opened, by_session, prepare, refuse_open, weight
from recall.core.card import task_of
from recall.core.model import Card, Open, Session
from recall.errors import Refused, Unavailable, Usage
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import Store, open_store
from recall.terminals.base import Launch
from recall.terminals.run import Unanswered
from tests.builders import claude_session, codex_session
from tests.machine import settings, sweep, uid

CLAUDE, CODEX = uid(1), uid(2)
TURNS = [("Move the export to the new API, please", "The export uses the new API now.")]
NOW = 1_790_000_000.0

STUB = """#!/bin/sh
{ pwd -P; for word in "$@"; do printf '%s\\n' "$word"; done; } > "$HOME/ran"
env > "$HOME/env"
"""


class Runs:
    """A terminal whose window is a process of this test: it runs what it is given, and waits for its end."""

    name = "stand-in"
    aliases = ()
    tabs = False
    needs = "mend it"

    def __init__(self, limit: int = 8000, program: str = "") -> None:
        self.limit = limit
        self.program = program
        self.opened: list[tuple[tuple[str, ...], str, str, str]] = []

    def inside(self, env: Mapping[str, str]) -> bool:
        return True

    def available(self, env: Mapping[str, str]) -> bool:
        return True

    def command(self, argv: tuple[str, ...], cwd: str, title: str, where: str, env: Mapping[str, str]) -> Launch:
        self.opened.append((argv, cwd, title, where))
        return Launch((self.program,) if self.program else argv, then="look there")


class Place(NamedTuple):
    """A home with a session of each client, indexed, and stand-ins for the clients on PATH."""

    home: Path
    work: Path
    here: Settings
    store: Store
    env: dict[str, str]
    said: list[str]

    def row(self, session: str) -> Session:
        (found,) = [row for row in self.store.sessions() if row.id == session]
        return found

    def open(self, session: str = CLAUDE, terminal: Runs | None = None, **more: Any) -> Opened:
        more = {"fast": True, "live": dict, "clock": lambda: NOW, **more}
        return reopen.reopen(
            self.row(session),
            self.store,
            more.pop("here", self.here),
            terminal or Runs(),
            more.pop("where", "window"),
            self.env,
            say=self.said.append,
            **more,
        )

    def ran(self) -> list[str]:
        """Folder and arguments of the client that was started; [] for none."""
        path = self.home / "ran"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def place(home: Path) -> Place:
    work = home / "it's a $(test)"
    work.mkdir()
    programs = home / "bin"
    programs.mkdir()
    for name in ("claude", "codex"):
        (programs / name).write_text(STUB)
        (programs / name).chmod(0o755)
    claude_session(home, str(work), CLAUDE, TURNS)
    codex_session(home, str(work), CODEX, TURNS)
    here = settings(home, RECALL_LLM="none")
    sweep(here)
    env = {
        "PATH": f"{programs}:/usr/bin:/bin",
        "HOME": str(home),
        "SHELL": "/bin/true",
        "CLAUDECODE": "1",
        "CLAUDE_CODE_CHILD_SESSION": "1",
        "CLAUDE_CONFIG_DIR": "/elsewhere",
        "EDITOR": "vi",
    }
    return Place(home, work, here, open_store(here.index), env, [])


def busy(session: str, client: str = "claude", **more: Any) -> Callable[[], dict[str, Open]]:
    return lambda: {session: Open(session, client, **{"pid": 4711, "state": "idle", "tty": "pts/3", **more})}


# -- the window ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("session", "words"), [(CLAUDE, ["--resume", CLAUDE]), (CODEX, ["resume", CODEX])])
def test_the_window_runs_the_client_on_the_session_in_its_folder(place: Place, session: str, words: list[str]) -> None:
    terminal = Runs()
    opened = place.open(session, terminal, prompt="--go on\nplease")
    assert place.ran() == [str(place.work), *words, "--", "--go on", "please"]
    ((argv, cwd, title, where),) = terminal.opened
    assert (cwd, title, where) == (str(place.work), f"it's a $(test) · {TURNS[0][0]}", "window")
    assert argv[0] == "/bin/sh"
    assert str(opened).startswith(f"opened {session} in stand-in (window): cd ")
    assert opened.then == "look there"


def test_the_client_sees_nothing_of_an_agent_around_it_nor_of_another_home(place: Place) -> None:
    place.open()
    seen = (place.home / "env").read_text()
    assert "EDITOR=vi" in seen
    assert "CLAUDE" not in seen


def test_a_session_of_another_home_is_opened_in_that_one(place: Place) -> None:
    """The variable is set for the client, and is part of the line to paste."""
    other = place.home / "second"
    claude_session(other, str(place.work), uid(3), TURNS)
    here = settings(place.home, RECALL_CLAUDE_HOMES=str(other / ".claude"), RECALL_LLM="none")
    sweep(here)
    opened = place.open(uid(3), here=here)
    assert f"CLAUDE_CONFIG_DIR={other}/.claude" in (place.home / "env").read_text().splitlines()
    assert f"env CLAUDE_CONFIG_DIR={other}/.claude claude --resume" in opened.line
    assert "env" not in place.open(here=here).line.split()


def test_where_the_environment_names_another_home_the_default_one_is_made_sure_of(place: Place) -> None:
    here = settings(place.home, CLAUDE_CONFIG_DIR="/elsewhere", RECALL_CLAUDE_HOMES=str(place.home / ".claude"))
    opening = prepare(place.row(CLAUDE), place.store, here, live={})
    assert "env -u CLAUDE_CONFIG_DIR claude --resume" in opening.line


def test_a_tab_only_where_there_are_some(place: Place) -> None:
    terminal = Runs()
    assert place.open(terminal=terminal, where="tab").where == "window"
    terminal.tabs = True
    assert place.open(terminal=terminal, where="tab", force=True).where == "tab"


def test_what_is_too_long_for_a_terminal_goes_through_a_file_that_is_gone_afterwards(place: Place) -> None:
    prompt = "\n".join(f"line {n} it's $HOME `x` \\ ёлка" for n in range(2000))
    terminal = Runs()
    place.open(terminal=terminal, prompt=prompt)
    ((argv, *_),) = terminal.opened
    assert argv[0] == "/bin/sh" and len(argv) == 2
    assert place.ran()[4:] == prompt.split("\n")
    assert not os.path.exists(argv[1])


def test_a_terminal_that_fails_leaves_no_file_and_may_be_tried_again(place: Place) -> None:
    with pytest.raises(Unavailable, match="stand-in"):
        place.open(terminal=Runs(0, program="/bin/false"))
    assert not list((Path(place.here.state) / "scripts").iterdir())
    place.open()


def test_the_client_is_found_in_the_usual_places_too(place: Place) -> None:
    usual = place.home / ".local/bin"
    usual.mkdir(parents=True)
    (place.home / "bin/claude").rename(usual / "claude")
    place.open()
    assert place.ran()
    (usual / "claude").unlink()
    with pytest.raises(Unavailable, match="no claude") as caught:
        place.open(force=True)
    assert caught.value.exit_code == 4 and "PATH" in caught.value.hint


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({"title": "Quarter\x1b[31m\nend", "title_by": "user"}, "Quarter end"),
        ({"task": "Export", "project": "crm", "title": "x", "title_by": "card"}, "crm · Export"),
        ({"ask": "token ghp_" + "a1B2c3D4e5" * 4, "project": "crm"}, "crm · token [redacted:github]"),
        ({}, "some-id"),
    ],
)
def test_titles(fields: dict[str, Any], title: str) -> None:
    """The user's name, else `folder · task`: on one line, without escapes and secrets."""
    from recall.actions.cmd import title_of

    assert title_of(Session(1, "claude", "some-id", **fields)) == title


# -- what is open ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("session", "found", "message", "hint"),
    [
        (CLAUDE, {}, "open in s003 (pid 4711, idle)", "recall peek"),
        (CLAUDE, {"tty": "", "state": ""}, "open now (pid 4711)", "recall peek"),
        (
            CLAUDE,
            {"background": True, "tty": ""},
            "open in the background (pid 4711, idle)",
            f"claude attach {CLAUDE[:8]}",
        ),
        (CODEX, {"client": "codex"}, "open in s003", "recall peek"),
        (CODEX, {"client": "codex", "background": True}, "open in the background", f"codex resume {CODEX}"),
    ],
)
def test_an_open_session_is_refused(place: Place, session: str, found: dict[str, Any], message: str, hint: str) -> None:
    """Nothing is opened, and it is said where the session is and how it is reached."""
    terminal = Runs()
    with pytest.raises(Refused) as caught:
        place.open(session, terminal, live=busy(session, **found))
    assert message in caught.value.message and hint in caught.value.hint
    assert terminal.opened == []


def test_force_opens_it_with_a_warning(place: Place) -> None:
    place.open(live=busy(CLAUDE), force=True)
    assert place.ran() and "lose turns" in place.said[0]


def test_an_open_twin_in_the_same_folder_is_no_obstacle(place: Place) -> None:
    place.open(live=busy(CODEX))
    assert place.ran()


def test_one_that_was_opened_while_a_handoff_was_made_is_refused(place: Place) -> None:
    """What is open is asked again behind all that takes time."""
    answers = [{}, busy(CLAUDE)()]
    with pytest.raises(Refused, match="is open"):
        place.open(live=lambda: answers.pop(0), fast=False)
    assert not place.ran()


def test_of_two_clients_on_one_session_the_one_with_a_terminal_is_told() -> None:
    there = Open("a", "claude", 1, background=True), Open("a", "claude", 2), Open("a", "claude", 3, background=True)
    assert by_session(there)["a"].pid == 2
    refuse_open(Session(1, "claude", "b"), by_session(there))


def test_two_at_once_open_one_window(place: Place) -> None:
    """While one waits (here: for what is open), the other is refused."""
    inside, go = threading.Event(), threading.Event()

    def slow() -> dict[str, Open]:
        inside.set()
        assert go.wait(20)
        return {}

    failures: list[Exception] = []

    def first() -> None:
        with open_store(place.here.index) as store:
            try:
                place._replace(store=store).open(live=slow)
            except Exception as problem:  # to be seen by the test
                failures.append(problem)

    thread = threading.Thread(target=first)
    thread.start()
    assert inside.wait(20)
    terminal = Runs()
    with pytest.raises(Refused, match="another recall is opening"):
        place.open(terminal=terminal, force=True)
    go.set()
    thread.join()
    assert failures == [] and terminal.opened == [] and place.ran()


def test_a_second_one_a_moment_later_is_refused_until_the_client_had_time_to_tell(place: Place) -> None:
    clock = [NOW]
    place.open(clock=lambda: clock[0])
    for later, refused in ((0.0, True), (reopen.STARTING - 0.1, True), (reopen.STARTING, False)):
        clock[0] = NOW + later
        if refused:
            with pytest.raises(Refused, match="may still be starting"):
                place.open(clock=lambda: clock[0])
        else:
            place.open(clock=lambda: clock[0])


class Breaks(Runs):
    """A terminal in which something goes wrong when a window is opened."""

    def __init__(self, problem: BaseException) -> None:
        super().__init__()
        self.problem = problem

    def command(self, *args: Any) -> Launch:
        super().command(*args)
        raise self.problem


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), SystemExit(), Unanswered("tmux does not answer")])
def test_after_an_interruption_nobody_knows_whether_a_window_opens(place: Place, problem: BaseException) -> None:
    """So none is opened beside it for a while; nor after a kill, of which nothing is heard: the note is made first."""
    terminal = Breaks(problem)
    with pytest.raises(type(problem)):
        place.open(terminal=terminal)
    with pytest.raises(Refused, match="may still be starting"):
        place.open(clock=lambda: NOW + 1)
    assert not place.ran()


@pytest.mark.parametrize("problem", [Unavailable("there is no tmux"), FileNotFoundError(2, "gone")])
def test_a_window_that_could_not_be_opened_is_tried_again_at_once(place: Place, problem: Exception) -> None:
    with pytest.raises(type(problem)):
        place.open(terminal=Breaks(problem))
    place.open(clock=lambda: NOW + 1)
    assert place.ran()


def test_scripts_that_were_never_run_are_not_kept(place: Place) -> None:
    """They hold a prompt; recall was killed before the window opened."""
    old, fresh = (place.home / ".claude/recall/scripts" / name for name in ("old.sh", "fresh.sh"))
    old.parent.mkdir()
    for path in (old, fresh):
        path.write_text("exit")
    os.utime(old, (NOW - 1e6, NOW - 1e6))
    place.open(terminal=Runs(limit=0))
    assert [path.name for path in old.parent.iterdir()] == ["fresh.sh"]


def test_one_that_was_open_meanwhile_and_closed_is_opened_at_once(place: Place) -> None:
    """Its client has written to the transcript since."""
    place.open()
    path = next((place.home / ".claude/projects").glob("*/*.jsonl"))
    os.utime(path, (NOW + 1, NOW + 1))
    place.open(clock=lambda: NOW + 2)


# -- what is gone ----------------------------------------------------------------------------------------------------


def test_a_folder_that_is_gone_starts_nothing_and_offers_what_is_left(place: Place) -> None:
    place.work.rmdir()
    terminal = Runs()
    with pytest.raises(Refused) as caught:
        place.open(terminal=terminal)
    assert f"'{place.home}'  the nearest folder above it" in caught.value.message
    assert caught.value.hint == f"recall open {CLAUDE} --in '{place.home}'"
    assert terminal.opened == []
    place.open(folder=str(place.home))
    assert place.ran()[0] == str(place.home)


def test_a_folder_that_is_given_must_exist(place: Place) -> None:
    with pytest.raises(Usage, match="no folder"):
        place.open(folder=str(place.home / "nowhere"))


@pytest.mark.parametrize(
    ("gone", "there", "offered"),
    [
        ("x.worktrees/feat/a", ["x/.git"], ["x", "."]),
        ("x/.claude/worktrees/a", ["x/.git"], ["x"]),
        ("x/src/deep/er", ["x/.git", "x/src"], ["x", "x/src"]),
        ("a/b/c", ["a"], ["a"]),
        ("x.worktrees/a", [], ["."]),
    ],
)
def test_offers(tmp_path: Path, gone: str, there: list[str], offered: list[str]) -> None:
    """A worktree's repository first, then the repository around, then the nearest folder; each once."""
    for name in there:
        (tmp_path / name).mkdir(parents=True)
    assert [one.path for one in offers(str(tmp_path / gone))] == [os.path.normpath(tmp_path / name) for name in offered]


def test_the_root_is_no_offer() -> None:
    assert offers("/nowhere-at-all/x") == []


def test_without_a_known_folder_it_is_opened_only_where_one_is_given(place: Place) -> None:
    path = claude_session(place.home, str(place.work), uid(4), TURNS)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({k: v for k, v in one.items() if k != "cwd"}) + "\n" for one in lines))
    sweep(place.here)
    with pytest.raises(Unavailable, match="no folder is known"):
        place.open(uid(4))
    place.open(uid(4), folder=str(place.work))
    assert place.ran() == [str(place.work), "--resume", uid(4)]


def test_a_transcript_that_is_gone_is_refused_with_what_survived(place: Place) -> None:
    path = next((place.home / ".claude/projects").glob("*/*.jsonl"))
    agents = path.with_suffix("") / "subagents"
    agents.mkdir(parents=True)
    (agents / "agent-a1.jsonl").write_bytes(path.read_bytes().replace(b'"isSidechain": false', b'"isSidechain": true'))
    card = Card(CLAUDE, project=str(place.work), title="Export", task="Export", artifacts=("export.py", "out.csv"))
    Shelf(place.here.data, place.here.state).write_card(card._replace(written_by="hand", written_at=NOW))
    sweep(place.here)
    assert task_of(place.row(CLAUDE)) == "Export"
    path.unlink()
    with pytest.raises(Refused) as caught:
        place.open()
    told = caught.value.message
    assert "copy: 2026-06-11" in told and "KB" in told
    assert "sub-agents: 1" in told
    assert "artifacts: export.py, out.csv" in told
    assert caught.value.hint.startswith(f"recall restore {CLAUDE}")


def test_a_missing_archive_is_not_told_as_an_empty_one(place: Place) -> None:
    next((place.home / ".claude/projects").glob("*/*.jsonl")).unlink()
    Path(place.here.archive).rename(place.home / "unmounted")
    with pytest.raises(Refused, match="is not mounted") as caught:
        place.open()
    assert "mount" in caught.value.hint


def test_a_transcript_that_the_client_has_moved_is_found(place: Place) -> None:
    path = next((place.home / ".codex/sessions").glob("*/*/*/*.jsonl"))
    (place.home / ".codex/archived_sessions").mkdir()
    path.rename(place.home / ".codex/archived_sessions" / path.name)
    place.open(CODEX)
    assert place.ran()


# -- the handoff -----------------------------------------------------------------------------------------------------


def test_a_handoff_is_written_first_where_there_is_none_as_new_as_the_session(place: Place) -> None:
    path = Path(handoff.path_of(place.here, CLAUDE))
    place.open()
    assert not path.exists()  # fast
    place.open(fast=False, force=True)
    first = path.read_text()
    assert "export" in first
    path.write_text(first.replace("export", "import"))
    place.open(fast=False, force=True)
    assert "import" in path.read_text()  # that one is new enough


def test_no_handoff_stops_nothing(place: Place) -> None:
    Path(place.here.data).mkdir(parents=True, exist_ok=True)
    (Path(place.here.data) / "handoffs").write_text("no folder")
    place.open(fast=False)
    assert place.ran() and any("no handoff" in line for line in place.said)


# -- very large ones -------------------------------------------------------------------------------------------------


def answer(tokens: int, **more: Any) -> dict[str, Any]:
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": tokens - 30,
        "cache_creation_input_tokens": 0,
        "output_tokens": 20,
    }
    return {"type": "assistant", "message": {"role": "assistant", "content": [], "usage": usage}, **more}


def used(tokens: int) -> dict[str, Any]:
    return {"type": "token_usage_record", "payload": {"usage": {"input_tokens": tokens - 20, "output_tokens": 20}}}


NONE: dict[str, Any] = {"type": "user", "message": {"content": "go on"}}


@pytest.mark.parametrize(
    ("client", "records", "tokens"),
    [
        ("claude", [answer(200_000), NONE], 200),
        ("claude", [answer(200_000), answer(1000)], 0),
        ("claude", [answer(200_000), answer(1000, isSidechain=True)], 200),
        ("claude", [answer(200_000), {"type": "system", "subtype": "compact_boundary", "compactMetadata": {}}], 0),
        ("claude", [answer(200_000), {"type": "assistant", "message": {"usage": {"input_tokens": 0}}}], 200),
        ("claude", [answer(149_000)], 0),
        ("claude", [{"usage": None, "type": "assistant"}, {"type": "assistant", "message": {"usage": "x"}}], 0),
        ("codex", [used(180_000), {"type": "event_msg", "payload": {"type": "task_complete"}}], 180),
        ("codex", [used(180_000), {"type": "compacted", "payload": {}}], 0),
        (
            "codex",
            [
                {
                    "type": "event_msg",
                    "payload": {"type": "token_count", "info": {"last_token_usage": {"input_tokens": 160_000}}},
                }
            ],
            160,
        ),
    ],
)
def test_a_large_context_is_warned_of(tmp_path: Path, client: str, records: list[object], tokens: int) -> None:
    """Thousands of tokens that are told, 0 for no warning; `client` wrote the records."""
    path = tmp_path / "x.jsonl"
    path.write_text("half a line\n" + "".join(json.dumps(one) + "\n" for one in records))
    told = weight(Session(1, client, "id"), str(path))
    assert f"{tokens},000 tokens" in told if tokens else told == ""


def test_a_large_file_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with path.open("wb") as file:
        file.truncate(60 << 20)
    assert "60 MB" in weight(Session(1, "claude", "id"), str(path))
    assert weight(Session(1, "claude", "id"), str(tmp_path / "gone")) == ""
