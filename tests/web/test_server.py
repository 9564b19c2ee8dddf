"""What the server lets in, what it refuses, and how it ends."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from recall.store import alone
from recall.web import server as module
from tests.conftest import Run
from tests.machine import settings
from tests.web.conftest import CRM, WEBSITE
from tests.web.serving import Serving, serving


def test_the_key_becomes_a_cookie_that_no_other_page_can_use(server: Serving) -> None:
    first = server.ask(f"/?token={server.address.rpartition('=')[2]}&q=deals")
    assert (first.status, first.headers["location"]) == (303, "/?q=deals")
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and f"recall_{server.port}=" in cookie
    assert server.address.rpartition("=")[2] not in cookie
    page = server.ask("/?q=deals", f"Cookie: other=1; {cookie.partition(';')[0]}")
    assert page.status == 200 and "<mark>deals</mark>" in page.body
    assert server.ask("/?q=deals").status == 403


@pytest.mark.parametrize(
    "target", ["/", "/?token=", "/?token=x", "/?token=%FF%00", "/api/find?q=x", "/icon.svg", "/session/x"]
)
def test_nothing_is_told_without_the_key(server: Serving, target: str) -> None:
    for lines in ((), (f"Cookie: recall_{server.port}=x",), ("Cookie: recall_=\xff",)):
        told = server.ask(target, *lines)
        assert told.status == 403
        assert "deals" not in told.body


@pytest.mark.parametrize(
    "hosts",
    [
        (),
        ("evil.invalid",),
        ("evil.invalid:{port}",),
        ("127.0.0.1",),
        ("127.0.0.1:1",),
        ("127.0.0.1:{port}.evil.invalid",),
        ("[::1]:{port}",),
        ("127.0.0.1:{port}", "evil.invalid"),
        ("",),
    ],
)
def test_another_name_is_refused_even_with_the_key(server: Serving, hosts: tuple[str, ...]) -> None:
    """A page of the web that made its own name point here gets nothing."""
    key = server.address.partition("?")[2]
    lines = "".join(f"Host: {host.format(port=server.port)}\r\n" for host in hosts)
    told = server.raw(f"GET /?{key} HTTP/1.1\r\n{lines}\r\n".encode())
    assert told.status == 403 and "set-cookie" not in told.headers


def test_localhost_is_ours_as_well(server: Serving) -> None:
    key = server.address.partition("?")[2]
    assert server.raw(f"GET /?{key} HTTP/1.1\r\nHost: LocalHost:{server.port}\r\n\r\n".encode()).status == 303


@pytest.mark.parametrize(
    ("site", "status"), [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)]
)
def test_a_page_on_another_port_is_another_page(server: Serving, site: str, status: int) -> None:
    server.get("/")
    assert server.ask("/", f"Cookie: {server.cookie}", f"Sec-Fetch-Site: {site}").status == status


def test_every_answer_carries_the_policy_and_no_permission_for_others(server: Serving) -> None:
    session = f"/session/{CRM}"
    for told in (
        server.get("/"),
        server.get("/api/find", q="x"),
        server.get(session),
        server.ask("/"),
        server.get("/none"),
    ):
        policy = told.headers["content-security-policy"]
        assert policy.startswith("default-src 'none';") and "connect-src 'self'" in policy
        assert "unsafe" not in policy and "http" not in policy
        assert told.headers["cache-control"] == "no-store"
        assert told.headers["referrer-policy"] == "no-referrer"
        assert told.headers["x-content-type-options"] == "nosniff"
        assert not any(name.startswith("access-control") for name in told.headers)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT", "get", "BREW"])
def test_there_is_nothing_to_be_done_only_to_be_read(server: Serving, method: str) -> None:
    server.get("/")
    told = server.ask("/", f"Cookie: {server.cookie}", "Content-Length: 3", method=method)
    assert (told.status, told.headers["allow"]) == (405, "GET, HEAD")


def test_head_is_get_without_the_body(server: Serving) -> None:
    whole = server.get("/")
    told = server.ask("/", f"Cookie: {server.cookie}", method="HEAD")
    assert (told.status, told.body) == (200, "")
    assert told.headers["content-length"] == whole.headers["content-length"] == str(len(whole.body.encode()))


@pytest.mark.parametrize(
    "target",
    [
        "/../../etc/passwd",
        "/..%2f..%2fetc/passwd",
        "/session/../../etc/passwd",
        "/session/..%2F..%2Fetc%2Fpasswd",
        "/%00",
        "/session/%00",
        "/session/%FF%FE",
        "/session/\xff",
        "/session/-x",
        "/session/last",
        "/session/.",
        "/session/" + "a" * 5000,
        "//evil.invalid/",
        "/api/turns?id=%00&from=-1",
        "/api/",
        "/share/web/web.css",
    ],
)
def test_odd_addresses_are_no_pages(server: Serving, target: str) -> None:
    server.get("/")
    told = server.ask(target, f"Cookie: {server.cookie}")
    if target == "//evil.invalid/":
        assert told.status in (200, 404)
    else:
        assert told.status == 404
    assert "root:x:" not in told.body
    assert server.get("/").status == 200


@pytest.mark.parametrize(
    "query",
    [
        "q=%00",
        "q=%FF",
        "q=%22",
        "q=" + "x" * 9000,
        "page=-1",
        "page=99999999999",
        "page=x",
        "page=3",
        "q=a&q=b",
        "&&=&",
        "q=%F0%9F%92%A3",
    ],
)
def test_whatever_is_asked_is_a_page(server: Serving, query: str) -> None:
    server.get("/")
    for path in ("/", "/api/find", "/api/facets", f"/session/{CRM}"):
        assert server.ask(f"{path}?{query}", f"Cookie: {server.cookie}").status == 200


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: {host}\r\nX: " + b"y" * 20_000 + b"\r\n\r\n", 431),
        (b"GET /" + b"y" * 20_000 + b" HTTP/1.1\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: {host}\r\n" + b"X: y\r\n" * 200 + b"\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: {host}", 0),
        (b"", 0),
        (b"\r\n\r\n", 0),
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/9.9\r\n\r\n", 505),
        (b"GET /\r\n\r\n", 403),
        (b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: {host}\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\n\n\xff\xfe", 400),
        (b"GET / HTTP/1.1\r\n\xff\xfe: \xff\r\nHost: {host}\r\n\r\n", 403),
        (b"GET /?" + b"&".join([b"a=1"] * 50) + b" HTTP/1.1\r\nHost: {host}\r\n\r\n", 400),
    ],
)
def test_what_is_no_request_is_refused_and_the_next_one_answered(server: Serving, data: bytes, status: int) -> None:
    assert server.raw(data.replace(b"{host}", server.host.encode())).status == status
    assert server.get("/").status == 200


def test_many_who_say_nothing_do_not_stop_the_one_who_asks(server: Serving) -> None:
    lines = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(30)]
    for line in lines:
        line.sendall(b"GET / HTTP/1.1\r\nHost")
    assert server.get("/").status == 200
    for line in lines:
        line.close()
    assert server.get("/").status == 200


def test_a_head_that_comes_too_slowly_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often a byte comes: the deadline is for all of it."""
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    ours, theirs = socket.socketpair()
    over = threading.Event()

    def drip() -> None:
        while not over.wait(0.01):
            theirs.sendall(b"x")

    writer = threading.Thread(target=drip)
    writer.start()
    try:
        head, whole = module._head(ours)
    finally:
        over.set()
        writer.join()
    assert head.strip(b"x") == b"" and not whole
    ours.close()
    theirs.close()


