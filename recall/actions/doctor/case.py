"""What the checks of `doctor` look at: each thing is looked at once, when it is first asked for. Nothing is written."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from recall.actions import swept
from recall.actions.journal import Journal, load
from recall.actions.machine import Machine
from recall.actions.walk import Found, Home, homes, purged_ids, walk
from recall.archive import append
from recall.archive.store import adopted
from recall.core.model import Transcript
from recall.errors import RecallError
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import Store, exists, is_of_index, open_store

_WAIT = 2.0  # seconds for an index that somebody writes to
_LONGEST = 8 << 20  # bytes of a client's settings that are read


class Read(NamedTuple):
    """A file of a client: what it says (None: there is none, or it cannot be read), and why it cannot be."""

    value: dict[str, Any] | None
    problem: str


class Case:
    """The state of one installation at `now` (seconds since the epoch). `name` is what recall is called here, `machine` what
    is around it (None: nobody looks at that), `again` runs the install once more and says what it did, `env` is what
    terminals are looked for by."""

    def __init__(
        self,
        settings: Settings,
        now: float,
        name: str,
        machine: Machine | None = None,
        again: Callable[[], str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.settings = settings
        self.now = now
        self.name = name
        self.machine = machine
        self.again = again
        self.env = env or {"HOME": settings.home}
        self.shelf = Shelf(settings.data, settings.state)

    def close(self) -> None:
        if self.__dict__.get("store") is not None:
            self.store.close()  # type: ignore[union-attr]

    # -- what is ours ------------------------------------------------------------------------------------------

    @cached_property
    def _opened(self) -> tuple[Store | None, str, Exception | None]:
        try:
            return open_store(self.settings.index, wait=_WAIT), "", None
        except RecallError as problem:
            return None, problem.message, problem
        except Exception as problem:
            if not is_of_index(problem) and not isinstance(problem, OSError):
                raise
            return None, f"{self.settings.index}: {problem}", problem

    @cached_property
    def store(self) -> Store | None:
        """The index; None where it cannot be used."""
        return self._opened[0]

    @property
    def store_problem(self) -> tuple[str, Exception | None]:
        """Why the index cannot be used."""
        return self._opened[1], self._opened[2]

    @property
    def has_index(self) -> bool:
        return exists(self.settings.index)

    @cached_property
    def files(self) -> list[Transcript]:
        """The transcripts of the index."""
        return self.store.files() if self.store else []

    @cached_property
    def known(self) -> dict[str, tuple[int, int, int, str]]:
        """What the last sweep saw: path -> (size, mtime in ns, inode, copy)."""
        return self.store.sources() if self.store else {}

    @cached_property
    def mounted(self) -> bool:
        return os.path.exists(os.path.join(self.settings.archive, append.MARKER))

    @cached_property
    def seen_archive(self) -> bool:
        """Was an archive at this place used before?"""
        try:
            with open(os.path.join(self.settings.state, append.SEEN), "rb") as file:
                return os.fsencode(self.settings.archive) in file.read().splitlines()
        except OSError:
            return False

    @cached_property
    def files_kept(self) -> bool:
        """Are there copies of transcripts?"""
        from recall.actions.reindex import placed
        from recall.archive.store import copies

        try:
            return any(
                (found := placed(copy.path)) and found[1].kind == "main" for copy in copies(self.settings.archive)
            )
        except OSError:
            return False

    @cached_property
    def adopted(self) -> frozenset[str]:
        return adopted(self.settings.archive)

    def copy_of(self, found: Found) -> str:
        """Where the copy of a client's file is, or would be (absolute)."""
        copy = append.locate(self.settings.archive, found.place.archive.removesuffix(".zst"), self.adopted)
        return os.path.join(self.settings.archive, copy)

    @cached_property
    def swept(self) -> swept.Swept | None:
        return swept.last(self.settings)

    @cached_property
    def journal(self) -> Journal | None:
        """What the installer of ours noted; None where it did nothing, or cannot be read."""
        try:
            return load(self.settings.state)
        except (RecallError, OSError):
            return None

    # -- what the clients have ---------------------------------------------------------------------------------

    @cached_property
    def homes(self) -> list[Home]:
        """The homes that exist."""
        return [home for home in homes(self.settings) if os.path.isdir(home.path)]

    @cached_property
    def _walked(self) -> tuple[list[tuple[Home, Found]], dict[str, str]]:
        problems: dict[str, str] = {}
        out: list[tuple[Home, Found]] = []
        gone = purged_ids(self.settings)
        for home in self.homes:
            for found in walk(home, lambda path, problem: problems.__setitem__(path, problem.strerror or str(problem))):
                if found.place.session not in gone:
                    out.append((home, found))
        return out, problems

    @property
    def sources(self) -> list[tuple[Home, Found]]:
        """Every file of a client that is ours to keep."""
        return self._walked[0]

    @property
    def walk_problems(self) -> dict[str, str]:
        return self._walked[1]

    def label(self, what: str, home: Home) -> str:
        """The name of a check about one home: of further homes with their path."""
        plain = home.prefix == home.client
        return f"{home.client} {what}" if plain else f"{home.client} {what} ({self.short(home.path)})"

    def short(self, path: str) -> str:
        """A path with `~` for HOME."""
        home = self.settings.home
        return "~" + path[len(home) :] if path == home or path.startswith(home + os.sep) else path


def read_json(path: str) -> Read:
    """A JSON object in a file."""
    try:
        with open(path, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return Read(None, "no regular file")
            data = file.read(_LONGEST)
        found = json.loads(data)
    except FileNotFoundError:
        return Read(None, "")
    except OSError as problem:
        return Read(None, problem.strerror or str(problem))
    except (ValueError, RecursionError) as problem:
        return Read(None, f"no JSON: {problem}")
    return Read(found, "") if isinstance(found, dict) else Read(None, "no JSON object")
