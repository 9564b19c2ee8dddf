"""`remove`: a session gone from all that is shown, and with `--purge` from all that is kept."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from pathlib import Path

import pytest

from recall.actions.remove import family, purge, remove
from recall.actions.sweep import nothing
from recall.actions.verify import check
from recall.settings import Settings
from recall.shelf import Shelf
from recall.store import open_store
from tests.builders import claude_session, codex_session, write_lines
from tests.conftest import Run
from tests.machine import all_bytes, append, rows, search, settings, sweep, uid, user

LATIN, CYRILLIC = "zanzibarskij", "кракозябра"
TURNS = [(f"export the deals of {LATIN} and {CYRILLIC}", f"done, {CYRILLIC}", [("Bash", {"command": "ls"}, LATIN)])]
OTHER = [("a quite different giraffe", "yes")]


def _remove(here: Settings, session: str, everything: bool = False) -> list[str]:
    shelf = Shelf(here.data, here.state)
    with open_store(here.index) as store:
        (row,) = [row for row in store.sessions() if row.id == session]
        done = purge(here, store, shelf, row, progress=nothing) if everything else remove(here, store, shelf, row)
    return done.sessions


def test_a_removed_session_does_not_come_back(home: Path, run_recall: Run) -> None:
    """Neither a sweep after it grew, nor a reindex makes a row of it; its copy goes on being kept."""
    path = claude_session(home, "crm", uid(1), TURNS)
    claude_session(home, "crm", uid(2), OTHER)
    sub = path.with_suffix("") / "subagents" / "agent-a1.jsonl"
    write_lines(sub, [user(uid(1), "sub of the removed one", 5, isSidechain=True)])
    run_recall("sweep", check=True)
    data = home / ".claude" / "session-recaps"
    (data / "handoffs").mkdir()
    (data / f"{uid(1)}.md").write_text("a card")
    (data / "handoffs" / f"{uid(1)}.md").write_text("a handoff")
    done = run_recall("remove", uid(1)[:8], "--yes")
    assert done.returncode == 0, done.stderr
    first, second, third, fourth = done.stdout.splitlines()
    assert first.startswith(uid(1)[:8])
    assert second == "removed"
    assert {third, fourth} == {f"the client's own file stays: {one}" for one in (path, sub)}
    assert path.exists()
    assert not (data / f"{uid(1)}.md").exists()
    assert not (data / "handoffs" / f"{uid(1)}.md").exists()
    assert uid(1)[:8] not in (data / "INDEX.md").read_text()
    came = append(path, [user(uid(1), "it goes on", 1)])
    write_lines(path.with_suffix("") / "subagents" / "agent-a2.jsonl", [user(uid(1), "more", 6, isSidechain=True)])
    here = settings(home)
    for command in ("sweep", "reindex", "sweep"):
        run_recall(command, check=True)
        assert list(rows(here)) == [uid(2)], command
        assert run_recall("find", LATIN, "--all").returncode == 1
    (copy,) = (home / "backups").rglob(f"{uid(1)}.jsonl")
    assert copy.stat().st_size == path.stat().st_size > came
    assert check(here, Shelf(here.data, here.state), nothing).sound
    again = run_recall("remove", uid(1), "--yes")
    assert (again.returncode, "was removed" in again.stderr) == (1, True)


def test_nothing_is_removed_without_a_yes(home: Path, run_recall: Run) -> None:
    """Where nobody can be asked it is refused, and the row was shown."""
    claude_session(home, "crm", uid(1), TURNS)
    run_recall("sweep", check=True)
    done = run_recall("rm", uid(1), input="y\n")
    assert done.returncode == 3
    assert done.stdout.startswith(uid(1)[:8])
    assert "--yes" in done.stderr
    assert list(rows(settings(home))) == [uid(1)]


@pytest.mark.parametrize("purge", [(), ("--purge",)])
def test_an_open_session_is_not_removed(home: Path, run_recall: Run, purge: tuple[str, ...]) -> None:
    claude_session(home, "crm", uid(1), TURNS)
    codex_session(home, "api", uid(2), TURNS)
    run_recall("sweep", check=True)
    (home / ".claude" / "sessions").mkdir()
    entry = {"pid": os.getpid(), "sessionId": uid(1), "entrypoint": "cli"}
    (home / ".claude" / "sessions" / f"{os.getpid()}.json").write_text(json.dumps(entry))
    locks = home / ".codex" / "thread-writer-locks"
    locks.mkdir()
    with (locks / f"{uid(2)}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for number in (1, 2):
            done = run_recall("forget", uid(number), "--yes", *purge)
            assert (done.returncode, "is open" in done.stderr) == (3, True), done.stderr
    assert len(rows(settings(home))) == 2


@pytest.mark.parametrize("what", ["nothing", "a b", "../x", "-1"])
def test_what_is_no_session_is_not_removed(run_recall: Run, what: str) -> None:
    assert run_recall("remove", "--yes", "--", what).returncode in (1, 2, 4)


def test_a_chain_goes_as_one(home: Path) -> None:
    """Members of its chain have a tombstone of their own: they must not become rows when the newest has gone."""
    path = claude_session(home, "crm", uid(1), OTHER)
    copied = path.read_text().replace(uid(1), uid(2))
    (path.parent / f"{uid(2)}.jsonl").write_text(copied + json.dumps(user(uid(2), "one more", 9)) + "\n")
    here = settings(home)
    sweep(here)
    assert rows(here)[uid(2)].chain == 2
    with open_store(here.index) as store:
        (row,) = [row for row in store.sessions() if row.id == uid(2)]
        assert {one.id for one in family(store, row)} == {uid(1), uid(2)}
    _remove(here, uid(2))
    sweep(here)
    assert rows(here) == {}
    assert search(here, "giraffe") == []


def _plant(home: Path) -> tuple[Path, Path]:
    """Two sessions full of the planted words, wherever a client puts what was typed; two others beside them."""
    claude = claude_session(home, f"/home/dev/{LATIN}", uid(1), TURNS, title=f"{CYRILLIC} {LATIN}")
    companions = claude.with_suffix("")
    write_lines(companions / "subagents" / "agent-a1.jsonl", [user(uid(1), f"sub {LATIN}", 3, isSidechain=True)])
    beside = [user(uid(1), f"older sub {CYRILLIC}", 4, isSidechain=True)]
    write_lines(claude.parent / "agent-b2.jsonl", beside)
    (companions / "tool-results").mkdir()
    (companions / "tool-results" / f"{LATIN}.txt").write_text(CYRILLIC)
    codex = codex_session(home, f"/home/dev/{LATIN}", uid(2), TURNS, name=f"{CYRILLIC} {LATIN}")
    source = {"subagent": {"thread_spawn": {"parent_thread_id": uid(2), "depth": 1}}}
    codex_session(home, "api", uid(3), TURNS, start="2026-06-11T10:00:00+00:00", source=source)
    claude_session(home, "crm", uid(4), OTHER)
    codex_session(home, "api", uid(5), OTHER, start="2026-06-11T11:00:00+00:00", name="stays")
    _type(home, LATIN)
    return claude, codex


def _type(home: Path, word: str) -> None:
    """Lines of the clients' lists, of the planted sessions and of others."""
    prompt = {"timestamp": 1781168400000, "project": f"/home/dev/{LATIN}", "pastedContents": {}}
    append(
        home / ".claude" / "history.jsonl",
        [
            {"display": f"export {word}", "sessionId": uid(1), **prompt},
            {"display": "a quite different giraffe", "sessionId": uid(4), **prompt, "project": "/home/dev/crm"},
            {"display": TURNS[0][0], **prompt},
        ],
    )
    append(
        home / ".codex" / "history.jsonl",
        [
            {"session_id": uid(2), "text": f"{word} {CYRILLIC}", "ts": 1},
            {"session_id": uid(5), "text": "giraffe", "ts": 2},
        ],
    )


