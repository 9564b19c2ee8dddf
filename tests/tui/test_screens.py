"""What stands on the screen, key by key, in a real terminal (tests/tui/golden/README.md says how to write them again)."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from recall.core.plain import width
from tests.builders import claude_session
from tests.conftest import Run, environment
from tests.machine import uid
from tests.tui.tmux import ABOVE, Terminal

Make = Callable[..., Terminal]


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (200, 60), (50, 16)])
def test_it_begins_with_the_newest_sessions(samples: Path, terminal: Make, columns: int, rows: int) -> None:
    """The newest sessions and what the first of them was, in a usual terminal, a large one and a small one."""
    here = terminal(samples, columns, rows)
    here.picker()
    here.matches(f"begin-{columns}")


def test_results_come_as_words_are_typed(samples: Path, terminal: Make) -> None:
    """Sessions that hold a form of the word, with the turns in which it stands; arrows go from one to the next."""
    here = terminal(samples)
    here.picker()
    here.type("umlaut")
    here.matches("umlaut")
    here.keys("Down")
    here.matches("umlaut-second")
    here.keys("S-Down", "S-Down")
    here.matches("umlaut-scrolled")


def test_a_card_is_shown(samples: Path, terminal: Make) -> None:
    """Task, status, method, next, tags and names of the card; the words that were found in it and in the turns."""
    here = terminal(samples, 160, 40)
    here.picker()
    here.type("#export выгрузк")
    here.matches("card")


def test_found_words_stand_out(samples: Path, terminal: Make) -> None:
    """In the list and in the preview what was found is bold; without colours as well."""
    for variables in ({}, {"NO_COLOR": "1"}):
        here = terminal(samples, **variables)
        here.picker()
        here.type("umlaut")
        here.shows("2 of 8", "codex 08:49")
        screen = here.screen(styled=True)
        marked = [line for line in screen.split("\n") if "\x1b[1m" in line or ";1m" in line or "\x1b[1;" in line]
        assert any("umlauts" in line for line in marked)
        assert ("\x1b[31m" in screen) is not bool(variables)


def test_filters_are_completed(samples: Path, terminal: Make) -> None:
    """Tab shows the filters, completes one, then goes through its values."""
    here = terminal(samples)
    here.picker()
    here.keys("Tab")
    here.matches("filters")
    here.type("pro")
    here.keys("Tab")
    here.shows("❯ project:")
    here.keys("Tab")
    here.matches("filter-value")
    here.keys("Tab", "Tab", "BTab")
    here.shows("❯ project:buchhaltung", "1 of 8")


def test_the_help_page(samples: Path, terminal: Make) -> None:
    """`?` on an empty line shows the keys; Esc goes back."""
    here = terminal(samples)
    here.picker()
    here.type("?")
    here.matches("help")
    here.keys("Escape")
    here.matches("begin-80")


def test_the_conversation_is_read(samples: Path, terminal: Make) -> None:
    """^S shows who said what, where what was looked for stands; `t` what tools printed as well."""
    here = terminal(samples)
    here.picker()
    here.type("доля")
    here.shows("1 of 8")
    here.keys("C-s")
    here.matches("talk")
    here.keys("t")
    here.shows("  | ")
    here.keys("Escape")
    here.shows("❯ доля")


def test_nothing_is_found(samples: Path, terminal: Make) -> None:
    """It is said how much was searched, and what may help."""
    here = terminal(samples)
    here.picker()
    here.type("zzyzxq")
    here.matches("nothing")


def test_nothing_is_indexed(home: Path, terminal: Make) -> None:
    """An empty home is told what to do."""
    here = terminal(home)
    here.picker()
    here.matches("empty")


def test_wide_characters_stay_aligned(home: Path, run_recall: Run, terminal: Make) -> None:
    """Whatever a title is made of, the columns of all rows begin at the same place, also as the terminal draws them."""
    titles = (
        "家族 👨‍👩‍👧‍👦 の 写真 を 整理 する",
        "flags 🇩🇪🇫🇷 and skin 👍🏽 and keycaps 1️⃣",
        "heart ❤️ and ⚡ and ✓ signs",
        "e\u0301 a\u0308 composed and not: é ä",
        "한국어 제목 입니다",
        "ไทย ภาษา ที่",
        "plain ascii",
        "right-to-left \u202eabc\u202c and zero\u200bwidth\ufeff",
    )
    for n, title in enumerate(titles):
        turns = [(f"{title} please", "done")]
        claude_session(home, title.split()[0], uid(n), turns, start=f"2026-06-{n + 1:02}T09:00:00+00:00")
    run_recall("sweep", "--no-llm", "--quiet", check=True)
    here = terminal(home)
    here.picker()
    screen = here.shows("plain ascii", "claude 09:0")
    rows = [line for line in screen.split("\n") if " ○ " in line]
    assert len(rows) == len(titles)
    assert {width(line.partition(" ○ ")[0]) for line in rows} == {width(rows[0].partition(" ○ ")[0])}
    assert max(map(width, rows)) <= 80
    here.matches("wide-characters")


def test_a_resize_in_the_middle(samples: Path, terminal: Make) -> None:
    """The screen of another size is the one that it would have been from the beginning."""
    here = terminal(samples, 200, 60)
    here.picker()
    here.matches("begin-200")
    here.tmux("resize-window", "-x", "50", "-y", "16")
    here.matches("begin-50")
    here.tmux("resize-window", "-x", "80", "-y", "24")
    here.matches("begin-80")


@pytest.mark.parametrize("how", ["C-c", "Escape", "C-q"])
def test_leaving_gives_the_screen_back(samples: Path, terminal: Make, how: str) -> None:
    """What stood on the screen stands there again, the cursor below it, and the shell takes keys."""
    here = terminal(samples)
    here.picker()
    here.shows("8 sessions")
    here.keys(how)
    here.until(lambda screen: screen.startswith(f"{ABOVE}\n$ ") and screen.endswith("\n$") and "❯" not in screen)
    here.shell("echo status $?")
    here.shows("status 0")


def test_recall_alone_opens_it(samples: Path, terminal: Make) -> None:
    """The program itself, without a command, on a terminal."""
    here = terminal(samples)
    here.shell(f"{shlex.quote(sys.executable)} -m recall")
    here.shows("❯ type what you remember", "8 sessions")


def test_recall_alone_prints_where_nobody_looks(samples: Path, terminal: Make, run_recall: Run) -> None:
    """Piped it prints the newest sessions; so it does on a terminal that cannot be drawn on."""
    plain = run_recall(home=samples)
    assert plain.returncode == 0 and len(plain.stdout.splitlines()) == 8
    here = terminal(samples, 200, 24)
    here.shell(f"TERM=dumb {shlex.quote(sys.executable)} -m recall")
    screen = here.shows("b9193492", "reminder-bot")
    assert "❯" not in screen


@pytest.mark.parametrize("command", [("find", "umlaut"), ("show", "last"), ("--help",)])
def test_nothing_else_loads_it(samples: Path, command: tuple[str, ...]) -> None:
    """No other command imports what the picker is drawn with."""
    code = f"import sys\nfrom recall.cli.group import run\nrun({list(command)!r})\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(samples), capture_output=True, encoding="utf-8", check=True
    )
    loaded = {name.partition(".")[0] for name in done.stderr.split()} | set(done.stderr.split())
    assert "recall.cli.group" in loaded
    assert not {"textual", "rich", "recall.tui"} & loaded
