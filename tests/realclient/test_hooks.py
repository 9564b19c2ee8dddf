"""recall's hooks in the real clients: copies after every turn, cards at the end of sessions, and no loop."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.realclient.lab import Lab, Tui, wait_for
from tests.realclient.talk import (
    ANSWERS,
    CARD,
    CLIENTS,
    TRUSTED,
    TURNS,
    card_rules,
    id_of,
    settled,
    spoken,
    three_turns,
)

pytestmark = pytest.mark.client

MODEL = "claude-haiku-5-5"


def cards_asked(lab: Lab) -> int:
    """How often the model was asked for a card."""
    asked = [body for body in lab.asked(kind="") if "haiku" in str(body.get("model"))]
    return sum("catalogue card" in json.dumps(body["system"]) for body in asked)


def trusting(lab: Lab) -> Tui:
    """Codex in a window, after its question about hooks was answered with yes."""
    tui = lab.tui("codex", ready="Hooks need review")
    tui.keys("2")
    tui.wait("› 2. Trust all")
    tui.keys("Enter")
    tui.wait("Ask Codex")
    return tui


@CLIENTS
def test_each_turn_is_kept_and_found_at_once(hooked: Lab, client: str) -> None:
    """After each turn the copy has it, and `find` finds it; kill -9 takes nothing away."""
    hooked.answer(*ANSWERS)
    tui = hooked.tui(client, *TRUSTED[client])
    for number, (text, answer) in enumerate(TURNS, 1):
        tui.turn(text, answer)
        (path,) = hooked.transcripts(client)
        copy = wait_for(lambda: hooked.copy_of(path), "a copy")  # noqa: B023
        wait_for(lambda: copy.exists() and answer in copy.read_text(), f"turn {number} in the archive")  # noqa: B023
        assert path.read_bytes().startswith(copy.read_bytes())
        (row,) = hooked.find(*text.split()[-2:])
        assert (row["id"], row["live"]) == (id_of(path), True)
    tui.kill(signal.SIGKILL)
    assert spoken(copy) == spoken(path)
    (row,) = hooked.find("funnel", "ивановой", "portal", "--no-refresh")
    assert (row["id"], row["messages"], row["live"]) == (id_of(path), 6, False)
    assert not (hooked.home / ".claude/recall/hook.log").exists()


def _exit(tui: Tui) -> None:
    tui.quit()


def _close(tui: Tui) -> None:
    tui.close_window()


def _terminate(tui: Tui) -> None:
    tui.kill(signal.SIGTERM)


ENDS = pytest.mark.parametrize("end", [_exit, _close, _terminate], ids=["exit", "closed-window", "SIGTERM"])


@ENDS
def test_the_end_of_a_claude_session_makes_its_card(hooked: Lab, end: object) -> None:
    """By the model, with no sweep: the row has it, the copy is the whole transcript; asked once and never again."""
    tui, path = three_turns(hooked, "claude", rules=card_rules())
    end(tui)  # type: ignore[operator]
    wait_for(lambda: f"written_by: {MODEL}" in hooked.card(id_of(path)), "the card")
    settled(hooked)
    (row,) = hooked.find("funnel", "--no-refresh")
    assert (row["id"], row["status"], row["task"], row["tags"]) == (id_of(path), "done", CARD["task"], ["export"])
    assert spoken(hooked.copy_of(path)) == spoken(path)
    _no_loop(hooked, path)


@ENDS
def test_the_end_of_a_codex_session_makes_its_card(hooked: Lab, end: object) -> None:
    """At /quit by the hook; a closed window and a signal tell no hook, so there by the next sweep. Never twice."""
    tui, path = three_turns(hooked, "codex", *TRUSTED["codex"], rules=card_rules())
    end(tui)  # type: ignore[operator]
    if end is _exit:
        wait_for(lambda: hooked.card(id_of(path)), "the card")
        settled(hooked)
    else:
        settled(hooked)
        assert hooked.card(id_of(path)) == ""
        hooked.recall("sweep")
    assert f"written_by: {MODEL}" in hooked.card(id_of(path))
    (row,) = hooked.find("funnel", "--no-refresh")
    assert (row["id"], row["status"], row["task"]) == (id_of(path), "done", CARD["task"])
    _no_loop(hooked, path)


def _no_loop(lab: Lab, path: Path) -> None:
    """The recap's own call is no session: nothing was started by it, nobody lists it, nothing is left of it."""
    assert cards_asked(lab) == 1
    lab.recall("sweep")
    settled(lab)
    assert cards_asked(lab) == 1
    assert [*lab.transcripts("claude"), *lab.transcripts("codex")] == [path]
    assert [row["id"] for row in lab.find("--all")] == [id_of(path)]
    assert not (lab.home / ".claude/recall/hook.log").exists()