def test_of_a_purged_session_no_word_stays(home: Path) -> None:
    """In no byte of archive, data and state, names of files included; nor do sweep, growth and reindex bring one back.
    The other sessions stay, with their lines in our copies of the clients' lists."""
    claude, codex = _plant(home)
    here = settings(home)
    sweep(here)
    whole = claude.read_bytes()
    claude.write_bytes(whole[:1500])
    os.utime(claude, (1_790_000_000, 1_790_000_000))
    sweep(here)
    claude.write_bytes(whole)
    sweep(here)
    Path(here.log).write_text(f"card of {uid(1)} refused: {LATIN}\nof {uid(4)}: fine\n")
    Path(here.data).mkdir()
    (Path(here.data) / "names.json").write_text(json.dumps({uid(1): LATIN, uid(4): "mine"}))
    folders = (here.archive, here.data, here.state)
    assert LATIN.encode() in all_bytes(*folders)
    assert CYRILLIC.encode() in all_bytes(*folders)
    assert "g1" in " ".join(path.name for path in Path(here.archive).rglob("*"))

    _remove(here, uid(1), everything=True)
    _remove(here, uid(2), everything=True)
    for step in ("at once", "after a sweep", "after growth", "after a reindex"):
        if step == "after growth":
            append(claude, [user(uid(1), f"again {LATIN}", 11)])
            append(codex, [{"type": "x", "text": LATIN}])
            write_lines(
                claude.with_suffix("") / "subagents" / "agent-c3.jsonl",
                [user(uid(1), CYRILLIC, 12, isSidechain=True)],
            )
            write_lines(claude.parent / "agent-d4.jsonl", [user(uid(1), CYRILLIC, 13, isSidechain=True)])
            source = {"subagent": {"thread_spawn": {"parent_thread_id": uid(2), "depth": 1}}}
            codex_session(home, "api", uid(6), TURNS, start="2026-06-11T12:00:00+00:00", source=source)
            _type(home, LATIN)
        if step != "at once":
            assert sweep(here).problems == []
        if step == "after a reindex":
            from recall.actions.reindex import rebuild

            rebuild(here, progress=nothing)
        data = all_bytes(*folders)
        for word in (LATIN, CYRILLIC):
            assert word.encode() not in data.lower(), (step, word)
            assert word[:-2].encode() not in data, (step, word)
        assert sorted(rows(here)) == sorted([uid(4), uid(5)]), step
        assert check(here, Shelf(here.data, here.state), nothing).sound
    assert sweep(here).changed == 0
    lists = [path.read_text() for path in Path(here.archive).rglob("history.jsonl")]
    assert [text.count("giraffe") for text in lists] == [2, 2]
    assert "stays" in (Path(here.archive) / "codex" / "session_index.jsonl").read_text()
    assert json.loads((Path(here.data) / "names.json").read_text()) == {uid(4): "mine"}
    assert LATIN in claude.read_text()


