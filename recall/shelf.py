"""Our own plain files: cards, names that people gave, tags, tombstones, and what the sweep remembers of problems.

All are small, private to their owner, and may be edited by hand. In the data folder: cards (`<session id>.md`; an earlier
tool's may have another name, if they hold the id), `TAGS.md`, `.removed` (one session id a
line, after it anything: a tombstone), `names.json` (session id -> title). In the state folder: `purged/<id>` (empty: never
copied again), `titles/<id>` (a name that recall made up) and `troubles.json`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from recall.errors import Refused, Unavailable
from recall.files import make_private_dir, write_atomic

if TYPE_CHECKING:
    from recall.core.model import Card

TAGGED = "tagged"
"""Key of a card under which it is kept what its user tagged it with (`+export -draft`): a new card keeps to it."""

_NO_CARDS = frozenset(("INDEX.md", "TAGS.md", "README.md"))
_LONGEST = 1 << 20
_HEX = frozenset("0123456789abcdefABCDEF-")


class CardFile(NamedTuple):
    """A card's file as it was seen: its name in the data folder, time in ns, and size in bytes."""

    name: str
    mtime: int
    size: int


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

    # -- cards -------------------------------------------------------------------------------------------------

    def card_files(self) -> dict[str, CardFile] | None:
        """All files that may be cards, by name; None when there is no data folder. OSError when it cannot be read."""
        out: dict[str, CardFile] = {}
        try:
            with os.scandir(self.data) as entries:
                for entry in entries:
                    name = entry.name
                    if name.endswith(".md") and name[0] != "." and name not in _NO_CARDS:
                        try:
                            status = entry.stat()
                        except FileNotFoundError:
                            continue
                        out[name] = CardFile(name, status.st_mtime_ns, status.st_size)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return out

    def card_text(self, name: str) -> tuple[str, CardFile]:
        """What a card's file says, and the file as it was read. OSError when it cannot be read."""
        fd = os.open(f"{self.data}/{name}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            status = os.fstat(fd)
            data = os.read(fd, min(status.st_size + 1, _LONGEST))
        finally:
            os.close(fd)
        return data.decode("utf-8", "replace"), CardFile(name, status.st_mtime_ns, status.st_size)

    def card(self, session: str) -> Card | None:
        """The card of a session (its full id); None when there is none."""
        found = self.card_file(session)
        return found[0] if found else None

    def card_file(self, session: str) -> tuple[Card, CardFile] | None:
        """The card of a session, and its file as `write_card` wants it; None when there is none."""
        from recall.core.cardfile import parse

        name = self._card_name(session)
        if not name:
            return None
        text, file = self.card_text(name)
        return parse(text, session), file

    def write_card(self, card: Card, seen: CardFile | None = None, *, over_hand: bool = False) -> CardFile:
        """Write a session's card. `seen` is the file that it replaces as it was read, None where there was none.

        Refused when the file is not as it was seen, or was written by hand (and not `over_hand`). Its free body, its
        unknown keys and what its user tagged it with are kept.
        """
        from recall.core.cardfile import parse, render

        name = seen.name if seen else f"{card.id}.md"
        if not card.id or os.path.basename(name) != name or name.startswith("."):
            raise Refused(f"'{card.id}' is no session id", "")
        path = os.path.join(self.data, name)
        if self._stamp(name) != seen:
            raise Refused(f"{path} was changed meanwhile", "try again")
        if seen is None:
            self._create(path, render(card).encode())
        else:
            old = parse(self.card_text(name)[0], card.id)
            if old.written_by == "hand" and not over_hand:
                raise Refused(f"{path} was written by hand", "--force writes it anew, or change its line written_by")
            write_atomic(path, render(_kept(card, old)).encode())
        return self._stamp(name) or CardFile(name, 0, 0)

    def drop_papers(self, session: str) -> list[str]:
        """Delete the cards and handoffs of a session; gives their names."""
        gone = []
        while name := self._card_name(session):
            os.unlink(os.path.join(self.data, name))
            gone.append(name)
        for folder in ("", "handoffs"):
            try:
                names = sorted(os.listdir(os.path.join(self.data, folder)))
            except (FileNotFoundError, NotADirectoryError):
                continue
            for name in names:
                if name.startswith((f"{session}.", f"{session}-", f".{session}")):
                    os.unlink(os.path.join(self.data, folder, name))
                    gone.append(os.path.join(folder, name))
        return gone

    def _card_name(self, session: str) -> str:
        """The name of a session's card; '' for none. One that is named otherwise says in itself whose it is."""
        if os.path.lexists(os.path.join(self.data, f"{session}.md")):
            return f"{session}.md"
        for name in sorted(self.card_files() or ()):
            named = id_in(name)
            if len(named) > 13 or (named and not session.startswith(named)):
                continue
            from recall.core.cardfile import parse

            try:
                own = parse(self.card_text(name)[0], named).id
            except OSError:
                continue
            if own == session or (len(own) >= 8 and session.startswith(own)):
                return name
        return ""

    def _stamp(self, name: str) -> CardFile | None:
        try:
            status = os.stat(os.path.join(self.data, name))
        except FileNotFoundError:
            return None
        return CardFile(name, status.st_mtime_ns, status.st_size)

    @staticmethod
    def _create(path: str, data: bytes) -> None:
        """Write a file that must not be there yet."""
        temporary = f"{path}.{os.getpid():x}.tmp"
        write_atomic(temporary, data)
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise Refused(f"{path} was written meanwhile", "try again") from None
        except OSError:  # no hard links there
            write_atomic(path, data)
        finally:
            os.unlink(temporary)

    # -- tags --------------------------------------------------------------------------------------------------

    def preferred_tags(self) -> list[str]:
        """The tags of `TAGS.md`: those that people wrote, then the most used."""
        from recall.core.tags import preferred

        return preferred("\n".join(self._lines("TAGS.md")))

    def count_tags(self, counts: Mapping[str, int]) -> None:
        """Bring the counts in `TAGS.md` up to date; lines of people's own stay."""
        from recall.core.tags import render

        old = "\n".join(self._lines("TAGS.md"))
        new = render(old, counts)
        if new.rstrip("\n") != old:
            write_atomic(os.path.join(self.data, "TAGS.md"), new.encode())

    # -- names -------------------------------------------------------------------------------------------------

    @cached_property
    def _names(self) -> dict[str, str]:
        found = self._json(self.data, "names.json")
        return {key: value for key, value in found.items() if isinstance(value, str)}

    def name(self, session: str) -> str:
        """The name that the user gave a session through recall, '' when none."""
        return self._names.get(session, "")

    def set_name(self, session: str, title: str) -> None:
        """Give a session a name."""
        import orjson

        names = {**self._json(self.data, "names.json"), session: title}
        write_atomic(os.path.join(self.data, "names.json"), orjson.dumps(names, option=orjson.OPT_INDENT_2))
        self.__dict__.pop("_names", None)

    def drop_name(self, session: str) -> None:
        """Take back the name that the user gave a session."""
        import orjson

        names = self._json(self.data, "names.json")
        if names.pop(session, None) is not None:
            write_atomic(os.path.join(self.data, "names.json"), orjson.dumps(names, option=orjson.OPT_INDENT_2))
            self.__dict__.pop("_names", None)

    def given_path(self, session: str) -> str:
        """Where it is kept which name we gave a session: not in the data folder, for it is nobody's word."""
        return os.path.join(self.state, "titles", session)

    def given_name(self, session: str) -> str:
        """The name that we gave a session, '' when none."""
        try:
            with open(self.given_path(session), encoding="utf-8", errors="replace") as file:
                return file.readline(1024).strip()
        except OSError:
            return ""

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
            raise Unavailable(
                f"cannot read {path}: {problem.strerror}", "check the permissions of the folder"
            ) from None

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


def id_in(name: str) -> str:
    """The session id, or the beginning of one, that the name of a card is; '' when it is named otherwise."""
    stem = name.removesuffix(".md")
    return stem if len(stem) in (8, 13, 36) and _HEX.issuperset(stem) else ""


def _kept(card: Card, old: Card) -> Card:
    """A new card with what its user gave the old one."""
    have = {key for key, _ in card.extra}
    extra = (*card.extra, *(pair for pair in old.extra if pair[0] not in have))
    return card._replace(extra=extra, body=card.body or old.body, tags=tagged(card.tags, dict(extra).get(TAGGED, "")))


def tagged(tags: tuple[str, ...], changes: str) -> tuple[str, ...]:
    """Tags after what the user added (`+export`) and took away (`-draft`)."""
    out = dict.fromkeys(tags)
    for word in changes.split():
        if word[0] == "-":
            out.pop(word[1:], None)
        else:
            out[word.removeprefix("+")] = None
    return tuple(out)
