"""Codex: the contract of clients, its own places, and what each sample must give."""

from __future__ import annotations

import json

import pytest

from recall.clients import codex
from recall.core.model import ACTION, ASIDE, ASSISTANT, OUTPUT, THINKING, USER, Place
from tests.clients.contract import ClientTests

ID = "019c789e-425a-7ec1-975d-9632b3c19a90"
ASKED = ["在庫の一覧をCSVに出力して", "a", "a"]
ANSWERED = ["出力しました。", "短いですね。", "もう一度？"]


class TestCodex(ClientTests):
    client = codex

    @pytest.mark.parametrize("sample", ["legacy-events", "exec", "no-head", "crlf", "two-on-one-line", "named"])
    def test_each_text_is_taken_once(self, sample: str) -> None:
        """Though it is written twice; and what the human said twice is two messages."""
        facts = self.facts(sample)
        assert self.texts(sample, USER) == ASKED
        assert self.texts(sample, ASSISTANT) == ANSWERED
        assert self.texts(sample, THINKING) == ["**Looking at the stock table**"]
        assert (facts.users, facts.answers, facts.calls) == (3, 3, 1)

    def test_an_answer_to_the_client_is_none_to_the_user(self) -> None:
        """The summary of a compaction stands among the answers, but is told of by no item: it is an aside."""
        assert self.texts("paginated", ASSISTANT) == ["Writing it."]
        assert self.facts("paginated").answers == 1
        assert "SUMMARY for the model itself" in self.texts("paginated", ASIDE)

    @pytest.mark.parametrize(
        ("sample", "typed"),
        [
            ("paginated", ["Write the note"]),
            ("flat-2025-08", ["Перенеси форму на новую страницу"]),
            ("input-only", ["Add rate limiting"]),
            ("fork", ["In the fork"]),
            ("template", ["UC-01"]),
            ("compacted", [*ASKED, "続けて"]),
            ("harness-words", [*ASKED, "! git log", "/review current changes"]),
            ("torn-last-line", ASKED),
            ("unknown-types", ASKED),
            ("wrong-types", ASKED),
            ("sub-agent", []),
            ("empty", []),
        ],
    )
    def test_the_words_of_the_human(self, sample: str, typed: list[str]) -> None:
        assert self.texts(sample, USER) == typed

    @pytest.mark.parametrize(
        ("sample", "ask"),
        [
            ("legacy-events", "在庫の一覧をCSVに出力して"),
            ("template", "UC-01: Reduce ambiguity in the specification"),
            ("flat-2025-08", "Перенеси форму на новую страницу"),
        ],
    )
    def test_the_first_real_request(self, sample: str, ask: str) -> None:
        assert self.facts(sample).first_ask == ask

    @pytest.mark.parametrize(
        ("sample", "outputs"),
        [
            ("legacy-events", ["stock.py\n"]),
            ("paginated", ["remember\n"]),
            ("flat-2025-08", ["Success. Updated app/page.tsx"]),
            ("outputs-thrice", ["3 passed", "3 passed"]),
            ("patches", ["Success", "ok"]),
        ],
    )
    def test_an_output_is_taken_once_without_its_head(self, sample: str, outputs: list[str]) -> None:
        assert self.texts(sample, OUTPUT) == outputs

    @pytest.mark.parametrize(
        ("sample", "actions"),
        [
            ("paginated", ["exec_command echo remember > note.txt"]),
            ("flat-2025-08", ["shell apply_patch << 'EOF' app/page.tsx"]),
            (
                "patches",
                [
                    "apply_patch src/flags.rs src/switches.rs docs/switch.md",
                    "web_search rust switch naming",
                    "shell cargo test",
                ],
            ),
        ],
    )
    def test_actions_name_commands_and_patched_files(self, sample: str, actions: list[str]) -> None:
        assert self.texts(sample, ACTION) == actions

    @pytest.mark.parametrize(
        ("sample", "field", "value"),
        [
            ("legacy-events", "session", ID),
            ("legacy-events", "headless", False),
            ("legacy-events", "branch", "main"),
            ("legacy-events", "cwd", "/home/dev/shop"),
            ("exec", "headless", True),
            ("paginated", "headless", False),
            ("paginated", "entrypoint", "codex-tui"),
            ("paginated", "summary", True),
            ("compacted", "summary", True),
            ("flat-2025-08", "session", "64d3aa5a-0239-4852-b489-87620e9ff701"),
            ("flat-2025-08", "cwd", "/home/dev/shop"),
            ("flat-2025-08", "branch", "dev"),
            ("flat-2025-08", "started", 1756454629.064),
            ("flat-2025-08", "edits", 1),
            ("no-head", "session", ""),
            ("no-head", "cwd", "/home/dev/shop"),
            ("sub-agent", "sub", True),
            ("sub-agent", "session", "019c8588-08bd-7570-8ffc-891d781d252c"),
            ("sub-agent", "parent", "019c8584-3f51-7383-a692-d783f9cf974a"),
            ("fork", "session", "01a227b6-11fa-74a2-a87d-7291f921ac83"),
            ("fork", "fork_of", ID),
            ("fork", "fork_at", "56"),
            ("named", "title", "shop · 在庫"),
            ("named", "title_by", "user"),
            ("moved", "cwd", "/home/dev/shop"),
            ("moved", "last_cwd", "/home/dev/shop/api"),
            ("patches", "edits", 1),
            ("legacy-events", "uuids", []),
            ("unknown-types", "unknown", {"future_event": 1, "future_line": 1, "item_completed FutureItem": 1}),
            ("torn-last-line", "skipped", {"not JSON": 1}),
        ],
    )
    def test_facts(self, sample: str, field: str, value: object) -> None:
        assert getattr(self.facts(sample), field) == value

    def test_an_output_knows_its_call_and_whether_it_failed(self) -> None:
        """Exit codes stand in a head or in JSON; a command that printed nothing at least tells its code."""
        records, facts = self.read(self.samples["failed-and-aborted"])
        outputs = [(record.call, record.failed, record.text) for record in records if record.zone == OUTPUT]
        assert [(call, failed) for call, failed, _ in outputs] == [
            ("call_1", True),
            ("call_2", True),
            ("call_3", True),
            ("call_4", False),
            ("call_5", True),
        ]
        assert outputs[2][2] == "Exit code 1"
        assert facts.interrupted and not self.facts("legacy-events").interrupted

    def test_project_instructions_and_the_editor_are_beside(self) -> None:
        assert [text[:10] for text in self.texts("flat-2025-08", ASIDE)] == ["BESIDE pro", "# Context "]
        assert [text[:18] for text in self.texts("legacy-events", ASIDE)] == ["# AGENTS.md instru"]

    @pytest.mark.parametrize(
        ("path", "place"),
        [
            (
                f"sessions/2026/02/20/rollout-2026-02-20T10-16-03-{ID}.jsonl",
                Place("main", f"codex/rollout-2026-02-20T10-16-03-{ID}.jsonl", ID),
            ),
            (
                f"sessions/2026/02/20/rollout-2026-02-20T10-16-03-{ID}.jsonl.zst",
                Place("main", f"codex/rollout-2026-02-20T10-16-03-{ID}.jsonl", ID),
            ),
            (
                f"archived_sessions/rollout-2026-02-20T10-16-03-{ID}.jsonl",
                Place("main", f"codex/rollout-2026-02-20T10-16-03-{ID}.jsonl", ID),
            ),
            ("sessions/rollout-a-b.jsonl", Place("main", "codex/rollout-a-b.jsonl", "rollout-a-b")),
            ("history.jsonl", Place("history", "codex/history.jsonl", "")),
            ("session_index.jsonl", Place("history", "codex/session_index.jsonl", "")),
            (f"sessions/2026/02/20/rollout-2026-02-20T10-16-03-{ID}(1).jsonl", None),
            (f"sessions/2026/02/20/rollout-2026-02-20T10-16-03-{ID}.jsonl.tmp", None),
            ("sessions/notes.jsonl", None),
            ("config.toml", None),
        ],
    )
    def test_places(self, path: str, place: Place | None) -> None:
        assert codex.place(path) == place


def test_a_tool_of_an_mcp_server_has_the_servers_name() -> None:
    """Codex notes it apart: a session that asked recall only searched."""
    from recall.clients import codex
    from recall.core.facts import Facts
    from recall.core.model import Line

    call = {
        "type": "function_call",
        "name": "find",
        "namespace": "mcp__recall",
        "arguments": '{"query":"export"}',
        "call_id": "c",
    }
    raw = json.dumps({"timestamp": "2026-06-11T09:00:00Z", "type": "response_item", "payload": call}).encode()
    facts = Facts()
    (record,) = codex.parse([Line(0, raw)], facts, {ACTION})
    assert (record.tool, facts.searches) == ("mcp__recall__find", 1)
