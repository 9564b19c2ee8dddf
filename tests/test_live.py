"""Which sessions are open, and what the clients tell of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recall import live
from recall.core.model import Open
from recall.live import claude, codex, live_ids, open_sessions, process
from tests.conftest import ROOT
from tests.machine import settings
from tests.standins import StandIns

THREAD = "01a228d0-3f60-7571-a362-f71364f367d5"
OTHER = "01a228d0-591c-7e91-93fc-e8f1bbe2c702"


@pytest.fixture
def clients(home: Path) -> Iterator[StandIns]:
    made = StandIns(home)
    yield made
    made.end()


def only(home: Path) -> Open:
    """The one session that is open."""
    (found,) = open_sessions(settings(home))
    return found


def rollout(home: Path, session: str, lines: list[str], *, source: str = "cli", day: str = "2026/11/29") -> Path:
    """A rollout with these payloads, as 0.171.0 writes them; each is at its number of seconds after 19:00 on that day."""
    meta = {"id": session, "cwd": '/home/dev/a "b"', "originator": "codex-tui", "source": source}
    rows = [json.dumps({"timestamp": "2026-11-29T19:00:00.000Z", "type": "session_meta", "payload": meta})]
    for number, line in enumerate(lines):
        rows.append(
            f'{{"timestamp":"2026-11-29T19:00:{number:02}.000Z","ordinal":{number},"type":"event_msg","payload":{line}}}'
        )
    path = home / f".codex/sessions/{day}/rollout-2026-11-29T19-00-00-{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(row.replace('", "', '","').replace('": ', '":') + "\n" for row in rows))
    return path


def test_a_client_that_ended_is_not_open_even_while_nobody_has_asked_for_its_end(clients: StandIns, home: Path) -> None:
    """A killed client stays in the process table until its parent looks: it is a row there and nothing more."""
    one = clients.claude("aaaa")
    assert live_ids(settings(home)) == {"aaaa"}
    one.process.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, one.pid, os.WEXITED | os.WNOWAIT)
    assert live_ids(settings(home)) == set()
    assert open_sessions(settings(home)) == ()


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({}, {"state": "idle", "name": "", "background": False, "cwd": "/home/dev/crm"}),
        ({"status": "busy", "name": "x", "nameSource": "user"}, {"state": "busy", "name": "x"}),
        ({"status": "shell"}, {"state": "busy"}),
        (
            {"status": "waiting", "waitingFor": "permission prompt"},
            {"state": "waiting", "waiting_for": "permission prompt"},
        ),
        ({"status": "idle", "waitingFor": "permission prompt"}, {"state": "idle", "waiting_for": ""}),
        ({"status": "dreaming"}, {"state": ""}),
        ({"status": None, "startedAt": "soon", "updatedAt": True}, {"state": "", "started": 0.0, "updated": 0.0}),
        ({"kind": "bg"}, {"background": True, "tty": ""}),
        ({"kind": "background"}, {"background": True}),
        ({"kind": None}, {"background": False}),
        ({"entrypoint": None}, {"session": "aaaa"}),
        ({"procStart": None}, {"session": "aaaa"}),
        ({"pidDomain": "something else"}, {"session": "aaaa"}),
        ({"startedAt": 1795980854409}, {"started": 1795980854.409}),
    ],
)
def test_what_claude_code_tells(clients: StandIns, home: Path, fields: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Each field as the client means it; what it does not say is not known."""
    one = clients.claude("aaaa", **fields)
    found = only(home)
    assert (found.session, found.client, found.pid) == ("aaaa", "claude", one.pid)
    assert {key: getattr(found, key) for key in wanted} == wanted


@pytest.mark.parametrize(
    "fields",
    [
        {"procStart": "1"},  # its number was given to another process
        {"entrypoint": "sdk-cli"},
        {"sessionId": 7},
        {"sessionId": "../x"},
        {"pid": 1},
        {"pid": True},
        {"pidDomain": "linux:3d1219c7c4c5404aaa1f6d2a48adfda4:pid:[1]"},
    ],
)
def test_files_that_are_no_open_session(clients: StandIns, home: Path, fields: dict[str, Any]) -> None:
    """Another process of that number, a headless run, a file that is not its process's, another container's."""
    clients.claude("aaaa", **fields)
    assert open_sessions(settings(home)) == ()


