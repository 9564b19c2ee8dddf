"""A fork has the history up to one message under an id of its own, and the old session is only read."""

from __future__ import annotations

import json
import os
import stat
import uuid
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.actions import fork as module
from recall.actions.fork import Forking, fork, prepare, uuid7
from recall.clients.claude_fork import forked
from recall.clients.codex_fork import forked as codex_forked
from recall.core.model import Line, Session
from recall.errors import NothingFound, Refused, Unavailable, Usage
from recall.settings import Settings
from recall.store import open_store
from tests.builders import claude_session, codex_session
from tests.conftest import Run
from tests.machine import settings, sweep, uid, user

CLAUDE, CODEX = uid(1), "019e10aa-1111-7aaa-8bbb-0123456789ab"
TURNS = [
    ("Move the export", "Moved the export.", [("Bash", {"command": "ls"}, "export.py")]),
    ("Write the tests", "Wrote the tests."),
    ("Write the docs", "Wrote the docs."),
]
NOW = 1_790_000_000.25


class Place(NamedTuple):
    home: Path
    here: Settings
    claude: Path
    codex: Path

    def row(self, session: str) -> Session:
        with open_store(self.here.index) as store:
            (found,) = [row for row in store.sessions() if row.id == session]
        return found

    def prepare(self, at: str, session: str = CLAUDE) -> Forking:
        with open_store(self.here.index) as store:
            return prepare(self.row(session), store, self.here, at, now=NOW, random=bytes(range(16)))

    def fork(self, at: str, session: str = CLAUDE) -> list[dict[str, Any]]:
        plan = self.prepare(at, session)
        fork(plan, NOW)
        return [json.loads(line) for line in Path(plan.path).read_text().splitlines()]


@pytest.fixture
def place(home: Path) -> Place:
    claude = claude_session(home, "crm", CLAUDE, TURNS, title="mine")
    codex = codex_session(home, "crm", CODEX, TURNS)
    here = settings(home)
    sweep(here)
    return Place(home, here, claude, codex)


def said(records: list[dict[str, Any]]) -> list[str]:
    """What the user and the assistant say in a transcript of Claude Code."""
    out = []
    for record in records:
        content = record.get("message", {}).get("content", "")
        out += [content] if isinstance(content, str) else [part["text"] for part in content if part["type"] == "text"]
    return [text for text in out if text]


@pytest.mark.parametrize(
    ("at", "last", "count"),
    [
        ("1", "Move the export", 1),
        ("2", "Moved the export.", 2),
        ("5", "Write the docs", 5),
        ("6", "Wrote the docs.", 6),
    ],
)
def test_the_history_ends_with_the_message(place: Place, at: str, last: str, count: int) -> None:
    before = place.claude.read_bytes()
    texts = said(place.fork(at))
    assert (texts[-1], len(texts)) == (last, count)
    assert place.claude.read_bytes() == before


def test_the_records_are_the_old_ones_with_a_mark_of_their_origin(place: Place) -> None:
    """Under the new id; ids, parents and times stay, no parent is missing; a name and what belongs to the run is left out."""
    old = {one["uuid"]: one for one in map(json.loads, place.claude.read_text().splitlines()) if "uuid" in one}
    made = place.fork("4")
    new = place.prepare("4").new
    known = {None}
    for record in made:
        origin = {"sessionId": CLAUDE, "messageUuid": record["uuid"]}
        assert record == {**old[record["uuid"]], "sessionId": new, "forkedFrom": origin}
        assert record["parentUuid"] in known
        known.add(record["uuid"])
    assert len(made) == 6  # with the tool's call and result


def test_the_file_lies_beside_the_old_one_for_its_owner_only(place: Place) -> None:
    plan = place.prepare("2")
    fork(plan, NOW)
    status = os.stat(plan.path)
    assert Path(plan.path).parent == place.claude.parent
    assert (stat.S_IMODE(status.st_mode), status.st_mtime) == (0o600, NOW)
    with pytest.raises(Refused):
        fork(plan, NOW)  # never overwritten


