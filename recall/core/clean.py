"""Text made fit to be kept or shown: terminal escapes out, then secrets.

In this order: an escape inside a key (a coloured `grep` hit) would hide it from the table of kinds, and come out whole
once the escape is stripped for printing.
"""

from __future__ import annotations

from recall.core.plain import plain
from recall.core.redact import redact


def clean(text: str) -> str:
    """`text` without terminal escapes (where there are any) and without secrets."""
    return redact(plain(text) if "\x1b" in text or "\x9b" in text else text)
