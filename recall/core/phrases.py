"""What common phrases of a session mean, in the languages that people write to agents in.

Three questions: does an ending say that the work is done; does a text say anything at all or only "go on"; which
part of an answer names the next step. The lists are short on purpose and err to the safe side: an ending in words that
are not known here says nothing, and a request in them says something.
"""

from __future__ import annotations

import re

from recall.core.words import FUNCTION_WORDS

_DONE = re.compile(
    r"""
    \b(?:done|completed|finished|fixed|merged|shipped|deployed|released|resolved|implemented|committed|pushed
      |succeeded|successful(?:ly)?|passed|installed|is\ (?:now\ )?(?:complete|ready|live|in\ place)|works\ now
      |(?:has|have)\ been\ (?:\w+\ )?(?:written|created|added|updated|removed|renamed|moved|saved|generated
      |replaced|set\ up)
      |(?:tests?|checks?|suite|build|lint|ci)\ (?:\w+\ )?(?:all\ )?(?:now\ )?(?:pass(?:es)?|succeeds?|(?:is|are)\ green)
      |all\ (?:\w+\ ){0,3}(?:pass|green)|no\ changes\ (?:are\ )?needed
      |i(?:['’]ve|\ have)\ (?:now\ |also\ |just\ )?(?:added|updated|created|removed|renamed|replaced|moved|written
      |set\ up|changed))\b
    |(?:^|[✅✔])\W{0,4}(?:added|created|updated|removed|renamed|replaced|moved|wrote)\b
    |\b(?:готово|сделано|сделал[аи]?|выполнен[оаы]?|завершен[оаы]?|завершил[аи]?|исправлен[оаы]?|исправил[аи]?
    |починил[аи]?
      |реализован[оаы]?|реализовал[аи]?|добавлен[оаы]?|добавил[аи]?|обновлен[оаы]?|обновил[аи]?|создан[оаы]?|создал[аи]?
      |настроен[оаы]?|настроил[аи]?|удален[оаы]?|удалил[аи]?|закоммичен\w*|закоммитил\w*|запушен\w*|запушил\w*
      |смержен\w*
      |смержил\w*|влит[оаы]?|задеплоен\w*|развернут[оаы]?|успешно|тесты\ (?:\w+\ )?(?:проходят|прошли|зеленые))\b
    |完成|搞定|修复了|已修复|已合并|已通过|通过了|全部通过|已提交|已推送|已部署|已发布|已更新|已添加|已创建|已实现
    |已解决|已生成|已加入|已删除|已修改|已保存|已写入|已配置|已安装|已恢复|已替换|已处理|成功
    |完了|(?:修正|対応|マージ|追加|作成|更新|実装|反映|解消|適用|設定|導入|削除|変更|コミット|プッシュ)済
    |通りました|成功し|パスし|終わりました|直しました|できました|合格
    |(?:実装|修正|追加|更新|作成|変更|削除|反映|対応|移行|設定|コミット|プッシュ|マージ|デプロイ|適用|整理|統合
    |置換|解消)しました
    |완료|끝났|마쳤|성공|통과|수정했|추가했|구현했|해결했
    |\b(?:fertig|erledigt|abgeschlossen|behoben|gemergt|gemerged|bestanden|erfolgreich|umgesetzt|implementiert
      |hinzugefügt|aktualisiert|angelegt|eingespielt|funktioniert\ (?:jetzt|wieder|nun))\b
    |\b(?:terminée?s?|corrigée?s?|fusionnée?s?|réussie?s?|ajoutée?s?|mise?s?\ à\ jour|avec\ succès
    |c['’]est\ (?:fait|prêt))\b
    |\b(?:listo|hecho|terminad[oa]s?|completad[oa]s?|corregid[oa]s?|arreglad[oa]s?|con\ éxito|exitosamente
      |implementad[oa]s?|actualizad[oa]s?|añadid[oa]s?|desplegad[oa]s?|pasan|pasaron)\b
    |\b(?:feito|concluíd[oa]s?|corrigid[oa]s?|com\ sucesso|atualizad[oa]s?|adicionad[oa]s?)\b
    |\b(?:fatto|completat[oaie]|risolt[oaie]|aggiornat[oaie]|con\ successo)\b
    |\b(?:klaar|voltooid|afgerond|opgelost|gotowe|ukończon\w+|naprawion\w+|zrobione|klart|färdig\w*|åtgärdat
      |hazır|tamamlandı|düzeltildi|hotovo|dokončeno|valmis)\b
    |✅|✔
    """,
    re.X,
)

