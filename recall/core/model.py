"""The values that the parts of recall hand each other.

Times are seconds since the epoch, UTC, as float; 0.0 stands for "not known". Offsets and lengths
are bytes in the (uncompressed) transcript. Text is str as the client wrote it, not yet redacted
unless the name says so.
"""

# No `from __future__ import annotations`: each as a string would be compiled when the module is loaded.
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
    time stamp; `tool` the name of the tool for ACTION, OUTPUT and the body of its input, 'summary' for the client's own
    summary of a compaction, else ''. `call` is the client's id of a tool call, on the action and on what came of it;
    `failed`: the output says that it did not work.
    """

    zone: int
    text: str
    at: int
    time: float
    tool: str = ""
    call: str = ""
    failed: bool = False


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
    """A command to run: printed by `cmd`, run by `open`, shown by a dry run.

    `variables` are what the command needs in its environment beside what is there (the client's home, where it is not
    the default one; '': it must not be set). What no client may see is the same for every plan: `recall.core.window`.
    """

    argv: tuple[str, ...]
    cwd: str
    title: str
    variables: tuple[tuple[str, str], ...] = ()


class Open(NamedTuple):
    """A session that a client has open now. Times are seconds since 1970, 0: not known."""

    session: str
    client: str
    pid: int = 0  # of the client; 0: not known
    cwd: str = ""
    name: str = ""  # what the client calls it
    state: str = ""  # busy, idle, waiting (for the person); '': not known
    waiting_for: str = ""  # what it waits for, in the client's words
    background: bool = False  # no terminal of its own
    tty: str = ""  # the client's terminal, `pts/3` or `ttys003`; '': none
    started: float = 0.0
    updated: float = 0.0


class Pane(NamedTuple):
    """One place of a terminal in which a program runs, as that terminal tells of it."""

    terminal: str  # the back-end's name
    id: str  # what the terminal's own commands take: `%3`, `12`
    tty: str = ""  # `pts/3` or `ttys003`; '': the terminal does not say
    pid: int = 0  # of the program that was started there; 0: not known
    title: str = ""
    cwd: str = ""
    where: str = ""  # which of several servers of that terminal: a socket's path, '' for the default


class Session(NamedTuple):
    """What is known of one session: a row of the index.

    `no` is its number there. `chain_to` is the number of the session that holds all of this one's records (0: none),
    `chain` how many transcripts are one row with this one. `hidden`: headless; `meta`: it only searched for others;
    `lost`: only parts of it (sub-agents) are left. `words` counts what was spoken, `pieces` its rows.
    `title_by`: 'user', 'card', 'client' or ''; `other_title` is the client's where the card's is shown.
    `status` and what follows is from its card, '' without one; `tags` and `entities` hold one a line.
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
    other_title: str = ""
    status: str = ""
    task: str = ""
    tags: str = ""
    entities: str = ""
    written_by: str = ""
    written_at: float = 0.0


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


Occurrence = tuple[int, int, float]
"""A word of the index in one row: the row (session number << 20 | n), its zone, how often times its weight. A plain tuple,
since a common word makes tens of thousands."""


class Glance(NamedTuple):
    """Of a session's row what decides whether it is shown, and where; the fields are those of `Session`."""

    no: int
    id: str
    client: str
    cwd: str
    project: str
    branch: str
    updated: float
    messages: int
    hidden: bool
    meta: bool
    lost: bool
    chain_to: int
    words: int
    pieces: int
    status: str
    tags: str


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


class Card(NamedTuple):
    """What a session was: one file `<session id>.md` in the data folder. See `docs/formats.md` for the file.

    `project` is the cwd; `first` and `last` times of the session, `written_at` of the card. `status` is 'done', 'in_progress' or
    'aborted'; `written_by` 'extract', 'hand' or the id of a model. `body` is free text behind the front matter. `extra` keeps
    keys that we do not know, in order, so that a card of a newer recall or an edited one loses nothing.
    """

    id: str
    client: str = "claude"
    project: str = ""
    first: float = 0.0
    last: float = 0.0
    messages: int = 0
    title: str = ""
    task: str = ""
    status: str = "in_progress"
    method: str = ""
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    next: str = ""
    written_by: str = "extract"
    written_at: float = 0.0
    body: str = ""
    extra: tuple[tuple[str, str], ...] = ()


class Handoff(NamedTuple):
    """Where a session stood, for the one that goes on: at most 25 lines and 2,000 characters as text.

    `next` are the steps, first one first; `by` 'extract' or the id of a model; `updated` when it was written.
    """

    id: str
    title: str
    project: str
    updated: float
    by: str
    task: str
    done: tuple[str, ...] = ()
    in_flight: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    gotchas: tuple[str, ...] = ()


class Extract(NamedTuple):
    """What code alone can tell of a session, from its records; all texts redacted, lists without repetitions, in the order of
    first use (files: most used first), each cut to a length that fits a card.
    """

    ask: str = ""  # the first real request
    last_ask: str = ""
    last_answer: str = ""
    edited: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()  # commands that failed, with the first line of what they said
    tools: tuple[tuple[str, int], ...] = ()
    skills: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    prs: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()  # of the assistant at the end, that nobody answered
    todo: tuple[str, ...] = ()  # open points of the last plan or to-do list
    interrupted: bool = False  # the last thing is a request or an action without an answer, or an interruption
    last_failed: bool = False  # the last command failed
    steps: tuple[str, ...] = ()  # what the last answer names as next
    named: tuple[str, ...] = ()  # what the user's own words name: tickets, identifiers, hosts, quoted and proper names


class Usage(NamedTuple):
    """What a model call took, in tokens, and what it cost in US dollars by the dated table."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float = 0.0


class Reply(NamedTuple):
    """A model's answer: the JSON object that the schema asked for, which model gave it, and what it took."""

    value: dict[str, object]
    model: str
    usage: Usage = Usage()
