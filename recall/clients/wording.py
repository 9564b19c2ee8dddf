"""What of a user record the human typed.

Clients send much under the user's name: reminders, notifications, the output of local commands, the state
of the editor, project instructions, the bodies of skills. `heard` tells the words apart from all that.
"""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, NamedTuple

from recall.core.lazy import lazy

if TYPE_CHECKING:
    from recall.core.facts import Facts

ASK_LENGTH = 2000

_SILENT = (  # blocks of the harness: nobody's words
    "system-reminder",
    "cross-session-message",
    "hook_prompt",
    "user-prompt-submit-hook",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "bash-stdout",
    "bash-stderr",
    "environment_context",
    "turn_aborted",
    "subagent_notification",
    "permissions instructions",
    "collaboration_mode",
    "model_switch",
    "personality_spec",
    "apps_instructions",
    "skills_instructions",
    "plugins_instructions",
    "multi_agent_mode",
    "network_rules",
)
_BESIDE = (  # what the editor or the project adds: searchable, but typed by nobody
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "user_instructions",
    "INSTRUCTIONS",
    "skill",
)
_SILENT_STARTS = (
    "[Request interrupted by user",
    "Caveat: The messages below were generated",
    "[Image: source:",
    "[Image source:",
    "[Image: original ",
    "Stop hook feedback:",
    "Warning: apply_patch was requested via",
    "Warning: The maximum number of unified exec",
    "Continue from where you left off.",
    "(no content)",
    "<task-notification>",  # with more words of the client behind it
    "<bash-notification>",
)
_BESIDE_STARTS = (
    "# AGENTS.md instructions",
    "This session is being continued from a previous conversation",
    "Another language model started to solve this problem",
    "Base directory for this skill:",
)
_EDITOR_STARTS = ("# Context from my IDE setup:", "# Files mentioned by the user:", "# Browser comments:")
_EDITOR_ENDS = "## My request for Codex:"
_COMMANDS_OF_THE_CLIENT = frozenset(
    """
    clear compact model exit quit resume rename login logout status config mcp agents hooks memory help doctor cost
    usage context permissions plugin plugins ide vim theme terminal-setup add-dir bug feedback export rewind
    rate-limit-options extra-usage upgrade release-notes statusline effort fast color branch fork continue new
    skills tasks todos bashes stats privacy-settings output-style reload-plugins sandbox diff copy undo
    """.split()  # noqa: SIM905 - a list of words
)
_SMALL_TALK = frozenset(
    """
    warmup hi hello hey test testing ping ok okay yes no start go continue thanks hola bonjour hallo salut ciao
    привет тест здравствуйте 你好 您好 测试 こんにちは こんにちわ テスト 안녕 안녕하세요
    """.split()  # noqa: SIM905 - a list of words
)
_TAG_SHAPE = lazy(r"<([a-z][a-z]*[_-][a-z_-]+)>")
_PASTE = lazy(r"</?pasted_content[^<>]{0,300}>\n?")
_CWD = lazy(r"<cwd>([^<]{1,4096})</cwd>|Current working directory: ([^\n]{1,4096})")
_TEMPLATE = lazy(r"## User Input\s+```(?:text)?\n(.{0,8000}?)\n```", re.S)
_GOAL = lazy(r"^(?:\*\*)?Goal(?:\*\*)?:\s*([^\n]{1,300})", re.M)
_LABELLED = lazy(
    r'^\s*"?(?:user[-_ ](?:anfrage|request|query|prompt)|запрос пользователя|用户请求|ユーザーの依頼)"?'
    r'\s*[:：]\s*"([^\n]{3,2000}?)",?\s*$',
    re.I | re.M,
)
_PUNCTUATION = " \t\r\n.,!?…。！？、~"


class Heard(NamedTuple):
    """A user record's text, split. `typed` is what the human wrote, `beside` what came along; either may be ''.

    `strength` says how good an answer to "what was asked?" it is: 2 a request, 1 a bare command or
    small talk, 0 a command to the client itself (those are not counted as messages). `ask` is the request in it
    where that is not the whole of `typed`.
    """

    typed: str
    beside: str
    strength: int
    ask: str = ""


NOTHING = Heard("", "", 0)


def heard(text: str) -> Heard:
    """Split the text of one block of a user record. Pure; takes any text."""
    text = text.strip()
    if not text:
        return NOTHING
    beside: list[str] = []
    first = text[0]
    if first in "#[BCTAWS(<":
        if text.startswith(_SILENT_STARTS):
            return NOTHING
        if text.startswith(_BESIDE_STARTS):
            return Heard("", _cut_blocks(text, _SILENT, None), 0)
        if text.startswith(_EDITOR_STARTS):
            before, found, after = text.rpartition(_EDITOR_ENDS)
            if not found:
                return Heard("", text, 0)
            beside.append(before.strip())
            text = after.strip()
    if first == "<":
        command = _command(text)
        if command is not None:
            return command
    if "</" in text:
        text = _cut_blocks(text, _SILENT, None)
        text = _cut_blocks(text, _BESIDE, beside)
        if "pasted_content" in text:
            text = _PASTE.sub("", text)
        text = text.strip()
    elif text.startswith("<pasted_content"):
        text = _PASTE.sub("", text).strip()
    template = _TEMPLATE.match(text) if text.startswith("## User Input") else None
    if template is not None and template[1].strip() not in ("", "$ARGUMENTS"):
        return _filled_in(template[1].strip(), text[template.end() :].strip(), beside)
    return Heard(text, "\n".join(part for part in beside if part), strength(text), _request(text))


