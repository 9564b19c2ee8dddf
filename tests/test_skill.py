"""The skill is right for the recall that it ships with: what it names exists, and it fits where clients list it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from recall.cli import ALIASES, COMMANDS
from recall.cli.group import commands
from recall.errors import Usage
from tests.builders import claude_session
from tests.conftest import ROOT, Run
from tests.machine import uid

SKILL = ROOT / "skills" / "session-orchestrator" / "SKILL.md"
TEXT = SKILL.read_text(encoding="utf-8")
LEGAL = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
"""Keys that every client takes; another one is an error for some."""

CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
CHINESE = re.compile(r"[\u4e00-\u9fff]")
PLACEHOLDERS = {
    "WORDS": "export deals",
    "TEXT": "export",
    "REGEX": "exp.rt",
    "TITLE": "a name",
    "ID": "last",
    "ADDR": "s034",
    "DIR": ".",
    "N": "3",
    "PATH": "deals.csv",
    "COMMIT": "1a2b3c4",
}


def _head() -> dict[str, str]:
    """The front matter, by the little YAML that it uses: plain values and folded texts."""
    _, head, _ = TEXT.split("---\n", 2)
    out: dict[str, str] = {}
    key = ""
    for line in head.splitlines():
        if line.startswith(" "):
            out[key] = f"{out[key]} {line.strip()}".strip()
        else:
            key, _, value = line.partition(":")
            out[key] = "" if value.strip() == ">-" else value.strip()
    return out


def _body() -> str:
    return TEXT.split("---\n", 2)[2]


def _lines() -> list[str]:
    """Every command line that the skill shows, in blocks and in the text."""
    blocks = re.findall(r"^```sh\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    lines = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]
    spans = re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```", "", _body(), flags=re.MULTILINE | re.DOTALL))
    return list(dict.fromkeys(line for line in lines + spans if re.match(r"recall\b ", " ".join(line.split()))))


def _parse(line: str) -> tuple[str, click.Context]:
    """The command that a line calls, its options read by click; raises what the command line would say."""
    words = [PLACEHOLDERS.get(word, word) for word in shlex.split(line)]
    name = ALIASES.get(words[1], words[1])
    command = commands.get_command(None, name)
    if command is None:
        raise Usage(f"there is no command '{name}'", "")
    return name, command.make_context(name, words[2:])


LINES = _lines()
DESCRIPTION = _head()["description"]


def test_the_head_is_legal_everywhere() -> None:
    """Only keys that each client takes; the name is that of its folder."""
    head = _head()
    assert set(head) <= LEGAL
    assert head["name"] == SKILL.parent.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", head["name"])
    assert "<" not in head["description"]


def test_the_description_fits_the_listing() -> None:
    """1,024 characters is what the open format takes, 1,536 what one client lists."""
    assert 200 < len(_head()["description"]) <= 1024


def test_the_description_is_found_in_three_languages() -> None:
    text = _head()["description"]
    quoted = re.findall(r'"([^"]+)"', text)
    assert sum(1 for one in quoted if one.isascii()) >= 8
    assert sum(1 for one in quoted if CYRILLIC.search(one)) >= 8
    assert sum(1 for one in quoted if CHINESE.search(one)) >= 8


def test_the_text_is_english() -> None:
    prose = re.sub(r"^```.*?^```|`[^`]*`", "", _body(), flags=re.MULTILINE | re.DOTALL)
    assert not CYRILLIC.search(prose)
    assert not CHINESE.search(prose)


def test_the_text_is_short_enough_to_be_read() -> None:
    assert len(_body().splitlines()) <= 200
    assert len(TEXT) <= 12_000


@pytest.mark.parametrize("line", LINES)
def test_each_line_is_one_that_recall_takes(line: str) -> None:
    """Command, options and their values, as click reads them; a bare name in a sentence is a command's."""
    if len(shlex.split(line)) > 2 or shlex.split(line)[1] in ("find", "doctor", "tags", "backfill"):
        _parse(line)
    else:
        assert shlex.split(line)[1] in {*COMMANDS, *ALIASES}


def test_the_lines_are_looked_at() -> None:
    """The test above sees what it should: the commands of each part of the skill, and one that does not exist fails."""
    used = {shlex.split(line)[1] for line in LINES}
    assert {"find", "show", "grep", "cmd", "handoff", "backfill", "remove", "doctor", "recap", "tag"} <= used
    assert {"open", "restore", "fork", "ps", "peek", "send", "wait", "to-codex", "who", "next", "lost", "files"} <= used
    assert used <= {*COMMANDS, *ALIASES}
    with pytest.raises(Usage):
        _parse("recall no-such-thing ID")
    with pytest.raises(click.UsageError):
        _parse("recall find --no-such-option WORDS")


def test_options_that_stand_alone_exist() -> None:
    """`--around` in a sentence is an option of some command."""
    known = {
        name
        for command in COMMANDS
        for param in (commands.get_command(None, command) or click.Command("")).params
        for name in (*param.opts, *param.secondary_opts)
    }
    alone = set(re.findall(r"`(--[a-z-]+)[^`]*`", _body()))
    assert alone
    assert alone <= known


def test_no_line_begins_with_a_variable() -> None:
    """Permission rules look at the first word of a line."""
    blocks = "\n".join(re.findall(r"^```sh\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL))
    assert not re.search(r"^[A-Z_]+=", blocks, re.MULTILINE)
    assert not [line for line in re.findall(r"`([^`]+)`", _body()) if re.match(r"[A-Z_]+=\S+ +\S", line)]


def test_the_row_that_it_shows_is_one() -> None:
    """The example has the form of an index line."""
    row = next(line for line in TEXT.splitlines() if line.startswith("0014fc28 "))
    assert re.fullmatch(r"[0-9a-f]{8} \d{4}-\d\d-\d\dT\d\d:\d\d \S+ \[\w+\] .+ #\S+ \{.+\} ⚡LIVE", row)


@pytest.mark.parametrize(
    "words",
    [
        "stems",
        "normal candidate",
        "This session is left out",
        "compare the times",
        "At most three candidates",
        "`folder · dd.mm`",
        "task, status, entities",
        "dig deeper",
        "with its artifacts",
        "the card's method",
        "that project's folder",
        "one line for each candidate, and ask",
        "Never resume it",
        "waits for a permission is refused",
        "this takes some seconds, or use `--fast`",
        "Never put `NAME=value` in front",
        "tell the user the count and the price",
        "Then verify",
        "Show the row first",
        "Trust it for where the work stood",
        "Check before you act on it",
    ],
)
def test_each_rule_is_there(words: str) -> None:
    """What an agent has to be told stands in the text."""
    assert words in " ".join(_body().split())


def test_its_searches_run(home: Path, run_recall: Run) -> None:
    """What the skill shows for finding and reading gives an answer, or nothing found: never a wrong usage."""
    claude_session(home, "crm", uid(1), [("export deals of the third quarter", "exported to deals.csv")])
    run_recall("sweep", "--quiet", "--no-llm", check=True)
    reading = [
        line
        for line in LINES
        if shlex.split(line)[1] in ("find", "grep", "show", "cmd", "tags", "doctor", "who", "next")
    ]
    assert len(reading) > 15
    for line in reading:
        if len(shlex.split(line)) < 3 and line != "recall find":
            continue
        words = [word for typed in shlex.split(line)[1:] for word in PLACEHOLDERS.get(typed, typed).split(" ")]
        done = run_recall(*words)
        assert done.returncode in (0, 1), f"{line}: {done.stderr}"
        assert "Traceback" not in done.stderr
