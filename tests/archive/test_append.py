"""One copy brought up to date, as a hook does it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recall.archive import append as hot
from recall.archive.append import BLOCK, append

PACKAGE = Path(hot.__file__).parents[2]


def _line(number: int) -> bytes:
    return b'{"type":"user","n":%d,"text":"\xd0\xb4\xd0\xb0"}\n' % number


LINES = b"".join(map(_line, range(400)))  # some 14 KB: more than the tail that is compared


@pytest.fixture
def copy(root: str) -> Path:
    return Path(root, "claude", "-home-dev-x", "0b5f.jsonl")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.jsonl"
    path.write_bytes(LINES)
    return path


def test_new_then_same_then_grown(source: Path, copy: Path) -> None:
    """A copy is made once, left alone while nothing changes, and gets only the new bytes."""
    assert append(str(source), str(copy)) == ("new", len(LINES), len(LINES), len(LINES))
    assert append(str(source), str(copy)) == ("same", 0, 0, len(LINES))
    with source.open("ab") as file:
        file.write(b"more\n")
    assert append(str(source), str(copy)) == ("grown", 4096 + 5, 5, len(LINES) + 5)
    assert copy.read_bytes() == LINES + b"more\n"
    assert [path.name for path in copy.parent.iterdir()] == [copy.name]


def test_same_opens_nothing(source: Path, copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a change there is one look at each of both files, and no more."""
    append(str(source), str(copy))
    looks: list[str] = []
    stat = os.stat

    def count(path: str, **more: object) -> os.stat_result:
        looks.append(path)
        return stat(path)

    monkeypatch.setattr(os, "stat", count)
    monkeypatch.setattr(os, "open", None)
    append(str(source), str(copy))
    assert looks == [str(source), str(copy)]


@pytest.mark.parametrize(
    "then",
    [
        pytest.param(LINES[: len(LINES) // 2], id="shorter"),
        pytest.param(b"other" + LINES[5:9000], id="shorter and other"),
        pytest.param(LINES[:-3] + b"XY\n" + b"longer\n", id="longer with another tail"),
        pytest.param(b"x" + LINES, id="shifted by one"),
    ],
)
def test_a_source_that_was_rewritten_starts_a_generation(source: Path, copy: Path, then: bytes) -> None:
    """What was archived stays whole beside the new content, and every further rewrite gets a number of its own."""
    append(str(source), str(copy))
    source.write_bytes(then)
    assert append(str(source), str(copy))[::2] == ("generation", len(then))
    assert copy.read_bytes() == then
    assert copy.with_name(copy.name + ".g1").read_bytes() == LINES
    source.write_bytes(b"again")
    append(str(source), str(copy))
    assert copy.with_name(copy.name + ".g2").read_bytes() == then
    assert copy.read_bytes() == b"again"


def test_generation_numbers_only_rise(source: Path, copy: Path) -> None:
    """A gap is not filled: the larger number is always the newer one, and look-alikes are left alone."""
    append(str(source), str(copy))
    for name in (".g7", ".gx", ".g", ".g9.bak"):
        copy.with_name(copy.name + name).write_bytes(b"there before")
    source.write_bytes(b"short")
    append(str(source), str(copy))
    assert copy.with_name(copy.name + ".g8").read_bytes() == LINES
    assert copy.with_name(copy.name + ".g7").read_bytes() == b"there before"


def test_an_emptied_source_says_nothing(source: Path, copy: Path) -> None:
    """Truncation to nothing (a crash while rewriting) leaves the copy as the newest one."""
    append(str(source), str(copy))
    source.write_bytes(b"")
    assert append(str(source), str(copy)) == ("same", 0, 0, len(LINES))
    assert copy.read_bytes() == LINES


def test_empty_files_are_kept_too(source: Path, copy: Path) -> None:
    """A companion file may be empty: it has a copy, which grows later."""
    source.write_bytes(b"")
    assert append(str(source), str(copy)) == ("new", 0, 0, 0)
    source.write_bytes(b"x")
    assert append(str(source), str(copy)) == ("grown", 1, 1, 1)


def test_a_torn_character_is_completed_later(source: Path, copy: Path) -> None:
    """Bytes are bytes: a last line cut inside a character is copied, and its rest follows."""
    whole = '{"text":"ёж"}\n'.encode()
    for end in range(1, len(whole) + 1):
        source.write_bytes(whole[:end])
        append(str(source), str(copy))
        assert copy.read_bytes() == whole[:end]
    assert len(list(copy.parent.iterdir())) == 1


def test_distrust_sets_a_copy_aside_whatever_its_length(source: Path, copy: Path) -> None:
    """Whoever has looked closer can say which inode is wrong; that of another file is left alone."""
    append(str(source), str(copy))
    ino = copy.stat().st_ino
    assert append(str(source), str(copy), ino + 1)[0] == "same"
    source.write_bytes(LINES.upper())
    assert append(str(source), str(copy), ino)[0] == "generation"
    assert copy.read_bytes() == LINES.upper()


def test_a_complete_copy_has_the_time_of_its_source(source: Path, copy: Path) -> None:
    """So that an equal time means: nothing was rewritten since."""
    os.utime(source, ns=(1, 1_700_000_000_123_456_789))
    append(str(source), str(copy))
    assert copy.stat().st_mtime_ns == source.stat().st_mtime_ns


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277])
def test_private_whatever_the_umask(source: Path, copy: Path, root: str, umask: int) -> None:
    """Folders are 0700 and files 0600."""
    before = os.umask(umask)
    try:
        append(str(source), str(copy))
        source.write_bytes(b"short")
        append(str(source), str(copy))
    finally:
        os.umask(before)
    modes = {oct(path.stat().st_mode & 0o777) for path in Path(root).rglob("*") if path.is_dir()}
    assert modes == {"0o700"}
    assert {oct(path.stat().st_mode & 0o777) for path in Path(root).rglob("*") if path.is_file()} == {"0o600"}


