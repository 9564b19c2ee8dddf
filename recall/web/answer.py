"""What is asked for and what is answered, as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

HTML = "text/html; charset=utf-8"
JSON = "application/json; charset=utf-8"
SVG = "image/svg+xml; charset=utf-8"


class Asked(NamedTuple):
    """One request that was let in: the path with its escapes taken out, and the first value of each parameter."""

    path: str
    parameters: Mapping[str, str]

    def text(self, name: str, longest: int = 2000) -> str:
        """A parameter, '' where it was not given; what is longer is cut."""
        return self.parameters.get(name, "")[:longest]

    def number(self, name: str) -> int:
        """A parameter that counts; 0 where it was not given or is no number."""
        found = self.parameters.get(name, "")
        return int(found) if found.isascii() and found.isdigit() and len(found) < 10 else 0


class Answer(NamedTuple):
    """`status` of HTTP, the `kind` of the body, the body as text, and headers beside those that every answer has."""

    status: int
    kind: str
    body: str
    headers: tuple[tuple[str, str], ...] = ()