@pytest.mark.parametrize("text", ["", "{", '{"pid": 1', "[]", "null", "3", '"x"', "{}", "\x00\xff", "[" * 60_000])
def test_half_written_files_are_passed_over(clients: StandIns, home: Path, text: str) -> None:
    """And those beside them are read."""
    clients.claude("aaaa")
    (home / ".claude/sessions/123.json").write_text(text, encoding="latin-1")
    (home / ".claude/sessions/abc.json").write_text("{}")
    (home / ".claude/sessions/124.json").mkdir()
    (home / ".claude/sessions/125.json").symlink_to("125.json")
    os.mkfifo(home / ".claude/sessions/126.json")
    assert [one.session for one in open_sessions(settings(home))] == ["aaaa"]
    assert live_ids(settings(home)) == {"aaaa"}


def test_two_processes_on_one_session_are_two(clients: StandIns, home: Path) -> None:
    first, second = clients.claude("aaaa"), clients.claude("aaaa")
    assert {(one.session, one.pid) for one in open_sessions(settings(home))} == {
        ("aaaa", first.pid),
        ("aaaa", second.pid),
    }


def test_the_terminal_of_each(clients: StandIns, home: Path) -> None:
    """Claude Code's and Codex's own terminal; one in the background has none, though a host gave it one."""
    one, other = clients.claude("aaaa", terminal=True), clients.codex(THREAD, terminal=True)
    clients.claude("bbbb", terminal=True, kind="bg")
    found = {row.session: row for row in open_sessions(settings(home))}
    assert {session: row.tty for session, row in found.items()} == {"aaaa": one.tty, THREAD: other.tty, "bbbb": ""}
    assert one.tty.startswith("pts/")
    assert not found[THREAD].background


def test_codex_is_open_where_its_lock_is_held(clients: StandIns, home: Path) -> None:
    """Held, not there; and who holds it."""
    clients.lock(OTHER)
    (home / ".codex/thread-writer-locks/.coordination.lock").touch()
    one = clients.codex(THREAD, terminal=True)
    rollout(home, THREAD, [])
    found = only(home)
    assert (found.session, found.client, found.pid, found.cwd) == (THREAD, "codex", one.pid, '/home/dev/a "b"')
    assert live_ids(settings(home)) == {THREAD}
    one.kill()
    clients.started.remove(one)
    assert open_sessions(settings(home)) == ()


@pytest.mark.parametrize("word", ["app-server", "exec"])
def test_the_background_server_and_headless_runs_have_no_terminal(clients: StandIns, home: Path, word: str) -> None:
    """Whatever terminal they were started from."""
    clients.codex(THREAD, terminal=True, args=(word,))
    (entry,) = codex.entries(str(home / ".codex"))
    assert (entry.open.background, entry.open.tty) == (True, "")


def test_one_codex_with_two_sessions_tells_the_newest_first(clients: StandIns, home: Path) -> None:
    one = clients.codex(OTHER, THREAD, terminal=True)
    assert [(row.session, row.pid) for row in open_sessions(settings(home))] == [(OTHER, one.pid), (THREAD, one.pid)]


@pytest.mark.parametrize(
    "fields",
    ['"source":{"subagent":{"thread_spawn":{"parent_thread_id":"x"}}}', '"source":"cli","thread_source":"subagent"'],
)
def test_sub_agents_are_no_sessions(clients: StandIns, home: Path, fields: str) -> None:
    """Their locks are newer than that of the session that has them, and of the same process."""
    clients.codex(OTHER, THREAD, terminal=True)
    path = rollout(home, OTHER, [])
    path.write_text(path.read_text().replace('"source":"cli"', fields))
    assert [row.session for row in open_sessions(settings(home))] == [THREAD]


def test_instructions_are_not_facts_of_a_session(clients: StandIns, home: Path) -> None:
    """What the client tells the model stands in the same line."""
    clients.codex(THREAD)
    path = rollout(home, THREAD, [])
    said = (
        '"source":"cli","base_instructions":{"text":"x \\"thread_source\\":\\"subagent\\" "thread_source":"subagent""}'
    )
    path.write_text(path.read_text().replace('"source":"cli"', said))
    assert only(home).session == THREAD


