"""Whatever happens to a source, and in whatever order hook and sweep look at it, nothing archived is lost."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from pytest import MonkeyPatch

from recall.archive import append as hot
from recall.archive import store, sums, verify
from recall.archive.append import append
from recall.archive.store import generations, refresh
from recall.archive.sums import Sums

PATH = "claude/-x/0b5f.jsonl"
BYTES = st.binary(min_size=1, max_size=40) | st.sampled_from([b"a" * 20, b"b" * 33, b"ab" * 16])


class Archive(RuleBasedStateMachine):
    """A source, its copies, and a memory of every content that a sweep has seen. Blocks of 16 bytes, tails of 4."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = MonkeyPatch()
        for module in (hot, store, sums, verify):
            self.patch.setattr(module, "BLOCK", 16)
        self.patch.setattr(hot, "TAIL", 4)
        self.folder = tempfile.mkdtemp()
        self.root = os.path.join(self.folder, "archive")
        assert hot.ready(self.root, os.path.join(self.folder, "state"))
        self.source = os.path.join(self.folder, "source")
        self.copy = os.path.join(self.root, PATH)
        self.clock = 10**18
        self.swept: set[bytes] = set()
        self.archived: dict[int, bytes] = {}  # inode of a copy -> what it was seen to hold
        self.only_grew = True
        self.inode = 0

    def teardown(self) -> None:
        self.patch.undo()
        shutil.rmtree(self.folder)

    def content(self) -> bytes:
        with open(self.source, "rb") as file:
            return file.read()

    def change(self, how: Callable[[], None]) -> None:
        how()
        self.clock += 10**9
        os.utime(self.source, ns=(self.clock, self.clock))

    def write(self, data: bytes, mode: str = "r+b") -> None:
        def how() -> None:
            with open(self.source, mode) as file:
                file.write(data)
                file.truncate()

        self.change(how)

    def there(self) -> bool:
        return os.path.exists(self.source)

    @initialize(data=BYTES)
    def begin(self, data: bytes) -> None:
        self.write(data, "wb")

    @precondition(there)
    @rule(data=BYTES)
    def grow(self, data: bytes) -> None:
        self.write(self.content() + data)

    @precondition(there)
    @rule(keep=st.floats(0, 1, exclude_max=True))
    def truncate(self, keep: float) -> None:
        self.only_grew = False
        self.change(lambda: os.truncate(self.source, int(keep * len(self.content()))))

    @precondition(there)
    @rule(data=BYTES)
    def rewrite(self, data: bytes) -> None:
        self.only_grew = False
        self.write(data)

    @precondition(there)
    @rule(at=st.floats(0, 1, exclude_max=True), more=st.binary(max_size=8))
    def edit_one_byte_and_grow(self, at: float, more: bytes) -> None:
        data = bytearray(self.content())
        if data:
            self.only_grew = False
            data[int(at * len(data))] ^= 1
            self.write(bytes(data) + more)

    @rule()
    def delete(self) -> None:
        if self.there():
            os.unlink(self.source)

    @rule(data=BYTES, same_length=st.booleans(), keep_time=st.booleans())
    def replace(self, data: bytes, same_length: bool, keep_time: bool) -> None:
        """Another file takes the name, perhaps with the length and the time of the old one.

        The old one is kept elsewhere: else its inode could come again with another content, of the same length and time,
        which nothing but reading every file each time would notice.
        """
        self.only_grew = False
        if self.there():
            os.link(self.source, os.path.join(self.folder, f"old-{len(os.listdir(self.folder))}"))
        before = os.stat(self.source) if self.there() else None
        if same_length and before:
            data = (data * (before.st_size // len(data) + 1))[: before.st_size]
        other = self.source + ".new"
        with open(other, "wb") as file:
            file.write(data)
        os.replace(other, self.source)
        self.change(lambda: None)
        if keep_time and before:
            os.utime(self.source, ns=(before.st_atime_ns, before.st_mtime_ns))

    @precondition(there)
    @rule()
    def hook(self) -> None:
        append(self.source, self.copy)
        if self.only_grew:
            with open(self.copy, "rb") as file:
                assert file.read() == self.content(), "a hook's copy of a source that only grew is that source"

    @precondition(there)
    @rule()
    def sweep(self) -> None:
        inode = os.stat(self.source).st_ino
        with Sums(self.root) as known:
            refresh(self.root, PATH, self.source, known, force=inode != self.inode)
        self.inode = inode
        self.swept.add(self.content())
        if self.content():
            with open(self.copy, "rb") as file:
                assert file.read() == self.content(), "after a sweep the newest copy is the source"

    @invariant()
    def nothing_is_lost(self) -> None:
        held = {}
        for copy in generations(self.root, PATH):
            with open(os.path.join(self.root, copy.file), "rb") as file:
                held[copy.ino] = file.read()
        for ino, data in self.archived.items():
            assert held[ino].startswith(data), "a byte once archived stays"
        for data in self.swept:
            assert any(whole.startswith(data) for whole in held.values()), "what a sweep saw at rest is kept"
        if self.only_grew:
            assert len(held) <= 1
            assert all(self.content().startswith(data) for data in held.values() if self.there())
        self.archived = held

    @invariant()
    def the_sums_are_right(self) -> None:
        assert verify.verify(self.root).problems == []


Archive.TestCase.settings = settings(max_examples=150, stateful_step_count=25, deadline=None)
TestArchive = Archive.TestCase