def _filled_in(typed: str, template: str, beside: list[str]) -> Heard:
    """A prompt file with the arguments of its command put in: only the arguments were typed."""
    ask = typed
    if len(typed) < 20:
        goal = _GOAL.search(template)
        ask = f"{typed}: {goal[1]}" if goal else typed
    return Heard(typed, "\n".join((*beside, template)), 2, ask)


def _request(text: str) -> str:
    """The request quoted under its own label inside the instructions of some program, '' where there is none."""
    match = _LABELLED.search(text[:4000])
    return match[1].replace("\\n", "\n").replace('\\"', '"').strip() if match else ""


def wrapper(text: str) -> bool:
    """Is the whole text one block of a harness that is not known by name: `<some_thing>...</some_thing>`?"""
    match = _TAG_SHAPE.match(text)
    return match is not None and text.endswith(f"</{match[1]}>")


def working_directory(text: str) -> str:
    """The folder that an environment block names, ''."""
    if not text.lstrip().startswith("<environment_context"):
        return ""
    match = _CWD.search(text)
    return ((match[1] or match[2]) if match else "").strip()


def strength(text: str) -> int:
    """How good an answer to "what was asked?" the typed text is: see `Heard`."""
    if not text:
        return 0
    if text[0] == "/" and "\n" not in text:
        name, _, rest = text[1:].partition(" ")
        if "/" not in name and not rest.strip():
            return 0 if name in _COMMANDS_OF_THE_CLIENT else 1
        if name in _COMMANDS_OF_THE_CLIENT:
            return 1
    if len(text) < 40:
        core = text.strip(_PUNCTUATION)
        if len(core) < 3 and core.isascii():
            return 1
        if core.lower() in _SMALL_TALK or core.startswith("! "):
            return 1
    return 2


def asked(facts: Facts, said: Heard) -> None:
    """Count what the human typed and keep the first real request and the last one."""
    if said.strength == 0:
        return
    facts.users += 1
    text = (said.ask or said.typed)[:ASK_LENGTH]
    if said.strength > facts.ask_strength:
        facts.first_ask = text
        facts.ask_strength = said.strength
    if said.strength == 2 or not facts.last_ask:
        facts.last_ask = text


def fingerprint(text: str) -> int:
    """A number that two copies of the same words share."""
    return zlib.crc32(text.strip().encode("utf-8", "replace"))


def beginning(text: str) -> int:
    """A number that texts share whose first 120 characters are the same, blanks apart."""
    return zlib.crc32(" ".join(text[:400].split())[:120].encode("utf-8", "replace"))


def printed(text: str) -> int:
    """How many characters of it are no blanks."""
    return sum(map(len, text.split()))


def after(text: str, count: int) -> str:
    """What follows the first `count` characters that are no blanks, '' where there are no more."""
    for found in re.finditer(r"\S+", text):
        if count < found.end() - found.start():
            return text[found.start() + count :]
        count -= found.end() - found.start()
    return ""


def _command(text: str) -> Heard | None:
    """A slash command, a shell line or a note to memory, as it was typed; None where the text is none of these."""
    if text.startswith("<command-"):
        name = _inside(text, "command-name").lstrip("/")
        if not name:
            name = _inside(text, "command-message")
        typed = f"/{name} {_inside(text, 'command-args')}".strip() if name else ""
        return Heard(typed, "", strength(typed))
    if text.startswith("<bash-input>"):
        line = _inside(text, "bash-input")
        return Heard(f"! {line}", "", 1) if line else NOTHING
    if text.startswith("<user_shell_command>"):
        line = _inside(text, "command")
        return Heard(f"! {line}", "", 1) if line else NOTHING
    if text.startswith("<user-memory-input>"):
        note = _inside(text, "user-memory-input")
        return Heard(f"# {note}", "", 1) if note else NOTHING
    return None


def _inside(text: str, tag: str) -> str:
    start = text.find(f"<{tag}>")
    if start < 0:
        return ""
    start += len(tag) + 2
    end = text.find(f"</{tag}>", start)
    return text[start : end if end >= 0 else start].strip()


def _cut_blocks(text: str, tags: tuple[str, ...], keep: list[str] | None) -> str:
    """`text` without the blocks of these tags that begin a line; their insides go to `keep`."""
    for tag in tags:
        opening, closing = f"<{tag}", f"</{tag}>"
        if closing not in text:
            continue
        parts: list[str] = []
        at = search = 0
        while (start := text.find(opening, search)) >= 0:
            head = start + len(opening)
            if not (start == 0 or text[start - 1] in "\n>") or text[head : head + 1] not in (">", " "):
                search = head
                continue
            end = text.find(closing, head)
            if end < 0:
                break
            parts.append(text[at:start])
            if keep is not None:
                keep.append(text[text.find(">", head) + 1 : end].strip())
            at = search = end + len(closing)
        text = "".join((*parts, text[at:]))
    return text.strip()
