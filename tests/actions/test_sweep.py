"""The sweep: what changed is copied and indexed, once, whatever the clients do to their files."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from recall.actions import sweep as sweeping
from recall.actions import walk
from recall.actions.sweep import GONE
from recall.archive import append as hot
from recall.archive.store import generations
from recall.clients import claude
from recall.core import versions
from recall.errors import Damaged, Unavailable
from recall.store import open_store
from tests.builders import claude_session, codex_session
from tests.machine import append, rows, search, settings, sweep, uid, user

TURNS = [("please export the quarterly deals", "done, written to deals.csv")]


def _copy(home: Path, session: str) -> Path:
    (found,) = (home / "backups").rglob(f"{session}.jsonl")
    return found


def test_nothing_is_read_when_nothing_changed(home: Path) -> None:
    """A second sweep looks at every file once and reads none."""
    for number in range(5):
        claude_session(home, "crm", uid(number), TURNS)
    here = settings(home)
    first = sweep(here)
    assert (first.new, first.sessions, first.seen) == (5, 5, 5)
    second = sweep(here)
    assert (second.changed, second.read, second.indexed, second.seen, second.problems) == (0, 0, 0, 5, [])


def test_of_a_session_that_grew_only_the_new_bytes_are_indexed(home: Path) -> None:
    path = claude_session(home, "crm", uid(1), TURNS)
    claude_session(home, "crm", uid(2), TURNS)
    here = settings(home)
    sweep(here)
    came = append(path, [user(uid(1), "and now the marzipan invoices", 1)])
    report = sweep(here)
    assert (report.grown, report.changed, report.indexed) == (1, 1, came)
    assert search(here, "marzipan") == [uid(1)]
    assert rows(here)[uid(1)].messages == 3


def test_a_touched_file_is_compared_and_nothing_else(home: Path) -> None:
    """Another modification time alone is no change: that one file is read, no row is written."""
    path = claude_session(home, "crm", uid(1), TURNS)
    claude_session(home, "crm", uid(2), TURNS)
    here = settings(home)
    sweep(here)
    os.utime(path, (1_790_000_000, 1_790_000_000))
    report = sweep(here)
    assert (report.changed, report.indexed, report.read) == (0, 0, path.stat().st_size)
    assert sweep(here).read == 0


@pytest.mark.parametrize("cut", [1, 2, 7, 40, 200])
def test_a_torn_last_line_is_read_when_it_is_whole(home: Path, cut: int) -> None:
    """Its beginning may end inside a character; afterwards it is found once, and nothing twice."""
    path = claude_session(home, "crm", uid(1), [*TURNS, ("выгрузка по менеджерам", "готово ☃")])
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    here = settings(home)
    sweep(here)
    path.write_bytes(whole)
    sweep(here)
    assert search(here, "менеджерам") == search(here, "готово") == [uid(1)]
    assert rows(here)[uid(1)].messages == 4
    assert _copy(home, uid(1)).read_bytes() == whole
    assert not list((home / "backups").rglob("*.g1"))


def test_a_file_with_other_bytes_of_the_same_length_is_read_whole_again(home: Path) -> None:
    path = claude_session(home, "crm", uid(1), [("find the aardvark file", "here it is")])
    here = settings(home)
    sweep(here)
    path.write_bytes(path.read_bytes().replace(b"aardvark", b"wolphins"))
    report = sweep(here)
    assert report.rewritten == 1
    assert search(here, "wolphins") == [uid(1)]
    assert (_copy(home, uid(1)).parent / f"{uid(1)}.jsonl.g1").exists()


def test_what_a_rewrite_took_away_is_still_found(home: Path) -> None:
    """A shorter source becomes a new generation; what only the older one holds is found, after a reindex too."""
    turns = [("first the giraffe", "yes"), ("then the platypus", "yes"), ("last the okapi", "yes")]
    path = claude_session(home, "crm", uid(1), turns)
    whole = path.read_bytes()
    here = settings(home)
    sweep(here)
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:3]))
    sweep(here)
    for again in range(2):
        assert search(here, "giraffe") == search(here, "okapi") == [uid(1)], again
        from recall.actions.reindex import rebuild

        rebuild(here, progress=sweeping.nothing)
    copies = generations(here.archive, str(_copy(home, uid(1)).relative_to(here.archive)))
    assert [Path(here.archive, one.file).read_bytes() for one in copies] == [path.read_bytes(), whole]


def test_rewrites_do_not_make_the_index_grow(home: Path) -> None:
    """After 60 rewrites of one session the index is about as large as after one, and holds one row for it."""
    here = settings(home)
    for number in range(8):
        claude_session(home, "crm", uid(100 + number), [(f"word{number} " * 50, "fine " * 50)] * 4)
    sizes = []
    for number in range(60):
        turns = [(f"question {number} of {turn} " + "lorem ipsum " * 20, "answer " * 20) for turn in range(4)]
        path = claude_session(home, "crm", uid(1), turns)
        os.utime(path, (1_780_000_000 + number, 1_780_000_000 + number))
        sweep(here)
        sizes.append(sum(path.stat().st_size for path in Path(here.state).glob("*.db")))
    assert max(sizes[30:]) < 2 * sizes[5]
    assert len(rows(here)) == 9
    assert search(here, "question", "59") == [uid(1)]


def test_a_file_that_vanishes_on_the_way_is_no_problem(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look round and the copying a client may delete what it likes."""
    for number in range(3):
        claude_session(home, "crm", uid(number), TURNS)
    here = settings(home)
    real = walk.walk

    def walked(*args: Any) -> Any:
        found = list(real(*args))
        for one in found[:2]:
            os.unlink(one.path)
        return iter(found)

    monkeypatch.setattr(sweeping, "walk", walked)
    report = sweep(here)
    assert (report.problems, report.failing, report.new) == ([], 0, 1)


