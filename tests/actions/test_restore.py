"""An archived transcript comes back byte for byte where its client looks, and nothing is ever overwritten or doubled."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from recall.actions import restore as module
from recall.actions.restore import Restoring, prepare, restore, survivors
from recall.core.model import Session
from recall.errors import NothingFound, Refused, Unavailable, Usage
from recall.settings import Settings
from recall.store import open_store
from tests.builders import claude_folder, claude_session, codex_session
from tests.conftest import Run
from tests.machine import append, settings, sweep, uid, user

CLAUDE, CODEX = uid(1), "019e10aa-1111-7aaa-8bbb-0123456789ab"
TURNS = [("Move the export to the new API, please", "The export uses the new API now.")]
NOW = 1_790_000_000.0
CWD = "/home/dev/crm"


class Place(NamedTuple):
    """A home with a session of each client, its transcripts swept and then deleted by the client."""

    home: Path
    here: Settings
    claude: Path
    codex: Path
    bytes: dict[str, bytes]

    def row(self, session: str) -> Session:
        with open_store(self.here.index) as store:
            (found,) = [row for row in store.sessions() if row.id == session]
        return found

    def prepare(self, session: str = CLAUDE, **more: object) -> Restoring:
        with open_store(self.here.index) as store:
            return prepare(self.row(session), store, self.here, **more)  # type: ignore[arg-type]


@pytest.fixture
def place(home: Path) -> Place:
    claude = claude_session(home, "crm", CLAUDE, TURNS)
    codex = codex_session(home, "crm", CODEX, TURNS)
    beside = claude.with_suffix("")
    (beside / "subagents").mkdir(parents=True)
    (beside / "tool-results").mkdir()
    (beside / "subagents/agent-a1.jsonl").write_text(json.dumps(user(CLAUDE, "look", 1, isSidechain=True)) + "\n")
    (beside / "subagents/agent-a1.meta.json").write_text("{}")
    (beside / "tool-results/b.txt").write_text("long output")
    (beside / "custom-title.json").write_text('{"customTitle":"mine","by":"user"}')
    here = settings(home)
    sweep(here)
    kept = {str(path): path.read_bytes() for path in [*beside.rglob("*.*"), claude, codex]}
    for path in kept:
        os.unlink(path)
    for folder in ("subagents", "tool-results", ""):
        (beside / folder).rmdir()
    return Place(home, here, claude, codex, kept)


def test_all_of_a_session_of_claude_comes_back_as_it_was(place: Place) -> None:
    """Transcript, sub-agents, tool results and the note of its name: same bytes, for their owner only, as of now."""
    made = restore(place.prepare(), NOW)
    mine = {path: data for path, data in place.bytes.items() if "/.claude/" in path}
    assert sorted(made) == sorted(mine) and made[-1] == str(place.claude)
    for path, data in mine.items():
        status = os.stat(path)
        assert Path(path).read_bytes() == data
        assert (stat.S_IMODE(status.st_mode), status.st_mtime) == (0o600, NOW)
    assert not [path for path in place.home.rglob("*.tmp") if ".claude/projects" in str(path)]
    assert stat.S_IMODE(os.stat(place.claude.with_suffix("")).st_mode) == 0o700


def test_a_rollout_of_codex_comes_back_to_its_day(place: Place) -> None:
    for folder in (place.codex.parent, *place.codex.parents[1:3]):
        folder.rmdir()
    assert restore(place.prepare(CODEX), NOW) == [str(place.codex)]
    assert place.codex.read_bytes() == place.bytes[str(place.codex)]


@pytest.mark.parametrize("session", [CLAUDE, CODEX])
def test_where_it_was_is_told_by_the_archive_where_the_index_does_not_know(place: Place, session: str) -> None:
    """After `reindex` without the client's file nothing else tells."""
    with open_store(place.here.index) as store, store.writing():
        for file in store.files():
            store.set_file_source(file.no, "")
    assert place.prepare(session).main.to == str(place.claude if session == CLAUDE else place.codex)


def test_what_an_earlier_tool_kept_goes_back_to_the_folder_of_its_name(home: Path) -> None:
    source = claude_session(home, "crm", CLAUDE, TURNS)
    copy = home / "backups/claude-transcripts" / claude_folder(CWD) / source.name
    copy.parent.mkdir(parents=True)
    source.rename(copy)
    here = settings(home)
    from recall.actions.reindex import rebuild

    sweep(here)
    rebuild(here, progress=lambda *_: None)
    place = Place(home, here, source, source, {})
    assert place.prepare().main.to == str(source)


