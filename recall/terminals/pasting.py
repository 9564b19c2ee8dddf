"""Text as a terminal may put it into a program."""

from __future__ import annotations

import re

BEGIN, END = "\x1b[200~", "\x1b[201~"
"""What stands around a bracketed paste (xterm, "Bracketed Paste Mode")."""

_NOT_TEXT = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def pasteable(text: str) -> str:
    """`text` without what would act instead of being text: escapes (which could end the paste), control characters. Line
    ends are LF: outside of a paste the clients take CR for Enter and LF for a new line."""
    return _NOT_TEXT.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def bracketed(text: str) -> str:
    """`text` as the bytes of a bracketed paste, for terminals that send what they are given."""
    return BEGIN + pasteable(text) + END