def test_a_recap_is_not_in_the_resume_list(hooked: Lab) -> None:
    """The picker of the client, after two cards were made: the two sessions and nothing else."""
    tui, path = three_turns(hooked, "claude", rules=card_rules())
    tui.quit()
    wait_for(lambda: hooked.card(id_of(path)), "the card")
    hooked.answer("The logo is blue.", "Blue as the sea.", rules=card_rules())
    tui = hooked.tui("claude")
    tui.turn("paint the logo blue", "The logo is blue.")
    tui.turn("how blue", "Blue as the sea.")
    tui.quit()
    wait_for(lambda: cards_asked(hooked) == 2, "another card")
    settled(hooked)
    picker = hooked.tui("claude", "--resume", ready="how blue")
    screen = picker.wait(TURNS[-1][0])
    assert "digest" not in screen
    assert "catalogue" not in screen
    picker.keys("C-a")  # all projects
    assert len(hooked.transcripts()) == 2
    picker.kill()
    projects = os.listdir(hooked.home / ".claude/projects")
    assert len(projects) == 1


def test_changing_sessions_inside_of_a_window(hooked: Lab) -> None:
    """/clear, /resume, /branch: each session's copy, card and row carry its own id, and no other's words or title."""
    rules = [*card_rules("the logo blue", task="Paint the logo blue", entities=[]), *card_rules()]
    tui, path = three_turns(hooked, "claude", rules=rules)
    first = tui.session()
    tui.submit("/rename quarterly zebra")
    hooked.answer("The logo is blue.", "Blue as the sea.", rules=rules)
    tui.submit("/clear")
    second = wait_for(lambda: tui.session() != first and tui.session(), "another id")
    wait_for(lambda: hooked.card(first), "the card of the first")
    tui.turn("paint the logo blue", "The logo is blue.")
    tui.turn("how blue", "Blue as the sea.")
    hooked.answer("It was March.", "The mail is drafted.", rules=rules)
    tui.submit(f"/resume {first}")
    wait_for(lambda: tui.session() == first, "the first session")
    wait_for(lambda: hooked.card(second), "the card of the second")
    tui.turn("which month was that", "It was March.")
    tui.submit("/branch other-way")
    third = wait_for(lambda: tui.session() != first and tui.session(), "a third id")
    tui.turn("draft a mail to Petrov", "The mail is drafted.")
    for session, word in ((first, "March"), (second, "sea"), (third, "drafted")):
        copy = hooked.copy_of(path.with_name(f"{session}.jsonl"))
        wait_for(lambda: copy.exists() and word in copy.read_text(), f"{word} in the archive")  # noqa: B023
    tui.quit()
    settled(hooked)
    rows = {row["id"]: row for row in hooked.rows()}
    assert set(rows) == {second, third}  # all of the first is in the third: one row
    assert (rows[third]["chain"], rows[third]["title"]) == (2, "other-way")
    assert rows[second]["title"] != "quarterly zebra"
    assert rows[second]["task"] == "Paint the logo blue"
    assert [row["id"] for row in hooked.find("logo")] == [second]
    assert [row["id"] for row in hooked.find("petrov")] == [third]
    assert f"id: {first}" in hooked.card(first)
    assert f"id: {second}" in hooked.card(second)


def test_a_forked_session_has_its_own_copy(hooked: Lab) -> None:
    """--fork-session: the new id from its first turn on; the first session's copy stays as it is."""
    tui, path = three_turns(hooked, "claude", rules=card_rules())
    tui.quit()
    wait_for(lambda: hooked.card(id_of(path)), "the card")
    settled(hooked)
    before = hooked.copy_of(path).read_bytes()
    hooked.answer("The mail is drafted.", rules=card_rules())
    fork = hooked.tui("claude", "--resume", id_of(path), "--fork-session")
    fork.turn("draft a mail to Petrov", "The mail is drafted.")
    copy = hooked.copy_of(path.with_name(f"{fork.session()}.jsonl"))
    wait_for(lambda: copy.exists() and "drafted" in copy.read_text(), "the fork's copy")
    fork.quit()
    assert hooked.copy_of(path).read_bytes()[: len(before)] == before
    assert b"drafted" not in hooked.copy_of(path).read_bytes()


def test_a_session_without_a_prompt_leaves_nothing(hooked: Lab) -> None:
    """Opened and closed: the client calls its hooks with a transcript that never comes to be."""
    hooked.answer(rules=card_rules())
    tui = hooked.tui("claude")
    tui.quit()
    settled(hooked)
    assert hooked.recall("sweep").returncode == 0
    assert (hooked.find("--all"), cards_asked(hooked)) == ([], 0)
    hooked.run(["claude", "-p", "--resume", "00000000-0000-4000-8000-000000000000", "x"], check=False)
    settled(hooked)
    assert cards_asked(hooked) == 0
    assert not (hooked.home / ".claude/recall/hook.log").exists()