def test_two_servers_do_not_know_each_others_cookies(server: Serving, filled: Path) -> None:
    with serving(filled) as other:
        assert other.port != server.port
        assert other.get("/").status == server.get("/").status == 200
        assert other.ask("/", f"Cookie: {server.cookie}").status == 403
        assert other.ask("/", f"Cookie: {server.cookie}; {other.cookie}").status == 200


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_in_good_order(filled: Path, number: int) -> None:
    before = {path for path in filled.rglob("*") if path.is_file()}
    with serving(filled) as one:
        one.get("/")
        status, said = one.end(number)
        assert status == 0 and said.endswith("recall: ended\n") and "Traceback" not in said
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", one.port))
    left = {path for path in filled.rglob("*") if path.is_file()} - before
    assert [path.name for path in left if "wal" not in path.name and "shm" not in path.name] == []


def test_it_ends_when_nobody_asks(filled: Path) -> None:
    with serving(filled, "--idle", "0.005") as one:
        _, said = one.process.communicate(timeout=60)
        assert one.process.returncode == 0 and "nobody asked" in said


def test_a_port_in_use_is_said(server: Serving, run_recall: Run) -> None:
    told = run_recall("web", "--no-open", "--port", server.port)
    assert told.returncode == 4 and f"port {server.port} cannot be had" in told.stderr