_UNDONE = re.compile(
    r"""
    \b(?:not|never|isn['’]t|hasn['’]t|haven['’]t|aren['’]t|wasn['’]t|don['’]t|doesn['’]t|didn['’]t)\ (?:\w+\ ){0,2}
      (?:done|complete[d]?|finished|fixed|merged|working|work|pass(?:ed|ing)?|deployed|ready|implemented|committed
      |pushed|resolved|installed|released|run)\b
    |\b(?:incomplete|unfinished|still\ (?:fail\w*|need\w*|broken|open|red|running|to\ \w+|not|missing|hav\w+)
    |fail(?:s|ed|ing|ures?)?
      |blocked|couldn['’]t|could\ not|unable|cannot\ (?:\w+\ )?(?:proceed|continue|complete|finish)
      |remain(?:s|ing)|todos?\ (?:left|remain\w*)|yet\ to|partially|waiting\ (?:for|on)|in\ progress|almost|nearly
      |half(?:way)?
      |before\ (?:i|we)\ (?:can|start)|needs?\ to\ be|must\ be|to\ be\ done|left\ to\ do|once\ (?:it|this|that|you)
      |broke[n]?)\b
    |\b(?:if|until|unless|when|after|before|once|to\ get|should\ be|will\ be|would\ be|can\ be|to\ be)\ (?:\w+\ ){0,4}
      (?:done|completed|finished|fixed|merged|deployed|released|resolved|implemented|committed|pushed|passed|pass
      |ready)\b
    |\b(?:не\ (?:готов\w*|сдела\w+|выполн\w+|заверш\w+|исправ\w+|работа\w+|удалось|проход\w+|прош\w+|смог\w*|получ\w+
      |смерж\w+|влит\w*|запуш\w+|реализ\w+|до\ конца|хватает)|(?:еще|пока)\ не|осталось|оста[её]тся|остались|частично
      |упал[аи]?|пада[ею]т|нужно|надо|предстоит|почти|ошибк[аи]|будет)\b
    |未完成|没有完成|尚未|还没|未通过|失败|没有通过|无法|不能|还需要|还需|剩余|待完成|部分完成|即将|没有成功|报错
    |未能|待
    |未完|(?:完了|実装|修正|対応|解決|反映|確認|動作|実行)(?:は)?していません|できません|失敗|まだ|残って|残り
    |未対応|未実施|通っていません|通りません|これから|途中|未確認|必要があ
    |미완료|실패|아직|못했|남아|남은|해야
    |\b(?:nicht|noch|fehlgeschlagen|schlägt|schlagen|teilweise|unvollständig|offen\w*|ausstehend\w*|fast\ fertig
    |muss|müssen)\b
    |\b(?:pas|échoué?\w*|échec\w*|impossible|reste|inachevé\w*|partiellement|presque)\b
    |\b(?:no\ (?:está|se|pude|pudo|pasa\w*|he|ha)|todavía|aún|fall[aó]\w*|pendientes?|faltan?|incomplet\w+
    |parcial\w*|casi)\b
    |\b(?:não|ainda|falh\w+|quase|non\ (?:è|sono|ho|ha|posso|funziona\w*)|ancora|fallit\w+|manca\w*|parzial\w+
    |quasi|niet|nog|mislukt|nie|jeszcze|inte|ännu
      |henüz|değil|başarısız|eksik)\b
    |❌|✗|⏳
    """,
    re.X,
)

