r"""A plan as one line to paste: it means the same in sh, bash, zsh and fish.

The four agree on less than it seems. Inside single quotes a backslash is itself in three of them, while fish reads
`\\` and `\'` as escapes there; `$'...'` is unknown to sh and fish. So a backslash and a quote stand outside of the
quotes, escaped, which all four read alike. What a terminal or a paste would act upon (line ends, tabs, escapes,
characters that turn the direction of text) is spelled in octal and made by `printf`, and so are bytes that are no text.
"""

from __future__ import annotations

import re

from recall.core.model import Plan

_BARE = re.compile(r"[A-Za-z0-9_./:@,+-][A-Za-z0-9_./:@,+=-]*")
_OUTSIDE = re.compile(r"['\\]")
_ACTED_UPON = re.compile("[\1-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\udc80-\udcff]")
_SPELLED = re.compile(r"^-|[^A-Za-z0-9 _./:@,+=~#&*(){}\[\]<>|;^?-]+")


def line(plan: Plan) -> str:
    """`cd '<cwd>' && <argv>` on a single line; without the `cd` where the plan has no folder."""
    words = " ".join(map(word, command(plan)))
    return f"cd {folder(plan.cwd)} && {words}" if plan.cwd else words


def command(plan: Plan) -> tuple[str, ...]:
    """The plan's argv with its variables, as one command that needs no shell: `env NAME=VALUE claude --resume ...`."""
    if not plan.variables:
        return plan.argv
    without = [word for name, value in plan.variables if not value for word in ("-u", name)]
    return ("env", *without, *(f"{name}={value}" for name, value in plan.variables if value), *plan.argv)


def word(text: str) -> str:
    """`text` as one word of a command line: as it is where no shell would touch it, else quoted."""
    return text if _BARE.fullmatch(text) else quoted(text)


def folder(path: str) -> str:
    """`path` as the argument of `cd`, always quoted; one that looks like an option is made to look like a path."""
    if path.startswith("-"):
        path = f"./{path}"
    if path.endswith("\n"):
        path += "/"  # the output of a command loses the line ends at its end
    return quoted(path)


def quoted(text: str) -> str:
    """`text` in quotes that mean the same in all four shells. NUL bytes, which no argument can hold, are left out."""
    text = text.replace("\0", "")
    if _ACTED_UPON.search(text):
        return "\"$(printf '" + _SPELLED.sub(_octal, text) + "')\""
    return "'" + _OUTSIDE.sub(r"'\\\g<0>'", text) + "'"


def _octal(match: re.Match[str]) -> str:
    return "".join(f"\\{byte:03o}" for byte in _bytes(match[0]))


def _bytes(text: str) -> bytes:
    """A name as the system has it: what stands for a byte that is no text is that byte (PEP 383)."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # another half of a pair, which no name on a disk holds
        return text.encode("utf-8", "surrogatepass")
