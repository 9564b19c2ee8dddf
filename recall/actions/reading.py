"""Reading a copy line by line, from where it was left, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

from recall.core.facts import Facts
from recall.core.model import Line

_BLOCK = 1 << 20


class Reading:
    """The lines of the file at `path` from byte `start` on.

    `lines()` gives whole lines; `end` is then the byte to go on from. A last line without its end is given only if it
    ends like a record: else it is still being written, and is left for the next time. Lines longer than `limit`
    bytes are passed over and counted in `facts`.
    """

    def __init__(self, path: str, start: int, facts: Facts, limit: int) -> None:
        self._path = path
        self._facts = facts
        self._limit = limit
        self.end = start

    def lines(self) -> Iterator[Line]:
        with open(self._path, "rb", buffering=0) as file:
            at = self.end
            file.seek(at)
            rest: list[bytes] = []  # the line that has not ended yet
            held = 0  # and its bytes, also those that were dropped since it is too long
            while block := file.read(_BLOCK):
                parts = block.split(b"\n")
                tail = parts.pop()
                if not parts:
                    held += len(tail)
                    rest = [*rest, tail] if held <= self._limit else []
                    continue
                if held:
                    if held + len(parts[0]) > self._limit:
                        self._facts.skip("line too long")
                        at += held + len(parts[0]) + 1
                        self.end = at
                        del parts[0]
                    else:
                        parts[0] = b"".join((*rest, parts[0]))
                for raw in parts:
                    self.end = at + len(raw) + 1
                    if raw:
                        yield Line(at, raw)
                    at = self.end
                rest, held = [tail], len(tail)
            if 0 < held <= self._limit:
                raw = b"".join(rest)
                if raw.rstrip(b" \t\r\0").endswith(b"}") and _is_record(raw):
                    self.end = at + held
                    yield Line(at, raw)


def _is_record(raw: bytes) -> bool:
    import orjson

    try:
        return isinstance(orjson.loads(raw.lstrip(b"\xef\xbb\xbf")), dict)
    except orjson.JSONDecodeError:
        return False


def line_range(path: str, start: int, stop: int) -> Iterator[Line]:
    """The lines that begin at or after byte `start` and at or before byte `stop`."""
    with open(path, "rb") as file:
        file.seek(start)
        at = start
        for raw in file:
            if at > stop:
                return
            yield Line(at, raw.rstrip(b"\n"))
            at += len(raw)
