"""Searching while somebody types: only the newest question counts, and nothing that happens to the index ends the picker."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from recall.cli.failure import explain
from recall.core.query import parse
from recall.errors import RecallError
from recall.store import alone
from recall.tui import search
from recall.tui.app import Picker
from recall.tui.main import Leaving, Main
from recall.tui.messages import Answered
from recall.tui.search import Answer, Asked, Latest, Parts, words_of
from tests.machine import NOW, settings

DEADLINE = 30.0


def parts(home: Path, **more: object) -> Parts:
    def rebuild() -> None:
        raise AssertionError("there is nothing to make again")

    made = Parts(settings(home), lambda: NOW, explain, rebuild, {"PATH": ""})
    return made._replace(**more)  # type: ignore[arg-type]


async def until(fits: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE
    while not fits():
        assert time.monotonic() < end, "it did not come"
        await asyncio.sleep(0.01)


def with_picker(home: Path, play: Callable[[Picker, Main, object], object], **more: object) -> Leaving | None:
    """Run the picker without a terminal while `play` plays; what it was left with."""

    async def run() -> Leaving | None:
        picker = Picker(parts(home, **more))
        async with picker.run_test(size=(80, 24)) as pilot:
            await play(picker, picker.main, pilot)  # type: ignore[misc]
        picker.main.stop()
        return picker.return_value

    return asyncio.run(run())


def listed(main: Main) -> list[str]:
    return [hit.session.project for hit in main.answer.found.hits] if main.answer else []


def told(main: Main) -> str:
    return "\n".join(main.list.render_line(y).text for y in range(main.list.size.height))


def foot(main: Main) -> str:
    line = main.query_one("#foot")
    return " ".join(line.render_line(y).text.strip() for y in range(line.size.height))


def test_only_the_newest_job_is_worked_on() -> None:
    """Of the jobs that come while one is worked on, the last one is next, and the others never."""
    go, done, worked = threading.Event(), threading.Event(), []

    def work(job: int) -> None:
        worked.append(job)
        if job == 0:
            go.wait(DEADLINE)
        else:
            done.set()

    latest: Latest[int] = Latest(work)
    latest.ask(0)
    end = time.monotonic() + DEADLINE
    while not worked and time.monotonic() < end:
        time.sleep(0.001)
    for job in range(1, 50):
        latest.ask(job)
    go.set()
    assert done.wait(DEADLINE)
    latest.stop(DEADLINE)
    assert worked == [0, 49]


def test_an_answer_that_was_overtaken_is_dropped(samples: Path) -> None:
    """What comes from an earlier question does not take the place of the later one's answer."""

    async def play(picker: Picker, main: Main, pilot: object) -> None:
        await until(lambda: len(listed(main)) == 8)
        now = main.answer
        assert now is not None
        old = Answer(Asked(now.asked.number - 1, "old", False), now.query, now.found._replace(hits=[]), (), frozenset())
        main.on_answered(Answered(old))
        assert len(listed(main)) == 8

    with_picker(samples, play)


def test_typing_goes_on_while_the_index_is_taken(samples: Path) -> None:
    """While another recall has the index for itself, letters appear as they are typed; then the rows come."""

    async def play(picker: Picker, main: Main, pilot: object) -> None:
        await pilot.press(*"umlaut")  # type: ignore[attr-defined]
        assert main.typed.value == "umlaut" and main.answer is None
        await until(lambda: "waiting for the index" in foot(main))
        holding.set()
        await until(lambda: sorted(listed(main)) == ["buchhaltung", "shop"])
        assert "waiting" not in foot(main)

    holding, held = threading.Event(), threading.Event()

    def hold() -> None:
        with alone(settings(samples).index):
            held.set()
            holding.wait(DEADLINE)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(DEADLINE)
    try:
        with_picker(samples, play)
    finally:
        holding.set()
        thread.join()


