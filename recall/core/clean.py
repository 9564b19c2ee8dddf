"""Text made fit to be kept or shown: what steers a terminal out, then secrets.

In this order: an escape inside a key (a coloured `grep` hit), or any character that is not seen, would hide it from the
table of kinds, and it would come out whole once that is stripped for printing.
"""

from __future__ import annotations

from recall.core.plain import plain
from recall.core.redact import redact


def clean(text: str) -> str:
    """`text` as `plain` gives it, and without secrets."""
    return redact(plain(text))
