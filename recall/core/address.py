"""How an open session is called by its terminal: short enough to type."""

from __future__ import annotations

import re

_MAC = re.compile(r"(?:/dev/)?tty(s[0-9]{3,})")
_PTS = re.compile(r"(?:/dev/)?pts/([0-9]+)")


def address_of(tty: str) -> str:
    """`ttys034` (macOS) and `pts/34` (Linux) are `s034`; any other terminal is named as it is, '' for none."""
    tty = tty.strip()
    mac = _MAC.fullmatch(tty)
    if mac:
        return mac[1]
    pts = _PTS.fullmatch(tty)
    if pts:
        return f"s{int(pts[1]):03}"
    return "" if tty in ("", "?", "??") else tty.removeprefix("/dev/")
