#!/usr/bin/env python3
"""Generate a synthetic HOME full of Claude Code and Codex transcripts.

Standard library only, and deterministic: the same arguments give the same
bytes. Every text comes from the word lists below; nothing is copied from a
real transcript. The record shapes follow what the two programs write.

  make_corpus.py --home DIR --preset S                 # 200 sessions, 100 MB
  make_corpus.py --home DIR --preset M                 # 2,000 sessions, 1 GB
  make_corpus.py --home DIR --preset L                 # 10,000 sessions, 5 GB
  make_corpus.py --home DIR --sessions 50 --bytes 20MB --langs en:60,ru:40
  make_corpus.py --home DIR --touch 5 --lines 20       # append to 5 sessions

Beside DIR/.claude and DIR/.codex it writes
  DIR/needles.jsonl  planted phrases: kind, agent, session_id, path, text, query
  DIR/corpus.json    what was made: counts, bytes, size percentiles, share by kind

A needle's `query` must find `session_id`; for the kinds stem_* the query is
another inflected form of the planted word, for `split` its two words stand in
two different records of one session, and for `absent` nothing must be found.
"""

# ruff: noqa: E501, SIM905  (records stand on one line as the clients write them; word lists as text take a fifth of the lines)
from __future__ import annotations

import argparse
import base64
import json
import math
import os
import random
import sys
from bisect import bisect
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import accumulate
from typing import Any

PRESETS = {"S": (200, 100_000_000), "M": (2_000, 1_000_000_000), "L": (10_000, 5_000_000_000)}
Values = dict[str, Any]
"""A session to be made, a needle, or what was made."""

SIGMA = 1.75  # of the log-normal session size
END = 1_793_491_200  # 2026-11-01T00:00:00Z, the newest moment in a corpus
SPAN = 240 * 86_400  # sessions are spread over so many seconds before END

# --------------------------------------------------------------------------
# Words
# --------------------------------------------------------------------------
EN_FUNC = """the to of and a in is it that for on with this as be are not we you i have will can but if so from at by
or an was all when which there do what then now no one has should let use into also just only out up more than them
they need here how why where after before because each any some its must may could would been being does did""".split()
EN_VERB = """add allow append apply ask assert assign attach avoid block boot break build bump cache call cancel catch
change check clean clear click clone close collapse collect combine commit compare compile compute configure confirm
connect copy crash create debug decide declare decode define delay delete deploy describe detect disable discover drop
edit emit enable encode end ensure escape exclude execute exit expand expect explain export expose extend extract fail
fetch filter find finish fix flush follow force format generate guard handle hide hold ignore implement import include
index infer inject insert inspect install invoke isolate iterate join jump keep kill launch learn leak limit link list
listen load lock log loop maintain map mark match measure merge migrate miss mock modify monitor mount move name
normalize notice open optimize order override parse pass patch persist pick pin ping plan poll post predict prepare
prevent print process profile prune publish pull push query queue raise rank reach read rebuild receive recover reduce
refactor refresh refuse register reject release reload remove rename render repair repeat replace report request reset
resolve restart restore restrict resume retry return reuse revert review rewrite rotate route run sample save scale
scan schedule scope search seed select send serialize serve set share shift show shrink shut sign simplify skip sleep
sort spawn split stage start stop store stream strip submit support suppress swap switch sync test throttle throw tidy
time toggle touch trace track transform trigger trim try tune type undo unify unlock update upgrade upload validate
verify wait walk warn watch wire work wrap write yield""".split()
EN_NOUN = """access account action adapter address agent alert alias anchor answer api app archive argument array
artifact asset attempt attribute audit auth author backend backup badge balance bank bar base batch bean benchmark
binary binding bit blob board body bot bound box branch bridge browser bucket budget buffer bug bundle button byte
cache calendar callback card cart case catalog cell chain channel character chart child chunk class client clock cloud
cluster code collection column command comment component condition config connection console constant container
content context contract controller cookie core corner cost counter coverage credential cron currency cursor customer
cycle daemon dashboard data database date day deadline debt default delivery dependency deposit depth design detail
device diagram dialog diff digest directory disk discount doc domain draft driver duplicate edge editor element email
endpoint engine entity entry enum environment epoch error event example exception export expression extension factory
failure feature feed field file filter fixture flag flow folder font footer form format fragment frame frontend
function gap gate gateway graph grid group guide handler hash header health heap helper history hook host hour icon
identifier image index input instance integer interface interval invoice issue item iterator job journal json key label
latency layer layout leaf lease ledger letter level library license limit line link listener loader locale lock log
logger login loop machine mail manager manifest map margin marker mask matrix member memory menu message method metric
middleware migration minute mirror mock mode model module month mutex namespace network node note notification number
object offer offset operation operator option order organization origin output owner package packet page pagination
panel parameter parent parser partition password patch path pattern payload payment permission person phase pipeline
pixel plan platform plugin point policy pool port portal position prefix preview price priority probe process product
profile project prompt property protocol provider proxy publisher quarter query question queue quota range rate reader
reason receipt record recovery redirect reference refund region registry regression release renderer replica report
repository request resource response result retry revision risk role root route router row rule runner runtime sample
scanner schedule schema scheme scope score screen script search second secret section sector security segment selector
semaphore sender sensor sequence server service session setting shard shape shell shipment signal signature site size
slot snapshot socket source spec stack stage standard state statement status step stock storage store stream string
stub style subject subscription suffix suite summary supplier surface symbol syntax system table tag target task team
template tenant term terminal test text theme thread threshold ticket timeline timeout timer title token tool tooltip
topic total trace traffic transaction transcript transfer tree trigger tuple turn type unit update upload user utility
value variable vector vendor version view visitor volume wallet warehouse warning watcher webhook week widget width
window wizard word worker workflow workspace wrapper writer year zone""".split()
EN_ADJ = """active actual atomic automatic available average bad basic big blank broken clean clear cold common complete
complex concurrent correct critical current custom dead deep default different direct dirty distinct double dry dynamic
early eager empty exact explicit external extra fast final first flaky fresh full generic global good green half happy
hard heavy hidden high hot idempotent idle implicit incremental initial inner internal invalid large last late lazy
legacy light local long loose low main major manual minimal minor missing mutable narrow native nested new noisy null
old opaque open optional outer overall parallel partial pending permanent plain portable possible previous primary
private proper public pure quick random rare raw ready recent recursive redundant related reliable remote robust rough
safe same second secure separate serial shallow short silent similar simple single slow small smart solid sparse special
specific stable stale static strict strong subtle synchronous temporary thin tight tiny total transient trivial unique
unsafe unstable unused upper upstream useful valid verbose visible volatile weak whole wide wrong""".split()
RU_FUNC = """и в на не что с по как это для из а но же то за у к от так мы вы он она они его её их все если или уже при
до бы чтобы когда только ещё нет да тут там где потом теперь сейчас надо нужно можно нельзя есть был была было были будет
этот эта эти тот та те мне нам вам себя который которая которые без через после перед между под над про ли пока очень""".split()
RU_NOUN_M = """файл запрос ответ сервер проект тест отчёт заказ клиент модуль индекс скрипт журнал пакет класс метод объект
список документ договор контракт логист менеджер водитель рейс склад платёж перевод курс график план рекап транскрипт
агент хук терминал конфиг параметр аргумент результат поиск фильтр канал поток процесс релиз коммит пул разбор парсер
импорт экспорт шаблон формат экран браузер токен ключ пароль доступ адрес номер тариф срок баланс остаток бот чат""".split()
RU_NOUN_F = """выгрузка таблица сделка задача ошибка сессия ветка папка строка колонка карточка проверка настройка сборка
команда кнопка страница заявка доставка оплата скидка программа очередь версия функция миграция интеграция операция
выборка загрузка перевозка накладная справка сводка рассылка подписка переписка формула ячейка база схема форма система""".split()
RU_NOUN_N = """поле значение сообщение окно время дело место имя число слово письмо решение изменение обновление условие
приложение хранилище расписание содержание исключение состояние действие событие уведомление соединение ограничение""".split()
RU_ADJ = """новый старый последний первый второй правильный полный пустой общий готовый постоянный уволенный вчерашний
сегодняшний текущий следующий нужный важный быстрый медленный большой маленький внешний внутренний открытый закрытый
архивный рабочий тестовый временный главный отдельный одинаковый свежий битый лишний верный точный русский местный""".split()
RU_VERB = """сдела провер найд добав удал исправ обнов запуст останов прочита запис сохран загруз выгруз отправ получ созд
собер разбер сравн посчита измер откро закро восстанов перенес переимен объясн покаж подключ отключ настро запрос
выбер отфильтр отсорт сгруппир скопир поменя замен провед подготов описа спрос ответ""".split()
DE_FUNC = """der die das und in zu den ist nicht mit für auf ein eine es wir ich sie dass auch als an nach wie im dem noch
nur wenn aber kann hat wird oder aus bei um so dann hier jetzt schon mehr muss soll dies vom zum zur über""".split()
DE_NOUN = """Datei Anfrage Antwort Server Projekt Test Bericht Auftrag Kunde Modul Index Skript Protokoll Paket Klasse
Methode Liste Dokument Vertrag Lager Zahlung Tabelle Aufgabe Fehler Sitzung Zweig Ordner Zeile Spalte Karte Prüfung
Einstellung Schaltfläche Seite Lieferung Rabatt Warteschlange Version Funktion Schnittstelle Datenbank Übersicht Zeit
Nachricht Fenster Änderung Lösung Bedingung Anwendung Speicher Zustand Ereignis Benachrichtigung Verbindung Grenze""".split()
DE_VERB = """prüf such änder lösch speicher lad schick starte stopp lies schreib bau teste zeig sortier filter kopier
verschieb erklär verbinde trenn zähl vergleich repariere erneuer öffne schließ""".split()
ZH = """我们 这个 那个 会话 文件 请求 响应 服务器 项目 测试 报告 订单 客户 模块 索引 脚本 日志 数据 数据库 表格 任务 错误 分支
目录 查询 结果 配置 参数 命令 按钮 页面 支付 折扣 队列 版本 函数 接口 系统 消息 窗口 修改 方案 条件 应用 存储 状态 事件 通知
连接 限制 需要 可以 不能 已经 还是 然后 现在 检查 添加 删除 修复 更新 启动 停止 读取 写入 保存 加载 发送 接收 创建 打开 关闭
恢复 比较 计算 解释 排序 过滤 复制 重命名 最新 旧的 完整 空的 正确 快速 缓慢 重要 本地 远程 的 了 在 是 和 有 把 被 到 从 对
为什么 怎么 什么 哪里 之前 之后 昨天 今天 上次 全部 一个 两个 每次 如果 因为 所以 但是 而且""".split()
JA = """この その ファイル リクエスト 応答 サーバー プロジェクト テスト 報告 注文 顧客 モジュール 索引 スクリプト ログ データ
表 タスク エラー ブランチ フォルダ 検索 結果 設定 引数 コマンド ボタン ページ 支払い 割引 キュー 版 関数 画面 通知 接続 制限
は が を に で と も の から まで する した して ください 確認 追加 削除 修正 更新 起動 停止 読み込み 書き込み 保存 送信 作成
開く 閉じる 復元 比較 計算 説明 昨日 今日 前回 全部 です ます ました ません""".split()

