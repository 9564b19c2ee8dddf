"""The file of checksums: what it says, and what it survives."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.archive.append import BLOCK
from recall.archive.sums import NAME, Entry, Sums, line, parse

PATH = "claude/-x/0b5f.jsonl"


@pytest.fixture
def copy(root: str) -> Path:
    path = Path(root, PATH)
    path.parent.mkdir(parents=True)
    return path


def _expected(data: bytes, block: int) -> str:
    return "".join(f"{zlib.crc32(data[at : at + block]):08x}" for at in range(0, len(data), block))


@given(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1),
    st.integers(0, 2**64 - 1),
    st.binary(max_size=2 * 1024),
)
def test_a_line_comes_back(name: str, ino: int, data: bytes) -> None:
    """Any path, tabs, line ends and undecodable bytes in it as well."""
    entry = Entry(ino, len(data), _expected(data, BLOCK))
    assert parse(line(name, entry)) == ({name: entry}, 1)


@given(st.binary())
def test_any_bytes_are_read(data: bytes) -> None:
    """A damaged file says less, it never raises."""
    parse(data)


def test_undecodable_names_come_back() -> None:
    name = os.fsdecode(b"claude/\xff\xfe\t\n\\t")
    entry = Entry(1, 3, "00000001")
    assert parse(line(name, entry))[0] == {name: entry}


def test_only_the_new_bytes_are_read(root: str, copy: Path, small_blocks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums go on from where they were, in the middle of a block, whatever the steps."""
    read: list[tuple[int, int]] = []
    pread = os.pread

    def watch(fd: int, size: int, at: int) -> bytes:
        read.append((at, size))
        return pread(fd, size, at)

    data = bytes(range(256)) * 3
    monkeypatch.setattr(os, "pread", watch)
    for end in (1, 63, 64, 65, 200, 512, 700):
        copy.write_bytes(data[:end])
        with Sums(root) as sums:
            covered = sums.covered(PATH, copy.stat().st_ino)
            read.clear()
            sums.cover(PATH)
            assert min(at for at, _ in read) == covered
            assert sum(size for _, size in read) == end - covered
        entries, _ = parse(Path(root, NAME).read_bytes())
        assert entries[PATH] == Entry(copy.stat().st_ino, end, _expected(data[:end], small_blocks))
    before = Path(root, NAME).stat()
    with Sums(root) as sums:
        sums.cover(PATH)
    assert Path(root, NAME).stat() == before
    assert before.st_mode & 0o777 == 0o600


def test_a_torn_last_line_is_not_believed_and_not_glued_to(root: str, copy: Path, small_blocks: int) -> None:
    """Cut anywhere, the file says what its whole lines say, and goes on behind it."""
    copy.write_bytes(b"x" * 100)
    with Sums(root) as sums:
        sums.cover(PATH)
    first = Path(root, NAME).read_bytes()
    whole = first + line("claude/-x/other.jsonl", Entry(5, 70, "aaaaaaaabbbbbbbb"))
    for cut in range(len(first), len(whole) - 1):
        Path(root, NAME).write_bytes(whole[:cut])
        copy.write_bytes(b"x" * 150)
        with Sums(root) as sums:
            assert sums.covered(PATH, copy.stat().st_ino) == 100
            sums.cover(PATH)
        entries, _ = parse(Path(root, NAME).read_bytes())
        assert entries == {PATH: Entry(copy.stat().st_ino, 150, _expected(b"x" * 150, 64))}


def test_lines_that_do_not_go_on_from_what_is_known_are_passed_over(small_blocks: int) -> None:
    base = line("a", Entry(1, 128, "0000000100000002"))
    for tail in (
        b"a\t2\t2\t192\t00000003\n",
        b"a\t1\t3\t256\t00000004\n",
        b"a\t1\t2\t999\t00000003\n",
        b"b\t1\t1\t128\t00000003\n",
    ):
        assert parse(base + tail)[0] == {"a": Entry(1, 128, "0000000100000002")}
    assert parse(base + b"a\t1\t2\t192\t00000003\n")[0] == {"a": Entry(1, 192, "000000010000000200000003")}


def test_sums_go_with_a_copy_that_was_set_aside(root: str, copy: Path, small_blocks: int) -> None:
    """A hook renames copies without a word: the sums follow the inode, grown bytes included."""
    copy.write_bytes(b"x" * 100)
    with Sums(root) as sums:
        sums.cover(PATH)
    with copy.open("ab") as file:
        file.write(b"y" * 100)
    os.rename(copy, f"{copy}.g1")
    copy.write_bytes(b"z" * 70)
    with Sums(root) as sums:
        sums.cover(PATH)
    entries, _ = parse(Path(root, NAME).read_bytes())
    assert entries[PATH].crcs == _expected(b"z" * 70, 64)
    assert entries[PATH + ".g1"].crcs == _expected(b"x" * 100 + b"y" * 100, 64)


@pytest.mark.parametrize("damaged", [False, True])
def test_after_a_move_sums_are_checked_before_they_are_gone_on_with(
    root: str, copy: Path, small_blocks: int, damaged: bool
) -> None:
    """Other inodes and no older copy that has them: right sums are taken over, wrong ones stay for `verify`."""
    copy.write_bytes(b"x" * 100)
    with Sums(root) as sums:
        sums.cover(PATH)
    before = sums.entries()[PATH]
    copy.with_suffix(".new").write_bytes((b"d" if damaged else b"x") + b"x" * 149)
    os.replace(copy.with_suffix(".new"), copy)
    with Sums(root) as sums:
        sums.cover(PATH)
    entries, _ = parse(Path(root, NAME).read_bytes())
    if damaged:
        assert entries[PATH] == before
    else:
        assert entries[PATH] == Entry(copy.stat().st_ino, 150, _expected(b"x" * 150, 64))


def test_outdated_lines_are_dropped_in_time(root: str, copy: Path, small_blocks: int) -> None:
    """The file does not grow with the number of sweeps; what others wrote meanwhile is kept."""
    copy.write_bytes(b"")
    for number in range(1500):
        with copy.open("ab") as file:
            file.write(b"%d\n" % number)
        if number % 500 == 0:
            sums = Sums(root)
            with Sums(root) as other:
                Path(root, f"claude/-x/{number}").write_bytes(b"x")
                other.cover(f"claude/-x/{number}")
        sums.cover(PATH)
        sums.flush()
    entries, lines = parse(Path(root, NAME).read_bytes())
    assert lines < 1100
    assert entries[PATH].crcs == _expected(copy.read_bytes(), 64)
    assert set(entries) == {PATH, "claude/-x/0", "claude/-x/500", "claude/-x/1000"}
    assert Path(root, NAME).stat().st_mode & 0o777 == 0o600


def test_forgotten_paths_are_in_no_byte_of_the_file(root: str, copy: Path) -> None:
    for name in ("a", "b"):
        copy.with_name(name).write_bytes(b"x")
        with Sums(root) as sums:
            sums.cover(f"claude/-x/{name}")
    Sums(root).forget(lambda path: path.endswith("/a"))
    data = Path(root, NAME).read_bytes()
    assert b"/a" not in data
    assert b"/b" in data
