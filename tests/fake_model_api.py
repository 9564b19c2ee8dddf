"""A scripted fake of two model APIs, for testing real CLI clients with no network.

Standard library only. Listens on 127.0.0.1 and answers:

  Anthropic   POST /v1/messages (SSE and plain JSON), POST /v1/messages/count_tokens,
              GET /v1/models
  OpenAI      POST /v1/responses (SSE and plain JSON), POST /v1/responses/compact,
              GET /v1/models
  anything else: 200 with an empty JSON object (HEAD: 200), and it is logged.

Every request is appended to a JSON-lines log (--log), one object a line:
  {"n", "ts", "method", "path", "api", "kind", "session", "headers", "body", "reply"}
`kind` is a guess at what the request is for: main (has tools), side (no tools: titles,
recaps, compaction ...), count_tokens, other. Secret-looking header values are masked.

SCRIPT FILE (JSON; --script, or replaced while running, see control endpoints)

  {"default": REPLY,                 answer when nothing else fits ("Done." if absent)
   "turns":  [REPLY, ...],           consumed in order, one for each `main` request
   "per_session": false,             true: each session id walks its own copy of turns
   "rules":  [{"when": COND, "reply": REPLY, "times": N}, ...]}   tried first, in order

  REPLY  {"text": "...",             assistant text (may be absent with tools)
          "thinking": "...",         Anthropic thinking block / OpenAI reasoning summary
          "tools": [{"name": "Bash", "input": {...}}],    tool calls; OpenAI: also
                   {"name": "apply_patch", "custom": "raw text"} for a custom tool call,
                   and "namespace" for grouped ones (codex: multi_agent_v1 / spawn_agent)
          "structured": {...},       object answered where the request asks for structured
                                     output (schema or StructuredOutput tool); when absent,
                                     an object is made up from the schema
          "stop": "refusal",         the stop reason (default end_turn or tool_use)
          "plain": true,             answer in text although structured output was asked for
          "usage": {"input_tokens": 10, "output_tokens": 5},
          "delay": 0.0,              seconds before the first byte
          "chunk_delay": 0.0,        seconds between text chunks
          "fault": FAULT}
  COND   any of, all must hold (substring tests, case-sensitive):
          {"api": "anthropic"|"openai", "kind": "main"|"side", "model": "haiku",
           "system": "...", "last_user": "...", "any": "...",  "session": "...",
           "structured": true, "tool_result": true}
  FAULT  {"type": "status", "status": 429, "retry_after": 1, "message": "..."}
         {"type": "hang", "seconds": 3600}          accept, never answer
         {"type": "hang_mid_stream", "seconds": 60} first events, then silence
         {"type": "malformed_sse"}                  broken JSON in an event
         {"type": "truncated_sse"}                  connection closed mid-message
         {"type": "sse_error", "error": "overloaded_error"}   error event inside the stream
         {"type": "empty_body"}                     200 with nothing
         {"type": "html"}                           200 with an HTML page (a proxy's)

  "tools" inputs and texts may hold the placeholders {{cwd}} (the last <cwd>-like path
  that the request mentions) and {{n}} (request number).

CONTROL ENDPOINTS (for tests)
  GET  /__control/requests?since=N   logged requests as a JSON list
  GET  /__control/state              counters
  POST /__control/script             body: a new script; counters restart
  POST /__control/fault              body: {"fault": FAULT, "times": 1, "when": COND}
  POST /__control/reset              forget faults, cursors and the request list
"""

import argparse
import gzip
import json
import os
import re
import sys
import threading
import time
import uuid
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

SECRET_HEADERS = {"authorization", "x-api-key", "cookie", "proxy-authorization"}


# ---------------------------------------------------------------- request reading


