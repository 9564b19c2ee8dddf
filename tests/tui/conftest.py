"""Homes and terminals for tests of the picker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recall.cli.demo import unpack
from tests.conftest import Run
from tests.tui.tmux import BIN, Terminal

CRM = "91753651-3099-4119-ae07-76543f717c58"
CARD = f"""---
id: {CRM}
client: claude
project: /home/dev/crm
dates: 2026-11-09T13:41:16Z -> 2026-11-09T13:46:33Z
messages: 9
task: Выгрузка сделок по менеджерам за третий квартал в Excel
status: done
method: SQL → pandas → openpyxl
entities: [amoCRM, exports/deals_q3.xlsx]
tags: [export, excel, crm]
artifacts: [exports/deals_q3.xlsx]
next: то же раз в месяц по расписанию
written_by: hand
written_at: 2026-11-09T14:00:00Z
---
"""


@pytest.fixture
def samples(home: Path, run_recall: Run) -> Path:
    """A home with the bundled samples, swept; one of them has a card."""
    home.rmdir()
    unpack(str(home))
    shelf = home / ".claude" / "session-recaps"
    shelf.mkdir(parents=True)
    (shelf / f"{CRM}.md").write_text(CARD, encoding="utf-8")
    run_recall("sweep", "--no-llm", "--quiet", check=True)
    return home


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """`terminal(home, columns, rows, VARIABLE=...)`: a window in a tmux of its own; skips where there is no tmux."""
    if BIN is None:
        pytest.skip("there is no tmux here")
    opened: list[Terminal] = []

    def make(home: Path, columns: int = 80, rows: int = 24, **variables: str) -> Terminal:
        folder = tmp_path / f"t{len(opened)}"
        folder.mkdir()
        opened.append(Terminal(folder, home, columns, rows, **variables))
        return opened[-1]

    yield make
    for one in opened:
        one.close()
