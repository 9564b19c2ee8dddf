"""Archive and index everything that changed: the work of the timer, of `recall sweep`, and of a fresh `find`.

One sweep runs at a time. Each file is copied first and read from its copy; its rows, and how far it was read, are
written in one transaction, so a sweep that was killed at any point goes on where it was. What cannot be read is
told once and does not stop the rest. A source that is missing is never a deletion. Copies come first: they are made
even where the index cannot be used.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import TypeVar

import orjson

from recall import clients
from recall.actions import cards, marks
from recall.actions.history import Purged, keep_filtered
from recall.actions.lineage import Lineage
from recall.actions.reading import Reading
from recall.actions.report import Report
from recall.actions.turn import lock_path
from recall.actions.walk import Found, homes, purged_ids, stem, walk
from recall.archive import append
from recall.archive.kept import Kept
from recall.archive.store import adopted, generations, refresh
from recall.archive.sums import Sums
from recall.core.clean import clean
from recall.core.facts import Facts
from recall.core.model import PRINTED, SPOKEN, Session, Transcript
from recall.core.session import is_searcher, main_of, pieces, printed, project_of
from recall.core.versions import of_rows
from recall.errors import Damaged, RecallError, Unavailable
from recall.files import Lock, make_private_dir
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import (
    GONE,
    NEW,
    NewerIndex,
    Store,
    alone,
    create_store,
    discard,
    exists,
    is_damage,
    is_of_data,
    is_of_index,
    open_store,
)
from recall.store import replace as put_in_place

_T = TypeVar("_T")

_BATCH = 24 << 20  # bytes of transcripts taken in between two commits
_HEAD = 1 << 18  # bytes at the beginning of a transcript that name its folder
_HASH = 24  # MB that FTS5 collects before it writes
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)  # nothing more can be written there


def nothing(*_: object) -> None:
    """A listener that does not care."""


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
        self.troubles: dict[str, str] = {}
        self._dirty: set[int] = set()
        self._broken: set[str] = set()  # files that could not be taken in this time
        self._full: Unavailable | None = None  # why no more copies can be made
        self._unreadable = False  # a folder of a client could not be listed: what is missing may be in it

    @cached_property
    def adopted(self) -> frozenset[str]:
        return adopted(self.settings.archive)

    @cached_property
    def sums(self) -> Sums:
        return Sums(self.settings.archive)

    @cached_property
    def purged(self) -> Purged:
        return Purged(self.settings.state, purged_ids(self.settings))

    # -- the pass ----------------------------------------------------------------------------------------------

    def run(self) -> Report:
        """Archive and index what changed; leaves at once when another sweep is running.

        Raises Unavailable where there is no space left (what was copied is indexed), Damaged for an index that a newer
        recall made; in both cases, and for whatever is wrong with the index, copies are made as far as can be.
        """
        make_private_dir(self.settings.state)
        with Lock(lock_path(self.settings), wait=False) as held:
            if held is None:
                self.report.busy = True
                return self.report
            if not append.ready(self.settings.archive, self.settings.state):
                self.report.unmounted = True
                return self.report
            marked = marks.changed(self.settings)
            try:
                self._indexed()
            except Exception:
                if self._full is None:
                    self._keep_all()
                raise
            marks.clear(self.settings, marked)
        return self.report

    def _indexed(self) -> None:
        store = self.open()
        try:
            self._pass(store)
        except Exception as problem:
            if not is_damage(problem):
                raise
            store.close()
            self._remake(f"{self.settings.index} is damaged ({problem}); made again from the archive")
            store = open_store(self.settings.index)
            self._pass(store)
        finally:
            store.close()

    def open(self) -> Store:
        """The index, made anew where there is none that can be used; a newer one is refused. The lock is held."""
        path = self.settings.index
        if exists(path):
            try:
                return open_store(path)
            except NewerIndex:
                raise
            except Damaged as problem:
                self._remake(f"{problem.message}; made again from the archive")
                return open_store(path)
        if self.adopted or any(
            os.path.isdir(os.path.join(self.settings.archive, home.prefix)) for home in homes(self.settings)
        ):
            self._remake("")
            return open_store(path)
        # Made beside and renamed: a reader must not see half of it.
        discard(path + NEW)
        create_store(path + NEW, build=secrets.token_hex(8)).close()
        with alone(path):
            discard(path)
            put_in_place(path, path + NEW)
        return open_store(path)

    def _remake(self, why: str) -> None:
        from recall.actions.reindex import rebuild

        self.report.rebuilt = True
        if why:
            self.report.problems.append(why)
        self._dirty.clear()
        rebuild(self.settings, progress=self.progress, output=False)

    def _pass(self, store: Store) -> None:
        self.report.seen = 0
        known = store.sources()
        changed: list[Found] = []
        before = self.shelf.troubles()
        missing = set(known)
        for found in self._walk():
            missing.discard(found.path)
            seen = known.get(found.path)
            if seen is None or seen[:3] != (found.size, found.mtime, found.ino):
                changed.append(found)
            elif before and found.path in before:
                self.troubles[found.path] = before[found.path]  # it is as it was, and so is its problem
        if changed:
            self.take(store, changed, known)
        if not self._unreadable:
            self._take_orphans(store, {path: known[path] for path in missing if known[path][0] != GONE})
        again = self._take_stale(store) or self._purge_was_cut()
        self.take_cards(store)
        if self.output and not again:
            self.take_output(store)
        self.report.sessions = store.count()
        self._tell_troubles()
        if self._full:
            raise self._full
        if changed or again or self.report.rebuilt or self.report.cards:
            waste, rows = store.waste()
            if again or waste > max(200, rows // 10):
                self._rebuild_later(store)
            else:
                store.settle()

    def _walk(self) -> Iterator[Found]:
        """Everything under the homes that may be kept."""
        gone = self.purged.ids
        for home in homes(self.settings):
            for found in walk(home, self._walk_trouble):
                self.report.seen += 1
                if not gone or not self._is_purged(found):
                    yield found

    def _walk_trouble(self, path: str, problem: OSError) -> None:
        self._unreadable = True
        self._trouble(path, problem)

    def _is_purged(self, found: Found) -> bool:
        return (found.place.session or stem(found.path)) in self.purged.ids

    def _keep_all(self) -> None:
        """Copies of everything, without an index: what is kept can be indexed later."""
        try:
            with self.sums:
                for found in self._walk():
                    if self._keep(found, None) is None and self._full:
                        return
        except (OSError, RecallError):
            return  # what stopped the sweep itself is told

    def _take_orphans(self, store: Store, gone: dict[str, tuple[int, int, int, str]]) -> None:
        """Sources that were deleted since the last sweep: a hook may have copied more of them than is indexed."""
        if not gone:
            return
        lineage = Lineage()
        copies = [(path, seen) for path, seen in sorted(gone.items()) if not os.path.lexists(path)]

        def one(item: tuple[str, tuple[int, int, int, str]]) -> None:
            path, seen = item
            file = store.file_by_copy(seen[3])
            if file is not None:
                row = store.session(file.session)
                if row and os.path.exists(os.path.join(self.settings.archive, file.copy)):
                    self.take_copy(store, file.client, file.copy, file.kind, row.id, path, lineage)
            store.set_source(path, GONE, seen[1], seen[2], seen[3])

        self.in_batches(store, copies, one, path=lambda item: item[0], size=lambda item: 4096)
        self.settle_lineage(store, lineage)

    def _take_stale(self, store: Store) -> bool:
        """Read again what other versions of parser, redaction or folding have read; True: too much for that."""
        stale = store.stale({name: self.versions(name) for name in clients.NAMES})
        if not stale:
            return False
        self.report.rebuilt = True
        if len(stale) > max(20, store.file_count() // 10):
            return True
        lineage = Lineage()

        def one(file: Transcript) -> None:
            row = store.session(file.session)
            if row and os.path.exists(os.path.join(self.settings.archive, file.copy)):
                self.take_copy(store, file.client, file.copy, file.kind, row.id, file.source, lineage)

        self.in_batches(store, stale, one, path=lambda file: file.copy, size=lambda file: file.done)
        self.settle_lineage(store, lineage)
        return False

    def _purge_was_cut(self) -> bool:
        from recall.actions.walk import unfinished

        return os.path.exists(unfinished(self.settings))

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
        lineage = Lineage()
        store.bulk(_HASH)
        self.in_batches(
            store,
            changed,
            lambda found: self._take_one(store, found, known.get(found.path), lineage),
            path=lambda found: found.path,
            size=lambda found: found.size,
        )
        names_changed = any(found.place.kind == "history" for found in changed)
        self.settle_lineage(store, lineage, names_changed=names_changed)
        try:
            self.sums.flush()
        except OSError as problem:
            if problem.errno not in _FULL:
                raise
            self._no_room(problem)

    def settle_lineage(self, store: Store, lineage: Lineage, *, names_changed: bool = False) -> None:
        with store.writing():
            lineage.settle(store, self.settings, lambda row: cards.head_of(store, row))
            if names_changed:
                self._names(store)

    def in_batches(
        self,
        store: Store,
        items: Sequence[_T],
        take: Callable[[_T], None],
        *,
        path: Callable[[_T], str],
        size: Callable[[_T], int],
        what: str = "reading",
    ) -> None:
        """`take` each item, many in one transaction. An item that fails is told, and its batch is begun again without
        it: so nothing of it is in the index, and it is tried anew by the next sweep."""
        total = sum(map(size, items))
        done = at = 0
        while at < len(items) and not self._full:
            counts = self.report.copy()
            now: _T | None = None
            n, held = at, 0
            try:
                with store.writing():
                    while n < len(items) and held < _BATCH:
                        now = items[n]
                        held += size(now)
                        if path(now) not in self._broken:
                            take(now)
                            if self._full:
                                break
                        n += 1
                        self.progress(done + held, total, what)
                    now = None
                    self.settle_dirty(store)
            except Exception as problem:
                self._dirty.clear()
                if now is None or not _is_of_one_file(problem):
                    raise
                self.report = counts
                self._broken.add(path(now))
                self._trouble(path(now), _words(problem))
                continue
            done += held
            at = n

    def settle_dirty(self, store: Store) -> None:
        """Make the rows of all sessions that got something new. In a transaction."""
        for no in sorted(self._dirty):
            self.settle_session(store, no)
        self._dirty.clear()

    def _keep(self, found: Found, before: tuple[int, int, int, str] | None) -> tuple[str, Kept] | None:
        """Bring the copy of a file up to date: its path and what was done. None: it could not be read or written, which
        was told, or must not be kept."""
        copy = found.place.archive
        try:
            if self.purged and (self._is_purged(found) or (before is None and self._of_purged(found))):
                return None
            copy = append.locate(self.settings.archive, copy, self.adopted)
            if self.purged and found.place.kind == "history":
                return copy, keep_filtered(self.settings.archive, copy, found.path, self.purged, self.sums)
            force = before is not None and before[2] != found.ino
            return copy, refresh(self.settings.archive, copy, found.path, self.sums, force=force)
        except OSError as problem:
            if problem.errno == errno.ENOENT and not os.path.lexists(found.path):
                # It vanished since the walk saw it. What a hook copied of it is still worth reading.
                copy = copy.removesuffix(".zst")
                try:
                    return copy, Kept("same", 0, 0, os.stat(os.path.join(self.settings.archive, copy)).st_size)
                except OSError:
                    return None
            if problem.errno in _FULL:
                self._no_room(problem)
            elif str(problem.filename or "").startswith(self.settings.archive + os.sep):
                self._trouble(os.path.dirname(str(problem.filename)), problem)
            else:
                self._trouble(found.path, problem)
            return None

    def _no_room(self, problem: OSError) -> None:
        hint = "make it writable" if problem.errno == errno.EROFS else "make room on that disk"
        self._full = Unavailable(
            f"{self.settings.archive}: {problem.strerror}", f"{hint}; the next sweep goes on from here"
        )

    def _of_purged(self, found: Found) -> bool:
        """Is this new file a part of a purged session? Sub-agents among the sessions say so in their records only."""
        if found.place.kind not in ("main", "sub") or found.path.endswith(".zst"):
            return False
        if found.place.session and found.client != "codex":
            return False  # its folder said it
        owner, _ = self.owner(found.client, found.path, found.place.session, found.place.kind)
        if owner not in self.purged.ids:
            return False
        self.shelf.mark_purged(found.place.session or stem(found.path))  # so that nobody need look again
        return True

    def _take_one(self, store: Store, found: Found, before: tuple[int, int, int, str] | None, lineage: Lineage) -> None:
        done = self._keep(found, before)
        if done is None:
            return
        copy, kept = done
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
        try:
            status = os.stat(path)
        except FileNotFoundError:
            return ""  # nothing could be decoded of it
        versions = self.versions(client)
        file = store.file_by_copy(copy)
        what = "new"
        if file is not None:
            if source and file.source != source and not os.path.exists(file.source):
                store.set_file_source(file.no, source)  # the client moved it
                file = file._replace(source=source)
            if file.mark == str(status.st_ino) and file.versions == versions:
                if file.done >= status.st_size:
                    return ""
                what = "grown"
            else:
                what = "rewritten"
                self._put_aside(store, file, copy)
                self._dirty.add(file.session)
                file = None
        if status.st_size == 0:
            return ""
        facts = store.facts(file.no, orjson.loads) if file else Facts()
        facts.tools.clear()
        owner = session
        if file is None:
            if not session or client == "codex":
                owner, kind = self.owner(client, path, session, kind)
            if self.shelf.is_removed(owner) or self._is_own(path):
                return ""
        no = file.session if file else store.session_no(client, owner)
        self._read(store, client, path, file, facts, no, copy, kind, source, str(status.st_ino), versions)
        lineage.note(no, new=what != "grown")
        self._dirty.add(no)
        self.report.touched.add(no)
        return what

    def _is_own(self, path: str) -> bool:
        """Did a model call of recall itself leave this transcript? Its first records name the folder."""
        if not self._own_folders:
            return False
        with open(path, "rb") as file:
            head = file.read(_HEAD)
        return any(folder in head for folder in self._own_folders)

    @cached_property
    def _own_folders(self) -> tuple[bytes, ...]:
        folder = self.settings.model_folder
        if not os.path.isdir(folder):
            return ()
        names = {folder, os.path.realpath(folder)}
        return tuple(b'"cwd":' + blank + orjson.dumps(name) for name in names for blank in (b"", b" "))

    def versions(self, client: str) -> str:
        """What must be the same for rows to be still right: parser, redaction, folding."""
        return of_rows(client)

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
            no = store.put_file(
                Transcript(0, session, client, copy, kind, source, 0, mark, versions), facts, orjson.dumps
            )
        else:
            no = file.no
        row = store.session(session)
        count = row.pieces if row else 0
        rows = pieces(clients.get(client).parse(reading.lines(), facts, SPOKEN), clean)
        while some := list(islice(rows, 200)):
            count = store.add_pieces(no, session, count, some)
        done = reading.end
        self.report.indexed += done - start
        clean_facts(facts)
        store.put_file(Transcript(no, session, client, copy, kind, source, done, mark, versions), facts, orjson.dumps)
        if row:
            store.put_session(row._replace(pieces=count))

    def owner(self, client: str, path: str, session: str, kind: str) -> tuple[str, str]:
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
        older = [one for one in generations(self.settings.archive, copy) if one.generation]
        mine = next((one for one in older if str(one.ino) == file.mark), None)
        if mine is None or file.versions != self.versions(file.client):
            store.drop_file(file.no)
            return
        had = store.facts(file.no, orjson.loads)
        if _contains(self.facts_of_copy(file.client, copy), had):
            store.drop_file(file.no)
            return
        # One older generation is enough to find what was lost, however often the client rewrites.
        for other in store.files(file.session):
            if other.kind == "older" and other.copy.startswith(copy + ".g"):
                if store.facts(other.no, orjson.loads).events >= had.events:
                    store.drop_file(file.no)
                    return
                store.drop_file(other.no)
        store.move_file(file.no, mine.file, "older")

    def fullest_older(self, client: str, copy: str) -> str:
        """The older generation of a copy that is indexed beside it: the fullest of those that hold something of their
        own (path in the archive, '' for none)."""
        older = [one for one in generations(self.settings.archive, copy) if one.generation]
        if not older:
            return ""
        newest = self.facts_of_copy(client, copy)
        best, most = "", 0
        for one in reversed(older):
            facts = self.facts_of_copy(client, one.file)
            if facts.events > most and not _contains(newest, facts):
                best, most = one.file, facts.events
        return best

    def facts_of_copy(self, client: str, copy: str) -> Facts:
        """What a whole copy says of itself."""
        facts = Facts()
        reading = Reading(os.path.join(self.settings.archive, copy), 0, facts, self.settings.max_line)
        for _ in clients.get(client).parse(reading.lines(), facts, SPOKEN):
            pass
        return facts

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
        title, by = self._named(row, facts, files)
        fresh = row._replace(
            cwd=facts.cwd or row.cwd,
            project=clean(project_of(facts.cwd or row.cwd)),  # of the folder itself every letter is needed to get there
            branch=facts.branch,
            title=clean(title),
            title_by=by,
            ask=clean(facts.first_ask),
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
        cards.put(store, self.shelf, fresh)

    def retitle(self, store: Store, no: int) -> None:
        """Make a session's title again, and leave the rest of its row as it is. In a transaction."""
        row = store.session(no)
        if row is None:
            return
        files = store.facts_of(no, orjson.loads)
        mains = [facts for file, facts in files if file.kind == "main"] or [facts for _, facts in files]
        title, by = self._named(row, main_of(mains) if mains else Facts(), files)
        cards.put(store, self.shelf, row._replace(title=clean(title), title_by=by, other_title=""))

    def _named(self, row: Session, facts: Facts, files: list[tuple[Transcript, Facts]]) -> tuple[str, str]:
        """As `_title`; a name that we gave is not the user's, whatever the client made of it."""
        title, by = self._title(row, facts, files)
        ours = by == "user" and title == self.shelf.given_name(row.id) and not self.shelf.name(row.id)
        return title, "client" if ours else by

    def _title(self, row: Session, facts: Facts, files: list[tuple[Transcript, Facts]]) -> tuple[str, str]:
        """The session's title, and whose it is. The client's own note beside the transcript says who gave a name."""
        name = self.shelf.name(row.id)
        if name:
            return name, "user"
        if row.client == "codex":
            other = self.names.get(row.id, "")
            return (other, "user") if other else (facts.title, facts.title_by)
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
            if row.client == "codex" and clean(self.names.get(row.id, "")) != row.title and row.id in self.names:
                self.settle_session(store, row.no)

    def take_cards(self, store: Store, until: float = float("inf")) -> int:
        """Take in the cards that changed; how many were left at `until` (a moment of `time.monotonic`)."""
        taken, left = cards.take_cards(
            store,
            self.shelf,
            trouble=lambda name, problem: self._trouble(os.path.join(self.settings.data, name), problem),
            until=until,
        )
        self.report.cards += taken
        return left

    # -- tool output -------------------------------------------------------------------------------------------

    def take_output(self, store: Store) -> None:
        """Index the tool output of all transcripts whose conversation is further."""
        waiting = store.unprinted()
        if not waiting:
            return
        store.bulk(_HASH)
        self.in_batches(
            store,
            waiting,
            lambda item: self._read_output(store, *item),
            path=lambda item: os.path.join(self.settings.archive, item[0].copy),
            size=lambda item: item[0].done - item[1],
            what="tool output",
        )

    def _read_output(self, store: Store, file: Transcript, done: int) -> None:
        path = os.path.join(self.settings.archive, file.copy)
        reading = Reading(path, done, Facts(), self.settings.max_line)
        lines = (line for line in reading.lines() if line.at < file.done)
        rows = printed(clients.get(file.client).parse(lines, Facts(), PRINTED), clean)
        store.add_prints(file.no, file.session, rows, file.done)

    # -- troubles ----------------------------------------------------------------------------------------------

    def _trouble(self, path: str, problem: OSError | str) -> None:
        self.troubles[path] = problem if isinstance(problem, str) else _words(problem)

    def _tell_troubles(self) -> None:
        """Each problem is told once, until it is gone; the count stays."""
        before = self.shelf.troubles()
        self.report.failing = len(self.troubles)
        self.report.problems += [
            f"{path}: {words}" for path, words in self.troubles.items() if before.get(path) != words
        ]
        if before != self.troubles:
            self.shelf.set_troubles(self.troubles)


def _contains(new: Facts, old: Facts) -> bool:
    """Does a transcript hold all that an older generation of it held?"""
    return set(old.uuids) <= set(new.uuids) if old.uuids else old.events <= new.events


def clean_facts(facts: Facts) -> None:
    """Secrets out of what is kept of a transcript beside its rows."""
    facts.title = clean(facts.title)
    facts.first_ask = clean(facts.first_ask)
    facts.last_ask = clean(facts.last_ask)
    facts.branch = clean(facts.branch)
    facts.leaves = {key: clean(summary) for key, summary in facts.leaves.items()}


def _is_of_one_file(problem: Exception) -> bool:
    """Did one file cause this, so that the others can go on without it?"""
    if isinstance(problem, RecallError):
        return False
    if is_of_index(problem):
        return is_of_data(problem)
    return not (isinstance(problem, OSError) and problem.errno in _FULL)


def _words(problem: Exception) -> str:
    """What is wrong, for a person."""
    if isinstance(problem, OSError):
        return problem.strerror or str(problem)
    return clean(f"cannot be taken in ({type(problem).__name__}: {problem})")[:200]
