"""What a tool call did, in words."""

from __future__ import annotations

import pytest

from recall.clients.tooluse import HEAD, TAIL, describe

PATCH = "*** Begin Patch\n*** Update File: a/b.py\n@@\n-x\n+y\n*** Delete File: c.txt\n*** End Patch"


@pytest.mark.parametrize(
    ("name", "arguments", "action", "body"),
    [
        ("Bash", {"command": "ls", "description": "List", "timeout": 5}, "Bash ls\nList", ""),
        ("Read", {"file_path": "/a/b.py", "offset": 3}, "Read /a/b.py", ""),
        ("Grep", {"pattern": "x+", "path": "src", "output_mode": "content"}, "Grep x+ src", ""),
        ("WebFetch", {"url": "https://e.org/x", "prompt": "what?"}, "WebFetch https://e.org/x", "what?"),
        ("Write", {"file_path": "/a", "content": "body"}, "Write /a", "body"),
        ("Edit", {"file_path": "/a", "old_string": "o", "new_string": "n"}, "Edit /a", "o\nn"),
        ("MultiEdit", {"file_path": "/a", "edits": [{"old_string": "o", "new_string": "n"}]}, "MultiEdit /a", "o\nn"),
        ("TaskCreate", {"subject": "Export", "description": "as CSV"}, "TaskCreate Export\nas CSV", ""),
        ("TaskUpdate", {"taskId": "3", "status": "completed"}, "TaskUpdate", "#3 completed"),
        (
            "TodoWrite",
            {
                "todos": [
                    {"content": "a", "status": "completed", "activeForm": "b"},
                    {"content": "c", "status": "pending"},
                ]
            },
            "TodoWrite",
            "[x] a\n[ ] c",
        ),
        (
            "update_plan",
            {"explanation": "why", "plan": [{"step": "a", "status": "in_progress"}, "odd"]},
            "update_plan why",
            "[~] a\nodd",
        ),
        ("shell", {"command": ["bash", "-lc", "make test"], "workdir": "/w"}, "shell make test", ""),
        ("shell", {"command": ["git", "status"]}, "shell git status", ""),
        ("shell", {"command": [r"C:\Windows\powershell.exe", "-Command", "dir"]}, "shell dir", ""),
        ("apply_patch", PATCH, "apply_patch a/b.py c.txt", PATCH),
        ("Agent", {"description": "Explore", "subagent_type": "Plan", "prompt": "Look"}, "Agent Explore Plan", "Look"),
        ("mcp__x__y", {"n": 1, "deep": {"q": ["a", {"b": "c"}]}}, "mcp__x__y", "a\nc"),
        ("odd", None, "odd", ""),
        ("odd", [1], "odd", ""),
        ("odd", "plain words", "odd plain words", ""),
    ],
)
def test_arguments_and_bodies_are_apart(name: str, arguments: object, action: str, body: str) -> None:
    use = describe(name, arguments, bodies=True)
    assert (use.action, use.body) == (action, body)
    assert describe(name, arguments, bodies=False).action == action


def test_a_long_command_is_an_argument_by_its_head_and_a_body_whole() -> None:
    use = describe("Bash", {"command": "cat <<EOF " + "x" * 900}, bodies=True)
    assert len(use.action) == len("Bash ") + 500 and len(use.body) == 910


def test_a_long_body_keeps_its_head_and_its_tail() -> None:
    use = describe("Write", {"content": "a" * 9000 + "z" * 9000}, bodies=True)
    assert use.body == "a" * HEAD + "\n…\n" + "z" * TAIL


@pytest.mark.parametrize(
    ("name", "arguments", "edit", "search"),
    [
        ("Write", {}, True, False),
        ("NotebookEdit", {}, True, False),
        ("apply_patch", PATCH, True, False),
        ("shell", {"command": ["bash", "-lc", "apply_patch <<EOF\n" + PATCH]}, True, False),
        ("Bash", {"command": "cat apply.txt"}, False, False),
        ("Bash", {"command": "recall find x"}, False, True),
        ("Bash", {"command": "~/bin/recall  grep -e x"}, False, True),
        ("Bash", {"command": "recall sweep"}, False, False),
        ("Bash", {"command": "total recall findings"}, False, False),
        ("Skill", {"skill": "session-orchestrator"}, False, True),
        ("SlashCommand", {"command": "/session-orchestrator x"}, False, True),
        ("Bash", {"command": "ls skills/session-orchestrator"}, False, False),
    ],
)
def test_edits_and_searches_are_counted(name: str, arguments: object, edit: bool, search: bool) -> None:
    use = describe(name, arguments, bodies=False)
    assert (use.edit, use.search) == (edit, search)