def test_a_text_names_the_request_that_has_it(place: Place) -> None:
    """In any case; the words of the assistant do not count."""
    assert place.prepare("THE DOCS").cut[:3] == (5, "user", "Write the docs")
    with pytest.raises(Usage) as caught:
        place.prepare("write the")
    assert "  3  Write the tests\n  5  Write the docs" in caught.value.message
    for nothing in ("Moved", "0", "7", "²", "9" * 5000, "nobody said it"):
        with pytest.raises(NothingFound):
            place.prepare(nothing)


def test_of_an_archived_session_as_well(place: Place) -> None:
    place.claude.unlink()
    assert said(place.fork("2"))[-1] == "Moved the export."


def test_a_fork_is_resumed_itself_though_the_old_session_has_all_of_its_records(place: Place, run_recall: Run) -> None:
    made = json.loads(run_recall("fork", CLAUDE, "--at", 3, "--json", check=True).stdout)
    assert made["fork_of"] == CLAUDE and made["at"] == {"message": 3, "role": "user", "text": "Write the tests"}
    assert made["argv"] == ["claude", "--resume", made["id"]] and made["cwd"] == "/home/dev/crm"
    assert run_recall("cmd", made["id"]).stdout == f"cd '/home/dev/crm' && claude --resume {made['id']}\n"
    shown = run_recall("show", made["id"], "--transcript", check=True).stdout
    assert "Write the tests" in shown and "Wrote the tests" not in shown
    again = run_recall("fork", CLAUDE, "--at", 3, check=True).stdout.splitlines()
    assert uuid.UUID(again[1]).version == 4 and again[2] == f"recall open {again[1]}"
    assert "of the user: Write the tests" in run_recall("fork", CLAUDE, "--at", 3, "--dry-run", check=True).stdout
    assert run_recall("fork", CLAUDE, "--at", 99).returncode == 1
    assert len(list(place.claude.parent.glob("*.jsonl"))) == 3


# -- the records of Claude Code --------------------------------------------------------------------------------------


def lines_of(*records: object) -> list[Line]:
    out, at = [], 0
    for record in records:
        raw = record if isinstance(record, bytes) else json.dumps(record, ensure_ascii=False).encode()
        out.append(Line(at, raw))
        at += len(raw) + 1
    return out


def made_of(*records: object, at: int) -> list[str]:
    """What is said in the fork at the record number `at`."""
    lines = lines_of(*records)
    return said([json.loads(line) for line in forked(lines, lines[at].at, "old", "new")])


def test_what_was_attached_to_a_request_comes_along() -> None:
    attached = {"type": "attachment", "uuid": "a", "parentUuid": "x", "attachment": {"type": "file"}}
    lines = lines_of(user("old", "read @a", 1), {"type": "mode"}, attached, user("old", "next", 2))
    found = [json.loads(line) for line in forked(lines, 0, "old", "new")]
    assert [one["type"] for one in found] == ["user", "attachment"]


def test_a_request_typed_while_the_client_was_busy_is_cut_behind_its_record() -> None:
    note = {"type": "queue-operation", "operation": "enqueue", "content": "and then"}
    answer = {"type": "assistant", "uuid": "b", "message": {"content": [{"type": "text", "text": "Done"}]}}
    records = (user("old", "first", 1), note, answer, user("old", "and then", 2), user("old", "last", 3))
    assert made_of(*records, at=1) == ["first", "Done", "and then"]
    assert made_of(*records, at=0) == ["first"]


@pytest.mark.parametrize("raw", [b"null", b"[]", b"3", b'{"type":"user", torn', b"", b"\xff\xfe"])
def test_lines_that_are_no_records_are_left_out(raw: bytes) -> None:
    assert made_of(user("old", "a", 1), raw, user("old", "b", 2), at=2) == ["a", "b"]


@given(st.text(st.characters(), max_size=40))
def test_every_text_comes_through_as_it_was(text: str) -> None:
    """Halves of pairs too, which only an escape can hold."""
    record = user("old", text, 1)
    (made,) = forked([Line(0, json.dumps(record).encode())], 0, "old", "new")
    assert json.loads(made)["message"] == record["message"]


