"""What recall needs to know of an agent whose transcripts it keeps: one small interface.

A client module holds facts and parsing, no input or output: the walker and the reader in `actions` do that
for all of them. A new client is one module with the names below, its samples under `tests/corpus`, and
a line in the table of `recall.clients`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from recall.core.model import Line, Place, Plan, Record

if TYPE_CHECKING:
    from recall.core.facts import Facts


class Places(Protocol):
    """Where an agent keeps its files, and how a session is resumed."""

    name: str
    """'claude', 'codex': also the folder in the archive."""

    folders: tuple[str, ...]
    """Folders under the client's home that hold transcripts, to be walked whole."""

    files: tuple[str, ...]
    """Single files under the client's home that are kept as well."""

    def place(self, path: str) -> Place | None:
        """What the file at `path` (relative to the client's home, with '/') is; None: not ours."""
        ...

    home_variable: str
    """The variable that names another home of the client, and `home_default` the one without it, relative to HOME."""

    home_default: str

    def resume(self, session: str, cwd: str, flags: tuple[str, ...], prompt: str = "") -> Plan:
        """The command that reopens a session; `prompt`: the first thing that it is told then."""
        ...

    def transcripts(self, session: str) -> tuple[str, ...]:
        """Where a transcript of this session may lie under the client's home: patterns as `glob` takes them. The id is
        made of letters, digits, `-`, `_` and `.` only."""
        ...

    def original(self, archive: str) -> str:
        """The inverse of `place`: where under the client's home a file would lie whose copy is at `archive` (without the
        folder of the client); '' where that cannot be told."""
        ...


class Client(Places, Protocol):
    """One agent. Modules implement this by module-level names."""

    def parse(
        self, lines: Iterable[Line], facts: Facts, want: Collection[int], *, whole: bool = False
    ) -> Iterator[Record]:
        """Records of the wanted zones, in order, updating `facts` on the way.

        Never raises for what a line holds: a line that is no record is counted in `facts.skipped`, a type
        that is not known in `facts.unknown`. Lines that cannot hold a wanted record may be passed over by a
        look at their bytes. `facts` may be a half-read file's: the next lines are then its continuation.
        `whole`: the bodies of tool inputs are not cut (for exact search; the index holds their ends).
        With `want` = PRINTED the counts and titles in `facts` are left as they are (a second pass).
        """
        ...
