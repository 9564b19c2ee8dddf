"""Whatever is wrong, the session does not notice: status 0, not a word, and no waiting."""

from __future__ import annotations

import json
import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.hook.conftest import SESSION, Place

STDIN: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \n\t ",
    "garbage": b"\xff\xfe\x00garbage{",
    "zeros": bytes(4096),
    "text": b"hello",
    "list": b"[1,2]",
    "null": b"null",
    "cut": b'{"hook_event_name":"Stop","session_id":"',
    "deep": b"{" + b'"a":{' * 200_000,
    "brackets": b'{"a":' + b"[" * 200_000,
    "number": b'{"hook_event_name":' + b"9" * 6000 + b"}",
    "types": b'{"hook_event_name":["Stop"],"session_id":{},"transcript_path":7,"cwd":null}',
    "types of known ones": b'{"hook_event_name":"SessionStart","source":{},"session_id":7,"transcript_path":[]}',
    "no fields": b'{"hook_event_name":"Stop"}',
    "half a pair": b'{"hook_event_name":"Stop","session_id":"\\ud800","transcript_path":"/\\ud800.jsonl"}',
    "ten megabytes": b"x" * (10 << 20),
    "too long": b'{"hook_event_name":"Stop","a":"' + b"x" * (17 << 20) + b'"}',
}


@pytest.mark.parametrize("name", STDIN)
def test_anything_on_stdin(place: Place, name: str) -> None:
    """What is no event is nothing to do."""
    assert place.call(STDIN[name]).silent
    assert place.files() == set()


def test_a_long_event_is_an_event(place: Place) -> None:
    """Ten megabytes that are one are taken as one."""
    assert place.call(place.event("Stop", last_assistant_message="é" * (5 << 20))).silent
    assert place.copy(place.claude).exists()


def _hostile(place: Place, tmp_path: Path) -> dict[str, str]:
    folder = place.claude.parent
    outside = tmp_path / "outside.jsonl"
    outside.write_text("secret\n")
    os.mkfifo(folder / "fifo.jsonl")
    (folder / "folder.jsonl").mkdir()
    (folder / "link.jsonl").symlink_to(outside)
    (folder / "device.jsonl").symlink_to("/dev/zero")
    (folder.parent / "linked").symlink_to(tmp_path)
    (folder / "empty.jsonl").touch()
    (folder / ".hidden.jsonl").write_text("x\n")
    projects = folder.parent
    return {
        "missing": str(folder / "gone.jsonl"),
        "fifo": str(folder / "fifo.jsonl"),
        "folder": str(folder / "folder.jsonl"),
        "link": str(folder / "link.jsonl"),
        "link to a device": str(folder / "device.jsonl"),
        "linked folder": str(projects / "linked/outside.jsonl"),
        "empty": str(folder / "empty.jsonl"),
        "hidden": str(folder / ".hidden.jsonl"),
        "outside": str(outside),
        "device": "/dev/zero",
        "process": "/proc/self/environ",
        "up": f"{folder}/../../../../{outside.name}",
        "up again": f"{folder}/../{folder.name}/{place.claude.name}/../../../settings.json",
        "relative": "projects/x/y.jsonl",
        "home": str(place.home),
        "nothing": "",
        "nul": f"{place.claude}\0.jsonl",
        "long": "/" + "a" * 100_000,
    }


NAMES = [
    "device",
    "empty",
    "fifo",
    "folder",
    "hidden",
    "home",
    "link",
    "link to a device",
    "linked folder",
    "long",
    "missing",
    "nothing",
    "nul",
    "outside",
    "process",
    "relative",
    "up",
    "up again",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_path_that_is_no_transcript_of_ours(place: Place, tmp_path: Path, name: str) -> None:
    """Nothing is copied, started or waited for, whichever event and field names it."""
    path = _hostile(place, tmp_path)[name]
    for event in ("Stop", "PreCompact", "PostCompact", "SessionEnd", "SessionStart"):
        fields = {"source": "resume", "compact_summary": "x", "agent_transcript_path": path}
        assert place.call(place.event(event, transcript_path=path, **fields)).silent
    assert not place.archive.exists()
    assert not (place.state / "children").exists()


@pytest.mark.parametrize("session", ["../x", "a/b", "", ".", "x" * 500, 7, None, "a\nb", ".hidden"])
def test_a_session_id_that_is_no_name(place: Place, session: object) -> None:
    """It leaves no file anywhere but the copy."""
    for event in ("Stop", "SessionStart", "SessionEnd"):
        assert place.call(place.event(event, session_id=session, source="resume")).silent
    place.settle()
    assert sorted(os.listdir(place.home)) == [".claude", ".codex", ".local", "backups"]
    assert sorted(os.listdir(place.state / "changed")) in ([SESSION], [])


def _unreadable(place: Place) -> None:
    place.claude.chmod(0)


def _archive_is_a_file(place: Place) -> None:
    place.archive.parent.mkdir()
    place.archive.write_text("x")


def _state_is_a_file(place: Place) -> None:
    place.state.write_text("x")


def _read_only(place: Place) -> None:
    place.archive.mkdir(parents=True)
    place.archive.chmod(0o500)
    place.state.mkdir()
    place.state.chmod(0o500)


def _copy_is_a_folder(place: Place) -> None:
    place.copy(place.claude).mkdir(parents=True)
    (place.archive / ".recall-archive").touch()


@pytest.mark.parametrize("spoil", [_unreadable, _archive_is_a_file, _state_is_a_file, _read_only, _copy_is_a_folder])
def test_places_that_cannot_be_used(place: Place, spoil: Any) -> None:
    """Nothing is said but a handoff that could be made all the same; where there is a log, it has the reason and not a
    word of the transcript."""
    spoil(place)
    for event in ("Stop", "PreCompact", "SessionEnd"):
        assert place.call(place.event(event)).silent
    said = place.call(place.event("SessionStart", source="compact"))
    assert (said.status, said.err) == (0, "")
    log = place.state / "hook.log"
    if log.exists():
        assert stat.S_IMODE(log.stat().st_mode) == 0o600
        assert "deals" not in log.read_text()
    if place.state.is_dir():
        place.settle()


def test_a_full_disk(place: Place) -> None:
    """What could be written is right so far, and the next event goes on from there."""

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))

    assert place.call(place.event("Stop"), preexec_fn=full).silent
    copy = place.copy(place.claude).read_bytes()
    assert len(copy) == 2048
    assert place.claude.read_bytes().startswith(copy)
    assert "File too large" in (place.state / "hook.log").read_text()
    assert place.call(place.event("Stop")).silent
    assert place.copy(place.claude).read_bytes() == place.claude.read_bytes()


