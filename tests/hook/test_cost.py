"""What a turn costs: which modules are loaded, how many bytes are read, which transcripts are taken for ours."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall import clients
from recall.hook import locate
from tests.conftest import ROOT
from tests.hook.conftest import SESSION, Place

STOP = {"recall", "recall.archive", "recall.archive.append", "recall.hook"}
LOOP = STOP | {"recall.hookloop"}
START = LOOP | {"recall.core", "recall.core.injection"}
BARE = {"os", "os.path", "stat", "_stat", "posixpath", "genericpath", "_collections_abc", "fcntl", "_json", "posix"}
"""What `os` itself loads, and the two others that a hook may have."""


@pytest.mark.parametrize(
    ("name", "fields", "ours"),
    [
        ("Stop", {}, STOP),
        ("PreToolUse", {}, STOP),
        ("PreCompact", {}, LOOP),
        ("SessionEnd", {}, LOOP),
        ("SessionStart", {"source": "startup"}, LOOP),
        ("SessionStart", {"source": "resume"}, START),
    ],
)
def test_the_modules_that_are_loaded(place: Place, name: str, fields: dict[str, str], ours: set[str]) -> None:
    """Exactly these beyond a bare interpreter's, and not one more."""
    place.handoff()
    code = (
        "import sys; before = set(sys.modules); sys.path.insert(0, sys.argv[1])\n"
        "from recall import hook\n"
        "import os; hook.run(hook.read(0), os.environ)\n"
        "sys.stderr.write('\\n'.join(set(sys.modules) - before))\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-E", "-c", code, str(ROOT)],
        input=json.dumps(place.event(name, **fields)),
        env={"HOME": str(place.home), "RECALL_LLM": "none"},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stderr.split())
    assert {module for module in loaded if module.startswith("recall")} == ours
    assert loaded - ours <= BARE
    place.settle()


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_the_bytes_that_are_read(place: Place, tmp_path: Path) -> None:
    """Of a transcript and its copy together: the new tail and 8 KB, however long the transcript is."""
    place.call(place.event("Stop"))
    tail = 40_000
    with place.claude.open("ab") as file:
        file.write(b"x" * (tail - 1) + b"\n")
    event = tmp_path / "event.json"
    event.write_text(json.dumps(place.event("Stop")))
    log = tmp_path / "strace"
    with event.open() as stdin:
        argv = ["strace", "-f", "-y", "-o", str(log), "-e", "trace=read,pread64,readv,preadv,mmap", str(place.launcher)]
        traced = subprocess.run(argv, stdin=stdin, env={"HOME": str(place.home)}, capture_output=True, check=False)
    if traced.returncode:
        pytest.skip("tracing is not permitted here")
    read = 0
    for line in log.read_text(errors="replace").splitlines():
        if f"{SESSION}.jsonl>" in line:
            assert "mmap" not in line
            read += int(line.rpartition("= ")[2])
    assert tail < read <= tail + 8192


PATHS = st.one_of(
    st.builds("/".join, st.lists(st.sampled_from(
        ["projects", "sessions", "archived_sessions", "-home-dev", SESSION, f"{SESSION}.jsonl", "subagents",
         "agent-a1.jsonl", "rollout-2026-06-11T09-00-00-x.jsonl", f"rollout-1-{SESSION}.jsonl", ".hidden.jsonl", "history.jsonl",
         "..", ".", "", "2026", "custom-title.json", "ролл.jsonl", "a b.jsonl", "rollout-.jsonl", "-.jsonl", "_x.jsonl"]
    ), max_size=6)),
    st.text(max_size=30).map(lambda text: f"projects/x/{text}.jsonl"),
    st.text(max_size=30).map(lambda text: f"sessions/rollout-{text}.jsonl"),
)  # fmt: skip


@given(PATHS, st.sampled_from(["claude", "codex"]))
def test_ours_is_what_the_sweep_takes_for_ours(inner: str, client: str) -> None:
    """The hook's quick look and the client's own one agree on every transcript, its session and its copy."""
    place = clients.places(client).place(inner)
    found = locate(f"/home/{inner}", [(client, "/home", client)])
    if place is None or place.kind not in ("main", "sub") or {".", ".."} & set(inner.split("/")):
        assert found is None
    else:
        assert found is not None
        assert (found[0], found[2], found[3]) == (client, place.archive, place.session)


def test_what_is_installed_is_compiled(place: Place) -> None:
    """The launcher starts the interpreter without site, and hands on where `hook.conf` lies."""
    text = place.launcher.read_text()
    assert " -I -S -E " in text
    assert str(place.state / "hook.conf") in text
    assert os.access(place.launcher, os.X_OK)
    assert "exec" in text.splitlines()[-1]


def test_the_environment_is_what_it_was(tmp_path: Path) -> None:
    """What `hook_main` leaves out of `os` changes nothing of what the hook asks the environment for."""
    code = (
        (ROOT / "recall/hook_main.py")
        .read_text()
        .replace("except BaseException:\n    pass", "except ImportError:\n    raise")
    )
    probe = tmp_path / "recall"
    probe.mkdir()
    (probe / "__init__.py").touch()
    (probe / "hook_main.py").write_text(code)
    (probe / "hook.py").write_text(
        "import os, sys\n"
        "def main(argv):\n"
        "    assert '_collections_abc' not in sys.modules\n"
        "    env = os.environ\n"
        "    assert dict(env.items()) == {**env} == {key: env[key] for key in env.keys()}\n"
        "    assert env.get('HOME') == '/x' and env.get('NO') is None and env.get('NO', '1') == '1'\n"
        "    assert 'HOME' in env and 'NO' not in env\n"
        "    import json\n"
        "    import collections.abc\n"
        "    assert isinstance({}, collections.abc.Mapping) and json.loads('[1]') == [1]\n"
        "    print('fine')\n"
    )
    argv = [sys.executable, "-I", "-S", "-E", str(probe / "hook_main.py")]
    done = subprocess.run(argv, env={"HOME": "/x", "B": ""}, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("fine\n", "")
