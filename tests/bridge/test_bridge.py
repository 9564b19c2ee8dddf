"""recall drives iTerm2 through its bridge: the right session, once, and never for somebody who is gone."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall.core import bridge as wire
from recall.core.model import Pane
from recall.errors import RecallError, Refused, Unavailable
from recall.terminals import iterm2_bridge as driver
from recall.terminals.base import DEADLINE
from tests.conftest import ROOT

pytest.importorskip("iterm2", reason="the package iterm2 (extra `dev`) is not installed")

from tests.bridge.desk import Desk
from tests.bridge.standin import COOKIE, Screen

A = Pane("iterm2", "GUID-A", "ttys003")
B = Pane("iterm2", "GUID-B", "ttys004")


def raw(desk: Desk, data: bytes, *, end: bool = False) -> bytes:
    """What the bridge answers to these bytes, until it hangs up."""
    with socket.socket(socket.AF_UNIX) as asked:
        asked.settimeout(20)
        asked.connect(str(desk.socket))
        asked.sendall(data)
        if end:
            asked.shutdown(socket.SHUT_WR)
        out = b""
        while more := asked.recv(65536):
            out += more
        return out


def asks(desk: Desk, op: str, *, within: float = 10, **what: Any) -> subprocess.Popen[str]:
    """A process of its own that asks the bridge, as the command line does."""
    code = (
        "import json, os, sys; from recall.terminals import iterm2_bridge as b;"
        "op, within, what = json.loads(sys.argv[1]); print(b.ask(os.environ, op, within=within, **what))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, json.dumps([op, within, what])],
        env={**desk.env, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


# ------------------------------------------------------------ what it does


def test_the_sessions_of_iterm2_are_told(bridged: Desk) -> None:
    """With terminal, process, title and folder; also those that stand in no window."""
    bridged.iterm.screens["GUID-C"] = Screen("GUID-C", "", 0, 0, "тест", "")
    bridged.iterm.buried.add("GUID-C")
    assert driver.panes(bridged.env) == [
        Pane("iterm2", "GUID-A", "ttys003", 100, "claude", "/home/dev/crm"),
        Pane("iterm2", "GUID-B", "ttys004", 200, "codex", "/home/dev/shop"),
        Pane("iterm2", "GUID-C", "", 0, "тест", ""),
    ]


def test_the_bridge_shows_iterm2_the_cookie_that_it_was_started_with(bridged: Desk) -> None:
    """And speaks the API's subprotocol."""
    (headers,) = bridged.iterm.headers
    assert headers["x-iterm2-cookie"] == COOKIE
    assert headers["sec-websocket-protocol"] == "api.iterm2.com"


def test_text_and_enter_arrive_once_in_the_right_session_only(bridged: Desk) -> None:
    """As a bracketed paste with its lines kept together, and kept from broadcasting though that is on."""
    bridged.iterm.broadcasting = True
    driver.paste(B, "first\nsecond\r\nтретья 👍\t.", bridged.env)
    driver.enter(B, bridged.env)
    pasted = "\x1b[200~first\nsecond\nтретья 👍\t.\x1b[201~"
    assert bridged.iterm.sent == [("GUID-B", pasted, True), ("GUID-B", "\r", True)]
    assert bridged.iterm.screens["GUID-A"].received == []
    assert bridged.iterm.screens["GUID-B"].received == [pasted, "\r"]


READS = [
    ("the last lines", [(f"line {n}", True) for n in range(100)], 3, "line 97\nline 98\nline 99"),
    ("wrapped ones are joined", [("a", True), ("long ", False), ("line", True)], 1, "long line"),
    ("blank ones at the end do not count", [("a", True), ("b  ", True), *[("", True)] * 22], 2, "a\nb"),
    ("more than there are", [("a\0b", True)], 5000, "a b"),
    ("a blank screen", [("", True)] * 24, 10, ""),
    ("none", [], 10, ""),
]


@pytest.mark.parametrize(("lines", "count", "text"), [case[1:] for case in READS], ids=[case[0] for case in READS])
def test_the_end_of_a_session_is_read(bridged: Desk, lines: list[tuple[str, bool]], count: int, text: str) -> None:
    """As text, also when lines were lost from the top of the history."""
    screen = bridged.iterm.screens["GUID-A"]
    screen.lines, screen.overflow = lines, 1000
    assert driver.read(A, count, bridged.env) == text


