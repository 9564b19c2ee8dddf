"""Numbers that rows of the index were made by: when one is raised, what it made is read again.

Kept apart from what they are of, so that a look whether anything has to be done loads none of it.
"""

from __future__ import annotations

TEXT = 1
"""Of `core.text.fold`: raised whenever it gives another form for the same text; the index is then made again."""

REDACT = 3
"""Of `core.redact`: raised whenever the same text would be redacted in another way."""

PARSERS = {"claude": 2, "codex": 3}
"""Of each client's `parse`: raised whenever the same bytes would give other records."""


def of_rows(client: str) -> str:
    """What a transcript file's rows must carry to be still right."""
    return f"{PARSERS[client]}.{REDACT}.{TEXT}"