def _text_of(content):
    """All text inside an Anthropic or OpenAI content value."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_text_of(c) for c in content)
    if isinstance(content, dict):
        for key in ("text", "content", "output", "input_text"):
            if key in content:
                return _text_of(content[key])
    return ""


def _has_block(content, kind):
    return isinstance(content, list) and any(isinstance(b, dict) and b.get("type") == kind for b in content)


class Facts:
    """What the script's conditions look at, drawn from one request."""

    def __init__(self, api, path, headers, body):
        self.api = api
        self.body = body if isinstance(body, dict) else {}
        self.model = str(self.body.get("model", ""))
        self.stream = bool(self.body.get("stream"))
        tools = self.body.get("tools") or []
        self.tool_names = [t.get("name") or t.get("type") for t in tools if isinstance(t, dict)]
        if api == "anthropic":
            self.system = _text_of(self.body.get("system"))
            messages = self.body.get("messages") or []
            users = [m for m in messages if m.get("role") == "user"]
            last = messages[-1] if messages else {}
            self.last_user = _text_of(users[-1].get("content")) if users else ""
            self.tool_result = _has_block(last.get("content"), "tool_result")
            fmt = (self.body.get("output_config") or {}).get("format") or self.body.get("output_format")
            self.schema = (fmt or {}).get("schema") if isinstance(fmt, dict) else None
            self.session = headers.get("x-claude-code-session-id") or self._anthropic_session()
        else:
            self.system = str(self.body.get("instructions") or "")
            items = self.body.get("input") or []
            if isinstance(items, str):
                items = [{"role": "user", "content": items}]
            users = [i for i in items if i.get("role") == "user"]
            last = items[-1] if items else {}
            self.last_user = _text_of(users[-1].get("content")) if users else ""
            self.tool_result = str(last.get("type", "")).endswith("_call_output")
            fmt = (self.body.get("text") or {}).get("format") or {}
            self.schema = fmt.get("schema") if fmt.get("type") == "json_schema" else None
            self.session = (
                headers.get("session_id")
                or headers.get("session-id")
                or headers.get("thread-id")
                or self.body.get("prompt_cache_key")
                or ""
            )
        self.structured = self.schema is not None or "StructuredOutput" in self.tool_names
        if path.endswith("/count_tokens"):
            self.kind = "count_tokens"
        elif set(self.tool_names) - {"StructuredOutput", "DeferredToolPlaceholder"}:
            self.kind = "main"
        else:
            self.kind = "side"

    def _anthropic_session(self):
        user = (self.body.get("metadata") or {}).get("user_id") or ""
        try:  # recent clients: a JSON object in a string
            return json.loads(user).get("session_id", "")
        except (ValueError, AttributeError):
            pass
        found = re.search(r"session_([0-9a-f-]{36})", user)
        return found.group(1) if found else ""

    def fits(self, cond):
        if not cond:
            return True
        tests = {
            "api": lambda v: v == self.api,
            "kind": lambda v: v == self.kind,
            "model": lambda v: v in self.model,
            "system": lambda v: v in self.system,
            "last_user": lambda v: v in self.last_user,
            "session": lambda v: v in self.session,
            "structured": lambda v: bool(v) == self.structured,
            "tool_result": lambda v: bool(v) == self.tool_result,
            "has_tool": lambda v: v in self.tool_names,
            "any": lambda v: v in json.dumps(self.body, ensure_ascii=False),
        }
        return all(tests[k](v) for k, v in cond.items() if k in tests)


def example_from_schema(schema):
    """The smallest object that a JSON schema accepts (enough for recap-like schemas)."""
    if not isinstance(schema, dict):
        return "example"
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return example_from_schema(schema[key][0])
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0]
    if kind == "object" or "properties" in schema:
        return {k: example_from_schema(v) for k, v in (schema.get("properties") or {}).items()}
    if kind == "array":
        return [example_from_schema(schema.get("items") or {})] * max(1, schema.get("minItems", 1))
    return {"integer": 1, "number": 1.0, "boolean": True, "null": None}.get(kind, "example")


# ---------------------------------------------------------------- the script


