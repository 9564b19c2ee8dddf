"""`recall mcp` as a process, asked by the protocol's own client library over stdin and stdout."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import mcp_types as types
import pytest
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters

from recall.cli import mcp as cli_mcp
from recall.cli.failure import explain
from recall.errors import Unavailable
from recall.mcp import server
from recall.mcp.answers import Parts
from tests.again import LOOKS
from tests.builders import claude_session
from tests.conftest import ROOT, environment
from tests.machine import NOW, settings, sweep, uid

Done = TypeVar("Done")


def served(home: Path, work: Callable[[Client], Awaitable[Done]], **env: str) -> Done:
    """What `work` makes of a client that talks to a server of its own."""
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "recall", "mcp"], env=environment(home, **env), cwd=str(home)
    )

    async def run() -> Done:
        async with Client(parameters, read_timeout_seconds=60) as client:
            return await work(client)

    return asyncio.run(run())


def text(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


@pytest.fixture
def talk(home: Path) -> Path:
    for n, words in enumerate(("export the funnel", "fix the basket", "paint the heron")):
        claude_session(home, "crm", uid(n), [(words, "done")])
    sweep(settings(home))
    return home


def test_the_tools_are_offered_as_reading_ones(home: Path) -> None:
    """With hints by which a client need not ask, and schemas that an independent validator takes."""

    async def work(client: Client) -> types.ListToolsResult:
        assert client.server_info.name == "recall"
        return await client.list_tools()

    listed = served(home, work)
    assert [tool.name for tool in listed.tools] == ["find", "show", "grep", "handoff"]
    for tool in listed.tools:
        Draft202012Validator.check_schema(tool.input_schema)
        assert tool.annotations is not None
        assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (True, False)


def test_one_server_answers_all_of_a_dive(talk: Path) -> None:
    """find, show, grep, handoff, one after the other, and a transcript that came in between."""

    async def work(client: Client) -> list[str]:
        out = [text(await client.call_tool("find", {"query": "funnel"}))]
        out.append(text(await client.call_tool("show", {"id": out[0].split()[0], "tail": 2})))
        out.append(text(await client.call_tool("grep", {"patterns": ["BASKET"]})))
        out.append(text(await client.call_tool("handoff", {"id": uid(2)})))
        claude_session(talk, "crm", uid(9), [("feed the pelican", "fed")])
        for _ in range(LOOKS):
            new = text(await client.call_tool("find", {"query": "pelican"}))
            if not new.startswith("nothing found"):
                break
        return [*out, new]

    rows, said, hits, handoff, new = served(talk, work)
    assert rows == f"{uid(0)[:8]} 2026-06-11T09:00 crm [new] export the funnel"
    assert said.endswith("done")
    assert hits == f"{uid(1)[:8]} 2026-06-11 crm user fix the basket"
    assert "paint the heron" in handoff
    assert new.startswith(uid(9)[:8])


def test_calls_at_once_are_all_answered(talk: Path) -> None:
    async def work(client: Client) -> list[types.CallToolResult]:
        words = ["funnel", "basket", "heron"] * 5
        return list(await asyncio.gather(*(client.call_tool("find", {"query": word}) for word in words)))

    answers = [text(result) for result in served(talk, work)]
    assert [answer[:8] for answer in answers] == [uid(n)[:8] for n in range(3)] * 5


def test_a_failure_is_an_answer(talk: Path) -> None:
    """In words, with a hint, marked as an error; the server goes on."""

    async def work(client: Client) -> list[types.CallToolResult]:
        return [
            await client.call_tool("show", {"id": "ffff"}),
            await client.call_tool("grep", {"patterns": ["("], "regex": True}),
            await client.call_tool("find", {"limit": -1}),
            await client.call_tool("erase", {}),
            await client.call_tool("find", {"query": "heron"}),
        ]

    *failed, last = served(talk, work)
    for result in failed:
        assert result.is_error
        assert "\nhint: " in text(result)
        assert "Traceback" not in text(result)
    assert not last.is_error


def test_the_session_that_asks_is_known_by_the_environment(talk: Path) -> None:
    async def work(client: Client) -> str:
        return text(await client.call_tool("find", {}))

    assert uid(2)[:8] not in served(talk, work, CLAUDE_CODE_SESSION_ID=uid(2))


def test_nothing_but_the_protocol_is_on_stdout(talk: Path) -> None:
    """Line by line JSON-RPC, whatever goes wrong; the end of stdin ends the server, with status 0 and nothing to say."""
    info = {"name": "test", "version": "1"}
    sent: list[dict[str, Any]] = [
        {
            "id": 1,
            "method": "initialize",
            "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info},
        },
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "find", "arguments": {"query": "funnel"}}},
        {"id": 3, "method": "tools/call", "params": {"name": "show", "arguments": {"id": "nothing"}}},
        {"id": 4, "method": "no/such/thing"},
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "recall", "mcp"],
        env=environment(talk),
        cwd=talk,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    replies = []
    for message in sent:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()
        if "id" in message:
            replies.append(json.loads(process.stdout.readline()))
    process.stdin.close()
    assert process.stdout.read() == ""
    assert process.wait(60) == 0
    assert "Traceback" not in process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    assert [(reply["jsonrpc"], reply["id"]) for reply in replies] == [("2.0", n) for n in range(1, 5)]
    assert replies[1]["result"]["content"][0]["text"].startswith(uid(0)[:8])
    assert replies[2]["result"]["isError"]
    assert "error" in replies[3]


def test_a_bug_is_told_without_what_it_was_about(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its kind and place; never its message, which may hold words of a transcript."""

    def broken(*args: object) -> str:
        raise ValueError("words of a transcript")

    monkeypatch.setattr(server, "answer", broken)
    parts = Parts(lambda: settings(home), lambda: NOW, explain, os.getcwd)

    async def run() -> types.CallToolResult:
        async with Client(server.make(parts)) as client:
            return await client.call_tool("find", {"query": "x"})

    result = asyncio.run(run())
    assert result.is_error
    assert text(result).startswith("a bug in recall: ValueError at ")
    assert "transcript" not in text(result) + "".join(capsys.readouterr())


def test_without_the_package_it_says_how_to_get_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "mcp" else real(name))
    callback = cli_mcp.command.callback
    assert callback is not None
    with pytest.raises(Unavailable) as failed:
        callback()
    assert failed.value.message == "the package mcp is not installed beside recall"
    assert failed.value.hint.endswith("pip install 'mcp>=2,<3'")
    assert cli_mcp.PACKAGE in (ROOT / "pyproject.toml").read_text()