# -- Codex -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("at", "behind"), [("2", "task_complete"), ("3", "UserMessage")])
def test_a_fork_of_codex_says_how_far_the_history_of_the_other_one_goes(place: Place, at: str, behind: str) -> None:
    """To a whole line, with both records of the message, and of an answer to the end of its turn."""
    (meta,) = place.fork(at, CODEX)
    base = meta["payload"]["history_base"]
    data = place.codex.read_bytes()
    kept = [json.loads(line) for line in data[: base["end_byte_offset"]].splitlines()]
    assert data[: base["end_byte_offset"]].endswith(b"\n")
    last = kept[-1]["payload"]
    assert behind in (last.get("type"), last.get("item", {}).get("type"))
    assert [one["ordinal"] for one in kept] == list(range(base["end_ordinal_exclusive"]))
    payload = meta["payload"]
    assert (payload["forked_from_id"], base["thread_id"]) == (CODEX, CODEX)
    assert payload["id"] == payload["session_id"] and uuid.UUID(payload["id"]).version == 7
    assert meta["ordinal"] == payload["forked_from_ordinal_exclusive"] == base["end_ordinal_exclusive"]
    path = Path(place.prepare(at, CODEX).path)
    assert path.name.endswith(f"-{payload['id']}.jsonl") and path.parts[-5] == "sessions"


def test_without_the_rollout_itself_there_is_nothing_to_build_upon(place: Place) -> None:
    place.codex.unlink()
    with pytest.raises(Refused) as caught:
        place.prepare("2", CODEX)
    assert f"recall restore {CODEX}" in caught.value.hint


@pytest.mark.parametrize(("old", "new"), [('"history_mode": "paginated"', '"x": 1'), ('"ordinal": 3', '"x": 3')])
def test_older_rollouts_are_told(place: Place, old: str, new: str) -> None:
    text = place.codex.read_text()
    assert old in text
    place.codex.write_text(text.replace(old, new))
    plan = place.prepare("2", CODEX)
    with pytest.raises(Unavailable) as caught:
        fork(plan, NOW)
    assert f"codex fork {CODEX}" in caught.value.hint and not os.path.exists(plan.path)


@given(st.lists(st.binary(max_size=30), max_size=6), st.integers(0, 99))
def test_no_rollout_breaks_it(raws: list[bytes], at: int) -> None:
    try:
        codex_forked(lines_of(*raws), at, "old", "new", "now")
    except ValueError:
        return
    raise AssertionError("made of nothing")


@given(
    st.floats(1, 4e9), st.floats(0.001, 1e6), st.binary(min_size=16, max_size=16), st.binary(min_size=16, max_size=16)
)
def test_ids_of_codex_sort_by_time(now: float, more: float, one: bytes, two: bytes) -> None:
    first, second = uuid7(now, one), uuid7(now + more + 0.001, two)
    assert first < second
    assert {uuid.UUID(found).version for found in (first, second)} == {7}
    assert {uuid.UUID(found).variant for found in (first, second)} == {uuid.RFC_4122}


def test_the_module_asks_no_clock_or_chance(place: Place) -> None:
    assert place.prepare("1") == place.prepare("1")
    assert module.uuid7(NOW, b"\0" * 16).startswith(f"{int(NOW * 1000):012x}"[:8])


def test_a_fork_of_codex_is_not_opened_without_what_it_builds_upon(place: Place) -> None:
    """Over forks of forks too; the transcript to restore is named."""
    from recall.actions import reopen, restore

    work = place.home / "work"
    work.mkdir()
    plan = place.prepare("2", CODEX)
    fork(plan, NOW)
    text = Path(plan.path).read_text()
    second = "019e10aa-2222-7aaa-8bbb-0123456789ab"
    Path(plan.path.replace(plan.new, second)).write_text(
        text.replace(f'"thread_id":"{CODEX}"', f'"thread_id":"{plan.new}"').replace(
            f'"id":"{plan.new}"', f'"id":"{second}"'
        )
    )
    sweep(place.here)
    with open_store(place.here.index) as store:
        rows = [place.row(session) for session in (plan.new, second)]
        for row in rows:
            reopen.prepare(row, store, place.here, live={}, folder=str(work))
        place.codex.unlink()
        for row in rows:
            with pytest.raises(Refused) as caught:
                reopen.prepare(row, store, place.here, live={}, folder=str(work))
            assert caught.value.hint == f"recall restore {CODEX}"
        os.unlink(plan.path)
        assert restore.prepare(rows[0], store, place.here).base == CODEX