def test_a_text_that_is_too_long_is_cut_at_its_beginning(bridged: Desk) -> None:
    """An answer has a largest size."""
    bridged.iterm.screens["GUID-A"].lines = [("я" * 2000, True) for _ in range(1000)] + [("the end", True)]
    text = driver.read(A, 5000, bridged.env)
    assert text.endswith("я\nthe end")
    assert 100_000 < len(text) < wire.LARGEST_ANSWER


# ------------------------------------------------------------ what it does not do


@pytest.mark.parametrize("name", ["all", "active", "GUID-X", "guid-a", "GUID-A "])
def test_only_the_id_of_a_session_is_one(bridged: Desk, name: str) -> None:
    """'all' and 'active' mean something to the API, and nothing to us."""
    for what in (
        lambda: driver.paste(Pane("iterm2", name), "x", bridged.env),
        lambda: driver.enter(Pane("iterm2", name), bridged.env),
        lambda: driver.read(Pane("iterm2", name), 5, bridged.env),
    ):
        with pytest.raises(Unavailable, match="the session is gone"):
            what()
    assert bridged.iterm.sent == []


def test_a_session_whose_terminal_is_another_one_now_gets_nothing(bridged: Desk) -> None:
    """The caller looked at one terminal and would type into another."""
    with pytest.raises(Unavailable, match="another terminal"):
        driver.paste(A._replace(tty="ttys009"), "x", bridged.env)
    with pytest.raises(Unavailable, match="another program"):
        driver.enter(A._replace(pid=99), bridged.env)
    assert bridged.iterm.sent == []


def test_a_session_that_goes_in_between_is_told(bridged: Desk) -> None:
    """The package's own method would not say so: iTerm2 tells that it sent to nobody."""
    bridged.iterm.closing.add("GUID-A")
    for what in (lambda: driver.paste(A, "x", bridged.env), lambda: driver.enter(A, bridged.env)):
        with pytest.raises(Unavailable, match="the session is gone"):
            what()
    assert bridged.iterm.screens["GUID-A"].received == []


@pytest.mark.parametrize(
    "text", ["a\x1b[201~rm -rf /\r", "a\x1bb", "a\x03", "a\x9b201~", "a\rb", "\x7f", "half \ud83d"]
)
def test_a_text_cannot_leave_the_paste(bridged: Desk, text: str) -> None:
    """What a terminal acts upon is refused by recall, and by the bridge if somebody else asks."""
    with pytest.raises(Refused):
        driver.paste(A, text, bridged.env)
    with pytest.raises(Refused, match="control character"):
        driver.ask(bridged.env, "paste", pane="GUID-A", text=text)
    assert bridged.iterm.sent == []


def test_a_caller_that_is_killed_in_between_sends_nothing(bridged: Desk) -> None:
    """A job that a dead command line left is never carried out."""
    held = bridged.iterm.hold("variable", "GUID-A")
    asked = asks(bridged, "paste", pane="GUID-A", tty="ttys003", text="too late")
    held.arrived()
    asked.kill()
    asked.communicate()
    held.release()
    driver.enter(B, bridged.env)  # what comes after it is carried out: the bridge had its turn
    wait_for(lambda: idle(bridged), "the bridge to be done with the dead caller")
    assert bridged.iterm.sent == [("GUID-B", "\r", True)]


def test_a_request_whose_time_is_over_sends_nothing(bridged: Desk) -> None:
    """It is told so, and does nothing when iTerm2 wakes up."""
    held = bridged.iterm.hold("variable", "GUID-A")
    with pytest.raises(Unavailable):
        driver.ask(bridged.env, "paste", pane="GUID-A", tty="ttys003", text="too late", within=0.3)
    held.release()
    driver.enter(B, bridged.env)
    wait_for(lambda: idle(bridged), "the bridge to be done with it")
    assert bridged.iterm.sent == [("GUID-B", "\r", True)]


