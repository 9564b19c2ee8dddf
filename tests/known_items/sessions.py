"""The sessions that the queries of `queries.jsonl` look for, all written for these tests.

Most share words with others, so that a query must tell them apart. `queries()` gives what is typed with the session
that must stand in the first row; `kind` says what is odd about it, `weak` why it is not found yet.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.builders import Turn, claude_session, codex_session

TABLE = Path(__file__).with_name("queries.jsonl")


class Told(NamedTuple):
    """One session: its day in 2026 (`06-11`), and what was said and done in it."""

    name: str
    project: str
    day: str
    turns: tuple[Turn, ...]
    client: str = "claude"
    branch: str = "main"
    title: str = ""


REVIEW = (
    "You review a change before it is merged. Look at error handling, rate limiting, input validation, logging and at whether "
    "the tests cover the failure. Be strict about secrets in the code and about queries that are put together from strings. "
    "Answer with a list of findings, the most severe first. The change is: "
)
"""A request that is pasted again and again: its words are those of no session."""

SESSIONS = (
    Told(
        "deals",
        "crm",
        "03-31",
        (
            (
                "сделай выгрузку сделок по менеджеру Ивановой за март",
                "Выгрузил 214 сделок Ивановой в отчёт-март.xlsx: клиент, сумма, стадия.",
                (
                    (
                        "Bash",
                        {"command": "python tools/export_deals.py --manager 17 --month 2026-03"},
                        "214 rows written",
                    ),
                ),
            ),
            ("добавь ещё колонку с договором", "Колонка «договор» добавлена, пустых значений шесть."),
        ),
        branch="feat/deals-export",
    ),
    Told(
        "deals-list",
        "crm",
        "05-20",
        (
            (
                "в списке сделок не работает сортировка по сумме",
                "Сортировка сравнивала суммы как строки; теперь как числа. Менеджеры видят крупные сделки сверху.",
            ),
        ),
    ),
    Told(
        "stock",
        "sklad",
        "04-12",
        (
            (
                "сверь остатки на складе с накладными, у логистов расхождение",
                "Расхождение в трёх накладных: «ёлка искусственная» посчитана дважды, двух паллет нет в системе.",
            ),
        ),
    ),
    Told(
        "letters",
        "sklad",
        "05-02",
        (
            (
                "напиши письмо поставщику Цукербергу, что паллеты пришли битые",
                "Письмо готово: перечислил битые паллеты и попросил замену до конца недели.",
            ),
        ),
    ),
    Told(
        "cluster",
        "infra",
        "04-22",
        (
            (
                "перенеси сервисы в кубернетес, Мюллер просил до пятницы",
                "Манифесты готовы, ingress настроен. Мюллеру отправил список того, что ещё живёт на старом сервере.",
                (
                    (
                        "Bash",
                        {"command": "kubectl apply -f deploy/ingress.yaml"},
                        "ingress.networking.k8s.io/web created",
                    ),
                ),
            ),
        ),
    ),
    Told(
        "double-charge",
        "billing",
        "02-14",
        (
            (
                "the payment webhook fires twice and customers were charged two times, ticket PAY-4711",
                "The handler is idempotent now: one key per event. I wrote ADR-016 about it and added a replay test.",
                (("Edit", {"file_path": "/home/dev/billing/src/webhooks/handler.ts"}, "updated"),),
            ),
        ),
        branch="fix/PAY-4711",
    ),
    Told(
        "refunds",
        "billing",
        "03-03",
        (
            (
                "customers ask for a refund and support types them by hand, see PAY-4812",
                "There is a refund command now; it asks for the payment id and shows the amount before it pays back.",
            ),
        ),
        branch="feat/refunds",
    ),
    Told(
        "config",
        "api",
        "01-19",
        (
            (
                "refactor parseConfig so that it reads the environment file as well",
                "The loader lives in src/settings/loader.py; parse_config takes a mapping, unknown keys are an error.",
                (("Write", {"file_path": "/home/dev/api/src/settings/loader.py"}, "written"),),
            ),
        ),
    ),
    Told(
        "flaky",
        "api",
        "02-25",
        (
            (
                "test_retries in tests/test_scheduler.py is flaky on CI, don't just run it again",
                "It's a race in the scheduler's teardown: the timer was cancelled after the loop had closed.",
                (("Bash", {"command": "pytest tests/test_scheduler.py -k retries --count 200"}, "200 passed"),),
            ),
        ),
    ),
    Told(
        "retries",
        "api",
        "03-17",
        (
            (
                "requests to the upstream should be retried with a growing delay",
                "Retries use exponential backoff with jitter, five attempts at most.",
                (("Edit", {"file_path": "/home/dev/api/src/http/retryPolicy.ts"}, "updated"),),
            ),
        ),
    ),
    Told(
        "upgrade",
        "api",
        "06-01",
        (("move us to Python 3.13.2", "Upgraded from 3.11.9; two dependencies needed newer wheels, all tests pass."),),
    ),
    Told(
        "invoices",
        "rechnung",
        "02-10",
        (
            (
                "Die Rechnungen müssen als PDF verschickt werden, bei Großkunden fehlt der Anhang",
                "Der Anhang kam nur bei Kunden ohne Steuernummer mit. Die Prüfung ist ergänzt, der Versand läuft.",
            ),
        ),
    ),
    Told(
        "connection",
        "rechnung",
        "03-08",
        (
            (
                "die Datenbankverbindung bricht jede Nacht ab",
                "Der Verbindungspool hielt tote Verbindungen; sie werden jetzt vor der Benutzung geprüft.",
            ),
        ),
    ),
    Told(
        "pupils",
        "ecole",
        "04-03",
        (
            (
                "les élèves ne reçoivent pas le courriel de confirmation de l'inscription",
                "L'envoi échouait quand l'adresse contenait un accent. Les courriels partent de nouveau.",
            ),
        ),
    ),
    Told(
        "timetable",
        "ecole",
        "04-18",
        (
            (
                "l'emploi du temps affiche les cours annulés",
                "Les cours annulés sont grisés, et les élèves voient la salle de remplacement.",
            ),
        ),
    ),
    Told(
        "orders",
        "tienda",
        "02-02",
        (
            (
                "los pedidos cancelados siguen apareciendo en el informe de ventas",
                "Filtré los pedidos cancelados en la consulta y añadí pruebas para las devoluciones.",
            ),
        ),
    ),
    Told(
        "prices",
        "tienda",
        "05-05",
        (
            (
                "los precios se redondean mal cuando el cliente paga en otra moneda",
                "El redondeo se hace al final, con dos decimales, según la moneda del pedido.",
            ),
        ),
    ),
    Told(
        "recipes",
        "ricette",
        "03-22",
        (
            (
                "aggiungi la ricerca per ingredienti e togli le ricette duplicate",
                "Ho aggiunto la ricerca; trentadue ricette erano doppie e sono state unite.",
            ),
        ),
    ),
    Told(
        "parcels",
        "kargo",
        "04-27",
        (
            (
                "kargoların takip numaraları İstanbul şubesinde yanlış görünüyor",
                "Numaralar sıfırla başlayınca kesiliyordu; artık metin olarak saklanıyor ve ışıklar yeşil.",
            ),
        ),
    ),
    Told(
        "exports-zh",
        "dingdan",
        "03-11",
        (("把订单导出改成按项目分组,退款的订单不要", "已经改好:导出按项目分组,退款订单不在里面。"),),
    ),
    Told(
        "login-zh",
        "denglu",
        "05-16",
        (("我们用youer接口登录,手机上总是超时", "超时是因为youer接口的证书过期,换了证书以后登录正常。"),),
    ),
    Told(
        "minutes-ja",
        "gijiroku",
        "02-20",
        (
            (
                "会議の議事録を検索できるようにしてください",
                "全文検索を追加しました。ユーザーごとに権限を確認して、Slackの通知も送ります。",
            ),
        ),
    ),
    Told(
        "printing-ja",
        "insatsu",
        "05-29",
        (
            (
                "請求書を印刷すると文字化けする",
                "フォントが埋め込まれていませんでした。PDFに日本語フォントを埋め込んで直しました。",
            ),
        ),
        client="codex",
    ),
    Told(
        "minutes-ko",
        "hoeuirok",
        "03-26",
        (("회의록을 검색해서 요약을 만들어 주세요", "회의록마다 요약을 세 줄로 만들고 담당자를 표시했습니다."),),
    ),
    Told(
        "payment-ko",
        "gyeolje",
        "04-30",
        (
            (
                "결제 화면에서 버튼이 두 번 눌립니다",
                "버튼을 한 번만 누를 수 있게 하고 서버에서도 중복 결제를 막았습니다.",
            ),
        ),
        client="codex",
    ),
    Told(
        "image-size",
        "builder",
        "01-28",
        (
            (
                "the docker build takes forty minutes, mostly the C++ toolchain",
                "A multi-stage build with a compiler cache: six minutes, and the image shrank by 60%.",
            ),
        ),
        client="codex",
    ),
    Told(
        "experiment",
        "shop",
        "04-09",
        (
            (
                "set up an a/b test for the colour of the checkout button",
                "Visitors are split by a hash of their id; the dashboard shows conversion per variant.",
            ),
        ),
    ),
    Told(
        "clock",
        "shop",
        "03-30",
        (
            (
                "orders of 2026-03-29 show up on the wrong day since the clocks changed",
                "Days were cut in server time. They are cut in the shop's time zone now, daylight saving included.",
            ),
        ),
    ),
    Told(
        "apostrophe",
        "shop",
        "05-12",
        (
            (
                "a customer named O'Brien can't sign in",
                "The name was escaped twice. Sign-in works for O'Brien and D'Angelo, and there's a test for quotes.",
            ),
        ),
    ),
    Told(
        "queue-board",
        "monitoring",
        "05-27",
        (
            (
                "make a dashboard for the depth of the job queue and page somebody above 10000",
                "Dashboard and alert are in monitoring/queue-depth.json; the pager fires after five minutes.",
            ),
        ),
        client="codex",
        title="Queue depth dashboard",
    ),
    Told(
        "notes",
        "monitoring",
        "06-03",
        (
            (
                "write the release notes for 2.4.0, mention Chaykovsky's fix of the sign-in page",
                "Release notes written; Chaykovsky is credited, and the upgrade steps come first.",
            ),
        ),
        client="codex",
    ),
    Told(
        "review-cart",
        "shop",
        "05-20",
        ((REVIEW + "the basket keeps its contents for a week.", "One finding: an emptied basket comes back."),),
    ),
    Told(
        "review-vat",
        "shop",
        "05-21",
        ((REVIEW + "value added tax by country.", "Two findings: Norway is missing, and rounding is done twice."),),
    ),
    Told(
        "review-photos",
        "shop",
        "05-22",
        ((REVIEW + "photographs are scaled on upload.", "No findings; the thumbnails could be sharper."),),
    ),
    Told(
        "bots",
        "shop",
        "04-02",
        (
            (
                "somebody hammers the sign-in page, thousands of attempts from a handful of addresses",
                "Sign-in has rate limiting now, five attempts a minute for each address, and the answer says when to try again.",
            ),
            (
                "does it count behind the proxy?",
                "Yes: the address is taken from the header that our own proxy sets, no other.",
            ),
            ("and mobile?", "Phones behind one carrier share an address, so the account is counted as well."),
        ),
    ),
    Told(
        "leaked",
        "infra",
        "03-19",
        (
            (
                "an old access token turned up in the history of the repository",
                "The token is revoked and the history rewritten. A check on every push refuses secrets in the code from now on.",
            ),
            ("who used it?", "Nobody: the provider's log shows no call with it since January."),
        ),
    ),
    Told(
        "warehouse",
        "infra",
        "02-05",
        (
            (
                "copy the tables to the new server at night, nobody may notice",
                "The copy ran from two to four. The warehouse migration is done, the old server is read-only.",
            ),
            ("how many rows?", "Forty-one million, counted on both sides; the sums of every column agree."),
        ),
        title="Warehouse migration",
    ),
    Told(
        "reports-late",
        "monitoring",
        "05-30",
        (
            (
                "the weekly reports are late",
                "Since the warehouse migration they ran in another zone; no hour is lost now.",
            ),
        ),
    ),
    Told(
        "labels",
        "kargo",
        "01-15",
        (
            (
                "the thermal printer smears the labels, parcels come back",
                "The thermal printer was set to a thicker foil. With the temperature of its thermal head lowered a test is crisp.",
            ),
        ),
    ),
    Told(
        "slow-tests",
        "kargo",
        "05-25",
        (
            (
                "which tests are slow, which tests fail?",
                "Eleven tests are slow, most need a thermal printer.",
            ),
        ),
    ),
    Told(
        "certificate",
        "api",
        "01-08",
        (
            (
                "all calls to the partner fail since this morning with a handshake error, nothing was deployed yesterday evening",
                "Their certificate expired at midnight, ours is fine; until they renew it calls are queued and repeated every ten "
                "minutes, nothing is lost, and the page for the status of the partners says so.",
            ),
            ("tell them", "The letter to the partner is in drafts, with the time and the serial number."),
        ),
    ),
    Told(
        "renewal",
        "infra",
        "05-28",
        (
            (
                "the nightly job for the domains is red",
                "It is green again: the name of a folder had changed.",
                (
                    ("Bash", {"command": "check --certificate a --warn-expired"}, "certificate expired: no"),
                    ("Bash", {"command": "check --certificate b --warn-expired"}, "certificate expired: no"),
                    ("Bash", {"command": "check --certificate c --warn-expired"}, "certificate expired: no"),
                ),
            ),
        ),
    ),
    Told(
        "pages",
        "api",
        "02-12",
        (
            (
                "the list of events skips rows when something is added meanwhile",
                "Offsets shift. With cursor pagination the next page begins behind the last row that was seen.",
            ),
            (
                "what about sorting by price?",
                "The price is part of the position then, ties are broken by the number of the event.",
            ),
            (
                "and the documents?",
                "Rewritten, with an example in three languages and a note on how long a position is valid.",
            ),
        ),
    ),
    Told(
        "editor",
        "shop",
        "05-18",
        (
            ("the caret jumps to the end while I type", "The cursor stays: the field is no longer drawn anew."),
            ("the page numbers are ugly", "The pagination has rounded buttons."),
            (
                "and larger letters",
                "Sixteen points, headings in proportion; long words are broken at the end of a line.",
            ),
        ),
    ),
    Told(
        "dark",
        "shop",
        "06-05",
        (("add a dark theme", "The theme follows the system setting; colours are variables in theme/tokens.css."),),
    ),
)


def session_id(name: str) -> str:
    """The id of a session in the transcripts."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"known item {name}"))


def build(home: Path) -> None:
    """Write all sessions under `home`."""
    for told in SESSIONS:
        start = f"2026-{told.day}T10:00:00+00:00"
        if told.client == "codex":
            key = session_id(told.name)
            codex_session(home, told.project, key, told.turns, start=start, branch=told.branch, name=told.title)
        else:
            key = session_id(told.name)
            claude_session(home, told.project, key, told.turns, start=start, branch=told.branch, title=told.title)


def queries() -> Iterator[dict[str, Any]]:
    """The table: query, lang, kind, `session` (its name), `session_ids`, and for some `weak`."""
    with TABLE.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            yield {**row, "session_ids": [session_id(row["session"])]}
