"""Konsole: at the boundary of the process, and the real one where it starts."""

from __future__ import annotations

from tests.terminals.contract import TerminalTests, place

__all__ = ["place"]


class TestKonsole(TerminalTests):
    """The contract."""

    module = "konsole"
    programs = ("konsole",)
    inside = ("KONSOLE_VERSION", "221203")