def test_the_index_knows_and_the_sweep_finds_nothing_new(place: Place, run_recall: Run) -> None:
    done = run_recall("restore", CLAUDE[:8], check=True)
    assert done.stdout.splitlines()[-1] == f"recall open {CLAUDE}"
    found = json.loads(run_recall("find", "export", "--json", check=True).stdout)["results"]
    (row,) = [one for one in found if one["id"] == CLAUDE]
    assert row["archived_only"] is False and row["chain"] == 1
    before = sorted(path.name for path in Path(place.here.archive).rglob("*"))
    run_recall("sweep", "--quiet", check=True)
    assert sorted(path.name for path in Path(place.here.archive).rglob("*")) == before


# -- refusals --------------------------------------------------------------------------------------------------------


def test_what_is_there_is_not_overwritten(place: Place) -> None:
    place.claude.write_text("mine\n")
    with pytest.raises(Refused, match="nothing is overwritten"):
        place.prepare()
    assert place.claude.read_text() == "mine\n"


def test_one_that_appears_in_between_is_not_overwritten_either(place: Place) -> None:
    """Between the look and the writing: the name is taken with an exclusive link."""
    plan = place.prepare()
    place.claude.write_text("mine\n")
    with pytest.raises(Refused, match="meanwhile"):
        restore(plan, NOW)
    assert place.claude.read_text() == "mine\n"
    assert not list(place.claude.parent.glob(".recall-*"))


