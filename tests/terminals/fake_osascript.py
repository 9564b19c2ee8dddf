"""A stand-in for `osascript -`: AppleScript as far as recall writes it, which is one string and who gets it.

    python fake_osascript.py LOG RUNNING SHELL... < script

LOG is a file to add the script to, ended with NUL; RUNNING is what `application ... is running` answers; SHELL is the
person's shell and its option for a line.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

STRING = re.compile(r'(?:command|do script) ("(?:[^"\\]|\\.)*")\n')
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
CONTROLS = {**ESCAPES, "a": "\a"}


def main(log: str, running: str, *shell: str) -> None:
    """Run what iTerm2 or Terminal.app would run."""
    script = sys.stdin.buffer.read().decode("ascii")  # in which encoding the real one reads stdin is not known
    if script.startswith("application "):
        print(running)
        return
    with Path(log).open("a") as file:
        file.write(script + "\0")
    found = STRING.search(script)
    if found is None:
        raise SystemExit("a syntax error")
    line = string(found[1])
    if 'application "iTerm2"' in script:
        argv = words(line)
        if argv != words(line, single=False):
            raise SystemExit("older versions of iTerm2 would run something else")
    else:
        argv = [*shell, line]
    raise SystemExit(subprocess.run(argv, check=False).returncode)


def string(literal: str) -> str:
    """The value of an AppleScript string."""
    return re.sub(r"\\(.)", lambda match: ESCAPES.get(match[1], match[1]), literal[1:-1])


def words(line: str, *, single: bool = True) -> list[str]:
    """A command as iTerm2 cuts it. A backslash makes a control character (n, t, a, r) or takes a quote or itself; older
    versions do not know `single` quotes. Two dollars begin a name that it asks the person for, `\\(` an expression."""
    if "$$" in line or "\\(" in line:
        raise SystemExit("iTerm2 would ask the person, or calculate")
    out: list[str] = []
    word: str | None = None
    quote = ""
    signs = iter(line)
    for sign in signs:
        if sign == "\\":
            following = next(signs, "")
            kept = following if not quote or following in "\\\"'" else sign + following
            word = (word or "") + CONTROLS.get(following, kept)
        elif quote and sign == quote:
            quote = ""
        elif not quote and (sign == '"' or (single and sign == "'")):
            quote, word = sign, word or ""
        elif not quote and sign == " ":
            out += [] if word is None else [word]
            word = None
        else:
            word = (word or "") + ("/home/somebody" if sign == "~" and not quote and not word else sign)
    return out if word is None else [*out, word]


if __name__ == "__main__":
    main(*sys.argv[1:])