def test_a_purge_that_was_cut_short_is_completed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before the index was made anew: the next sweep does it."""
    _plant(home)
    here = settings(home)
    sweep(here)
    from recall.actions import remove as removing

    with monkeypatch.context() as patch:

        def killed(*_: object, **__: object) -> int:
            raise KeyboardInterrupt

        patch.setattr(removing, "rebuild", killed)
        for number in (1, 2):
            with pytest.raises(KeyboardInterrupt):
                _remove(here, uid(number), everything=True)
    assert LATIN.encode() in all_bytes(here.state)
    sweep(here)
    data = all_bytes(here.archive, here.data, here.state)
    assert LATIN.encode() not in data
    assert CYRILLIC.encode() not in data


def test_what_was_removed_can_still_be_purged(home: Path, run_recall: Run) -> None:
    """Its copies go, sub-agents among the rollouts too; a second time there is nothing left to do."""
    _plant(home)
    run_recall("sweep", check=True)
    for number in (1, 2):
        run_recall("rm", uid(number), "--yes", check=True)
        shutil.rmtree(home / ".claude" / "projects", ignore_errors=True)
        done = run_recall("rm", uid(number)[:13], "--purge", "--yes")
        assert done.returncode == 0, done.stderr
        assert run_recall("rm", uid(number), "--purge", "--yes").returncode == 1
    data = all_bytes(*(str(home / name) for name in ("backups", ".claude/recall", ".claude/session-recaps")))
    assert LATIN.encode() not in data
    assert CYRILLIC.encode() not in data
    assert sorted(rows(settings(home))) == sorted([uid(4), uid(5)])
