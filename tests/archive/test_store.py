"""The archive as a whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recall.archive.append import append
from recall.archive.kept import same_time
from recall.archive.store import copies, generations, refresh, remove
from recall.archive.sums import NAME, Sums
from recall.archive.verify import Problem, verify

PATH = "claude/-x/0b5f.jsonl"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.jsonl"
    path.write_bytes(b"first\n" * 50)
    return path


@pytest.fixture
def copy(root: str) -> Path:
    return Path(root, PATH)


def _later(path: Path, seconds: int = 10) -> None:
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + seconds * 10**9))


# refresh


def test_a_rewrite_of_the_same_length_is_seen(root: str, source: Path, copy: Path) -> None:
    """A hook cannot see it; the sweep does, by the time and then the content."""
    refresh(root, PATH, str(source))
    source.write_bytes(b"FIRST\n" * 50)
    _later(source)
    assert append(str(source), str(copy))[0] == "same"
    assert refresh(root, PATH, str(source)).kind == "generation"
    assert copy.read_bytes() == b"FIRST\n" * 50
    assert Path(f"{copy}.g1").read_bytes() == b"first\n" * 50


def test_a_touched_source_is_compared_once(root: str, source: Path) -> None:
    refresh(root, PATH, str(source))
    _later(source)
    assert refresh(root, PATH, str(source)) == ("same", 300, 0, 300, "")
    assert refresh(root, PATH, str(source)) == ("same", 0, 0, 300, "")


@pytest.mark.parametrize(
    ("copy_ns", "source_ns", "same"),
    [
        (1_700_000_001_123_456_789, 1_700_000_001_123_456_789, True),
        (1_700_000_001_123_456_700, 1_700_000_001_123_456_789, True),
        (1_700_000_001_120_000_000, 1_700_000_001_123_456_789, True),
        (1_700_000_001_000_000_000, 1_700_000_001_123_456_789, True),
        (1_700_000_002_000_000_000, 1_700_000_001_999_000_000, True),
        (1_700_000_001_000_000_000, 1_700_000_002_000_000_000, False),
        (1_700_000_001_000_000_000, 1_700_000_002_123_456_789, False),
        (1_700_000_001_123_456_788, 1_700_000_001_123_456_789, False),
        (1_700_000_001_123_000_001, 1_700_000_001_123_456_789, False),
    ],
)
def test_times_may_be_rounded_by_the_disk_of_the_archive(
    tmp_path: Path, copy_ns: int, source_ns: int, same: bool
) -> None:
    """Only a time that is the source's own, rounded to what disks round to, counts as equal."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for path, time in ((ours, copy_ns), (theirs, source_ns)):
        path.touch()
        os.utime(path, ns=(time, time))
    assert same_time(ours.stat(), theirs.stat()) is same


def test_another_file_of_the_same_length_and_time_needs_a_reason_to_doubt(root: str, source: Path) -> None:
    """`force` compares whatever the times say."""
    refresh(root, PATH, str(source))
    before = source.stat()
    source.with_suffix(".new").write_bytes(b"other\n" * 50)
    os.replace(source.with_suffix(".new"), source)
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert refresh(root, PATH, str(source)).kind == "same"
    assert refresh(root, PATH, str(source), force=True).kind == "generation"


@pytest.mark.parametrize("hooked", [False, True])
def test_growth_over_a_changed_beginning_is_seen(tmp_path: Path, root: str, copy: Path, hooked: bool) -> None:
    """The tail agrees, the beginning does not: a hook appends, the next sweep tells them apart, no content is lost."""
    source = tmp_path / "long"
    tail = os.urandom(8192)
    source.write_bytes(b"A" * 100 + tail)
    with Sums(root) as sums:
        refresh(root, PATH, str(source), sums)
    source.write_bytes(b"B" * 100 + tail + b"more")
    if hooked:
        assert append(str(source), str(copy))[0] == "grown"
    with Sums(root) as sums:
        assert refresh(root, PATH, str(source), sums).kind == "generation"
    assert copy.read_bytes() == source.read_bytes()
    assert Path(f"{copy}.g1").read_bytes().startswith(b"A" * 100 + tail)
    checked = verify(root)
    assert not checked.problems and not checked.unsummed