class Script:
    def __init__(self, data=None):
        self.lock = threading.Lock()
        self.load(data or {})

    def load(self, data):
        with self.lock:
            self.data = data
            self.cursors = {}
            self.used = {}
            self.faults = []

    def reset(self):
        with self.lock:
            self.cursors, self.used, self.faults = {}, {}, []

    def add_fault(self, spec):
        with self.lock:
            self.faults.append(
                {"fault": spec.get("fault", spec), "left": spec.get("times", 1), "when": spec.get("when")}
            )

    def pick(self, facts):
        """(reply, label) for a request; label says which part of the script answered."""
        with self.lock:
            for f in self.faults:
                if f["left"] > 0 and facts.fits(f["when"]):
                    f["left"] -= 1
                    return {"fault": f["fault"]}, "injected-fault"
            for i, rule in enumerate(self.data.get("rules") or []):
                if not facts.fits(rule.get("when")):
                    continue
                if self.used.get(i, 0) >= rule.get("times", float("inf")):
                    continue
                self.used[i] = self.used.get(i, 0) + 1
                return rule["reply"], f"rule-{i}"
            if facts.kind == "main":
                key = facts.session if self.data.get("per_session") else ""
                at = self.cursors.get(key, 0)
                turns = self.data.get("turns") or []
                if at < len(turns):
                    self.cursors[key] = at + 1
                    return turns[at], f"turn-{at}"
            return self.data.get("default") or {"text": "Done."}, "default"


# ---------------------------------------------------------------- reply building


def fill(value, facts, n):
    """Put placeholders in texts and tool inputs."""
    if isinstance(value, str):
        if "{{cwd}}" in value:
            blob = json.dumps(facts.body, ensure_ascii=False)
            found = re.findall(r"<cwd>([^<]+)</cwd>", blob) or re.findall(r"[Ww]orking directory: ([^\\\"]+)", blob)
            value = value.replace("{{cwd}}", found[-1].strip() if found else ".")
        return value.replace("{{n}}", str(n))
    if isinstance(value, list):
        return [fill(v, facts, n) for v in value]
    if isinstance(value, dict):
        return {k: fill(v, facts, n) for k, v in value.items()}
    return value


def chunks(text, size=24):
    return [text[i : i + size] for i in range(0, len(text), size)] or [""]


def anthropic_blocks(reply, facts):
    blocks = []
    if reply.get("thinking"):
        blocks.append({"type": "thinking", "thinking": reply["thinking"], "signature": "ZmFrZS1zaWduYXR1cmU="})
    tools = list(reply.get("tools") or [])
    text = reply.get("text")
    if facts.structured and not tools and not reply.get("plain"):
        obj = reply.get("structured")
        if "StructuredOutput" in facts.tool_names:
            if not facts.tool_result:  # after its result the turn may simply end
                schema = next(
                    (t.get("input_schema") for t in facts.body["tools"] if t.get("name") == "StructuredOutput"), None
                )
                tools = [{"name": "StructuredOutput", "input": obj if obj is not None else example_from_schema(schema)}]
        else:
            text = json.dumps(obj if obj is not None else example_from_schema(facts.schema), ensure_ascii=False)
    if text or not tools:
        blocks.append({"type": "text", "text": text or "Done."})
    for tool in tools:
        blocks.append(
            {
                "type": "tool_use",
                "id": "toolu_" + uuid.uuid4().hex[:24],
                "name": tool["name"],
                "input": tool.get("input") or {},
            }
        )
    return blocks, ("tool_use" if tools else "end_turn")


def anthropic_usage(reply):
    usage = {
        "input_tokens": 100,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 20,
        "service_tier": "standard",
    }
    usage.update(reply.get("usage") or {})
    return usage