@pytest.mark.skipif(sys.platform != "linux", reason="os.link is made to fail as on a file system without hard links")
def test_without_hard_links_it_is_exclusive_all_the_same(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_link(*_: object) -> None:
        raise OSError(errno.EPERM, "no links")

    monkeypatch.setattr(module.os, "link", no_link)
    plan = place.prepare()
    restore(plan, NOW)
    assert place.claude.read_bytes() == place.bytes[str(place.claude)]
    place.claude.write_text("mine\n")
    with pytest.raises(Refused):
        restore(plan, NOW)
    assert place.claude.read_text() == "mine\n"


@pytest.mark.parametrize("to", [False, True])
def test_an_id_is_never_made_double_in_a_home(place: Place, to: bool) -> None:
    """The client has it in another project's folder: whether our target is the known one or a folder given with --to."""
    other = place.home / ".claude/projects/-elsewhere"
    other.mkdir()
    (other / place.claude.name).write_text("{}\n")
    with pytest.raises(Refused, match="-elsewhere"):
        place.prepare(to=str(place.home / ".claude/projects/-third") if to else "")
    assert place.prepare(to=str(place.home / "out")).main.to == str(place.home / "out" / place.claude.name)


@pytest.mark.parametrize(
    "name", ["sessions/2026/07/01/rollout-2026-07-01T10-00-00-{}.jsonl", "archived_sessions/rollout-x-{}.jsonl"]
)
@pytest.mark.parametrize("suffix", ["", ".zst"])
def test_a_rollout_that_codex_has_elsewhere_or_compressed_is_not_made_double(
    place: Place, name: str, suffix: str
) -> None:
    path = place.home / ".codex" / (name.format(CODEX) + suffix)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x")
    with pytest.raises(Refused, match="is there"):
        place.prepare(CODEX)


def test_a_compressed_twin_in_its_own_place_counts(place: Place) -> None:
    place.codex.with_name(place.codex.name + ".zst").write_bytes(b"x")
    with pytest.raises(Refused, match="zst is there"):
        place.prepare(CODEX)


def test_an_archive_that_is_not_mounted_is_told(place: Place) -> None:
    Path(place.here.archive).rename(place.home / "away")
    with pytest.raises(Unavailable, match="not mounted"):
        place.prepare()
    assert not Path(place.here.archive).exists()


def test_nothing_kept_is_told(place: Place) -> None:
    for path in Path(place.here.archive).rglob(f"*{CLAUDE}*"):
        if path.is_file():
            path.unlink()
    with pytest.raises(NothingFound, match="no transcript"):
        place.prepare()
    with open_store(place.here.index) as store:
        left = survivors(place.row(CLAUDE), store, place.here)
    assert not left.restorable


@pytest.mark.parametrize(
    ("args", "status"),
    [(("../x",), 2), (("/etc/passwd",), 2), (("nobody-knows-it",), 1), ((CLAUDE, "--generation", "7"), 2)],
)
def test_bad_arguments(place: Place, run_recall: Run, args: tuple[str, ...], status: int) -> None:
    done = run_recall("restore", *args)
    assert (done.returncode, done.stdout) == (status, "")
    assert not place.claude.exists()


@pytest.mark.parametrize("purge", [(), ("--purge",)])
def test_a_removed_session_is_refused(place: Place, run_recall: Run, purge: tuple[str, ...]) -> None:
    run_recall("remove", CLAUDE, "--yes", *purge, check=True)
    done = run_recall("restore", CLAUDE)
    assert done.returncode == 3 and "was removed" in done.stderr
    assert ("recall recap" in done.stderr) is not bool(purge)


# -- generations -----------------------------------------------------------------------------------------------------


def test_each_generation_can_be_listed_and_restored(home: Path, run_recall: Run) -> None:
    """The client rewrote the transcript shorter, and then lost it: both texts are there, the longer one is older."""
    path = claude_session(home, "crm", CLAUDE, TURNS * 2)
    whole = path.read_bytes()
    here = settings(home)
    sweep(here)
    claude_session(home, "crm", CLAUDE, [("something else", "entirely")])
    short = path.read_bytes()
    sweep(here)
    path.unlink()
    listed = json.loads(run_recall("restore", CLAUDE, "--list", "--json", check=True).stdout)["generations"]
    assert [(one["generation"], one["bytes"]) for one in listed] == [(0, len(short)), (1, len(whole))]
    assert len(run_recall("restore", CLAUDE, "--list", check=True).stdout.splitlines()) == 2
    out = home / "out"
    run_recall("restore", CLAUDE, "--generation", 1, "--to", out, check=True)
    assert (out / path.name).read_bytes() == whole and not path.exists()
    assert "would restore" in run_recall("restore", CLAUDE, "--dry-run", check=True).stdout
    assert not path.exists()
    run_recall("restore", CLAUDE, check=True)
    assert path.read_bytes() == short
    assert run_recall("restore", CLAUDE, "--generation", 1).returncode == 3
    assert path.read_bytes() == short


def test_a_copy_that_is_damaged_comes_back_and_it_is_said(place: Place, run_recall: Run) -> None:
    """By its checksums: a damaged text is better than none, and nothing is lost by it."""
    assert place.prepare().damage == ()
    copy = Path(place.prepare().main.copy)
    data = copy.read_bytes()
    copy.write_bytes(data[:10] + b"\0" * 20 + data[30:])
    assert place.prepare().damage == (f"damaged, bytes 0-{len(data)}",)
    copy.write_bytes(data[:50])
    assert place.prepare().damage == (f"short, bytes 50-{len(data)}",)
    done = run_recall("restore", CLAUDE, "--to", str(place.home / "out"), check=True)
    assert f"recall: the copy is not what it was (short, bytes 50-{len(data)})" in done.stderr


def test_what_is_in_the_way_is_named_and_nothing_is_half_done(place: Place, run_recall: Run) -> None:
    """A file where a folder should be, a transcript's name that leads nowhere."""
    (place.home / "file").write_text("")
    for to in ("file", "file/below"):
        done = run_recall("restore", CLAUDE, "--to", str(place.home / to))
        assert done.returncode in (2, 4) and str(place.home / "file") in done.stderr
    place.claude.with_suffix("").write_text("where sub-agents go")
    done = run_recall("restore", CLAUDE)
    assert (done.returncode, place.claude.exists()) == (4, False)
    assert f"{place.claude.with_suffix('')}" in done.stderr
    place.claude.symlink_to("/nowhere")
    done = run_recall("restore", CLAUDE)
    assert done.returncode == 3 and "no transcript: move it away" in done.stderr
    assert run_recall("open", CLAUDE, "--print", "--in", "/").returncode == 3


def test_a_generation_that_is_not_there_is_named_with_those_that_are(place: Place) -> None:
    with pytest.raises(Usage) as caught:
        place.prepare(generation=3)
    assert "there are: 0" in caught.value.hint


def test_what_is_there_of_its_companions_stays(place: Place) -> None:
    """And is told; the rest comes."""
    beside = place.claude.with_suffix("")
    (beside / "tool-results").mkdir(parents=True)
    (beside / "tool-results/b.txt").write_text("mine")
    plan = place.prepare()
    assert plan.present == (str(beside / "tool-results/b.txt"),)
    made = restore(plan, NOW)
    assert str(place.claude) in made and len(made) == 4
    assert (beside / "tool-results/b.txt").read_text() == "mine"


def test_a_restored_session_goes_on_growing_into_the_same_copy(place: Place) -> None:
    restore(place.prepare(), NOW)
    append(place.claude, [user(CLAUDE, "and the report as well", 9)])
    sweep(place.here)
    copies = list(Path(place.here.archive).rglob(f"{CLAUDE}.jsonl*"))
    assert [path.read_bytes() for path in copies] == [place.claude.read_bytes()]
