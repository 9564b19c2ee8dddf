"""What is known of one transcript file: apart from the other values, since searching needs none of it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Facts:
    """What is known of one transcript file; also the parser's state to go on from.

    Filled by a client's `parse`, kept as JSON beside the index rows (`to_dict`, `from_dict`), so that
    a transcript that grew is continued where it was left. Counts follow the rule for events: user
    messages, assistant messages once by their id, tool calls.
    """

    session: str = ""  # the id that the records name
    parent: str = ""  # of a sub-agent: the session that it belongs to
    cwd: str = ""  # the launch directory: the first one named
    last_cwd: str = ""
    branch: str = ""
    client_version: str = ""
    entrypoint: str = ""  # how it was started, in the client's words
    headless: bool = False  # print mode, exec: hidden unless asked for
    sub: bool = False  # every record belongs to a sub-agent
    title: str = ""
    title_by: str = ""  # 'user', 'client' (generated) or ''
    first_ask: str = ""  # the first real request of the human, up to 2,000 characters
    last_ask: str = ""
    started: float = 0.0
    updated: float = 0.0
    users: int = 0  # messages typed by the human
    answers: int = 0  # assistant messages, counted once by their id
    calls: int = 0  # tool calls
    edits: int = 0  # calls that changed a file
    searches: int = 0  # calls of recall itself or of its skill
    last_answer_id: str = ""
    fork_of: str = ""  # the session named as origin of a fork
    fork_at: str = ""  # uuid or ordinal of the last record shared with the origin
    summary: bool = False  # a compaction happened
    interrupted: bool = False  # the human stopped the assistant, and nothing was said since
    uuids: list[int] = field(default_factory=list)  # crc32 of the uuid of each user and assistant record, in order
    tools: dict[str, str] = field(default_factory=dict)  # open tool calls: id -> tool name, until their result
    ask_strength: int = 0  # of `first_ask`: 1 only small talk or a bare command so far, 2 a real request
    title_rank: int = 0  # of `title`: 1 a summary of some other branch, 2 generated, 3 the user's
    began: bool = False  # the conversation, or the head of the file where there is one, was seen
    queued: list[int] = field(default_factory=list)  # fingerprints of prompts typed while busy, until sent
    prompts: list[int] = field(default_factory=list)  # beginnings of the last prompts that came as records
    ahead: list[int] = field(default_factory=list)  # [beginning, length] of a prompt known before its record came
    leaves: dict[str, str] = field(default_factory=dict)  # summaries of a branch whose last record was not seen yet
    said: list[list[int]] = field(default_factory=list)  # [fingerprint, sources] of the last texts written twice
    thought: list[list[int]] = field(default_factory=list)  # the same of reasoning
    printed: list[str] = field(default_factory=list)  # the last tool calls whose output was taken
    unknown: dict[str, int] = field(default_factory=dict)  # record types that the parser does not know
    skipped: dict[str, int] = field(default_factory=dict)  # lines that are not records: why -> count

    @property
    def events(self) -> int:
        return self.users + self.answers + self.calls

    def skip(self, why: str) -> None:
        self.skipped[why] = self.skipped.get(why, 0) + 1

    def to_dict(self) -> dict[str, object]:
        """The fields that differ from their defaults, as JSON types; `uuids` are left out (kept apart)."""
        out: dict[str, object] = {}
        for name in self.__slots__:
            value = getattr(self, name)
            if value and name != "uuids":
                out[name] = value
        return out

    @classmethod
    def from_dict(cls, data: dict[str, object]) -> Facts:
        """The inverse of `to_dict`; unknown keys are ignored."""
        facts = cls()
        for name in cls.__slots__:
            if name in data:
                setattr(facts, name, data[name])
        return facts
