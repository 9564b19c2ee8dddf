"""An archive of the test's own, and a source to copy into it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.archive import append as hot
from recall.archive import store, sums, verify


@pytest.fixture
def root(tmp_path: Path) -> str:
    """A root that was made ready; its state folder is `tmp_path/state`."""
    path = str(tmp_path / "archive")
    assert hot.ready(path, str(tmp_path / "state"))
    return path


@pytest.fixture
def small_blocks() -> Iterator[int]:
    """Blocks of 64 bytes instead of 1 MB, so that small files have many."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (hot, store, sums, verify):
            patch.setattr(module, "BLOCK", 64)
        yield 64