def test_every_block_of_a_long_one_is_sampled(tmp_path: Path, root: str) -> None:
    """Of what grew, a part of each block is compared, not all of it."""
    source = tmp_path / "long"
    data = bytearray(5 << 20)
    source.write_bytes(data)
    refresh(root, PATH, str(source))
    with source.open("ab") as file:
        file.write(b"more")
    kept = refresh(root, PATH, str(source))
    assert kept.kind == "grown"
    assert kept.read < 200_000
    data[3 << 20] = 1
    source.write_bytes(bytes(data) + b"moremore")
    assert refresh(root, PATH, str(source)).kind == "generation"


def test_no_change_opens_and_writes_nothing(root: str, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor are the sums touched."""
    with Sums(root) as sums:
        refresh(root, PATH, str(source), sums)
    before = {path: path.stat() for path in Path(root).rglob("*")}
    with Sums(root) as sums:
        sums.entries()
        monkeypatch.setattr(os, "open", None)
        assert refresh(root, PATH, str(source), sums) == ("same", 0, 0, 300, "")
    assert {path: path.stat() for path in Path(root).rglob("*")} == before


def test_bytes_from_a_hook_get_their_sums_from_the_next_sweep(root: str, source: Path, copy: Path) -> None:
    append(str(source), str(copy))
    assert verify(root).unsummed == 1
    with Sums(root) as sums:
        refresh(root, PATH, str(source), sums)
    assert verify(root).unsummed == 0


def test_a_source_that_is_gone_removes_nothing(root: str, source: Path, copy: Path) -> None:
    refresh(root, PATH, str(source))
    source.unlink()
    with pytest.raises(FileNotFoundError):
        refresh(root, PATH, str(source))
    assert copy.exists()


def test_a_companion_without_its_session_is_kept(root: str, tmp_path: Path) -> None:
    """Each file stands for itself: what remains of a lost session is archived byte for byte."""
    part = tmp_path / "tool-results" / "1.txt"
    part.parent.mkdir()
    part.write_bytes(bytes(range(256)))
    assert refresh(root, "claude/-x/lost/tool-results/1.txt", str(part)).kind == "new"
    assert Path(root, "claude/-x/lost/tool-results/1.txt").read_bytes() == bytes(range(256))


@pytest.mark.parametrize("inode", ["perhaps the same", "another"])
def test_a_deleted_copy_comes_again_with_sums_of_its_own(
    root: str, source: Path, copy: Path, tmp_path: Path, inode: str
) -> None:
    with Sums(root) as sums:
        refresh(root, PATH, str(source), sums)
    if inode == "another":
        os.rename(copy, tmp_path / "its inode stays in use")
    else:
        copy.unlink()
    source.write_bytes(b"rewritten meanwhile\n")
    with Sums(root) as sums:
        assert refresh(root, PATH, str(source), sums).kind == "new"
    assert verify(root).problems == []


# what is there


def test_copies_are_all_files_with_their_generations(root: str) -> None:
    """Folder by folder; recall's own files, links, strays in the root and claimed but unused names are none."""
    names = (
        "claude/-x/a.jsonl",
        "claude/-x/a.jsonl.g1",
        "claude/-x/a.jsonl.g10",
        "claude/-x/a/subagents/b.jsonl",
        "codex/r.jsonl",
        "-old/c.jsonl",
    )
    for name in names:
        Path(root, name).parent.mkdir(parents=True, exist_ok=True)
        Path(root, name).write_bytes(b"x")
    Path(root, "claude/-x/a.jsonl.g11").touch()
    Path(root, "stray").write_bytes(b"x")
    Path(root, NAME).write_bytes(b"")
    Path(root, "claude/link").symlink_to(Path(root, "codex"))
    found = list(copies(root))
    assert sorted(copy.file for copy in found) == sorted(names)
    assert [(copy.path, copy.generation) for copy in found if copy.path.endswith("a.jsonl")] == [
        ("claude/-x/a.jsonl", 0),
        ("claude/-x/a.jsonl", 1),
        ("claude/-x/a.jsonl", 10),
    ]
    assert [copy.generation for copy in generations(root, "claude/-x/a.jsonl")] == [0, 10, 1]
    status = Path(root, "codex/r.jsonl").stat()
    assert generations(root, "codex/r.jsonl") == [("codex/r.jsonl", 0, 1, status.st_mtime_ns, status.st_ino)]
    assert generations(root, "codex/none.jsonl") == generations(root, "no/where") == []
    assert list(copies(root + "/nowhere")) == []


# remove


def test_removed_for_good(root: str, tmp_path: Path) -> None:
    """All generations, companions, the earlier tool's place, their sums, and folders left empty; nothing else."""
    gone = ("claude/-x/a.jsonl", "claude/-x/a.jsonl.g1", "claude/-x/a/subagents/b.jsonl", "-x/a.jsonl", "-x/a/1.txt")
    stay = ("claude/-x/a.jsonlx", "claude/-x/b.jsonl", "claude/-x/ab.jsonl", "claude/-x/xa.jsonl.g1", "codex/a.jsonl")
    for name in gone + stay:
        Path(root, name).parent.mkdir(parents=True, exist_ok=True)
        Path(root, name).write_bytes(b"x")
    verify(root, add=True)
    assert sorted(remove(root, "claude/-x/a.jsonl", "claude/-x/a")) == sorted(gone)
    assert sorted(copy.file for copy in copies(root)) == sorted(stay)
    assert not Path(root, "-x").exists()
    assert set(Sums(root).entries()) == set(stay)
    assert verify(root).problems == []
    assert remove(root, "claude/-x/a.jsonl") == []


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "claude/../../x", "claude//x", "claude/./x", "claude/x/"])
def test_nothing_outside_is_removed(root: str, path: str) -> None:
    with pytest.raises(ValueError):
        remove(root, path)


