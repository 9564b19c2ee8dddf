"""Archive and index everything that changed: the work of the timer, of `recall sweep`, and of a fresh `find`.

One sweep runs at a time. Each file is copied first and read from its copy; its rows, and how far it was read, are
written in one transaction, so a sweep that was killed at any point goes on where it was. What cannot be read is
told once and does not stop the rest. A source that is missing is never a deletion.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import orjson

from recall import clients
from recall.actions.lineage import Lineage
from recall.actions.reading import Reading
from recall.actions.walk import Found, homes, walk
from recall.archive import append
from recall.archive.store import adopted, generations, refresh
from recall.archive.sums import Sums
from recall.core import redact, text
from recall.core.facts import Facts
from recall.core.model import PRINTED, SPOKEN, Session, Transcript
from recall.core.session import is_searcher, main_of, pieces, printed, project_of
from recall.errors import Damaged, Unavailable
from recall.files import Lock, make_private_dir
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import NewerIndex, Store, create_store, discard, exists, open_store

_BATCH = 24 << 20  # bytes of transcripts taken in between two commits
_HASH = 24  # MB that FTS5 collects before it writes


def nothing(*_: object) -> None:
    """A listener that does not care."""


@dataclass
class Report:
    """What a sweep did. Counts are of files, bytes where it says so; `problems` are those not told before."""

    busy: bool = False  # another sweep was running: nothing was done
    unmounted: bool = False  # the archive's disk is not there: nothing was copied
    seen: int = 0
    new: int = 0
    grown: int = 0
    rewritten: int = 0
    companions: int = 0  # files that are kept, not indexed: how many were copied
    sessions: int = 0
    read: int = 0  # bytes read from sources
    indexed: int = 0  # bytes of transcripts taken in
    rebuilt: bool = False
    failing: int = 0  # files and folders with a problem, known ones included
    problems: list[str] = field(default_factory=list)
    touched: set[int] = field(default_factory=set)  # sessions with something new

    @property
    def changed(self) -> int:
        return self.new + self.grown + self.rewritten


class Sweep:
    """One pass. `progress(done, total, what)` is told bytes; `output` False leaves tool output for later."""

    def __init__(
        self,
        settings: Settings,
        *,
        progress: Callable[[int, int, str], None] = nothing,
        output: bool = True,
    ) -> None:
        self.settings = settings
        self.progress = progress
        self.output = output
        self.report = Report()
        self.shelf = Shelf(settings.data, settings.state)
        self._troubles: dict[str, str] = {}
        self._dirty: set[int] = set()

    @cached_property
    def adopted(self) -> frozenset[str]:
        return adopted(self.settings.archive)

    @cached_property
    def sums(self) -> Sums:
        return Sums(self.settings.archive)

    # -- the pass ----------------------------------------------------------------------------------------------

    def run(self) -> Report:
        """Archive and index what changed; leaves at once when another sweep is running."""
        make_private_dir(self.settings.state)
        with Lock(os.path.join(self.settings.state, "sweep.lock"), wait=False) as held:
            if held is None:
                self.report.busy = True
                return self.report
            if not append.ready(self.settings.archive, self.settings.state):
                self.report.unmounted = True
                return self.report
            store = self.open()
            try:
                self._pass(store)
            finally:
                store.close()
        return self.report

    def open(self) -> Store:
        """The index, made anew where there is none that can be used; a newer one is refused."""
        path = self.settings.index
        if exists(path):
            try:
                return open_store(path)
            except NewerIndex:
                raise
            except Damaged as problem:
                from recall.actions.reindex import rebuild

                self.report.rebuilt = True
                self.report.problems.append(f"{problem.message}; made again from the archive")
                rebuild(self.settings, progress=self.progress, output=False)
                return open_store(path)
        discard(path)
        store = create_store(path, build=secrets.token_hex(8))
        if any(os.path.isdir(os.path.join(self.settings.archive, name)) for name in ("claude", "codex")) or self.adopted:
            store.close()
            from recall.actions.reindex import rebuild

            self.report.rebuilt = True
            rebuild(self.settings, progress=self.progress, output=False)
            return open_store(path)
        return store

    def _pass(self, store: Store) -> None:
        known = store.sources()
        changed: list[Found] = []
        for home in homes(self.settings):
            for found in walk(home, self._trouble):
                self.report.seen += 1
                before = known.get(found.path)
                if before is None or before[:3] != (found.size, found.mtime, found.ino):
                    changed.append(found)
        if changed:
            self.take(store, changed, known)
        if self.output:
            self.take_output(store)
        self.report.sessions = store.count()
        self._tell_troubles()
        if changed:
            waste, rows = store.waste()
            if waste > max(200, rows // 10):
                self._rebuild_later(store)
                return
            store.settle()

    def _rebuild_later(self, store: Store) -> None:
        from recall.actions.reindex import rebuild

        store.close()
        rebuild(self.settings, progress=self.progress, output=self.output)

    def take(self, store: Store, changed: list[Found], known: dict[str, tuple[int, int, int, str]]) -> None:
        """Archive and index these files, sessions with the newest change first."""
        newest: dict[str, int] = {}
        for found in changed:
            key = found.place.session or found.path
            newest[key] = max(newest.get(key, 0), found.mtime)
        order = {"main": 0, "sub": 1, "companion": 2, "history": 3}
        changed.sort(
            key=lambda found: (
                -newest[found.place.session or found.path],
                found.place.session or found.path,
                order[found.place.kind],
                found.path.endswith(".zst"),
                found.path,
            )
        )
        total = sum(found.size for found in changed)
        lineage = Lineage()
        names_changed = False
        done = 0
        store.bulk(_HASH)
        at = 0
        with self.sums:
            while at < len(changed):
                size = 0
                with store.writing():
                    while at < len(changed) and size < _BATCH:
                        found = changed[at]
                        size += found.size
                        names_changed |= found.place.kind == "history"
                        self._take_one(store, found, known.get(found.path), lineage)
                        at += 1
                        self.progress(done + size, total, "reading")
                    self.settle_dirty(store)
                done += size
            with store.writing():
                lineage.settle(store, self.settings)
                if names_changed:
                    self._names(store)

    def settle_dirty(self, store: Store) -> None:
        """Make the rows of all sessions that got something new. In a transaction."""
        for no in sorted(self._dirty):
            self.settle_session(store, no)
        self._dirty.clear()

    def _take_one(
        self, store: Store, found: Found, before: tuple[int, int, int, str] | None, lineage: Lineage
    ) -> None:
        if append.purged(self.settings.state, found.place.session):
            return
        try:
            copy = append.locate(self.settings.archive, found.place.archive, self.adopted)
            kept = refresh(
                self.settings.archive,
                copy,
                found.path,
                self.sums,
                force=before is not None and before[2] != found.ino,
            )
        except OSError as problem:
            self._trouble(found.path, problem)
            return
        copy = copy.removesuffix(".zst")
        self.report.read += kept.read
        if kept.problem:
            self._trouble(found.path, kept.problem)
        if found.place.kind in ("main", "sub"):
            kind = self.take_copy(store, found.client, copy, found.place.kind, found.place.session, found.path, lineage)
            self.report.new += kind == "new"
            self.report.grown += kind == "grown"
            self.report.rewritten += kind == "rewritten"
        elif kept.kind != "same":
            self.report.companions += 1
            if copy.endswith("/custom-title.json"):
                session = store.sessions_like(found.place.session, 1)
                if session and session[0].id == found.place.session:
                    self._dirty.add(session[0].no)
        store.set_source(found.path, found.size, found.mtime, found.ino, copy)

    def take_copy(
        self, store: Store, client: str, copy: str, kind: str, session: str, source: str, lineage: Lineage
    ) -> str:
        """Index what is new in one copy; 'new', 'grown', 'rewritten' or '' (nothing was). In a transaction."""
        path = os.path.join(self.settings.archive, copy)
        status = os.stat(path)
        versions = self.versions(client)
        file = store.file_by_copy(copy)
        what = "new"
        if file is not None:
            if file.mark == str(status.st_ino) and file.versions == versions:
                if file.done >= status.st_size:
                    return ""
                what = "grown"
            else:
                what = "rewritten" if file.mark != str(status.st_ino) else "grown"
                self._put_aside(store, file, copy)
                file = None
        if status.st_size == 0:
            return ""
        facts = store.facts(file.no, orjson.loads) if file else Facts()
        facts.tools.clear()
        try:
            owner = session
            if file is None and (not session or client == "codex"):
                owner, kind = self._owner(client, path, session, kind)
            no = file.session if file else store.session_no(client, owner)
            self._read(store, client, path, file, facts, no, copy, kind, source, str(status.st_ino), versions)
        except OSError as problem:
            self._trouble(path, problem)
            return ""
        lineage.note(no, new=what != "grown")
        self._dirty.add(no)
        self.report.touched.add(no)
        return what

    def versions(self, client: str) -> str:
        """What must be the same for rows to be still right: parser, redaction, folding."""
        return f"{clients.get(client).version}.{redact.VERSION}.{text.VERSION}"

    def _read(
        self,
        store: Store,
        client: str,
        path: str,
        file: Transcript | None,
        facts: Facts,
        session: int,
        copy: str,
        kind: str,
        source: str,
        mark: str,
        versions: str,
    ) -> None:
        start = file.done if file else 0
        reading = Reading(path, start, facts, self.settings.max_line)
        if file is None:
            no = store.put_file(Transcript(0, session, client, copy, kind, source, 0, mark, versions), facts, orjson.dumps)
        else:
            no = file.no
        row = store.session(session)
        count = row.pieces if row else 0
        rows = pieces(clients.get(client).parse(reading.lines(), facts, SPOKEN), redact.redact)
        while some := list(islice(rows, 200)):
            count = store.add_pieces(no, session, count, some)
        done = reading.end
        self.report.indexed += done - start
        clean_facts(facts)
        store.put_file(Transcript(no, session, client, copy, kind, source, done, mark, versions), facts, orjson.dumps)
        if row:
            store.put_session(row._replace(pieces=count))

    def _owner(self, client: str, path: str, session: str, kind: str) -> tuple[str, str]:
        """Whose session a file is: sub-agents kept among the sessions name their parent in the records."""
        facts = Facts()
        reading = Reading(path, 0, facts, self.settings.max_line)
        for _ in clients.get(client).parse(islice(reading.lines(), 40), facts, SPOKEN):
            pass
        if facts.sub and facts.parent:
            return facts.parent, "sub"
        if kind == "sub":
            return facts.parent or facts.session or os.path.basename(path).removesuffix(".jsonl"), kind
        return session or facts.session or os.path.basename(path).removesuffix(".jsonl"), kind

    def _put_aside(self, store: Store, file: Transcript, copy: str) -> None:
        """The copy begins anew. Its old rows go, unless the older generation holds more than the new one does."""
        older = next(
            (one for one in generations(self.settings.archive, copy) if one.generation and str(one.ino) == file.mark), None
        )
        if older is None or file.versions != self.versions(file.client):
            store.drop_file(file.no)
            return
        had = store.facts(file.no, orjson.loads)
        facts = Facts()
        reading = Reading(os.path.join(self.settings.archive, copy), 0, facts, self.settings.max_line)
        for _ in clients.get(file.client).parse(reading.lines(), facts, SPOKEN):
            pass
        contained = set(had.uuids) <= set(facts.uuids) if had.uuids else had.events <= facts.events
        if contained:
            store.drop_file(file.no)
            return
        # One older generation is enough to find what was lost, however often the client rewrites.
        for other in store.files(file.session):
            if other.kind == "older" and other.copy.startswith(copy + ".g"):
                if store.facts(other.no, orjson.loads).events >= had.events:
                    store.drop_file(file.no)
                    return
                store.drop_file(other.no)
        store.move_file(file.no, older.file, "older")

    # -- sessions ----------------------------------------------------------------------------------------------

    def settle_session(self, store: Store, no: int) -> None:
        """Make a session's row again from the facts of its files."""
        row = store.session(no)
        if row is None:
            return
        files = store.facts_of(no, orjson.loads)
        mains = [facts for file, facts in files if file.kind == "main"]
        lost = not mains
        if not mains:
            mains = [facts for _, facts in files if facts.events] or [facts for _, facts in files]
        if not mains:
            return
        facts = main_of(mains)
        title, by = self._title(row, facts, files)
        fresh = row._replace(
            cwd=facts.cwd or row.cwd,
            project=project_of(facts.cwd or row.cwd),
            branch=facts.branch,
            title=redact.redact(title),
            title_by=by,
            ask=redact.redact(facts.first_ask),
            started=facts.started,
            updated=max((one.updated for _, one in files), default=facts.updated),
            messages=facts.users + facts.answers,
            events=facts.events,
            hidden=facts.headless and not lost,
            meta=is_searcher(facts),
            lost=lost,
            words=store.words_of(no),
            fork_of=row.fork_of or facts.fork_of,
        )
        store.put_session(fresh)
        store.put_head(no, self.head(fresh))

    def head(self, row: Session) -> dict[str, str]:
        """What stands above a session's transcript, folded."""
        return {
            "title": text.fold(row.title),
            "project": text.fold(f"{row.project} {row.branch}"),
            "ask": text.fold(row.ask[:600]),
        }

    def _title(self, row: Session, facts: Facts, files: list[tuple[Transcript, Facts]]) -> tuple[str, str]:
        """The session's title, and whose it is. The client's own note beside the transcript says who gave a name."""
        name = self.shelf.name(row.id)
        if name:
            return name, "user"
        if row.client == "codex":
            given = self.names.get(row.id, "")
            return (given, "user") if given else (facts.title, facts.title_by)
        note = None
        main = next((file for file, _ in files if file.kind == "main"), None)
        if main is not None:
            path = os.path.join(self.settings.archive, main.copy.removesuffix(".jsonl"), "custom-title.json")
            try:
                with open(path, "rb") as file:
                    note = orjson.loads(file.read(65536))
            except (OSError, orjson.JSONDecodeError):
                note = None
        if isinstance(note, dict):
            by, given = note.get("by"), note.get("customTitle")
            if by == "user" and isinstance(given, str) and given:
                return given[:500], "user"
            if by == "carried" and facts.title_by == "user":
                return "", ""
        return facts.title, facts.title_by

    @cached_property
    def names(self) -> dict[str, str]:
        """Codex: session -> its name; the last line of an id wins."""
        out: dict[str, str] = {}
        for home in homes(self.settings):
            if home.client != "codex":
                continue
            path = os.path.join(self.settings.archive, home.prefix, "session_index.jsonl")
            try:
                with open(path, "rb") as file:
                    for line in file:
                        try:
                            item = orjson.loads(line)
                        except orjson.JSONDecodeError:
                            continue
                        if isinstance(item, dict):
                            session, name = item.get("id"), item.get("thread_name")
                            if isinstance(session, str) and isinstance(name, str):
                                out[session] = name[:500]
            except OSError:
                continue
        return out

    def _names(self, store: Store) -> None:
        self.__dict__.pop("names", None)
        for row in store.sessions():
            if row.client == "codex" and redact.redact(self.names.get(row.id, "")) != row.title and row.id in self.names:
                self.settle_session(store, row.no)

    # -- tool output -------------------------------------------------------------------------------------------

    def take_output(self, store: Store) -> None:
        """Index the tool output of all transcripts whose conversation is further."""
        waiting = store.unprinted()
        if not waiting:
            return
        total = sum(file.done - done for file, done in waiting)
        seen = 0
        at = 0
        store.bulk(_HASH)
        while at < len(waiting):
            size = 0
            with store.writing():
                while at < len(waiting) and size < _BATCH:
                    file, done = waiting[at]
                    at += 1
                    size += file.done - done
                    self._read_output(store, file, done)
                    self.progress(seen + size, total, "tool output")
            seen += size

    def _read_output(self, store: Store, file: Transcript, done: int) -> None:
        facts = Facts()
        path = os.path.join(self.settings.archive, file.copy)
        reading = Reading(path, done, facts, self.settings.max_line)
        lines = (line for line in reading.lines() if line.at < file.done)
        try:
            rows = printed(clients.get(file.client).parse(lines, facts, PRINTED), redact.redact)
            store.add_prints(file.no, file.session, rows, file.done)
        except OSError as problem:
            self._trouble(path, problem)

    # -- troubles ----------------------------------------------------------------------------------------------

    def _trouble(self, path: str, problem: OSError | str) -> None:
        words = problem if isinstance(problem, str) else (problem.strerror or str(problem))
        self._troubles[path] = words
        if isinstance(problem, OSError) and problem.errno in (28, 122):  # no space, over quota: nothing more will work
            raise Unavailable(f"{path}: {words}", "make room on that disk; the next sweep goes on from here") from None

    def _tell_troubles(self) -> None:
        """Each problem is told once, until it is gone; the count stays."""
        before = self.shelf.troubles()
        self.report.failing = len(self._troubles)
        self.report.problems += [
            f"{path}: {words}" for path, words in self._troubles.items() if before.get(path) != words
        ]
        if before != self._troubles:
            self.shelf.set_troubles(self._troubles)


def clean_facts(facts: Facts) -> None:
    """Secrets out of what is kept of a transcript beside its rows."""
    facts.title = redact.redact(facts.title)
    facts.first_ask = redact.redact(facts.first_ask)
    facts.last_ask = redact.redact(facts.last_ask)


