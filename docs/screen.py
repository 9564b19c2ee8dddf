"""The screen in README.md: what the first search of `recall demo` prints. `--check` only says whether it is current."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from recall.cli.demo import FIRST, argv, environment, typed, unpack

README = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "README.md")
BEGIN, END = "<!-- screen:begin -->\n", "<!-- screen:end -->\n"


def screen() -> str:
    """The command and its output in a fenced block; the same anywhere, and at any time."""
    with tempfile.TemporaryDirectory(prefix="recall-screen-") as folder:
        home = os.path.join(folder, "home")
        unpack(home)
        env = {**environment(home), "TZ": "UTC", "PYTHONUTF8": "1"}
        subprocess.run(argv("sweep", "--no-llm", "--quiet"), env=env, cwd=home, check=True)
        found = subprocess.run(argv("find", *FIRST), env=env, cwd=home, check=True, capture_output=True)
    return f"```console\n$ recall {typed(('find', *FIRST))}\n{found.stdout.decode()}```\n"


def main() -> int:
    with open(README, encoding="utf-8") as file:
        page = file.read()
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    fresh = f"{before}{BEGIN}{screen()}{END}{after}"
    if sys.argv[1:] == ["--check"]:
        return int(page != fresh)
    with open(README, "w", encoding="utf-8") as file:
        file.write(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main())
