"""What endings, hollow texts and next steps are, in several languages."""

from __future__ import annotations

import pytest

from recall.core.phrases import boilerplate, hollow, next_steps, same, says_done

DONE = (
    "Done. All tests pass.",
    "I've fixed the bug and pushed it to main.",
    "The export has been added. All 42 tests pass, 0 failed.",
    "Fixed the failing test; CI is green.",
    "✅ Merged as abc1234.",
    "Готово! Все тесты проходят.",
    "Исправил ошибку в экспорте и запушил.",
    "已完成。所有测试通过。",
    "三份文件都已更新完成。",
    "完了しました。テストは全部通りました。",
    "`run.sh` を修正しました。処理は変更していません。",
    "완료했습니다. 테스트 통과.",
    "Fertig. Die Tests sind erfolgreich durchgelaufen.",
    "C'est fait : les tests sont réussis.",
    "Listo, los tests pasan.",
)
NOT_DONE = (
    "",
    "I looked at the code. The parser is in src/parse.py.",
    "Two tests still fail.",
    "Done with the first half; the second half remains.",
    "The tests are not passing yet.",
    "It is almost done.",
    "I couldn't push: permission denied. The commit is completed locally.",
    "Once this is merged, we can deploy.",
    "Implemented the parser. Let me run the tests.",
    "Training is running, epoch 3 of 200.",
    "Ещё не готово.",
    "Не удалось исправить ошибку.",
    "Осталось обновить документацию, остальное сделано.",
    "尚未完成。",
    "测试失败，未通过。",
    "まだ完了していません。",
    "テストは通りません。修正しましたが。",
    "아직 완료하지 못했습니다.",
    "Noch nicht fertig.",
    "Pas encore terminé.",
    "Todavía no está listo.",
)


@pytest.mark.parametrize("answer", DONE)
def test_an_ending_that_says_so(answer: str) -> None:
    assert says_done(answer)


@pytest.mark.parametrize("answer", NOT_DONE)
def test_an_ending_that_does_not(answer: str) -> None:
    assert not says_done(answer)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "continue",
        "Please continue.",
        "Continue with the task",
        "The user asked to continue",
        "keep going",
        "go on",
        "n/a",
        "None",
        "TBD",
        "yes please",
        "продолжить",
        "Продолжай работу",
        "Пользователь попросил продолжить",
        "继续",
        "请继续完成任务",
        "続けてください",
        "続き",
        "계속해주세요",
        "weitermachen",
        "continuer",
        "continúa",
        "...",
    ],
)
def test_hollow(text: str) -> None:
    assert hollow(text) and boilerplate(text)


@pytest.mark.parametrize(
    "text",
    [
        "Run make check",
        "Continue the export of deals",
        "Fix it in src/a.py",
        "Продолжить выгрузку сделок",
        "继续修复登录页面",
        "在庫の画面を続けて直す",
        "Tests für den Export schreiben",
        "deploy",
    ],
)
def test_not_hollow(text: str) -> None:
    assert not hollow(text) and not boilerplate(text)


@pytest.mark.parametrize(
    "text",
    [
        "This session is being continued from a previous conversation that ran out of context. The deals are exported.",
        "Another language model started to solve this problem and left a summary.",
        "{{task}}",
        "<one sentence: what is being done>",
        "[Task description]",
        "I closed you by accident, where did we leave off",
        "На чём мы остановились?",
    ],
)
def test_boilerplate(text: str) -> None:
    assert boilerplate(text)


@pytest.mark.parametrize(
    ("answer", "steps"),
    [
        ("Done.\n\nNext: run `make check` on staging", ["run `make check` on staging"]),
        ("**Next steps:**\n1. Deploy to staging\n2. Watch the logs", ["Deploy to staging", "Watch the logs"]),
        ("## Next steps\n\n- Deploy\n- Watch\n- Tell Anna\n- Sleep", ["Deploy", "Watch", "Tell Anna"]),
        ("Сделано.\n\nСледующий шаг: залить на стенд", ["залить на стенд"]),
        ("Осталось:\n- обновить README", ["обновить README"]),
        ("完成。\n下一步：部署到测试环境", ["部署到测试环境"]),
        ("次のステップ：\n- ステージングに反映", ["ステージングに反映"]),
        ("Nächste Schritte:\n- Staging ausrollen", ["Staging ausrollen"]),
        ("Next.js is used here: it renders on the server.", []),
        ("All done.", []),
        ("```\nNext: no\n```", []),
    ],
)
def test_next_steps(answer: str, steps: list[str]) -> None:
    assert next_steps(answer) == steps


def test_the_same_in_other_words_of_no_weight() -> None:
    assert same("Export the deals to CSV", "Please continue to export deals to the CSV")
    assert same("выгрузить сделки в CSV", "Продолжить: выгрузить сделки в CSV")
    assert not same("Export the deals to CSV", "Add a header row to the CSV of deals and test it")