def test_it_listens_on_this_machine_only(server: Serving) -> None:
    told = subprocess.run(["cat", "/proc/net/tcp"], capture_output=True, text=True, check=False).stdout
    mine = [line.split()[1] for line in told.splitlines() if re.search(rf":{server.port:04X} 00000000:0000 0A", line)]
    if not told:
        pytest.skip("no /proc/net/tcp here")
    assert mine == [f"0100007F:{server.port:04X}"]


def test_a_missing_a_locked_and_a_damaged_index_are_said(filled: Path) -> None:
    index = Path(settings(filled).index)
    with serving(filled) as server:
        assert server.get("/").status == 200
        with alone(str(index)):
            told = server.get("/")
            assert told.status == 503 and "the index is being made again" in told.body.lower()
            assert server.get("/api/find", q="x").document["error"]["kind"] == "unavailable"
        index.rename(index.with_suffix(".away"))
        for tail in ("-wal", "-shm"):
            Path(f"{index}{tail}").unlink(missing_ok=True)
        told = server.get("/")
        assert told.status == 503 and "Nothing is indexed yet" in told.body
        index.write_bytes(b"no database at all" * 1000)
        told = server.get(f"/session/{CRM}")
        assert told.status == 503 and "recall reindex" in told.body
        index.with_suffix(".away").replace(index)
        assert server.get("/").status == 200
        assert "Traceback" not in server.end()[1]


def test_what_was_removed_is_not_there_any_more(server: Serving, filled: Path, run_recall: Run) -> None:
    assert server.get(f"/session/{CRM}").status == 200
    run_recall("remove", CRM, "--yes", check=True)
    told = server.get(f"/session/{CRM}")
    assert told.status == 404 and "was removed" in told.body
    assert server.get("/api/turns", id=CRM).status == 404
    assert CRM not in server.get("/", q="deals").body
    assert WEBSITE in server.get("/", q="export").body


@pytest.mark.parametrize("word", ["--open", "--no-open"])
def test_the_browser_gets_a_key_for_one_visit(filled: Path, tmp_path: Path, word: str) -> None:
    """What is on a command line can be read by others: it is worth nothing once it was used."""
    note = tmp_path / "address"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf "%s\\n" "$1" > {note}.part && mv {note}.part {note}\n')
    browser.chmod(0o755)
    with serving(filled, word, BROWSER=f"{browser} %s") as server:
        server.get("/")
        if word == "--no-open":
            server.end()
            assert not note.exists()
            return
        while not note.exists():
            assert server.process.poll() is None
        address = note.read_text().strip().removeprefix(f"http://{server.host}")
        assert address != server.address.removeprefix(f"http://{server.host}")
        assert [server.ask(address).status for _ in range(2)] == [303, 403]