def test_headless_runs_are_kept_and_get_no_card(hooked: Lab) -> None:
    """`claude -p` fires SessionEnd as well."""
    hooked.answer("Eleven kiwis.", rules=card_rules())
    hooked.variables["RECALL_MIN_EVENTS"] = "1"
    hooked.run(["claude", "-p", "how many kiwis are there"])
    (path,) = hooked.transcripts()
    assert spoken(hooked.copy_of(path)) == spoken(path)
    settled(hooked)
    hooked.recall("sweep")
    assert cards_asked(hooked) == 0
    assert hooked.card(id_of(path)) == ""


def test_sub_agents_are_kept(hooked: Lab) -> None:
    """The transcript of an agent that the session started is in the archive when it ends, and no row of its own."""
    call = {"description": "count", "prompt": "count the kiwis in the shop", "subagent_type": "general-purpose"}
    agent = {"when": {"last_user": "count the kiwis in the shop"}, "reply": {"text": "There are 11 kiwis."}}
    hooked.answer(
        {"text": "I ask somebody.", "tools": [{"name": "Agent", "input": {**call, "run_in_background": False}}]},
        "Eleven.",
        rules=[agent, *card_rules()],
    )
    tui = hooked.tui("claude")
    tui.turn("how many kiwis are there", "Eleven.")
    (path,) = hooked.transcripts()
    (beside,) = path.with_suffix("").glob("subagents/*.jsonl")
    copy = hooked.copy_of(path).with_suffix("") / "subagents" / beside.name
    wait_for(lambda: copy.exists() and spoken(copy) == spoken(beside), "the agent's copy")
    tui.quit()
    (row,) = hooked.rows("kiwis")
    assert row["id"] == id_of(path)


def test_a_codex_user_trusts_the_hooks_once(hooked: Lab) -> None:
    """Installed, then looked at in Codex's own question: from then on they run with no option."""
    hooked.answer(*ANSWERS, rules=card_rules())
    tui = trusting(hooked)
    tui.turn(*TURNS[0])
    (path,) = hooked.transcripts("codex")
    wait_for(lambda: hooked.copy_of(path).exists(), "a copy")
    tui.quit()
    tui = hooked.tui("codex", "resume", id_of(path))
    assert "Hooks need review" not in tui.screen()
    tui.turn(*TURNS[1])
    wait_for(lambda: ANSWERS[1] in hooked.copy_of(path).read_text(), "the second turn in the archive")
    tui.quit()


def test_codex_with_its_background_server(hooked: Lab) -> None:
    """The session is the server's: kept after each turn, open after its window was closed, and closed with the server."""
    hooked.set_up_codex(server=True)
    hooked.answer(*ANSWERS, rules=card_rules())
    tui = trusting(hooked)
    tui.turn(*TURNS[0])
    (path,) = hooked.transcripts("codex")
    assert '"source":"vscode"' in path.read_text()
    wait_for(lambda: hooked.copy_of(path).exists() and spoken(hooked.copy_of(path)) == spoken(path), "a copy")
    tui.turn(*TURNS[1])
    tui.close_window()
    (row,) = hooked.find("funnel", "ивановой")
    assert (row["id"], row["live"]) == (id_of(path), True)
    hooked.end_codex_server()
    wait_for(lambda: not hooked.find("--live"), "the end of the session")
    wait_for(lambda: f"written_by: {MODEL}" in hooked.card(id_of(path)), "the card")
    settled(hooked)
    _no_loop(hooked, path)


def test_a_broken_recall_is_not_noticed(hooked: Lab) -> None:
    """The interpreter gone, the archive full of files where folders belong: the client goes on without a word."""
    launcher = hooked.home / ".local/share/recall/recall-hook"
    settings = (hooked.home / ".claude/settings.json").read_text()
    assert json.loads(settings)["hooks"]["Stop"][0]["hooks"][0]["command"] == f"[ ! -x {launcher} ] || exec {launcher}"
    hooked.answer(*ANSWERS)
    (hooked.home / "backups").write_text("no folder")
    tui = hooked.tui("claude")
    tui.turn(*TURNS[0])
    assert "hook" not in tui.screen().lower()
    launcher.unlink()
    launcher.write_text("#!/bin/sh\n[ -x /nowhere/python ] || exit 0\n")
    launcher.chmod(0o755)
    tui.turn(*TURNS[1])
    assert "hook" not in tui.screen().lower()
    tui.quit()
