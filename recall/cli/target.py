"""Which session a person means by ID or FILE, brought up to date."""

from __future__ import annotations

import os

from recall.actions.cmd import newest_of
from recall.cli.app import App
from recall.core.model import Session
from recall.errors import NothingFound, RecallError, Refused


def session_of(app: App, typed: str, *, force: bool = False) -> Session:
    """The session (the newest of its chain) of an id or of a transcript's path, with what was added to it lately.

    A removed one is Refused, unless `force`: then it is brought back.
    """
    from recall.actions.one import bring_back, take_file, take_grown

    if os.sep in typed or (typed.endswith(".jsonl") and os.path.exists(typed)):
        return newest_of(app.resolve(take_file(app.settings, typed)), app.store)
    removed = app.shelf.removed_like(typed) if len(typed) >= 8 else []
    if len(removed) == 1:
        if not force:
            raise Refused(f"session {removed[0]} was removed", f"recall recap {removed[0]} --force brings it back")
        bring_back(app.settings, app.shelf, removed[0])
        return newest_of(app.resolve(removed[0]), app.store)
    row = newest_of(app.resolve(typed), app.store)
    try:
        take_grown(
            app.settings, [file.source for file in app.store.files(row.no) if file.kind == "main" and file.source]
        )
    except RecallError as problem:
        app.say(f"what is newest is missing: {problem.message}")
    found = app.store.session(row.no)
    if found is None:
        raise NothingFound(f"no session {typed}", "")
    return newest_of(found, app.store)


def unremoved(app: App, typed: str) -> Session:
    """The session (the newest of its chain) that an id means; a removed one is Refused."""
    removed = app.shelf.removed_like(typed) if len(typed) >= 8 else []
    if len(removed) == 1 or (len(typed) >= 8 and app.shelf.is_removed(typed)):
        session = removed[0] if removed else typed
        purged = os.path.exists(os.path.join(app.settings.state, "purged", os.path.basename(session)))
        hint = "" if purged else f"recall recap {session} --force brings it back"
        raise Refused(f"session {session} was removed" + (" with all that was kept of it" if purged else ""), hint)
    return newest_of(app.resolve(typed), app.store)
