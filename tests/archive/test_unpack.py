"""Compressed transcripts are kept as the plain bytes that they hold."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from recall.archive import store, unpack
from recall.archive.store import refresh
from recall.archive.sums import Sums
from recall.archive.verify import verify

try:
    from compression import zstd
except ImportError:
    zstd = pytest.importorskip("backports.zstd")

_random = Random(7)
TEXT = b"".join(b'{"n":%d,"x":"%s"}\n' % (n, _random.randbytes(40).hex().encode()) for n in range(20_000))  # 2 MB
PATH = "codex/rollout-x.jsonl"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "rollout-x.jsonl.zst"
    path.write_bytes(zstd.compress(TEXT, options={zstd.CompressionParameter.checksum_flag: 1}))
    return path


@pytest.fixture
def copy(root: str) -> Path:
    return Path(root, PATH)


def test_kept_unpacked_at_the_plain_name(root: str, source: Path, copy: Path) -> None:
    """Whether the caller names the copy with or without the suffix; the second time nothing is read."""
    with Sums(root) as sums:
        kept = refresh(root, PATH + ".zst", str(source), sums)
    assert kept == ("new", source.stat().st_size, len(TEXT), len(TEXT), "")
    assert copy.read_bytes() == TEXT
    assert os.listdir(copy.parent) == [copy.name]
    assert copy.stat().st_mode & 0o777 == 0o600
    assert refresh(root, PATH, str(source))[:3] == ("same", 0, 0)
    checked = verify(root)
    assert not checked.problems and not checked.unsummed


@pytest.mark.parametrize("have", [1, 5000, len(TEXT) - 1, len(TEXT), len(TEXT) + 3])
def test_a_plain_copy_is_only_lengthened(root: str, source: Path, copy: Path, have: int) -> None:
    """A copy that begins the same gets what it lacks, and nothing if it is longer."""
    copy.parent.mkdir(parents=True)
    copy.write_bytes((TEXT + b"abc")[:have])
    kept = refresh(root, PATH, str(source))
    assert kept.kind == ("grown" if have < len(TEXT) else "same")
    assert copy.read_bytes() == (TEXT + b"abc")[: max(have, len(TEXT))]
    assert os.listdir(copy.parent) == [copy.name]


def test_other_content_is_a_generation(root: str, source: Path, copy: Path) -> None:
    copy.parent.mkdir(parents=True)
    copy.write_bytes(TEXT[:100] + b"other")
    assert refresh(root, PATH, str(source)).kind == "generation"
    assert copy.read_bytes() == TEXT
    assert Path(f"{copy}.g1").read_bytes() == TEXT[:100] + b"other"


def test_the_plain_twin_wins(root: str, source: Path, copy: Path) -> None:
    """While the uncompressed file lies beside it, the compressed one is not even opened."""
    source.with_suffix("").write_bytes(b"plain\n")
    refresh(root, PATH, str(source.with_suffix("")))
    assert refresh(root, PATH, str(source)) == ("same", 0, 0, 6, "")
    assert copy.read_bytes() == b"plain\n"


@pytest.mark.parametrize("harm", ["torn", "corrupt", "trailing rubbish"])
def test_what_can_be_decoded_is_kept_and_the_problem_told(root: str, source: Path, copy: Path, harm: str) -> None:
    """A beginning of the content is there; when the source is whole again the rest follows."""
    whole = source.read_bytes()
    half = len(whole) // 2
    source.write_bytes(
        {
            "torn": whole[:half],
            "corrupt": whole[:half] + bytes(300) + whole[half + 300 :],
            "trailing rubbish": whole + b"rubbish",
        }[harm]
    )
    kept = refresh(root, PATH, str(source))
    assert kept.kind == "new"
    assert ("torn" if harm == "torn" else "damaged") in kept.problem
    assert TEXT.startswith(copy.read_bytes()[: len(TEXT) // 4])
    assert kept.length > len(TEXT) // 4
    if harm == "torn":
        source.write_bytes(whole)
        assert refresh(root, PATH, str(source)).kind == "grown"
        assert copy.read_bytes() == TEXT
        assert os.listdir(copy.parent) == [copy.name]


def test_a_damaged_source_displaces_no_copy(root: str, source: Path, copy: Path) -> None:
    """It is told and left: the copy may be the better one."""
    copy.parent.mkdir(parents=True)
    copy.write_bytes(b"something else")
    source.write_bytes(source.read_bytes()[:-50])
    kept = refresh(root, PATH, str(source))
    assert (kept.kind, kept.written) == ("same", 0)
    assert kept.problem
    assert os.listdir(copy.parent) == [copy.name]


@pytest.mark.parametrize("data", [b"", b"not zstd at all", b"\x28\xb5\x2f\xfd"])
def test_rubbish_leaves_no_copy(root: str, source: Path, copy: Path, data: bytes) -> None:
    source.write_bytes(data)
    kept = refresh(root, PATH, str(source))
    assert (kept.kind, kept.length, bool(kept.problem)) == ("same", 0, bool(data))
    assert not copy.exists()


def test_several_frames_are_one_text(root: str, source: Path, copy: Path) -> None:
    """Frames may follow each other; the skippable kind holds nothing."""
    skippable = b"\x50\x2a\x4d\x18\x04\x00\x00\x00skip"
    source.write_bytes(zstd.compress(b"one\n") + skippable + zstd.compress(b"") + zstd.compress(b"two\n" * 1_000_000))
    assert refresh(root, PATH, str(source)).problem == ""
    assert copy.read_bytes() == b"one\n" + b"two\n" * 1_000_000


def test_without_a_decoder_it_is_a_problem_of_the_source(
    root: str, source: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpack, "_decoder", lambda: None)
    kept = refresh(root, PATH, str(source))
    assert kept.kind == "same"
    assert "no zstd decoder" in kept.problem
    assert not copy.exists()


def test_force_reads_again(root: str, source: Path, copy: Path) -> None:
    """A reason to doubt outweighs equal times."""
    refresh(root, PATH, str(source))
    before = source.stat()
    source.write_bytes(zstd.compress(TEXT + b"more\n"))
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert store.refresh(root, PATH, str(source)).kind == "same"
    assert store.refresh(root, PATH, str(source), force=True).kind == "grown"
    assert copy.read_bytes() == TEXT + b"more\n"
