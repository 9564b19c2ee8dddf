"""What stands round every page: head, search field, our own style and script, and the policy that lets nothing else in."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from importlib.resources import files
from urllib.parse import urlencode

from recall.core.page import content_hash, escaped
from recall.web.answer import HTML, Answer

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0a5ca8"/>'
    '<circle cx="14" cy="14" r="6.5" fill="none" stroke="#fff" stroke-width="3"/>'
    '<path d="M19 19l7 7" stroke="#fff" stroke-width="3.4" stroke-linecap="round"/></svg>'
)


@cache
def style() -> str:
    share = files("recall") / "share"
    return "".join((share / name).read_text(encoding="utf-8") for name in ("page/page.css", "web/web.css"))


@cache
def script() -> str:
    return (files("recall") / "share" / "web" / "web.js").read_text(encoding="utf-8")


POLICY = (
    f"default-src 'none'; style-src '{content_hash(style())}'; script-src '{content_hash(script())}'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def address(path: str, **parameters: object) -> str:
    """An address of ours, as it stands in an attribute; what is empty is left out."""
    given = {name: value for name, value in parameters.items() if value}
    return escaped(path + (f"?{urlencode(given, errors='replace')}" if given else ""))


def framed(title: str, body: str, *, query: str = "", everything: bool = False, status: int = 200) -> Answer:
    """A whole page. `body` is markup; `query` stands in the search field."""
    hidden = '<input type="hidden" name="all" value="1">' if everything else ""
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n"
        f'<link rel="icon" href="/icon.svg"><style>{style()}</style></head><body>\n'
        '<a class="skip" href="#content">To the content</a>\n'
        f'<header><div class="inner"><a class="brand" href="/">recall</a>'
        f'<form action="/" role="search" id="form"><input id="q" name="q" type="search" autocomplete="off" spellcheck="false" '
        f'maxlength="2000" placeholder="Search all sessions ( / )" aria-label="Search all sessions" value="{escaped(query)}">'
        f'{hidden}<button type="submit">Search</button></form>'
        '<nav><a href="/activity">Activity</a><button id="theme" type="button" hidden aria-label="Dark or light">◐</button>'
        f'</nav></div></header>\n<main id="content">\n{body}\n</main>\n<script>{script()}</script>\n</body></html>\n'
    )
    return Answer(status, HTML, page)


def error_page(code: int, message: str, headers: tuple[tuple[str, str], ...] = (), *, hint: str = "") -> Answer:
    """A page that says what went wrong; it has no search field, since who sees it may have no key."""
    try:
        name = HTTPStatus(code).phrase
    except ValueError:
        name = "Error"
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{code} {escaped(name)}</title><style>{style()}</style></head><body><main>\n"
        f'<div class="trouble"><h1>{escaped(message)}</h1>{_hint(hint)}<p class="dim">{code} {escaped(name)}</p></div>\n'
        "</main></body></html>\n"
    )
    return Answer(code, HTML, page, headers)


def trouble(code: int, message: str, hint: str, *, query: str = "") -> Answer:
    """The same for somebody who was let in: with the search field, and a way to try again."""
    body = (
        f'<div class="trouble"><h1>{escaped(message)}</h1>{_hint(hint)}'
        f'<p><a href="{address("/", q=query)}">Back to the search</a></p></div>'
    )
    return framed("recall", body, query=query, status=code)


def _hint(hint: str) -> str:
    return f"<p>{escaped(hint)}</p>" if hint else ""
