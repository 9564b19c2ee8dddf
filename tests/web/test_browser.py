"""The pages in a real browser: what a script does, and that no transcript can do anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import builders
from tests.browser import Browser, program
from tests.conftest import Run
from tests.web.conftest import CRM, EVIL, WEBSITE
from tests.web.serving import Serving, serving

MADE = (
    "document.querySelectorAll('main script, main img, main iframe, main style, main meta, main object, main svg svg, "
    'main [onerror], main [onload], main [style], main a[href^="javascript"], main a[href^="data"]\').length'
)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    if not program():
        pytest.skip("no chromium on this machine")
    made = Browser(tmp_path / "browser")
    yield made
    made.close()


def go(browser: Browser, server: Serving, path: str = "") -> None:
    """Another page, whole."""
    if not browser.requests:
        browser.go(server.address)
        browser.until("location.search === '' && document.getElementById('results') !== null")
    if path:
        browser.run("window.old = true")
        browser.ask("Page.navigate", url=f"http://{server.host}{path}")
        browser.until(
            "!window.old && document.readyState === 'complete' && document.getElementById('content') !== null"
        )


def press(browser: Browser, key: str) -> None:
    text = {"Enter": "\r", "Escape": ""}.get(key, key)
    browser.ask("Input.dispatchKeyEvent", type="keyDown", key=key, **({"text": text} if text else {}))
    browser.ask("Input.dispatchKeyEvent", type="keyUp", key=key)


def shown(browser: Browser) -> list[str]:
    paths = browser.run("[...document.querySelectorAll('.row a.task')].map((one) => one.pathname)")
    return [str(path).removeprefix("/session/") for path in paths]


def test_results_follow_what_is_typed_and_facets_narrow_them(server: Serving, browser: Browser) -> None:
    go(browser, server)
    assert "token" not in browser.run("location.href")
    assert browser.run("document.cookie") == ""  # no script can read it
    browser.run("document.getElementById('q').focus()")
    browser.type("export")
    browser.until("document.querySelectorAll('.row').length === 2 && document.querySelectorAll('mark').length > 1")
    assert set(shown(browser)) == {CRM, WEBSITE}
    browser.until(
        "[...document.querySelectorAll('#facets .name')].map((one) => one.textContent).join().includes('crm,website')"
    )
    assert browser.run("location.search") == "?q=export"
    browser.run("window.old = true")
    browser.run(
        "void setTimeout(() => [...document.querySelectorAll('#facets a')].find((one) => one.textContent.startsWith('website')).click())"
    )
    until_new(browser)
    assert browser.run("document.getElementById('q').value") == "export project:website"
    assert shown(browser) == [WEBSITE]
    browser.run("document.getElementById('q').focus()")
    browser.type(" qqqq-nothing")
    browser.until("document.querySelector('.nothing') !== null || document.querySelector('.tier') !== null")
    assert browser.failures == []
    assert all(one.startswith(f"http://{server.host}/") for one in browser.requests)


def until_new(browser: Browser) -> None:
    """Wait for the page that a click leads to."""
    while True:
        try:
            browser.until(
                "!window.old && document.readyState === 'complete' && document.getElementById('content') !== null"
            )
            return
        except AssertionError as problem:
            if "navigated" not in str(problem):
                raise


def test_keys_go_through_rows_and_open_one(server: Serving, browser: Browser) -> None:
    go(browser, server, "/?q=export")
    rows = shown(browser)
    press(browser, "j")
    press(browser, "j")
    press(browser, "k")
    assert browser.run("document.activeElement.pathname") == f"/session/{rows[0]}"
    press(browser, "/")
    assert browser.run("document.activeElement.id") == "q"
    press(browser, "Escape")
    press(browser, "j")
    browser.run("window.old = true")
    press(browser, "Enter")
    until_new(browser)
    assert browser.run("location.pathname") == f"/session/{rows[0]}"
    go(browser, server, "/?q=export")
    press(browser, "/")
    press(browser, "k")  # what is typed is no command
    assert browser.run("document.activeElement.id + document.activeElement.value") == "qk"
    assert browser.failures == []


@pytest.mark.parametrize(
    "path",
    ["/?q=poison", "/session/{evil}?q=poison", "/session/{evil}?find=script", "/?q=%3Cimg+src%3Dx+onerror%3Dx%3E\"'"],
)
def test_a_hostile_transcript_is_only_text(server: Serving, browser: Browser, path: str) -> None:
    go(browser, server, path.format(evil=EVIL))
    assert "owned" not in str(browser.run("document.title")).partition("</title>")[0]
    assert browser.run(MADE) == 0
    assert (
        browser.run("[...document.querySelectorAll('main a')].filter((one) => one.origin !== location.origin).length")
        == 0
    )
    if "find" not in path and "%3C" not in path:
        assert "<img src=x" in browser.run("document.querySelector('main').textContent")
    assert browser.run("getComputedStyle(document.querySelector('main')).display") == "block"
    assert browser.failures == []
    assert all(one.startswith(f"http://{server.host}/") for one in browser.requests)


def test_hostile_rows_that_a_script_puts_in_are_only_text(server: Serving, browser: Browser) -> None:
    go(browser, server)
    browser.run("document.getElementById('q').focus()")
    browser.type("poison")
    browser.until("document.querySelectorAll('.row').length === 1 && document.querySelectorAll('mark').length > 0")
    assert browser.run(MADE) == 0
    assert "<img src=x" in browser.run("document.querySelector('main').textContent")
    browser.until("document.title === 'poison – recall'")
    assert browser.failures == []


def test_the_policy_stops_what_escaping_would_have_missed(server: Serving, browser: Browser) -> None:
    """Markup that did get in runs nothing and loads nothing: the second wall stands by itself."""
    go(browser, server, f"/session/{EVIL}")
    browser.run(
        "document.querySelector('main').insertAdjacentHTML('beforeend', "
        '\'<img src=x onerror="window.owned=1"><img src="https://tracker.invalid/x"><iframe srcdoc="<script>top.owned=1</scr" + "ipt>">\')'
    )
    browser.run(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.owned = 1'}))"
    )
    browser.until("document.querySelector('main img').complete")
    assert browser.run("window.owned") is None
    told = "\n".join(browser.failures)
    assert (
        "'https://tracker.invalid/x' violates the following Content Security Policy directive: \"img-src 'self'\""
        in told
    )
    assert "inline event handler violates" in told and "inline script violates" in told


def test_the_session_page_copies_and_searches(server: Serving, browser: Browser) -> None:
    go(browser, server, f"/session/{CRM}")
    assert browser.run("document.querySelectorAll('button.copy:not([hidden])').length") == 2
    browser.run("document.querySelector('button.copy').click()")
    browser.until("document.querySelector('button.copy').textContent !== 'Copy'")
    go(browser, server, f"/session/{CRM}?find=three")
    assert browser.run("[...document.querySelectorAll('#turns mark')].map((one) => one.textContent).join()") == "three"
    assert browser.run("document.querySelector('#turns mark').closest('details').open")
    assert browser.failures == []


def test_dark_and_light(server: Serving, browser: Browser) -> None:
    def ground() -> object:
        return browser.run("getComputedStyle(document.body).backgroundColor")

    browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    go(browser, server, "/")
    light = ground()
    browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    dark = ground()
    assert dark != light
    browser.run("document.getElementById('theme').click()")
    assert ground() == light
    go(browser, server, "/activity")
    assert ground() == light  # it is remembered


@pytest.mark.parametrize("path", ["/", "/?q=poison", "/session/{evil}", "/activity"])
def test_a_phone_need_not_scroll_sideways(server: Serving, browser: Browser, path: str) -> None:
    browser.ask("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=1, mobile=True)
    go(browser, server, path.format(evil=EVIL))
    assert browser.run("document.documentElement.scrollWidth") <= 360


def test_ten_thousand_turns_come_as_they_are_wanted(home: Path, run_recall: Run, browser: Browser) -> None:
    builders.claude_session(home, "crm", CRM, [(f"Question {n}", f"Answer {n}") for n in range(10_000)])
    run_recall("sweep", "--quiet", check=True)
    with serving(home) as server:
        go(browser, server, f"/session/{CRM}")
        browser.until("document.querySelectorAll('.turn').length >= 75")
        first = browser.run("document.querySelectorAll('.turn').length")
        assert first < 1000
        browser.run("scrollTo(0, document.body.scrollHeight)")
        browser.until(f"document.querySelectorAll('.turn').length > {first}")
        texts = browser.run("[...document.querySelectorAll('.turn .text')].map((one) => one.textContent)")
        assert texts[:400] == [f"{word} {n}" for n in range(200) for word in ("Question", "Answer")][: len(texts[:400])]
        go(browser, server, f"/session/{CRM}?end=1")
        assert "Answer 9999" in browser.run("document.getElementById('turns').textContent")
        go(browser, server, f"/session/{CRM}?find=answer+9998")
        browser.until("document.querySelectorAll('#turns mark').length === 1")
        assert browser.failures == []
