"""Claude Code: the contract of clients, its own places, and what each sample must give."""

from __future__ import annotations

import zlib

import pytest

from recall.clients import claude
from recall.core.model import ACTION, ASIDE, ASSISTANT, OUTPUT, THINKING, USER, Place
from tests.clients.contract import ClientTests

ID = "11111111-2222-4333-8444-555555555555"
TWO_ASKED = ["Сделай выгрузку сделок в CSV", "Спасибо, теперь добавь сумму"]
DAMAGED = (
    "bom",
    "blank-lines",
    "crlf",
    "merge-markers",
    "nul-hole",
    "nul-tail",
    "order-of-2-0",
    "reversed",
    "scalars",
    "three-on-one-line",
    "torn-last-line",
    "torn-in-a-character",
    "two-on-one-line",
    "unknown-types",
)


class TestClaude(ClientTests):
    client = claude

    @pytest.mark.parametrize("sample", DAMAGED)
    def test_damage_hides_no_neighbour(self, sample: str) -> None:
        """The rest of the conversation is read whole: two requests, three answers, one call and its output."""
        facts = self.facts(sample)
        assert sorted(self.texts(sample, USER)) == sorted(TWO_ASKED)
        assert (facts.users, facts.answers, facts.calls) == (2, 3, 1)
        assert self.texts(sample, OUTPUT) == ["total 2\nexports.csv"]

    @pytest.mark.parametrize(
        ("sample", "typed"),
        [
            ("plain", TWO_ASKED),
            ("cjk-and-emoji", ["把项目的导出做成CSV，谢谢", "会議の議事録を作成してください"]),
            ("compacted", [*TWO_ASKED, "Что дальше?"]),
            ("deep-nesting", [*TWO_ASKED, "После глубины"]),
            ("lone-surrogates", [*TWO_ASKED, "до � после \\ud83d"]),
            ("not-utf8", [*TWO_ASKED, "байты �� здесь"]),
            ("picture", ["Что на картинке?"]),
            ("print-mode", ["Сколько файлов здесь?"]),
            ("request-log", ["Настрой бэкапы"]),
            ("sidechain-inside", ["Посчитай файлы"]),
            ("skill-body", ["Сделай красивый дашборд"]),
            (
                "slash-commands",
                ["/review-pr", "/review-pr проверь PR 12 в репозитории crm", "! git status", "/compact оставь цифры"],
            ),
            ("torn-line-then-whole", [*TWO_ASKED, "Запись после обрыва"]),
            ("typed-while-busy", [*TWO_ASKED, "Таблицы не трогай", "Графики оставь", "Стоп", "И ещё легенду"]),
            (
                "prompt-before-its-record",
                [
                    TWO_ASKED[0],
                    "А теперь счета Петрова, по месяцам",
                    "Собери отчёт: 1. раздел номер 1 с цифрами за квартал и сравнением 2. раздел номер 2 с цифрами за"
                    " квартал и сравнением 3. раздел номер 3 с цифрами за квартал и сравнением 4. раздел номер 4 с цифрами",
                    "за квартал и сравнением\n5. раздел номер 5 с цифрами за квартал и сравнением\n"
                    "6. раздел номер 6 с цифрами за квартал и сравнением\nи пришли ссылку на кипарис",
                    "добавь графики",
                    "и удали черновики Сидорова",
                    "продолжай",
                ],
            ),
            ("words-beside-a-result", [*TWO_ASKED, "Остановись и покажи план", "Ключи в другом порядке"]),
            (
                "wrappers",
                [
                    "Warmup",
                    "Почини отчёт по клиентам",
                    "Добавь графики",
                    "ошибка 500\nчто это?",
                    "What does <system-reminder> mean in the middle of a line?",
                ],
            ),
            ("wrong-types", [*TWO_ASKED, "После странного"]),
            ("agent-a1b2c3", []),
            ("only-bookkeeping", []),
            ("empty", []),
        ],
    )
    def test_the_words_of_the_human(self, sample: str, typed: list[str]) -> None:
        assert self.texts(sample, USER) == typed

    @pytest.mark.parametrize(
        ("sample", "ask"),
        [
            ("plain", "Сделай выгрузку сделок в CSV"),
            ("wrappers", "Почини отчёт по клиентам"),
            ("slash-commands", "/review-pr проверь PR 12 в репозитории crm"),
            ("sidechain-inside", "Посчитай файлы"),
            ("template-around-the-request", "Fehler im Diagramm beheben"),
            ("agent-a1b2c3", ""),
        ],
    )
    def test_the_first_real_request(self, sample: str, ask: str) -> None:
        """Warm-up, bare commands and templates are passed by."""
        assert self.facts(sample).first_ask == ask

    @pytest.mark.parametrize(
        ("sample", "events"),
        [
            ("only-bookkeeping", 0),
            ("empty", 0),
            ("plain", 13),
            ("request-log", 2),
            ("wrappers", 7),
            ("prompt-before-its-record", 11),
        ],
    )
    def test_what_counts_as_an_event(self, sample: str, events: int) -> None:
        """Requests, answers once by their id, calls; no bookkeeping."""
        assert self.facts(sample).events == events

    @pytest.mark.parametrize(
        ("sample", "title", "by"),
        [
            ("titles", "Deals export to CSV", "client"),
            ("renamed", "crm · выгрузка", "user"),
            ("only-bookkeeping", "Something else", "client"),
            ("plain", "", ""),
        ],
    )
    def test_titles(self, sample: str, title: str, by: str) -> None:
        """A summary about a record of this file beats one that is not; the user's own name beats all."""
        facts = self.facts(sample)
        assert (facts.title, facts.title_by) == (title, by)

    @pytest.mark.parametrize(
        ("sample", "field", "value"),
        [
            ("branched", "fork_of", "99999999-2222-4333-8444-555555555555"),
            ("branched", "fork_at", "m2"),
            ("print-mode", "headless", True),
            ("plain", "headless", False),
            ("plain", "branch", "main"),
            ("plain", "session", ID),
            ("plain", "edits", 2),
            ("plain", "cwd", "/home/dev/crm"),
            ("order-of-2-0", "cwd", "/home/dev/old crm"),
            ("agent-a1b2c3", "sub", True),
            ("agent-a1b2c3", "parent", ID),
            ("sidechain-inside", "sub", False),
            ("sidechain-inside", "parent", ""),
            ("compacted", "summary", True),
            ("plain", "summary", False),
            ("searches-itself", "searches", 3),
            ("plain", "started", 1781168401.0),
            ("reversed", "started", 1781168401.0),
            ("reversed", "updated", 1781168407.0),
            ("unknown-types", "unknown", {"future-record": 2}),
            ("scalars", "skipped", {"not an object": 7}),
            ("merge-markers", "skipped", {"not JSON": 4}),
            ("deep-nesting", "skipped", {"nested too deep": 1}),
            ("nul-tail", "skipped", {"NUL bytes": 1}),
            ("blank-lines", "skipped", {}),
            ("torn-last-line", "skipped", {"not JSON": 1}),
        ],
    )
    def test_facts(self, sample: str, field: str, value: object) -> None:
        assert getattr(self.facts(sample), field) == value

    def test_a_call_gives_its_short_arguments_and_its_body_apart(self) -> None:
        assert "Write /home/dev/crm/export.py" in self.texts("plain", ACTION)
        assert "Bash ls -la exports\nList the exports" in self.texts("plain", ACTION)
        assert "def export_deals():\n    return []\n" in self.texts("plain", THINKING)

    def test_an_output_knows_its_tool(self) -> None:
        records, _ = self.read(self.samples["plain"])
        assert [record.tool for record in records if record.zone == OUTPUT] == ["Bash", "Write", "Edit", "Read"]

    def test_an_output_knows_its_call_and_whether_it_failed(self) -> None:
        """Two calls at once: the outputs come in another order than the calls."""
        records, facts = self.read(self.samples["failed-and-interrupted"])
        actions = {record.call: record.text for record in records if record.zone == ACTION}
        outputs = [(actions[record.call], record.failed) for record in records if record.zone == OUTPUT]
        assert outputs == [("Bash ls\nList", False), ("Bash pytest -q\nRun tests", True)]
        assert facts.interrupted and not self.facts("plain").interrupted

    def test_what_the_human_is_shown_is_said_by_the_assistant(self) -> None:
        said = self.texts("plan-and-questions", ASSISTANT)
        assert said == ["На какую базу переезжаем?", "# План\n1. Снять копию"]

    def test_pictures_are_not_text(self) -> None:
        assert not any("QkVT" in record.text for record in self.read(self.samples["picture"])[0])

    def test_uuids_are_those_of_the_conversation_in_order(self) -> None:
        """Each user and assistant record, but no tool result: what two files must share to be one session."""
        expected = [zlib.crc32(f"branched-{number:03d}".encode()) for number in range(4)]
        assert self.facts("branched").uuids == expected
        assert len(self.facts("plain").uuids) == 2 + 9

    def test_the_body_of_a_skill_is_beside(self) -> None:
        assert [text[:14] for text in self.texts("skill-body", ASIDE)] == ["Base directory"]

    @pytest.mark.parametrize(
        ("path", "place"),
        [
            (f"projects/-home-dev-crm/{ID}.jsonl", Place("main", f"claude/-home-dev-crm/{ID}.jsonl", ID)),
            ("projects/-home-dev/notes.jsonl", Place("main", "claude/-home-dev/notes.jsonl", "notes")),
            ("projects/-h/agent-a1.jsonl", Place("sub", "claude/-h/agent-a1.jsonl", "")),
            (
                f"projects/-h/{ID}/subagents/agent-a1.jsonl",
                Place("sub", f"claude/-h/{ID}/subagents/agent-a1.jsonl", ID),
            ),
            (
                f"projects/-h/{ID}/subagents/workflows/w/agent-a1.jsonl",
                Place("sub", f"claude/-h/{ID}/subagents/workflows/w/agent-a1.jsonl", ID),
            ),
            (
                f"projects/-h/{ID}/subagents/agent-a1.meta.json",
                Place("companion", f"claude/-h/{ID}/subagents/agent-a1.meta.json", ID),
            ),
            (f"projects/-h/{ID}/tool-results/x.txt", Place("companion", f"claude/-h/{ID}/tool-results/x.txt", ID)),
            (f"projects/-h/{ID}/custom-title.json", Place("companion", f"claude/-h/{ID}/custom-title.json", ID)),
            ("history.jsonl", Place("history", "claude/history.jsonl", "")),
            ("projects/-h/memory/MEMORY.md", None),
            ("projects/-h/sessions-index.json", None),
            (f"projects/-h/{ID} (1).jsonl", None),
            (f"projects/-h/{ID}.jsonl.tmp", None),
            (f"projects/{ID}.jsonl", None),
            ("settings.json", None),
            (f"projects/-h/../{ID}.jsonl", None),
        ],
    )
    def test_places(self, path: str, place: Place | None) -> None:
        assert claude.place(path) == place
