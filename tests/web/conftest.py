"""Sessions to look at, and a server over them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import builders
from tests.conftest import Run
from tests.machine import uid
from tests.web.serving import Serving, serving

KEY = "AKIA" + "Q3EXAMPLEKEY" + "7ZXW"
HOSTILE = (
    "</script><script>document.title='owned'</script> <img src=x onerror=\"document.title='owned'\"> "
    "<a href='javascript:alert(1)'>x</a> ![x](https://tracker.invalid/x.png) <style>*{display:none}</style> "
    "<iframe src='data:text/html,<script>top.document.title=1</script>'></iframe> <!-- --> ]]> &lt; \u202e \x1b[31m "
    "<svg/onload=document.title='owned'> <meta http-equiv=refresh content='0;url=https://tracker.invalid'> \"'><b>"
)
CRM, WEBSITE, EVIL = uid(1), uid(2), uid(3)


@pytest.fixture
def filled(home: Path, run_recall: Run) -> Path:
    """A home with three sessions in the index: two of Claude Code, one of Codex."""
    edit = ("Edit", {"file_path": "/home/dev/crm/a.py", "old_string": "one\ntwo", "new_string": "one\nthree"}, "edited")
    builders.claude_session(
        home,
        "crm",
        CRM,
        [
            ("Export the deals of 山田太郎 by manager", f"Exported the deals, with {KEY}", [edit]),
            ("And the invoices", "Done."),
        ],
    )
    builders.codex_session(home, "website", WEBSITE, [("Export the pictures", "There are 12 pictures.")])
    tools = [("Bash", {"command": f"echo {HOSTILE}"}, HOSTILE)]
    builders.claude_session(
        home,
        "evil",
        EVIL,
        [(f"Poison {HOSTILE}", f"Done {HOSTILE}\n```html\n{HOSTILE}\n```", tools)],
        title="</title><script>document.title='owned'</script>",
    )
    run_recall("sweep", "--quiet", check=True)
    return home


@pytest.fixture
def server(filled: Path) -> Iterator[Serving]:
    with serving(filled) as one:
        yield one
