"""The timer: which kind, what its files say, what is asked of the system, and when it last ran."""

from __future__ import annotations

import os
import plistlib
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall.actions import install, timer, uninstall
from recall.actions.machine import Ran
from tests.conftest import ROOT

DOMAINS = ("gui/501", "user/501")


def test_launchd(make_place: Callable[..., Any]) -> None:
    """The plist runs at :00 and :30, in the background, by absolute paths and a full PATH; bootout goes before bootstrap."""
    place = make_place("launchctl", platform="darwin")
    place.install()
    path = place.home / "Library/LaunchAgents/recall.sweep.plist"
    job = plistlib.loads(path.read_bytes())
    assert job["Label"] == "recall.sweep"
    assert job["StartCalendarInterval"] == [{"Minute": 0}, {"Minute": 30}]
    assert (job["ProcessType"], job["LowPriorityIO"], job["Nice"]) == ("Background", True, 10)
    assert job["ProgramArguments"] == ["/bin/sh", str(place.home / ".local/share/recall/recall-sweep")]
    folders = job["EnvironmentVariables"]["PATH"].split(":")
    assert folders[:2] == ["/opt/tools/bin", "/usr/bin"]
    assert {"/usr/bin", "/bin", "/opt/homebrew/bin", str(place.home / ".local/bin")} <= set(folders)
    assert all(os.path.isabs(folder) for folder in folders)
    assert path.stat().st_mode & 0o777 == 0o644
    assert place.programs.calls == [
        *(f"launchctl bootout {domain}/recall.sweep" for domain in DOMAINS),
        f"launchctl bootstrap gui/501 {path}",
    ]
    assert "crontab -l" not in place.programs.calls

    del place.programs.calls[:]
    assert place.install().empty
    assert place.programs.calls == ["launchctl print gui/501/recall.sweep"]

    del place.programs.calls[:]
    place.uninstall()
    assert place.programs.calls == [f"launchctl bootout {domain}/recall.sweep" for domain in DOMAINS]
    assert not (place.home / "Library").exists()


def test_launchd_takes_a_moment(make_place: Callable[..., Any]) -> None:
    """Over ssh only user/ is there; where neither loads it, that is told after some tries, and is no failure of the rest."""
    place = make_place("launchctl", platform="darwin")
    place.programs.failing["launchctl bootstrap gui/"] = Ran(5, b"", b"Bootstrap failed: 5: Input/output error")
    place.install()
    assert place.programs.calls[-1].startswith("launchctl bootstrap user/501 ")
    assert not place.waited

    place.uninstall()
    place.programs.failing["launchctl bootstrap user/"] = Ran(5, b"", b"Bootstrap failed: 5: Input/output error")
    trouble = install.apply(place.plan(), place.settings, place.machine)
    assert len(trouble) == 1
    assert "Input/output error" in trouble[0]
    assert place.waited == [0.5, 0.5, 0.5]
    assert place.claude.exists()


def test_systemd(make_place: Callable[..., Any]) -> None:
    """A user service of low priority with a time limit, and a timer that makes up for what was missed."""
    place = make_place("systemctl", "crontab")
    place.install()
    folder = place.home / ".config/systemd/user"
    service, clock = ((folder / f"recall-sweep.{kind}").read_text() for kind in ("service", "timer"))
    assert f'ExecStart=/bin/sh "{place.home}/.local/share/recall/recall-sweep"' in service
    for line in ("Type=oneshot", "Nice=10", "IOSchedulingClass=idle", "TimeoutStartSec=25min"):
        assert line in service.splitlines()
    for line in ("OnCalendar=*:0/30", "Persistent=true", "WantedBy=timers.target"):
        assert line in clock.splitlines()
    changes = [call for call in place.programs.calls if "show-environment" not in call]
    assert changes == ["systemctl --user daemon-reload", "systemctl --user enable --now recall-sweep.timer"]
    assert place.programs.table is None

    del place.programs.calls[:]
    place.uninstall()
    assert place.programs.calls == [
        "systemctl --user disable --now recall-sweep.timer",
        "systemctl --user daemon-reload",
    ]
    assert not (place.home / ".config").exists()


