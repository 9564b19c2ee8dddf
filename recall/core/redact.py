"""Which parts of a text are secrets: each is replaced by `[redacted:kind]` before anything is indexed or printed.

How it is fast. Nearly all tokens hold an unbroken run of 23 letters, digits, `-` and `_`: the text is mapped to a
byte a character (in the set or not) and runs are found by plain substring search. What is short or has other
characters stands after a telling word, and a handful of literal searches find those. Only there patterns with
limits are tried, so time grows with length alone.

How it errs. A known prefix with a random-looking rest is always replaced. A value that is merely assigned to
a telling name (`password=`) must look like a value, not like code, a placeholder, a path or a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from recall.core.lazy import lazy

_MARK = "[redacted:"


class Kind(NamedTuple):
    """One kind of secret: `name` stands in the mark, `about` says whose it is.

    `begins` are the literals that such tokens begin with, none where a rule of its own finds them.
    `least` is the length of the rest, `body` the characters of it (a part of a pattern's `[]`). `chunk` is the length
    of a piece of it without separators that has a digit or both cases: 0 where nothing else begins like that, more
    where words do. `then` is a pattern that the rest must match as well.
    """

    name: str
    about: str
    begins: tuple[str, ...] = ()
    least: int = 16
    chunk: int = 0
    body: str = r"A-Za-z0-9_\-"
    then: str = ""


_WIDE = r"A-Za-z0-9_\-+/="
_DOTTED = r"A-Za-z0-9_\-."
_HEX32 = "[0-9a-f]{32}"


def _split(words: str) -> tuple[str, ...]:
    return tuple(words.split())


KINDS: tuple[Kind, ...] = (
    Kind("anthropic", "Anthropic API and OAuth keys", _split("sk-ant-")),
    Kind("openai", "OpenAI project, service and admin keys", _split("sk-proj- sk-svcacct- sk-admin- sk-None-")),
    Kind("openrouter", "OpenRouter keys", _split("sk-or-v1-")),
    Kind("api-key", "keys that begin with sk-: OpenAI and those who followed", _split("sk-"), 20, 14),
    Kind("github", "GitHub tokens", _split("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_")),
    Kind(
        "gitlab",
        "GitLab tokens",
        _split("glpat- gldt- glrt- glrtr- glptt- glcbt- glsoat- glft- glimt- glagent- gloas- glffct-"),
        body=_DOTTED,
    ),
    Kind("google", "Google OAuth tokens and client secrets", _split("ya29. GOCSPX-"), body=_DOTTED),
    Kind("gcp", "Google API keys", _split("AIza"), 30),
    Kind(
        "slack",
        "Slack tokens",
        _split("xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxp- xoxe.xoxb- xapp-"),
        12,
    ),
    Kind(
        "stripe",
        "Stripe secret keys and webhook secrets",
        _split("sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ whsec_"),
        body=_WIDE,
    ),
    Kind("sendgrid", "SendGrid keys", _split("SG."), 30, 6, _DOTTED, r"[\w-]{12,64}\.[\w-]{12}"),
    Kind("aws", "AWS access key ids", _split("AKIA ASIA"), then="[A-Z0-9]{16}"),
    Kind("twilio", "Twilio keys", _split("SK"), 32, 32, then=_HEX32),
    Kind("databricks", "Databricks tokens", _split("dapi"), 32, then=_HEX32),
    Kind("npm", "npm tokens", _split("npm_"), 30, 24),
    Kind("pypi", "PyPI upload tokens", _split("pypi-"), 32, 12),
    Kind("huggingface", "Hugging Face tokens", _split("hf_ api_org_"), 24, 24),
    Kind("digitalocean", "DigitalOcean tokens", _split("dop_v1_ doo_v1_ dor_v1_")),
    Kind("doppler", "Doppler tokens", _split("dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit."), body=_DOTTED),
    Kind("linear", "Linear keys", _split("lin_api_ lin_oauth_")),
    Kind("notion", "Notion tokens", _split("ntn_"), 30, 24),
    Kind("notion", "Notion tokens, older", _split("secret_"), 40, 32),
    Kind("shopify", "Shopify tokens", _split("shpat_ shpca_ shppa_ shpss_")),
    Kind("vault", "HashiCorp Vault tokens", _split("hvs. hvb. hvr."), 20, 10, _DOTTED),
    Kind("terraform", "HCP Terraform tokens", _split(".atlasv1."), 30, 0, _DOTTED),
    Kind("age", "age private keys", _split("AGE-SECRET-KEY-"), 30),
    Kind("groq", "Groq keys", _split("gsk_"), 30, 24),
    Kind("xai", "xAI keys", _split("xai-"), 40, 32),
    Kind("nvidia", "NVIDIA keys", _split("nvapi-"), 30),
    Kind("perplexity", "Perplexity keys", _split("pplx-"), 30, 24),
    Kind("replicate", "Replicate tokens", _split("r8_"), 30, 24),
    Kind("tavily", "Tavily keys", _split("tvly-"), 20, 16),
    Kind("langsmith", "LangSmith keys", _split("lsv2_pt_ lsv2_sk_"), 24),
    Kind("supabase", "Supabase keys", _split("sbp_ sb_secret_"), 20),
    Kind(
        "planetscale", "PlanetScale passwords and tokens", _split("pscale_pw_ pscale_tkn_ pscale_oauth_"), body=_DOTTED
    ),
    Kind("fly", "Fly.io tokens", _split("fm1_ fm2_ fm1a_ fm2a_ fm1r_ fm2r_"), 30, 12, _WIDE),
    Kind("docker", "Docker Hub tokens", _split("dckr_pat_ dckr_oat_")),
    Kind("grafana", "Grafana tokens", _split("glsa_ glc_"), 20, 16, _WIDE),
    Kind("sentry", "Sentry tokens", _split("sntrys_ sntryu_"), 20, 0, _WIDE),
    Kind("figma", "Figma tokens", _split("figd_"), 20),
    Kind("rubygems", "RubyGems keys", _split("rubygems_"), 30),
    Kind("pulumi", "Pulumi tokens", _split("pul-"), 40, 40),
    Kind("postman", "Postman keys", _split("PMAK-"), 30),
    Kind("square", "Square secrets", _split("sq0csp- sq0atp-"), 20),
    Kind("brevo", "Brevo keys", _split("xkeysib-"), 30),
    Kind("mailgun", "Mailgun keys", _split("key-"), 32, 32, then=_HEX32),
    Kind("atlassian", "Atlassian tokens", _split("ATATT3 ATCTT3"), 30, 0, _WIDE),
    Kind("cloudflare", "Cloudflare tokens", _split("cfut_ cfat_ cfk_"), 36, 24),
    Kind("jwt", "JSON web tokens", _split("eyJ"), 16, 0, _DOTTED, r"[\w-]{5,2000}\.[\w-]{4}"),
    Kind("discord", "Discord bot tokens", _split("M N O"), 50, 10, _DOTTED, r"[\w-]{22,28}\.[\w-]{6,7}\.[\w-]{25}"),
    Kind("aws-secret", "AWS secret access keys"),
    Kind("telegram", "Telegram bot tokens"),
    Kind("webhook", "Slack and Discord webhook addresses"),
    Kind("private-key", "PEM blocks: RSA, EC, OpenSSH, PGP, service accounts; whole or cut off"),
    Kind("url-password", "the password in scheme://user:password@host, of databases too"),
    Kind("authorization", "values of Authorization headers, bearer tokens"),
    Kind("cookie", "values in Cookie and Set-Cookie headers"),
    Kind("azure", "Azure account and shared access keys"),
    Kind("password", "values assigned to a password in any common notation"),
    Kind("secret", "values assigned to a secret"),
    Kind("token", "values assigned to a token"),
    Kind("key", "values assigned to an API, access or private key"),
)

# --- Where to look -------------------------------------------------------------------------------------------

Span = tuple[int, int, str]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_NAME_CHARS = _LETTERS + "0123456789-_."


def _run_table() -> bytes:
    inside = frozenset((_LETTERS + "0123456789-_").encode())
    return bytes(byte in inside for byte in range(256))


def _fold_table() -> bytes:
    """Small letters; `k` also for z, so that one literal leads to key, token, cookie and authorization."""
    folded = bytearray(bytes(range(256)).lower())
    folded[ord("z")] = folded[ord("Z")] = ord("k")
    return bytes(folded)


_RUN_LENGTH = 23  # `sk-` and 20 more; what is shorter (AWS key ids) has an anchor of its own
_RUN = b"\1" * _RUN_LENGTH
_IN_RUN = _run_table()
_FOLD = _fold_table()
_LETTERS_ONLY = frozenset(("AIza", "eyJh", "eyJ0", "eyJr"))

# What follows a telling word when something is assigned: the rest of the name, closing quotes, then a sign of
# assignment ('?' is one from another script) or, after `--flag` or in netrc, a blank and something with a digit.
_TAIL = rb"""[\w.\-]{0,24}["'\\\]`*]{0,8}[ \t]{0,8}(?:[=:>?]|\([ ]?["'`\\]|(?<=[ \t])(?=\S{0,39}\d)(?=\S{6}))"""
_K_WORD = lazy(
    rb"k(?:e(?:y[ \-](?<=private key.)[\-b]|y" + _TAIL + rb"|n(?<=token)" + _TAIL + rb")"
    rb"|ia(?<=akia)[a-z0-9]{16}|ie(?<=cookie)" + _TAIL + rb"|a(?<=authorika)tion[\w.\-]{0,8}"
    rb"""["'\\\]`*]{0,8}[ \t]{0,8}[=:,?])"""
)
_PLAIN_WORDS = (
    (b"secret", lazy(_TAIL)),
    (b"pass", lazy(rb"(?:w|phrase|code|d|(?![a-z]))" + _TAIL)),
    (b"pwd", lazy(_TAIL)),
)
_SESSION_ID = lazy(r"ASIA[A-Z0-9]{16}")


def redact(text: str) -> str:
    """The text with every secret replaced by `[redacted:kind]`; a text without any is returned as it is.

    Any str will do, lone surrogates and 12 MB included. Redacting twice changes nothing. Callers that shorten a
    text do it afterwards: a secret that was cut before has lost what it is known by, and its rest would stay.
    """
    while spans := _spans(text):
        text = _replaced(text, spans)
    return text


def redact_json(value: object) -> object:
    """A copy of a JSON value with every string in it redacted, keys of objects too; tuples become lists.

    A string under a telling name (`{"password": "..."}`) is judged as if it were written `password: "..."`.
    Two keys that become equal are kept apart by a number.
    """
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list | tuple):
        return [redact_json(item) for item in value]
    if isinstance(value, dict):
        out: dict[object, object] = {}
        for key, item in value.items():
            name = redact(key) if isinstance(key, str) else key
            free, n = name, 2
            while free in out:
                free, n = f"{name} ({n})", n + 1
            kind = _judged(key) if isinstance(key, str) and isinstance(item, str) else ""
            out[free] = f"{_MARK}{kind}]" if kind and _is_value(str(item), kind, True) else redact_json(item)
        return out
    return value


def _replaced(text: str, spans: list[Span]) -> str:
    """The text with the spans replaced; of spans that overlap, the union under the name of the first."""
    spans.sort(key=lambda span: (span[0], -span[1]))
    parts: list[str] = []
    at = 0
    start, end, kind = spans[0]
    for s, e, k in spans[1:]:
        if s < end:
            end = max(end, e)
            continue
        parts += (text[at:start], f"{_MARK}{kind}]")
        at, start, end, kind = end, s, e, k
    parts += (text[at:start], f"{_MARK}{kind}]", text[end:])
    return "".join(parts)


def _spans(text: str) -> list[Span]:
    """Where the secrets are: (start, end, kind), in no order; they may overlap."""
    if len(text) < 8:
        return []
    found: list[Span] = []
    narrow = text.encode("latin-1", "replace")  # a byte a character, '?' for what is not Latin
    runs = narrow.translate(_IN_RUN)
    find = runs.find
    at = find(_RUN)
    while at >= 0:
        end = find(b"\0", at + _RUN_LENGTH)
        if end < 0:
            end = len(runs)
        piece = text[at:end]
        # Of unbroken letters (a camelCase name) only these few are tokens.
        if not piece.isalpha() or piece[:4] in _LETTERS_ONLY:
            found += _run(text, at, end, piece)
        at = find(_RUN, end)
    folded = narrow.translate(_FOLD)
    reach = 0  # of the values found so far: a name inside a value is not looked at
    for hit in _K_WORD.finditer(folded):
        if hit.start() >= reach:
            for span in _word(text, hit.start()):
                found.append(span)
                reach = max(reach, span[1])
    for word, tail in _PLAIN_WORDS:
        reach = 0
        at = folded.find(word)
        while at >= 0:
            if at >= reach and tail.match(folded, at + len(word)):
                for span in _assigned(text, at):
                    found.append(span)
                    reach = span[1]
            at = folded.find(word, at + len(word))
    if b"ASIA" in narrow:
        for match in _SESSION_ID.finditer(text):
            found += _aws(text, match.start())
    if "@" in text and "://" in text:
        found += _url_passwords(text)
    if b"??" in narrow and _speaks(text):
        found += _foreign(text)
    return found


# --- Runs: tokens that are known by their beginning ----------------------------------------------------------


class _Begin(NamedTuple):
    literal: str
    kind: Kind
    body: re.Pattern[str]
    then: re.Pattern[str]


def _begins_by_tail() -> dict[str, list[_Begin]]:
    """The literals that end in a separator by their last three characters, longer ones first; '' holds the others."""
    table: dict[str, list[_Begin]] = {}
    for kind in KINDS:
        for literal in kind.begins:
            tail = literal[-3:] if literal[-1] in "-_." else ""
            body, then = lazy(f"[{kind.body}]*"), lazy(kind.then)
            table.setdefault(tail, []).append(_Begin(literal, kind, body, then))
    for begins in table.values():
        begins.sort(key=lambda begin: -len(begin.literal))
    return table


_BEGINS = _begins_by_tail()
_SAME_START = {"sk-": [b for some in _BEGINS.values() for b in some if b.literal[:3] == "sk-" and len(b.literal) > 3]}
_UNSEPARATED = tuple(begin.literal for begin in _BEGINS[""] if begin.kind.name != "discord")  # that one has dots
_NO_HEX = lazy(r"[^0-9a-fA-F\-]")
_SEPARATOR = lazy(r"[\-_.]")
_OTHER_BEGIN = lazy("|".join(re.escape(b.literal) + (f"(?={b.kind.then})" if b.kind.then else "") for b in _BEGINS[""]))
_JOINED = lazy(rf"[{_WIDE}.]*")
_PIECES = lazy(r"[A-Za-z0-9]+")
_ESCAPE_END = lazy(
    r"(?:\\[nrtbfv0]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|(?:\x1b|\\e|\\033|\\u001[bB]|\\x1[bB])\[[0-9;]{0,12}m)\Z"
)
_BOT_ID = lazy(r"\d{6,12}:\Z")
_BEARER = lazy(r"[Bb](?:earer|EARER) {1,4}\Z")
_WEBHOOK = lazy(
    r"(?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/(?:v\d+/)?webhooks)(/)[\w/\-]{0,60}\Z"
)


def _run(text: str, at: int, end: int, piece: str) -> list[Span]:
    """Secrets that begin in, just before or with the run from `at` to `end`, whose text is `piece`."""
    start = at
    mark = text[at - 1 : at]
    if mark and mark in ".+/=":  # the parts of a token may be joined by these
        before = text[max(0, at - 1000) : at]
        start = at - (len(before) - len(before.rstrip(_NAME_CHARS + "+/=")))
        piece = text[start:end]
    spans: list[Span] = []
    if mark == "." or _NO_HEX.search(piece):  # not in hashes and UUIDs: no known beginning is made of their letters
        if mark == "." or "-" in piece or "_" in piece:
            spans += _separated(text, start, end)
        dotted = mark == "." and piece.count(".") > 1
        if dotted or any([literal in piece for literal in _UNSEPARATED]):  # noqa: C419 - a generator takes longer
            spans += _unseparated(text, start, end)
    if spans:
        spans += [near for span in spans if span[2] == "aws" for near in _aws(text, span[0])]
    elif mark == ":":
        bot = _BOT_ID.search(text, max(0, at - 14), at)
        if bot and end - at >= 35 and _mixed(text[at : at + 35]):
            return [(bot.start(), end, "telegram")]
    elif mark == " ":
        if text[at - 2] in "rR" and _BEARER.search(text, max(0, at - 10), at) and _mixed(text[at : at + 200]):
            whole = _JOINED.match(text, at)
            return [(at, whole.end() if whole else end, "authorization")]
    elif mark == "/":
        hook = _WEBHOOK.search(text, max(0, at - 120), at)
        if hook:
            return [(hook.end(1), end, "webhook")]
    return spans


def _separated(text: str, start: int, end: int) -> Iterator[Span]:
    """Tokens whose known beginning ends in a separator."""
    reach = 0
    for separator in _SEPARATOR.finditer(text, start, end):
        after = separator.end()
        for begin in _BEGINS.get(text[after - 3 : after], ()):
            first = after - len(begin.literal)
            if first >= max(start, reach) and text.startswith(begin.literal, first):
                reach = _issued(text, first, after, begin)
                if reach:
                    begin = next(
                        (b for b in _SAME_START.get(begin.literal, ()) if text.startswith(b.literal, first)), begin
                    )
                    if begin.literal[0] == ".":  # what stands before .atlasv1. is part of it
                        first -= len(text[start:first]) - len(text[start:first].rstrip(_NAME_CHARS))
                    yield first, reach, begin.kind.name
                    break


def _unseparated(text: str, start: int, end: int) -> Iterator[Span]:
    """Tokens whose known beginning goes over into the rest without a separator."""
    reach = 0
    for hit in _OTHER_BEGIN.finditer(text, start, end):
        if hit.start() >= reach:
            begin = next(begin for begin in _BEGINS[""] if begin.literal == hit.group())
            reach = _issued(text, hit.start(), hit.end(), begin)
            if reach:
                yield hit.start(), reach, begin.kind.name


def _begins(text: str, at: int) -> bool:
    """Whether a word begins here: after no letter or digit, or after an escape such as a literal `\\n`."""
    before = text[at - 1 : at]
    return not (before.isascii() and before.isalnum()) or bool(_ESCAPE_END.search(text, max(0, at - 24), at))


def _issued(text: str, first: int, after: int, begin: _Begin) -> int:
    """Where the token ends that begins at `first` and goes on at `after`; 0 if no machine would issue its like."""
    body = begin.body.match(text, after, after + 200)
    rest = body.group() if body else ""
    kind = begin.kind
    if len(rest) < kind.least or not _mixed(rest[-160:]) or not begin.then.match(text, after):
        return 0
    if kind.chunk:
        begins = _begins(text, first)
        for piece in _PIECES.findall(rest):
            if begins and len(piece) >= kind.chunk and _mixed(piece):
                break
            if len(piece) >= max(24, kind.chunk) and _classes(piece) == 3:
                break
        else:
            return 0
    whole = begin.body.match(text, after)
    end = whole.end() if whole else after
    while text[end - 1] == ".":
        end -= 1
    return end


def _mixed(text: str) -> bool:
    """Several different characters, and a digit or both cases among them."""
    if len(set(text)) < 5:
        return False
    return any(map(str.isdigit, text)) or (text.lower() != text and text.upper() != text)


def _classes(text: str) -> int:
    """How many of small letters, capitals and digits occur."""
    return any(map(str.islower, text)) + any(map(str.isupper, text)) + any(map(str.isdigit, text))


_AWS_SECRET = lazy(r"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")


def _aws(text: str, at: int) -> Iterator[Span]:
    """A key id, and the secret that stands near it."""
    yield at, at + 20, "aws"
    for near in _AWS_SECRET.finditer(text, at + 20, at + 300):
        if _classes(near.group()) == 3:
            yield near.start(), near.end(), "aws-secret"


# --- Words: what is assigned to a telling name ---------------------------------------------------------------


def _word(text: str, at: int) -> Iterator[Span]:
    """Secrets after the word whose letter k or z is at `at`."""
    after = text[at + 1 : at + 3].lower()
    if after == "ia":
        if _SESSION_ID.match("ASIA" + text[at + 3 : at + 19]) and text[at - 1 : at + 3] == "AKIA":
            yield from _aws(text, at - 1)
    elif after == "ie":
        yield from _cookies(text, at - 3)
    elif after == "at":
        yield from _authorization(text, at + 6)
    elif text[at + 1 : at + 3] == "EY" and (head := _PEM_LABEL.search(text, max(0, at - 60), at)):
        yield from _private_key(text, head)
    else:
        yield from _assigned(text, at)


_KEY_OF = _split(
    "api app application access account auth private secret signing encryption master shared license service webhook"
    " admin client consumer deploy storage subscription hmac jwt aes crypto fernet session token integration"
)
_TELLING = lazy(r"pass(?:wor[dt]|wd|phrase|code|d)?|pwd|secret|token|key")
_KIND_OF = {"pa": "password", "pw": "password", "se": "secret", "to": "token", "ke": "key"}
_OTHER_THING = lazy(
    r"s?[_.\-]?(?:count|ids?(?![a-z])|names?|len|limit|types?|ur[il]|path|file|dir|folder|ref|arn|version|expir|ttl|field|policy|hint"
    r"|label|rotat|size|usage|used|budget|env|var|header|prefix|suffix|format|regex|pattern|reset|per|left|total|max|min"
    r"|window|price|cost|estimate|index|pos|start|end|kind|class|error|status|valid|required|store|manager|provider"
    r"|input|element|selector|placeholder|service|source|scope|issuer|endpoint|length|strength|list|map|set(?![a-z]))",
    re.IGNORECASE,
)


def _judged(name: str) -> str:
    """The kind that a value under this name would be, '' when the name tells of nothing secret."""
    kind = ""
    name = name[-80:]
    small = name.lower()
    for hit in _TELLING.finditer(small if len(small) == len(name) else name):
        word, before, rest = name[hit.start() : hit.end()], name[: hit.start()], name[hit.end() :]
        if hit.group() == "key" and not small[: hit.start()].rstrip(" _.-").endswith(_KEY_OF):
            continue
        if rest[:1].isalpha() and rest not in ("s", "S") and (rest[0].islower() or word.isupper()):
            kind = ""  # passenger, tokenizer, secretary
        elif word == "pass" and before[-1:].islower():
            kind = ""  # bypass; but dbPass
        elif rest and (_OTHER_THING.match(rest) or (rest[0] == "." and rest[1:2].isalpha())):
            kind = ""
        else:
            kind = _KIND_OF[hit.group()[:2]]
    if kind in ("secret", "key"):
        if "aws" in small or "secretaccesskey" in small.replace("_", ""):
            return "aws-secret"
        if "accountkey" in small or "sharedaccesskey" in small:
            return "azure"
    return kind


_NAME = lazy(r"[A-Za-z0-9_.\-]{0,60}(?: ?(?:key|KEY|Key)(?![A-Za-z]))?")
_SIGN = lazy(
    r"""[\\"'`\]*]{0,8}[ \t]{0,8}"""
    r"""(?P<sign>:[ \t]{0,4}[A-Za-z_][A-Za-z0-9_.\[\]| ]{0,30}=(?!=)|:=|={1,3}>?|->|:|>|\(|[：＝]|(?=\S))[ \t]{0,8}"""
)
_OPENING = lazy(r"""[fFrRbBuU]{0,2}(?P<quote>\\{0,15}["'`])""")
_BARE = lazy(r"""(?:[^\s"'`<>\\,;&|(){}\[\]]|\\(?![nrtu"'\\])){1,256}""")
_BARE_REST = lazy(r"""[^\s"'`<>\\,;&|(){}\[\]]*""")
_SHELL = lazy(r"""(?:[^\s"'`<>\\]|\\(?![nrtu"'\\])){1,256}""")
_SHELL_REST = lazy(r"""[^\s"'`<>\\]*""")
_NETRC = lazy(r"\blogin\s{1,4}\S{1,80}\s{1,8}\Z")


def _assigned(text: str, at: int) -> Iterator[Span]:
    """The value that is assigned to the name around `at`."""
    before = text[max(0, at - 48) : at]
    left = len(before) - len(before.rstrip(_NAME_CHARS))
    spaced = before[-9:].lower().endswith(("api ", "access ", "private ", "secret ", "account "))
    start = at - left
    if before.endswith(_MARK) or before[: len(before) - left].endswith(_MARK):
        return
    word = _NAME.match(text, at)
    if word is None:
        return
    name = before.rsplit(None, 1)[-1] + " " + word.group() if spaced and not left else text[start : word.end()]
    kind = _judged(name.rstrip("-."))
    sign = _SIGN.match(text, word.end())
    if not kind or sign is None or text.startswith("::", sign.start("sign")):
        return
    how = sign["sign"]
    value = sign.end()
    opening = _OPENING.match(text, value)
    if how == "(" and not opening:
        return
    if how == ">" and text[start - 1 : start] != "<":
        return
    if how == "":
        flag = name.startswith("-") and sign.end() > word.end()
        flag |= kind == "aws-secret" and sign.end() > word.end()  # aws configure set
        if not flag and not (kind == "password" and _NETRC.search(text, max(0, start - 100), start)):
            return
    if opening:
        first = opening.end()
        end = _closing(text, first, opening["quote"])
        if _is_value(text[first:end], kind, True):
            yield first, end, kind
        return
    shell = how == "=" and sign.end() - word.end() == 1 and name.isupper()
    bare = (_SHELL if shell else _BARE).match(text, value)
    if bare is None or text.startswith(_MARK, bare.end()) or text.startswith(_MARK, value):
        return  # what touches a mark was judged before as a whole
    end = bare.end()
    while end > value and text[end - 1] in ".,;:!?)]}":
        end -= 1
    called = text[end : end + 1] in ("(", "[") and text[value:end].replace(".", "_").isidentifier()
    if not called and _is_value(text[value:end], kind, False, how == "="):
        if bare.end() - value >= 256:
            rest = (_SHELL_REST if shell else _BARE_REST).match(text, bare.end())
            end = rest.end() if rest else end
        yield value, end, kind


def _closing(text: str, start: int, quote: str) -> int:
    """Where a quoted value ends: at the same quote, at the line's end, or after `_LONGEST` characters."""
    limit = min(len(text), start + _LONGEST)
    line = text.find("\n", start, limit)
    if line >= 0:
        limit = line
    at = text.find(quote, start, limit)
    while at > start and len(quote) == 1 and text[at - 1] == "\\" and text[at - 2 : at] != "\\\\":
        at = text.find(quote, at + 1, limit)
    if at >= 0:
        return at
    bare = _BARE.match(text, start)
    return min(bare.end() if bare else start, limit)


_LONGEST = 4096
_TEMPLATE = lazy(
    r"\$[A-Za-z_({]|%[A-Za-z_(%{]|<|\{|\(|\[redacted:|[*•xX]{3}|\.{3}|#\{"
    r"|(?:os|process|self|this|env|config|settings|options|opts|args|props|state|data|req|request|res|secrets|vars|var|local|module"
    r"|import|export|await|new|return|function|lambda|async)\b"
    r"|(?:your|my|the|some|insert|enter|put|replace|change|example|sample|dummy|fake)(?:[_\-]|(?-i:(?=[A-Z])))"
    r"|(?:none|null|nil|true|false|undefined|str|string|int|bool|bytes|optional|any|required|nullable|number|object|missing|empty"
    r"|unset|todo|tbd|n/a|placeholder|changeme|redacted|hidden)(?![a-z0-9])"
    r"|(?:https?|file|wss?)://|\.{0,2}/[a-z]+(?:[/.]|\Z)|~/",
    re.IGNORECASE,
)
_NUMBERS = lazy(r"[\d.,:/%+\-TZ_ ]+")
_IDENTIFIER = lazy(
    r"[A-Za-z_][a-z_]*(?:[A-Z][a-z]+)*\d{0,2}|[A-Z_]+\d{0,2}|[a-z]+(?:[_\-.:/@][a-z]+)*(?:[_\-.]?v?\d{1,2})?"
)
_DOTTED_NAME = lazy(r"[A-Za-z_]\w{0,30}(?:(?:\.|->|::|\?\.)[A-Za-z_]\w{0,30})+")
_WORDY = lazy(r"[A-Za-z]+(?:[_\-. :/|]+[A-Za-z]+)*[:.!?]?")
_TELLING_VALUE = lazy(
    r"pass|secret|token|key|user|name|your|example|test|sample|dummy|default|input|field", re.IGNORECASE
)
_HEX = lazy(r"[0-9a-fA-F]{16,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _is_value(value: str, kind: str, quoted: bool, equals: bool = True) -> bool:
    """Whether what is assigned has the shape of a secret: no code, placeholder, word, number, path or sentence."""
    value = value[:256]
    least = 6 if kind == "password" else 8
    if len(value) < least or len(set(value)) < 3 or _TEMPLATE.match(value) or _MARK in value:
        return False
    if any(map(str.isspace, value)) or "${" in value or "{{" in value or "$(" in value or "](" in value:
        return False
    if not value.isascii() and not any(map(str.isdigit, value)):
        return False
    if _NUMBERS.fullmatch(value):
        return kind == "password" and value.isdigit()
    if _HEX.fullmatch(value):
        return True
    if _WORDY.fullmatch(value):
        if len(value) >= 20 and value.isalpha():
            return _changes(value) * 3 > len(value)
        if kind == "password" and quoted and len(value) >= 12 and not _TELLING_VALUE.search(value):
            return len(_PIECES.findall(value)) >= 4 or (value.islower() and value.isalpha() and len(value) >= 16)
        return False
    if not quoted and _DOTTED_NAME.fullmatch(value) and max(map(len, value.split("."))) < 20:
        return False
    if _IDENTIFIER.fullmatch(value) and (not quoted or kind != "password"):
        return False
    if kind == "password":
        return any(map(str.isalpha, value)) and (quoted or equals or _strange(value) >= 2 or _changes(value) >= 2)
    if len(value) >= 16:
        return any(map(str.isdigit, value)) and (_changes(value) >= 3 or _strange(value) >= 4)
    return (
        _strange(value) >= 3
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and not value.count("-") + value.count("/") > 2
    )


def _strange(value: str) -> int:
    """How many characters are no letters."""
    return sum(not char.isalpha() for char in value)


def _changes(value: str) -> int:
    """How often the class of character changes, a capital before a small letter not counted."""
    classes = ["d" if c.isdigit() else "u" if c.isupper() else "l" if c.isalpha() else "s" for c in value]
    return sum(a != b and (a, b) != ("u", "l") for a, b in pairwise(classes))


_SCHEME = (
    r"""[A-Za-z_]{0,12}["'\\`\]*]{0,8}\s{0,4}[:=,：]\s{0,4}[fFrRbB]{0,2}\\{0,15}["'`]?"""
    r"""(?:(?P<scheme>bearer|basic|token|digest|apikey|key|ssws|bot|negotiate|geniekey)[ :+]{1,4})?"""
    r"""(?P<value>[A-Za-z0-9_\-.+/=~:%!@#^*]{6,4096})"""
)
_AUTHORIZATION = lazy(_SCHEME, re.IGNORECASE)


def _authorization(text: str, at: int) -> Iterator[Span]:
    """The credentials in a header; `at` is just behind `Authorization`."""
    header = _AUTHORIZATION.match(text, at)
    if header is None:
        return
    value = header["value"][:200]
    if _TEMPLATE.match(value) or not _mixed(value):
        return
    if header["scheme"] or (len(value) >= 16 and any(map(str.isdigit, value))):
        rest = _JOINED.match(text, header.end())
        yield header.start("value"), rest.end() if rest else header.end(), "authorization"


_COOKIE = lazy(r"""[A-Za-z_]{0,8}["'\\`\]*]{0,8}\s{0,4}[:=：]\s{0,4}\\{0,15}["'`]?""")
_PAIR = lazy(r"""([A-Za-z0-9_.%\-]{1,64})=([^;,\s"'`\\]{8,4096})""")
_ATTRIBUTES = frozenset(("path", "expires", "max-age", "domain", "samesite", "priority", "version"))


def _cookies(text: str, at: int) -> Iterator[Span]:
    """Values of the pairs in a Cookie or Set-Cookie header; `at` is where `cookie` begins."""
    header = _COOKIE.match(text, at)
    if header is None:
        return
    end = min(len(text), header.end() + _LONGEST)
    for stop in ("\n", "ookie"):  # the line's end, or another header
        at = text.find(stop, header.end(), end)
        end = at if at >= 0 else end
    for pair in _PAIR.finditer(text, header.end(), end):
        if pair[1].lower() in _ATTRIBUTES or _TEMPLATE.match(pair[2]) or _MARK in pair[2][:256]:
            continue
        if _mixed(pair[2][:200]):
            yield pair.start(2), pair.end(2), "cookie"


# --- Private keys --------------------------------------------------------------------------------------------

_PEM_LABEL = lazy(r"-{4,5} ?(BEGIN|END) [A-Z0-9 ]{0,30}PRIVATE \Z")
_PEM_CLOSE = r"KEY(?: BLOCK)?-{4,5}"
_PEM_GAP = r"""(?:\s|\\+[nrt]|["'+,>|#*]|\d{1,6}(?:→|\t|: ?))"""
_PEM_LINE = r"(?:[A-Za-z0-9+/=]|\\+/)"
_PEM_FIELD = rf"[A-Za-z\-]{{1,20}}: ?[^\n\\]{{1,100}}{_PEM_GAP}{{1,24}}"
_PEM_FIRST = lazy(rf"{_PEM_CLOSE}{_PEM_GAP}{{0,24}}(?:{_PEM_FIELD}){{0,4}}(?={_PEM_LINE}{{16}})")
_PEM_END = lazy(rf"-{{4,5}} ?(?:(END)|BEGIN) [A-Z0-9 ]{{0,30}}PRIVATE {_PEM_CLOSE}")
_PEM_NEXT = lazy(rf"{_PEM_GAP}{{0,24}}{_PEM_LINE}{{16,}}")
_PEM_LAST = lazy(rf"{_PEM_GAP}{{1,24}}{_PEM_LINE}{{1,15}}(?=[\s\\\"'`-]|\Z)")
_PEM_SPLIT = lazy(r"\\[nrt]|[\s\"'+,>|]")


def _private_key(text: str, label: re.Match[str]) -> Iterator[Span]:
    """A PEM block from its first or last line on; the other may be missing."""
    if label[1] == "END":
        start = label.start()
        low = max(0, start - 8192, text.rfind("----", max(0, start - 8192), start) + 4)
        lines = [(m.start(), m.end()) for m in re.finditer(rf"{_PEM_LINE}+", text[low:start])]
        first = start
        for s, e in reversed(lines):
            gap = text[low + e : first]
            if len(gap) > 40 or _PEM_SPLIT.sub("", gap) or (e - s < 16 and first != start):
                break
            first = low + s + (text[low + s - 1 : low + s + 1] == "\\n")
        if first < start:
            yield first, start, "private-key"
        return
    body = _PEM_FIRST.match(text, label.end())
    if body is None:
        return
    closing = _PEM_END.search(text, body.end(), body.end() + 20_000)
    if closing and closing[1]:
        yield label.start(), closing.end(), "private-key"
        return
    at = body.end()
    while line := _PEM_NEXT.match(text, at):
        at = line.end()
    last = _PEM_LAST.match(text, at)
    yield label.start(), last.end() if last else at, "private-key"


# --- Addresses and other languages ---------------------------------------------------------------------------

_URL = lazy(r"""://[^\s/@:"'`<>\\]{0,80}:(?P<password>[^\s/"'`<>\\]{1,200})@""")
_DATABASE_URL = lazy(r"""://[^\s/@:"'`<>\\]{0,80}:(?!\d{2,5}/)(?P<password>[^\s"'`<>\\]{1,200})@""")
_DATABASE = lazy(r"(?:postgres|postgresql|mysql|mariadb|mongodb|redis|rediss|amqps?|mssql|clickhouse|\+\w{1,20})\Z")
_NO_PASSWORD = frozenset(
    ("password", "passwd", "pass", "pwd", "secret", "token", "user", "username", "xxx", "xxxx", "yourpassword")
)


def _url_passwords(text: str) -> Iterator[Span]:
    for address in _DATABASE_URL.finditer(text):
        if "/" in address["password"] and not _DATABASE.search(text, max(0, address.start() - 24), address.start()):
            strict = _URL.match(text, address.start())
            if strict is None:
                continue
            address = strict
        value = address["password"]
        if value.lower() in _NO_PASSWORD or _MARK in value or len(value) < 2 or "{" in value or "$(" in value:
            continue
        if not _TEMPLATE.match(value) or (len(set(value)) > 8 and value[0] not in "$<%["):
            yield address.start("password"), address.end("password"), "url-password"


# A letter that is found fast, and what it may be part of.
_FOREIGN_WORDS = (
    ("о", ("арол", "окен", "люч", "крет")),
    ("О", ("АРОЛ", "ОКЕН")),
    ("ю", ("люч",)),
    ("ー", ("パスワード", "トークン", "シークレット")),
    ("号", ("暗証番号",)),
    ("密", ("密码", "密碼", "密钥", "密鑰")),
    ("令", ("口令", "令牌")),
    ("秘", ("秘钥",)),
    ("호", ("비밀번호", "암호")),
    ("큰", ("토큰",)),
)


def _speaks(text: str) -> bool:
    """Whether the text may hold one of the words of `_FOREIGN`."""
    return any(word in text for letter, words in _FOREIGN_WORDS if letter in text for word in words)


_FOREIGN = lazy(
    r"(?P<password>[Пп]арол[ья]|ПАРОЛЬ|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호)"
    r"|(?P<secret>[Сс]екрет|シークレット)|(?P<token>[Тт]окен|ТОКЕН|令牌|トークン|토큰)|(?P<key>[Кк]люч|КЛЮЧ|密钥|密鑰|秘钥)"
)
_FOREIGN_SIGN = lazy(
    r"""[^\n:：=＝—–!-/]{0,24}[ \t]{0,2}[)"'`]{0,2}(?:[:：=＝]|\s[—–\-]\s|是|は|为)\s{0,2}[«“"'`「]?"""
)
_FOREIGN_VALUE = lazy(r"""[!#-&(-;=?-\[\]-_a-~]{6,256}""")


def _foreign(text: str) -> Iterator[Span]:
    """Values after words for password, token and key in other scripts."""
    for word in _FOREIGN.finditer(text):
        sign = _FOREIGN_SIGN.match(text, word.end())
        value = _FOREIGN_VALUE.match(text, sign.end()) if sign else None
        if value is None:
            continue
        end = value.end()
        while end > value.start() and text[end - 1] in ".,;:!?)]}":
            end -= 1
        kind = str(word.lastgroup)
        if _is_value(text[value.start() : end], kind, False):
            yield value.start(), end, kind
