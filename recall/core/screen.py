"""Reading a client's screen: what stands in its input line, whether it asks something, whether it works.

A screen is the text of a pane, lines of it joined by `\\n`, as a terminal gives it. What the clients draw was observed with
Claude Code 2.1.332 and Codex 0.171.0. Claude Code frames its input line with two rules and puts a sign before it (`❯`, or `!` in
shell mode); Codex puts `›` before it, and behind an empty line the model and the folder. Both put the same sign before what was
said earlier, and before the chosen answer of a question, in which the input line is not drawn. A long paste is shown as a
placeholder.
"""

from __future__ import annotations

import re

from recall.core.plain import plain

_RULE = re.compile(r"[╭╰]?─{10,}.*")
_SIGN = re.compile(r"[│\s]{0,2}[❯>!#](?:\s|$)")
_CODEX_SIGN = re.compile(r"›(?:\s|$)")
_CHOICE = re.compile(r"\s*[❯›]\s")
_ASKED = re.compile(
    r"\b(?:esc|enter)\b(?: or esc)? (?:to )?(?:cancel|confirm|close|select|go back|back|exit|continue|dismiss|submit)\b",
    re.I,
)
_AT_WORK = re.compile(r"\besc to interrupt\b")
_COLLAPSED = re.compile(r"\[Pasted (?:text #\d+(?: \+\d+ lines)?|Content \d+ chars)\]", re.I)
_EMPTY = ("Ask Codex to do anything", "Press up to edit queued messages")
"""What stands in an input line that holds nothing."""

_FOOT = 14
"""Lines at the bottom in which a client says what it is doing. Above is what was said, which may say anything."""

_MENU = 40  # lines at the bottom in which a question with its answers stands
_ENDS = 40  # characters by which a text that is longer than the input line is known


def lines_of(screen: str) -> list[str]:
    """The lines of a screen as they may be shown: no escapes, no blanks at their ends, no empty lines around them."""
    lines = [line.rstrip() for line in plain(screen).split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        del lines[0]
    return lines


def last(screen: str, count: int) -> str:
    """The last `count` lines that a screen shows; of empty lines that follow each other one only, since a client leaves most of
    a tall window empty."""
    lines = lines_of(screen)
    kept = [line for line, above in zip(lines, ["-", *lines], strict=False) if line or above]
    return "\n".join(kept[-count:])


def input_line(client: str, screen: str) -> str | None:
    """What stands in the input line, '' for nothing; None where the client shows something else in its place (a question,
    a menu, the transcript), or nothing that we know."""
    lines = lines_of(screen)
    found = _claude_input(lines) if client == "claude" else _codex_input(lines)
    return "" if found in _EMPTY else found


def for_shell(client: str, screen: str) -> bool:
    """Would what stands in the input line, or is put into it, be run by a shell? Claude Code has another sign before it then;
    in both a `!` at its beginning does it."""
    inside = _claude_frame(lines_of(screen)) if client == "claude" else None
    sign = _SIGN.match(inside[0]) if inside else None
    return (sign is not None and "!" in sign[0]) or (input_line(client, screen) or "").startswith("!")


def _claude_input(lines: list[str]) -> str | None:
    inside = _claude_frame(lines)
    if inside is None:
        return None
    inside[0] = _SIGN.sub("", inside[0], count=1)
    return _joined(inside)


def _claude_frame(lines: list[str]) -> list[str] | None:
    """The lines of the input line, its sign included."""
    rules = [at for at, line in enumerate(lines) if _RULE.fullmatch(line)]
    if len(rules) < 2:
        return None
    first, end = rules[-2], rules[-1]
    inside = lines[first + 1 : end]
    if not inside or not _SIGN.match(inside[0]) or len(lines) - end > _FOOT:
        return None
    return inside


def _codex_input(lines: list[str]) -> str | None:
    at = next((at for at in range(len(lines) - 1, -1, -1) if _CODEX_SIGN.match(lines[at])), None)
    if at is None or _codex_asks(lines):
        return None
    below = lines[at + 1 :]
    if "" not in below or any(line and not line.startswith("  ") for line in below):
        return None  # it was said earlier, and answered, or is a choice
    end = len(below) - 1 - below[::-1].index("")
    return _joined([_CODEX_SIGN.sub("", lines[at], count=1), *below[:end]])


def _joined(lines: list[str]) -> str:
    return "\n".join(line.strip(" │") for line in lines).strip()


def asks(client: str, screen: str) -> bool:
    """Is a question or a menu open, which Enter would answer? A registry may know better; this is for where there is none, and
    for the moment before it tells."""
    lines = lines_of(screen)
    if client == "codex":
        return _codex_asks(lines)
    if _claude_input(lines) is not None or not any(_CHOICE.match(line) for line in lines[-_MENU:]):
        return False
    return any(_ASKED.search(line) for line in [line for line in lines if line][-3:])


def _codex_asks(lines: list[str]) -> bool:
    """The last paragraph is how to answer, where else it says the model and the folder."""
    last = lines[len(lines) - lines[::-1].index("") :] if "" in lines else lines
    return any(_ASKED.search(line) for line in last)


def works(screen: str) -> bool:
    """Does the client say that it can be interrupted, that is, that it works?"""
    return any(_AT_WORK.search(line) for line in lines_of(screen)[-_FOOT:])


def shows(screen: str, words: str) -> bool:
    """Are these words on the screen? Case-blind; where a line was broken does not matter."""
    return _flat(words) in _flat(plain(screen))


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold()


def holds(inside: str, text: str) -> bool:
    """Is `text` what was put into an input line that shows `inside`? It may be shown in part, broken into lines, or as a
    placeholder."""
    if _COLLAPSED.search(inside):
        return True
    shown, sent = _letters(inside), _letters(text)
    if not shown:
        return False
    return sent in shown or shown in sent or sent[:_ENDS] in shown or sent[-_ENDS:] in shown


def mixed(before: str, inside: str, text: str) -> bool:
    """Does an input line hold something else beside `text`, that stood in it `before`? (A suggestion of the client that
    stood there is gone after a paste.)"""
    old, sent = _letters(before), _letters(text)
    if not old:
        return False
    if not re.search(r"\w", old):  # a `/` or `!` alone, which decides what becomes of the text behind it
        sign = before.strip()
        return inside.lstrip().startswith(sign) and not text.lstrip().startswith(sign)
    if any(paste in inside for paste in _COLLAPSED.findall(before)):
        return True
    now = _letters(_COLLAPSED.sub("", inside))
    return now.replace(sent, "", 1) == old or (now.startswith(old) and not sent.startswith(old))


def same(one: str, other: str) -> bool:
    """Do two looks at an input line show one text? Claude Code takes invisible characters out of one at the first Enter, and
    asks for another."""
    return one == other or (bool(one) and _letters(one) == _letters(other))


def _letters(text: str) -> str:
    """What all ways of drawing a text have in common: no blanks, and, where it has others, no signs."""
    return re.sub(r"\W+", "", text) or "".join(text.split())
