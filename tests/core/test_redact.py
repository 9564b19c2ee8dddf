"""Secrets leave no trace; everything else is left as it is.

All secrets here are made on the spot by a seeded generator: none is anybody's, and none stands in this file.
"""

from __future__ import annotations

import base64
import json
import random
import string
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.core.redact import KINDS, redact, redact_json

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
WORD = LOWER + UPPER + DIGITS
URLSAFE = WORD + "-_"
BASE64 = WORD + "+/"
HEX = "0123456789abcdef"


def some(rng: random.Random, letters: str, n: int) -> str:
    """`n` of the letters; of a large alphabet at least a digit and both cases, as nearly all real ones have."""
    while True:
        text = "".join(rng.choices(letters, k=n))
        if len(letters) < 40 or all(set(text) & set(group) for group in (LOWER, UPPER, DIGITS) if group[0] in letters):
            return text


def jwt(rng: random.Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return ".".join(
        (part({"alg": "HS256", "typ": "JWT"}), part({"sub": some(rng, DIGITS, 12)}), some(rng, URLSAFE, 43))
    )


def pem(rng: random.Random, label: str = "RSA PRIVATE KEY", lines: int = 6) -> str:
    body = [some(rng, BASE64, 64) for _ in range(lines)] + [some(rng, BASE64, 30) + "=="]
    return "\n".join((f"-----BEGIN {label}-----", *body, f"-----END {label}-----"))


# kind -> a secret of that kind that is known by its own looks
TOKENS = {
    "anthropic": lambda r: "sk-ant-api03-" + some(r, URLSAFE, 93) + "AA",
    "anthropic oauth": lambda r: "sk-ant-oat01-" + some(r, URLSAFE, 60),
    "openai": lambda r: "sk-proj-" + some(r, URLSAFE, 120),
    "openai service": lambda r: "sk-svcacct-" + some(r, URLSAFE, 60),
    "api-key": lambda r: "sk-" + some(r, WORD, 48),
    "api-key hex": lambda r: "sk-" + some(r, HEX, 32),
    "api-key counted": lambda r: "sk-" + LOWER + "123456",
    "openrouter": lambda r: "sk-or-v1-" + some(r, HEX, 64),
    "github": lambda r: "ghp_" + some(r, WORD, 36),
    "github oauth": lambda r: "gho_" + some(r, WORD, 36),
    "github user": lambda r: "ghu_" + some(r, WORD, 36),
    "github server": lambda r: "ghs_" + some(r, WORD, 36),
    "github refresh": lambda r: "ghr_" + some(r, WORD, 36),
    "github fine": lambda r: "github_pat_" + some(r, WORD, 22) + "_" + some(r, WORD, 59),
    "gitlab": lambda r: "glpat-" + some(r, URLSAFE, 20),
    "aws": lambda r: "AKIA" + some(r, UPPER + "234567", 16),
    "aws session": lambda r: "ASIA" + some(r, UPPER + "234567", 16),
    "gcp": lambda r: "AIza" + "Sy" + some(r, URLSAFE, 33),
    "google": lambda r: "ya29." + some(r, URLSAFE, 80),
    "google client": lambda r: "GOCSPX-" + some(r, URLSAFE, 28),
    "slack": lambda r: "xoxb-" + some(r, DIGITS, 12) + "-" + some(r, DIGITS, 13) + "-" + some(r, WORD, 24),
    "slack app": lambda r: (
        "xapp-1-A" + some(r, UPPER + DIGITS, 10) + "-" + some(r, DIGITS, 13) + "-" + some(r, HEX, 64)
    ),
    "stripe": lambda r: "sk_live_" + some(r, WORD, 24),
    "stripe restricted": lambda r: "rk_live_" + some(r, WORD, 24),
    "stripe test": lambda r: "sk_test_" + some(r, WORD, 99),
    "stripe hook": lambda r: "whsec_" + some(r, WORD, 32),
    "sendgrid": lambda r: "SG." + some(r, URLSAFE, 22) + "." + some(r, URLSAFE, 43),
    "twilio": lambda r: "SK" + some(r, HEX, 32),
    "npm": lambda r: "npm_" + some(r, WORD, 36),
    "pypi": lambda r: "pypi-AgEIcHlwaS5vcmc" + some(r, URLSAFE, 140),
    "huggingface": lambda r: "hf_" + some(r, LOWER + UPPER, 33) + "Aa",
    "telegram": lambda r: some(r, "123456789", 10) + ":AA" + some(r, URLSAFE, 33),
    "discord": lambda r: "M" + some(r, WORD, 25) + "." + some(r, URLSAFE, 6) + "." + some(r, URLSAFE, 38),
    "jwt": jwt,
    "digitalocean": lambda r: "dop_v1_" + some(r, HEX, 64),
    "doppler": lambda r: "dp.pt." + some(r, WORD, 43),
    "databricks": lambda r: "dapi" + some(r, HEX, 32),
    "linear": lambda r: "lin_api_" + some(r, WORD, 40),
    "notion": lambda r: "ntn_" + some(r, DIGITS, 11) + some(r, WORD, 35),
    "notion older": lambda r: "secret_" + some(r, WORD, 43),
    "shopify": lambda r: "shpat_" + some(r, HEX, 32),
    "vault": lambda r: "hvs." + some(r, URLSAFE, 90),
    "terraform": lambda r: some(r, WORD, 14) + ".atlasv1." + some(r, URLSAFE, 67),
    "age": lambda r: "AGE-SECRET-KEY-1" + some(r, UPPER + DIGITS, 58),
    "groq": lambda r: "gsk_" + some(r, WORD, 52),
    "atlassian": lambda r: "ATATT3xFfGF0" + some(r, URLSAFE, 160) + "=" + some(r, UPPER + DIGITS, 8),
    "docker": lambda r: "dckr_pat_" + some(r, URLSAFE, 27),
    "sentry": lambda r: "sntrys_" + some(r, BASE64, 150),
    "slack hook": lambda r: (
        "https://hooks.slack.com/services/T0" + some(r, UPPER, 8) + "/B0" + some(r, UPPER, 8) + "/" + some(r, WORD, 24)
    ),
    "discord hook": lambda r: "https://discord.com/api/webhooks/" + some(r, DIGITS, 19) + "/" + some(r, URLSAFE, 68),
    "private-key": pem,
    "private-key openssh": lambda r: pem(r, "OPENSSH PRIVATE KEY"),
    "private-key pkcs8": lambda r: pem(r, "PRIVATE KEY", 26),
    "private-key ec": lambda r: pem(r, "EC PRIVATE KEY", 2),
}

CONTEXTS = {
    "plain": "{}",
    "sentence": "the key is {} and it should work, try again",
    "sentence end": "Please use {}.",
    "line start": "first line\n{} is what I got\nlast",
    "line end": "first line\nwhat I got: {}\nlast",
    "shell": "export THING={} && ./run.sh --fast",
    "shell quoted": "curl -H 'X-Thing: {}' https://example.test/v1 | jq .",
    "markdown": "use `{}` or **{}** here",
    "parentheses": "(see {}), [{}]",
    "diff": "+THING = '{}'\n-THING = ''",
    "yaml": "env:\n  - name: THING\n    value: {}\n",
    "log": "2026-10-11T12:00:00.123Z INFO sent {} to 10.0.0.7:8080",
    "url query": "https://example.test/cb?state=1&x={}&y=2",
    "cyrillic": "вот он:{}и больше ничего",
    "chinese": "密钥是{}，不要外传",
    "japanese": "これは「{}」です",
    "escape sequence": "\x1b[32m{}\x1b[0m done",
    "appended": "{}AndThenSomeMore",
    "twice": "{0} {0}",
    "xml": "<value>{}</value>",
}


PUBLIC = ("https://hooks.slack.com/services/", "https://discord.com/api/webhooks/")


def survivors(secret: str, text: str) -> list[str]:
    """Pieces of 8 characters of the secret that still occur in the text; case does not matter."""
    small, rest = secret.casefold(), text.casefold()
    for public in PUBLIC:
        small, rest = small.replace(public, "\0"), rest.replace(public, "\0")
    return [p for i in range(len(small) - 7) if "\0" not in (p := small[i : i + 8]) and p in rest]


@pytest.mark.parametrize("name", TOKENS)
def test_a_token_leaves_no_eight_characters_behind_in_any_context(name: str) -> None:
    rng = random.Random(name)
    for context, form in CONTEXTS.items():
        for _ in range(4):
            secret = TOKENS[name](rng)
            for text in (form.format(secret, secret), json.dumps(form.format(secret, secret))):
                for variant in (text, json.dumps({"a": [text]}), json.dumps({"a": text}, ensure_ascii=False)):
                    clean = redact(variant)
                    assert not survivors(secret, clean), (context, variant, clean)
                    assert "[redacted:" in clean
                    assert redact(clean) == clean


@pytest.mark.parametrize("name", TOKENS)
def test_what_stands_around_a_token_stays(name: str) -> None:
    clean = redact(f"before the thing {TOKENS[name](random.Random(name))} after the thing")
    assert clean.startswith("before the thing ")
    assert clean.endswith(" after the thing")


@pytest.mark.parametrize(
    "name", sorted(set(TOKENS) - {"private-key", "private-key openssh", "private-key pkcs8", "private-key ec"})
)
def test_a_literal_line_end_in_json_may_stand_right_before_a_token(name: str) -> None:
    rng = random.Random(name)
    secret = TOKENS[name](rng)
    for before in ("\\n", "\\t", "\\u0441", "\\\\n", "\\r\\n"):
        clean = redact('{"text": "one' + before + secret + '\\ntwo"}')
        assert not survivors(secret, clean), clean


def test_the_mark_says_which_kind() -> None:
    for name, make in TOKENS.items():
        kind = "webhook" if name.endswith("hook") and "stripe" not in name else name.split()[0]
        assert f"[redacted:{kind}]" in redact(make(random.Random(1))), name


def test_no_token_begins_with_what_a_hash_is_made_of() -> None:
    """Runs of hex digits and `-` are not looked at for beginnings of tokens."""
    literals = [literal for kind in KINDS for literal in kind.begins]
    assert all(set(literal) - set("0123456789abcdefABCDEF-") for literal in literals)


def test_every_kind_in_the_table_has_a_name_that_fits_in_a_mark() -> None:
    assert len({kind.name for kind in KINDS}) >= 40
    for kind in KINDS:
        assert kind.name.replace("-", "").isalpha()
        assert kind.about


# what is assigned: {} is the value
ASSIGNED = (
    "password={}",
    "password: {}",
    'password = "{}"',
    "DB_PASSWORD='{}'",
    "export PGPASSWORD={}; psql -h db",
    'passwd: "{}"',
    "spring.datasource.password={}",
    '{{"user": "ada", "password": "{}", "ttl": 5}}',
    '{{\\"user\\": \\"ada\\", \\"password\\": \\"{}\\"}}',
    '{{\\\\\\"password\\\\\\": \\\\\\"{}\\\\\\"}}',
    "mysql --password={} -u root",
    "tool --password {} --verbose",
    "tool --db-password '{}'",
    "const dbPassword = '{}';",
    "Server=db;Uid=app;Pwd={};Database=x",
    "Password={};Database=x",
    "<password>{}</password>",
    "machine example.test login ada password {}",
    ":password => '{}',",
    'setPassword("{}")',
    'password: str = "{}"',
    "self.password = '{}'",
    "пароль: {}",
    "Пароль от базы — {}",
    "Пароль: «{}»",
    "密码：{}",
    "密码是{}，别忘了",
    "口令: {}",
    "パスワード：{}",
    "DB_PASS={}",
    "SMTP_PASS: '{}'",
    "postgres://app:{}@db.internal:5432/main",
    "mongodb+srv://app:{}@cluster0.mongodb.net/?retryWrites=true",
    "redis://:{}@cache:6379/0",
    "git clone https://ada:{}@git.example.test/a/b.git",
    "amqp://guest:{}@mq/%2f",
    "DATABASE_URL=mysql://root:{}@127.0.0.1/x",
)

LONG_ASSIGNED = (
    "api_key={}",
    'API_KEY: "{}"',
    '"apiKey": "{}"',
    "x-api-key: {}",
    'secret = "{}"',
    "CLIENT_SECRET={}",
    '{{"client_secret":"{}"}}',
    '{{\\"client_secret\\":\\"{}\\"}}',
    "access_token={}&expires=3600",
    "refreshToken: '{}'",
    "CLOUDFLARE_API_TOKEN={}",
    "CF_API_KEY: {}",
    "SECRET_KEY_BASE={}",
    "secretAccessKey: '{}'",
    "token: {}",
    "//registry.example.test/:_authToken={}",
    "Authorization: Bearer {}",
    '-H "Authorization: Bearer {}"',
    "{{'Authorization': 'Token {}'}}",
    'headers["Authorization"] = "Bearer {}"',
    '\\"Authorization\\": \\"Bearer {}\\"',
    "токен: {}",
    "ключ: {}",
    "API-ключ = {}",
    "密钥：{}",
    "トークン：{}",
    "Cookie: theme=dark; session={}; lang=en",
    "Set-Cookie: sid={}; Path=/; HttpOnly",
    "--api-key {} --model x",
    "access key: {}",
)


@pytest.mark.parametrize("form", ASSIGNED)
def test_a_password_that_is_assigned_leaves_nothing_behind(form: str) -> None:
    rng = random.Random(form)
    values = [some(rng, WORD, n) for n in (10, 12, 16, 24)] + [
        "hunter2-Xk9",
        "Tr0ub4dor3xyz",
        "S3cr3t!Pass",
        "xK9#mQ2$vL5",
    ]
    for value in values:
        for text in (form.format(value), f"first\n{form.format(value)}\nlast"):
            clean = redact(text)
            assert value not in clean, clean
            assert not survivors(value, clean), clean
            assert redact(clean) == clean


@pytest.mark.parametrize("form", LONG_ASSIGNED)
def test_a_key_or_token_that_is_assigned_leaves_nothing_behind(form: str) -> None:
    rng = random.Random(form)
    for value in (
        some(rng, WORD, 24),
        some(rng, HEX, 32),
        some(rng, HEX, 40),
        some(rng, WORD, 40),
        some(rng, URLSAFE, 40),
    ):
        for text in (form.format(value), f"первая\n{form.format(value)}\nlast"):
            clean = redact(text)
            assert not survivors(value, clean), clean
            assert redact(clean) == clean


@pytest.mark.parametrize(
    "form",
    [
        "AWS_SECRET_ACCESS_KEY={}",
        "aws_secret_access_key = {}",
        '"SecretAccessKey": "{}"',
        '\\"secretAccessKey\\": \\"{}\\"',
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={}==;EndpointSuffix=core.windows.net",
        "Endpoint=sb://x.example.test/;SharedAccessKeyName=Root;SharedAccessKey={}=",
        "Authorization: Basic {}==",
        "aws configure set aws_secret_access_key {}",
    ],
)
def test_values_of_base64_go_as_a_whole(form: str) -> None:
    rng = random.Random(form)
    for _ in range(20):
        value = some(rng, BASE64, 40)
        clean = redact(form.format(value))
        assert not survivors(value, clean), clean


def test_the_secret_beside_an_aws_key_id_goes_with_it() -> None:
    rng = random.Random(5)
    key, value = "AKIA" + some(rng, UPPER, 16), some(rng, BASE64, 40)
    assert not survivors(value, redact(f"{key}\t{value}\n"))
    assert not survivors(value, redact(f"id {key}\nsecret is {value} (rotate it)"))


def test_a_private_key_goes_however_it_is_written() -> None:
    rng = random.Random(7)
    for label in ("RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"):
        key = pem(rng, label, 12)
        body = key.split("\n", 1)[1].rsplit("\n", 1)[0]
        lines = body.split("\n")
        numbered = "\n".join(f"{n:6}→{line}" for n, line in enumerate(key.split("\n"), 1))
        half = key[: len(key) // 2]
        forms = {
            "escaped": json.dumps({"private_key": key}),
            "escaped twice": json.dumps(json.dumps({"private_key": key})),
            "numbered": numbered,
            "indented": "\n".join("    " + line for line in key.split("\n")),
            "quoted": "\n".join("> " + line for line in key.split("\n")),
            "crlf": key.replace("\n", "\r\n"),
            "one line": key.replace("\n", " "),
            "no end": half,
            "no end, escaped": json.dumps(half)[1:-1],
            "no end, more text": half + "\n\nand then prose goes on for a while, as it does.",
            "no beginning": key[200:],
            "no beginning, escaped": json.dumps(key[200:])[1:-1],
            "python": "KEY = (\n" + "\n".join(f'    "{line}\\n"' for line in key.split("\n")) + "\n)",
        }
        for name, text in forms.items():
            clean = redact(text)
            left = [line[i : i + 8] for line in lines for i in range(len(line) - 7) if line[i : i + 8] in clean]
            assert not left, (name, label, clean)
            assert redact(clean) == clean
        assert "prose goes on" in redact(forms["no end, more text"])


def test_a_pgp_block_with_headers_goes() -> None:
    key = pem(random.Random(3), "PGP PRIVATE KEY BLOCK").replace(
        "-----\n", "-----\nVersion: GnuPG v2\nComment: made up\n\n", 1
    )
    assert redact(f"a\n{key}\nb") == "a\n[redacted:private-key]\nb"


INNOCENT = (
    "password = os.environ['DB_PASSWORD']",
    'password = os.environ["DB_PASSWORD"]',
    "password = os.getenv('DB_PASSWORD')",
    "const token = process.env.GITHUB_TOKEN;",
    "token: str",
    "token: Optional[str] = None",
    "password=None",
    "password: string;",
    "password: string | undefined",
    "api_key=YOUR_KEY",
    "api_key = 'YOUR_API_KEY'",
    'api_key="your-api-key-here"',
    "API_KEY=<your key>",
    "password=${DB_PASSWORD}",
    "password: $DB_PASSWORD",
    "password: ${{ secrets.DB_PASSWORD }}",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "token=<token>",
    "password=***",
    "password=********",
    "password: xxxxxxxx",
    "password = input('Password: ')",
    "password = getpass.getpass()",
    "password = self.config.password",
    "password=user_password",
    "token = await getAccessToken(user)",
    "token_count: 123456",
    "max_tokens=4096",
    '"input_tokens": 123456, "output_tokens": 789',
    "tokens: 12,345 (in) / 678 (out)",
    "the password is wrong",
    "Password: required",
    "Forgot your password?",
    '{"password": "Password", "forgot": "Forgot password?"}',
    "password.length >= 8",
    "if (password !== confirmPassword) {",
    "secretName: my-app-tls",
    "existingSecret: postgres-credentials",
    "kubectl get secret my-app-secret -o yaml",
    "secretKeyRef:\n  name: app\n  key: database-url",
    "key: value",
    "key = 'name'",
    "primary_key=True",
    "foreign_key: users.id",
    "for key, value in items.items():",
    "tokenizer: bert-base-uncased",
    "tokenizer_path=/models/llama-3-8b-instruct-q4",
    "passed=12 failed=0",
    "bypass: true",
    "compass = 'north-north-west'",
    "passenger_count=1234567",
    "task-force",
    "risk-based-approach-for-something-long",
    "task-123-fix-the-thing-that-was-broken-2026",
    "disk-usage-report-2026-10-11-final-version",
    "desk-lamp-with-a-very-long-cable-and-2-bulbs",
    "ask-me-anything-about-building-software-v2",
    "pypi-publish-action-for-github-v1",
    "pypi-attestations==0.0.12",
    "https://pypi.org/project/pypi-attestations/",
    "hf_hub_download(repo_id='bert', filename='config.json')",
    "hf_transformers_model_loader_with_cache",
    "HF_HUB_ENABLE_HF_TRANSFER=1",
    "npm_config_registry=https://registry.example.test",
    "npm_package_json_version_with_long_name_2",
    "npm_lifecycle_event",
    "gh_pages_branch_deploy_configuration",
    "github_pat_settings_page_with_a_long_name",
    "SG.Controls.DataGrid.Columns.TextColumn",
    "secret_santa_participants_list_for_the_office_party",
    "dapibus dictum sed do eiusmod",
    "hvs.example.com",
    "xoxo-hugs-and-kisses-from-all-of-us-here",
    "docs.google.com/document/d/abc",
    "https://example.test:8443/path?email=ada@example.test",
    "http://localhost:3000/@scope/package",
    "ssh://git@github.com:22/a/b.git",
    "git@github.com:owner/repository.git",
    "postgres://user:password@localhost/db",
    "postgres://${USER}:${PASS}@host/db",
    "postgresql://{user}:{password}@{host}/{name}",
    "redis://localhost:6379/0",
    "mailto:ada@example.test",
    "npm i @types/node@20.1.0 https://example.test",
    "sha256:" + "3f" * 32,
    "sha512-" + base64.b64encode(bytes(range(64))).decode(),
    "integrity: sha512-" + base64.b64encode(bytes(range(100, 164))).decode(),
    "data:image/png;base64," + base64.b64encode(bytes(range(256))).decode(),
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer ${TOKEN}",
    "Authorization header is missing",
    "authorization: string",
    "Bearer token authentication",
    "bearer authentication-with-a-rather-long-name-here",
    "Cookie: none",
    "cookies: true",
    "document.cookie = 'theme=dark'",
    "Set-Cookie: theme=dark; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
    "if '-----BEGIN RSA PRIVATE KEY-----' in text: raise ValueError",
    "grep -r 'BEGIN PRIVATE KEY' .",
    "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUZ5\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
    "private key file: ~/.ssh/id_ed25519",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGx5 ada@laptop",
    "пароль не подошёл",
    "пароль: не помню",
    "Пароль: введите не менее 8 символов",
    "ключ словаря: имя поля",
    "ключ: value",
    "токен истёк: обновите",
    "密码错误：请重试",
    "密码：请输入",
    "パスワードを入力してください：",
    "pwd=/home/ada/projects/thing",
    "PWD=/home/ada/projects/thing-2",
    "OLDPWD=/var/log/nginx/2026",
    "password_file: /run/secrets/db-password",
    "POSTGRES_PASSWORD_FILE=/run/secrets/pg_pass_2",
    "token_type: bearer",
    "token_url: https://example.test/oauth2/v2/token",
    "--token-limit 200000",
    "csrf_token()",
    "def test_password_reset_2fa(self):",
    "password_reset_email_v2.html",
    "tests/test_password.py::test_rotates_2_keys",
    "const keyPressed = event.key === 'Enter1234'",
    "api_key_id: 12345678",
    "secret: false",
    "secret: 'shared-secret-name'",
    "use_auth_token=True",
    "pad_token_id=50256",
    "eos_token='<|endoftext|>'",
    "bos_token: '<s>'",
    "mask_token=[MASK]",
    "Token: 0.0025 USD",
    "cost per token: 0.00000125",
    "expires in token: 2026-10-11T12:00:00Z",
    "signing key: see docs/signing.md",
    "a token is a thing: it has 3 parts, namely header, payload, signature",
    "AKIAHABARA is a district",
    "ASIAPACIFIC",
    "SKU12345678901234567890",
    "eyJ is how they begin",
    "import { Token } from './token2parser'",
    "function passwordStrength(p) { return p.length > 12 ? 'strong1' : 'weak' }",
    '"password": {"type": "string", "minLength": 12}',
    "<input type='password' name='pw2' autocomplete='current-password'>",
    "label: Passwort",
    "!function(e,t){var n=e.token=t.key,r=n.secret||{};return r.pass(e)}(window,jQuery);",
)


def generated_innocents() -> list[str]:
    """Paths, hashes, uuids, base64 words, identifiers, versions: what working sessions are full of."""
    rng = random.Random(11)
    words = [
        "task",
        "disk",
        "risk",
        "build",
        "export",
        "parser",
        "token",
        "secret",
        "password",
        "cache",
        "render",
        "key",
    ]
    out = []
    for _ in range(40):
        w = rng.sample(words, 5)
        out += [
            "/" + "/".join(w) + f"/{w[0]}_{w[1]}-{rng.randint(1, 99)}.py",
            "C:\\" + "\\".join(w) + ".txt",
            some(rng, HEX, 40),
            some(rng, HEX, 64),
            f"index {some(rng, HEX, 7)}..{some(rng, HEX, 7)} 100644",
            str(uuid.UUID(int=rng.getrandbits(128), version=4)),
            f"session {uuid.UUID(int=rng.getrandbits(128), version=4)} of 3",
            base64.b64encode(rng.randbytes(30)).decode(),
            base64.b64encode(" ".join(w).encode()).decode(),
            "sha256:" + some(rng, HEX, 64),
            "sha512-" + base64.b64encode(rng.randbytes(64)).decode(),
            "".join(x.capitalize() for x in w),
            "_".join(w) + f"_v{rng.randint(1, 9)}",
            "-".join(w) + f"-{rng.randint(1, 2026)}",
            ".".join(w),
            "::".join(w),
            f"{w[0]}.{w[1]} = {w[2]}.{w[3]}({w[4]})",
            f"2026-1{rng.randint(0, 2)}-0{rng.randint(1, 9)}T12:{rng.randint(10, 59)}:00.{rng.randint(100, 999)}Z",
            f"{w[0]}@{rng.randint(1, 20)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}",
            f"req_{some(rng, WORD, 24)}",
            f"toolu_{some(rng, WORD, 24)}",
            f"msg_{some(rng, WORD, 24)}",
        ]
    return out


@pytest.mark.parametrize("text", INNOCENT)
def test_innocent_text_is_left_alone(text: str) -> None:
    assert redact(text) == text
    assert redact(f"a\n{text}\nb") == f"a\n{text}\nb"


def test_generated_innocents_are_left_alone() -> None:
    texts = generated_innocents()
    assert len(texts) > 200
    assert [text for text in texts if redact(text) != text] == []
    assert redact("\n".join(texts)) == "\n".join(texts)


PARTS = (
    *(
        "password",
        "token=",
        "secret: ",
        "api_key",
        "Bearer ",
        "Authorization: ",
        "Cookie: a=",
        "://",
        "@",
        ":",
        "=",
        '"',
        "\\",
    ),
    *(
        "sk-",
        "ghp_",
        "xoxb-",
        "AKIA",
        "eyJ",
        ".",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "\n",
        " ",
        "\\n",
    ),
    *(
        "[redacted:token]",
        "[redacted:",
        "]",
        "пароль: ",
        "密码：",
        "k9Xw2Lm4Qa7Zt3Vb8Nc5Rd1",
        "0123456789abcdef" * 2,
        "--password ",
        "'",
    ),
    *(
        "hooks.slack.com/services/",
        "postgres://u:",
        "(",
        ")",
        "=>",
        "aws_secret_access_key",
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
    ),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=6)), max_size=14).map("".join))
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(), max_size=200))
def test_any_text_will_do_lone_surrogates_too(text: str) -> None:
    assert isinstance(redact(text + "\ud800password=\udfffk9Xw2Lm4Qa7"), str)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(sorted(set(TOKENS) - {"aws", "aws session"})),
    st.text(max_size=30),
    st.text(max_size=30),
    st.integers(0, 2**32),
)
def test_a_token_between_blanks_never_survives(name: str, before: str, after: str, seed: int) -> None:
    secret = TOKENS[name](random.Random(seed))
    clean = redact(f"{before} {secret} {after}")
    assert not [p for p in survivors(secret, clean) if p not in f"{before} {after}".casefold()]