def openai_items(reply, facts):
    items = []
    if reply.get("thinking"):
        items.append(
            {
                "type": "reasoning",
                "id": "rs_" + uuid.uuid4().hex[:24],
                "summary": [{"type": "summary_text", "text": reply["thinking"]}],
                "content": None,
                "encrypted_content": None,
            }
        )
    text = reply.get("text")
    tools = reply.get("tools") or []
    if facts.schema is not None and not tools:
        obj = reply.get("structured")
        text = json.dumps(obj if obj is not None else example_from_schema(facts.schema), ensure_ascii=False)
    if text or not tools:
        items.append(
            {
                "type": "message",
                "id": "msg_" + uuid.uuid4().hex[:24],
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": text or "Done.", "annotations": []}],
            }
        )
    for tool in tools:
        call = "call_" + uuid.uuid4().hex[:24]
        if "custom" in tool:
            items.append(
                {
                    "type": "custom_tool_call",
                    "id": "ctc_" + uuid.uuid4().hex[:24],
                    "call_id": call,
                    "name": tool["name"],
                    "input": tool["custom"],
                    "status": "completed",
                }
            )
        else:
            item = {
                "type": "function_call",
                "id": "fc_" + uuid.uuid4().hex[:24],
                "call_id": call,
                "name": tool["name"],
                "status": "completed",
                "arguments": json.dumps(tool.get("input") or {}, ensure_ascii=False),
            }
            if tool.get("namespace"):  # codex groups some tools
                item["namespace"] = tool["namespace"]
            items.append(item)
    return items


def openai_usage(reply):
    given = reply.get("usage") or {}
    i, o = given.get("input_tokens", 100), given.get("output_tokens", 20)
    return {
        "input_tokens": i,
        "output_tokens": o,
        "total_tokens": i + o,
        "input_tokens_details": {"cached_tokens": given.get("cached_tokens", 0)},
        "output_tokens_details": {"reasoning_tokens": 0},
    }


