"""How things look: the terminal's own sixteen colours, on its own background, so that dark and light are its business.

What is selected is shown in reverse and in one colour; nothing is told by colour alone.
"""

from __future__ import annotations

from rich.style import Style

PLAIN = Style()
DIM = Style(dim=True)
BOLD = Style(bold=True)
FOUND = Style(color="red", bold=True)
LABEL = Style(color="cyan")
PROJECT = Style(color="cyan")
LIVE = Style(color="yellow", bold=True)
TAG = Style(color="blue")
TROUBLE = Style(color="red", bold=True)
GOOD = Style(color="green")
KEY = Style(bold=True)
SELECTED = Style(reverse=True)
SELECTED_FOUND = Style(reverse=True, bold=True, underline=True)
CLIENTS = {"claude": Style(color="magenta"), "codex": Style(color="green")}
STATUS = {
    "done": ("✓", Style(color="green")),
    "in_progress": ("●", Style(color="yellow")),
    "aborted": ("✗", Style(color="red")),
    "lost": ("†", DIM),
    "new": ("○", DIM),
}
ROLES = {
    "user": ("you", Style(color="green", bold=True)),
    "assistant": ("", Style(color="cyan", bold=True)),  # the client's name
    "action": ("did", DIM),
    "aside": ("aside", DIM),
}