@pytest.mark.parametrize("odd", ["plain", "with blank", 'quote"s', "100%h", "$HOME", "back\\slash", "кириллица"])
def test_systemd_itself_accepts_the_units(make_place: Callable[..., Any], tmp_path: Path, odd: str) -> None:
    """`systemd-analyze verify` has nothing to say, whatever the path of the home."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    place = make_place("systemctl")
    machine = place.machine._replace(share=str(tmp_path / odd), config_home=str(tmp_path / "units"))
    Path(machine.share).mkdir()
    Path(timer.script_path(machine)).write_text("#!/bin/sh\n")
    for path, data in timer.files("systemd", machine).items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)
    units = [str(path) for path in sorted((tmp_path / "units").rglob("recall-sweep.*"))]
    done = subprocess.run(
        [program, "verify", "--user", "--man=no", *units],
        env={"HOME": str(tmp_path), "PATH": os.defpath, "XDG_RUNTIME_DIR": str(tmp_path), "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    told = [line for line in done.stderr.splitlines() if "recall-sweep" in line]
    assert not told, done.stderr
    if "Failed to" not in done.stderr:
        assert done.returncode == 0, done.stderr


TABLES = {
    "none": None,
    "empty": b"",
    "foreign": b"MAILTO=me\n0 4 * * * backup # nightly\n",
    "no final newline": b"0 4 * * * backup",
    "not utf-8": b"# caf\xe9\n",
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_cron(make_place: Callable[..., Any], table: bytes | None) -> None:
    """One line with a mark of ours at the end; what else is in the table stays, and comes back as it was."""
    place = make_place("crontab")
    place.programs.table = table
    place.install()
    own = place.programs.table[len((table or b"").rstrip(b"\n") + b"\n" if table else b"") :]
    assert place.programs.table.startswith((table or b"").rstrip(b"\n"))
    assert own.count(b"\n") == 1
    assert own.startswith(b"*/30 * * * * nice -n 10 /bin/sh ")
    assert own.endswith(b"# recall-sweep\n")
    assert shlex.split(own.decode(), comments=True)[9] == str(place.home / ".local/share/recall/recall-sweep")
    before = place.programs.table
    assert place.install().empty
    assert place.programs.table == before
    place.uninstall()
    left = table or b""  # cron itself takes no table without a line end
    assert (place.programs.table or b"") == left + (b"" if not left or left.endswith(b"\n") else b"\n")


def test_cron_after_a_foreign_edit(make_place: Callable[..., Any]) -> None:
    """Lines that came behind ours stay."""
    place = make_place("crontab")
    place.programs.table = b"0 4 * * * backup\n"
    place.install()
    place.programs.table += b"@daily other\n"
    place.uninstall()
    assert place.programs.table == b"0 4 * * * backup\n@daily other\n"


def test_a_percent_sign_in_a_cron_line() -> None:
    """cron makes a line end of it, unless it is escaped."""

    class Machine:
        share = "/home/50% off"

    assert b"'/home/50\\% off/recall-sweep'" in timer.cron_line(Machine())  # type: ignore[arg-type]


def test_no_timer(make_place: Callable[..., Any]) -> None:
    """--no-timer makes none, and switches off the one that was there; without any scheduler it is said what to do."""
    place = make_place("systemctl")
    place.install(timer=False)
    assert not place.programs.calls
    place.install()
    place.install(timer=False)
    assert not (place.home / ".config/systemd/user/recall-sweep.timer").exists()
    assert "systemctl --user disable --now recall-sweep.timer" in place.programs.calls
    assert place.install(timer=False).empty
    place.uninstall()
    bare = make_place()
    assert any("recall sweep" in note for note in bare.install().notes)


def test_another_scheduler_replaces_the_first(make_place: Callable[..., Any]) -> None:
    """A machine that got systemd meanwhile has one timer, not two."""
    place = make_place("crontab")
    place.install()
    place.programs.there = ("systemctl", "crontab")
    place.install()
    assert not place.programs.table
    assert (place.home / ".config/systemd/user/recall-sweep.timer").exists()


def _script(place: Any, python: str) -> Path:
    path = place.home / "sweep"
    path.write_bytes(timer.script(place.settings, place.machine, python))
    return Path(path)


def _run(path: Path) -> int:
    return subprocess.run(
        ["/bin/sh", str(path)], env={"PATH": "/usr/bin:/bin"}, check=False, capture_output=True
    ).returncode


@pytest.fixture
def sweeping(make_place: Callable[..., Any], tmp_path: Path) -> tuple[Any, Path, Path]:
    """(place, the script, a stand-in for Python that writes down how it was called and exits with the number in `status`)."""
    place = make_place(RECALL_ARCHIVE="/mnt/it's here/$HOME", CLAUDE_CONFIG_DIR="")
    program = tmp_path / "bin dir" / "python"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\nprintf "%s|%s|%s|%s\\n" "$HOME" "$RECALL_ARCHIVE" "$PATH" "$*" >"{tmp_path}/called"\n'
        f'echo a word\nexit "$(cat "{tmp_path}/status" 2>/dev/null || echo 0)"\n'
    )
    program.chmod(0o755)
    return place, _script(place, str(program)), tmp_path


def test_the_script_sets_what_a_timer_lacks(sweeping: tuple[Any, Path, Path]) -> None:
    """HOME, a full PATH and the variables of the install; the sweep says nothing but problems, into the log."""
    place, script, folder = sweeping
    assert _run(script) == 0
    home, archive, path, args = (folder / "called").read_text().strip().split("|")
    assert home == str(place.home)
    assert archive == "/mnt/it's here/$HOME"
    assert path == place.machine.full_path
    assert args == "-I -m recall sweep --quiet"
    log = Path(place.settings.state, "sweep.log")
    assert log.read_text() == "a word\n"
    assert log.stat().st_mode & 0o077 == 0


def test_the_log_is_rotated(sweeping: tuple[Any, Path, Path]) -> None:
    """After a megabyte a new one is begun, and one old one kept."""
    place, script, _ = sweeping
    log = Path(place.settings.state, "sweep.log")
    log.parent.mkdir(parents=True)
    log.write_bytes(b"x" * 1_000_001)
    assert _run(script) == 0
    assert log.read_text() == "a word\n"
    assert log.with_name("sweep.log.1").stat().st_size == 1_000_001


@pytest.mark.parametrize(("status", "seen"), [(0, 0), (5, 0), (4, 4), (70, 70)])
def test_when_it_ran_is_written_down(sweeping: tuple[Any, Path, Path], status: int, seen: int) -> None:
    """Begin, end and status; a transcript that cannot be read (5) is no failure of the timer."""
    place, script, folder = sweeping
    (folder / "status").write_text(str(status))
    assert _run(script) == seen
    found = timer.state(place.settings, place.machine, 0.0)
    assert found.status == status
    assert found.ended >= found.began > 1.7e9


def test_a_program_that_is_gone_is_nothing_to_do(make_place: Callable[..., Any]) -> None:
    """After the program was removed by hand the timer is quiet."""
    place = make_place()
    assert _run(_script(place, "/nowhere/python")) == 0


def test_the_state_of_the_timer(make_place: Callable[..., Any]) -> None:
    """Not installed, on, late, failed, switched off, gone: each has its word."""
    place = make_place("systemctl")

    def state(now: float = 1e6) -> timer.TimerState:
        return timer.state(place.settings, place.machine, now)

    assert state() == timer.TimerState("", False, 0.0, 0.0, None, "none is installed")
    place.install()
    assert state()[:2] == ("systemd", True)
    assert state().why == ""
    last = Path(place.settings.state, "timer.last")
    last.write_text("1000000 1000002 0\n")
    assert state(1e6 + 1900) == timer.TimerState("systemd", True, 1e6, 1e6 + 2, 0, "")
    assert "has not run for 5 hours" in state(1e6 + 5 * 3600).why
    last.write_text("1000000 1000002 4\n")
    assert "status 4" in state(1e6 + 60).why
    last.write_text("garbage")
    assert state().status is None
    place.programs.failing["systemctl --user is-active"] = Ran(3, b"inactive\n")
    assert state()[:2] == ("systemd", False)
    assert "not active" in state().why
    place.programs.failing["systemctl --user is-active"] = Ran(1, b"", b"Failed to connect to bus")
    assert state().on is None
    (place.home / ".config/systemd/user/recall-sweep.timer").unlink()
    assert "is gone" in state().why


def test_a_timer_that_somebody_switched_off_is_on_after_an_install(make_place: Callable[..., Any]) -> None:
    """The files are as they were, but the system says that it does not run."""
    place = make_place("systemctl")
    place.install()
    place.programs.failing["systemctl --user is-active"] = Ran(3, b"inactive\n")
    todo = place.install()
    assert todo.start
    assert not todo.changes


def test_the_plist_template_is_valid() -> None:
    """Also as it is shipped, and plutil has nothing to say where it is installed."""
    path = ROOT / "launchagents" / "recall.sweep.plist"
    assert plistlib.loads(path.read_bytes())["Label"] == "@LABEL@"
    if program := shutil.which("plutil"):
        assert subprocess.run([program, "-lint", str(path)], check=False, capture_output=True).returncode == 0


def test_a_failing_crontab_is_told(make_place: Callable[..., Any]) -> None:
    """At install a word, at uninstall it stays in the journal."""
    place = make_place("crontab")
    place.install()
    place.programs.failing["crontab -"] = Ran(1, b"", b"not allowed")
    place.programs.failing.pop("crontab -l", None)
    place.programs.failing = {"crontab -r": Ran(1, b"", b"not allowed")}
    todo = uninstall.plan(place.settings, place.machine)
    uninstall.apply(todo, place.settings, place.machine)
    assert todo.left == [("crontab", "crontab: not allowed")]
    place.programs.failing = {}
    assert not place.uninstall().left
    assert not place.programs.table
