"""Codex: where its rollouts lie and what their records mean.

Facts observed with versions 0.47 to 0.171 and the flat format of August 2025. One session is one file; most of what is
said is written twice or thrice (as input of the model, as an event, as a completed item), so texts are taken from
whichever copy comes first and the others are known by their words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from recall.clients.codex_places import (
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
from recall.clients.jsonl import Object, mapping, string, value
from recall.clients.reader import Reader
from recall.clients.stamp import seconds, widen
from recall.clients.tooluse import describe
from recall.clients.wording import Heard, asked, fingerprint, heard, working_directory, wrapper
from recall.core.lazy import lazy
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


_KEPT = 48  # texts and calls whose other copies are still awaited
_UNKNOWN = 50

_AS_INPUT, _AS_EVENT, _AS_ITEM = 1, 2, 4  # the three places where one text may stand

_QUIET_TYPES = frozenset(("world_state", "token_usage_record", "inter_agent_communication_metadata", "state"))
_QUIET = frozenset(
    """
    ghost_snapshot token_count task_started task_complete turn_started turn_complete error warning
    stream_error thread_settings_applied background_event exec_command_begin exec_command_output_delta
    exec_approval_request apply_patch_approval_request patch_apply_begin patch_apply_end patch_apply_updated
    turn_diff plan_update plan_delta mcp_tool_call_begin mcp_tool_call_end mcp_startup_update mcp_startup_complete
    web_search_begin web_search_end view_image_tool_call image_generation_begin image_generation_end
    dynamic_tool_call_request dynamic_tool_call_response exited_review_mode undo_started undo_completed
    guardian_assessment sub_agent_activity thread_goal_updated thread_rolled_back item_started
    collab_agent_spawn_begin collab_agent_spawn_end collab_agent_interaction_begin collab_agent_interaction_end
    collab_waiting_begin collab_waiting_end collab_close_begin collab_close_end collab_resume_begin
    collab_resume_end agent_message_delta agent_message_content_delta agent_reasoning_delta
    agent_reasoning_section_break reasoning_content_delta request_user_input elicitation_request
    terminal_interaction session_configured shutdown_complete deprecation_notice model_reroute hook_started
    hook_completed compaction compaction_summary compaction_trigger context_compaction additional_tools other
    """.split()  # noqa: SIM905 - a list of words
)
_QUIET_ITEMS = frozenset(
    ("Plan", "FileChange", "McpToolCall", "Extension", "WebSearch", "ImageView", "EnteredReviewMode", "HookPrompt")
)

_CALLS = frozenset(
    (
        "function_call",
        "custom_tool_call",
        "local_shell_call",
        "web_search_call",
        "tool_search_call",
        "image_generation_call",
        "mcp_tool_call",
        "tool_call",
    )
)
_OUTPUTS = frozenset(("function_call_output", "custom_tool_call_output", "mcp_tool_call_output", "tool_search_output"))

_LOOK = 600  # bytes of a line's head that are looked at
_HEAD = rb'\{"timestamp":"[^"\\]*",(?:"ordinal":\d+,)?"type":"'
_INSIDE = rb'","payload":\{"type":"'
_ITEM = rb'item_completed",(?:"(?:thread_id|turn_id)":"[^"\\]*",){0,2}"item":\{"type":"'
_DEVELOPER = rb'message",(?:"(?:id|status)":(?:"[^"\\]*"|null),){0,2}"role":"developer'
_NEVER = (
    rb"(?:event_msg" + _INSIDE + rb"(?:token_count|task_complete|task_started)"
    rb"|response_item" + _INSIDE + rb"(?:ghost_snapshot|" + _DEVELOPER + rb")"
    rb"|world_state|token_usage_record)"
)
_PRINTED_ONLY = (
    rb"response_item" + _INSIDE + rb"(?:function_call_output|custom_tool_call_output|reasoning)"
    rb"|event_msg" + _INSIDE + rb"(?:agent_reasoning|exec_command_end|" + _ITEM + rb"(?:CommandExecution|Reasoning))"
)
_SPOKEN_ONLY = (
    rb"session_meta|turn_context|compacted|event_msg" + _INSIDE + rb"(?:user_message|agent_message)"
    rb"|response_item" + _INSIDE + rb"message"
)
_OVER_ALWAYS = lazy(_HEAD + rb"(?:" + _NEVER + rb')"')
_OVER_WHEN_SPOKEN = lazy(_HEAD + rb"(?:" + _PRINTED_ONLY + rb"|" + _NEVER + rb')"|\{"record_type":"state"\}')
_OVER_WHEN_PRINTED = lazy(_HEAD + rb"(?:" + _SPOKEN_ONLY + rb"|" + _NEVER + rb')"')
_TYPE = b'"type":"'
_IN_LISTS = (b'input_text"', b'output_text"', b'summary_text"', b'reasoning_text"', b'input_image"', b'text"')
_TURN = lazy(
    _HEAD + rb'turn_context","payload":\{(?:"[a-z_]+":(?:"[^"\\]*"|null|true|false|\[\]),){0,6}?"cwd":"([^"\\]*)"'
)


def parse(
    lines: Iterable[Line], facts: Facts, want: Collection[int], *, whole: bool = False, hints: bool = True
) -> Iterator[Record]:
    """See `Client.parse`. Without `hints` every line is read as JSON: slower, with the same result."""
    yield from _Reader(facts, want, whole).read(lines, hints)


class _Reader(Reader):
    """Turns the records of one rollout into `Record`s and facts."""

    def __init__(self, facts: Facts, want: Collection[int], whole: bool = False) -> None:
        super().__init__(facts, want, whole)
        self.folder = facts.last_cwd.encode("utf-8", "replace")
        self.over = _OVER_ALWAYS
        if self.counting and not (self.printing or self.bodies):
            self.over = _OVER_WHEN_SPOKEN
        elif not self.counting:
            self.over = _OVER_WHEN_PRINTED

    def passes_over(self, raw: bytes) -> bool:
        """Can the line be left unread? A line that was glued to another or torn off is always read."""
        match = self.over.match(raw, 0, _LOOK)
        if match is None:
            # What a turn is set to is said again at every turn; only a new folder is news.
            if raw.find(b'"turn_context"', 0, 100) < 0 or not self.folder:
                return False
            match = _TURN.match(raw, 0, _LOOK)
            if match is None or match[1] != self.folder:
                return False
        if not raw.endswith((b"}", b"}\r")):
            return False
        # A second record, glued to the first or behind a torn one, would have a type of its own.
        at = raw.find(_TYPE, match.end())
        while at >= 0:
            at += len(_TYPE)
            if not raw.startswith(_IN_LISTS, at):
                return False
            at = raw.find(_TYPE, at)
        return True

    def add(
        self, zone: int, text: str, at: int, time: float, tool: str = "", call: str = "", failed: bool = False
    ) -> None:
        if text and zone in self.want:
            self.out.append(Record(zone, text, at, time, tool, call, failed))

    def take(self, item: Object, at: int) -> None:
        facts = self.facts
        kind = item.get("type")
        # The flat format of 2025-08 has no time on its records: the session's start stands for it.
        time = seconds(item.get("timestamp"))
        payload = mapping(item.get("payload"))
        if kind == "response_item" or kind == "event_msg":
            self.item(kind, payload, at, time)
        elif kind == "session_meta":
            if self.counting:
                self.meta(payload, at, time)
        elif kind == "turn_context":
            if self.counting:
                self.moved(payload.get("cwd"))
        elif kind == "compacted":
            if self.counting:
                facts.summary = True
                self.add(ASIDE, string(payload.get("message")), at, time, "summary")
        elif kind is None and "record_type" in item:
            pass
        elif kind is None and isinstance(item.get("id"), str) and "timestamp" in item:
            if self.counting:
                self.meta(item, at, time)
        elif isinstance(kind, str) and (kind == "message" or kind == "reasoning" or kind in _CALLS or kind in _OUTPUTS):
            self.item("response_item", item, at, time or facts.started)
        elif self.counting and not (isinstance(kind, str) and kind in _QUIET_TYPES):
            self.strange(kind)

    def item(self, outer: str, payload: Object, at: int, time: float) -> None:
        kind = payload.get("type")
        if kind is None and "role" in payload:
            kind = "message"
        if kind == "message":
            if self.counting:
                self.message(payload, at, time)
        elif kind == "item_completed":
            self.completed(mapping(payload.get("item")), at, time)
        elif kind == "user_message":
            if self.counting:
                self.user([string(payload.get("message"))], _AS_EVENT, at, time)
        elif kind == "agent_message":
            if self.counting:
                if outer == "event_msg":
                    self.answer(string(payload.get("message")), _AS_EVENT, at, time)
                else:  # from one agent to another
                    self.add(ASIDE, "\n".join(_texts(payload.get("content"))), at, time)
        elif not isinstance(kind, str):
            if self.counting:
                self.strange(kind)
        elif kind in _CALLS:
            self.call(kind, payload, at, time)
        elif kind in _OUTPUTS:
            if self.printing:
                self.output(payload, _printed(payload), _failed(payload), at, time)
        elif kind == "exec_command_end":
            if self.printing:
                self.output(payload, string(payload.get("aggregated_output")), _code(payload), at, time)
        elif kind == "reasoning":
            if self.bodies:
                for text in _texts(payload.get("summary")) + _texts(payload.get("content")):
                    self.thought(text, _AS_INPUT, at, time)
        elif kind == "agent_reasoning" or kind == "agent_reasoning_raw_content":
            if self.bodies:
                self.thought(string(payload.get("text")), _AS_EVENT, at, time)
        elif self.counting:
            self.event(kind, payload, at, time)

    def event(self, kind: str, payload: Object, at: int, time: float) -> None:
        if kind == "thread_name_updated":
            title = string(payload.get("thread_name")).strip()
            if title:
                self.facts.title = title[:500]
                self.facts.title_by = "user"
                self.facts.title_rank = 3
        elif kind == "context_compacted":
            self.facts.summary = True
        elif kind == "turn_aborted":
            self.facts.interrupted = True
        elif kind == "entered_review_mode":
            hint = string(payload.get("user_facing_hint"))
            self.typed(Heard(f"/review {hint}".strip(), "", 1), at, time)
        elif kind not in _QUIET:
            self.strange(kind)

    def meta(self, payload: Object, at: int, time: float) -> None:
        """The head of a rollout. A fork may have copied the head of its origin as well: the first one wins."""
        facts = self.facts
        number = string(payload.get("id"))
        if facts.began:
            return
        facts.began = True
        facts.session = number
        widen(facts, seconds(payload.get("timestamp")) or time)
        self.moved(payload.get("cwd"))
        facts.branch = string(mapping(payload.get("git")).get("branch"))
        facts.client_version = string(payload.get("cli_version"))
        source = payload.get("source")
        originator = string(payload.get("originator"))
        facts.entrypoint = originator or string(source)
        facts.headless = source == "exec" or originator.startswith("codex_exec")
        facts.fork_of = string(payload.get("forked_from_id"))
        ordinal = payload.get("forked_from_ordinal_exclusive")
        if isinstance(ordinal, int) and facts.fork_of:
            facts.fork_at = str(ordinal)
        if (isinstance(source, dict) and "subagent" in source) or payload.get("thread_source") == "subagent":
            spawned = mapping(mapping(mapping(source).get("subagent")).get("thread_spawn"))
            facts.sub = True
            parent = string(payload.get("session_id"))
            facts.parent = (
                string(payload.get("parent_thread_id"))
                or string(spawned.get("parent_thread_id"))
                or (parent if parent != number else "")
            )
        self.add(ASIDE, string(payload.get("instructions")), at, time)

    def moved(self, cwd: object) -> None:
        if isinstance(cwd, str) and cwd:
            self.facts.last_cwd = cwd
            self.folder = cwd.encode("utf-8", "replace")
            if not self.facts.cwd:
                self.facts.cwd = cwd

    def message(self, payload: Object, at: int, time: float) -> None:
        role = payload.get("role")
        texts = _texts(payload.get("content"))
        if role == "assistant":
            text = "\n".join(texts)
            if isinstance(payload.get("id"), str) and self.summary(text):
                self.facts.summary = True
                self.add(ASIDE, text, at, time, "summary")
            else:
                self.answer(text, _AS_INPUT, at, time)
        elif role == "user":
            kinds = mapping(payload.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
            if isinstance(kinds, list) and kinds and not any(str(each).startswith("user") for each in kinds):
                for text in texts:
                    self.moved(working_directory(text))
                return
            self.user(texts, _AS_INPUT, at, time)

    def summary(self, text: str) -> bool:
        """Is an answer one to the client, for a compaction? Where messages are told as items, an answer to the user was told so
        just before. (Observed with codex 0.171.0.)"""
        said = self.facts.said
        if not any(entry[1] & _AS_ITEM for entry in said):
            return False
        number = fingerprint(text.strip())
        return all(entry[0] != number for entry in said)

    def completed(self, item: Object, at: int, time: float) -> None:
        kind = item.get("type")
        if kind == "CommandExecution":
            if self.printing:
                self.output(item, string(item.get("aggregated_output")), _code(item), at, time)
        elif kind == "Reasoning":
            if self.bodies:
                for text in _texts(item.get("summary_text")) + _texts(item.get("raw_content")):
                    self.thought(text, _AS_ITEM, at, time)
        elif not self.counting:
            pass
        elif kind == "UserMessage":
            self.user(_texts(item.get("content")), _AS_ITEM, at, time)
        elif kind == "AgentMessage":
            self.answer("\n".join(_texts(item.get("content"))), _AS_ITEM, at, time)
        elif kind == "ContextCompaction":
            self.facts.summary = True
        elif not (isinstance(kind, str) and kind in _QUIET_ITEMS):
            self.strange(f"item_completed {kind}")

    def user(self, texts: list[str], source: int, at: int, time: float) -> None:
        """A message under the user's name: as an input of the model it may be the harness's, as an event it is not."""
        parts = []
        for text in texts:
            self.moved(working_directory(text))
            said = heard(text)
            if source == _AS_INPUT and said.typed and wrapper(said.typed):
                said = Heard("", said.typed, 0)
            parts.append(said)
        beside = "\n".join(part.beside for part in parts if part.beside)
        typed = "\n".join(part.typed for part in parts if part.typed)
        if not typed:
            if source == _AS_INPUT:
                self.add(ASIDE, beside, at, time)
            return
        if _seen(self.facts.said, fingerprint(typed), source):
            return
        self.add(ASIDE, beside, at, time)
        self.typed(
            Heard(typed, "", max(part.strength for part in parts), next((part.ask for part in parts if part.ask), "")),
            at,
            time,
        )

    def typed(self, said: Heard, at: int, time: float) -> None:
        widen(self.facts, time)
        self.facts.interrupted = False
        if self.facts.sub:
            self.add(ASIDE, said.typed, at, time)
        else:
            asked(self.facts, said)
            self.add(USER, said.typed, at, time)

    def answer(self, text: str, source: int, at: int, time: float) -> None:
        text = text.strip()
        if not text or _seen(self.facts.said, fingerprint(text), source):
            return
        widen(self.facts, time)
        self.facts.answers += 1
        self.facts.interrupted = False
        self.add(ASIDE if self.facts.sub else ASSISTANT, text, at, time)

    def thought(self, text: str, source: int, at: int, time: float) -> None:
        if text and not _seen(self.facts.thought, fingerprint(text), source):
            self.add(THINKING, text, at, time)

    def call(self, kind: str, payload: Object, at: int, time: float) -> None:
        facts = self.facts
        tool, arguments = _called(kind, payload)
        use = describe(tool, arguments, self.bodies, whole=self.whole)
        if self.counting:
            widen(facts, time)
            facts.calls += 1
            facts.edits += use.edit
            facts.searches += use.search
            self.add(ACTION, use.action, at, time, tool, string(payload.get("call_id")))
        self.add(THINKING, use.body, at, time, tool, string(payload.get("call_id")))
        number = payload.get("call_id")
        if self.printing and isinstance(number, str):
            facts.tools[number] = tool

    def output(self, payload: Object, text: str, code: int, at: int, time: float) -> None:
        """The first copy of what a call printed; it is told up to three times under one id. `code`: 0 it worked."""
        facts = self.facts
        number = string(payload.get("call_id")) or string(payload.get("id"))
        tool = string(payload.get("name"))
        if code and not text.strip():
            text = f"Exit code {code}"
        if number:
            if number in facts.printed:
                return
            if not text:
                return
            facts.printed.append(number)
            del facts.printed[:-_KEPT]
            tool = facts.tools.pop(number, tool)
        self.add(OUTPUT, text, at, time, tool, number, code != 0)

    def strange(self, kind: object) -> None:
        facts = self.facts
        if not isinstance(kind, str) or not kind:
            facts.skip("no type")
            return
        kind = kind[:60]
        if kind in facts.unknown or len(facts.unknown) < _UNKNOWN:
            facts.unknown[kind] = facts.unknown.get(kind, 0) + 1


def _seen(texts: list[list[int]], number: int, source: int) -> bool:
    """Is this text another copy of one that was taken? The same text from the same place is said anew."""
    for entry in reversed(texts):
        if entry[0] == number:
            if entry[1] & source:
                entry[1] = source
                return False
            entry[1] |= source
            return True
    texts.append([number, source])
    del texts[:-_KEPT]
    return False


def _texts(content: object) -> list[str]:
    """The texts of a list of content blocks, whatever the blocks are called; images have none."""
    if isinstance(content, str):
        return [content] if content else []
    if not isinstance(content, list):
        return []
    found = []
    for block in content:
        text = block if isinstance(block, str) else string(mapping(block).get("text"))
        if text:
            found.append(text)
    return found


def _called(kind: str, payload: Object) -> tuple[str, object]:
    """Name and arguments of a tool call in any of its forms."""
    tool = string(payload.get("name")) or string(mapping(payload.get("function")).get("name"))
    server = string(payload.get("namespace"))  # of an MCP server: `mcp__recall`, the tool's own name apart
    if server.startswith("mcp__") and tool:
        tool = f"{server.rstrip('_')}__{tool}"
    if kind == "custom_tool_call":
        return tool or "tool", payload.get("input")
    if kind == "local_shell_call":
        return tool or "shell", payload.get("action")
    if kind == "web_search_call":
        action = mapping(payload.get("action"))
        return "web_search", {key: text for key, text in action.items() if key != "queries"}
    arguments = payload.get("arguments")
    if isinstance(arguments, str):
        read = value(arguments)
        arguments = read if isinstance(read, dict) else arguments
    return tool or kind.removesuffix("_call"), arguments


_HEADED = lazy(r"(?:Chunk ID|Exit code|Wall time): [^\n]*\n(?:[A-Z][^\n]{0,120}\n){0,5}?Output:\n")


_EXIT = lazy(r"^(?:Exit code:|Process exited with code) (-?\d{1,10})$", re.M)
_HEAD_STARTS = ("Exit code: ", "Command: ", "Chunk ID: ", "Wall time: ")


def _failed(payload: Object) -> int:
    """The exit code that the harness tells with the output of a call; 1 where it only says that it failed."""
    output = payload.get("output")
    if isinstance(output, dict):
        return 1 if output.get("success") is False else 0
    text = string(output)
    if text.startswith(_HEAD_STARTS):
        match = _EXIT.search(text, 0, max(text.find("\nOutput:", 0, 4000), 0) + 1)
        return int(match[1]) if match else 0
    if text.startswith('{"output":'):
        return _code(mapping(mapping(value(text)).get("metadata")))
    return 1 if text.startswith("apply_patch verification failed") else 0


def _code(told: Object) -> int:
    code = told.get("exit_code")
    return code if isinstance(code, int) else 0


def _printed(payload: Object) -> str:
    """What a tool printed: plain, in blocks, or wrapped in JSON or under a head of the harness."""
    output = payload.get("output")
    if isinstance(output, dict):
        output = output.get("content") or output.get("output")
    if isinstance(output, list):
        return "\n".join(_texts(output))
    text = string(output)
    if text.startswith('{"output":'):
        inner = mapping(value(text)).get("output")
        return inner if isinstance(inner, str) else text
    match = _HEADED.match(text)
    return text[match.end() :] if match else text
