"""What is left where a session's folder was: places that a person may open it in instead. None is chosen for them."""

from __future__ import annotations

import os
from typing import NamedTuple

from recall.core.session import worktree_of


class Offer(NamedTuple):
    """A folder that exists, and what it is."""

    path: str
    what: str


def offers(cwd: str) -> list[Offer]:
    """For a folder that is gone: the repository that it was a worktree of or lay in, and the nearest folder above it.

    The root of the file system is no offer.
    """
    nearest = _nearest(cwd)
    found = (
        Offer(worktree_of(cwd), "the repository that it was a worktree of"),
        Offer(_repository(nearest), "the repository that it lay in"),
        Offer(nearest, "the nearest folder above it that is left"),
    )
    out: dict[str, Offer] = {}
    for one in found:
        if os.path.isabs(one.path) and one.path.strip("/") and os.path.isdir(one.path):
            out.setdefault(one.path, one)
    return list(out.values())


def _nearest(path: str) -> str:
    """The folder above `path` that exists."""
    while not os.path.isdir(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return path


def _repository(path: str) -> str:
    """The root of the repository that `path` lies in; '' when it is in none."""
    while not os.path.lexists(os.path.join(path, ".git")):
        above = os.path.dirname(path)
        if above == path:
            return ""
        path = above
    return path