# ---------------------------------------------------------------- HTTP


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "fake-model-api/1"

    def log_message(self, *args):  # quiet
        pass

    # -- plumbing

    def read_body(self):
        if "chunked" in (self.headers.get("Transfer-Encoding") or "").lower():
            raw = b""
            while True:
                size = int(self.rfile.readline().split(b";")[0].strip() or b"0", 16)
                data = self.rfile.read(size)
                self.rfile.readline()
                if not size:
                    break
                raw += data
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        coding = (self.headers.get("Content-Encoding") or "").lower()
        try:
            if coding == "gzip":
                raw = gzip.decompress(raw)
            elif coding == "deflate":
                raw = zlib.decompress(raw)
        except (OSError, zlib.error):
            pass
        try:
            return json.loads(raw.decode("utf-8")) if raw else None
        except ValueError:
            return {"_unreadable": f"{len(raw)} bytes, content-encoding {coding!r}"}

    def send_json(self, obj, status=200, headers=()):
        data = json.dumps(obj, ensure_ascii=False).encode("utf-8")
        self.send_raw(data, "application/json", status, headers)

    def send_raw(self, data, ctype, status=200, headers=()):
        self.send_response(status)
        self.send_header("Content-Type", ctype)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("request-id", "req_" + uuid.uuid4().hex[:20])
        for key, value in headers:
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def start_sse(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("request-id", "req_" + uuid.uuid4().hex[:20])
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, name, data):
        self.wfile.write(f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode())
        self.wfile.flush()

    # -- methods

    def do_HEAD(self):
        self.server.record(self, None, "other", None, "head")
        self.send_raw(b"", "text/plain")

    def do_GET(self):
        url = urlparse(self.path)
        if url.path == "/__control/requests":
            since = int((parse_qs(url.query).get("since") or ["0"])[0])
            return self.send_json([r for r in self.server.requests if r["n"] > since])
        if url.path == "/__control/state":
            s = self.server.script
            return self.send_json({"requests": len(self.server.requests), "cursors": s.cursors, "faults": s.faults})
        self.server.record(self, None, "other", None, "get")
        if "/messages/batches/" in url.path:
            return self.batch(url.path)
        if url.path.endswith("/models"):
            return self.send_json({"object": "list", "data": [], "models": [], "has_more": False})
        return self.send_json({})

    do_PUT = do_DELETE = do_PATCH = lambda self: self._harmless()

    def _harmless(self):
        body = self.read_body()
        self.server.record(self, body, "other", None, "harmless")
        self.send_json({})

    def do_POST(self):
        url = urlparse(self.path)
        body = self.read_body()
        if url.path.startswith("/__control/"):
            return self.control(url.path, body)
        if url.path.endswith("/messages/count_tokens"):
            self.server.record(self, body, "anthropic", None, "count_tokens")
            return self.send_json({"input_tokens": max(1, len(json.dumps(body)) // 4)})
        if url.path.endswith("/messages/batches"):
            self.server.record(self, body, "anthropic", None, "batch")
            return self.new_batch(body)
        if url.path.endswith("/messages"):
            api = "anthropic"
        elif url.path.endswith("/responses") or url.path.endswith("/responses/compact"):
            api = "openai"
        else:
            self.server.record(self, body, "other", None, "harmless")
            return self.send_json({})
        headers = {k.lower(): v for k, v in self.headers.items()}
        facts = Facts(api, url.path, headers, body)
        reply, label = self.server.script.pick(facts)
        n = self.server.record(self, body, api, facts, label)
        reply = fill(reply, facts, n)
        try:
            self.answer(api, url.path, facts, reply)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def control(self, path, body):
        script = self.server.script
        if path == "/__control/script":
            script.load(body or {})
        elif path == "/__control/fault":
            script.add_fault(body or {})
        elif path == "/__control/reset":
            script.reset()
            self.server.requests.clear()
        else:
            return self.send_json({"error": "no such control"}, 404)
        return self.send_json({"ok": True})

    # -- batches

    def new_batch(self, body):
        fault = self.server.script.data.get("batch_fault")
        if fault:
            return self.fail("anthropic", fault)
        name = "msgbatch_" + uuid.uuid4().hex[:20]
        self.server.batches[name] = {"requests": body["requests"], "asked": 0}
        return self.send_json(self.batch_state(name))

    def batch_state(self, name):
        """As the API tells it; a batch has ended when it was asked for `batch_polls` times (script, 0)."""
        batch = self.server.batches[name]
        ended = batch["asked"] >= self.server.script.data.get("batch_polls", 0)
        count = len(batch["requests"])
        return {
            "id": name,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {
                "processing": 0 if ended else count,
                "succeeded": count if ended else 0,
                "errored": 0,
                "canceled": 0,
                "expired": 0,
            },
            "created_at": "2026-10-20T10:00:00Z",
            "expires_at": "2026-10-21T10:00:00Z",
            "ended_at": "2026-10-20T10:10:00Z" if ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"http://{self.headers['Host']}/v1/messages/batches/{name}/results" if ended else None,
        }

    def batch(self, path):
        name = path.split("/messages/batches/")[1].split("/")[0]
        if name not in self.server.batches:
            return self.fail("anthropic", {"status": 404})
        if not path.endswith("/results"):
            state = self.batch_state(name)
            self.server.batches[name]["asked"] += 1
            return self.send_json(state)
        lines = []
        for request in reversed(self.server.batches[name]["requests"]):  # results come in any order
            facts = Facts("anthropic", "/v1/messages", {}, request["params"])
            reply, _ = self.server.script.pick(facts)
            if (reply.get("fault") or {}).get("type"):
                result = {"type": "expired"}
            else:
                result = {"type": "succeeded", "message": self.message(facts, reply)}
            lines.append(json.dumps({"custom_id": request["custom_id"], "result": result}, ensure_ascii=False))
        return self.send_raw("\n".join(lines).encode(), "application/x-jsonl")

    # -- answers

    def answer(self, api, path, facts, reply):
        if reply.get("delay"):
            time.sleep(reply["delay"])
        fault = reply.get("fault") or {}
        kind = fault.get("type")
        if kind == "status":
            return self.fail(api, fault)
        if kind == "hang":
            self.server.stopping.wait(fault.get("seconds", 3600))
            self.close_connection = True
            return None
        if kind == "empty_body":
            return self.send_raw(b"", "application/json")
        if kind == "html":
            return self.send_raw(b"<html><body>Bad gateway</body></html>", "text/html")
        if path.endswith("/responses/compact"):
            return self.send_json({"output": openai_items(reply, facts)})
        if api == "anthropic":
            return self.anthropic(facts, reply, fault)
        return self.openai(facts, reply, fault)

    def fail(self, api, fault):
        status = int(fault.get("status", 500))
        name = {
            400: "invalid_request_error",
            401: "authentication_error",
            403: "permission_error",
            404: "not_found_error",
            413: "request_too_large",
            429: "rate_limit_error",
            529: "overloaded_error",
        }.get(status, "api_error")
        message = fault.get("message") or name.replace("_", " ")
        headers = []
        if "retry_after" in fault:
            headers.append(("retry-after", str(fault["retry_after"])))
        if "should_retry" in fault:  # the header the Anthropic client obeys
            headers.append(("x-should-retry", "true" if fault["should_retry"] else "false"))
        if api == "anthropic":
            return self.send_json({"type": "error", "error": {"type": name, "message": message}}, status, headers)
        return self.send_json({"error": {"type": name, "code": name, "message": message}}, status, headers)

    def stream_fault(self, fault):
        """Inside a stream, after its first events; True when the stream must end here."""
        kind = fault.get("type")
        if kind == "malformed_sse":
            self.wfile.write(b'event: content_block_delta\ndata: {"type": "content_bl\n\n')
            self.wfile.flush()
            return True
        if kind == "truncated_sse":
            return True
        if kind == "hang_mid_stream":
            self.server.stopping.wait(fault.get("seconds", 3600))
            return True
        if kind == "sse_error":
            name = fault.get("error", "overloaded_error")
            self.event("error", {"type": "error", "error": {"type": name, "message": name}})
            return True
        return False

    def message(self, facts, reply):
        blocks, stop = anthropic_blocks(reply, facts)
        return {
            "id": "msg_" + uuid.uuid4().hex[:24],
            "type": "message",
            "role": "assistant",
            "model": facts.model,
            "content": blocks,
            "stop_reason": reply.get("stop") or stop,
            "stop_sequence": None,
            "usage": anthropic_usage(reply),
        }

    def broken_json(self, message, fault):
        """What the stream faults are where no stream was asked for: a body cut short, or one that is no JSON."""
        data = json.dumps(message).encode()
        if fault["type"] == "malformed_sse":
            return self.send_raw(data[: len(data) // 2], "application/json")
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2])
        self.close_connection = True
        return None

    def anthropic(self, facts, reply, fault):
        message = self.message(facts, reply)
        blocks, stop, usage = message["content"], message["stop_reason"], message["usage"]
        if not facts.stream and fault.get("type") in ("truncated_sse", "malformed_sse"):
            return self.broken_json(message, fault)
        if not facts.stream:
            return self.send_json(message)
        self.start_sse()
        self.event(
            "message_start",
            {
                "type": "message_start",
                "message": dict(message, content=[], stop_reason=None, usage=dict(usage, output_tokens=1)),
            },
        )
        if self.stream_fault(fault):
            return None
        for i, block in enumerate(blocks):
            kind = block["type"]
            if kind == "text":
                first, parts = (
                    {"type": "text", "text": ""},
                    [{"type": "text_delta", "text": c} for c in chunks(block["text"])],
                )
            elif kind == "thinking":
                first = {"type": "thinking", "thinking": "", "signature": ""}
                parts = [
                    {"type": "thinking_delta", "thinking": block["thinking"]},
                    {"type": "signature_delta", "signature": block["signature"]},
                ]
            else:
                first = dict(block, input={})
                parts = [
                    {"type": "input_json_delta", "partial_json": c}
                    for c in chunks(json.dumps(block["input"], ensure_ascii=False), 40)
                ]
            self.event("content_block_start", {"type": "content_block_start", "index": i, "content_block": first})
            for part in parts:
                if reply.get("chunk_delay"):
                    time.sleep(reply["chunk_delay"])
                self.event("content_block_delta", {"type": "content_block_delta", "index": i, "delta": part})
            self.event("content_block_stop", {"type": "content_block_stop", "index": i})
        self.event(
            "message_delta",
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
        )
        self.event("message_stop", {"type": "message_stop"})
        return None

    def openai(self, facts, reply, fault):
        items = openai_items(reply, facts)
        response = {
            "id": "resp_" + uuid.uuid4().hex[:24],
            "object": "response",
            "created_at": int(time.time()),
            "model": facts.model,
            "status": "completed",
            "output": items,
            "usage": openai_usage(reply),
            "error": None,
        }
        if not facts.stream:
            return self.send_json(response)
        self.start_sse()
        seq = [0]

        def event(name, **data):
            self.event(name, dict(data, type=name, sequence_number=seq[0]))
            seq[0] += 1

        event("response.created", response=dict(response, status="in_progress", output=[], usage=None))
        if fault.get("type") == "sse_error":
            event(
                "response.failed",
                response=dict(
                    response,
                    status="failed",
                    output=[],
                    error={
                        "code": fault.get("error", "server_is_overloaded"),
                        "message": fault.get("message", "fake failure"),
                    },
                ),
            )
            return None
        if self.stream_fault(fault):
            return None
        for i, item in enumerate(items):
            empty = dict(item, status="in_progress")
            if item["type"] == "message":
                empty["content"] = []
            event("response.output_item.added", output_index=i, item=empty)
            if item["type"] == "message":
                text = item["content"][0]["text"]
                event(
                    "response.content_part.added",
                    item_id=item["id"],
                    output_index=i,
                    content_index=0,
                    part={"type": "output_text", "text": ""},
                )
                for c in chunks(text):
                    if reply.get("chunk_delay"):
                        time.sleep(reply["chunk_delay"])
                    event("response.output_text.delta", item_id=item["id"], output_index=i, content_index=0, delta=c)
                event("response.output_text.done", item_id=item["id"], output_index=i, content_index=0, text=text)
            event("response.output_item.done", output_index=i, item=item)
        event("response.completed", response=response)
        return None


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address, script=None, log=None):
        super().__init__(address, Handler)
        self.script = Script(script)
        self.requests = []
        self.batches = {}
        self.stopping = threading.Event()
        self._count = 0
        self._lock = threading.Lock()
        self._log = open(log, "a", encoding="utf-8") if log else None  # noqa: SIM115 (open as long as the server)

    def handle_error(self, request, client_address):  # a client that hangs up is no error here
        if not isinstance(sys.exc_info()[1], (BrokenPipeError, ConnectionResetError)):
            super().handle_error(request, client_address)

    def record(self, handler, body, api, facts, label):
        with self._lock:
            self._count += 1
            entry = {
                "n": self._count,
                "ts": round(time.time(), 3),
                "method": handler.command,
                "path": handler.path,
                "api": api,
                "kind": facts.kind if facts else ("count_tokens" if label == "count_tokens" else "other"),
                "session": facts.session if facts else "",
                "reply": label,
                "headers": {k: ("***" if k.lower() in SECRET_HEADERS else v) for k, v in handler.headers.items()},
                "body": body,
            }
            self.requests.append(entry)
            if self._log:
                self._log.write(json.dumps(entry, ensure_ascii=False) + "\n")
                self._log.flush()
            return self._count

    def shutdown(self):
        self.stopping.set()
        super().shutdown()


def start(script=None, log=None, port=0):
    """Run the server in a thread; for use inside a test. Returns the server; its port is
    server.server_address[1]; stop with server.shutdown()."""
    server = Server(("127.0.0.1", port), script, log)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    return server


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--port", type=int, default=0, help="0: any free port")
    ap.add_argument("--script", help="JSON script file")
    ap.add_argument("--log", help="append every request to this JSON-lines file")
    ap.add_argument("--port-file", help="write the chosen port here once listening")
    args = ap.parse_args()
    script = None
    if args.script:
        with open(args.script, encoding="utf-8") as fh:
            script = json.load(fh)
    server = Server(("127.0.0.1", args.port), script, args.log)
    port = server.server_address[1]
    if args.port_file:
        with open(args.port_file + ".tmp", "w") as fh:
            fh.write(str(port))
        os.replace(args.port_file + ".tmp", args.port_file)
    print(f"listening on http://127.0.0.1:{port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.shutdown()


if __name__ == "__main__":
    main()
