"""Commands in surroundings that are broken: streams that are closed or full, a folder that is gone, another locale."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import claude_session
from tests.conftest import Run, environment
from tests.machine import uid

ID = uid(1)


@pytest.fixture
def work(home: Path, run_recall: Run) -> Path:
    """The folder of a session that is swept; its first request is not ASCII."""
    folder = home / "crm"
    folder.mkdir()
    claude_session(home, str(folder), ID, [("Résumé of the export 😀, please", "It is written.")])
    run_recall("sweep", "--quiet", check=True)
    return folder


def shell(home: Path, line: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    """A line of shell; `recall` in it is the program."""
    line = line.replace("recall", f"{sys.executable} -m recall")
    return subprocess.run(
        ["/bin/sh", "-c", line], cwd=home, env=environment(home, **more), capture_output=True, timeout=60, check=False
    )


@pytest.mark.parametrize("closed", [">&-", "<&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("args", ["ps", "find --json", "export last", "doctor", "open last --print", "send abcd - "])
def test_closed_streams_are_no_bug(home: Path, work: Path, args: str, closed: str) -> None:
    """Status 70 is that of a bug. And what is meant for a closed stderr goes into no other stream."""
    done = shell(home, f"recall {args} {closed}")
    assert done.returncode != 70 and b"Traceback" not in done.stderr
    assert b"recall: " not in done.stdout


def test_where_standard_output_is_full_stderr_says_so(home: Path, work: Path) -> None:
    """Also with --json, whose errors are told on the output otherwise."""
    for args in ("find", "find --json", "show last --json"):
        done = shell(home, f"recall {args} > /dev/full")
        assert (done.returncode, b"standard output: No space left" in done.stderr) == (4, True)


def test_a_reader_that_has_enough_is_no_failure(home: Path, work: Path) -> None:
    done = shell(home, "recall export last --html | head -1")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "args", ["open . --print", "open last --in . --print", "to-codex . --task x", "restore last --to x", "who a.py"]
)
def test_a_folder_that_is_gone_under_us_is_told(home: Path, work: Path, args: str) -> None:
    done = shell(home, f"mkdir here; cd here; rmdir ../here; recall {args}")
    assert (done.returncode, done.stderr.splitlines()[0]) == (4, b"recall: the folder that this runs in is gone")


@pytest.mark.parametrize("locale", [{"PYTHONIOENCODING": "ascii"}, {"LANG": "C", "LC_ALL": "C"}, {"LC_ALL": "POSIX"}])
def test_json_is_utf8_whatever_the_locale(home: Path, work: Path, locale: dict[str, str]) -> None:
    for args, status in (
        ("find --json", 0),
        ("show last --json", 0),
        ("find 'né 😀' --json", 1),
        ("show zz --json", 1),
    ):
        done = shell(home, f"recall {args}", **locale)
        assert done.returncode == status
        assert isinstance(json.loads(done.stdout.decode("utf-8")), dict)


@pytest.mark.parametrize("args", [["to-codex", b"a\xff", "--task", "x"], ["open", b"a\xff"], ["show", b"\xff\xff"]])
def test_an_error_in_json_stays_json_for_names_that_are_no_text(
    home: Path, work: Path, args: list[str | bytes]
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "recall", *args, "--json"],
        cwd=home,
        env=environment(home),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["kind"] == "usage"


def test_a_file_in_the_way_is_told_by_its_name(home: Path, work: Path, run_recall: Run) -> None:
    """A folder where a lock of ours should be: no traceback."""
    (home / ".claude/recall/opening" / ID).mkdir(parents=True)
    programs = home / ".local/bin"
    programs.mkdir(parents=True)
    (programs / "claude").symlink_to("/bin/true")
    done = run_recall("open", ID, "--here", "--fast")
    assert done.returncode == 4
    assert str(home / ".claude/recall/opening" / ID) in done.stderr and "hint: " in done.stderr


def test_a_pipe_where_a_note_of_ours_should_be_is_not_waited_for(home: Path, work: Path, run_recall: Run) -> None:
    for name in (f"opening/{ID}", "open.json", "ended/x"):
        path = home / ".claude/recall" / name
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    programs = home / ".local/bin"
    programs.mkdir(parents=True)
    (programs / "claude").symlink_to("/bin/true")
    assert run_recall("open", ID, "--here", "--fast").returncode == 0
    assert run_recall("reopen", "--crashed").returncode == 1


@pytest.mark.parametrize("place", ["source", "copy"])
@pytest.mark.parametrize("kind", [os.mkfifo, os.mkdir, lambda path: os.symlink("/nowhere", path)])
def test_what_only_has_the_name_of_a_transcript_is_none(
    home: Path, work: Path, run_recall: Run, place: str, kind: Callable[[Path], None]
) -> None:
    """It is neither waited for nor taken for the client's: opening is refused; the copy is read, where there is one."""
    (source,) = home.glob(f".claude/projects/*/{ID}.jsonl")
    (copy,) = home.glob(f"backups/**/{ID}.jsonl")
    source.unlink()
    if place == "copy":
        copy.unlink()
    kind(source if place == "source" else copy)
    assert run_recall("open", ID, "--print").returncode == 3
    assert run_recall("show", ID, "--tail", 1).returncode == (0 if place == "source" else 1)
    assert run_recall("export", ID).returncode == (0 if place == "source" else 1)


def test_export_writes_over_files_only(home: Path, work: Path, run_recall: Run) -> None:
    """With --force too: a pipe or a device stays what it is, and a link stays one."""
    os.mkfifo(home / "pipe")
    (home / "link").symlink_to("target.html")
    (home / "file").write_text("")
    for name in ("pipe", "link", "file"):
        assert run_recall("export", ID, "-o", name).returncode == 3
    done = run_recall("export", ID, "-o", "pipe", "--force")
    assert (done.returncode, done.stderr.splitlines()[1]) == (3, "hint: -o - > pipe")
    assert stat.S_ISFIFO(os.stat(home / "pipe").st_mode)
    run_recall("export", ID, "-o", "link", "--force", check=True)
    assert (home / "link").is_symlink() and (home / "target.html").read_text().startswith("<!doctype")
    assert run_recall("export", ID, "-o", "file/x.html").returncode == 2
    assert not list(home.glob("*.part"))


@pytest.mark.parametrize("seconds", ["nan", "-1", "inf", "1e99", "x", "٣x"])
def test_a_wait_without_an_end_is_wrong_usage(home: Path, work: Path, run_recall: Run, seconds: str) -> None:
    assert run_recall("wait", "--", "abcd", seconds).returncode == 2
    assert run_recall("to-codex", ".", "--task", "x", f"--wait={seconds}").returncode == 2
    assert not (home / "CODEX_HANDOFF.md").exists()