def test_a_request_that_waited_for_a_bridge_that_slept_is_dropped(bridged: Desk) -> None:
    """The caller gave up while the bridge was stopped; when it goes on it finds the request, and its time over."""
    (process,) = bridged.bridges
    process.send_signal(signal.SIGSTOP)
    with pytest.raises(Unavailable, match="no answer within"):
        driver.ask(bridged.env, "paste", pane="GUID-A", text="too late", within=0.3)
    with socket.socket(socket.AF_UNIX) as patient:  # one that does not hang up, but whose time is over by the clock
        patient.connect(str(bridged.socket))
        patient.sendall(wire.request("enter", time.time() - 10, 5, pane="GUID-A"))
        process.send_signal(signal.SIGCONT)
        patient.settimeout(20)
        assert json.loads(patient.recv(65536))["kind"] == "late"
    driver.enter(B, bridged.env)
    assert bridged.iterm.sent == [("GUID-B", "\r", True)]


def test_jobs_of_an_earlier_tool_are_not_run(desk: Desk) -> None:
    """There is no queue: what lies where one was is not even read."""
    jobs = []
    for folder in (
        Path(desk.settings.state) / "queue",
        Path(desk.settings.data) / "queue",
        desk.socket.parent / "queue",
    ):
        folder.mkdir(parents=True)
        jobs.append(folder / "1.json")
        jobs[-1].write_text('{"v": 1, "op": "paste", "pane": "GUID-A", "text": "rm -rf /", "until": 9e12, "within": 9}')
    desk.bridge()
    driver.enter(B, desk.env)
    assert desk.iterm.sent == [("GUID-B", "\r", True)]
    assert all(job.exists() for job in jobs)


# ------------------------------------------------------------ many at once


