"""The page of results, docs/benchmarks.md: tables between marks are written by the programs that measure."""

from __future__ import annotations

import datetime
import os
import platform
import re
import sys
from collections.abc import Iterable

from bench.process import ROOT

PAGE = os.path.join(ROOT, "docs", "benchmarks.md")


def write(label: str, lines: Iterable[str], today: datetime.date) -> None:
    """Put `lines` between the marks of `label`, with the date and the machine above them."""
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    where = f"{today.isoformat()}, Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()}."
    begin, end = f"<!-- {label} -->", f"<!-- /{label} -->"
    table = "\n".join([begin, where, "", *lines, end])
    fresh, count = re.subn(f"{begin}.*?{end}", lambda _: table, page, flags=re.DOTALL)
    if not count:
        sys.exit(f"{PAGE} has no place for {label}")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(fresh)
