"""Which terminal a session is opened in: the one asked for, else the one we run in, else what is there."""

from __future__ import annotations

from collections.abc import Mapping

from recall.errors import Unavailable, Usage
from recall.terminals import NAMES, applescript, get, programs
from recall.terminals.base import Terminal

PRINT = "print"
"""The name for no terminal at all: the command is printed."""

VARIABLE = "RECALL_TERMINAL"


def choose(asked: str, env: Mapping[str, str]) -> Terminal | None:
    """The terminal to open in; None: print the command. `asked` is what `--terminal` gave ('': nothing).

    Order: `asked`, RECALL_TERMINAL, the one we run inside of, one that is there. Raises Usage for a name that is none,
    Unavailable for one that cannot be opened from here.
    """
    for given, source in ((asked, "--terminal"), (env.get(VARIABLE, ""), VARIABLE)):
        if given.strip():
            return _named(given.strip(), source, env)
    terminals = [get(module) for module in NAMES]
    for terminal in terminals:
        if terminal.inside(env) and terminal.available(env):
            return terminal
    return _there(env)


def names() -> tuple[str, ...]:
    """What may be asked for, as it is shown."""
    return (*(get(module).name for module in NAMES), PRINT)


def named(text: str) -> str | None:
    """The module of a terminal that a person calls `text`; None for a name that is none."""
    wanted = text.strip().lower()
    for module in NAMES:
        terminal = get(module)
        if wanted in (module, terminal.name.lower(), *terminal.aliases):
            return module
    return None


def _named(text: str, source: str, env: Mapping[str, str]) -> Terminal | None:
    if text.lower() == PRINT:
        return None
    module = named(text)
    if module is None:
        raise Usage(f"{source}: no terminal is called {text!r}", f"one of: {', '.join(names())}")
    terminal = get(module)
    if not terminal.available(env):
        raise Unavailable(f"{terminal.name} cannot be opened from here", f"{terminal.needs}; or `--print` the command")
    return terminal


def _there(env: Mapping[str, str]) -> Terminal | None:
    """One that is there although we run in none. A tmux that nobody looks at comes last; on a Mac what runs comes first."""
    if programs.mac(env):
        iterm2 = get("iterm2")
        if iterm2.available(env) and applescript.running(iterm2.name, env):
            return iterm2
        return get("apple")
    others = [get(module) for module in NAMES if module not in ("tmux", "iterm2", "apple")]
    return next((terminal for terminal in (*others, get("tmux")) if terminal.available(env)), None)
