"""Claude Code: where its transcripts lie and what their records mean.

Facts observed with versions 1.0 to 2.1.332. One session is one file of JSON lines under
`projects/<folder>/`; an assistant message is spread over several records, one a content block; most bytes are tool
results, copies of them and the client's own prompt.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from recall.clients.claude_places import (
    files,
    folders,
    home_default,
    home_variable,
    name,
    original,
    place,
    resume,
    transcripts,
)
from recall.clients.jsonl import GLUED, Object, mapping, string
from recall.clients.reader import Reader
from recall.clients.stamp import seconds, widen
from recall.clients.tooluse import cut, describe
from recall.clients.wording import NOTHING, Heard, after, asked, beginning, fingerprint, heard, printed
from recall.core.model import ACTION, ASIDE, ASSISTANT, OUTPUT, THINKING, USER, Line, Record

if TYPE_CHECKING:
    from recall.core.facts import Facts

__all__ = [
    "files",
    "folders",
    "home_default",
    "home_variable",
    "name",
    "original",
    "parse",
    "place",
    "resume",
    "transcripts",
]


_KEPT = 50  # how many queued prompts, summaries and unknown types are remembered

_QUIET = frozenset(
    """
    progress file-history-snapshot file-history-delta api-request api-request-shape api-request-blob
    mode permission-mode atis-latch tools-used cost-state agent-name agent-color agent-setting bridge-session
    worktree-state relocated frame-link tag started result content-replacement attribution-snapshot
    marble-origami-commit marble-origami-snapshot context-collapse-commit context-collapse-snapshot task-summary
    speculation-accept
    """.split()  # noqa: SIM905 - a list of words
)

_CUT_AT = 200  # UTF-16 units of a prompt in `last-prompt`
_NOT_AS_TYPED = ("/", "!", "#", "<", "[")  # commands, attachments: a record words them in another way

_INTERRUPTED = "[Request interrupted by user"

_LOOK = 1500  # bytes of a line's head that are looked at
_NESTED = b':{"'
_RESULT, _WORDS = 1, 2  # its groups; the third are records without any content

# Matched where the first nested object of a record begins: all before it are plain fields.
_FIRST_NESTED = re.compile(
    rb'(?<="message":)\{"role":"user","content":'
    rb'(?:(\[\{(?:"tool_use_id":"[^"\\]*",)?"type":"tool_result")|("))'
    rb'|((?<="attachment":)\{"type":"(?!queued_command")[a-z_]+"|(?<="type":"progress","data":)\{)'
)

_TYPE = b'"type":"'
_IN_RESULTS = (b'image"', b'base64"', b'create"', b'update"', b'tool_reference"', b'tool_result"')
_DULL_STARTS = (b'{"type":"file-history-', b'{"type":"api-request')


def parse(
    lines: Iterable[Line], facts: Facts, want: Collection[int], *, whole: bool = False, hints: bool = True
) -> Iterator[Record]:
    """See `Client.parse`. Without `hints` every line is read as JSON: slower, with the same result."""
    yield from _Reader(facts, want, whole).read(lines, hints)


class _Reader(Reader):
    """Turns the records of one file into `Record`s and facts."""

    def passes_over(self, raw: bytes) -> bool:
        """Can the line be left unread? Told from the order in which the client writes the fields of a record.

        A line that was glued to another or torn off is always read.
        """
        if not raw.endswith((b"}", b"}\r")):
            return False
        if raw.startswith(_DULL_STARTS):
            return _alone(raw)
        start = raw.find(_NESTED, 0, _LOOK)
        if start < 0:
            return False
        match = _FIRST_NESTED.match(raw, start + 1)
        if match is None or raw.find(b"[", 0, start) >= 0:
            return False
        kind = match.lastindex
        if kind == _RESULT:
            return not self.printing and _lone_result(raw, match.end())
        if kind == _WORDS and self.counting:
            return False
        return _alone(raw)

    def add(
        self, zone: int, text: str, at: int, time: float, tool: str = "", call: str = "", failed: bool = False
    ) -> None:
        if text and zone in self.want:
            self.out.append(Record(zone, text, at, time, tool, call, failed))

    def take(self, item: Object, at: int) -> None:
        kind = item.get("type")
        if kind == "assistant":
            self.assistant(item, at)
        elif kind == "user":
            self.user(item, at)
        elif self.counting:
            self.other(kind, item, at)

    def user(self, item: Object, at: int) -> None:
        content = mapping(item.get("message")).get("content")
        time = seconds(item.get("timestamp"))
        texts: list[str] = []
        if isinstance(content, str):
            texts.append(content)
        elif isinstance(content, list):
            results = False
            for block in content:
                if isinstance(block, str):
                    texts.append(block)
                elif isinstance(block, dict):
                    kind = block.get("type")
                    if kind == "text":
                        texts.append(string(block.get("text")))
                    elif kind == "tool_result":
                        results = True
                        if self.printing:
                            self.result(block, at, time)
            if results and not texts:
                return
        if not self.counting:
            return
        self.about(item, time)
        if item.get("isCompactSummary") is True:
            self.facts.summary = True
            self.add(ASIDE, "\n".join(texts), at, time, "summary")
            return
        if texts and texts[0].startswith(_INTERRUPTED) and item.get("isSidechain") is not True:
            self.facts.interrupted = True
        said = _all_heard(texts)
        self.knows(*texts, said.typed)
        if item.get("isSidechain") is True or not _from_a_human(item):
            self.add(ASIDE, f"{said.typed}\n{said.beside}".strip(), at, time)
        elif item.get("isMeta") is True:
            # A plain text is a caveat or a reminder, a list the body of a skill or of a command's template.
            if isinstance(content, list):
                self.add(ASIDE, f"{said.typed}\n{said.beside}".strip(), at, time)
        else:
            self.add(ASIDE, said.beside, at, time)
            self.typed(said, at, time)

    def typed(self, said: Heard, at: int, time: float) -> None:
        if not said.typed or not said.strength:
            return
        facts = self.facts
        if facts.queued:
            number = fingerprint(said.typed)
            if number in facts.queued:
                facts.queued.remove(number)
                return
        if facts.ahead and facts.ahead[0] == beginning(said.typed):
            self.add(USER, after(said.typed, facts.ahead[1]), at, time)
            facts.ahead = []
            return
        facts.interrupted = False
        asked(facts, said)
        self.add(USER, said.typed, at, time)

    def assistant(self, item: Object, at: int) -> None:
        facts = self.facts
        message = mapping(item.get("message"))
        time = seconds(item.get("timestamp"))
        if self.counting:
            self.about(item, time)
        if item.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>":
            return
        if self.counting:
            number = string(message.get("id"))
            if not number or number != facts.last_answer_id:
                facts.answers += 1
                facts.last_answer_id = number
        zone = ASIDE if item.get("isSidechain") is True else ASSISTANT
        if self.counting and zone == ASSISTANT:
            facts.interrupted = False
        content = message.get("content")
        if isinstance(content, str):
            self.add(zone, content.strip(), at, time)
        elif isinstance(content, list):
            for block in content:
                if isinstance(block, dict):
                    kind = block.get("type")
                    if kind == "text":
                        text = string(block.get("text")).strip()
                        if text != "(no content)":
                            self.add(zone, text, at, time)
                    elif kind == "thinking":
                        self.add(THINKING, string(block.get("thinking")), at, time)
                    elif kind == "tool_use" or kind == "server_tool_use" or kind == "mcp_tool_use":
                        self.call(block, zone, at, time)

    def call(self, block: Object, zone: int, at: int, time: float) -> None:
        facts = self.facts
        tool = string(block.get("name")) or "tool"
        arguments = block.get("input")
        use = describe(tool, arguments, self.bodies, whole=self.whole)
        call = string(block.get("id"))
        if self.counting:
            facts.calls += 1
            facts.edits += use.edit
            facts.searches += use.search
            self.add(ACTION, use.action, at, time, tool, call)
            if tool in _SHOWN:
                self.add(zone, _shown(mapping(arguments)), at, time, "", call)
        if tool not in _SHOWN:
            self.add(THINKING, use.body, at, time, tool, call)
        if self.printing and call and block.get("type") == "tool_use":
            facts.tools[call] = tool

    def result(self, block: Object, at: int, time: float) -> None:
        call = string(block.get("tool_use_id"))
        tool = self.facts.tools.pop(call, "") if call else ""
        content = block.get("content")
        if isinstance(content, list):
            content = "\n".join(
                string(part.get("text")) for part in content if isinstance(part, dict) and part.get("type") == "text"
            )
        self.add(OUTPUT, string(content), at, time, tool, call, block.get("is_error") is True)

    def about(self, item: Object, time: float) -> None:
        """What any record of the conversation says of its session."""
        facts = self.facts
        if time > facts.updated or time < facts.started:
            widen(facts, time)
        cwd = item.get("cwd")
        if cwd != facts.last_cwd and isinstance(cwd, str) and cwd:
            facts.last_cwd = cwd
            facts.cwd = facts.cwd or cwd
        branch = item.get("gitBranch")
        if branch != facts.branch and isinstance(branch, str) and branch and branch != "HEAD":
            facts.branch = branch
        program = item.get("version")
        if program != facts.client_version and isinstance(program, str):
            facts.client_version = program
        if not facts.session:
            facts.session = string(item.get("sessionId"))
        if not facts.entrypoint:
            facts.entrypoint = string(item.get("entrypoint"))
            facts.headless = facts.entrypoint.startswith("sdk-")
        if "forkedFrom" in item:
            origin = mapping(item["forkedFrom"])
            facts.fork_of = facts.fork_of or string(origin.get("sessionId"))
            facts.fork_at = string(origin.get("messageUuid")) or facts.fork_at
        kind = item.get("type")
        if kind == "user" or kind == "assistant":
            side = item.get("isSidechain") is True
            if not side:
                if facts.sub:
                    facts.sub = False
                    facts.parent = ""
            elif not facts.began:
                facts.sub = True
            if facts.sub and not facts.parent:
                facts.parent = facts.session
            facts.began = True
            uuid = item.get("uuid")
            if isinstance(uuid, str) and uuid:
                number = zlib.crc32(uuid.encode("utf-8", "replace"))
                facts.uuids.append(number)
                if facts.leaves:
                    summary = facts.leaves.pop(str(number), "")
                    if summary:
                        self.title(summary, 2)

    def title(self, text: object, rank: int) -> None:
        """Take a title unless a better one is known; of the same rank the last one wins."""
        words = string(text).strip()
        if words and rank >= self.facts.title_rank:
            self.facts.title = words[:500]
            self.facts.title_rank = rank
            self.facts.title_by = "user" if rank == 3 else "client"

    def other(self, kind: object, item: Object, at: int) -> None:
        """Records that are neither the human's nor the model's."""
        facts = self.facts
        if not isinstance(kind, str) or not kind:
            facts.skip("no type")
        elif kind in _QUIET:
            pass
        elif kind == "system":
            self.system(item, at)
        elif kind == "attachment":
            attached = mapping(item.get("attachment"))
            if attached.get("type") == "queued_command":
                self.queued(attached, item, at)
        elif kind == "queue-operation":
            # A prompt typed while the model was busy; older versions write it nowhere else. What is
            # queued before the conversation began comes again as an ordinary record.
            if facts.began and item.get("operation") == "enqueue":
                self.enqueued(string(item.get("content")), at, seconds(item.get("timestamp")))
        elif kind == "last-prompt":
            self.last_prompt(string(item.get("lastPrompt")), at)
        elif kind == "custom-title":
            self.title(item.get("customTitle"), 3)
        elif kind == "ai-title":
            self.title(item.get("aiTitle"), 2)
        elif kind == "summary":
            self.summary(item)
        elif kind == "pr-link":
            self.add(ACTION, f"pr-link #{item.get('prNumber')} {string(item.get('prUrl'))}", at, 0.0, "pr-link")
        else:
            kind = kind[:60]
            if kind in facts.unknown or len(facts.unknown) < _KEPT:
                facts.unknown[kind] = facts.unknown.get(kind, 0) + 1

    def system(self, item: Object, at: int) -> None:
        self.about(item, 0.0)
        subtype = item.get("subtype")
        if subtype == "compact_boundary":
            self.facts.summary = True
        elif subtype == "away_summary":
            self.add(ASIDE, string(item.get("content")).strip(), at, seconds(item.get("timestamp")))

    def enqueued(self, text: str, at: int, time: float) -> None:
        said = heard(text)
        self.knows(text, said.typed)
        if said.strength:
            self.typed(said, at, time)
            self.facts.queued.append(fingerprint(said.typed))
            del self.facts.queued[:-_KEPT]

    def last_prompt(self, text: str, at: int) -> None:
        """The client's note of the newest prompt: on one line, cut after 200 characters, written again and again.

        It can stand before the record of the prompt itself, and is all that is left of it where the client was killed
        in between. What it says of a prompt is then taken from here, and the rest from the record, if that comes.
        """
        facts = self.facts
        text = text.strip()
        if not facts.began or not text or text.startswith(_NOT_AS_TYPED) or "<pasted_content" in text:
            return
        number = beginning(text)
        if number in facts.prompts:
            self.knows(text)
            return
        if text.endswith("…") and len(text) > _CUT_AT:
            words = text[:-1].rsplit(None, 1)[0]
            text = words if len(words) > _CUT_AT // 2 else text[:-1]
        said = heard(text)
        if said.typed == text:
            self.typed(said, at, facts.updated)
            facts.ahead = [number, printed(text)]
            self.knows(text)

    def knows(self, *texts: str) -> None:
        """These came as records: what `last_prompt` says of them is nothing new."""
        prompts = self.facts.prompts
        for text in texts:
            if text:
                number = beginning(text)
                if number in prompts:
                    prompts.remove(number)
                prompts.append(number)
        del prompts[:-_KEPT]

    def queued(self, attached: Object, item: Object, at: int) -> None:
        """A prompt that reached the model in the middle of a turn."""
        prompt = attached.get("prompt")
        if attached.get("commandMode") == "task-notification" or not _from_a_human(attached):
            return
        texts = [prompt] if isinstance(prompt, str) else []
        if isinstance(prompt, list):
            texts = [string(block.get("text")) for block in prompt if isinstance(block, dict)]
        said = _all_heard(texts)
        self.knows(*texts, said.typed)
        time = seconds(item.get("timestamp"))
        if item.get("isSidechain") is True:
            self.add(ASIDE, said.typed, at, time)
        else:
            self.typed(said, at, time)

    def summary(self, item: Object) -> None:
        """A title that stands apart from the records, often at the top of a file that it is not about."""
        facts = self.facts
        text = string(item.get("summary")).strip()
        leaf = zlib.crc32(string(item.get("leafUuid")).encode("utf-8", "replace"))
        if leaf in facts.uuids:
            self.title(text, 2)
        elif text:
            self.title(text, 1)
            facts.leaves[str(leaf)] = text[:500]
            while len(facts.leaves) > _KEPT:
                del facts.leaves[next(iter(facts.leaves))]


def _alone(raw: bytes) -> bool:
    """Is there no second record on the line, glued to the first or behind a torn one?"""
    return raw.find(b'{"parentUuid":', 1) < 0 and GLUED.search(raw) is None


def _lone_result(raw: bytes, at: int) -> bool:
    """Does the rest of a line with a tool result, from `at`, hold neither another record nor words of the human?

    Either would have a type of its own, so only the places of `"type":"` are looked at.
    """
    found = raw.find(_TYPE, at)
    while found >= 0:
        value = found + len(_TYPE)
        if raw.startswith(b'text"', value):
            # The first block of a list, where the result itself would be, or the client's copy of a file: neither.
            if not (raw.startswith(b"[{", found - 2) or raw.startswith(b'text","file":', value)):
                return False
        elif not raw.startswith(_IN_RESULTS, value):
            return False
        found = raw.find(_TYPE, value)
    return True


_SHOWN = frozenset(("ExitPlanMode", "AskUserQuestion"))  # their input is read by the human, as an answer is


def _shown(arguments: Object) -> str:
    texts = [string(arguments.get("plan"))]
    questions = arguments.get("questions")
    if isinstance(questions, list):
        texts += [string(mapping(each).get("question")) for each in questions]
    return cut("\n".join(text for text in texts if text))


def _all_heard(texts: list[str]) -> Heard:
    """The parts of a message, heard one by one: a reminder is a block of its own beside the words."""
    if len(texts) == 1:
        return heard(texts[0])
    parts = [part for part in map(heard, texts) if part is not NOTHING]
    return Heard(
        "\n".join(part.typed for part in parts if part.typed),
        "\n".join(part.beside for part in parts if part.beside),
        max((part.strength for part in parts), default=0),
        next((part.ask for part in parts if part.ask), ""),
    )


def _from_a_human(item: Object) -> bool:
    """Newer versions name the origin of a prompt: other agents and finished tasks speak as the user, too."""
    kind = mapping(item.get("origin")).get("kind")
    return not isinstance(kind, str) or kind in ("human", "cli", "user", "")
