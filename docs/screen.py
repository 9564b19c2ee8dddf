"""The screens in README.md and docs/picker.md: what the first search of `recall demo` prints, and the picker over the same
samples, as its tests compare it. `--check` only says whether they are current."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from recall.cli.demo import FIRST, argv, environment, typed, unpack

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
README = os.path.join(ROOT, "README.md")
PAGE = os.path.join(ROOT, "docs", "picker.md")
PICKER = os.path.join(ROOT, "tests", "tui", "golden", "umlaut.txt")


def screen() -> str:
    """The command and its output in a fenced block; the same anywhere, and at any time."""
    with tempfile.TemporaryDirectory(prefix="recall-screen-") as folder:
        home = os.path.join(folder, "home")
        unpack(home)
        env = {**environment(home), "TZ": "UTC", "PYTHONUTF8": "1"}
        subprocess.run(argv("sweep", "--no-llm", "--quiet"), env=env, cwd=home, check=True)
        found = subprocess.run(argv("find", *FIRST), env=env, cwd=home, check=True, capture_output=True)
    return f"```console\n$ recall {typed(('find', *FIRST))}\n{found.stdout.decode()}```\n"


def picker() -> str:
    """The picker's screen in a fenced block, without the empty lines that only fill it."""
    with open(PICKER, encoding="utf-8") as file:
        lines = file.read().rstrip("\n").split("\n")
    kept = [line for n, line in enumerate(lines) if line or (n and lines[n - 1])]
    return "```\n" + "\n".join(kept) + "\n```\n"


def put(page: str, name: str, block: str) -> str:
    """The page with the block between the two marks of that name."""
    begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->\n"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}{block}{end}{after}"


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def main() -> int:
    pages = {path: read(path) for path in (README, PAGE)}
    fresh = {path: put(page, "picker", picker()) for path, page in pages.items()}
    fresh[README] = put(fresh[README], "screen", screen())
    if sys.argv[1:] == ["--check"]:
        return int(pages != fresh)
    for path, page in fresh.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