EXT = ["py", "ts", "tsx", "go", "rs", "ex", "md", "json", "yaml", "sql", "sh", "css"]
TOOLS = (
    ["Bash"] * 38
    + ["Read"] * 27
    + ["Edit"] * 14
    + ["Grep"] * 9
    + ["Glob"] * 3
    + ["Write"] * 4
    + ["Task"] * 1
    + ["WebFetch"] * 2
    + ["TodoWrite"] * 3
    + ["mcp__browser__snapshot"] * 2
)
MODELS = ["claude-opus-4-6", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"]


def en_forms(w: str, kind: str) -> list[str]:
    if kind == "v":
        e = w.endswith("e")
        return [w, w + "s", w + ("d" if e else "ed"), (w[:-1] if e else w) + "ing"]
    if kind == "n":
        return [w, w[:-1] + "ies" if w.endswith("y") and w[-2] not in "aeo" else w + ("es" if w[-1] in "sxh" else "s")]
    return [w, w + "ly"] if not w.endswith("y") else [w]


def ru_noun(w: str, g: str) -> list[str]:
    """All case forms of a noun; regular enough for a search to need stems."""
    if g == "m":
        if w[-1] in "ьй":
            s = w[:-1]
            return [w, s + "я", s + "ю", s + "ем", s + "е", s + "и", s + "ей", s + "ям", s + "ями", s + "ях"]
        return [w, w + "а", w + "у", w + "ом", w + "е", w + "ы", w + "ов", w + "ам", w + "ами", w + "ах"]
    if g == "f":
        s = w[:-1]
        if w.endswith("ия"):
            return [w, s + "и", s + "ю", s + "ей", s + "й", s + "ям", s + "ями", s + "ях"]
        if w.endswith("ая"):
            s = w[:-2]
            return [w, s + "ой", s + "ую", s + "ые", s + "ых", s + "ым", s + "ыми"]
        pl = "и" if s[-1] in "кгхжшчщ" else "ы"
        out = [w, s + pl, s + "е", s + "у", s + "ой", s + "ам", s + "ами", s + "ах"]
        return out + ([s[:-1] + "ок"] if s[-1] == "к" else [s])
    s = w[:-1]
    if w.endswith("ие"):
        return [w, s + "я", s + "ю", s + "ем", s + "и", s + "й", s + "ям", s + "ями", s + "ях"]
    return [w, s + "а", s + "у", s + "ом", s + "е", s + "ам", s + "ами", s + "ах"]


def ru_adj(w: str) -> list[str]:
    s = w[:-2]
    return [
        w,
        s + "ого",
        s + "ому",
        s + "ым",
        s + "ом",
        s + "ая",
        s + "ой",
        s + "ую",
        s + "ое",
        s + "ые",
        s + "ых",
        s + "ыми",
    ]


def zipf(words: list[str], rng: random.Random, s: float = 1.05) -> tuple[list[str], list[float]]:
    words = list(dict.fromkeys(words))
    rng.shuffle(words)
    return words, list(accumulate(1 / (i + 2.7) ** s for i in range(len(words))))


def esc(s: str) -> bytes:
    return json.dumps(s, ensure_ascii=False)[1:-1].encode()


class Pools:
    """Blocks made once from the seed and then reused; all JSON-escaped bytes."""

    def __init__(self, seed: int):
        r = random.Random(f"pools-{seed}")
        self.words: dict[str, tuple[list[str], list[float]]] = {}
        content = (
            [f for w in EN_VERB for f in en_forms(w, "v")]
            + [f for w in EN_NOUN for f in en_forms(w, "n")]
            + [f for w in EN_ADJ for f in en_forms(w, "a")]
        )
        # compound identifiers make the long tail that real transcripts have
        ids = []
        for _ in range(60_000):
            a, b, c = r.choice(EN_VERB), r.choice(EN_NOUN), r.choice(EN_NOUN)
            k = r.randrange(6)
            ids.append(
                (
                    f"{a}_{b}",
                    f"{a}{b.title()}",
                    f"{b.title()}{c.title()}",
                    f"{a}_{b}_{c}",
                    f"{a}{b.title()}{c.title()}",
                    f"{b}-{c}",
                )[k]
            )
        self.ids = zipf(ids, r, 0.9)
        cw, _ = zipf(content, r)
        self.words["en"] = zipf_mix(EN_FUNC, cw)
        ru = (
            [f for w in RU_NOUN_M for f in ru_noun(w, "m")]
            + [f for w in RU_NOUN_F for f in ru_noun(w, "f")]
            + [f for w in RU_NOUN_N for f in ru_noun(w, "n")]
            + [f for w in RU_ADJ for f in ru_adj(w)]
            + [
                w + e
                for w in RU_VERB
                for e in ("ть", "л", "ла", "ли", "ю", "ем", "ете", "ят", "й", "йте", "но", "вший")
            ]
        )
        cw, _ = zipf(ru, r)
        self.words["ru"] = zipf_mix(RU_FUNC, cw)
        de = (
            [w + e for w in DE_NOUN for e in ("", "n", "s", "en")]
            + [w + e for w in DE_VERB for e in ("en", "t", "te", "est")]
            + [a + b.lower() for a in DE_NOUN for b in r.sample(DE_NOUN, 12)]
        )
        cw, _ = zipf(de, r)
        self.words["de"] = zipf_mix(DE_FUNC, cw)
        self.words["zh"] = zipf(ZH, r, 0.8)
        self.words["ja"] = zipf(JA, r, 0.8)
        self.prose = {lang: self._prose(lang, r) for lang in self.words}
        self.files = [self._file(r) for _ in range(260)]
        self.logs = self._logs(r)
        raw = r.randbytes(3_000_000)
        self.b64 = base64.b64encode(raw)

    def _prose(self, lang: str, r: random.Random) -> list[bytes]:
        """A long list of escaped sentences; a text is a run of them."""
        words, cum = self.words[lang]
        ids, icum = self.ids
        sep = "" if lang in ("zh", "ja") else " "
        out = []
        for _ in range(24_000):
            n = 4 + int(r.expovariate(1 / 9))
            t = r.choices(words, cum_weights=cum, k=n)
            if r.random() < 0.35:
                t[r.randrange(n)] = f"`{ids[bisect(icum, r.random() * icum[-1]) % len(ids)]}`"
            s = sep.join(t)
            s = s[:1].upper() + s[1:] + ("。" if sep == "" else r.choice([".", ".", ".", ":", "?", "!"]))
            if r.random() < 0.12:
                s = r.choice(["\n\n", "\n- ", "\n- ", "\n1. ", "\n\n## "]) + s
            out.append(esc(s))
        return out

    def _file(self, r: random.Random) -> tuple[bytes, list[bytes], list[bytes]]:
        ids, icum = self.ids
        name = "/".join(r.choice(EN_NOUN) for _ in range(r.randint(1, 4))) + "." + r.choice(EXT)
        n = min(4000, int(r.lognormvariate(5.2, 1.0)) + 10)
        pick = r.choices(ids, cum_weights=icum, k=n * 4)
        plain, numbered = [], []
        for i in range(n):
            a, b, c, d = pick[4 * i : 4 * i + 4]
            ind = "    " * r.choice((0, 1, 1, 2, 2, 3))
            k = r.randrange(12)
            s = (
                f"def {a}({b}: str, {c}: int = {r.randrange(100)}) -> {d}:",
                f"{ind}if {a} is not None and {b}.{c}({d}):",
                f"{ind}return {a}({b}, {c}={d})",
                f'{ind}const {a} = await {b}.{c}("{d}");',
                f"{ind}self.{a} = {b}[{c}]",
                f"{ind}# {' '.join(r.choices(self.words['en'][0], cum_weights=self.words['en'][1], k=8))}",
                "",
                f'{ind}raise {a}(f"{b} {{{c}}} failed")',
                f'import {{ {a}, {b} }} from "./{c}";',
                f'{ind}"{a}": "{b}",',
                f"{ind}for {a} in {b}.{c}:",
                f'{ind}assert {a} == {b}.{c}, "{d}"',
            )[k]
            e = esc(s)
            plain.append(e)
            numbered.append(f"{i + 1:6d}".encode() + "→".encode() + e)
        return name.encode(), plain, numbered

    def _logs(self, r: random.Random) -> list[bytes]:
        ids, icum = self.ids
        out = []
        pick = r.choices(ids, cum_weights=icum, k=120_000)
        for i in range(40_000):
            a, b, c = pick[3 * i : 3 * i + 3]
            k = r.randrange(10)
            s = (
                f"tests/{a}/test_{b}.py::test_{c} PASSED",
                f"{r.randrange(24):02d}:{r.randrange(60):02d}:{r.randrange(60):02d} INFO {a}.{b} {c} took {r.randrange(9999)}ms",
                f"src/{a}/{b}.ts:{r.randrange(2000)}:{r.randrange(80)}: error TS{r.randrange(1000, 9999)}: {c} is not assignable",
                f"-rw-r--r--  1 user user {r.randrange(99999):6d} Oct {r.randrange(1, 31):2d} 12:{r.randrange(60):02d} {a}.{b}",
                f"{r.getrandbits(28):07x} {a} {b} {c}",
                f"+    {a}.{b}({c})",
                f"-    {b}.{a}({c})",
                f'  File "/srv/{a}/{b}.py", line {r.randrange(900)}, in {c}',
                f"./{a}/{b}/{c}.{r.choice(EXT)}",
                f'{{"{a}":{r.randrange(99999)},"{b}":"{c}","id":"{r.getrandbits(64):016x}"}}',
            )[k]
            out.append(esc(s))
        return out

    def text(self, r: random.Random, lang: str, target: int) -> bytes:
        p = self.prose[lang]
        got, out, i = 0, [], r.randrange(len(p))
        while got < target:
            s = p[i]
            out.append(s)
            got += len(s) + 1
            i = (i * 5 + 7919) % len(p) if r.random() < 0.3 else (i + 1) % len(p)
        return (b"" if lang in ("zh", "ja") else b" ").join(out)


def zipf_mix(func: list[str], content: list[str]) -> tuple[list[str], list[float]]:
    """Function words first, content words after: one Zipf curve over both."""
    words = list(dict.fromkeys(func + content))
    return words, list(accumulate(1 / (i + 2.7) ** 1.05 for i in range(len(words))))


# --------------------------------------------------------------------------
# Needles
# --------------------------------------------------------------------------
SYL = [
    "zor",
    "qua",
    "vli",
    "brae",
    "mux",
    "tel",
    "kri",
    "opho",
    "dran",
    "ulv",
    "xan",
    "gre",
    "syl",
    "wob",
    "fend",
    "jax",
]
SYL_RU = ["жвар", "кло", "мугр", "щеп", "фыль", "дзын", "хрум", "тюк", "вздор", "бряк", "юрт", "эмб"]
HAN = "鲸落琥珀霁墨鸢徽麒麟瀚澜嵩岚曦珩璟烨"
KATA = "ゾムグヌヴィペギュリャロヒ"
KINDS = [
    "user",
    "assistant",
    "thinking",
    "tool_input",
    "tool_result",
    "subagent",
    "compact_summary",
    "codex_user",
    "codex_assistant",
    "codex_output",
    "stem_en",
    "stem_ru",
    "zh",
    "ja",
    "split",
    "big_line",
]


def needle(kind: str, n: int, r: random.Random) -> Values:
    w = "".join(r.choice(SYL) for _ in range(3)) + f"{n:x}".translate(str.maketrans("0123456789", "ghijklmnop"))
    v = "".join(r.choice(SYL) for _ in range(2)) + "et"
    if kind == "stem_en":
        return {"text": f"we {w}ated the {v} twice", "query": f"{w}ating"}
    if kind == "stem_ru":
        s = "".join(r.choice(SYL_RU) for _ in range(2)) + "".join("абвгдежзик"[int(c)] for c in str(n)) + "ов"
        return {"text": f"сделай выгрузку по {s}ой за март", "query": f"{s}ую"}
    if kind == "zh":
        s = "".join(r.choice(HAN) for _ in range(4))
        return {"text": f"我们需要把{s}的订单导出", "query": s}
    if kind == "ja":
        s = "".join(r.choice(KATA) for _ in range(6))
        return {"text": f"昨日の{s}を確認してください", "query": s}
    if kind == "split":
        return {"text": w, "text2": v + w[::-1], "query": f"{w} {v + w[::-1]}"}
    if kind == "tool_input":
        return {"text": f"/srv/{w}/{v}.py", "query": w}
    return {"text": f"{w} {v}", "query": f"{w} {v}"}


# --------------------------------------------------------------------------
# Sessions
# --------------------------------------------------------------------------
def iso(t: float) -> str:
    d = int(t)
    days, s = divmod(d, 86_400)
    y, m, dd = civil(days)
    return f"{y:04d}-{m:02d}-{dd:02d}T{s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}.{int((t - d) * 1000):03d}Z"


def civil(z: int) -> tuple[int, int, int]:
    z += 719_468
    era = z // 146_097
    doe = z - era * 146_097
    yoe = (doe - doe // 1460 + doe // 36_524 - doe // 146_096) // 365
    doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
    mp = (5 * doy + 2) // 153
    d = doy - (153 * mp + 2) // 5 + 1
    m = mp + 3 if mp < 10 else mp - 9
    return yoe + era * 400 + (m <= 2), m, d


def uid(r: random.Random, v: int = 4) -> str:
    h = f"{r.getrandbits(128):032x}"
    return f"{h[:8]}-{h[8:12]}-{v}{h[13:16]}-a{h[17:20]}-{h[20:]}"


def b62(r: random.Random, n: int) -> str:
    return f"{r.getrandbits(n * 4):0{n}x}"


class Session:
    def __init__(self, P: Pools, r: random.Random, lang: str, start: float, cwd: str, sid: str | None = None):
        self.P, self.r, self.lang, self.t, self.cwd = P, r, lang, start, cwd
        self.sid = sid or uid(r)
        self.out: list[bytes] = []
        self.size = 0
        self.lines = 0
        self.plant: list[Values] = []
        self.share: dict[str, int] = {}

    def emit(self, b: bytes, kind: str = "other") -> None:
        self.out.append(b)
        self.size += len(b) + 1
        self.lines += 1
        self.share[kind] = self.share.get(kind, 0) + len(b) + 1

    def start(self) -> None:
        raise NotImplementedError

    def body(self, budget: int) -> None:
        raise NotImplementedError

    def turn(self, budget: int) -> None:
        raise NotImplementedError

    def tick(self, mean: float = 6.0) -> str:
        self.t += 0.05 + self.r.expovariate(1 / mean)
        return iso(self.t)

    def take(self, *kinds: str) -> bytes:
        """The text of a needle waiting for a place of this kind, or nothing."""
        for n in self.plant:
            if n["kind"] in kinds and not n.get("done"):
                n["done"] = True
                n["line"] = self.lines
                return b" " + esc(n["text"]) + b" "
            if n["kind"] == "split" and "user" in kinds and n.get("done") and not n.get("done2"):
                n["done2"] = True
                return b" " + esc(n["text2"]) + b" "
        return b""

    def words(self, mean: int) -> bytes:
        return self.P.text(self.r, self.lang, max(12, int(self.r.lognormvariate(math.log(mean), 0.9))))

    def en(self, mean: int) -> bytes:
        return self.P.text(self.r, "en", max(12, int(self.r.lognormvariate(math.log(mean), 0.9))))

    def log_slice(self, n: int) -> bytes:
        i = self.r.randrange(len(self.P.logs))
        s = self.P.logs[i : i + n]
        s.append(b62(self.r, 40).encode())
        return b"\\n".join(s)

    def result_lines(self) -> int:
        return min(6000, max(1, int(self.r.lognormvariate(2.6, 1.25))))


class Claude(Session):
    version = "2.1.39"
    agent_id = ""
    sidechain = False

    def start(self) -> None:
        r = self.r
        self.branch = r.choice(["main", "main", "dev", f"feat/{r.choice(EN_NOUN)}"])
        self.slug = f"{r.choice(EN_ADJ)}-{r.choice(EN_VERB)}ing-{r.choice(EN_NOUN)}"
        self.model = r.choice(MODELS)
        self.parent: str | None = None
        self.since_compact = 0
        self.hooks = r.random() < 0.5
        self._head()

    def _head(self) -> None:
        self.pre = (
            f'"isSidechain":{"true" if self.sidechain else "false"},"userType":"external","cwd":{json.dumps(self.cwd)},'
            f'"sessionId":"{self.sid}","version":"{self.version}","gitBranch":"{self.branch}",'
            + (f'"agentId":"{self.agent_id}",' if self.agent_id else "")
            + f'"slug":"{self.slug}",'
        ).encode()

    def rec(self, mid: bytes, tail: bytes = b"", kind: str = "other") -> str:
        u = uid(self.r)
        par = b'"' + self.parent.encode() + b'"' if self.parent else b"null"
        self.emit(
            b'{"parentUuid":'
            + par
            + b","
            + self.pre
            + mid
            + b',"uuid":"'
            + u.encode()
            + b'","timestamp":"'
            + self.tick().encode()
            + b'"'
            + tail
            + b"}",
            kind,
        )
        self.parent = u
        return u

    def snapshot(self) -> None:
        r = self.r
        m = uid(r)
        files = ",".join(
            f'"{self.P.files[r.randrange(len(self.P.files))][0].decode()}":{{"backupFileName":"{b62(r, 16)}@v{k + 1}","version":{k + 1},"backupTime":"{iso(self.t)}"}}'
            for k in range(r.randrange(8))
        )
        self.emit(
            f'{{"type":"file-history-snapshot","messageId":"{m}","snapshot":{{"messageId":"{m}","trackedFileBackups":{{{files}}},"timestamp":"{iso(self.t)}"}},"isSnapshotUpdate":false}}'.encode(),
            "snapshot",
        )

    def prompt(self) -> None:
        r = self.r
        self.t += r.expovariate(1 / 180)
        x = r.random()
        txt = self.words(180) + self.take("user", "stem_en", "stem_ru", "zh", "ja", "split")
        if x < 0.06:  # a picture pasted into the prompt
            n = int(min(2_400_000, r.lognormvariate(11.8, 1.0)))
            i = r.randrange(1000)
            body = (
                b'[{"type":"text","text":"'
                + txt
                + b'"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"'
                + self.P.b64[i : i + n]
                + b'"}}]'
            )
            self.rec(
                b'"type":"user","message":{"role":"user","content":' + body + b"}", b',"imagePasteIds":[1]', "blob"
            )
        elif x < 0.12:  # a slash command and what it printed
            self.rec(
                b'"type":"user","message":{"role":"user","content":"<command-name>/'
                + r.choice(EN_VERB).encode()
                + b"</command-name>\\n<command-message></command-message>\\n<command-args>"
                + txt
                + b'</command-args>"}',
                kind="user",
            )
        else:
            self.rec(
                b'"type":"user","message":{"role":"user","content":"' + txt + b'"}',
                b',"thinkingMetadata":{"maxThinkingTokens":31999},"todos":[],"permissionMode":"default"',
                "user",
            )
        if r.random() < 0.3:
            self.rec(
                b'"type":"attachment","attachment":{"type":"nested_memory","path":"'
                + self.cwd.encode()
                + b'/CLAUDE.md","content":"'
                + self.en(1500)
                + b'"}',
                kind="attachment",
            )
        self.snapshot()

    def assistant(self, block: bytes, kind: str, stop: bytes = b"null") -> None:
        r = self.r
        c = r.randrange(170_000)
        self.rec(
            b'"message":{"model":"'
            + self.model.encode()
            + b'","id":"'
            + self.mid
            + b'","type":"message","role":"assistant","content":['
            + block
            + b'],"stop_reason":'
            + stop
            + b',"stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":'
            + str(c // 9).encode()
            + b',"cache_read_input_tokens":'
            + str(c).encode()
            + b',"cache_creation":{"ephemeral_5m_input_tokens":'
            + str(c // 9).encode()
            + b',"ephemeral_1h_input_tokens":0},"output_tokens":'
            + str(r.randrange(1, 900)).encode()
            + b',"service_tier":"standard","inference_geo":"global"}},"requestId":"req_'
            + self.req
            + b'","type":"assistant"',
            kind=kind,
        )

    def tool(self) -> None:
        r, P = self.r, self.P
        name = r.choice(TOOLS)
        tid = b"toolu_01" + b62(r, 22).encode()
        f = P.files[r.randrange(len(P.files))]
        path = self.cwd.encode() + b"/" + f[0]
        if name in ("Read", "Edit", "Write") and (planted := self.take("tool_input")):
            path = planted.strip()
        wrap = False
        extra = b""
        if name == "Bash":
            inp = (
                b'"command":"'
                + P.logs[r.randrange(len(P.logs))][:120].rsplit(b"\\", 1)[0]
                + b'","description":"'
                + self.en(50)
                + b'"'
            )
            res = self.log_slice(self.result_lines())
            extra = (
                b'{"stdout":"' + res + b'","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}'
            )
        elif name == "Read":
            a = r.randrange(len(f[1]))
            if r.random() < 0.6:
                a = 0
            b = min(len(f[1]), a + self.result_lines() * 8)
            inp = b'"file_path":"' + path + b'"'
            res = b"\\n".join(f[2][a:b])
            extra = (
                b'{"type":"text","file":{"filePath":"'
                + path
                + b'","content":"'
                + b"\\n".join(f[1][a:b])
                + b'","numLines":'
                + str(b - a).encode()
                + b',"startLine":'
                + str(a + 1).encode()
                + b',"totalLines":'
                + str(len(f[1])).encode()
                + b"}}"
            )
        elif name in ("Edit", "Write"):
            a = r.randrange(len(f[1]))
            old, new = b"\\n".join(f[1][a : a + 4]), b"\\n".join(f[1][a : a + r.randint(2, 12)]) + b" # " + self.en(40)
            inp = (
                b'"file_path":"'
                + path
                + b'","old_string":"'
                + old
                + b'","new_string":"'
                + new
                + b'","replace_all":false'
                if name == "Edit"
                else b'"file_path":"' + path + b'","content":"' + b"\\n".join(f[1][:200]) + b'"'
            )
            res = b"The file " + path + b" has been updated successfully."
            whole = b"\\n".join(f[1][:1200])
            extra = (
                b'{"filePath":"'
                + path
                + b'","oldString":"'
                + old
                + b'","newString":"'
                + new
                + b'","originalFile":"'
                + whole
                + b'","structuredPatch":[{"oldStart":'
                + str(a).encode()
                + b',"oldLines":4,"newStart":'
                + str(a).encode()
                + b',"newLines":6,"lines":["'
                + old
                + b'","'
                + new
                + b'"]}],"userModified":false,"replaceAll":false}'
            )
        elif name in ("Grep", "Glob"):
            inp = (
                b'"pattern":"'
                + r.choice(P.ids[0]).encode()
                + b'","path":"'
                + self.cwd.encode()
                + b'","output_mode":"content"'
            )
            res = self.log_slice(self.result_lines())
            extra = b'{"mode":"content","numFiles":0,"filenames":[],"content":"' + res + b'","numLines":9}'
        elif name == "TodoWrite":
            inp = (
                b'"todos":[{"content":"'
                + self.en(60)
                + b'","status":"in_progress","activeForm":"'
                + self.en(40)
                + b'"},{"content":"'
                + self.en(60)
                + b'","status":"pending","activeForm":"'
                + self.en(40)
                + b'"}]'
            )
            res = b"Todos have been modified successfully."
            extra = b'{"oldTodos":[],"newTodos":[]}'
        elif name == "mcp__browser__snapshot":
            n = int(min(2_400_000, r.lognormvariate(11.6, 1.3)))
            inp = b'"url":"http://localhost:3000/' + f[0] + b'"'
            wrap = True
            body = (
                b'{"type":"text","text":"'
                + self.log_slice(30)
                + b'"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"'
                + P.b64[r.randrange(999) :][:n]
                + b'"}}'
            )
            res = b"[" + body + b"]"
            extra = b"[" + body + b"]" if r.random() < 0.5 else b""
        else:
            inp = (
                b'"description":"'
                + self.en(40)
                + b'","prompt":"'
                + self.words(600)
                + b'","subagent_type":"general-purpose"'
            )
            res = self.en(2500)
            extra = (
                b'{"status":"completed","prompt":"","agentId":"a'
                + b62(r, 6).encode()
                + b'","content":[],"totalDurationMs":41000}'
            )
        self.assistant(
            b'{"type":"tool_use","id":"'
            + tid
            + b'","name":"'
            + name.encode()
            + b'","input":{'
            + inp
            + b'},"caller":{"type":"direct"}}',
            "tool_use",
            b'"tool_use"',
        )
        if self.hooks and r.random() < 0.7:
            for _ in range(r.choice((1, 2, 2, 3))):
                self.rec(
                    b'"type":"progress","data":{"type":"hook_progress","hookEvent":"PostToolUse","hookName":"PostToolUse:'
                    + name.encode()
                    + b'","command":"${CLAUDE_PLUGIN_ROOT}/scripts/capture.sh"},"parentToolUseID":"'
                    + tid
                    + b'","toolUseID":"'
                    + tid
                    + b'"',
                    kind="progress",
                )
        if name == "Bash" and r.random() < 0.15:
            for k in range(r.randint(1, 6)):
                self.rec(
                    b'"type":"progress","data":{"type":"bash_progress","output":"'
                    + self.log_slice(5)
                    + b'","fullOutput":"'
                    + self.log_slice(12)
                    + b'","elapsedTimeSeconds":'
                    + str(2 + k).encode()
                    + b',"totalLines":'
                    + str(30 * k).encode()
                    + b'},"toolUseID":"bash-progress-'
                    + str(k).encode()
                    + b'","parentToolUseID":"'
                    + tid
                    + b'"',
                    kind="progress",
                )
        add = self.take("tool_result", "big_line")
        if add and not wrap:
            res += b"\\n" + add
            if any(n["kind"] == "big_line" and n.get("line") == self.lines for n in self.plant):
                res = b"\\n".join(P.logs[:14_000]) + res + b"\\n".join(P.logs[14_000:18_000])
        elif add:
            res = b'[{"type":"text","text":"' + add + b'"},' + res[1:]
        err = b',"is_error":true' if r.random() < 0.05 else b""
        self.rec(
            b'"type":"user","message":{"role":"user","content":[{"tool_use_id":"'
            + tid
            + b'","type":"tool_result","content":'
            + (res if wrap else b'"' + res + b'"')
            + err
            + b"}]}",
            (b',"toolUseResult":' + extra if extra and not self.sidechain else b"")
            + b',"sourceToolAssistantUUID":"'
            + (self.parent or "").encode()
            + b'"',
            "tool_result",
        )

    def turn(self, budget: int) -> None:
        r = self.r
        self.prompt()
        n = min(80, int(r.expovariate(1 / 9)) + 1)
        for _k in range(n):
            self.mid = b"msg_01" + b62(r, 22).encode()
            self.req = b"011C" + b62(r, 20).encode()
            if r.random() < 0.16:
                self.assistant(
                    b'{"type":"thinking","thinking":"'
                    + self.en(700)
                    + self.take("thinking")
                    + b'","signature":"'
                    + self.P.b64[r.randrange(9999) :][: r.randrange(200, 900)]
                    + b'"}',
                    "thinking",
                )
            if r.random() < 0.55:
                self.assistant(b'{"type":"text","text":"' + self.words(260) + self.take("assistant") + b'"}', "text")
            self.tool()
            if self.size > budget:
                break
        self.mid = b"msg_01" + b62(r, 22).encode()
        self.assistant(b'{"type":"text","text":"' + self.words(900) + b'"}', "text", b'"end_turn"')
        if not self.sidechain:
            if self.hooks:
                self.rec(
                    b'"type":"system","subtype":"stop_hook_summary","hookCount":1,"hookInfos":[{"command":"recall hook"}],"hookErrors":[],"preventedContinuation":false,"stopReason":"","hasOutput":false,"level":"suggestion"',
                    kind="system",
                )
            self.rec(
                b'"type":"system","subtype":"turn_duration","durationMs":'
                + str(r.randrange(2000, 900_000)).encode()
                + b',"isMeta":false',
                kind="system",
            )

    def compact(self) -> None:
        last = self.parent
        self.parent = None
        self.rec(
            b'"logicalParentUuid":"'
            + (last or "").encode()
            + b'","type":"system","subtype":"compact_boundary","content":"Conversation compacted","isMeta":false,"level":"info","compactMetadata":{"trigger":"auto","preTokens":'
            + str(self.r.randrange(150_000, 175_000)).encode()
            + b"}",
            kind="system",
        )
        self.rec(
            b'"type":"user","message":{"role":"user","content":"This session is being continued from a previous conversation. Analysis:\\n'
            + self.en(9000)
            + self.take("compact_summary")
            + b'"}',
            b',"isVisibleInTranscriptOnly":true,"isCompactSummary":true',
            "summary",
        )
        self.since_compact = self.size

    def body(self, budget: int) -> None:
        while self.size < budget:
            self.turn(budget)
            if self.size - self.since_compact > 1_800_000 or any(
                n["kind"] == "compact_summary" and not n.get("done") for n in self.plant
            ):
                self.compact()
        while any(
            not n.get("done") or (n["kind"] == "split" and not n.get("done2"))
            for n in self.plant
            if n["kind"] != "subagent"
        ):
            self.turn(self.size + 1)  # every needle must find its place
            if any(n["kind"] == "compact_summary" and not n.get("done") for n in self.plant):
                self.compact()

    def end(self) -> None:
        r = self.r
        if self.sidechain:
            return
        t = self.en(45)
        self.emit(b'{"type":"ai-title","aiTitle":"' + t + b'","sessionId":"' + self.sid.encode() + b'"}', "summary")
        if r.random() < 0.3:
            self.emit(
                b'{"type":"summary","summary":"' + t + b'","leafUuid":"' + (self.parent or "").encode() + b'"}',
                "summary",
            )
        self.emit(
            b'{"type":"last-prompt","lastPrompt":"' + self.words(120) + b'","sessionId":"' + self.sid.encode() + b'"}',
            "summary",
        )


class Codex(Session):
    def start(self) -> None:
        r = self.r
        self.sid = uid(r, 7)
        self.sid = f"{int(self.t * 1000):012x}"[:8] + "-" + f"{int(self.t * 1000):012x}"[8:12] + self.sid[13:]
        self.since_compact = 0
        self.originator = r.choice(["codex-tui", "codex-tui", "codex-tui", "codex_exec", "codex_vscode"])
        self.rec(
            b"session_meta",
            f'{{"id":"{self.sid}","timestamp":"{iso(self.t)}","cwd":{json.dumps(self.cwd)},"originator":"{self.originator}","cli_version":"0.102.0","source":"{"exec" if self.originator == "codex_exec" else "cli"}","model_provider":"openai","base_instructions":{{"text":"'.encode()
            + self.en(14_000)
            + b'"},"git":{"commit_hash":"'
            + b62(r, 40).encode()
            + b'","branch":"main","repository_url":"git@example.invalid:team/app.git"}}',
            "meta",
        )
        self.msg(b"developer", b"<permissions instructions>" + self.en(2500))
        self.msg(
            b"user",
            b"<environment_context>\\n  <cwd>"
            + self.cwd.encode()
            + b"</cwd>\\n  <shell>zsh</shell>\\n</environment_context>",
        )
        self.tok = 0

    def rec(self, typ: bytes, payload: bytes, kind: str) -> None:
        self.emit(
            b'{"timestamp":"' + self.tick(3).encode() + b'","type":"' + typ + b'","payload":' + payload + b"}", kind
        )

    def msg(self, role: bytes, text: bytes, kind: str = "meta") -> None:
        t = b"output_text" if role == b"assistant" else b"input_text"
        self.rec(
            b"response_item",
            b'{"type":"message","role":"' + role + b'","content":[{"type":"' + t + b'","text":"' + text + b'"}]}',
            kind,
        )

    def tokens(self) -> None:
        self.tok += self.r.randrange(20_000)
        n = (
            b'{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d,"reasoning_output_tokens":%d,"total_tokens":%d}'
            % (self.tok, self.tok // 2, self.tok // 40, self.tok // 90, self.tok)
        )
        self.rec(
            b"event_msg",
            b'{"type":"token_count","info":{"total_token_usage":'
            + n
            + b',"last_token_usage":'
            + n
            + b',"model_context_window":258400},"rate_limits":{"limit_id":"codex","limit_name":null,"primary":{"used_percent":3.0,"window_minutes":300,"resets_at":1793500000},"secondary":{"used_percent":9.0,"window_minutes":10080,"resets_at":1793900000},"credits":null,"plan_type":"pro"}}',
            "progress",
        )

    def turn(self, budget: int) -> None:
        r, P = self.r, self.P
        self.t += r.expovariate(1 / 180)
        self.rec(
            b"event_msg",
            b'{"type":"task_started","turn_id":"' + uid(r, 7).encode() + b'","model_context_window":258400}',
            "system",
        )
        self.rec(
            b"turn_context",
            b'{"cwd":"'
            + self.cwd.encode()
            + b'","approval_policy":"on-request","sandbox_policy":{"type":"workspace-write"},"model":"gpt-5.3-codex","effort":"high","summary":"auto","user_instructions":"'
            + self.en(1200)
            + b'"}',
            "system",
        )
        u = self.words(200) + self.take("codex_user", "user", "stem_en", "stem_ru", "zh", "ja", "split")
        self.msg(b"user", u, "user")
        self.rec(
            b"event_msg",
            b'{"type":"user_message","message":"' + u + b'","images":[],"local_images":[],"text_elements":[]}',
            "user",
        )
        for _ in range(min(80, int(r.expovariate(1 / 10)) + 1)):
            if r.random() < 0.5:
                s = self.en(80)
                self.rec(b"event_msg", b'{"type":"agent_reasoning","text":"**' + s + b'**"}', "thinking")
                self.rec(
                    b"response_item",
                    b'{"type":"reasoning","summary":[{"type":"summary_text","text":"**'
                    + s
                    + b'**"}],"content":null,"encrypted_content":"gAAAA'
                    + P.b64[r.randrange(99_999) :][: r.randrange(600, 3000)]
                    + b'"}',
                    "thinking",
                )
            cid = b"call_" + b62(r, 24).encode()
            if r.random() < 0.15:
                f = P.files[r.randrange(len(P.files))]
                a = r.randrange(len(f[1]))
                self.rec(
                    b"response_item",
                    b'{"type":"custom_tool_call","status":"completed","call_id":"'
                    + cid
                    + b'","name":"apply_patch","input":"*** Begin Patch\\n*** Update File: '
                    + f[0]
                    + b"\\n@@\\n+"
                    + b"\\n+".join(f[1][a : a + r.randint(1, 60)])
                    + b'\\n*** End Patch\\n"}',
                    "tool_use",
                )
                self.rec(
                    b"response_item",
                    b'{"type":"custom_tool_call_output","call_id":"'
                    + cid
                    + b'","output":"{\\"output\\":\\"Success. Updated the following files:\\\\nM '
                    + f[0]
                    + b'\\\\n\\",\\"metadata\\":{\\"exit_code\\":0,\\"duration_seconds\\":0.1}}"}',
                    "tool_result",
                )
            else:
                cmd = P.logs[r.randrange(len(P.logs))][:120].replace(b"\\", b"").replace(b'"', b"")
                self.rec(
                    b"response_item",
                    b'{"type":"function_call","name":"exec_command","arguments":"{\\"cmd\\":\\"'
                    + cmd
                    + b'\\",\\"workdir\\":\\"'
                    + self.cwd.encode()
                    + b'\\",\\"yield_time_ms\\":1000}","call_id":"'
                    + cid
                    + b'"}',
                    "tool_use",
                )
                if r.random() < 0.45:
                    f = P.files[r.randrange(len(P.files))]
                    a = r.randrange(len(f[1]))
                    out = b"\\n".join(f[1][a : a + self.result_lines() * 10])
                else:
                    out = self.log_slice(self.result_lines() * 3)
                self.rec(
                    b"response_item",
                    b'{"type":"function_call_output","call_id":"'
                    + cid
                    + b'","output":"Chunk ID: '
                    + b62(r, 6).encode()
                    + b"\\nWall time: 0.05 seconds\\nProcess exited with code 0\\nOriginal token count: 900\\nOutput:\\n"
                    + out
                    + self.take("codex_output")
                    + b'\\n"}',
                    "tool_result",
                )
            self.tokens()
            if r.random() < 0.3:
                s = self.words(160)
                self.rec(b"event_msg", b'{"type":"agent_message","message":"' + s + b'","phase":"commentary"}', "text")
                self.msg(b"assistant", s, "text")
            if self.size > budget:
                break
        s = self.words(900) + self.take("codex_assistant")
        self.rec(b"event_msg", b'{"type":"agent_message","message":"' + s + b'","phase":"final_answer"}', "text")
        self.msg(b"assistant", s, "text")
        self.rec(
            b"event_msg",
            b'{"type":"task_complete","turn_id":"' + uid(r, 7).encode() + b'","last_agent_message":"' + s + b'"}',
            "system",
        )
        if self.size - self.since_compact > 1_500_000:
            hist = b",".join(
                b'{"type":"message","role":"user","content":[{"type":"input_text","text":"' + self.words(300) + b'"}]}'
                for _ in range(12)
            )
            self.rec(
                b"compacted",
                b'{"message":"","replacement_history":['
                + hist
                + b',{"type":"compaction","encrypted_content":"gAAAA'
                + P.b64[r.randrange(9999) :][:9000]
                + b'"}]}',
                "summary",
            )
            self.rec(b"event_msg", b'{"type":"context_compacted"}', "system")
            self.since_compact = self.size

    def body(self, budget: int) -> None:
        while self.size < budget or any(
            not n.get("done") or (n["kind"] == "split" and not n.get("done2")) for n in self.plant
        ):
            self.turn(budget)

    def end(self) -> None:
        pass


# --------------------------------------------------------------------------
# The corpus
# --------------------------------------------------------------------------
def encode_cwd(cwd: str) -> str:
    return "".join(c if c.isalnum() and c.isascii() else "-" for c in cwd)


def plan(a: argparse.Namespace) -> list[Values]:
    r = random.Random(f"plan-{a.seed}")
    langs = [(p.split(":")[0], float(p.split(":")[1]) if ":" in p else 1.0) for p in a.langs.split(",")]
    raw = sorted(min(r.lognormvariate(0, SIGMA), math.exp(SIGMA * 3.3)) for _ in range(a.sessions))
    r.shuffle(raw)
    k = a.bytes / sum(raw)
    projects = [
        f"/home/dev/{r.choice(['work', 'src', 'Documents/Cursor', 'repos'])}/{r.choice(EN_NOUN)}-{r.choice(EN_NOUN)}"
        for _ in range(max(3, a.sessions // 40))
    ]
    pcum = list(accumulate(1 / (i + 1) for i in range(len(projects))))
    jobs = []
    for i, x in enumerate(raw):
        jobs.append(
            {
                "i": i,
                "bytes": int(x * k),
                "lang": r.choices([lang for lang, _ in langs], [w for _, w in langs])[0],
                "start": END - SPAN * r.random() ** 1.6 - 3600,
                "agent": "codex" if r.random() < a.codex else "claude",
                "cwd": r.choices(projects, cum_weights=pcum)[0],
                "plant": [],
            }
        )
    n = 0
    want = max(len(KINDS) * 2, min(320, a.sessions // 8))
    by = {"codex": [j for j in jobs if j["agent"] == "codex"], "claude": [j for j in jobs if j["agent"] == "claude"]}
    for j in range(want):
        kind = KINDS[j % len(KINDS)]
        agent = "codex" if kind.startswith("codex") else "claude"
        if kind in ("stem_en", "stem_ru", "zh", "ja", "split") and j // len(KINDS) % 3 == 2:
            agent = "codex"
        pool = by[agent] or by["claude"] or by["codex"]
        if not pool or (agent == "codex" and not by["codex"]):
            continue
        job = r.choice(pool)
        job["plant"].append({"n": n, "kind": kind, **needle(kind, n, r)})
        n += 1
    return jobs


@cache
def pools(seed: int) -> Pools:
    return Pools(seed)


def write(path: str, s: Session) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(b"\n".join(s.out) + b"\n")
    os.utime(path, (s.t, s.t))


def run_job(job: Values, home: str, seed: int) -> tuple[list[Values], Values]:
    P = pools(seed)
    r = random.Random(f"session-{seed}-{job['i']}")
    out: list[Values] = []
    share: dict[str, int] = {}
    files = 0
    if job["agent"] == "codex":
        s: Session = Codex(P, r, job["lang"], job["start"], job["cwd"])
        s.plant = job["plant"]
        s.start()
        s.body(job["bytes"])
        d = iso(job["start"])
        path = f"{home}/.codex/sessions/{d[:4]}/{d[5:7]}/{d[8:10]}/rollout-{d[:19].replace(':', '-')}-{s.sid}.jsonl"
        write(path, s)
        files, total, lines = 1, s.size, s.lines
        share = s.share
        done = s.plant
        for n in done:
            n["path"] = path
    else:
        c = Claude(P, r, job["lang"], job["start"], job["cwd"])
        sub = [n for n in job["plant"] if n["kind"] == "subagent"]
        c.plant = [n for n in job["plant"] if n["kind"] != "subagent"]
        nsub = max(len(sub), r.choice((0, 0, 0, 0, 1, 1, 2, 4)) if job["bytes"] > 150_000 else 0)
        c.start()
        c.body(int(job["bytes"] * (0.85 if nsub else 1)))
        c.end()
        base = f"{home}/.claude/projects/{encode_cwd(job['cwd'])}/{c.sid}"
        write(base + ".jsonl", c)
        files, total, lines, share = 1, c.size, c.lines, dict(c.share)
        for n in c.plant:
            n["path"] = base + ".jsonl"
        for k in range(nsub):
            g = Claude(P, r, job["lang"], job["start"] + 60 * k, job["cwd"], c.sid)
            g.sidechain, g.agent_id = True, "a" + b62(r, 6)
            g.start()
            if k < len(sub):
                sub[k]["kind"] = "user"
                g.plant = [sub[k]]
            g.body(max(2000, int(job["bytes"] * 0.15 / nsub)))
            p = f"{base}/subagents/agent-{g.agent_id}.jsonl"
            write(p, g)
            files, total, lines = files + 1, total + g.size, lines + g.lines
            for key, v in g.share.items():
                share[key] = share.get(key, 0) + v
            if k < len(sub):
                sub[k]["kind"], sub[k]["path"] = "subagent", p
        done = c.plant + sub
        s = c
    for n in done:
        out.append(
            {
                "n": n["n"],
                "kind": n["kind"],
                "agent": job["agent"],
                "lang": job["lang"],
                "session_id": s.sid,
                "path": os.path.relpath(n["path"], home),
                "line": n.get("line"),
                "text": n["text"],
                "text2": n.get("text2"),
                "query": n["query"],
            }
        )
    return out, {"bytes": total, "files": files, "lines": lines, "share": share, "agent": job["agent"]}


def _star(x: tuple[Values, str, int]) -> tuple[list[Values], Values]:
    return run_job(*x)


def generate(a: argparse.Namespace) -> None:
    jobs = plan(a)
    args = [(j, a.home, a.seed) for j in jobs]
    if a.jobs > 1:
        with ProcessPoolExecutor(a.jobs) as ex:
            res = list(ex.map(_star, args, chunksize=8))
    else:
        res = [_star(x) for x in args]
    needles = sorted((n for x, _ in res for n in x), key=lambda n: n["n"])
    for k in range(5):
        needles.append({"n": len(needles), "kind": "absent", "query": f"nowhereword{'abcde'[k]}xq", "session_id": None})
    with open(f"{a.home}/needles.jsonl", "w", encoding="utf-8") as f:
        f.writelines(json.dumps(n, ensure_ascii=False) + "\n" for n in needles)
    sizes = sorted(m["bytes"] for _, m in res)
    share: dict[str, int] = {}
    for _, m in res:
        for k2, v in m["share"].items():
            share[k2] = share.get(k2, 0) + v
    total = sum(sizes)
    info = {
        "seed": a.seed,
        "sessions": len(res),
        "claude": sum(m["agent"] == "claude" for _, m in res),
        "files": sum(m["files"] for _, m in res),
        "lines": sum(m["lines"] for _, m in res),
        "bytes": total,
        "median": sizes[len(sizes) // 2],
        "p90": sizes[int(len(sizes) * 0.9)],
        "p99": sizes[min(len(sizes) - 1, int(len(sizes) * 0.99))],
        "max": sizes[-1],
        "langs": a.langs,
        "needles": len(needles),
        "share": {k: round(v / total, 4) for k, v in sorted(share.items(), key=lambda kv: -kv[1])},
    }
    with open(f"{a.home}/corpus.json", "w") as f:
        json.dump(info, f, indent=1)
    print(json.dumps(info))


def to_touch(home: str, count: int, seed: int, number: int) -> list[str]:
    """The transcripts that round `number` of `touch` appends to, sub-agents left out."""
    found = []
    for root, _, names in os.walk(home):
        if "/subagents" in root:
            continue
        found += [
            os.path.join(root, n)
            for n in names
            if n.endswith(".jsonl") and ("/.claude/projects" in root or "/.codex/sessions" in root)
        ]
    found.sort()
    return random.Random(f"touch-{seed}-{number}").sample(found, min(count, len(found)))


def touch(a: argparse.Namespace) -> list[str]:
    """Append new records to sessions that exist, as running programs would; the paths of their transcripts."""
    r = random.Random(f"text-{a.seed}-{a.round}")
    P = pools(a.seed)
    new = []
    paths = to_touch(a.home, a.touch, a.seed, a.round)
    for k, path in enumerate(paths):
        codex = "/.codex/" in path
        head = {}
        with open(path, "rb") as f:
            for line in f:
                d = json.loads(line)
                head = d["payload"] if codex else d
                if head.get("cwd"):
                    break
        sid = head["id"] if codex else head["sessionId"]
        s: Session = (Codex if codex else Claude)(P, r, "en", END + 60 * (a.round + 1), head["cwd"], sid)
        if codex:
            s.tok, s.since_compact, s.originator = 0, 0, "codex-tui"  # type: ignore[attr-defined]
        else:
            s.start()
        n = {"n": 100_000 + a.round * 1000 + k, "kind": "user", **needle("user", 4096 + a.round * 64 + k, r)}
        s.plant = [n]
        while s.lines < a.lines:
            s.turn(0)
        lines = s.out[: max(a.lines, n["line"] + 1)]
        with open(path, "ab") as f:
            f.write(b"\n".join(lines) + b"\n")
        new.append(
            {
                "n": n["n"],
                "kind": "touched",
                "agent": "codex" if codex else "claude",
                "lang": "en",
                "session_id": sid,
                "path": os.path.relpath(path, a.home),
                "line": None,
                "text": n["text"],
                "query": n["query"],
            }
        )
    with open(f"{a.home}/needles.jsonl", "a", encoding="utf-8") as f:
        f.writelines(json.dumps(n, ensure_ascii=False) + "\n" for n in new)
    return paths


def size(s: str) -> int:
    u = s.upper().removesuffix("B")
    return int(float(u.rstrip("KMG")) * {"K": 1e3, "M": 1e6, "G": 1e9}.get(u[-1:], 1))


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--home", required=True)
    p.add_argument("--preset", choices=sorted(PRESETS))
    p.add_argument("--sessions", type=int)
    p.add_argument("--bytes", type=size)
    p.add_argument("--langs", default="en:62,ru:22,zh:6,ja:4,de:6")
    p.add_argument("--codex", type=float, default=0.25, help="share of Codex sessions")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--touch", type=int, help="append to so many existing sessions instead")
    p.add_argument("--lines", type=int, default=20)
    p.add_argument("--round", type=int, default=0, help="a new number gives new sessions and new needles")
    a = p.parse_args()
    a.home = os.path.abspath(a.home)
    if a.touch:
        paths = touch(a)
        print(
            json.dumps({"touched": len(paths), "lines": a.lines, "paths": [os.path.relpath(p, a.home) for p in paths]})
        )
        return
    n, b = PRESETS[a.preset or "S"]
    a.sessions, a.bytes = a.sessions or n, a.bytes or b
    if os.path.exists(f"{a.home}/.claude/projects") or os.path.exists(f"{a.home}/.codex/sessions"):
        sys.exit("error: that home holds transcripts already; give an empty one")
    os.makedirs(a.home, exist_ok=True)
    generate(a)


if __name__ == "__main__":
    main()