# verify


@pytest.fixture
def blocks(root: str, small_blocks: int) -> Path:
    """A copy of 200 bytes in blocks of 64, with sums."""
    path = Path(root, PATH)
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes(range(200)))
    verify(root, add=True)
    return path


def test_each_damaged_block_is_named(root: str, blocks: Path) -> None:
    """File, block and bytes; a copy without damage is none, and what has grown since is only counted."""
    data = bytearray(blocks.read_bytes())
    assert verify(root) == ([], 1, 200, 4, 0)
    data[70] ^= 1
    data[199] ^= 1
    blocks.write_bytes(data + b"grown")
    assert verify(root) == ([Problem(PATH, "damaged", 1, 64, 128), Problem(PATH, "damaged", 3, 192, 200)], 1, 205, 4, 1)
    assert verify(root, add=True).problems == verify(root).problems != []


def test_shorter_missing_and_unreadable_are_told_apart(
    root: str, blocks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks.write_bytes(bytes(range(130)))
    assert verify(root).problems == [Problem(PATH, "short", 2, 130, 200)]
    blocks.write_bytes(b"x" + bytes(range(1, 130)))
    assert [problem.why for problem in verify(root).problems] == ["short", "damaged"]

    def fails(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pread", fails)
        assert [problem.why for problem in verify(root).problems] == ["short", "unreadable"]
    blocks.unlink()
    assert verify(root).problems == [Problem(PATH, "missing", 0, 0, 200)]


def test_a_copy_that_a_hook_set_aside_is_not_damaged(root: str, blocks: Path) -> None:
    """Its sums are found by its inode; also when the crash came before the new copy."""
    os.rename(blocks, f"{blocks}.g1")
    assert verify(root) == ([], 1, 200, 4, 0)
    blocks.write_bytes(b"new")
    assert verify(root) == ([], 2, 203, 5, 1)
    assert verify(root, add=True).problems == []
    assert verify(root) == ([], 2, 203, 5, 0)


def test_progress_rises_to_all_bytes(root: str, blocks: Path) -> None:
    blocks.with_name("other").write_bytes(b"x" * 10)
    told: list[tuple[int, int]] = []
    verify(root, progress=lambda done, todo: told.append((done, todo)))
    assert told == sorted(told)
    assert told[-1] == (210, 210)