STARTED = '{"type":"task_started","turn_id":"t"}'
DONE = '{"type":"task_complete","turn_id":"t"}'
ABORTED = '{"type":"turn_aborted","reason":"interrupted"}'
SAID = '{"type":"agent_message","message":"the words \\"payload\\":{\\"type\\":\\"task_complete\\" are only said"}'
ASKS = '{"type":"turn_context","approval_policy":"on-request"}'
NEVER = '{"type":"turn_context","approval_policy":"never"}'
OUTSIDE = '{"type":"function_call","arguments":"{\\"sandbox_permissions\\":\\"require_escalated\\"}","call_id":"c1"}'
INSIDE = '{"type":"function_call","arguments":"{}","call_id":"c1"}'
PATCH = '{"type":"custom_tool_call","name":"apply_patch","call_id":"c1"}'
RESULT = '{"type":"function_call_output","call_id":"c1"}'
PATCHED = '{"type":"custom_tool_call_output","call_id":"c1"}'


@pytest.mark.parametrize(
    ("lines", "state"),
    [
        ([], ""),
        ([SAID], ""),
        ([STARTED], "busy"),
        ([STARTED, SAID], "busy"),
        ([STARTED, SAID, DONE], "idle"),
        ([STARTED, ABORTED], "idle"),
        ([STARTED, DONE, SAID], "idle"),
        ([STARTED, DONE, STARTED], "busy"),
        ([STARTED, ASKS, INSIDE], "busy"),
        ([STARTED, ASKS, OUTSIDE], "waiting"),
        ([STARTED, OUTSIDE], "waiting"),
        ([STARTED, NEVER, OUTSIDE], "busy"),
        ([STARTED, ASKS, OUTSIDE, RESULT], "busy"),
        ([STARTED, ASKS, PATCH], "waiting"),
        ([STARTED, ASKS, PATCH, PATCHED], "busy"),
        ([STARTED, ASKS, OUTSIDE, RESULT, DONE], "idle"),
    ],
)
@pytest.mark.parametrize("padding", [0, 700_000])
def test_the_state_of_codex(home: Path, lines: list[str], state: str, padding: int) -> None:
    """By the last turn of its rollout, however long that is; a command that needs a permission and has no result may be a
    question."""
    if padding and lines:
        lines = [lines[0], '{"type":"x","text":"' + "y" * padding + '"}', *lines[1:]]
    path = rollout(home, THREAD, lines)
    assert codex.last_turn(str(path), 1.0).state == state


def test_a_turn_that_an_earlier_process_left_is_over(home: Path) -> None:
    """The client that was in the middle of it was killed; this one has done nothing yet."""
    path = rollout(home, THREAD, [STARTED])
    began = 1795978800.0  # 19:00:00 on that day
    assert codex.last_turn(str(path), began + 60).state == "idle"
    assert codex.last_turn(str(path), began - 60).state == "busy"


@pytest.mark.parametrize("day", ["2026/11/28", "2026/11/29", "2026/11/30", "2020/01/01"])
def test_the_rollout_of_a_session(home: Path, day: str) -> None:
    """In the folder of the day of its id, by any local time; else wherever it is."""
    path = rollout(home, THREAD, [], day=day)
    assert codex.rollout_of(str(home / ".codex"), THREAD) == str(path)
    assert codex.rollout_of(str(home / ".codex"), OTHER) == ""
    assert codex.rollout_of(str(home / ".codex"), "ffffffff-ffff-7fff-bfff-ffffffffffff") == ""  # of no year


# -- where there is no /proc ---------------------------------------------------------------------------------------


