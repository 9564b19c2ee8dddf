"""The values that the parts of recall hand each other.

Times are seconds since the epoch, UTC, as float; 0.0 stands for "not known". Offsets and lengths
are bytes in the (uncompressed) transcript. Text is str as the client wrote it, not yet redacted
unless the name says so.
"""

from __future__ import annotations

from typing import NamedTuple

# Zones: who is speaking, which is also how much a word found there is worth.
USER = 0  # what the human typed
ASSISTANT = 1  # what the assistant answered
ACTION = 2  # what it did: tool name, command, path, URL, commit or PR number
ASIDE = 3  # what nobody typed or answered: sub-agents, wrappers, templates, summaries of the client
THINKING = 4  # reasoning, and the bodies of tool inputs (file contents that were written)
OUTPUT = 5  # what tools printed

ZONE_NAMES = ("user", "assistant", "action", "aside", "thinking", "output")
SPOKEN = frozenset((USER, ASSISTANT, ACTION, ASIDE))
PRINTED = frozenset((THINKING, OUTPUT))
EVERYTHING = SPOKEN | PRINTED


class Line(NamedTuple):
    """One line of a transcript: where it starts, and its bytes without the line end."""

    at: int
    raw: bytes


class Record(NamedTuple):
    """One thing that was said or done, cut out of a transcript line.

    `zone` is one of the zone numbers above; `at` is the offset of the line it came from; `time` its
    time stamp; `tool` the name of the tool for ACTION and OUTPUT, else ''.
    """

    zone: int
    text: str
    at: int
    time: float
    tool: str = ""


class Place(NamedTuple):
    """What a file under a client's home is.

    `kind` is 'main' (a session's own transcript), 'sub' (a sub-agent's), 'companion' (kept, not
    indexed) or 'history' (the client's list of typed prompts and names). `archive` is the relative path of its copy.
    `session` is the id it belongs to, '' where only the records tell.
    """

    kind: str
    archive: str
    session: str


class Plan(NamedTuple):
    """A command to run: printed by `cmd`, run by `open`, shown by a dry run."""

    argv: tuple[str, ...]
    cwd: str
    title: str


class Session(NamedTuple):
    """What is known of one session: a row of the index.

    `no` is its number there. `chain_to` is the number of the session that holds all of this one's records (0: none),
    `chain` how many transcripts are one row with this one. `hidden`: headless; `meta`: it only searched for others;
    `lost`: only parts of it (sub-agents) are left. `words` counts what was spoken, `pieces` its rows.
    """

    no: int
    client: str
    id: str
    cwd: str = ""
    project: str = ""
    branch: str = ""
    title: str = ""
    title_by: str = ""
    ask: str = ""
    started: float = 0.0
    updated: float = 0.0
    messages: int = 0
    events: int = 0
    hidden: bool = False
    meta: bool = False
    lost: bool = False
    chain_to: int = 0
    chain: int = 1
    fork_of: str = ""
    words: int = 0
    pieces: int = 0


class Transcript(NamedTuple):
    """One transcript file of a session: a row of the index.

    `copy` is its path in the archive, `source` where the client keeps it (absolute), `done` the bytes taken in,
    `mark` the generation mark of the copy, `versions` those of parser, redaction and folding that read it.
    """

    no: int
    session: int
    client: str
    copy: str
    kind: str
    source: str
    done: int
    mark: str
    versions: str


class Occurrence(NamedTuple):
    """A word of the index in one row: `row` = session number << 20 | n, its zone (column), how often times its weight."""

    row: int
    zone: int
    times: float


class Hit(NamedTuple):
    """A session that answers a query. `tier`: 'all-terms', 'some-terms', 'typo' or '' (no terms).

    `why` lists (field, typed term, word found) for each term; `row` is the row of its best turn, 0: none.
    """

    session: Session
    tier: str
    score: float
    why: tuple[tuple[str, str, str], ...] = ()
    row: int = 0
    words: tuple[str, ...] = ()


def __getattr__(name: str) -> object:
    if name == "Facts":
        from recall.core.facts import Facts

        return Facts
    raise AttributeError(name)