HOSTILE = (
    "sk-",
    "sk-ant-",
    "eyJ",
    "eyJabcdefgh1.",
    "a",
    "-",
    "_.",
    "password=",
    "password:",
    'password="',
    "token ",
    "secret_key_",
    "api_key=\\",
    "://a:",
    "://a:b@",
    "@://",
    "Authorization: ",
    "Cookie: a=b;",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n",
    "-----END PRIVATE KEY-----",
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n",
    "пароль: ",
    "密码",
    "123456789:",
    "Bearer ",
    "hooks.slack.com/services/",
    "\\",
    '"',
    "[redacted:",
    "AKIA",
    "ASIAAAAAAAAAAAAAAAAA",
    "M.",
    "k",
    "key",
    "A1b2-",
)


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_long_text_of_a_hostile_pattern_is_done_in_the_end(unit: str) -> None:
    clean = redact(unit * (200_000 // len(unit)))
    same = redact(clean) == clean
    assert same  # bare: a difference of such texts takes longer to show than to find


def test_a_megabyte_of_all_hostile_patterns_is_done_in_the_end() -> None:
    rng = random.Random(4)
    text = "".join(rng.choices(HOSTILE, k=120_000))[:1_000_000]
    assert len(text) == 1_000_000
    clean = redact(text)
    same = redact(clean) == clean
    assert same


def test_twelve_megabytes_in_one_piece() -> None:
    secret = "ghp_" + some(random.Random(2), WORD, 36)
    text = "all work and no play makes a dull line of text\n" * 250_000
    assert redact(text) is text
    assert redact(text + secret).endswith("\n[redacted:github]")


def test_json_is_redacted_leaf_by_leaf_names_too() -> None:
    rng = random.Random(9)
    first, second, word = "ghp_" + some(rng, WORD, 36), "ghp_" + some(rng, WORD, 36), "hunter2-Xk9"
    value = {
        "note": f"use {first}",
        first: 1,
        second: [2, None, True, 1.5, (first,)],
        "nested": {"password": word, "token_count": 5, "api_key": some(rng, HEX, 32), "password_file": "/run/x1/y2"},
    }
    clean = redact_json(value)
    assert clean == {
        "note": "use [redacted:github]",
        "[redacted:github]": 1,
        "[redacted:github] (2)": [2, None, True, 1.5, ["[redacted:github]"]],
        "nested": {
            "password": "[redacted:password]",
            "token_count": 5,
            "api_key": "[redacted:key]",
            "password_file": "/run/x1/y2",
        },
    }
    assert redact_json(clean) == clean
