"""Counting in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable


class Tally:
    """How often each text was met, in the order of first use, for at most `limit` texts.

    When there are more, the rarer half is forgotten, of equals the later ones.
    """

    def __init__(self, limit: int) -> None:
        self._limit = max(limit, 2)
        self._counts: dict[str, int] = {}

    def add(self, text: str, count: int = 1) -> None:
        counts = self._counts
        counts[text] = counts.get(text, 0) + count
        if len(counts) > self._limit:
            keep = {text for text, _ in self.ranked(self._limit // 2)} | {text}
            self._counts = {text: count for text, count in counts.items() if text in keep}

    def __len__(self) -> int:
        return len(self._counts)

    def items(self) -> Iterable[tuple[str, int]]:
        return self._counts.items()

    def ranked(self, most: int) -> list[tuple[str, int]]:
        """The texts met most often with their counts, first those with the highest."""
        return sorted(self._counts.items(), key=lambda pair: -pair[1])[:most]

    def most(self, most: int, *, by_use: bool = True) -> list[str]:
        """The texts met most often; with `by_use` the most frequent first, else in the order of first use."""
        kept = [text for text, _ in self.ranked(most)]
        if by_use:
            return kept
        chosen = set(kept)
        return [text for text in self._counts if text in chosen]