def test_what_a_hook_copied_of_a_deleted_source_is_indexed(home: Path) -> None:
    """The hook archived the last turns, the client deleted the file before the next sweep: they are found."""
    path = claude_session(home, "crm", uid(1), TURNS)
    here = settings(home)
    sweep(here)
    append(path, [user(uid(1), "the very last pangolin", 1)])
    hot.append(str(path), str(_copy(home, uid(1))))
    path.unlink()
    sweep(here)
    assert search(here, "pangolin") == [uid(1)]
    with open_store(here.index) as store:
        assert store.sources()[str(path)][0] == GONE


def test_a_source_that_comes_back_is_not_read_again(home: Path) -> None:
    path = claude_session(home, "crm", uid(1), TURNS)
    here = settings(home)
    sweep(here)
    projects = home / ".claude" / "projects"
    shutil.move(projects, home / "away")
    assert sweep(here).changed == 0
    shutil.move(home / "away", projects)
    report = sweep(here)
    assert (report.changed, report.read, report.indexed) == (0, 0, 0)
    assert path.exists()


def test_one_bad_file_does_not_stop_the_others(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is indexed, it is told once, its copy is kept, and it is taken in as soon as it can be."""
    for number in range(6):
        claude_session(home, "crm", uid(number), [(f"request{number} about lamps", "fine")] * 3)
    real = claude.parse

    def parse(lines: Any, *rest: Any, **more: Any) -> Any:
        for record in real(lines, *rest, **more):
            if "request3" in record.text and record.at > 500:
                raise RuntimeError("a bug")
            yield record

    here = settings(home)
    with monkeypatch.context() as patch:
        patch.setattr(claude, "parse", parse)
        first = sweep(here)
        assert (first.new, first.failing, len(first.problems)) == (5, 1, 1)
        assert uid(3) in first.problems[0]
        assert set(rows(here)) == {uid(number) for number in range(6) if number != 3}
        assert _copy(home, uid(3)).exists()
        second = sweep(here)
        assert (second.problems, second.failing) == ([], 1)
    third = sweep(here)
    assert (third.failing, third.new) == (0, 1)
    assert search(here, "request3") == [uid(3)]
    assert rows(here)[uid(3)].messages == 6


def test_rows_that_another_version_made_are_made_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of transcripts whose source is gone."""
    path = claude_session(home, "crm", uid(1), TURNS)
    claude_session(home, "crm", uid(2), TURNS)
    here = settings(home)
    sweep(here)
    path.unlink()
    monkeypatch.setattr(versions, "REDACT", versions.REDACT + 1)
    sweep(here)
    with open_store(here.index) as store:
        assert {file.versions.split(".")[1] for file in store.files()} == {str(versions.REDACT)}
    assert sorted(search(here, "quarterly")) == sorted([uid(1), uid(2)])


def test_a_session_that_the_client_archived_is_the_same_one(home: Path) -> None:
    """`codex archive` moves the rollout: one row, one copy, and its new place is known."""
    path = codex_session(home, "api", uid(1), TURNS)
    here = settings(home)
    sweep(here)
    target = home / ".codex" / "archived_sessions" / path.name
    target.parent.mkdir()
    path.rename(target)
    report = sweep(here)
    assert (report.changed, len(rows(here))) == (0, 1)
    with open_store(here.index) as store:
        assert [file.source for file in store.files()] == [str(target)]


def test_a_compressed_twin_is_the_same_session(home: Path) -> None:
    """Plain, both, compressed alone: one row and one copy all the way; a compressed one alone is found."""
    zstd = pytest.importorskip("backports.zstd")
    path = codex_session(home, "api", uid(1), TURNS)
    other = codex_session(home, "api", uid(2), [("the compressed narwhal", "yes")], start="2026-06-12T09:00:00+00:00")
    packed = Path(f"{other}.zst")
    packed.write_bytes(zstd.compress(other.read_bytes()))
    other.unlink()
    here = settings(home)
    sweep(here)
    assert search(here, "narwhal") == [uid(2)]
    twin = Path(f"{path}.zst")
    twin.write_bytes(zstd.compress(path.read_bytes()))
    shutil.copystat(path, twin)
    assert sweep(here).changed == 0
    path.unlink()
    assert sweep(here).changed == 0
    assert sorted(rows(here)) == sorted([uid(1), uid(2)])
    assert len(list((home / "backups").rglob("rollout-*"))) == 2


@pytest.mark.parametrize("data", [b"", b"\x28\xb5\x2f\xfd broken", b"no zstd at all"])
def test_a_damaged_compressed_rollout_is_told_and_stops_nothing(home: Path, data: bytes) -> None:
    path = codex_session(home, "api", uid(1), TURNS)
    packed = path.with_name(f"rollout-2026-06-13T09-00-00-{uid(2)}.jsonl.zst")
    packed.write_bytes(data)
    here = settings(home)
    report = sweep(here)
    assert report.new == 1
    assert report.failing == (1 if data else 0)
    again = sweep(here)
    assert (again.problems, again.failing) == ([], report.failing)


def test_several_homes_of_a_client(home: Path) -> None:
    """Sessions of a second home are kept apart, found, and survive a reindex with the sources gone."""
    claude_session(home, "crm", uid(1), TURNS)
    claude_session(home / "work", "crm", uid(2), [("the second home's ocelot", "yes")])
    here = settings(home, RECALL_CLAUDE_HOMES=str(home / "work" / ".claude"))
    sweep(here)
    shutil.rmtree(home / "work")
    from recall.actions.reindex import rebuild

    assert search(here, "ocelot") == [uid(2)]
    assert rebuild(here, progress=sweeping.nothing) == 2
    assert search(here, "ocelot") == [uid(2)]
    assert sweep(here).changed == 0


def test_many_sub_agents_are_one_row(home: Path) -> None:
    """300 of them belong to their parent; what they said finds it."""
    path = claude_session(home, "crm", uid(1), TURNS)
    folder = path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    for number in range(300):
        record = user(uid(1), f"sub task capybara{number}", number, isSidechain=True)
        (folder / f"agent-{number:04x}.jsonl").write_text(json.dumps(record) + "\n")
    here = settings(home)
    sweep(here)
    assert list(rows(here)) == [uid(1)]
    assert search(here, "capybara217") == [uid(1)]


def test_sub_agents_without_their_parent_are_a_lost_session(home: Path) -> None:
    """All was archived, the row is marked, and it is an ordinary one as soon as the transcript is there."""
    path = claude_session(home, "crm", uid(1), TURNS)
    whole = path.read_bytes()
    folder = path.with_suffix("")
    (folder / "subagents").mkdir(parents=True)
    (folder / "tool-results").mkdir()
    (folder / "subagents" / "agent-a1.jsonl").write_text(
        json.dumps(user(uid(1), "look for the axolotl", 1, isSidechain=True)) + "\n"
    )
    (folder / "tool-results" / "x.txt").write_text("long output")
    path.unlink()
    here = settings(home)
    sweep(here)
    assert rows(here)[uid(1)].lost
    assert search(here, "axolotl") == [uid(1)]
    kept = home / "backups" / "claude-transcripts" / "claude" / folder.parent.name / uid(1)
    assert (kept / "tool-results" / "x.txt").read_text() == "long output"
    path.write_bytes(whole)
    sweep(here)
    assert not rows(here)[uid(1)].lost


BOOKKEEPING = [
    {"type": "summary", "summary": "Export of deals", "leafUuid": "11111111-1111-4111-8111-111111111111"},
    {"type": "mode", "mode": "normal", "sessionId": uid(1)},
    {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
    {"type": "custom-title", "customTitle": "a name", "sessionId": uid(1)},
]


@pytest.mark.parametrize("records", [[], *[[one] for one in BOOKKEEPING], BOOKKEEPING])
def test_a_file_with_nothing_but_bookkeeping_is_no_row(home: Path, records: list[object]) -> None:
    folder = home / ".claude" / "projects" / "-home-dev-crm"
    folder.mkdir(parents=True)
    (folder / f"{uid(1)}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    here = settings(home)
    report = sweep(here)
    assert (report.sessions, rows(here), search(here)) == (0, {}, [])


@pytest.mark.parametrize(
    ("note", "title"),
    [
        ({"customTitle": "Mine", "by": "user"}, "Mine"),
        ({"customTitle": "Other", "by": "carried"}, ""),
        (None, "In the records"),
        ("broken", "In the records"),
    ],
)
def test_the_note_beside_a_transcript_says_whose_its_title_is(home: Path, note: object, title: str) -> None:
    """A title carried over from another session is not this one's; a note that came later counts as well."""
    path = claude_session(home, "crm", uid(1), TURNS, title="In the records")
    here = settings(home)
    sweep(here)
    if note is not None:
        path.with_suffix("").mkdir()
        data = json.dumps(note) if isinstance(note, dict) else "{"
        (path.with_suffix("") / "custom-title.json").write_text(data)
    sweep(here)
    assert rows(here)[uid(1)].title == title


def test_names_of_codex_sessions_come_from_its_list(home: Path) -> None:
    """The last line of an id wins, also when it came after the session was indexed."""
    codex_session(home, "api", uid(1), TURNS, name="first name")
    here = settings(home)
    sweep(here)
    assert rows(here)[uid(1)].title == "first name"
    append(home / ".codex" / "session_index.jsonl", [{"id": uid(1), "thread_name": "the manatee"}, 3, {"id": None}])
    sweep(here)
    assert rows(here)[uid(1)].title == "the manatee"
    assert search(here, "manatee") == [uid(1)]


def test_an_index_of_a_newer_recall_is_left_alone_and_copies_are_made(home: Path) -> None:
    claude_session(home, "crm", uid(1), TURNS)
    here = settings(home)
    sweep(here)
    with sqlite3.connect(here.index) as db:
        db.execute("UPDATE meta SET value = '999.1' WHERE key = 'schema'")
    db.close()
    before = Path(here.index).read_bytes()
    claude_session(home, "crm", uid(2), TURNS)
    with pytest.raises(Damaged, match="newer"):
        sweep(here)
    assert Path(here.index).read_bytes() == before
    assert _copy(home, uid(2)).exists()


@pytest.mark.parametrize("harm", ["garbage", "middle", "no output", "other output", "older", "empty", "no tables"])
def test_an_index_that_cannot_be_used_is_made_again(home: Path, harm: str) -> None:
    """Whatever happened to it, the next sweep ends with a sound one that holds everything."""
    for number in range(40):
        claude_session(home, "crm", uid(number), [(f"zebra{number} " * 20, "stripes " * 50)] * 5)
    here = settings(home)
    sweep(here)
    path = Path(here.index)
    data = path.read_bytes()
    if harm == "garbage":
        path.write_bytes(b"this is no database" * 1000)
    elif harm == "middle":
        path.write_bytes(data[:8192] + os.urandom(len(data) - 8192))
    elif harm == "no output":
        Path(here.state, "output.db").unlink()
    elif harm == "other output":
        with sqlite3.connect(Path(here.state, "output.db")) as db:
            db.execute("UPDATE meta SET value = 'x' WHERE key = 'build'")
        db.close()
    elif harm == "older":
        with sqlite3.connect(path) as db:
            db.execute("UPDATE meta SET value = '0.1' WHERE key = 'schema'")
        db.close()
    elif harm == "no tables":
        with sqlite3.connect(path) as db:
            db.execute("DROP TABLE file")
        db.close()
    else:
        path.write_bytes(b"")
    report = sweep(here)
    assert report.rebuilt
    assert len(rows(here)) == 40
    assert search(here, "zebra17") == [uid(17)]
    with open_store(here.index) as store:
        assert store.check() == []


def test_a_full_archive_keeps_and_indexes_what_it_has(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so and ends; the copies that were made are found; with room again the next sweep completes them."""
    paths = [claude_session(home, "crm", uid(number), [(f"walrus{number}", "yes")] * 4) for number in range(6)]
    here = settings(home)
    left = 4
    real = os.pwrite

    def pwrite(fd: int, data: Any, at: int) -> int:
        nonlocal left
        if ".jsonl" in os.readlink(f"/proc/self/fd/{fd}"):
            left -= 1
            if left == 0:
                return real(fd, data[:100], at)
            if left < 0:
                raise OSError(28, "No space left on device")
        return real(fd, data, at)

    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc to tell the files apart")
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", pwrite)
        with pytest.raises(Unavailable, match="No space left"):
            sweep(here)
    assert len(rows(here)) == 3
    sweep(here)
    assert len(rows(here)) == 6
    assert all(_copy(home, path.stem).read_bytes() == path.read_bytes() for path in paths)


def test_with_no_room_for_the_index_copies_are_made_all_the_same(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        claude_session(home, "crm", uid(number), [(f"walrus{number} " * 100, "yes " * 100)] * 40)
    here = settings(home)
    from recall import store as index

    real = index._connect

    def small(*args: Any) -> sqlite3.Connection:
        db = real(*args)
        db.execute("PRAGMA max_page_count = 30")
        return db

    with monkeypatch.context() as patch:
        patch.setattr(index, "_connect", small)
        with pytest.raises(sqlite3.OperationalError, match="full"):
            sweep(here)
    assert len(list((home / "backups").rglob("*.jsonl"))) == 6
    sweep(here)
    assert len(rows(here)) == 6


def test_an_archive_that_is_not_mounted_is_never_created(home: Path) -> None:
    claude_session(home, "crm", uid(1), TURNS)
    here = settings(home)
    sweep(here)
    shutil.move(here.archive, home / "elsewhere")
    claude_session(home, "crm", uid(2), TURNS)
    assert sweep(here).unmounted
    assert not Path(here.archive).exists()
    shutil.move(home / "elsewhere", here.archive)
    assert sweep(here).new == 1


def test_all_sources_gone_at_once_removes_nothing(home: Path) -> None:
    for number in range(5):
        claude_session(home, "crm", uid(number), TURNS)
        codex_session(home, "api", uid(10 + number), TURNS)
    here = settings(home)
    sweep(here)
    copies = sorted(path.name for path in (home / "backups").rglob("*.jsonl"))
    shutil.rmtree(home / ".claude" / "projects")
    shutil.rmtree(home / ".codex")
    report = sweep(here)
    assert (report.changed, report.problems, report.sessions) == (0, [], 10)
    assert sorted(path.name for path in (home / "backups").rglob("*.jsonl")) == copies
    assert len(search(here, "quarterly")) == 10


def test_what_a_model_call_of_ours_left_is_no_session(home: Path) -> None:
    """A transcript whose folder is the one that our own calls run in is kept and not indexed."""
    here = settings(home)
    Path(here.model_folder).mkdir(parents=True, mode=0o700)
    claude_session(home, here.model_folder, uid(1), TURNS)
    claude_session(home, "crm", uid(2), TURNS)
    sweep(here)
    assert list(rows(here)) == [uid(2)]