def test_the_log_is_rotated(place: Place) -> None:
    """It never holds more than two times a quarter of a megabyte."""
    _copy_is_a_folder(place)
    place.state.mkdir()
    (place.state / "hook.log").write_text("x" * 300_000)
    place.call(place.event("Stop"))
    assert (place.state / "hook.log.1").stat().st_size == 300_000
    assert 0 < (place.state / "hook.log").stat().st_size < 1000


def test_fifty_at_once(place: Place) -> None:
    """All end well, and the copy is the transcript, once."""
    running = []
    for n in range(50):
        event = place.event(("Stop", "SubagentStop", "PreCompact")[n % 3], agent_transcript_path=str(place.agent))
        running.append(
            subprocess.Popen(
                [str(place.launcher)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={"HOME": str(place.home), "PATH": os.defpath},
            )
        )
        stdin = running[-1].stdin
        assert stdin is not None
        stdin.write(json.dumps(event).encode())
        stdin.close()
    for one in running:
        assert one.stdout is not None
        assert (one.stdout.read(), one.wait()) == (b"", 0)
        one.stdout.close()
    place.settle()
    assert place.copy(place.claude).read_bytes() == place.claude.read_bytes()
    assert place.copy(place.agent).read_bytes() == place.agent.read_bytes()
    assert not list(place.archive.rglob("*.g*"))
    assert (place.data / "handoffs" / f"{SESSION}.md").exists()


def test_a_signal_in_the_middle(place: Place) -> None:
    """SIGTERM, as a client sends it when the time is up, ends the hook with status 0 and without a word."""
    running = subprocess.Popen(
        [sys.executable, "-I", "-S", "-E", str(ROOT / "recall/hook_main.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"HOME": str(place.home)},
    )
    assert running.stdin is not None
    assert running.stdout is not None
    _wait_for_handler(running.pid)
    running.send_signal(signal.SIGTERM)
    assert (running.stdout.read(), running.wait()) == (b"", 0)
    running.stdin.close()
    running.stdout.close()


def _wait_for_handler(pid: int) -> None:
    """Until the process catches SIGTERM."""
    while True:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("SigCgt:") and int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1:
                return


def test_a_lock_that_somebody_holds(place: Place) -> None:
    """A copy that is locked by another process is given up in time; at the end of a session its card comes all the same."""
    import fcntl

    place.call(place.event("Stop"))
    with place.claude.open("a") as file:
        file.write('{"type":"mode"}\n')
    with place.copy(place.claude).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert place.call(place.event("SessionEnd", reason="other"), env={"RECALL_LLM": "none"}).silent
    assert (place.state / "children" / f"{SESSION}.recap").exists()
    assert "not complete in time" in (place.state / "hook.log").read_text()
    place.settle()


def test_no_home(place: Place) -> None:
    """Without HOME and without a `hook.conf` there is nothing to do."""
    assert place.call(place.event("Stop"), env={"HOME": ""}).silent
    assert place.call(place.event("SessionStart", source="resume"), env={"HOME": "relative"}).silent
    assert place.files() == set()


@pytest.mark.parametrize("gone", ["interpreter", "package", "module", "broken"])
def test_recall_is_half_installed(place: Place, tmp_path: Path, gone: str) -> None:
    """The interpreter, the package or a module is not there, or does not compile."""
    package = tmp_path / "lib/recall"
    python = str(tmp_path / "no python") if gone == "interpreter" else sys.executable
    if gone != "package":
        package.mkdir(parents=True)
        (package / "hook_main.py").write_bytes((ROOT / "recall/hook_main.py").read_bytes())
    if gone == "broken":
        (package / "__init__.py").touch()
        (package / "hook.py").write_text("def main(:\n")
    place.install(python, str(package))
    assert place.call(place.event("Stop")).silent


def test_paths_with_anything_in_them(home: Path, tmp_path: Path) -> None:
    """Blanks, quotes and Cyrillic in the names of home and session folder, in a locale that knows no letters."""
    odd = tmp_path / 'd\'об "x" $(y)'
    odd.mkdir()
    home = odd / "home"
    home.mkdir()
    place = Place(home)
    path = home / ".claude/projects/-мой" / f"{SESSION}.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"{}\n")
    done = subprocess.run(
        [str(place.launcher)],
        input=json.dumps(place.event("Stop", transcript_path=str(path))).encode(),
        env={"HOME": str(home), "LC_ALL": "C"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert place.copy(path).exists()