@pytest.fixture
def without_proc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As on macOS: `ps` and a try of the lock are all there is."""
    monkeypatch.setattr(live, "PROC", str(tmp_path / "none"))


def by_ps(pid: int) -> str:
    """What Claude Code keeps as procStart there."""
    done = subprocess.run(
        ["/bin/ps", "-o", "lstart=", "-p", str(pid)], env={"LC_ALL": "C", "TZ": "UTC"}, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.mark.usefixtures("without_proc")
def test_without_proc_the_start_is_compared_as_ps_tells_it(clients: StandIns, home: Path) -> None:
    one, reused = clients.wait(terminal=True), clients.wait()
    clients.register(one.pid, "aaaa", procStart=by_ps(one.pid))
    clients.register(reused.pid, "bbbb", procStart="Sun Nov 29 19:34:12 2020")
    found = only(home)
    assert (found.session, found.tty) == ("aaaa", one.tty)


@pytest.mark.usefixtures("without_proc")
def test_without_proc_and_start_the_command_must_be_the_client(clients: StandIns, home: Path, tmp_path: Path) -> None:
    """A number alone is nothing: another program may have it by now."""
    clients.register(clients.wait().pid, "aaaa")
    assert open_sessions(settings(home)) == ()
    (tmp_path / "claude").symlink_to(sys.executable)
    named = subprocess.Popen([tmp_path / "claude", "-c", "input()"], stdin=subprocess.PIPE)
    try:
        clients.register(named.pid, "bbbb")
        assert only(home).session == "bbbb"
    finally:
        named.kill()
        named.communicate()


@pytest.mark.usefixtures("without_proc")
def test_without_proc_a_lock_is_tried(clients: StandIns, home: Path) -> None:
    clients.lock(OTHER)
    clients.codex(THREAD, terminal=True)
    assert only(home).session == THREAD
    assert live_ids(settings(home)) == {THREAD}


@pytest.mark.usefixtures("without_proc")
@pytest.mark.skipif(not os.access("/usr/bin/lsof", os.X_OK), reason="lsof is not installed")
def test_without_proc_lsof_tells_who_has_a_lock(clients: StandIns, home: Path) -> None:
    one = clients.codex(THREAD, terminal=True)
    found = only(home)
    assert (found.pid, found.tty) == (one.pid, one.tty)


@pytest.mark.usefixtures("without_proc")
def test_without_proc_ps_tells_ancestors_and_starts(clients: StandIns) -> None:
    one = clients.wait()
    assert process.ancestors(one.pid)[:2] == [one.pid, os.getpid()]
    assert process.argv(one.pid)[0] == sys.executable
    assert process.started(one.pid) > 1_600_000_000


def test_with_proc_the_same(clients: StandIns) -> None:
    one = clients.wait()
    assert process.ancestors(one.pid)[:2] == [one.pid, os.getpid()]
    assert process.argv(one.pid)[0] == sys.executable
    assert process.started(one.pid) > 1_600_000_000
    assert process.boot().id
    assert 0 < process.boot().time < process.started(one.pid)


@pytest.mark.parametrize("pid", [0, -1, 2**31, 999_999_999])
def test_numbers_that_are_no_process(pid: int) -> None:
    assert (process.stat(pid), process.tty_of(pid), process.argv(pid)) == (None, "", ())
    assert process.started(pid) == 0.0


# -- what the client itself prints -----------------------------------------------------------------------------------


def test_the_list_of_agents(clients: StandIns) -> None:
    """`claude agents --json` as 2.1.332 prints it; headless runs are known by their command line."""
    one = clients.wait(terminal=True)
    headless = clients.wait("-p")
    rows = [
        {"pid": one.pid, "cwd": "/a", "kind": "interactive", "startedAt": 1000, "sessionId": "aaaa", "status": "idle"},
        {"pid": headless.pid, "kind": "interactive", "sessionId": "hhhh", "status": "busy"},
        {"pid": 999999, "kind": "background", "sessionId": "bbbb", "status": "waiting", "waitingFor": "dialog open"},
        {"pid": "x"},
        7,
    ]
    found = claude.of_agents(json.dumps(rows))
    assert [(row.session, row.tty, row.state, row.waiting_for, row.background) for row in found] == [
        ("aaaa", one.tty, "idle", "", False),
        ("bbbb", "", "waiting", "dialog open", True),
    ]
    for text in ("", "{}", "Not logged in"):
        with pytest.raises(ValueError):
            claude.of_agents(text)


def test_a_search_loads_no_more_than_ids_need() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\nfrom recall.live import live_ids\n"
        "print(sorted(name for name in sys.modules if name.startswith('recall')))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code, str(ROOT)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['recall', 'recall.errors', 'recall.live', 'recall.settings']"
