"""Which sessions ended without an end: kills and restarts, told from what their users left."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.actions.crashed import crashed, keep_open, opened_again
from recall.live import process
from recall.live.process import Boot
from recall.settings import Settings
from tests.builders import claude_session, codex_session
from tests.machine import settings
from tests.standins import StandIn, StandIns

IDS = [f"5a1c0b1e-93f0-4f5e-a7d4-00000000000{n}" for n in range(6)]
THREAD = "01a228d0-3f60-7571-a362-f71364f367d5"
OTHER = "01a228d0-591c-7e91-93fc-e8f1bbe2c702"
TURNS = [("Move the export to the new API, please", "The export uses the new API now.")]


class World:
    """A home with transcripts and stand-ins of clients; `sweep` is what the timer does."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = home
        self.clients = StandIns(home)
        self.settings: Settings = settings(home)
        self.now = time.time()
        self._patch = monkeypatch
        for session in IDS:
            claude_session(home, "crm", session, TURNS)
        for session in (THREAD, OTHER):
            codex_session(home, "crm", session, TURNS)
        os.makedirs(self.settings.state, mode=0o700)

    def hooks(self) -> None:
        """recall is installed, and Codex trusts its hooks."""
        Path(self.settings.state, "hook.conf").write_text("")
        (self.home / ".codex").mkdir(exist_ok=True)
        (self.home / ".codex/config.toml").write_text(
            '[hooks.state."/x/hooks.json:session_end:0:0"]\ntrusted_hash = "sha256:1"\n'
        )

    def sweep(self) -> None:
        keep_open(self.settings, self.now)

    def later(self, seconds: float) -> None:
        self.now += seconds

    def lost(self, **more: float) -> list[str]:
        return [one.open.session for one in crashed(self.settings, self.now, **more)]

    def trace(self, one: StandIn) -> Path:
        return self.home / f".claude/sessions/{one.pid}.json"

    def lock(self, session: str) -> Path:
        return self.home / f".codex/thread-writer-locks/{session}.lock"

    def end(self, session: str, reason: str, pid: int = 0) -> None:
        """The hook's word of an end, now."""
        path = Path(self.settings.state, "ended", session)
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{reason} {pid or ''}".strip())
        os.utime(path, (self.now, self.now))

    def leave(self, one: StandIn, session: str, reason: str = "prompt_input_exit") -> None:
        """A client ends in good order: its own file goes, the hook is called."""
        self.end(session, reason, one.pid)
        self.trace(one).unlink(missing_ok=True)
        one.kill()

    def restart(self, name: str = "next") -> None:
        """The machine was started anew, just now: nothing runs of what ran before."""
        boot = Boot(name, self.now)
        self._patch.setattr(process, "boot", lambda: boot)