def test_the_index_is_let_go_between(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An open picker that nobody types into keeps nobody from making the index again."""
    monkeypatch.setattr(search, "IDLE", 0.05)

    async def play(picker: Picker, main: Main, pilot: object) -> None:
        await until(lambda: len(listed(main)) == 8)
        await until(lambda: main.seen is not None and bool(main.seen.turns))

        def take() -> None:
            with alone(settings(samples).index, wait=DEADLINE):
                pass

        await asyncio.to_thread(take)

    with_picker(samples, play)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda index: index.write_bytes(b"this is no database" * 100), "no index of recall"),
        (lambda index: index.with_name("output.db").unlink(), "is missing"),
        (lambda index: index.unlink(), "Nothing is indexed yet"),
    ],
)
def test_a_damaged_index_is_told(samples: Path, damage: Callable[[Path], None], message: str) -> None:
    """The list says what is wrong and how it is mended, and the picker can be left."""
    index = Path(settings(samples).index)
    for tail in ("-wal", "-shm"):
        index.with_name(index.name + tail).unlink(missing_ok=True)
    damage(index)

    async def play(picker: Picker, main: Main, pilot: object) -> None:
        await until(lambda: message in " ".join(told(main).split()))
        await pilot.press("enter", "ctrl+g", "down", "x", "escape")  # type: ignore[attr-defined]
        await pilot.press("ctrl+c")  # type: ignore[attr-defined]

    assert with_picker(samples, play) == Leaving()


def test_a_bug_in_a_thread_is_raised(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What no user can cause ends the picker, and keeps its traceback."""

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(search, "find", broken)

    async def play(picker: Picker, main: Main, pilot: object) -> None:
        await until(lambda: picker.failure is not None)

    with pytest.raises(ZeroDivisionError):
        with_picker(samples, play)


def test_an_older_index_is_made_again(samples: Path) -> None:
    """An index of an earlier recall is made again by what the command line gave for it, then searched."""
    import sqlite3

    index = settings(samples).index
    made = []

    def version(text: str) -> str:
        with sqlite3.connect(index) as db:
            before = db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()[0]
            db.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (text,))
        db.close()
        return str(before)

    now = version("1.0")

    def rebuild() -> None:
        made.append(version(now))

    async def play(picker: Picker, main: Main, pilot: object) -> None:
        await until(lambda: len(listed(main)) == 8)

    with_picker(samples, play, rebuild=rebuild)
    assert made == ["1.0"]


def test_a_refusal_is_told_and_the_picker_stays(samples: Path) -> None:
    """Where there is no terminal to open a window in, the foot says so and names the keys that help."""

    async def play(picker: Picker, main: Main, pilot: object) -> None:
        await until(lambda: len(listed(main)) == 8)
        await pilot.press("enter")  # type: ignore[attr-defined]
        await until(lambda: "no terminal to open a window in" in foot(main))
        assert "^O opens it here" in foot(main)

    assert with_picker(samples, play) is None


def test_more_rows_come_at_the_end(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever goes to the last of the listed sessions gets those behind it, and stays where he is."""
    monkeypatch.setattr("recall.tui.listing.ROWS", 3)

    async def play(picker: Picker, main: Main, pilot: object) -> None:
        await until(lambda: len(listed(main)) == 3)
        await pilot.press("down", "down")  # type: ignore[attr-defined]
        await until(lambda: len(listed(main)) == 8)
        assert main.list.chosen == 2

    with_picker(samples, play)


@pytest.mark.parametrize("key", ["y", "n"])
def test_a_peek_shows_what_the_terminal_of_a_live_session_shows(samples: Path, key: str) -> None:
    """^P on one that is not open says so; on one that is open it shows the lines that it is given."""

    async def play(picker: Picker, main: Main, pilot: object) -> None:
        await until(lambda: len(listed(main)) == 8)
        hit = main.selected
        assert hit is not None and main.answer is not None
        if key == "y":
            main.answer = main.answer._replace(live=frozenset((hit.session.id,)))
        await pilot.press("ctrl+p")  # type: ignore[attr-defined]
        if key == "n":
            await until(lambda: "not open" in foot(main))
        else:
            await until(lambda: picker.screen is not main)
            await until(lambda: "tests pass" in picker.screen.query_one("#page").render_line(0).text)

    with_picker(samples, play, peek=lambda row: ["tests pass", "> "])


def test_words_that_answer_a_query() -> None:
    """What is marked: the words typed, those of a phrase and of a path, each once."""
    query = parse('parse_config "exact phrase" file:src/app.py', NOW)
    assert set(words_of(query, [])) >= {"parse", "config", "exact", "phrase", "src", "app", "py"}


def test_errors_are_those_of_the_command_line() -> None:
    """What the picker shows of an error is what `recall find` prints of it."""
    assert explain(RecallError("a", "b")) is not None
    assert explain(ZeroDivisionError()) is None


@pytest.mark.parametrize("size", [(1, 1), (7, 3), (20, 5), (59, 4), (60, 10), (131, 6), (132, 6)])
def test_no_terminal_is_too_small(samples: Path, size: tuple[int, int]) -> None:
    """Of whatever size the terminal is, and becomes, every page can be shown and left."""

    async def play(picker: Picker, main: Main, pilot: object) -> None:
        resize, press = pilot.resize_terminal, pilot.press  # type: ignore[attr-defined]
        await until(lambda: len(listed(main)) == 8)
        await resize(*size)
        await press("down", "shift+down", "pagedown", "up", "tab", "ctrl+u", *"um", "ctrl+u")
        for key, leave in (("question_mark", "escape"), ("ctrl+s", "q"), ("ctrl+g", "escape"), ("ctrl+r", "escape")):
            await press(key)
            await resize(80, 24)
            await resize(*size)
            await press(leave)
        await until(lambda: picker.screen is main)
        await resize(80, 24)
        await until(lambda: "portal" in told(main))

    with_picker(samples, play)