def test_two_at_once_each_get_their_own(bridged: Desk) -> None:
    """Twenty callers on two sessions: every text once, in the session that it is for."""
    panes = [A, B] * 10
    threads = [
        threading.Thread(target=driver.paste, args=(pane, f"text {n}", bridged.env)) for n, pane in enumerate(panes)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    expected = sorted((pane.id, f"\x1b[200~text {n}\x1b[201~", True) for n, pane in enumerate(panes))
    assert sorted(bridged.iterm.sent) == expected


def test_a_slow_one_blocks_nobody(bridged: Desk) -> None:
    """While one session does not let itself be read, others are."""
    held = bridged.iterm.hold("get_buffer", "GUID-A")
    slow = asks(bridged, "read", pane="GUID-A", lines=5)
    held.arrived()
    assert driver.read(B, 5, bridged.env) == "›"
    driver.enter(B, bridged.env)
    assert len(driver.panes(bridged.env)) == 2
    assert slow.poll() is None
    held.release()
    out, _ = slow.communicate(timeout=30)
    assert "❯" in out


def test_callers_that_say_nothing_block_nobody(bridged: Desk) -> None:
    """Nor one that stops in the middle of its line."""
    silent = [socket.socket(socket.AF_UNIX) for _ in range(10)]
    try:
        for caller in silent:
            caller.connect(str(bridged.socket))
            caller.sendall(b'{"v": 1, "op": ')
        assert len(driver.panes(bridged.env)) == 2
    finally:
        for caller in silent:
            caller.close()


def test_too_many_callers_are_told(bridged: Desk) -> None:
    """One too many is sent away at once, and not when there is room again."""
    silent = [socket.socket(socket.AF_UNIX) for _ in range(64)]
    try:
        for caller in silent:
            caller.connect(str(bridged.socket))
        with pytest.raises(Unavailable, match="too many callers"):
            driver.enter(A, bridged.env)
    finally:
        for caller in silent:
            caller.close()
    wait_for(lambda: idle(bridged), "the bridge to be done with them")
    driver.enter(B, bridged.env)
    assert bridged.iterm.sent == [("GUID-B", "\r", True)]


# ------------------------------------------------------------ what is not understood


GOOD = {"v": wire.VERSION, "op": "hello", "until": 0, "within": 5}
PASTE = {"op": "paste", "pane": "GUID-A", "text": "x"}
WRONG: list[tuple[str, Callable[[float], bytes], str]] = [
    ("no JSON", lambda now: b"hello\n", "request"),
    ("no UTF-8", lambda now: b'{"v": 1, "op": "\xff"}\n', "request"),
    ("a list", lambda now: b"[1]\n", "request"),
    ("deep", lambda now: b"[" * 100_000 + b"\n", "request"),
    ("no operation", lambda now: line(now, op="rm"), "request"),
    ("an operation that is no text", lambda now: line(now, op=["paste"]), "request"),
    ("another version", lambda now: line(now, v=99), "version"),
    ("no version", lambda now: line(now, v=None), "version"),
    ("true is no version", lambda now: line(now, v=True), "version"),
    ("no time", lambda now: line(now, until=None), "request"),
    ("not a number", lambda now: line(now, within=float("nan")), "request"),
    ("no end", lambda now: line(now, until=float("inf")), "request"),
    ("a huge number", lambda now: line(now, within=10**400), "request"),
    ("for too long", lambda now: line(now, within=3600), "request"),
    ("for a day", lambda now: line(now, until=now + 86400), "request"),
    ("over already", lambda now: line(now, until=now - 1), "late"),
    ("over at once", lambda now: line(now, within=0), "late"),
    ("no session", lambda now: line(now, op="enter"), "request"),
    ("a session that is no text", lambda now: line(now, op="enter", pane=5), "request"),
    ("no text", lambda now: line(now, op="paste", pane="GUID-A"), "request"),
    ("an empty text", lambda now: line(now, **{**PASTE, "text": ""}), "request"),
    ("a process that is no number", lambda now: line(now, **PASTE, pid="1"), "request"),
    ("a terminal that is no text", lambda now: line(now, **PASTE, tty=3), "request"),
    ("no lines", lambda now: line(now, op="read", pane="GUID-A", lines=0), "request"),
    ("too many lines", lambda now: line(now, op="read", pane="GUID-A", lines=10**9), "request"),
    ("two requests", lambda now: line(now, **PASTE) * 2, "request"),
    ("more behind the line", lambda now: line(now, **PASTE) + b"x", "request"),
]


def line(now: float, **changed: Any) -> bytes:
    return json.dumps({**GOOD, "until": now + 5, **changed}).encode() + b"\n"


@pytest.mark.parametrize(("make", "kind"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_what_is_wrong_is_told_and_not_done(bridged: Desk, make: Callable[[float], bytes], kind: str) -> None:
    """One answer with its kind, then the bridge hangs up, and goes on with others."""
    told = json.loads(raw(bridged, make(time.time())))
    assert (told["v"], told["ok"], told["kind"]) == (wire.VERSION, False, kind)
    assert bridged.iterm.sent == []
    assert driver.hello(bridged.env)["ok"] is True


def test_a_line_without_an_end(bridged: Desk) -> None:
    """Too long, or cut off: an error, and nothing is done."""
    assert json.loads(raw(bridged, line(time.time(), **PASTE)[:-1], end=True))["kind"] == "request"
    with pytest.raises(
        (BrokenPipeError, ConnectionResetError, ValueError)
    ):  # it hangs up in the middle, perhaps with a word
        assert json.loads(raw(bridged, b"x" * (wire.LARGEST_REQUEST + 65536)))["kind"] == "request"
        raise ValueError
    assert bridged.iterm.sent == []
    assert driver.hello(bridged.env)["ok"] is True


def test_a_bridge_of_another_version_is_named(desk: Desk) -> None:
    """With what renews it."""
    serve_once(desk, b'{"v": 99, "ok": true, "panes": []}\n')
    with pytest.raises(Unavailable, match="of another version") as caught:
        driver.panes(desk.env)
    assert "recall iterm-install" in caught.value.hint


@pytest.mark.parametrize("said", [b"", b"garbage\n", b"[]\n", b'{"v": 1}\n', b"\xff\n", b'{"v": 1, "ok": true'])
def test_a_bridge_that_answers_nonsense(desk: Desk, said: bytes) -> None:
    """Unavailable, whatever it is."""
    serve_once(desk, said)
    with pytest.raises(Unavailable):
        driver.read(A, 5, desk.env)


def test_no_text_of_an_answer_reaches_the_terminal_raw() -> None:
    """What the bridge says of a failure is one line."""
    with pytest.raises(Unavailable) as caught:
        wire.answer(b'{"v": 1, "ok": false, "kind": "iterm2", "error": "a\\nb"}\n')
    assert "\n" not in caught.value.message


# ------------------------------------------------------------ when it is not there


def test_where_iterm2_does_not_run_there_are_no_sessions(desk: Desk) -> None:
    """That is no failure: people use other terminals. But one who looks for a session of it is told."""
    env = {**desk.env, "TERM_PROGRAM": "Apple_Terminal"}
    desk.iterm._do(desk.iterm._end())
    desk.iterm.path.unlink(missing_ok=True)
    assert driver.panes(env) == []
    with pytest.raises(Unavailable, match="bridge not responding"):
        driver.read(A, 5, env)


@pytest.mark.parametrize("inside", [True, False])
def test_iterm2_without_a_bridge(desk: Desk, inside: bool) -> None:
    """Unavailable with the fix, inside of iTerm2 or not."""
    env = desk.env if inside else {**desk.env, "TERM_PROGRAM": "", "LC_TERMINAL": "iTerm2"}
    with pytest.raises(Unavailable, match="bridge not responding") as caught:
        driver.panes(env)
    assert "recall iterm-install" in caught.value.hint
    assert "Enable Python API" in caught.value.hint
    assert caught.value.exit_code == 4


def test_a_bridge_that_was_killed(bridged: Desk) -> None:
    """Its socket is still there: Unavailable at once; the next bridge takes its place."""
    (process,) = bridged.bridges
    process.kill()
    process.wait(10)
    assert bridged.socket.exists()
    with pytest.raises(Unavailable, match="it has ended"):
        driver.panes(bridged.env)
    bridged.bridge()
    assert len(driver.panes(bridged.env)) == 2


def test_a_bridge_that_hangs(bridged: Desk) -> None:
    """Unavailable within five seconds, also with a text that does not fit into the socket's buffer."""
    (process,) = bridged.bridges
    process.send_signal(signal.SIGSTOP)
    for what in (lambda: driver.panes(bridged.env), lambda: driver.paste(A, "x" * 900_000, bridged.env)):
        with pytest.raises(Unavailable, match=f"bridge not responding: no answer within {DEADLINE:g} seconds"):
            what()
    assert DEADLINE <= 5


def test_a_bridge_killed_in_the_middle(bridged: Desk) -> None:
    """The caller is told, and does not wait."""
    held = bridged.iterm.hold("list_sessions")
    failed: list[RecallError] = []

    def ask() -> None:
        try:
            driver.panes(bridged.env)
        except RecallError as problem:
            failed.append(problem)

    asking = threading.Thread(target=ask)
    asking.start()
    held.arrived()
    bridged.bridges[0].kill()
    asking.join(20)
    assert [problem.exit_code for problem in failed] == [4]


# ------------------------------------------------------------ one bridge, and only for its user


def test_only_its_user_reaches_it(bridged: Desk) -> None:
    """A folder 0700, a socket 0600, and a caller of another user gets no answer."""
    assert stat.S_IMODE(bridged.socket.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(bridged.socket.stat().st_mode) == 0o600
    if os.getuid() != 0 or not hasattr(socket, "SO_PEERCRED"):
        pytest.skip("only root can be another user")
    for folder in (bridged.root, bridged.home, *list(bridged.socket.parents)[:3]):
        folder.chmod(0o755)
    bridged.socket.chmod(0o666)
    code = (
        "import os, socket, sys; os.setuid(65534); s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
        "print('connected', flush=True); s.sendall(sys.argv[2].encode()); print(s.recv(100))"
    )
    what = line(time.time(), **PASTE).decode()
    done = subprocess.run([sys.executable, "-c", code, str(bridged.socket), what], capture_output=True, text=True)
    assert done.stdout.removesuffix("b''\n") == "connected\n", done.stderr  # it hangs up, before or after the line
    assert bridged.iterm.sent == []


def test_a_socket_of_somebody_else_is_not_asked(desk: Desk) -> None:
    """What is typed would be told to another user."""
    if os.getuid() != 0:
        pytest.skip("only root can make a file of another user")
    serve_once(desk, b'{"v": 1, "ok": true, "panes": []}\n')
    os.chown(desk.socket, 65534, 65534)
    with pytest.raises(Unavailable, match="not a socket of this user"):
        driver.panes(desk.env)


def test_a_second_bridge_takes_over(bridged: Desk) -> None:
    """One started by hand replaces the one that runs; there is never a moment with two."""
    (first,) = bridged.bridges
    second = bridged.bridge()
    assert first.wait(20) == 0
    assert driver.hello(bridged.env)["pid"] == second.pid
    driver.enter(B, bridged.env)
    assert bridged.iterm.sent == [("GUID-B", "\r", True)]


def test_many_bridges_at_once_leave_one(desk: Desk) -> None:
    """Whoever wins: one answers, and the socket is its own."""
    started = [desk.bridge(wait=False) for _ in range(3)]
    for process in started:
        wait_for(lambda p=process: p.poll() is not None or listens(desk, p), "every bridge to serve or to end", 30)  # type: ignore[misc]
    wait_for(lambda: sum(process.poll() is None for process in started) == 1, "one bridge to be left", 30)
    assert driver.hello(desk.env)["pid"] in [process.pid for process in started if process.poll() is None]


def test_the_bridge_ends_with_iterm2(bridged: Desk) -> None:
    """And takes its socket away."""
    bridged.iterm.hang_up()
    bridged.bridges[0].wait(20)
    assert not bridged.socket.exists()


def test_a_long_state_folder_has_its_socket_elsewhere(desk: Desk) -> None:
    """A path of a socket may have about 100 bytes; the other folder is for this user only as well."""
    long = desk.home / ("я" * 60)
    desk.env["RECALL_STATE"] = str(long)
    desk.settings = desk.settings._replace(state=str(long))
    desk.socket = Path(driver.socket_path(desk.env))
    assert len(os.fsencode(desk.socket)) <= wire.LONGEST_PATH
    assert str(desk.socket).startswith(f"/tmp/recall-{os.getuid()}-")
    try:
        desk.bridge()
        assert len(driver.panes(desk.env)) == 2
        assert stat.S_IMODE(desk.socket.parent.stat().st_mode) == 0o700
    finally:
        for process in desk.bridges:
            process.kill()
            process.wait()
        for path in desk.socket.parent.iterdir():
            path.unlink()
        desk.socket.parent.rmdir()


def test_the_fallback_folder_must_be_ours(desk: Desk) -> None:
    """A link that somebody put into /tmp is not followed."""
    elsewhere = desk.home / "elsewhere"
    elsewhere.mkdir()
    desk.socket.parent.parent.mkdir(parents=True)
    desk.socket.parent.symlink_to(elsewhere)
    process = desk.bridge(wait=False)
    assert process.wait(20) != 0
    assert list(elsewhere.iterdir()) == []


# ------------------------------------------------------------ helpers of these tests


def wait_for(condition: Callable[[], object], what: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"never came: {what}"
        time.sleep(0.02)


def idle(desk: Desk) -> bool:
    """Has the bridge no caller any more? By its open sockets: the listener and the one to iTerm2 are left."""
    (process,) = desk.bridges
    links = []
    for entry in Path(f"/proc/{process.pid}/fd").iterdir():
        try:
            links.append(os.readlink(entry))
        except OSError:
            return False
    pair = 2  # the event loop's own
    return sum(link.startswith("socket:") for link in links) == 2 + pair


def listens(desk: Desk, process: subprocess.Popen[str]) -> bool:
    try:
        return bool(driver.hello(desk.env)["pid"] == process.pid)
    except RecallError:
        return False


def serve_once(desk: Desk, said: bytes) -> None:
    """A bridge that gives one answer, whatever is asked."""
    desk.socket.parent.mkdir(parents=True, mode=0o700)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(desk.socket))
    listener.listen(1)

    def serve() -> None:
        caller, _ = listener.accept()
        caller.recv(65536)
        caller.sendall(said)
        # the rest of what was asked is dropped at once, not waited for
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
        caller.close()
        listener.close()

    threading.Thread(target=serve, daemon=True).start()
