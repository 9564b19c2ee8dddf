"""`recall iterm-install` puts the bridge where iTerm2 starts it, and touches nobody else's script."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from recall.actions import iterm_install, uninstall
from recall.actions import journal as book
from recall.actions.earlier import OWN_BRIDGE
from recall.actions.machine import Machine, of
from recall.core.bridge import socket_path
from recall.errors import Refused, Unavailable
from recall.settings import Settings, load
from tests.conftest import Run

FORMAT = "out = '~/.claude/session-recaps'\nimport iterm2\n"


@pytest.fixture
def here(home: Path) -> Settings:
    return load({"HOME": str(home)})


def launch(home: Path) -> Path:
    return home / "Library/Application Support/iTerm2/Scripts/AutoLaunch"


def machine(here: Settings) -> Machine:
    return of({"PATH": ""}, here.home, "darwin")


def test_the_script_stands_where_iterm2_looks(home: Path, here: Settings) -> None:
    """For its user only, with the path of the socket; twice is once."""
    done = iterm_install.install(here, "darwin")
    path = launch(home) / OWN_BRIDGE
    assert (done.path, done.changed) == (str(path), True)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert f"SOCKET = {socket_path(here.state, os.getuid())!a}" in path.read_text()
    compile(path.read_text(), "bridge", "exec")
    assert iterm_install.install(here, "darwin").changed is False


@pytest.mark.parametrize(
    ("state", "path"),
    [
        ("/Users/dev/.claude/recall", "/Users/dev/.claude/recall/iterm/bridge.sock"),
        ("/" + "x" * 81, "/" + "x" * 81 + "/iterm/bridge.sock"),
        ("/" + "x" * 82, "/tmp/recall-501-"),
        ("/" + "я" * 50, "/tmp/recall-501-"),
    ],
)
def test_the_path_of_the_socket_fits(state: str, path: str) -> None:
    """In the state folder, unless the kernel has no room for it there; in bytes."""
    found = socket_path(state, 501)
    assert found.startswith(path)
    assert len(found.encode()) <= 100
    assert socket_path(state + "2", 501) != found


@pytest.mark.parametrize("state", ["it's", 'quo"te\\', "пробел и 日本", "new\nline", "{brace}"])
def test_any_state_folder_is_written_into_it(home: Path, state: str) -> None:
    """As a text of Python, whatever the folder's name."""
    here = load({"HOME": str(home), "RECALL_STATE": str(home / state)})
    space: dict[str, object] = {"__name__": "not main"}
    exec(compile(iterm_install.script(here), "bridge", "exec"), space)
    assert space["SOCKET"] == socket_path(here.state, os.getuid())


def test_an_older_one_is_replaced(home: Path, here: Settings) -> None:
    """It is known by its first line."""
    path = launch(home) / OWN_BRIDGE
    path.parent.mkdir(parents=True)
    path.write_bytes(b'"""' + iterm_install.MARK + b'"""\nVERSION = 0\n')
    assert iterm_install.install(here, "darwin").changed is True
    assert path.read_bytes() == iterm_install.script(here)


@pytest.mark.parametrize("kind", ["script", "link", "dangling", "folder"])
def test_somebody_else_s_file_is_refused_and_stays(home: Path, here: Settings, kind: str) -> None:
    """Also a link, through which something else would be written."""
    path = launch(home) / OWN_BRIDGE
    path.parent.mkdir(parents=True)
    target = home / "mine.py"
    if kind == "script":
        path.write_text("import iterm2\n")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(target)
        if kind == "link":
            target.write_text("import iterm2\n")
    with pytest.raises(Refused):
        iterm_install.install(here, "darwin")
    assert path.is_dir() if kind == "folder" else path.is_symlink() or path.read_text() == "import iterm2\n"
    assert not target.exists() or target.read_text() == "import iterm2\n"
    assert iterm_install.remove(here).changed is False
    assert path.is_symlink() or path.exists()


def test_an_earlier_tool_s_bridge_is_put_aside(home: Path, here: Settings) -> None:
    """Under our name or another one; it is kept, and its queue is not looked into."""
    launch(home).mkdir(parents=True)
    for name in (OWN_BRIDGE, "session_recall_bridge.py"):
        (launch(home) / name).write_text(FORMAT)
    (launch(home) / "colours.py").write_text("import iterm2\n")
    queue = home / ".claude/session-recaps/queue"
    queue.mkdir(parents=True)
    (queue / "1.json").write_text("{}")
    done = iterm_install.install(here, "darwin")
    assert sorted(Path(old).name for old, _ in done.set_aside) == sorted([OWN_BRIDGE, "session_recall_bridge.py"])
    assert all(Path(new).read_text() == FORMAT for _, new in done.set_aside)
    assert sorted(path.name for path in launch(home).iterdir()) == ["colours.py", OWN_BRIDGE]
    assert (queue / "1.json").read_text() == "{}"


def test_elsewhere_than_macos_it_is_said(home: Path, here: Settings) -> None:
    """And nothing is written."""
    with pytest.raises(Unavailable, match="macOS"):
        iterm_install.install(here, "linux")
    assert not launch(home).exists()


@pytest.mark.parametrize("with_journal", [True, False])
def test_uninstall_takes_it_away(home: Path, here: Settings, with_journal: bool) -> None:
    """Whether or not the rest of recall is installed; a script that is not ours stays."""
    if with_journal:
        book.save(here.state, book.Journal())
    iterm_install.install(here, "darwin")
    (launch(home) / "colours.py").write_text("import iterm2\n")
    todo = uninstall.plan(here, machine(here))
    uninstall.apply(todo, here, machine(here))
    assert todo.left == []
    assert [path.name for path in launch(home).iterdir()] == ["colours.py"]


def test_an_install_does_not_make_a_journal(here: Settings) -> None:
    """That would say that hooks are installed."""
    iterm_install.install(here, "darwin")
    assert book.load(here.state) is None


def test_the_command_says_which_clicks_remain(home: Path, run_recall: Run) -> None:
    """With the path, in words and as JSON; on another system it fails with status 4."""
    done = run_recall("iterm-install", "--force")
    assert done.returncode == 0
    assert "Enable Python API" in done.stdout
    assert "AutoLaunch" in done.stdout
    assert "does not answer yet" in done.stdout
    told = json.loads(run_recall("iterm-install", "--force", "--json").stdout)
    assert (told["changed"], told["running"]) == (False, False)
    assert told["path"] == str(launch(home) / OWN_BRIDGE)
    assert len(told["clicks"]) == 4
    done = run_recall("iterm-install", "--uninstall")
    assert done.returncode == 0
    assert not (launch(home) / OWN_BRIDGE).exists()
    assert run_recall("iterm-install", "--uninstall").returncode == 0


def test_the_command_on_another_system(run_recall: Run) -> None:
    """One line and a hint."""
    if sys.platform == "darwin":
        pytest.skip("this is macOS")
    done = run_recall("iterm-install")
    assert done.returncode == 4
    assert "macOS only" in done.stderr
