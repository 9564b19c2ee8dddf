"""Our own plain files: names that people gave, tombstones, and what the sweep remembers of problems.

All are small, private to their owner, and may be edited by hand. In the data folder: `.removed` (one session id a
line, after it anything: a tombstone), `names.json` (session id -> title). In the state folder: `purged/<id>` (empty: never
copied again) and `troubles.json`.
"""

from __future__ import annotations

import os
from functools import cached_property

from recall.errors import Unavailable
from recall.files import make_private_dir, write_atomic


class Shelf:
    """The files of one user: `data` and `state` are the two folders."""

    def __init__(self, data: str, state: str) -> None:
        self.data = data
        self.state = state

    # -- tombstones --------------------------------------------------------------------------------------------

    @cached_property
    def _removed(self) -> tuple[frozenset[str], frozenset[str]]:
        """Full ids, and short ones (an earlier tool wrote the first 8 characters)."""
        full: set[str] = set()
        short: set[str] = set()
        for line in self._lines(".removed"):
            word = line.split(maxsplit=1)[0] if line.strip() else ""
            if not word or word.startswith("#"):
                continue
            (full if len(word) > 13 else short).add(word)
        return frozenset(full), frozenset(short)

    def is_removed(self, session: str) -> bool:
        """Was the session removed by its user?"""
        full, short = self._removed
        return session in full or session[:8] in short or session[:13] in short

    def removed_like(self, prefix: str) -> list[str]:
        """Full ids of removed sessions that begin so."""
        return sorted(session for session in self._removed[0] if prefix and session.startswith(prefix))

    @property
    def any_removed(self) -> bool:
        full, short = self._removed
        return bool(full or short)

    def bury(self, session: str) -> None:
        """Write a tombstone."""
        if not self.is_removed(session):
            text = "\n".join([*self._lines(".removed"), session]) + "\n"
            write_atomic(os.path.join(self.data, ".removed"), text.encode())
            self.__dict__.pop("_removed", None)

    def unbury(self, session: str) -> bool:
        """Take the tombstone away; was there one?"""
        if not self.is_removed(session):
            return False
        keep = [
            line
            for line in self._lines(".removed")
            if line.split(maxsplit=1)[:1] not in ([session], [session[:8]], [session[:13]])
        ]
        write_atomic(os.path.join(self.data, ".removed"), ("\n".join(keep) + "\n" if keep else "").encode())
        self.__dict__.pop("_removed", None)
        return True

    def mark_purged(self, session: str) -> None:
        """From now on neither hook nor sweep copies this session."""
        folder = os.path.join(self.state, "purged")
        make_private_dir(folder)
        os.close(os.open(os.path.join(folder, session), os.O_WRONLY | os.O_CREAT, 0o600))

    # -- names -------------------------------------------------------------------------------------------------

    @cached_property
    def _names(self) -> dict[str, str]:
        found = self._json(self.data, "names.json")
        return {key: value for key, value in found.items() if isinstance(value, str)}

    def name(self, session: str) -> str:
        """The name that the user gave a session through recall, '' when none."""
        return self._names.get(session, "")

    def drop_name(self, session: str) -> None:
        """Take back the name that the user gave a session."""
        import orjson

        names = self._json(self.data, "names.json")
        if names.pop(session, None) is not None:
            write_atomic(os.path.join(self.data, "names.json"), orjson.dumps(names, option=orjson.OPT_INDENT_2))
            self.__dict__.pop("_names", None)

    # -- problems ----------------------------------------------------------------------------------------------

    def troubles(self) -> dict[str, str]:
        """path -> what was wrong with it at the last sweep."""
        found = self._json(self.state, "troubles.json")
        return {key: value for key, value in found.items() if isinstance(value, str)}

    def set_troubles(self, troubles: dict[str, str]) -> None:
        path = os.path.join(self.state, "troubles.json")
        if troubles:
            import orjson

            write_atomic(path, orjson.dumps(troubles, option=orjson.OPT_INDENT_2))
        elif os.path.exists(path):
            os.unlink(path)

    def _lines(self, name: str) -> list[str]:
        path = os.path.join(self.data, name)
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []
        except OSError as problem:
            # A tombstone that cannot be read must not look like none.
            raise Unavailable(f"cannot read {path}: {problem.strerror}", "check the permissions of the folder") from None

    @staticmethod
    def _json(folder: str, name: str) -> dict[str, object]:
        try:
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
        except OSError:
            return {}
        import orjson

        try:
            found = orjson.loads(data)
        except orjson.JSONDecodeError:
            return {}
        return found if isinstance(found, dict) else {}
