"""Text as a terminal may put it into a program."""

from __future__ import annotations

import re

from recall.errors import Refused

BEGIN, END = "\x1b[200~", "\x1b[201~"
"""What stands around a bracketed paste (xterm, "Bracketed Paste Mode")."""

_ACTED_UPON = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def pasteable(text: str) -> str:
    """`text` with LF as line ends: outside of a paste the clients take CR for Enter and LF for a new line. Refused where it
    holds what acts instead of being text: such a character could end the paste, and what follows would be typed."""
    lines = text.replace("\r\n", "\n")
    found = _ACTED_UPON.search(lines)
    if found:
        raise Refused(
            f"the text holds a control character ({ord(found[0]):#04x}), which would act in the terminal",
            "leave it out",
        )
    return lines


def bracketed(text: str) -> str:
    """`text` as the bytes of a bracketed paste, for terminals that send what they are given."""
    return BEGIN + pasteable(text) + END
