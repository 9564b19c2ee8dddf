"""One session as an HTML page. Whatever a transcript holds is text in it: no markup, no address to follow, no request."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from recall.core.plain import one_line
from recall.core.talk import Part

_SUMMARY = 160
_FENCE = "```"
_INLINE = re.compile(r"(?<![`\w])`([^`\n]{1,400})`(?!`)|\*\*(?=\S)([^*\n]{1,400})(?<=\S)\*\*")


def page(
    title: str, fields: Mapping[str, str], talk: Iterable[tuple[Part, Sequence[str], str]], style: str, script: str
) -> Iterator[str]:
    """The page in pieces. `fields` stand at its head; `talk` gives parts with the lines of a change and the local time as
    text. All texts are as they may be shown. `style` and `script` are ours and are put in as they are: the page's policy
    lets nothing else run or load."""
    policy = f"default-src 'none'; style-src '{content_hash(style)}'; script-src '{content_hash(script)}'; base-uri 'none'; form-action 'none'"
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escaped(title)}</title>\n<style>{style}</style></head><body>\n"
        '<header><div class="inner"><input id="search" type="search" placeholder="Search this session ( / )" '
        'aria-label="Search this session"><span id="found" role="status"></span><button id="fold" type="button">Fold / unfold'
        '</button><button id="theme" type="button">Dark / light</button></div></header>\n<main>\n'
        f"<h1>{escaped(title)}</h1>\n<dl>"
    )
    yield "".join(f"<dt>{escaped(name)}</dt><dd>{escaped(value)}</dd>" for name, value in fields.items() if value)
    yield "</dl>\n"
    yield from conversation(talk)
    yield f"</main>\n<script>{script}</script>\n</body></html>\n"


def conversation(talk: Iterable[tuple[Part, Sequence[str], str]]) -> Iterator[str]:
    """The parts alone, in pieces: a section for each turn. What begins within a turn gets a section as well."""
    open_turn = False
    speaker = ""
    for part, lines, moment in talk:
        if part.role == "user" or not open_turn:
            yield '</section>\n<section class="turn">\n' if open_turn else '<section class="turn">\n'
            open_turn, speaker = True, ""
        now = part.role if part.role in ("user", "assistant", "aside") else "assistant"
        if now != speaker and now != "aside":
            speaker = now
            yield _who(part, now, moment)
        yield _part(part, lines)
    if open_turn:
        yield "</section>\n"


def content_hash(text: str) -> str:
    """What a policy calls a style or a script by that may be used: the hash of its text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def escaped(said: str) -> str:
    """`said` as text of a page or the value of an attribute, in double quotes."""
    return html.escape("".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in said))


def _who(part: Part, role: str, moment: str) -> str:
    anchor = f'<a id="m{part.number}" href="#m{part.number}">{role}</a>' if part.number else role
    return f'<div class="who {role}">{anchor}<time>{escaped(moment)}</time></div>\n'


def _part(part: Part, lines: Sequence[str]) -> str:
    if part.role in ("user", "assistant"):
        return _said(part.text)
    if part.role == "aside":
        return _folded("aside", part.text)
    if part.role == "thinking":
        return _folded("thinking", part.text)
    body = f"<pre>{_difference(lines)}</pre>" if lines else f"<pre>{escaped(part.body)}</pre>" if part.body else ""
    printed = f"<pre>{escaped(part.output)}</pre>" if part.output.strip() else ""
    rest = "" if len(part.text) <= _SUMMARY and "\n" not in part.text else f"<pre>{escaped(part.text)}</pre>"
    head = f"<code>{escaped(_cut(one_line(part.text)))}</code>"
    failed = ' class="failed"' if part.failed else ""
    mark = " · failed" if part.failed else ""
    return f"<details{failed}><summary>{head}{mark}</summary>{rest}{body}{printed}</details>\n"


def _said(text: str) -> str:
    """Prose as it was written; what stands between code fences in a block of its own."""
    out: list[str] = []
    inside = False
    block: list[str] = []

    def flush() -> None:
        body = "\n".join(block)
        block.clear()
        if body.strip():
            out.append(
                f"<pre>{escaped(body)}</pre>\n" if inside else f'<p class="text">{_inline(body.strip(chr(10)))}</p>\n'
            )

    for line in text.split("\n"):
        if line.lstrip().startswith(_FENCE):
            flush()
            inside = not inside
        else:
            block.append(line)
    flush()
    return "".join(out)


def _inline(text: str) -> str:
    """Escaped text with what stands in backquotes and in double stars marked up."""
    return _INLINE.sub(
        lambda found: f"<code>{found[1]}</code>" if found[1] else f"<strong>{found[2]}</strong>", escaped(text)
    )


def _folded(name: str, text: str) -> str:
    return f"<details><summary>{name}: {escaped(_cut(one_line(text)))}</summary><pre>{escaped(text)}</pre></details>\n"


def _difference(lines: Sequence[str]) -> str:
    marks = {"+": "plus", "-": "minus"}
    out = []
    for line in lines:
        kind = marks.get(line[:1])
        out.append(f'<span class="{kind}">{escaped(line)}</span>' if kind else f"{escaped(line)}\n")
    return "".join(out)


def _cut(text: str) -> str:
    return text if len(text) <= _SUMMARY else text[: _SUMMARY - 1].rstrip() + "…"
