"""`recall files`: what a session wrote is given back as it stood, and nothing else is touched."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from recall.actions.files import give_back
from recall.core.change import Replayed
from recall.errors import Refused
from tests import builders
from tests.conftest import Run
from tests.machine import uid

SESSION = uid(1)
CWD = "/home/dev/crm"


def _tool(name: str, output: str = "done", **given: Any) -> tuple[str, dict[str, Any], str]:
    return (name, given, output)


TURNS = [
    (
        "Write the export",
        "I wrote it.",
        [_tool("Write", file_path=f"{CWD}/export.py", content="one = 1\ntwo = 2\n")],
    ),
    (
        "Now the second one is three",
        "Changed.",
        [
            _tool("Edit", file_path=f"{CWD}/export.py", old_string="two = 2", new_string="two = 3"),
            _tool("Write", file_path="/etc/other.conf", content="x\n"),
        ],
    ),
    ("", "More.", [_tool("Edit", file_path=f"{CWD}/never_seen.py", old_string="a", new_string="b")]),
]


@pytest.fixture
def crm(home: Path, run_recall: Run) -> Path:
    builders.claude_session(home, "crm", SESSION, TURNS)
    assert run_recall("sweep", "--quiet").returncode == 0
    return home


def test_the_files_are_listed(crm: Path, run_recall: Run) -> None:
    assert run_recall("files", SESSION[:8]).stdout == (
        "   2 changes       16 bytes  export.py\n"
        "   1 change         2 bytes  /etc/other.conf\n"
        "   1 change         unknown  never_seen.py\n"
    )
    found = json.loads(run_recall("files", SESSION, "--json").stdout)["files"]
    assert [(one["target"], one["state"], one["bytes"]) for one in found] == [
        ("export.py", "known", 16),
        ("outside/etc/other.conf", "known", 2),
        ("never_seen.py", "unknown", None),
    ]


def test_one_file_is_printed(crm: Path, run_recall: Run) -> None:
    assert run_recall("files", SESSION, "export.py").stdout == "one = 1\ntwo = 3\n"
    assert run_recall("files", SESSION, f"{CWD}/export.py", "--at", "2").stdout == "one = 1\ntwo = 2\n"
    unknown = run_recall("files", SESSION, "never_seen.py")
    assert (unknown.returncode, unknown.stdout) == (1, "")


def test_they_are_given_back_into_a_folder(crm: Path, run_recall: Run, tmp_path: Path) -> None:
    done = run_recall("files", SESSION, "--to", str(tmp_path / "out"))
    assert (done.returncode, "never_seen.py" in done.stderr) == (0, True)
    assert (tmp_path / "out/export.py").read_text() == "one = 1\ntwo = 3\n"
    assert (tmp_path / "out/outside/etc/other.conf").read_text() == "x\n"
    assert (tmp_path / "out/export.py").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "out/never_seen.py").exists()


def test_a_file_that_exists_is_never_written_over(crm: Path, run_recall: Run, tmp_path: Path) -> None:
    (tmp_path / "out/outside/etc").mkdir(parents=True)
    os.symlink("/nowhere", tmp_path / "out/outside/etc/other.conf")
    done = run_recall("files", SESSION, "--to", str(tmp_path / "out"))
    assert done.returncode == 3
    assert not (tmp_path / "out/export.py").exists()


@pytest.mark.parametrize("path", ["../../x", "/../../x", "a/../../../x", "..", "C:\\x", "\0"])
def test_no_name_leads_out_of_the_folder(path: str, tmp_path: Path) -> None:
    from recall.actions.files import target

    whole = os.path.normpath(tmp_path / target(path, CWD))
    assert whole.startswith(str(tmp_path))
    assert ".." not in target(f"{CWD}/{path}", CWD).split("/")


def test_no_link_leads_out_of_the_folder_and_what_is_made_is_private(tmp_path: Path) -> None:
    """Whatever the umask, also of the folders on the way; where a link would lead out, nothing is written."""
    files = [
        Replayed("/home/dev/crm/a/b/c.py", "one\n", False, 1, 0, (), 0.0),
        Replayed("/home/dev/crm/linked/deep/d.py", "two\n", False, 1, 0, (), 0.0),
    ]
    given, elsewhere = tmp_path / "given", tmp_path / "elsewhere"
    given.mkdir()
    elsewhere.mkdir()
    (given / "linked").symlink_to(elsewhere)
    with pytest.raises(Refused):
        give_back(files, "/home/dev/crm", str(given))
    assert not list(elsewhere.iterdir()) and not (given / "a").exists()
    before = os.umask(0)
    try:
        give_back(files[:1], "/home/dev/crm", str(given))
    finally:
        os.umask(before)
    modes = [(given / name).stat().st_mode & 0o777 for name in ("a", "a/b", "a/b/c.py")]
    assert modes == [0o700, 0o700, 0o600]


def test_secrets_are_printed_only_when_asked_for(home: Path, run_recall: Run, tmp_path: Path) -> None:
    key = "AKIA" + "Q3EXAMPLEKEY" + "7ZXW"
    builders.claude_session(
        home, "crm", SESSION, [("go", "ok", [_tool("Write", file_path=f"{CWD}/.env", content=f"KEY={key}\n")])]
    )
    run_recall("sweep", "--quiet")
    assert key not in run_recall("files", SESSION, ".env").stdout
    assert run_recall("files", SESSION, ".env", "--raw").stdout == f"KEY={key}\n"
    run_recall("files", SESSION, "--to", str(tmp_path / "out"))
    assert (tmp_path / "out/.env").read_text() == f"KEY={key}\n"


def test_wrong_words_are_explained(crm: Path, run_recall: Run) -> None:
    assert run_recall("files", SESSION, "nothing.py").returncode == 1
    assert run_recall("files", SESSION, "--at", "99").returncode == 2
    assert run_recall("files", "ffffffff").returncode == 1


def test_a_failed_edit_was_not_made(home: Path, run_recall: Run) -> None:
    path = builders.claude_session(home, "crm", SESSION, TURNS[:1])
    call = {
        "type": "tool_use",
        "id": "t9",
        "name": "Write",
        "input": {"file_path": f"{CWD}/export.py", "content": "no"},
    }
    result = {"type": "tool_result", "tool_use_id": "t9", "content": "denied", "is_error": True}
    with path.open("a") as file:
        for kind, block in (("assistant", call), ("user", result)):
            record = {"type": kind, "uuid": kind, "sessionId": SESSION, "cwd": CWD, "timestamp": "2026-06-11T10:00:00Z"}
            file.write(json.dumps({**record, "message": {"role": kind, "content": [block]}}) + "\n")
    run_recall("sweep", "--quiet")
    assert run_recall("files", SESSION, "export.py").stdout == "one = 1\ntwo = 2\n"


def test_the_patches_of_codex_are_replayed(home: Path, run_recall: Run) -> None:
    add = "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** End Patch"
    change = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+three\n*** End Patch"
    path = builders.codex_session(home, "crm", SESSION, [("Make a.txt", "Made.")])
    with path.open("a") as file:
        for n, (patch, output) in enumerate([(add, "Success."), (change, "Success."), (add, "error: it exists")]):
            call = {"type": "custom_tool_call", "call_id": f"c{n}", "name": "apply_patch", "input": patch}
            told = {"type": "custom_tool_call_output", "call_id": f"c{n}", "output": output}
            for payload in (call, told):
                line = {"timestamp": "2026-06-11T10:00:00Z", "type": "response_item", "payload": payload}
                file.write(json.dumps(line) + "\n")
    run_recall("sweep", "--quiet")
    assert run_recall("files", SESSION, "a.txt").stdout == "one\nthree\n"