def test_a_copy_of_an_earlier_tool_becomes_private_when_it_grows(source: Path, copy: Path) -> None:
    copy.parent.mkdir(parents=True)
    copy.write_bytes(LINES[:100])
    copy.chmod(0o644)
    assert append(str(source), str(copy))[0] == "grown"
    assert copy.stat().st_mode & 0o777 == 0o600


def test_links_to_transcripts_are_followed(source: Path, copy: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.jsonl"
    link.symlink_to(source)
    assert append(str(link), str(copy))[0] == "new"
    assert copy.read_bytes() == LINES
    assert not copy.is_symlink()


@pytest.mark.parametrize("kind", ["fifo", "folder", "device", "link to a fifo"])
def test_what_is_no_file_is_refused_at_once(kind: str, copy: Path, tmp_path: Path) -> None:
    """An OSError, without waiting for a writer, and nothing is made in the archive."""
    path = tmp_path / "odd"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path = Path("/dev/zero")
    else:
        os.mkfifo(tmp_path / "pipe")
        path.symlink_to(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        append(str(path), str(copy))
    assert not copy.parent.exists()


def test_a_fifo_that_takes_the_place_of_a_file_does_not_block(
    source: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kind is asked of what was opened, not only of what was there before."""
    status = os.stat(source)
    source.unlink()
    os.mkfifo(source)
    stat = os.stat
    monkeypatch.setattr(os, "stat", lambda path: status if path == str(source) else stat(path))
    with pytest.raises(OSError, match="not a regular file"):
        append(str(source), str(copy))


def test_a_missing_source_leaves_the_copy(source: Path, copy: Path) -> None:
    append(str(source), str(copy))
    source.unlink()
    with pytest.raises(FileNotFoundError):
        append(str(source), str(copy))
    assert copy.read_bytes() == LINES


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_source_leaves_no_trace(source: Path, copy: Path) -> None:
    source.chmod(0)
    with pytest.raises(PermissionError):
        append(str(source), str(copy))
    assert not copy.exists()


def test_a_link_in_the_place_of_a_copy_is_not_written_through(source: Path, copy: Path, tmp_path: Path) -> None:
    """Nothing outside the archive is written, wherever a link in it points."""
    victim = tmp_path / "victim"
    victim.write_bytes(b"")
    copy.parent.mkdir(parents=True)
    copy.symlink_to(victim)
    with pytest.raises(OSError):
        append(str(source), str(copy))
    assert victim.read_bytes() == b""


def test_no_folder_is_made_without_a_marker_above(source: Path, copy: Path, root: str) -> None:
    """A root that vanished between the look and the copying is not made anew."""
    os.rename(root, root + ".away")
    with pytest.raises(FileNotFoundError, match="not mounted"):
        append(str(source), str(copy))
    assert not Path(root).exists()


def test_short_writes_are_gone_on_with(source: Path, copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pwrite = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: pwrite(fd, data[:7], at))
    assert append(str(source), str(copy))[2] == len(LINES)
    assert copy.read_bytes() == LINES


def test_a_source_that_shrinks_meanwhile_gives_what_was_there(
    source: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy ends where the source ended, and does not claim to be complete."""
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, at: pread(fd, size, at)[: max(0, 5000 - at)])
    os.utime(source, ns=(1, 1))
    assert append(str(source), str(copy)) == ("new", 5000, 5000, 5000)
    assert copy.stat().st_mtime_ns != 1


def test_long_files_go_in_blocks(tmp_path: Path, copy: Path) -> None:
    source = tmp_path / "long.jsonl"
    data = os.urandom(BLOCK) * 2 + b"end"
    source.write_bytes(data)
    assert append(str(source), str(copy)) == ("new", len(data), len(data), len(data))
    assert copy.read_bytes() == data


def test_a_source_replaced_while_waiting_for_the_lock_is_opened_again(
    source: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is copied is what bears the name now, so that two writers never flip a copy back."""
    hold = hot.hold
    replaced: list[bool] = []

    def slow(path: str) -> int:
        fd = hold(path)
        if not replaced:
            replaced.append(True)
            source.with_suffix(".new").write_bytes(b"replaced\n")
            os.replace(source.with_suffix(".new"), source)
        return fd

    monkeypatch.setattr(hot, "hold", slow)
    append(str(source), str(copy))
    assert copy.read_bytes() == b"replaced\n"
    assert len(list(copy.parent.iterdir())) == 1


def test_a_copy_set_aside_while_waiting_for_the_lock_is_opened_again(
    source: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(str(source), str(copy))
    flock = fcntl.flock
    once: list[bool] = []

    def slow(fd: int, how: int) -> None:
        flock(fd, how)
        if not once:
            once.append(True)
            os.rename(copy, copy.with_name(copy.name + ".g1"))

    monkeypatch.setattr(fcntl, "flock", slow)
    with source.open("ab") as file:
        file.write(b"more\n")
    append(str(source), str(copy))
    assert copy.read_bytes() == LINES + b"more\n"
    assert copy.with_name(copy.name + ".g1").read_bytes() == LINES


def test_generation_names_are_claimed_even_without_locks(
    source: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the disk has no locks, another process's generation is still never overwritten."""
    append(str(source), str(copy))
    taken = copy.with_name(copy.name + ".g1")
    taken.write_bytes(b"another process was first")

    def unsupported(fd: int, how: int) -> None:
        raise OSError(95, "not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    monkeypatch.setattr(os, "listdir", lambda folder: [])
    source.write_bytes(b"short")
    append(str(source), str(copy))
    assert taken.read_bytes() == b"another process was first"
    assert copy.with_name(copy.name + ".g2").read_bytes() == LINES
    assert copy.read_bytes() == b"short"


def test_loads_nothing_but_what_a_bare_interpreter_needs() -> None:
    """The hook may import this module: os, sys, fcntl, and not one module more."""
    ask = "import sys; sys.path.insert(0, sys.argv[1]); import {}; print(*sorted(sys.modules))"

    def modules(names: str) -> set[str]:
        command = [sys.executable, "-I", "-S", "-c", ask.format(names), str(PACKAGE)]
        return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())

    ours = {"recall", "recall.archive", "recall.archive.append"}
    assert modules("recall.archive.append") - modules("os, sys, fcntl") == ours