_NO_HARM = re.compile(
    r"\b(?:0|no|zero|without(?: any)?|kein\w*|sans|sin|без|нет)\s+(?:\w+\s+){0,2}?"
    r"(?:fail\w*|errors?|remaining|broken|issues?|fehler\w*|ошиб\w+|échecs?|fallos)\b"
    r"|\b(?:failed|failures?|errors?|ошибок|失败|失敗)\s*[:：=]?\s*0\b|0\s*(?:个)?(?:失败|失敗|ошиб\w+)|没有(?:失败"
    r"|报错|错误)"
    r"|\b(?:fix\w*|resolv\w*|repair\w*|handl\w*|address\w*|previously|cause of|behob\w+|исправ\w+"
    r"|починил\w*)\b[^.;:]{0,60}?"
    r"\b(?:fail\w*|broken?|blocked|unable|ошибк\w+|пада\w+)\b"
    r"|(?:失敗|エラー)(?:は)?(?:なし|ありません)|\bno longer (?:\w+ )?(?:fail\w*|broken)\b|\bnot only\b"
    r"|\bне только\b|\bnicht nur\b"
)
_INTENT = re.compile(
    r"^\W*(?:now,? )?(?:let me|i['’]ll|i will|i['’]m going to|next,? i|now i|let['’]s|сейчас|теперь я|давайте|现在"
    r"|接下来|让我"
    r"|次に|これから|それでは|ich werde|jetzt|je vais|voy a|vou)\b"
)
_SENTENCES = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\s[-*•·|]+\s|\s#{1,6}\s|\n")

_NEXT = re.compile(
    r"^\W{0,6}(?:recommended |suggested |immediate |possible |optional |your |the )?"
    r"(?:next(?: steps?| up| actions?)?|remaining(?: work| steps?| tasks?)?|to-?do|follow[- ]?ups?"
    r"|what['’]s (?:left|next)|still open"
    r"|следующ(?:ий|ие|им) шаг(?:и|ом)?|дальнейшие шаги|дальше|далее|осталось(?: сделать)?|下一步(?:计划|操作"
    r"|建议)?|后续(?:步骤|工作|建议)?"
    r"|接下来|待办(?:事项)?|次(?:の(?:ステップ|作業|アクション|手順)|にやること|回)|今後(?:の(?:作業|課題|対応))?"
    r"|残(?:作業|タスク|課題)|다음 (?:단계|작업)"
    r"|nächste[rn]? schritte?|als nächstes|offen(?:e punkte)?|prochaines? étapes?|il reste|(?:siguientes?"
    r"|próximos?) pasos?"
    r"|pendientes?|próximos passos|prossimi passi|volgende stap(?:pen)?|następn\w+ kroki?|nästa steg|sonraki adım\w*)"
    r"[*_`]{0,3}\s*(?:(?P<sign>[:：—–]|-(?=\s))[*_`]{0,3}\s*(?P<rest>.*)|(?P<heading>[^\w\s]*|\([^)]{0,40}\)\W*))$",
    re.I,
)
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)、]|[①-⑳]|\[[ ~]\])\s*(?:\[[ ~]\]\s*)?(?P<text>.+)$")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.S)

_QUESTION = re.compile(r"[^.!?。！？\n]*[?？؟]|[^。！？\n]*(?:ますか|でしょうか|ですか|ませんか)。?(?=$|\n)")
_POLITE = re.compile(
    r"anything else|(?:what|how) (?:else )?can i|how may i|what would you like (?:to (?:do|work)|me to (?:do|help))"
    r"|what['’]s next"
    r"|что-(?:нибудь|то) ещ[её]|чем (?:ещ[её] )?могу|ещ[её] (?:что|чем)|还有(?:什么|其他)|需要(?:我)?(?:其他|别的"
    r"|什么)|有什么可以"
    r"|他に(?:何か)?|何か(?:他に)?.{0,6}(?:ありますか|お手伝い)|sonst noch|kann ich (?:noch )?(?:sonst|helfen)"
    r"|autre chose|algo más|mais alguma",
    re.I,
)

