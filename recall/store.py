"""The index: what is in it, how it is opened, written and searched. All SQL of recall is here.

Two SQLite files in the state folder: `index.db` (sessions, files, what was spoken) and `output.db` (what tools printed),
which is attached. Both are derived data: a schema of another version means a rebuild into new files, never a migration.
Every open connection holds a shared lock on `index.lock`; whoever replaces the files takes it alone, since renaming a
database under an open write-ahead log would mix two databases. Row numbers are `session << SHIFT | n`.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from recall.core.model import Card, Glance, Occurrence, Session, Transcript
from recall.core.text import TOKENIZER
from recall.core.versions import TEXT
from recall.errors import Damaged, Unavailable

if TYPE_CHECKING:
    from recall.core.facts import Facts
    from recall.core.session import Piece, Printed

SCHEMA = 2
NEW = ".new"
"""Ending of an index that is being made beside the one in use."""
SHIFT = 20
GONE = -1
"""In place of a source's size: the client has deleted it, and its copy was looked at since."""
ROWS = (1 << SHIFT) - 1
MANY = 2000
"""From so many rows on it is asked whether to read a whole table is cheaper."""

_SESSION = ", ".join(Session._fields)
_GLANCE = ", ".join(Glance._fields)
_NEEDED = {"no", "id", "updated", "hidden", "meta", "words"}
_BARE_GLANCE = ", ".join(name if name in _NEEDED else "1" if name == "messages" else "0" for name in Glance._fields)
_HAS_ROW = "chain_to = 0 AND (messages OR lost OR pieces OR status != '')"
_FILE = ", ".join(Transcript._fields)
_ZONES = ("user", "assistant", "actions", "aside")
_HEADS = ("title", "project", "ask", "task", "tags", "card")
_LISTS = ("entities", "tags", "artifacts")
_CARD = tuple(name for name in Card._fields if name != "extra")


def version() -> str:
    """What an index must say of itself to be used: schema and folding."""
    return f"{SCHEMA}.{TEXT}"


