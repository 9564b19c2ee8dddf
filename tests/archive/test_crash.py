"""Killed, crowded or out of space: what is archived is right as far as it goes, and the next run completes it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recall.archive import append as hot
from recall.archive.append import BLOCK, append
from recall.archive.store import generations, refresh
from recall.archive.sums import Sums
from recall.archive.verify import verify

PATH = "claude/-x/0b5f.jsonl"
PACKAGE = str(Path(hot.__file__).parents[2])

KILLED = """
import os, signal, sys
from recall.archive import append as hot
root, path, source, name, when, number = sys.argv[1:]
left = int(number)
real = getattr(os, name)
def call(*args, **more):
    global left
    left -= 1
    if left:
        return real(*args, **more)
    if when == "half":
        real(args[0], args[1][: len(args[1]) // 2], args[2])
    elif when == "after":
        real(*args, **more)
    os.kill(os.getpid(), signal.SIGKILL)
from recall.archive.store import refresh
from recall.archive.sums import Sums
with Sums(root) as sums:
    sums.entries()
    setattr(os, name, call)
    refresh(root, path, source, sums)
setattr(os, name, real)
"""


def _run(script: str, *args: object) -> subprocess.Popen[bytes]:
    env = {"PYTHONPATH": PACKAGE, "PATH": os.environ["PATH"]}
    return subprocess.Popen([sys.executable, "-c", script, *map(str, args)], env=env)


def _contents(root: str) -> list[bytes]:
    return [Path(root, copy.file).read_bytes() for copy in generations(root, PATH)]


@pytest.mark.parametrize("when", ["before", "half", "after"])
@pytest.mark.parametrize("name", ["pwrite", "rename", "open", "utime"])
@pytest.mark.parametrize("start", ["nothing", "grown", "rewritten"])
def test_killed_at_any_point(root: str, tmp_path: Path, start: str, name: str, when: str) -> None:
    """After each kill, copies hold what they held and beginnings of the new; the next run completes them."""
    if when == "half" and name != "pwrite":
        pytest.skip("only a write has a half")
    old, new = os.urandom(BLOCK + 5000), os.urandom(2 * BLOCK + 77)
    source = tmp_path / "source"
    if start != "nothing":
        source.write_bytes(old)
        with Sums(root) as sums:
            refresh(root, PATH, str(source), sums)
    now = old + new if start == "grown" else new
    source.write_bytes(now)
    killed = 0
    for number in range(1, 12):
        status = _run(KILLED, root, PATH, source, name, when, number).wait()
        held = _contents(root)
        if start != "nothing":
            assert any(data.startswith(old) for data in held)
        assert all(now.startswith(data) or data == old for data in held)
        if status == 0:
            break
        killed += status == -9
    with Sums(root) as sums:
        refresh(root, PATH, str(source), sums)
    held = _contents(root)
    assert held[0] == now
    if start == "rewritten":
        assert old in held
    else:
        assert len(held) == 1
    assert killed or (name == "rename" and start != "rewritten")
    assert verify(root).problems == []


RACE = """
import sys
from recall.archive.append import append
source, copy = sys.argv[1:]
sys.stdout.write("ready\\n"); sys.stdout.flush()
sys.stdin.readline()
for _ in range(200):
    append(source, copy)
"""


@pytest.mark.parametrize("change", ["grows", "is rewritten"])
def test_many_writers_at_once(root: str, tmp_path: Path, change: str) -> None:
    """Processes that archive the same source while it changes end with its bytes, and nothing seen is lost."""
    source, copy = tmp_path / "source", Path(root, PATH)
    source.write_bytes(b"")
    env = {"PYTHONPATH": PACKAGE, "PATH": os.environ["PATH"]}
    command = [sys.executable, "-c", RACE, str(source), str(copy)]
    writers = [
        subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    for writer in writers:
        assert writer.stdout and writer.stdin
        writer.stdout.readline()
    for writer in writers:
        assert writer.stdin
        writer.stdin.write("go\n")
        writer.stdin.flush()
    stages = []
    for number in range(60):
        if change == "grows":
            with source.open("ab") as file:
                file.write(b"%d " % number * 3000)
        else:
            part = source.with_suffix(".new")
            part.write_bytes(b"%d " % (number % 7) * (3000 + number * 37 % 500))
            os.replace(part, source)
        stages.append(source.read_bytes())
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    append(str(source), str(copy))
    held = _contents(root)
    if change == "grows":
        assert held == [stages[-1]]
    else:
        assert all(any(stage.startswith(data) for stage in stages) for data in held)


FULL = """
import resource, sys
from recall.archive.append import append
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    append(*sys.argv[1:3])
except OSError:
    sys.exit(7)
"""


@pytest.mark.parametrize("limit", [0, 1, 4096, BLOCK - 1, BLOCK + 12345])
def test_a_limit_of_space_leaves_a_beginning(root: str, tmp_path: Path, limit: int) -> None:
    """OSError, a copy that is right so far, and the rest when there is room again."""
    source, copy = tmp_path / "source", Path(root, PATH)
    data = os.urandom(2 * BLOCK)
    source.write_bytes(data)
    assert _run(FULL, source, copy, limit).wait() == 7
    assert copy.read_bytes() == data[:limit]
    assert append(str(source), str(copy))[::3] == ("grown", len(data))
    assert copy.read_bytes() == data


@pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="mounting needs root")
def test_a_full_disk_leaves_a_beginning(tmp_path: Path) -> None:
    """The same on a real disk that is full, also when the copy must be set aside."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", str(disk)], capture_output=True).returncode:
        pytest.skip("mounting is not allowed")
    try:
        root = str(disk / "archive")
        assert hot.ready(root, str(tmp_path / "state"))
        source, copy = tmp_path / "source", Path(root, PATH)
        small, large = os.urandom(BLOCK), os.urandom(4 * BLOCK)
        source.write_bytes(small)
        append(str(source), str(copy))
        source.write_bytes(large)
        with pytest.raises(OSError, match="No space"):
            append(str(source), str(copy))
        assert Path(f"{copy}.g1").read_bytes() == small
        kept = copy.read_bytes()
        assert large.startswith(kept) and len(kept) >= BLOCK
        subprocess.run(["mount", "-o", "remount,size=9m", str(disk)], check=True)
        assert append(str(source), str(copy))[0] == "grown"
        assert copy.read_bytes() == large
    finally:
        subprocess.run(["umount", str(disk)], check=True)
