"""The keys of the picker: one table, from which bindings, the footer and the help page come.

Letters go to the query, so what acts is a control key. Not used: what multiplexers take (Ctrl-A of screen, Ctrl-B of
tmux), and what terminals send for other keys (Ctrl-H, Ctrl-I, Ctrl-J, Ctrl-M). Ctrl-A, E, K, U and W edit the query, as
they do in a shell.
"""

from __future__ import annotations

from typing import NamedTuple


class Key(NamedTuple):
    """`keys` as textual calls them, comma separated; `shown` as a person does; `short` stands in the footer ('': not there)
    and `help` on the help page."""

    keys: str
    action: str
    shown: str
    short: str
    help: str


KEYS = (
    Key("enter", "open('window')", "Enter", "open", "open the session in a new window"),
    Key("ctrl+t", "open('tab')", "^T", "tab", "open it in a new tab"),
    Key("ctrl+o", "open('here')", "^O", "here", "open it here, in place of the picker"),
    Key("ctrl+y", "copy", "^Y", "copy", "copy the command that resumes it"),
    Key("ctrl+s,f3", "read", "^S", "read", "read the conversation (F3 as well)"),
    Key("ctrl+g", "tag", "^G", "tag", "add tags, or take some away"),
    Key("ctrl+r", "rename", "^R", "name", "give it a name of your own"),
    Key("ctrl+x", "remove", "^X", "remove", "remove it from recall; asks first"),
    Key("ctrl+l,f4", "everything", "^L", "all", "list headless sessions too, or leave them out (F4 as well)"),
    Key("ctrl+p", "peek", "^P", "", "a live session: what its terminal shows now"),
    Key("ctrl+f", "force", "^F", "", "open it at once, without a handoff first; after a refusal, all the same"),
    Key("f1", "help", "?", "help", "this page (? while nothing is typed, F1 always)"),
    Key("up", "move(-1)", "↑ ↓", "", "the session above, below (^N goes down as well)"),
    Key("down,ctrl+n", "move(1)", "", "", ""),
    Key("pageup", "page(-1)", "PgUp PgDn", "", "a screen up, down"),
    Key("pagedown", "page(1)", "", "", ""),
    Key("ctrl+home", "ends(-1)", "^Home ^End", "", "the first, the last session"),
    Key("ctrl+end", "ends(1)", "", "", ""),
    Key("shift+up", "scroll(-1)", "⇧↑ ⇧↓", "", "scroll what is shown of the session"),
    Key("shift+down", "scroll(1)", "", "", ""),
    Key("tab", "complete(1)", "Tab", "", "complete a filter: project: client: status: tag: branch: since: before: is:"),
    Key("shift+tab", "complete(-1)", "", "", ""),
    Key("escape", "back", "Esc", "", "clear what was typed; when nothing is, quit"),
    Key("ctrl+c,ctrl+q", "leave", "^C", "quit", "quit"),
    Key("ctrl+z", "suspend", "^Z", "", "suspend, as in a shell"),
)

MARKS = (
    ("⚡", "open now, in a terminal or in the background"),
    ("✓", "done"),
    ("●", "in progress"),
    ("✗", "aborted"),
    ("○", "new: no card yet"),
    ("†", "lost: only parts of it are left"),
    ("~", "has some of the words only, or a spelling that is near"),
)
"""Signs in the list, and what they say."""