_HOLLOW = frozenset(
    """
    continue continued continuing continues proceed proceeding resume resumed resuming carry go going keep ahead start
    begin next step steps please yes yeah yep y ok okay sure right good great nice perfect thanks thank lgtm approved
    approve confirm confirmed work working task tasks todo tbd none nothing unknown n na nil null empty above previous
    earlier conversation session chat context request requests asks ask asked wants wanted user assistant left same
    again retry try further further remaining finish complete doing progress current ongoing stopped resume follow
    instructions plan according point picking pick hi hello hey test testing warmup see process everything claude
    codex answer awaiting await waiting wait input response feedback instruction продолжай продолжи продолжить
    продолжаем продолжайте продолжение продолжать дальше далее давай давайте хорошо ок окей ага угу начинай начни
    приступай поехали вперед еще раз повтори повтор спасибо пожалуйста работа работу работы работать работай задача
    задачу задачи над выполнение выполняй пользователь попросил просит просил следующий шаг ничего неизвестно
    предыдущий предыдущую разговор сессию диалог привет готов жду ожидание ответа weiter weitermachen mach mache
    fortfahren fortsetzen fortsetzung bitte gut genau los nutzer benutzer bat aufgabe arbeit nachster schritt nichts
    keine danke hallo machen continuer continuez poursuivre poursuivez oui vas allez tache travail etape suivante rien
    aucun aucune utilisateur merci bonjour continua continuar sigue seguir sigamos si adelante vale tarea trabajo paso
    siguiente nada ninguno usuario gracias hola sim continuando tarefa trabalho proximo passo nenhum obrigado avanti
    procedi procedere lavoro compito niente grazie ciao doorgaan ga verder graag taak niets bedankt kontynuuj
    kontynuowac dalej tak zadanie nic fortsatt uppgift inget devam et evet gorev
    """.split()  # noqa: SIM905 - a list of words
)
_HOLLOW_EAST = re.compile(
    r"继续|繼續|请|好的|好|可以|是的|是|对|开始|任务|工作|下一步|用户|要求|希望|之前|上次|对话|会话|进行|执行|谢谢"
    r"|你好|吧|的|了|无|没有|完成|处理|剩余|等待"
    r"|続けて|続ける|前回|以前|先ほど|さっき|続行|続き|続|ください|下さい|お願い|願い|いたし|します|する|して|した"
    r"|しま|はい|作業|タスク"
    r"|進めて|進める|次へ|次|ステップ|ユーザー|依頼|求め|なし|特に|実行|再開"
    r"|ありがとう|こんにちは|[のをへにがはもでとからま]"
    r"|계속|해주세요|해줘|하세요|하기|부탁|네|예|작업|진행|시작|다음|단계|사용자|요청|없음|[을를이가은는의]"
)
_EAST = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]")
_WORD = re.compile(r"[^\W_]+")
_TEMPLATES = (
    "this session is being continued from a previous conversation",
    "this conversation is being continued",
    "another language model started to solve this problem",
    "please continue the conversation from where we left",
    "continue from where you left off",
    "caveat: the messages below",
    "base directory for this skill",
    "[request interrupted",
    "<command-",
    "<local-command",
    "<system-reminder",
    "<task-notification",
    "# agents.md instructions",
    "the conversation is summarized below",
    "analysis: let me chronologically",
    "primary request and intent",
)
_WHERE = re.compile(
    r"where (?:did|were|was) (?:we|i|you) (?:leave|left|stop)|left off|на ч[её]м (?:мы )?(?:остановились|закончили)"
    r"|где мы остановились"
    r"|どこまで(?:やり|進)|(?:说|做|进行)到哪|wo waren wir|où en étions|dónde (?:lo dejamos|quedamos|nos quedamos)"
)
_PLACEHOLDER = re.compile(
    r"^\W*(?:\$ARGUMENTS|\{\{.*\}\}|<(?:task|title|step|one (?:line|sentence)|what)[^>]{0,80}>|\[(?:task|title|step"
    r"|project|feature)[^\]]{0,40}\])\W*$",
    re.I,
)


def folded(text: str) -> str:
    """As the lists here are written."""
    return text.casefold().replace("ё", "е")