class Store:
    """An open index. Use `open_store`, `create_store`; close it, or use it in a `with`."""

    def __init__(self, db: sqlite3.Connection, lock: int, path: str) -> None:
        self._db = db
        self._lock = lock
        self.path = path

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    # -- writing -----------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction: all of it is in the index, or nothing. Waits for another writer."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def bulk(self, megabytes: int) -> None:
        """Collect so much in memory before it is written: few large segments instead of many small ones."""
        for table in ("conv", "out.outp"):
            name = table.rpartition(".")[2]
            self._db.execute(f"INSERT INTO {table}({name}, rank) VALUES ('hashsize', ?)", (megabytes << 20,))

    def meta(self, key: str) -> str:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else ""

    def set_meta(self, key: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def set_source(self, path: str, size: int, mtime: int, ino: int, copy: str) -> None:
        changed = self._db.execute(
            "UPDATE source SET size = ?, mtime = ?, ino = ?, copy = ? WHERE path = ?", (size, mtime, ino, copy, path)
        )
        if not changed.rowcount:
            self._db.execute("INSERT INTO source VALUES (?, ?, ?, ?, ?)", (path, size, mtime, ino, copy))

    def session_no(self, client: str, session: str) -> int:
        """The number of a session, made when it is new."""
        row = self._db.execute("SELECT no FROM session WHERE client = ? AND id = ?", (client, session)).fetchone()
        if row:
            return int(row[0])
        done = self._db.execute("INSERT INTO session (client, id) VALUES (?, ?)", (client, session))
        return int(done.lastrowid or 0)

    def put_session(self, session: Session) -> None:
        """Write a session's row and its head (title, project, first request)."""
        names = Session._fields[1:]
        sets = ", ".join(f"{name} = ?" for name in names)
        self._db.execute(f"UPDATE session SET {sets} WHERE no = ?", (*session[1:], session.no))

    def put_head(self, no: int, fields: Mapping[str, str]) -> None:
        """Replace what stands above a session's transcript: folded title, project, ask, task, tags, the rest of its card."""
        values = [fields.get(name, "") for name in _HEADS]
        marks = ", ".join("?" * len(values))
        self._db.execute(f"INSERT OR REPLACE INTO head(rowid, {', '.join(_HEADS)}) VALUES (?, {marks})", (no, *values))

    def put_card(self, name: str, mtime: int, size: int, session: int, card: Card) -> None:
        """Take in what the card file `name` of the data folder says; its time in ns, its size in bytes."""
        values = ["\n".join(getattr(card, key)) if key in _LISTS else getattr(card, key) for key in _CARD]
        marks = ", ".join("?" * (len(values) + 4))
        self._db.execute(
            f"INSERT OR REPLACE INTO card (name, mtime, size, session, {', '.join(_CARD)}) VALUES ({marks})",
            (name, mtime, size, session, *values),
        )

    def add_alone(self, rows: Sequence[tuple[str, int, int, Session, Card, Mapping[str, str]]]) -> None:
        """Take in card files (name, time in ns, size) whose sessions are not in the index, with a row and a head for
        each; the numbers of the sessions are free (`last_session`)."""
        marks = {n: ", ".join("?" * n) for n in (len(Session._fields), len(_CARD) + 4, len(_HEADS) + 1)}
        self._db.executemany(
            f"INSERT INTO session ({_SESSION}) VALUES ({marks[len(Session._fields)]})",
            [tuple([+value if value.__class__ is bool else value for value in row[3]]) for row in rows],
        )
        self._db.executemany(
            f"INSERT INTO card (name, mtime, size, session, {', '.join(_CARD)}) VALUES ({marks[len(_CARD) + 4]})",
            [
                (
                    name,
                    mtime,
                    size,
                    row.no,
                    *["\n".join(said) if said.__class__ is tuple else said for said in card[:-1]],
                )
                for name, mtime, size, row, card, _ in sorted(rows)  # a table in the order of names grows at its end
            ],
        )
        self._db.executemany(
            f"INSERT INTO head(rowid, {', '.join(_HEADS)}) VALUES ({marks[len(_HEADS) + 1]})",
            [(row[3].no, *[row[5].get(name, "") for name in _HEADS]) for row in rows],
        )

    def last_session(self) -> int:
        """The highest number of a session; 0 where there is none."""
        return int(self._db.execute("SELECT coalesce(max(no), 0) FROM session").fetchone()[0])

    def drop_card(self, name: str) -> None:
        """The card file `name` is gone."""
        self._db.execute("DELETE FROM card WHERE name = ?", (name,))

    def put_file(self, file: Transcript, facts: Facts, to_json: Any) -> int:
        """Insert or update a file's row; `to_json` turns the facts' dict into bytes. Returns its number."""
        import array

        uuids = array.array("I", facts.uuids).tobytes()
        data = to_json(facts.to_dict())
        row = self._db.execute("SELECT no FROM file WHERE copy = ?", (file.copy,)).fetchone()
        no = int(row[0]) if row else None
        names = [name for name in Transcript._fields if name != "no"]
        values = [getattr(file, name) for name in names]
        # Not `INSERT OR REPLACE`: its savepoint makes FTS5 write out what it has collected so far.
        if no is not None:
            sets = ", ".join(f"{name} = ?" for name in names)
            self._db.execute(f"UPDATE file SET {sets}, facts = ?, uuids = ? WHERE no = ?", (*values, data, uuids, no))
            return no
        done = self._db.execute(
            f"INSERT INTO file ({', '.join(names)}, facts, uuids) VALUES ({', '.join('?' * (len(names) + 2))})",
            (*values, data, uuids),
        )
        return int(done.lastrowid or 0)

    def add_pieces(self, file: int, session: int, first: int, pieces: Sequence[Piece]) -> int:
        """Append conversation rows of one file to a session that has `first` rows; returns the new count."""
        base = session << SHIFT
        if first + len(pieces) > ROWS:
            pieces = pieces[: ROWS - first]
        self._db.executemany(
            "INSERT INTO conv(rowid, user, assistant, actions, aside) VALUES (?, ?, ?, ?, ?)",
            [(base | (first + n), *piece.zones) for n, piece in enumerate(pieces)],
        )
        self._db.executemany(
            "INSERT INTO piece VALUES (?, ?, ?, ?, ?, ?)",
            [
                (base | (first + n), file, piece.start, piece.stop, min(piece.words, 65535), piece.key)
                for n, piece in enumerate(pieces)
            ],
        )
        return first + len(pieces)

    def words_of(self, session: int) -> int:
        """Words spoken in the rows of a session."""
        base = session << SHIFT
        row = self._db.execute(
            "SELECT sum(words) FROM piece WHERE rowid BETWEEN ? AND ?", (base, base | ROWS)
        ).fetchone()
        return int(row[0] or 0)

    def set_file_source(self, no: int, source: str) -> None:
        """The client keeps the file at another place now."""
        self._db.execute("UPDATE file SET source = ? WHERE no = ?", (source, no))

    def move_file(self, no: int, copy: str, kind: str) -> None:
        """The copy of a file was set aside: its row goes on under another name."""
        self._db.execute("UPDATE file SET copy = ?, kind = ? WHERE no = ?", (copy, kind, no))

    def drop_file(self, no: int) -> None:
        """Take one file out of the index."""
        self.bury(no)
        self._db.execute("DELETE FROM file WHERE no = ?", (no,))

    def add_prints(self, file: int, session: int, rows: Iterable[Printed], done: int) -> None:
        """Append output rows of one file, and note that its copy is taken in up to byte `done`."""
        base = session << SHIFT
        last = self._db.execute(
            "SELECT max(rowid) FROM out.print WHERE rowid BETWEEN ? AND ?", (base, base | ROWS)
        ).fetchone()[0]
        n = (last & ROWS) + 1 if last is not None else 0
        for row in rows:
            if n > ROWS:
                break
            self._db.execute("INSERT INTO out.outp(rowid, text) VALUES (?, ?)", (base | n, row.text))
            self._db.execute("INSERT INTO out.print VALUES (?, ?, ?, ?)", (base | n, file, row.start, row.stop))
            n += 1
        changed = self._db.execute("UPDATE out.printed SET done = ? WHERE file = ?", (done, file))
        if not changed.rowcount:
            self._db.execute("INSERT INTO out.printed VALUES (?, ?)", (file, done))

    def bury(self, file: int) -> None:
        """Take the rows of a file out of sight: it was rewritten, and will be read whole again."""
        for table, dead in (("piece", "dead"), ("out.print", "out.dead")):
            rows = self._db.execute(f"SELECT rowid FROM {table} WHERE file = ? ORDER BY rowid", (file,)).fetchall()
            first = last = -1
            for (row,) in rows:
                if last >= 0 and row == last + 1:
                    last = row
                    continue
                if last >= 0:
                    self._db.execute(f"INSERT OR REPLACE INTO {dead} VALUES (?, ?)", (first, last))
                first = last = row
            if last >= 0:
                self._db.execute(f"INSERT OR REPLACE INTO {dead} VALUES (?, ?)", (first, last))
            self._db.execute(f"DELETE FROM {table} WHERE file = ?", (file,))
        self._db.execute("DELETE FROM out.printed WHERE file = ?", (file,))

    def forget_session(self, no: int) -> None:
        """Take a session out of the index: its rows are dead, its names gone."""
        for (file,) in self._db.execute("SELECT no FROM file WHERE session = ?", (no,)).fetchall():
            self.bury(file)
        self._db.execute("DELETE FROM source WHERE copy IN (SELECT copy FROM file WHERE session = ?)", (no,))
        self._db.execute("DELETE FROM file WHERE session = ?", (no,))
        self._db.execute("DELETE FROM card WHERE session = ?", (no,))
        self._db.execute("DELETE FROM head WHERE rowid = ?", (no,))
        self._db.execute("DELETE FROM session WHERE no = ?", (no,))

    def waste(self) -> tuple[int, int]:
        """(rows that nobody may see, all rows): of the conversation and, where that is worse, of the tool output.

        A row of output is up to sixteen times as long as one of the conversation, and counts as so many.
        """
        out = []
        for dead, piece, weight in (("dead", "piece", 1), ("out.dead", "out.print", 16)):
            buried = self._db.execute(f"SELECT coalesce(sum(last - first + 1), 0) FROM {dead}").fetchone()[0]
            alive = self._db.execute(f"SELECT count(*) FROM {piece}").fetchone()[0]
            out.append((int(buried) * weight, int(buried + alive) * weight))
        return max(out, key=lambda pair: pair[0] / (pair[1] or 1))

    def settle(self) -> None:
        """Write the log back into the files, and let it go."""
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    # -- sessions and files ------------------------------------------------------------------------------------

    def sources(self) -> dict[str, tuple[int, int, int, str]]:
        """What the walk saw last: path -> (size, mtime in ns, inode, path of the copy)."""
        return {row[0]: row[1:] for row in self._db.execute("SELECT path, size, mtime, ino, copy FROM source")}

    def seen(self) -> set[tuple[str, int, int, int]]:
        """What the walk saw last: (path, size, mtime in ns, inode) of each file."""
        return set(self._db.execute("SELECT path, size, mtime, ino FROM source"))

    def source(self, path: str) -> tuple[int, int, int, str] | None:
        row: tuple[int, int, int, str] | None = self._db.execute(
            "SELECT size, mtime, ino, copy FROM source WHERE path = ?", (path,)
        ).fetchone()
        return row

    def source_of(self, copy: str) -> str:
        """Where the client keeps (or kept) the file whose copy is at `copy`; '' when it was never seen."""
        row = self._db.execute("SELECT path FROM source WHERE copy = ?", (copy,)).fetchone()
        return row[0] if row else ""

    def stale(self, versions: Mapping[str, str]) -> list[Transcript]:
        """Files that were read by other versions than these (client -> what its files must carry)."""
        marks = " AND ".join("NOT (client = ? AND versions = ?)" for _ in versions) or "1"
        values = [value for pair in versions.items() for value in pair]
        rows = self._db.execute(f"SELECT {_FILE} FROM file WHERE {marks} ORDER BY session, kind, no", values)
        return [Transcript._make(row) for row in rows]

    def file_count(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM file").fetchone()[0])

    def sessions(self) -> list[Session]:
        """All sessions of the index, in no order."""
        return [Session._make(row) for row in self._db.execute(f"SELECT {_SESSION} FROM session")]

    def session(self, no: int) -> Session | None:
        row = self._db.execute(f"SELECT {_SESSION} FROM session WHERE no = ?", (no,)).fetchone()
        return Session._make(row) if row else None

    def glances(self, numbers: Iterable[int] | None = None, *, bare: bool = False) -> list[Glance]:
        """A glance at the sessions with these numbers, or at all. `bare`: only at those that have a row of their own, and
        only at what decides the order of their rows."""
        where = "1" if numbers is None else f"no IN ({','.join(map(str, sorted(numbers)))})"
        columns, where = (_BARE_GLANCE, f"{where} AND {_HAS_ROW}") if bare else (_GLANCE, where)
        return [Glance._make(row) for row in self._db.execute(f"SELECT {columns} FROM session WHERE {where}")]

    def sessions_by_no(self, numbers: Iterable[int]) -> dict[int, Session]:
        """The sessions with these numbers."""
        marks = ",".join(str(int(no)) for no in numbers)
        rows = self._db.execute(f"SELECT {_SESSION} FROM session WHERE no IN ({marks})")
        return {row[0]: Session._make(row) for row in rows}

    def sessions_like(self, prefix: str, limit: int = 20) -> list[Session]:
        """Sessions whose id begins with `prefix` (no wildcards in it), newest first."""
        rows = self._db.execute(
            f"SELECT {_SESSION} FROM session WHERE id >= ? AND id < ? ORDER BY updated DESC LIMIT ?",
            (prefix, prefix + "\U0010ffff", limit),
        )
        return [Session._make(row) for row in rows]

    # -- cards -------------------------------------------------------------------------------------------------

    def card_files(self) -> dict[str, tuple[int, int, int]]:
        """Card files as they were taken in: name -> (mtime in ns, size, number of the session)."""
        return {row[0]: row[1:] for row in self._db.execute("SELECT name, mtime, size, session FROM card")}

    def cards_of(self, session: int) -> dict[str, tuple[int, Card]]:
        """The cards of a session: name of the file -> (mtime in ns, card without unknown keys)."""
        rows = self._db.execute(f"SELECT name, mtime, {', '.join(_CARD)} FROM card WHERE session = ?", (session,))
        return {row[0]: (row[1], _card(row[2:])) for row in rows}

    def borrowed(self) -> set[int]:
        """Sessions whose row says nothing of a card, though an earlier part of their chain has one."""
        rows = self._db.execute(
            "SELECT s.no FROM session m JOIN card c ON c.session = m.no JOIN session s ON s.no = m.chain_to"
            " WHERE m.chain_to != 0 AND s.status = ''"
        )
        return {no for (no,) in rows}

    def chain(self, session: int) -> list[Session]:
        """The earlier parts of a session's chain."""
        rows = self._db.execute(f"SELECT {_SESSION} FROM session WHERE chain_to = ?", (session,))
        return [Session._make(row) for row in rows]

    def misplaced(self) -> list[str]:
        """Card files taken in before there was a transcript, whose session has another row by now."""
        rows = self._db.execute(
            "SELECT c.name FROM card c JOIN session s ON s.no = c.session WHERE NOT EXISTS (SELECT 1 FROM file WHERE session = s.no)"
            " AND (EXISTS (SELECT 1 FROM session o WHERE o.id = s.id AND o.no != s.no) OR (length(s.id) BETWEEN 8 AND 13"
            " AND 1 = (SELECT count(*) FROM session o WHERE o.id > s.id AND o.id < s.id || x'f48fbfbf')))"
        )
        return [name for (name,) in rows]

    def files(self, session: int | None = None) -> list[Transcript]:
        """The files of one session, or of all."""
        where = "" if session is None else " WHERE session = ?"
        rows = self._db.execute(f"SELECT {_FILE} FROM file{where} ORDER BY no", () if session is None else (session,))
        return [Transcript._make(row) for row in rows]

    def file_by_copy(self, copy: str) -> Transcript | None:
        row = self._db.execute(f"SELECT {_FILE} FROM file WHERE copy = ?", (copy,)).fetchone()
        return Transcript._make(row) if row else None

    def file_by_no(self, no: int) -> Transcript | None:
        row = self._db.execute(f"SELECT {_FILE} FROM file WHERE no = ?", (no,)).fetchone()
        return Transcript._make(row) if row else None

    def ids(self) -> list[tuple[str, str]]:
        """(client, id) of all sessions."""
        return self._db.execute("SELECT client, id FROM session").fetchall()

    def ids_beside(self, sessions: Iterable[str]) -> list[tuple[str, str]]:
        """(client, id) of these sessions, and of those before and behind each in the order of ids: what their short ids
        must differ from."""
        out: set[tuple[str, str]] = set()
        for session in sessions:
            for there, order in (("< ?", "DESC"), ("> ?", "ASC"), ("= ?", "ASC")):
                sql = f"SELECT client, id FROM session WHERE id {there} ORDER BY id {order} LIMIT 2"
                out.update(self._db.execute(sql, (session,)))
        return list(out)

    def facts(self, file: int, from_json: Any) -> Facts:
        """The facts of a file, with its uuids."""
        row = self._db.execute("SELECT facts, uuids FROM file WHERE no = ?", (file,)).fetchone()
        if not row:
            return _facts({})
        facts = _facts(from_json(row[0]))
        facts.uuids = _numbers(row[1])
        return facts

    def facts_of(self, session: int, from_json: Any) -> list[tuple[Transcript, Facts]]:
        """The files of a session with their facts (without uuids)."""
        rows = self._db.execute(f"SELECT {_FILE}, facts FROM file WHERE session = ?", (session,)).fetchall()
        return [(Transcript._make(row[:-1]), _facts(from_json(row[-1]))) for row in rows]

    def all_uuids(self) -> Iterator[tuple[int, list[int]]]:
        """(session, uuids in order) of every main file that has some."""
        for session, blob in self._db.execute(
            "SELECT session, uuids FROM file WHERE kind = 'main' AND length(uuids) > 3"
        ):
            yield session, _numbers(blob)

    def unprinted(self) -> list[tuple[Transcript, int]]:
        """Files whose output is not taken in as far as their conversation, with the byte to go on from."""
        rows = self._db.execute(
            f"SELECT {', '.join('f.' + name for name in Transcript._fields)}, coalesce(p.done, 0) FROM file f"
            " LEFT JOIN out.printed p ON p.file = f.no WHERE coalesce(p.done, 0) < f.done ORDER BY f.session, f.no"
        ).fetchall()
        return [(Transcript._make(row[:-1]), int(row[-1])) for row in rows]

    def skipped(self, from_json: Any) -> dict[str, dict[str, int]]:
        """Client -> what was passed over -> how often, over all files ('type X' for unknown record types)."""
        out: dict[str, dict[str, int]] = {}
        marks = (b'"skipped":', b'"unknown":')  # not LIKE: some builds of SQLite never let it match a blob
        for client, blob in self._db.execute(
            "SELECT client, facts FROM file WHERE instr(facts, ?) OR instr(facts, ?)", marks
        ):
            data = from_json(blob)
            mine = out.setdefault(client, {})
            for key, name in (("skipped", "{}"), ("unknown", "type {}")):
                for why, count in data.get(key, {}).items():
                    label = name.format(why)
                    mine[label] = mine.get(label, 0) + count
        return out

    def newest(self) -> float:
        """Time of the newest event of all sessions, 0.0 when there are none."""
        return float(self._db.execute("SELECT coalesce(max(updated), 0) FROM session").fetchone()[0])

    def totals(self) -> tuple[int, float, float, float]:
        """Sessions; mean words of one that has some; mean words of a row; time of the newest event."""
        count, words, with_words, pieces, newest = self._db.execute(
            "SELECT count(*), coalesce(sum(words), 0), coalesce(sum(words > 0), 0), coalesce(sum(pieces), 0),"
            " coalesce(max(CASE WHEN hidden THEN 0 ELSE updated END), 0) FROM session"
            f" WHERE {_HAS_ROW}"
        ).fetchone()
        return int(count), words / (with_words or 1), words / (pieces or 1), float(newest)

    def chained(self) -> dict[int, int]:
        """Member of a chain -> the session that it is shown as."""
        return dict(self._db.execute("SELECT no, chain_to FROM session WHERE chain_to != 0").fetchall())

    def shared(self, sessions: int) -> set[int]:
        """Rows whose request begins as one in at least so many sessions does: templates, injected instructions."""
        often = self._db.execute(
            "SELECT key FROM piece WHERE key != 0 GROUP BY key HAVING count(*) >= ?", (sessions,)
        ).fetchall()
        if not often:
            return set()
        keys = ",".join(str(int(key)) for (key,) in often)
        rows = self._db.execute(
            f"SELECT rowid FROM piece WHERE key != 0 AND key IN (SELECT p.key FROM piece p JOIN session s"
            f" ON s.no = p.rowid >> 20 WHERE p.key != 0 AND p.key IN ({keys}) AND s.chain_to = 0 AND s.fork_of = ''"
            " GROUP BY p.key HAVING count(DISTINCT s.no) >= ?)",
            (sessions,),
        )
        return {row for (row,) in rows}

    def spellings(self, word: str) -> Iterator[tuple[str, int]]:
        """Words of the conversation that begin as `word` does and are about as long, with their rows."""
        first = word[0]
        rows = self._db.execute(
            "SELECT term, doc FROM conv_words WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?",
            (first, chr(ord(first) + 1), len(word) - 2, len(word) + 2),
        )
        letters = set(word)
        for term, doc in rows:
            if len(letters.symmetric_difference(term)) <= 4:
                yield term, doc

    def count(self) -> int:
        """Sessions that have a row of their own: no members of chains, no files with nothing but bookkeeping."""
        return int(self._db.execute(f"SELECT count(*) FROM session WHERE {_HAS_ROW}").fetchone()[0])

    def place(self, row: int) -> tuple[int, int, int] | None:
        """(file, first line, last line) of a conversation row: offsets in the copy."""
        got: tuple[int, int, int] | None = self._db.execute(
            "SELECT file, start, stop FROM piece WHERE rowid = ?", (row,)
        ).fetchone()
        return got

    # -- searching ---------------------------------------------------------------------------------------------

    def vocabulary(self, first: str, after: str, limit: int = 4000) -> dict[str, int]:
        """Indexed words w with first <= w < after, and about how many rows hold them, over all tables."""
        out: dict[str, int] = {}
        for table in ("conv_words", "head_words", "out.outp_words"):
            rows = self._db.execute(
                f"SELECT term, doc FROM {table} WHERE term >= ? AND term < ? LIMIT ?", (first, after, limit)
            )
            for term, doc in rows:
                out[term] = out.get(term, 0) + doc
        return out

    def rows_with(self, word: str) -> int:
        """How many conversation rows hold exactly this word."""
        row = self._db.execute("SELECT doc FROM conv_words WHERE term = ?", (word,)).fetchone()
        return int(row[0]) if row else 0

    def occurrences(self, words: Mapping[str, float]) -> list[Occurrence]:
        """Where these words stand in the conversation, each counted with its weight."""
        zones = {name: zone for zone, name in enumerate(_ZONES)}
        out: list[Occurrence] = []
        for word, weight in words.items():
            counts = Counter(self._db.execute("SELECT doc, col FROM conv_word WHERE term = ?", (word,)))
            out += [(row, zones[col], count * weight) for (row, col), count in counts.items()]
        return self._alive(out)

    def phrase(self, words: Sequence[str]) -> list[Occurrence]:
        """Rows of the conversation with these words side by side, by zone; each row counts once."""
        phrase = _quote(" ".join(words))
        out: list[Occurrence] = []
        if not self._db.execute("SELECT 1 FROM conv WHERE conv MATCH ? LIMIT 1", (phrase,)).fetchone():
            return out
        for zone, name in enumerate(_ZONES):
            rows = self._db.execute("SELECT rowid FROM conv WHERE conv MATCH ?", (f"{name} : {phrase}",))
            out.extend([(row, zone, 1.0) for (row,) in rows])
        return self._alive(out)

    def common(self, word: str) -> list[Occurrence]:
        """As `occurrences` for one very common word, much cheaper: rows only, each counting once."""
        return self.phrase([word])

    def heads(self, words: Mapping[str, float]) -> dict[int, dict[str, float]]:
        """session -> field of its head -> weight of the best word of these that stands there."""
        out: dict[int, dict[str, float]] = {}
        for word, weight in words.items():
            for no, field in self._db.execute("SELECT doc, col FROM head_word WHERE term = ?", (word,)):
                fields = out.setdefault(no, {})
                fields[field] = max(fields.get(field, 0.0), weight)
        return out

    def head_phrase(self, words: Sequence[str]) -> dict[int, dict[str, float]]:
        """As `heads`, for words side by side."""
        out: dict[int, dict[str, float]] = {}
        phrase = _quote(" ".join(words))
        if not self._db.execute("SELECT 1 FROM head WHERE head MATCH ? LIMIT 1", (phrase,)).fetchone():
            return out
        for field in _HEADS:
            for (no,) in self._db.execute("SELECT rowid FROM head WHERE head MATCH ?", (f"{field} : {phrase}",)):
                out.setdefault(no, {})[field] = 1.0
        return out

    def rows_of(self, session: int, words: Iterable[str]) -> dict[int, int]:
        """Rows of a session's conversation that hold some of these words, with how many of them."""
        base = session << SHIFT
        dead = self._buried("dead")
        out: dict[int, int] = {}
        for word in words:
            for (row,) in self._db.execute(
                "SELECT rowid FROM conv WHERE conv MATCH ? AND rowid BETWEEN ? AND ?", (_quote(word), base, base | ROWS)
            ):
                if not dead or not _within(row, dead):
                    out[row] = out.get(row, 0) + 1
        return out

    def printed(self, options: Iterable[Sequence[str]]) -> set[int]:
        """Sessions whose tool output holds all words of one of these options in one row."""
        parts = [" AND ".join(map(_quote, option)) for option in options if option]
        if not parts:
            return set()
        query = " OR ".join(f"({part})" for part in parts)
        dead = self._buried("out.dead")
        if not dead:
            sql = f"SELECT DISTINCT rowid >> {SHIFT} FROM out.outp WHERE outp MATCH ?"
            return {no for (no,) in self._db.execute(sql, (query,))}
        rows = self._db.execute("SELECT rowid FROM out.outp WHERE outp MATCH ?", (query,))
        return {row >> SHIFT for (row,) in rows if not _within(row, dead)}

    def turns(self, rows: Collection[int]) -> Mapping[int, int]:
        """Words spoken in each of these rows (and perhaps in others)."""
        where = f" WHERE rowid IN ({','.join(map(str, sorted(rows)))})"
        if len(rows) > MANY and len(rows) * 2 > self._db.execute("SELECT count(*) FROM piece").fetchone()[0]:
            where = ""  # to pick so many costs more than to read all
        return dict(self._db.execute(f"SELECT rowid, words FROM piece{where}").fetchall())

    def _alive(self, found: list[Occurrence]) -> list[Occurrence]:
        dead = self._buried("dead")
        return [one for one in found if not _within(one[0], dead)] if dead else found

    def _buried(self, table: str) -> list[tuple[int, int]]:
        return self._db.execute(f"SELECT first, last FROM {table} ORDER BY first").fetchall()

    def probe(self) -> list[str]:
        """What a quick look finds wrong with the index: each table can be read at its ends, and no file is shorter than it
        says. Damage in the middle of a table is for `check`, which reads all of it."""
        out = []
        for table in ("session", "file", "source", "card", "piece", "dead", "out.printed", "out.print"):
            out += self._tried(table, f"SELECT * FROM {table} ORDER BY 1 DESC LIMIT 1")
        for table in ("conv_words", "head_words", "out.outp_words"):
            out += self._tried(table, f"SELECT term FROM {table} LIMIT 1")
        for schema, path in (("main", self.path), ("out", output_path(self.path))):
            pages = int(self._db.execute(f"PRAGMA {schema}.page_count").fetchone()[0])
            size = int(self._db.execute(f"PRAGMA {schema}.page_size").fetchone()[0])
            if not exists(path + "-wal") and os.stat(path).st_size < pages * size:
                out.append(f"{os.path.basename(path)}: shorter than it should be")
        return out

    def _tried(self, name: str, sql: str) -> list[str]:
        try:
            self._db.execute(sql).fetchall()
        except sqlite3.DatabaseError as problem:
            if not is_damage(problem):
                raise
            return [f"{name}: {problem}"]
        return []

    def check(self) -> list[str]:
        """What SQLite and FTS5 find wrong with the index; empty when it is sound."""
        out = [row[0] for row in self._db.execute("PRAGMA quick_check") if row[0] != "ok"]
        for table in ("head", "conv", "out.outp"):
            try:
                self._db.execute(f"INSERT INTO {table}({table.rpartition('.')[2]}) VALUES ('integrity-check')")
            except sqlite3.DatabaseError as problem:
                out.append(f"{table}: {problem}")
        return out


def sqlite() -> tuple[str, bool]:
    """The version of SQLite, and whether it has FTS5."""
    db = sqlite3.connect(":memory:")
    try:
        db.execute("CREATE VIRTUAL TABLE one USING fts5(text)")
    except sqlite3.OperationalError:
        return sqlite3.sqlite_version, False
    finally:
        db.close()
    return sqlite3.sqlite_version, True


def _card(values: Sequence[Any]) -> Card:
    fields = dict(zip(_CARD, values, strict=True))
    for key in _LISTS:
        fields[key] = tuple(fields[key].split("\n")) if fields[key] else ()
    return Card(**fields)


def _facts(data: dict[str, object]) -> Facts:
    from recall.core.facts import Facts

    return Facts.from_dict(data)


def _numbers(blob: bytes) -> list[int]:
    import array

    numbers = array.array("I")
    numbers.frombytes(blob[: len(blob) // 4 * 4])
    return list(numbers)


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""').replace("\0", "") + '"'


def _within(row: int, ranges: list[tuple[int, int]]) -> bool:
    from bisect import bisect_right

    at = bisect_right(ranges, (row, 1 << 62)) - 1
    return at >= 0 and ranges[at][0] <= row <= ranges[at][1]


def output_path(path: str) -> str:
    """The file of tool output that belongs to the index at `path`."""
    folder, name = os.path.split(path)
    return os.path.join(folder, name.replace("index", "output", 1))


def lock_path(path: str) -> str:
    return os.path.join(os.path.dirname(path), "index.lock")


def exists(path: str) -> bool:
    try:
        return os.stat(path).st_size > 0
    except OSError:
        return False


def open_store(path: str, *, wait: float = 30.0) -> Store:
    """Open the index at `path` for reading and writing.

    Raises Unavailable when there is none or it cannot be opened, Damaged when it is no index, of another version
    (`Damaged.hint` says what to do) or its two files do not belong together.
    """
    lock = _share(path)
    if exists(path + NEW) and _swap_was_cut(path):
        os.close(lock)
        with alone(path):
            if _swap_was_cut(path):
                replace(path, path + NEW)
        lock = _share(path)
    try:
        if not exists(path):
            raise Unavailable("nothing is indexed yet", "run: recall sweep")
        db = _connect(path, wait)
        try:
            _check_version(db, path)
            _attach(db, path)
        except BaseException:
            db.close()
            raise
        return Store(db, lock, path)
    except BaseException:
        os.close(lock)
        raise


def create_store(path: str, *, build: str) -> Store:
    """Make an empty index at `path` (which must not be there); `build` is a name for this build, kept in both files."""
    lock = _share(path)
    old = os.umask(0o077)
    try:
        db = _connect(path, 30.0)
        db.execute("PRAGMA page_size = 8192")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("ATTACH ? AS out", (output_path(path),))
        db.execute("PRAGMA out.page_size = 8192")
        db.execute("PRAGMA out.journal_mode = WAL")
        db.execute("PRAGMA out.synchronous = NORMAL")
        with open(os.path.join(os.path.dirname(__file__), "schema.sql"), encoding="utf-8") as file:
            script = file.read().replace("{out}", "out").replace("{tokenizer}", TOKENIZER)
        db.execute("BEGIN IMMEDIATE")
        for statement in _statements(script):
            db.execute(statement)
        for table in ("main.meta", "out.meta"):
            db.execute(f"INSERT OR REPLACE INTO {table} VALUES ('build', ?), ('schema', ?)", (build, version()))
        db.execute("COMMIT")
    except BaseException:
        os.close(lock)
        raise
    finally:
        os.umask(old)
    return Store(db, lock, path)


def _statements(script: str) -> Iterator[str]:
    lines: list[str] = []
    for line in script.splitlines():
        if line.startswith("--"):
            continue
        lines.append(line)
        if line.rstrip().endswith(";"):
            yield "\n".join(lines)
            lines = []


def _share(path: str) -> int:
    """A shared lock on the right to have the index open; a file descriptor."""
    name = lock_path(path)
    try:
        fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        raise Unavailable("nothing is indexed yet", "run: recall sweep") from None
    except PermissionError:
        raise Unavailable(f"cannot open {name}: permission denied", "check the owner of the folder") from None
    except OSError as problem:
        raise Unavailable(f"cannot open {name}: {problem.strerror}", "") from None
    fcntl.flock(fd, fcntl.LOCK_SH)
    return fd


@contextmanager
def alone(path: str, *, wait: float = 30.0) -> Iterator[None]:
    """Hold the index for oneself, with no connection open anywhere; raises Unavailable after `wait` seconds."""
    fd = os.open(lock_path(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        end = time.monotonic() + wait
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() > end:
                    raise Unavailable("the index is in use by another recall", "close it and try again") from None
                time.sleep(0.05)
        yield
    finally:
        os.close(fd)


def replace(path: str, new: str) -> None:
    """Put the finished index `new` in the place of `path`; the caller holds `alone` and has closed both."""
    for old in (path, output_path(path)):
        for tail in ("-wal", "-shm", "-journal"):
            _unlink(old + tail)
    if exists(output_path(new)):
        os.replace(output_path(new), output_path(path))
    os.replace(new, path)
    discard(new)


def _swap_was_cut(path: str) -> bool:
    """Was `replace` killed between its two renames? Then the new output file is in place already, its index is not."""
    new = path + NEW
    return exists(new) and not os.path.exists(output_path(new)) and _build_of(new) == _build_of(output_path(path)) != ""


def _build_of(path: str) -> str:
    """The build that a database file says it is of; '' where it says none."""
    if not exists(path):
        return ""
    try:
        db = sqlite3.connect(path, timeout=5.0)
        try:
            row = db.execute("SELECT value FROM meta WHERE key = 'build'").fetchone()
            return str(row[0]) if row else ""
        finally:
            db.close()
    except sqlite3.DatabaseError:
        return ""


def is_damage(error: BaseException) -> bool:
    """Does this error say that the index holds something else than it should? (Then it is to be made again.)"""
    if not isinstance(error, sqlite3.DatabaseError):
        return False
    name = getattr(error, "sqlite_errorname", "")
    words = str(error)
    return name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or "no such table" in words or "vtable" in words


def is_of_data(error: BaseException) -> bool:
    """Is this an error of the index that one row's content caused, not the index, its disk or another process?"""
    return isinstance(error, (sqlite3.DataError, sqlite3.IntegrityError))


def is_of_index(error: BaseException) -> bool:
    """Is this an error of the index at all?"""
    return isinstance(error, sqlite3.Error)


def discard(path: str) -> None:
    """Remove an index and all that belongs to it."""
    for name in (path, output_path(path)):
        for tail in ("", "-wal", "-shm", "-journal"):
            _unlink(name + tail)


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def _connect(path: str, wait: float) -> sqlite3.Connection:
    try:
        db = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    except sqlite3.OperationalError as problem:
        raise Unavailable(f"cannot open {path}: {problem}", "check permissions and free space") from None
    try:
        db.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.DatabaseError as problem:
        db.close()
        if is_damage(problem):
            raise Damaged(f"{path} is no index of recall: {problem}", "run: recall reindex") from None
        raise
    return db


def _check_version(db: sqlite3.Connection, path: str) -> None:
    try:
        row = db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
    except sqlite3.DatabaseError as problem:
        if "locked" in str(problem) or "unable to open" in str(problem):
            raise Unavailable(f"cannot read {path}: {problem}", "try again") from None
        raise Damaged(f"{path} is no index of recall: {problem}", "run: recall reindex") from None
    have = row[0] if row else ""
    if have == version():
        return
    newer = have.partition(".")[0].isdigit() and int(have.partition(".")[0]) > SCHEMA
    if newer:
        raise NewerIndex(
            f"{path} was made by a newer recall (schema {have}, this one knows {version()})",
            "upgrade recall, or run: recall reindex",
        )
    raise OlderIndex(f"{path} was made by an older recall", "run: recall reindex")


class OlderIndex(Damaged):
    """Made by an earlier version: to be made again."""


class NewerIndex(Damaged):
    """Made by a later version: not to be touched without being asked."""


def _attach(db: sqlite3.Connection, path: str) -> None:
    other = output_path(path)
    if not exists(other):
        raise Damaged(f"{other} is missing", "run: recall reindex")
    db.execute("ATTACH ? AS out", (other,))
    try:
        mine = db.execute("SELECT value FROM main.meta WHERE key = 'build'").fetchone()
        theirs = db.execute("SELECT value FROM out.meta WHERE key = 'build'").fetchone()
    except sqlite3.DatabaseError as problem:
        raise Damaged(f"{other}: {problem}", "run: recall reindex") from None
    if mine != theirs:
        raise Damaged(f"{other} belongs to another index", "run: recall reindex")
    db.execute("PRAGMA out.synchronous = NORMAL")
