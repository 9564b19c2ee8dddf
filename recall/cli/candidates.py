"""`recall completion --candidates KIND WORD`: what a completion script asks for. Without click: it runs at each Tab."""

from __future__ import annotations

import os
from collections.abc import Sequence


def run(args: Sequence[str]) -> int:
    """Print `value<TAB>what it is` for each candidate. Nothing, and status 0, where anything at all is wrong."""
    from recall.errors import RecallError
    from recall.settings import load

    kind, word = (*args, "", "")[:2]
    try:
        settings = load()
        found = _addresses(word) if kind == "address" else _known(kind, word, settings.index)
    except (RecallError, OSError, ValueError):
        return 0
    except Exception as problem:  # sqlite3's, by name: it is not loaded here
        if "sqlite3" not in type(problem).__module__:
            raise
        return 0
    for value, what in found:
        print(f"{value}\t{what}" if what else value)
    return 0


def _known(kind: str, word: str, index: str) -> list[tuple[str, str]]:
    from recall.actions.candidates import candidates
    from recall.settings import load
    from recall.store import exists, open_store

    if not exists(index):
        return []
    with open_store(index, wait=0.5) as store:
        return candidates(kind, word, store, load())


def _addresses(word: str) -> list[tuple[str, str]]:
    """Of open sessions; the terminals are not asked, so these are those of the terminal devices and the ids."""
    from recall.core.address import address_of
    from recall.core.clean import clean
    from recall.core.session import project_of
    from recall.live import open_sessions
    from recall.settings import load

    out = []
    for one in open_sessions(load()):
        value = address_of(one.tty) or one.session[:13]
        if value.startswith(word):
            what = f"{one.client} {project_of(one.cwd) or os.path.basename(one.cwd)} {one.state}"
            out.append((value, " ".join(clean(what).split())))
    return out