def says_done(answer: str) -> bool:
    """Does an answer say, at its beginning or end, that the work is done, and nowhere there that it is not?"""
    sentences = [part.strip() for part in _SENTENCES.split(folded(_FENCE.sub("\n", answer))) if part and part.strip()]
    sentences = sentences if len(sentences) <= 12 else sentences[:5] + sentences[-7:]
    if not sentences or _INTENT.match(sentences[-1]):
        return False
    told = [_NO_HARM.sub(" ", sentence) for sentence in sentences]
    edges = told if len(told) <= 6 else told[:3] + told[-3:]
    if any(_UNDONE.search(sentence) for sentence in edges):
        return False
    return any(_DONE.search(sentence) and not _UNDONE.search(sentence) for sentence in told)


def hollow(text: str) -> bool:
    """Is a text empty, or does it only say "go on", "yes", "nothing", "the user asked to continue"?"""
    plain = folded(text)
    if _EAST.search(plain):
        plain = _HOLLOW_EAST.sub(" ", plain)
    words = (_bare(found[0]) for found in _WORD.finditer(plain))  # most often the first one tells
    return all(word in _HOLLOW or word in FUNCTION_WORDS or (len(word) < 3 and word.isdigit()) for word in words)


def boilerplate(text: str) -> bool:
    """Is a text nobody's task: hollow, a phrase of the client, or a template that was not filled in?"""
    head = folded(text.strip())[:200]
    return (
        hollow(text[:2000])
        or (len(text) < 160 and _WHERE.search(head) is not None)
        or head.lstrip("#*> ").startswith(_TEMPLATES)
        or _PLACEHOLDER.match(text[:200]) is not None
    )


def same(one: str, other: str) -> bool:
    """Do two texts say the same, but for small words and for what only says "go on"?"""
    first, second = _told(one), _told(other)
    if not first or not second:
        return first == second
    return len(first & second) >= 0.8 * len(first | second) or (first <= second and len(first) > 2)


def next_steps(answer: str, most: int = 3) -> list[str]:
    """The steps that an answer names as the next ones, as it words them."""
    lines = [line.strip() for line in _FENCE.sub("", answer).splitlines()]
    for number in range(len(lines) - 1, -1, -1):
        if len(lines[number]) > 600 or (match := _NEXT.match(lines[number])) is None:
            continue
        rest = (match["rest"] or "").strip(" *_`")
        if rest:
            return [rest]
        found: list[str] = []
        for line in lines[number + 1 :]:
            item = _ITEM.match(line)
            if item:
                found.append(item["text"].strip(" *_"))
            elif line and found:
                break
            elif line and match["sign"]:
                return [line]
            elif line:
                break
            if len(found) == most:
                break
        if found:
            return found
    return []


def questions(answer: str, most: int = 3) -> list[str]:
    """The questions with which an answer ends; offers of more help are none."""
    lines = [line.strip() for line in _FENCE.sub("", answer).splitlines() if line.strip()]
    tail = lines[-4:]
    last = next((number for number in range(len(tail) - 1, -1, -1) if _QUESTION.search(tail[number])), -1)
    if last < 0 or any(len(line) > 200 for line in tail[last + 1 :]):
        return []
    found: list[str] = []
    for line in tail:
        for match in _QUESTION.finditer(line[-600:]):
            text = match[0].strip(" *_`#>-")
            if len(text) > 4 and not _POLITE.search(text):
                found.append(text.replace("**", "").replace("`", ""))
    return found[-most:]


def _told(text: str) -> set[str]:
    plain = folded(text)
    if _EAST.search(plain):
        plain = _HOLLOW_EAST.sub(" ", plain)
        return {
            pair for run in _WORD.findall(plain) for pair in ([run[i : i + 2] for i in range(len(run) - 1)] or [run])
        }
    words = (_bare(word) for word in _WORD.findall(plain))
    return {word for word in words if word not in FUNCTION_WORDS and word not in _HOLLOW}


def _bare(word: str) -> str:
    if word.isascii():
        return word
    import unicodedata

    marks = unicodedata.normalize("NFD", word)
    if any("\u0400" <= char <= "\u04ff" for char in word):
        return word
    return "".join(char for char in marks if not unicodedata.combining(char))
