"""What a sweep did."""

from __future__ import annotations


class Report:
    """Counts are of files, bytes where it says so.

    `busy`: another sweep was running, `unmounted`: the archive's disk is not there; nothing was done in both cases.
    `companions`: files that are kept and not indexed, how many were copied; `cards`: those that are new, changed or gone;
    `read`: bytes of sources, `indexed`: of transcripts; `failing`: files and folders with a problem, `problems`: those
    not told before; `touched`: numbers of the sessions with something new.
    """

    def __init__(self) -> None:
        self.busy = False
        self.unmounted = False
        self.seen = 0
        self.new = 0
        self.grown = 0
        self.rewritten = 0
        self.companions = 0
        self.cards = 0
        self.sessions = 0
        self.read = 0
        self.indexed = 0
        self.rebuilt = False
        self.failing = 0
        self.problems: list[str] = []
        self.touched: set[int] = set()

    def copy(self) -> Report:
        """One of its own, for going back to when a batch fails."""
        other = Report()
        other.__dict__.update(self.__dict__, problems=list(self.problems), touched=set(self.touched))
        return other

    @property
    def changed(self) -> int:
        return self.new + self.grown + self.rewritten