@pytest.fixture
def world(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    made = World(home, monkeypatch)
    yield made
    made.clients.end()


def test_what_was_killed_is_found_and_nothing_else(world: World) -> None:
    """Three of five, and a Codex: by what the clients left behind, without a sweep in between."""
    open_ones = [world.clients.claude(session) for session in IDS[:5]]
    codex = world.clients.codex(THREAD)
    for one in (*open_ones[:3], codex):
        one.kill()
    assert sorted(world.lost()) == sorted([*IDS[:3], THREAD])


@pytest.mark.parametrize("hooks", [True, False])
def test_a_client_that_tidies_up_takes_nothing_away(world: World, hooks: bool) -> None:
    """A sweep saw the session, or its trace; then the trace went. Without hooks nobody can tell that from a good end."""
    if hooks:
        world.hooks()
    seen, traced = world.clients.claude(IDS[0]), world.clients.claude(IDS[1])
    codex = world.clients.codex(THREAD)
    traced.kill()
    world.sweep()
    for one in (seen, codex):
        one.kill()
    world.trace(seen).unlink()
    world.trace(traced).unlink()
    world.lock(THREAD).unlink()
    world.later(60)
    assert sorted(world.lost()) == (sorted([IDS[0], IDS[1], THREAD]) if hooks else [])
    world.sweep()
    assert sorted(world.lost()) == (sorted([IDS[0], IDS[1], THREAD]) if hooks else [])


def test_codex_whose_hooks_are_not_trusted_tells_no_ends(world: World) -> None:
    """Its lock is gone: it was left with /quit, as far as anybody knows."""
    world.hooks()
    (world.home / ".codex/config.toml").unlink()
    codex = world.clients.codex(THREAD)
    world.sweep()
    codex.kill()
    world.lock(THREAD).unlink()
    world.later(60)
    assert world.lost() == []


@pytest.mark.parametrize("reason", ["prompt_input_exit", "other", "clear", "resume", "logout"])
@pytest.mark.parametrize("sweeps", [True, False])
def test_what_its_user_left_has_not_crashed(world: World, reason: str, sweeps: bool) -> None:
    """A closed window is reason `other`; that is an end like any, while the machine runs on."""
    world.hooks()
    one = world.clients.claude(IDS[0])
    if sweeps:
        world.sweep()
    world.later(60)
    world.leave(one, IDS[0], reason)
    assert world.lost() == []
    world.later(1800)
    world.sweep()
    assert world.lost() == []
    world.restart()
    assert world.lost() == []


def test_a_client_that_went_on_to_another_session_has_left_the_first(world: World) -> None:
    """/clear: the same process, another id."""
    world.hooks()
    one = world.clients.claude(IDS[0])
    world.sweep()
    world.clients.register(one.pid, IDS[1], procStart=one.start)
    world.later(60)
    assert world.lost() == []
    world.sweep()
    one.kill()
    assert world.lost() == [IDS[1]]


def test_a_process_of_the_same_number_is_not_the_client(world: World) -> None:
    """The number was given to another one: the client is gone."""
    stranger = world.clients.wait()
    world.clients.register(stranger.pid, IDS[0], procStart="1")
    assert world.lost() == [IDS[0]]


def test_what_is_open_again_has_not_crashed(world: World) -> None:
    """Nor what was opened again and left, though the old trace still lies there; if that is killed too, it has."""
    world.hooks()
    world.clients.claude(IDS[0]).kill()
    world.later(60)
    again = world.clients.claude(IDS[0])
    assert world.lost() == []
    world.sweep()
    world.later(60)
    world.leave(again, IDS[0])
    assert world.lost() == []
    world.later(60)
    third = world.clients.claude(IDS[0], startedAt=int(world.now * 1000), updatedAt=int(world.now * 1000))
    world.sweep()
    third.kill()
    assert world.lost() == [IDS[0]]


def test_what_a_sweep_saw_open_again_is_forgotten_without_hooks(world: World) -> None:
    """Killed, opened again, left: the trace of the first process says nothing any more."""
    first = world.clients.claude(IDS[0])
    first.kill()
    world.later(60)
    again = world.clients.claude(IDS[0])
    world.sweep()
    world.trace(again).unlink()
    again.kill()
    world.later(60)
    assert world.trace(first).exists()
    assert world.lost() == []


def test_what_was_reopened_is_not_reopened_twice(world: World) -> None:
    """The client may take a while until it tells that it is there; killed once more it is lost once more."""
    world.clients.claude(IDS[0]).kill()
    world.clients.codex(THREAD).kill()
    world.later(60)
    opened_again(world.settings, [IDS[0], THREAD], world.now)
    assert world.lost() == []
    world.later(60)
    world.clients.claude(IDS[0], updatedAt=int(world.now * 1000)).kill()
    assert world.lost() == [IDS[0]]


def test_after_a_restart_what_was_open_then_is_found(world: World) -> None:
    """The machine told the clients to end (reason `other`), and they tidied up; what was left before was left."""
    world.hooks()
    ones = [world.clients.claude(session) for session in IDS[:4]]
    world.sweep()
    world.later(1200)
    world.leave(ones[0], IDS[0], "other")  # its window was closed, long before
    world.later(1200)
    world.leave(ones[1], IDS[1])  # /exit at the end of the day
    world.leave(ones[2], IDS[2], "other")
    world.later(20)
    world.leave(ones[3], IDS[3], "other")
    world.later(8 * 3600)
    world.restart()
    world.later(60)
    assert sorted(world.lost()) == [IDS[2], IDS[3]]
    world.sweep()
    world.later(3600)
    world.sweep()
    assert sorted(world.lost()) == [IDS[2], IDS[3]]
    assert {one.why for one in crashed(world.settings, world.now)} == {"the machine was restarted"}


@pytest.mark.parametrize("hooks", [True, False])
def test_after_a_power_cut_without_traces_the_last_sweep_tells(world: World, hooks: bool) -> None:
    """Open at the last look before the machine went down, and never again."""
    if hooks:
        world.hooks()
    early, late = world.clients.claude(IDS[0]), world.clients.claude(IDS[1])
    codex = world.clients.codex(THREAD)
    world.sweep()
    world.later(60)
    world.end(IDS[0], "prompt_input_exit", early.pid)
    world.trace(early).unlink()
    early.kill()
    world.later(60)
    world.sweep()
    for one in (late, codex):
        one.kill()
    world.trace(late).unlink()
    world.lock(THREAD).unlink()
    world.later(600)
    world.restart()
    assert sorted(world.lost()) == sorted([IDS[1], THREAD])


def test_old_crashes_are_history(world: World) -> None:
    """A week is looked back, unless another moment is named; what was kept longer than a month is dropped."""
    world.hooks()
    one = world.clients.claude(IDS[0])
    world.sweep()
    one.kill()
    world.trace(one).unlink()
    world.later(6 * 86400)
    assert world.lost() == [IDS[0]]
    world.later(2 * 86400)
    assert world.lost() == []
    assert world.lost(since=world.now - 9 * 86400) == [IDS[0]]
    world.sweep()
    assert world.lost(since=1.0) == [IDS[0]]
    world.later(30 * 86400)
    world.sweep()
    assert world.lost(since=1.0) == []


def test_headless_runs_and_sessions_without_a_prompt_do_not_count(world: World) -> None:
    """What ran in the background is told apart."""
    world.clients.claude(IDS[0], entrypoint="sdk-cli").kill()
    world.clients.claude("never-prompted").kill()
    world.clients.claude(IDS[1], kind="bg").kill()
    found = crashed(world.settings, world.now)
    assert [(one.open.session, one.open.background) for one in found] == [(IDS[1], True)]


def test_the_background_server_of_codex_is_told_apart(world: World) -> None:
    """Seen by a sweep; or by the rollout, which says for whom the server worked."""
    server = world.clients.codex(THREAD, args=("app-server",))
    world.sweep()
    server.kill()
    assert [one.open.background for one in crashed(world.settings, world.now)] == [True]


def test_what_is_kept_is_private_and_whole(world: World) -> None:
    world.clients.claude(IDS[0])
    world.sweep()
    path = Path(world.settings.state, "open.json")
    assert path.stat().st_mode & 0o777 == 0o600
    found = json.loads(path.read_text())
    assert [one["id"] for one in found["open"]] == [IDS[0]]
    assert "crm" not in path.read_text().replace(str(world.home), "")
    assert found["boots"][-1]["id"] == process.boot().id


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"open": 3, "boots": {}, "again": []}',
        '{"open": [3, {}, {"client": "x"}], "again": {"a": 1}}',
    ],
)
def test_a_damaged_file_is_as_none(world: World, text: str) -> None:
    """The next sweep makes it anew."""
    Path(world.settings.state, "open.json").write_text(text)
    world.clients.claude(IDS[0]).kill()
    assert world.lost() == [IDS[0]]
    world.sweep()
    assert json.loads(Path(world.settings.state, "open.json").read_text())["schema"] == 1


def test_what_was_purged_is_not_kept(world: World) -> None:
    one = world.clients.claude(IDS[0])
    world.sweep()
    one.kill()
    Path(world.settings.state, "purged").mkdir()
    Path(world.settings.state, "purged", IDS[0]).touch()
    world.sweep()
    assert json.loads(Path(world.settings.state, "open.json").read_text())["open"] == []


def test_a_file_that_cannot_be_written_stops_no_sweep(world: World) -> None:
    Path(world.settings.state, "open.json").mkdir()
    world.clients.claude(IDS[0]).kill()
    world.sweep()
    assert world.lost() == [IDS[0]]
