"""Placeholder until the real one lands."""
import re

_ESC = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]|\x1b.?|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
def plain(text: str) -> str:
    return _ESC.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
def one_line(text: str) -> str:
    return " ".join(plain(text).split())
