"""What a text names: tickets, addresses, identifiers, quoted words, people. For the user's own words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recall.core.phrases import folded
from recall.core.words import FUNCTION_WORDS

_TICKET = re.compile(
    r"(?<![\w-])(?!(?:UTF|SHA|ISO|RFC|GPT|HTTP|TLS|MD|UTC|GMT|CP|BASE|AES|RSA|COVID|IPV|WIN|MP|H|P"
    r"|V)-)[A-Z][A-Z0-9]{1,9}-\d{1,6}(?![\w-])"
)
_NUMBER = re.compile(r"(?<![\w/#&])#\d{1,6}(?![\w.])")
_HOST = re.compile(
    r"(?<![\w.@/-])(?:[a-z0-9-]{1,63}\.){1,4}(?:com|org|net|io|dev|ru|cn|jp|kr|de|fr|es|it|nl|pl|uk|eu|us|br|in|ai"
    r"|app|local|internal|lan|me"
    r"|info|cloud|tech|site|online|xyz|co|su|biz|edu|gov|рф)(?![\w-]|\.\w)",
    re.I,
)
_ADDRESS = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
_FILE = re.compile(
    r"(?<![\w./\\@~-])(?:(?![\u3040-\u9fff\uac00-\ud7ff])[\w./~-]){1,80}\.(?:py|tsx?|jsx?|mjs|rs|go|java|kt|swift"
    r"|rb|php|cs?|cpp|h|sql|sh|ya?ml|toml|json|md|csv|xlsx?|pdf|docx?|html?|css|vue|svelte|ipynb|txt|tf|proto|lua"
    r"|ex|exs|env)(?![\w-])"
)
_IDENTIFIER = re.compile(
    r"(?<![\w./\\-])(?:[A-Za-z]+[a-z0-9]*_[A-Za-z0-9_]*[A-Za-z0-9]|[a-z]+[a-z0-9]*(?:[A-Z][a-z0-9]+)+"
    r"|(?:[A-Z][a-z0-9]+){2,}[A-Z]?|[A-Z][A-Z0-9]+_[A-Z0-9_]+)(?![\w])"
)
_QUOTED = re.compile(
    r"\"([^\"\n]{2,40})\"|“([^”\n]{2,40})”|«([^»\n]{2,40})»|„([^“”\n]{2,40})[“”]|「([^」\n]{2,40})」"
    r"|『([^』\n]{2,40})』|《([^》\n]{2,40})》|`([^`\n]{2,40})`"
)
_PROPER = re.compile(r"(?<=[\w,;:)»”\"] )(?:[A-ZА-ЯЁÀ-ÖØ-Þ][\w’'-]{2,30})(?: (?:[A-ZА-ЯЁÀ-ÖØ-Þ][\w’'-]{1,30})){0,2}")
_GERMAN = re.compile(r"\b(?:der|die|das|und|nicht|für|ein|eine|ich|mit|den|dem|wird|sind)\b")
_ENDS = 4  # lines of a longer text that are looked at, at either end
_CODE = re.compile(r"```.*?(?:```|\Z)", re.S)
_PLAIN = frozenset(
    """
    i'm i've i'll monday tuesday wednesday thursday friday saturday sunday january february march april june july
    august september october november december english russian german chinese japanese please github gitlab json yaml
    html css sql api url readme todo note
    """.split()  # noqa: SIM905 - a list of words
)


def names(text: str) -> Iterator[tuple[str, int]]:
    """(name, weight) of all that is named, the most telling kinds with the highest weights. Takes redacted text."""
    lines = [
        line for line in _CODE.sub("\n", text).splitlines() if line.strip() and len(line) < 600 and '":' not in line
    ]
    if len(lines) > 2 * _ENDS:  # most of it was pasted
        lines = lines[:_ENDS] + lines[-_ENDS:]
    text = "\n".join(lines)
    for found, weight in _in_words(text):
        if "[redacted" not in found:
            yield found, weight
    for match in _QUOTED.finditer(text):
        name = next(part for part in match.groups() if part).strip(" .,;:!?。、")
        if _name_like(name):
            yield name, 4
    if len(_GERMAN.findall(text)) > 2:  # where every noun has a capital
        return
    for match in _PROPER.finditer(text):
        words = match[0].split()
        while words and (folded(words[-1]) in FUNCTION_WORDS or folded(words[-1]) in _PLAIN):
            words.pop()
        if (
            words
            and folded(words[0]) not in FUNCTION_WORDS
            and folded(words[0]) not in _PLAIN
            and not words[0].isupper()
        ):
            yield " ".join(words).rstrip("'’-"), 1


def _in_words(text: str) -> Iterator[tuple[str, int]]:
    """What the patterns that know no blanks find, each asked only about words that have a sign of it: they are slow."""
    words = text.split()
    dotted = " ".join([word for word in words if "." in word])
    humped = " ".join([word for word in words if "_" in word or word[1:] != word[1:].lower()])
    for pattern, weight, where in (
        (_TICKET, 9, " ".join([word for word in words if "-" in word])),
        (_NUMBER, 2, " ".join([word for word in words if "#" in word])),
        (_HOST, 6, dotted),
        (_ADDRESS, 5, dotted),
        (_FILE, 4, dotted),
        (_IDENTIFIER, 4, humped),
    ):
        for match in pattern.finditer(where):
            yield match[0], weight


def _name_like(name: str) -> bool:
    """A quoted name, not a quoted sentence or a piece of code."""
    return (
        len(name) > 1
        and len(name.split()) <= 4
        and any(char.isalpha() for char in name)
        and not name.startswith(("/", "--"))
        and not any(char in "{}<>=;|$\\" for char in name)
        and "redacted:" not in name
        and folded(name) not in FUNCTION_WORDS
    )
