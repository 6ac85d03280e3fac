"""Listens on the loopback and answers every request of an agent with the next turn of its script.

A turn is {"say": text, "do": [actions], "usage": {...}}, {"error": kind} or {"hang": True}; "times" repeats it (-1:
for ever). Turns go on across processes, so one script can span a whole run of the loop.
"""

from __future__ import annotations

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.model.faults import fault
from tests.support.model.request import Request
from tests.support.model.tools import search_replace, tool_call
from tests.support.model.wire import Answer, body, events

USAGE = {"input": 100, "cache_read": 0, "cache_write": 0, "output": 10}
DIALECTS = (
    ("/messages", "anthropic"), ("/responses", "responses"), ("/chat/completions", "chat"),
    (":generateContent", "gemini"), (":streamGenerateContent", "gemini"),
)  # fmt: skip


class ScriptedModel:
    """A context manager with `url`, the `requests` that took a turn, and `turns_left`."""

    def __init__(self, turns: list[dict[str, Any]]) -> None:
        self._turns = [dict(turn) for turn in turns]
        self._lock = threading.Lock()
        self.requests: list[Request] = []
        self.closing = threading.Event()
        handler = type("Bound", (_Handler,), {"script": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> ScriptedModel:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def turns_left(self) -> int:
        return len(self._turns)

    def next_turn(self, request: Request) -> dict[str, Any]:
        if request.is_side:
            return {"say": "A title"}
        with self._lock:
            self.requests.append(request)
            if not self._turns:
                return {"say": "The script is at its end."}
            turn = self._turns[0]
            times = turn.get("times", 1)
            if times == 1:
                self._turns.pop(0)
            elif times > 1:
                turn["times"] = times - 1
            return turn


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: ScriptedModel

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.headers.get("upgrade"):
            self.close_connection = True
            self._send(426, {"error": {"message": "no websocket here"}})
            return
        names = ["claude-sonnet-4-5", "gpt-5", "gemini-2.5-pro", "m1"]
        models = [{"id": name, "object": "model", "name": f"models/{name}"} for name in names]
        self._send(200, {"object": "list", "data": models, "models": []})

    def do_POST(self) -> None:
        given = self._body()
        path = self.path.split("?")[0]
        dialect = next((name for end, name in DIALECTS if path.endswith(end)), None)
        if path.endswith(("/count_tokens", ":countTokens")):
            tokens = len(given) // 4
            self._send(200, {"input_tokens": tokens, "totalTokens": tokens})
        elif dialect is None:
            self._send(404, {"error": {"message": f"no {path} here"}})
        else:
            self._answer(Request(dialect, path, json.loads(given or b"{}")))

    def _answer(self, request: Request) -> None:
        turn = self.script.next_turn(request)
        if turn.get("hang"):
            self.script.closing.wait()
            self.close_connection = True
            return
        if "error" in turn:
            self._send(*fault(request.dialect, turn["error"]))
            return
        actions, say = turn.get("do", []), turn.get("say", "")
        if actions and not request.tools:
            say = "\n".join([say, *(search_replace(action) for action in actions)])
            actions = []
        calls = [tool_call(action, request) for action in actions]
        answer = Answer(request.model, say, USAGE | turn.get("usage", {}), calls)
        if not request.streams:
            self._send(200, body(request.dialect, answer))
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, data in events(request.dialect, answer):
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write((f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode())
            self.wfile.flush()

    def _send(self, status: int, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _body(self) -> bytes:
        if "chunked" in (self.headers.get("transfer-encoding") or ""):
            parts = []
            while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            data = b"".join(parts)
        else:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
        return gzip.decompress(data) if self.headers.get("content-encoding") == "gzip" else data
