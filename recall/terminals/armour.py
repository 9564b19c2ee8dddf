"""An argv that survives every way of reading a command line.

Some terminals take a line instead of an argv and read it by rules of their own: AppleScript's quotes, then iTerm2's (which
have changed, know `\\n` inside of single quotes, ask the person for `$$names$$` and calculate `\\(...)`), or those of
whatever shell a person has; Konsole takes an argv and puts values of variables into it. So the argv is spelled in letters,
digits and `@` with three octal digits, and a small program that holds neither quotes nor backslashes nor anything but ASCII
makes `sh` read it again.
"""

from __future__ import annotations

import re

_SPELLED = re.compile(r"[^A-Za-z0-9_./:,+=-]")

PROGRAM = "set -f;IFS=;e=$(printf %s $0|tr ?-@ [-^);x=$(printf $e);eval exec $x;"
"""`tr` makes a backslash of each `@` (the range `[-^` has it in second place), `printf` the bytes, `eval` the words. Nothing
is split or expanded in between: that is what `set -f` and the empty IFS are for. The `;` at the end keeps Konsole from
taking `$x` for a variable of its own environment."""


def armoured(argv: tuple[str, ...]) -> tuple[str, ...]:
    """An argv that does the same as `argv`. Its words but PROGRAM consist of letters, digits and `_./:,+=-@`; PROGRAM can
    stand in single or double quotes of any shell. Four times as long, sixteen times where there are apostrophes."""
    line = " ".join("'" + word.replace("'", "'\\''") + "'" for word in argv)
    spelled = _SPELLED.sub(lambda match: "".join(f"@{byte:03o}" for byte in _bytes(match[0])), line)
    return ("/bin/sh", "-c", PROGRAM, spelled)


def plain(argv: tuple[str, ...]) -> bool:
    """Are all words made of ASCII characters only?"""
    return all(word.isascii() for word in argv)


def _bytes(character: str) -> bytes:
    return character.encode("utf-8", "surrogateescape")
