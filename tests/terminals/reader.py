"""A program that reads a terminal as the clients do: raw, with bracketed paste, Enter submits.

    python reader.py PIPE NAME [bare]

It says through PIPE, in JSON lines, that it is ready and what each Enter submitted; in the text, line ends are as they came.
`bare`: it does not ask for bracketed paste.
"""

from __future__ import annotations

import json
import os
import sys
import tty

BEGIN, END = b"\x1b[200~", b"\x1b[201~"


def main(pipe: str, name: str, kind: str = "") -> None:
    """Read until `quit` is submitted; `lines 60` prints as many."""
    tty.setraw(0)
    out = os.open(pipe, os.O_WRONLY)
    if kind != "bare":
        os.write(1, b"\x1b[?2004h")
    tell(out, name, "ready")
    buffer, text, pasting, pastes = b"", b"", False, 0
    while True:
        buffer += os.read(0, 65536)
        while buffer:
            mark = END if pasting else BEGIN
            if buffer.startswith(mark):
                buffer, pasting, pastes = buffer[len(mark) :], not pasting, pastes + (not pasting)
                continue
            if mark.startswith(buffer[: len(mark)]):
                break  # the beginning of a mark: more will come
            byte, buffer = buffer[:1], buffer[1:]
            if byte == b"\r" and not pasting:
                tell(out, name, text.decode("utf-8", "backslashreplace"), pastes)
                os.write(1, b"\r\ngot %d bytes from %s\r\n" % (len(text), name.encode()))
                if text.startswith(b"lines "):
                    for number in range(int(text.split()[1])):
                        os.write(1, b"\x1b[31mline\x1b[0m %d \r\n" % number)
                if text == b"quit":
                    return
                text, pastes = b"", 0
            else:
                text += byte


def tell(out: int, name: str, text: str, pastes: int = 0) -> None:
    """One JSON line."""
    os.write(out, json.dumps([name, text, pastes]).encode() + b"\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
